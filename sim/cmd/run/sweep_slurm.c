/* A sweep as jobs of Slurm: an array whose tasks write a store each, and a job behind it that merges them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/run/sweep_parts.h"
#include "traces/io/child.h"

extern char **environ;

enum { TASKS = 32, ANSWER_BYTES = 256 };

/* A list of arguments that grows; NULL-ended. */
struct words {
    char **list;
    size_t count;
};

static void add_word(struct words *words, char *word)
{
    words->list = gt_realloc(words->list, words->count + 2, sizeof *words->list);
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

static void free_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
}

/* The word at the start of `text`, without its quotes, as a shell has them; *end: behind it. */
static char *next_word(const char *text, const char **end)
{
    char *word = gt_calloc(strlen(text) + 1, 1);
    size_t length = 0;
    char quote = '\0';

    for (; *text != '\0' && (quote != '\0' || strchr(" \t\n", *text) == NULL); text++) {
        if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else if (*text == quote)
            quote = '\0';
        else
            word[length++] = *text;
    }
    *end = text;
    return word;
}

static void add_words(struct words *words, const char *text)
{
    text += strspn(text, " \t\n");
    while (*text != '\0') {
        add_word(words, next_word(text, &text));
        text += strspn(text, " \t\n");
    }
}

static void put_quoted(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text != '\0'; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){ *text, '\0' }, out);
    fputs("' ", out);
}

/* What a job runs: this program with the same arguments, for another part of the work. */
static char *script(const struct gt_sweep_arguments *arguments, const char *part, const char *array)
{
    char program[4096], *text;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_no_memory("a script");
    program[length > 0 ? length : 0] = '\0';
    fputs("#!/bin/sh\n", out);
    if (array != NULL)
        fprintf(out, GT_SWEEP_ARRAY "=%s\nexport " GT_SWEEP_ARRAY "\n", array);
    fputs("exec ", out);
    put_quoted(out, program);
    fprintf(out, "sweep --part=%s ", part);
    for (int i = gt_sweep_first_given(arguments); i < arguments->count; i++)
        put_quoted(out, arguments->given[i]);
    putc('\n', out);
    fclose(out);
    return text;
}

static int start(char *const *arguments, FILE *in, int out, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int result;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    result = gt_child_start(child, &actions, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/* sbatch with a script as its input; the first line that it prints, up to what ends a job's number, into `answer`. */
static int submit(char *const *arguments, const char *text, char answer[ANSWER_BYTES], struct gt_error *error)
{
    FILE *in = tmpfile(), *out = tmpfile();
    int status = -1, result;
    pid_t child;

    if (in == NULL || out == NULL || fputs(text, in) < 0 || fflush(in) != 0 || fseek(in, 0, SEEK_SET) != 0)
        return gt_error_set(error, "cannot write a script for sbatch: %s (set TMPDIR)", strerror(errno));
    result = start(arguments, in, fileno(out), &child);
    if (result == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    rewind(out);
    if (fgets(answer, ANSWER_BYTES, out) == NULL)
        answer[0] = '\0';
    answer[strspn(answer, "0123456789")] = '\0';
    fclose(in);
    fclose(out);
    if (result == ENOENT)
        return gt_error_set(error, "sbatch was not found; install it (apt-get install slurm-client), or leave "
                                   "out --slurm");
    if (result != 0)
        return gt_error_set(error, "cannot start sbatch: %s", strerror(result));
    if (status != 0 || answer[0] == '\0')
        return gt_error_set(error, "sbatch rejected the job (see its message above)");
    return 0;
}

/* The user's options stand between ours: what a log is called is theirs to say, what the array is is not. */
static int submit_array(const struct gt_sweep_arguments *arguments, const char *folder, unsigned tasks,
                        char answer[ANSWER_BYTES], struct gt_error *error)
{
    struct words words = { NULL, 0 };
    char *text = script(arguments, "task", NULL);
    int result;

    add_words(&words, "sbatch --parsable --job-name=gridtide-sweep");
    add_word(&words, gt_format("--output=%s/%%A-%%a.out", folder));
    add_words(&words, arguments->slurm);
    add_word(&words, gt_format("--array=0-%u", tasks - 1));
    add_word(&words, gt_strdup("--requeue"));
    result = submit(words.list, text, answer, error);
    free(text);
    free_words(&words);
    return result;
}

static int submit_merge(const struct gt_sweep_arguments *arguments, const char *path, const char *array,
                        enum gt_sweep_part part, char answer[ANSWER_BYTES], struct gt_error *error)
{
    struct words words = { NULL, 0 };
    char *text = script(arguments, part == GT_SWEEP_MERGE ? "merge" : "again", array);
    int result;

    add_words(&words, "sbatch --parsable --job-name=gridtide-merge --open-mode=append");
    add_word(&words, gt_format("--output=%s.log", path));
    add_words(&words, arguments->slurm);
    add_word(&words, gt_format("--dependency=afterany:%s", array));
    add_word(&words, gt_strdup("--requeue"));
    result = submit(words.list, text, answer, error);
    free(text);
    free_words(&words);
    return result;
}

char *gt_sweep_folder(const char *path)
{
    return gt_format("%s.parts", path);
}

int gt_sweep_submit(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, enum gt_sweep_part behind,
                    struct gt_error *error)
{
    char *folder = gt_sweep_folder(sweep->path), array[ANSWER_BYTES], merge[ANSWER_BYTES];
    uint64_t tasks = arguments->jobs != 0 ? arguments->jobs : TASKS;
    int result = 0;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        result = gt_error_set(error, "%s: cannot create this folder: %s", folder, strerror(errno));
    else
        result = gt_sweep_collect(sweep, NULL, error);
    tasks = tasks < sweep->left ? tasks : sweep->left;
    if (result == 0 && tasks > 0)
        result = submit_array(arguments, folder, (unsigned)tasks, array, error);
    if (result == 0 && tasks > 0)
        result = submit_merge(arguments, sweep->path, array, behind, merge, error);
    if (result == 0 && tasks > 0 && !arguments->model.quiet)
        fprintf(stderr, "gridtide: job %s computes %llu points in %llu tasks; job %s merges them into %s\n", array,
                (unsigned long long)sweep->left, (unsigned long long)tasks, merge, sweep->path);
    free(folder);
    return result;
}
