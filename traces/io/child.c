#include "traces/io/child.h"

#include <signal.h>

int gt_child_start(pid_t *child, const posix_spawn_file_actions_t *actions, char *const arguments[],
                   char *const environment[])
{
    posix_spawnattr_t attributes;
    sigset_t usual;
    int result;

    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    result = posix_spawnp(child, arguments[0], actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    return result;
}
