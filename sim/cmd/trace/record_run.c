/* record_run.c - the program that is recorded: its environment, its start, its end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "sim/cmd/trace/record_parts.h"
#include "traces/io/child.h"
#include "traces/io/data_path.h"
#include "traces/io/paths.h"
#include "traces/recorded/records.h"

static void set(const char *name, const char *value)
{
    if (value == NULL)
        unsetenv(name);
    else if (setenv(name, value, 1) != 0)
        gt_no_memory("the environment");
}

static void set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    set(name, value == 0 ? NULL : text);
}

/* In front of what is preloaded anyhow; a name with a space or colon cannot be. */
static char *preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");

    if (library == NULL || strpbrk(library, " :") != NULL)
        return before == NULL ? NULL : gt_format("%s", before);
    return before == NULL || *before == '\0' ? gt_format("%s", library) : gt_format("%s:%s", library, before);
}

/* Children have it from their parents, so that all processes of a program are recorded. */
static void set_environment(const struct gt_recording *recording, const char *library, const char *folder)
{
    set("CUDA_INJECTION64_PATH", library);
    set("NVTX_INJECTION64_PATH", library);
    set("GRIDTIDE_RECORD_DIR", folder);
    set("GRIDTIDE_RECORD_FROM", recording->from);
    set("GRIDTIDE_RECORD_RANGE", recording->range);
    set_number("GRIDTIDE_RECORD_DELAY_MS", recording->delay_ms);
    set_number("GRIDTIDE_RECORD_DURATION_MS", recording->duration_ms);
}

static void clear_environment(void)
{
    static const char *const names[] = {
        "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",    "GRIDTIDE_RECORD_DIR",         "GRIDTIDE_RECORD_FROM",
        "GRIDTIDE_RECORD_RANGE", "GRIDTIDE_RECORD_DELAY_MS", "GRIDTIDE_RECORD_DURATION_MS",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

int gt_record_run(const struct gt_recording *recording, const char *library, const char *folder, int *status,
                  struct gt_error *error)
{
    posix_spawn_file_actions_t actions;
    char *preloaded, *before;
    pid_t child;
    int failed;

    if (library != NULL)
        set_environment(recording, library, folder);
    preloaded = preload(library);
    before = getenv("LD_PRELOAD") == NULL ? NULL : gt_format("%s", getenv("LD_PRELOAD"));
    set("LD_PRELOAD", preloaded);
    posix_spawn_file_actions_init(&actions);
    if (recording->output != NULL) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, recording->output, O_WRONLY | O_CREAT | O_APPEND,
                                         0600);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    failed = gt_child_start(&child, &actions, recording->program, environ);
    posix_spawn_file_actions_destroy(&actions);
    set("LD_PRELOAD", before);
    clear_environment();
    free(before);
    free(preloaded);
    if (failed != 0)
        return gt_error_set(error, "cannot start %s: %s", recording->program[0], strerror(failed));
    gt_record_wait(child, folder, strcmp(recording->from, "signal") == 0, status);
    return 0;
}

/* Where the library is that `gridtide record` puts into a program. */

#define LIBRARY  "libgridtide_record.so"
#define VARIABLE "GRIDTIDE_RECORDER"

enum { PLACES = 3 };

static char *in_folder(char *folder)
{
    char *path = folder == NULL ? NULL : gt_format("%s/" LIBRARY, folder);

    free(folder);
    return path;
}

static void say_missing(char *const *places, struct gt_error *error)
{
    char looked_at[3 * 4096] = "";

    for (int i = 0; i < PLACES; i++)
        if (places[i] != NULL)
            gt_text_append(looked_at, sizeof looked_at, "%s%s", *looked_at == '\0' ? "" : ", ", places[i]);
#ifdef GT_HAVE_RECORDER
    gt_error_set(error,
                 "the recorder (" LIBRARY ") is not where it was installed (%s); set " VARIABLE
                 " to the file's path, or reinstall gridtide",
                 looked_at);
#else
    gt_error_set(error,
                 "this gridtide has no recorder (" LIBRARY "): it was built without CUDA; build it with nvcc and "
                 "the CUPTI headers (--with-cuda=DIR), or set " VARIABLE
                 " to the library of another build of this version (searched: %s)",
                 looked_at);
#endif
}

/* The absolute path of a file that can be read, as the program may change its folder; else NULL. */
static char *find_file(const char *path)
{
    char *absolute = realpath(path, NULL);
    struct stat info;

    if (absolute != NULL && stat(absolute, &info) == 0 && S_ISREG(info.st_mode) && access(absolute, R_OK) == 0)
        return absolute;
    free(absolute);
    return NULL;
}

/* The library that the user names: nothing else is tried. */
static char *named(const char *path, struct gt_error *error)
{
    char *found = find_file(path);

    if (found == NULL)
        gt_error_set(error, "%s: not a readable file; " VARIABLE " must be the path of " LIBRARY, path);
    return found;
}

char *gt_recorder_library(struct gt_error *error)
{
    const char *chosen = getenv(VARIABLE);
    char *places[PLACES] = { NULL }, *found = NULL;

    if (chosen != NULL && *chosen != '\0')
        return named(chosen, error);
    places[0] = in_folder(gt_beside_program("validate/record")); /* where `make` puts it */
    places[1] = in_folder(gt_moved_path(GT_INSTALLED_LIBRARIES));
    places[2] = in_folder(gt_format("%s", GT_INSTALLED_LIBRARIES));
    for (int i = 0; i < PLACES && found == NULL; i++)
        if (places[i] != NULL)
            found = find_file(places[i]);
    if (found == NULL)
        say_missing(places, error);
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    return found;
}

/* Until the program ends: signals that are meant for it go on to it. */

static volatile sig_atomic_t asked_to_end, asked_to_switch;

static void on_signal(int number)
{
    if (number == SIGTERM)
        asked_to_end = 1;
    else if (number == SIGUSR2)
        asked_to_switch = 1;
}

/* The recorder names a process's file PID-TIME.gtrecord. 0: it is no such file. */
static pid_t process_of(const char *file)
{
    char *end;
    long pid = strtol(file, &end, 10);

    return pid > 0 && *end == '-' && strstr(end, GT_RECORDED_ENDING) != NULL ? (pid_t)pid : 0;
}

/* To all processes that are recorded: which of them do so the caller of `gridtide record` need not know. */
static void pass_to_all(const char *folder, int number)
{
    DIR *files = opendir(folder);
    const struct dirent *file;
    int reached = 0;

    while (files != NULL && (file = readdir(files)) != NULL) {
        pid_t pid = process_of(file->d_name);

        reached += pid > 0 && kill(pid, number) == 0;
    }
    if (files != NULL)
        closedir(files);
    if (reached == 0)
        fprintf(stderr, "gridtide: no process uses CUDA yet: the signal was not forwarded; send it again\n");
}

/* What `signals` did before, to be put back. */
static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGUSR2, SIGCHLD };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void listen_to(struct sigaction before[SIGNALS], bool switches)
{
    for (int i = 0; i < SIGNALS; i++) {
        /* From the terminal the program has these itself; what is recorded by then is to be kept. */
        bool ignored = signals[i] == SIGINT || signals[i] == SIGQUIT;
        struct sigaction ours = { .sa_handler = ignored ? SIG_IGN : on_signal };

        if (signals[i] != SIGUSR2 || switches)
            sigaction(signals[i], &ours, &before[i]);
        else
            sigaction(signals[i], NULL, &before[i]);
    }
}

