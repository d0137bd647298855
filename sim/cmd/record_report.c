/* record_report.c - from a trace to the answer: what `gridtide run`, `explain` and `report` say of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/record_parts.h"
#include "traces/io/child.h"

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
        return gt_error_set(error, "gridtide %s: cannot be started: %s", arguments[0], strerror(failed));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return gt_error_set(error, "gridtide %s failed; the trace is there", arguments[0]);
    return 0;
}

int gt_record_report(const char *trace, const char *folder, bool quiet, struct gt_error *error)
{
    char *store, *name = (char *)folder;
    int status = -1;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return gt_error_set(error, "%s: %s", folder, strerror(errno));
    store = gt_format("%s/run.db", folder);
    unlink(store);
    if (run_self((char *const[]){ "run", (char *)trace, "-o", store, quiet ? "-q" : NULL, NULL }, error) == 0 &&
        (quiet || run_self((char *const[]){ "explain", store, NULL }, error) == 0) &&
        run_self((char *const[]){ "report", store, "-o", name, quiet ? "-q" : NULL, NULL }, error) == 0)
        status = 0;
    free(store);
    return status;
}
