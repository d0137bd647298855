#include "sim/cmd/input/with_run.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces/io/child.h"
#include "traces/io/temporary.h"

extern char **environ;

/* SQLite's header has the application's number at byte 68: traces of Nsight Systems are SQLite files, too. */
enum { HEADER_BYTES = 72, APPLICATION_AT = 68 };
static const char sqlite[] = "SQLite format 3";
static const uint32_t application = 1196708164; /* as in traces/store/schema.sql */

/* Is it a file to read as a trace?  What is not there, and what is of no use as either, is left to the store's errors. */
static bool is_trace(const char *path)
{
    unsigned char header[HEADER_BYTES];
    uint32_t number;
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 ? fopen(path, "re") : NULL;
    size_t bytes;

    if (file == NULL)
        return false;
    bytes = fread(header, 1, sizeof header, file);
    fclose(file);
    if (bytes < sizeof sqlite || memcmp(header, sqlite, sizeof sqlite) != 0)
        return true;
    if (bytes < sizeof header) /* a damaged store, which the store says */
        return false;
    memcpy(&number, header + APPLICATION_AT, sizeof number); /* big-endian */
    return be32toh(number) != application;
}

/* `gridtide run` of this program, whose errors, warnings and progress go where ours do; its table goes nowhere.  Returns an
 * exit status. */
static int simulate(const char *trace, const char *store, bool quiet)
{
    char *self = (char *)"/proc/self/exe", *run = (char *)"run";
    char *const loud[] = { self, run, (char *)"-o", (char *)store, (char *)"--", (char *)trace, NULL };
    char *const quietly[] = {
        self, run, (char *)"-q", (char *)"-o", (char *)store, (char *)"--", (char *)trace, NULL
    };
    posix_spawn_file_actions_t actions;
    struct gt_error error;
    int status, failed;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    failed = gt_child_start(&child, &actions, quiet ? quietly : loud, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        gt_error_set(&error, "cannot start gridtide to simulate %.200s: %s", trace, strerror(failed));
        return gt_fail(&error);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return GT_EXIT_FAILED;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    gt_error_set(&error, "the simulation of %.200s was terminated by signal %d (%s)", trace, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return gt_fail(&error);
}

int gt_with_run(const char *path, bool quiet, gt_store_work *work, const void *arguments)
{
    char *folder, *store;
    struct gt_error error;
    int result;

    if (!is_trace(path))
        return gt_with_store(path, work, arguments);
    folder = gt_temporary_folder("run", &error);
    if (folder == NULL)
        return gt_fail(&error);
    store = gt_format("%s/run.db", folder);
    result = simulate(path, store, quiet);
    if (result == GT_EXIT_DONE)
        result = gt_with_store(store, work, arguments);
    gt_temporary_remove(folder);
    free(store);
    free(folder);
    return result;
}
