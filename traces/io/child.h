/* child.h - other programs, started. */
#ifndef GRIDTIDE_TRACES_IO_CHILD_H
#define GRIDTIDE_TRACES_IO_CHILD_H

#include <spawn.h>

/* posix_spawnp() of arguments[0], with the usual effect of the signals that this program ignores: what
 * outgrows `ulimit -f` ends the child, which may not look at what write() says.  Returns 0 or an errno. */
int gt_child_start(pid_t *child, const posix_spawn_file_actions_t *actions, char *const arguments[],
                   char *const environment[]);

#endif
