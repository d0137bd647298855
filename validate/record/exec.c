/* exec.c - ways out of a process that no handler sees: exec() and _exit(), called by their names.
 *
 * They are met where the library is preloaded (LD_PRELOAD) too: what CUPTI has is handed over first.  A child of vfork()
 * that becomes another program is not the process that is recorded, though it has its memory.
 */
#include <dlfcn.h>
#include <stdarg.h>
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

/* Arguments one by one, ended by a NULL: as many as can be. */
enum { MOST_ARGUMENTS = 1024 };
static void gather(char *arguments[], const char *first, va_list *rest)
{
    size_t count = 0;

    for (const char *next = first; next != NULL && count < MOST_ARGUMENTS - 1; next = va_arg(*rest, const char *))
        arguments[count++] = (char *)next;
    arguments[count] = NULL;
}

EXPORTED int execl(const char *path, const char *first, ...)
{
    char *arguments[MOST_ARGUMENTS];
    va_list rest;

    va_start(rest, first);
    gather(arguments, first, &rest);
    va_end(rest);
    return execve(path, arguments, environ);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
    char *arguments[MOST_ARGUMENTS];
    va_list rest;

    va_start(rest, first);
    gather(arguments, first, &rest);
    va_end(rest);
    return execvp(file, arguments);
}

EXPORTED int execle(const char *path, const char *first, ...)
{
    char *arguments[MOST_ARGUMENTS], **environment;
    va_list rest;

    va_start(rest, first);
    gather(arguments, first, &rest);
    environment = va_arg(rest, char **);
    va_end(rest);
    return execve(path, arguments, environment);
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
