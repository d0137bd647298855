/* record_report.c - from a trace to the answer: what `gridtide run`, `explain` and `report` say of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/trace/record_parts.h"
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
