#include "plots/figures/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/io/child.h"
#include "traces/io/data_path.h"

#define MISSING "gnuplot is missing; install gnuplot-nox (apt-get install gnuplot-nox)"

/* What gnuplot may know of the environment: where things are, not how to draw. */
static const char *const kept_variables[] = {
    "PATH",          "HOME",          "TMPDIR",          "XDG_CACHE_HOME",  "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "XDG_DATA_DIRS", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH",
};
enum { KEPT_VARIABLES = sizeof kept_variables / sizeof kept_variables[0] };

/* Copy a template into the work folder, so that no path of the user's is in a command. */
static int copy_template(const struct gt_folder *folder, const char *name, const char *to, struct gt_error *error)
{
    char *path = gt_data_path("templates", name), buffer[4096];
    FILE *in = path != NULL ? fopen(path, "re") : NULL, *out;
    size_t bytes;

    if (in == NULL) {
        gt_error_set(error, "%s: cannot read this plot template; install Gridtide again, or set GRIDTIDE_DATA",
                     path != NULL ? path : name);
        free(path);
        return -1;
    }
    free(path);
    out = gt_folder_open_work(folder, to, error);
    while (out != NULL && (bytes = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, bytes, out);
    fclose(in);
    return out != NULL ? gt_folder_close(folder, out, error) : -1;
}

static void fill_environment(char **environment)
{
    size_t count = 0;

    for (int i = 0; i < KEPT_VARIABLES; i++) {
        const char *value = getenv(kept_variables[i]);

        if (value != NULL && asprintf(&environment[count++], "%s=%s", kept_variables[i], value) < 0)
            gt_bug("asprintf failed");
    }
    environment[count++] = strdup("LC_ALL=C.UTF-8");
    environment[count] = NULL;
}

static int spawn(const struct gt_folder *folder, pid_t *child)
{
    char *environment[KEPT_VARIABLES + 2];
    char *const arguments[] = { (char *)"gnuplot", (char *)"-d", (char *)"style.gp", NULL };
    posix_spawn_file_actions_t actions;
    int result;

    fill_environment(environment);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder->work);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "gnuplot.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    result = gt_child_start(child, &actions, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    for (char **variable = environment; *variable != NULL; variable++)
        free(*variable);
    return result;
}

/* The line of gnuplot's complaint that says most: its last. */
static int complain(const struct gt_folder *folder, const char *name, int status, struct gt_error *error)
{
    char line[300], last[300] = "";
    char *path;
    FILE *file;

    if (asprintf(&path, "%s/gnuplot.err", folder->work) < 0)
        gt_bug("asprintf failed");
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0')
            strcpy(last, line);
    }
    if (file != NULL)
        fclose(file);
    free(path);
    if (WIFSIGNALED(status))
        return gt_error_set(error, "%s: signal %d terminated gnuplot while drawing", name, WTERMSIG(status));
    return gt_error_set(error, "%s: gnuplot could not draw: %s", name, last[0] != '\0' ? last : "no reason given");
}

int gt_drawing_possible(struct gt_error *error)
{
    const char *path = getenv("PATH"), *end;

    for (; path != NULL; path = *end == ':' ? end + 1 : NULL) {
        char *file;
        bool found;

        end = strchrnul(path, ':');
        file = gt_format("%.*s/gnuplot", (int)(end - path), path);
        found = access(file, X_OK) == 0;
        free(file);
        if (found)
            return 0;
    }
    return gt_error_set(error, MISSING);
}

static int run_gnuplot(const struct gt_folder *folder, const char *name, struct gt_error *error)
{
    pid_t child;
    int status, result = spawn(folder, &child);

    if (result == ENOENT)
        return gt_error_set(error, MISSING);
    if (result != 0)
        return gt_error_set(error, "cannot start gnuplot: %s", strerror(result));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return gt_error_set(error, "cannot wait for gnuplot: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return complain(folder, name, status, error);
    return 0;
}

int gt_drawing_begin(struct gt_drawing *drawing, const struct gt_folder *folder, struct gt_error *error)
{
    memset(drawing, 0, sizeof *drawing);
    drawing->folder = folder;
    drawing->parameters = gt_folder_open_work(folder, "parameters.gp", error);
    return drawing->parameters != NULL ? 0 : -1;
}

void gt_drawing_abandon(struct gt_drawing *drawing)
{
    if (drawing->parameters != NULL)
        fclose(drawing->parameters);
    drawing->parameters = NULL;
}

int gt_drawing_plot(struct gt_drawing *drawing, const char *template, const char *name, bool png,
                    struct gt_error *error)
{
    const struct gt_folder *folder = drawing->folder;
    FILE *parameters = drawing->parameters;
    char file[64];

    drawing->parameters = NULL;
    fprintf(parameters, "width = %u\nheight = %u\npng = %d\n", drawing->width_px, drawing->height_px, png);
    if (gt_folder_close(folder, parameters, error) != 0)
        return -1;
    snprintf(file, sizeof file, "%s.gp", template);
    if (copy_template(folder, "style.gp", "style.gp", error) != 0 ||
        copy_template(folder, file, "figure.gp", error) != 0 || run_gnuplot(folder, name, error) != 0)
        return -1;
    snprintf(file, sizeof file, "%s.svg", name);
    if (gt_folder_take(folder, "figure.svg", file, error) != 0)
        return -1;
    if (!png)
        return 0;
    snprintf(file, sizeof file, "%s.png", name);
    return gt_folder_take(folder, "figure.png", file, error);
}
