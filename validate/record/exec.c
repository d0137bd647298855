/* exec.c - ways out of a process that no handler sees: exec() and _exit(), called by their names.
 *
 * They are met where the library is preloaded (LD_PRELOAD) too: what CUPTI has is handed over first.  A child of vfork()
 * that becomes another program is not the process that is recorded, though it has its memory.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "validate/record/internal.h"

#define EXPORTED __attribute__((visibility("default")))

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[])
{
    int (*real)(const char *, char *const[], char *const[]) =
        (int (*)(const char *, char *const[], char *const[]))next("execve");

    gt_control_last_words(GT_ENDED_BY_EXEC, 0);
    return real(path, arguments, environment);
}

EXPORTED int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
    int (*real)(const char *, char *const[]) = (int (*)(const char *, char *const[]))next("execvp");

    gt_control_last_words(GT_ENDED_BY_EXEC, 0);
    return real(file, arguments);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    int (*real)(const char *, char *const[], char *const[]) =
        (int (*)(const char *, char *const[], char *const[]))next("execvpe");

    gt_control_last_words(GT_ENDED_BY_EXEC, 0);
    return real(file, arguments, environment);
}

EXPORTED void _exit(int status)
{
    void (*real)(int) = (void (*)(int))next("_exit");

    gt_control_last_words(GT_ENDED, 0);
    real(status);
    abort(); /* it does not return */
}

EXPORTED void _Exit(int status)
{
    _exit(status);
}
