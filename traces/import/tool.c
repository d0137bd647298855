#include "traces/import/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/io/child.h"

extern char **environ;

int gt_tool_start(struct gt_tool_run *run, char *const arguments[], char *path, bool errors_too)
{
    posix_spawn_file_actions_t actions;
    int result;

    *run = (struct gt_tool_run){ .name = arguments[0], .path = path };
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (errors_too)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    result = gt_child_start(&run->child, &actions, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result != 0)
        free(path);
    return result;
}

/* The first line of what it printed instead of what was asked for. */
static void first_line(const char *path, char *text, int bytes)
{
    FILE *file = fopen(path, "r");

    if (file == NULL || fgets(text, bytes, file) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

int gt_tool_finish(struct gt_tool_run *run, struct gt_error *error)
{
    char said[200];
    int status, result = 0;

    while (waitpid(run->child, &status, 0) < 0)
        if (errno != EINTR)
            gt_bug("waiting for a child: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_line(run->path, said, sizeof said);
        result = gt_error_set(error, "%s failed on the report%s%s", run->name, said[0] != '\0' ? ": " : "", said);
        unlink(run->path);
    }
    free(run->path);
    return result;
}