void gt_record_wait(pid_t child, const char *folder, bool switches, int *status)
{
    struct sigaction before[SIGNALS];
    sigset_t blocked, as_before, asleep;
    pid_t ended;

    sigemptyset(&blocked);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &as_before); /* but while it sleeps, so that none is missed */
    asleep = as_before;
    for (int i = 0; i < SIGNALS; i++)
        sigdelset(&asleep, signals[i]);
    listen_to(before, switches);
    while ((ended = waitpid(child, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (asked_to_end)
            kill(child, SIGTERM);
        if (asked_to_switch)
            pass_to_all(folder, SIGUSR2);
        asked_to_end = asked_to_switch = 0;
        sigsuspend(&asleep);
    }
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &as_before, NULL);
}

/* From a trace to the answer: what `gridtide run`, `explain` and `report` say of it. */

/* This program, with other arguments. */
static int run_self(char *const arguments[], struct gt_error *error)
{
    char *path = realpath("/proc/self/exe", NULL);
    char *all[8] = { path };
    pid_t child;
    int failed, status = 0;

    if (path == NULL)
        return gt_error_set(error, "/proc/self/exe: %s", strerror(errno));
    for (size_t i = 0; arguments[i] != NULL && i + 2 < sizeof all / sizeof all[0]; i++)
        all[i + 1] = arguments[i];
    failed = gt_child_start(&child, NULL, all, environ);
    free(path);
    if (failed != 0)
        return gt_error_set(error, "cannot start gridtide %s: %s", arguments[0], strerror(failed));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return gt_error_set(error, "gridtide %s failed; the trace was written", arguments[0]);
    return 0;
}

/* "report/" and the like without what is behind the name. */
static char *store_of(const char *folder)
{
    size_t length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/')
        length--;
    return gt_format("%.*s.db", (int)length, folder);
}

int gt_record_report(const char *trace, const char *folder, bool quiet, struct gt_error *error)
{
    char *store = store_of(folder), *quietly = quiet ? "-q" : NULL;
    int status = -1;

    if (unlink(store) != 0 && errno != ENOENT)
        gt_error_set(error, "%s: cannot be rewritten: %s", store, strerror(errno));
    else if (run_self((char *const[]){ "run", (char *)trace, "-o", store, quietly, NULL }, error) == 0 &&
             (quiet || run_self((char *const[]){ "explain", store, NULL }, error) == 0) &&
             run_self((char *const[]){ "report", store, "-o", (char *)folder, quietly, NULL }, error) == 0)
        status = 0;
    free(store);
    return status;
}
