/* tool.h - a profiler's own tool, run for what only it can read. */
#ifndef GRIDTIDE_TRACES_IMPORT_TOOL_H
#define GRIDTIDE_TRACES_IMPORT_TOOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "sim/base/error.h"

struct gt_tool_run {
    pid_t child;
    const char *name;
    char *path; /* where what it prints goes */
};

/* Start arguments[0], found by PATH, with its standard output (and, `errors_too`, standard error) going into a
 * new file `path`, malloced, which the run then owns.  Returns 0, or an errno: it did not start (ENOENT: there is
 * no such tool), and `path` is freed. */
int gt_tool_start(struct gt_tool_run *run, char *const arguments[], char *path, bool errors_too);
/* Wait for its end and free `run`'s path.  -1 where it failed, with the first line that it printed; the file is
 * then removed.  `error` may be NULL. */
int gt_tool_finish(struct gt_tool_run *run, struct gt_error *error);

#endif
