#include "traces/io/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATHS = 320, DEPTH = 3, ENTRIES_BYTES = 4096 };

/* What to remove. The signal handler reads these: a path is whole before `used` is set. */
static struct cleanup_path {
    volatile sig_atomic_t used;
    char *path;
} cleanup_paths[PATHS];

/* As the kernel gives it; readdir() may not be called in a signal handler. */
struct entry {
    unsigned long long inode, offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static void remove_at(int parent, const char *name, int depth);

static void remove_entries(int folder, int depth)
{
    char bytes[ENTRIES_BYTES] __attribute__((aligned(8)));
    long got;

    while ((got = syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(const void *)(bytes + at);

            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
                remove_at(folder, entry->name, depth);
            at += entry->length;
        }
}

/* With calls that a signal handler may make, and no deeper than our own folders are. */
static void remove_at(int parent, const char *name, int depth)
{
    int folder;

    if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM) || depth == 0)
        return;
    folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    remove_entries(folder, depth - 1);
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_all(void)
{
    for (int i = 0; i < PATHS; i++)
        if (cleanup_paths[i].used)
            remove_at(AT_FDCWD, cleanup_paths[i].path, DEPTH);
}

static void on_signal(int number)
{
    remove_all();
    raise(number); /* the default action is back by now: SA_RESETHAND */
}

static void watch_ends(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
    static bool watching;
    struct sigaction action, old;

    if (!watching)
        atexit(remove_all);
    watching = true;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

void gt_temporary_add(const char *path)
{
    int i = 0;

    while (i < PATHS && cleanup_paths[i].used)
        i++;
    if (i == PATHS)
        gt_bug("more than %d temporary files at once", PATHS);
    cleanup_paths[i].path = strdup(path);
    cleanup_paths[i].used = 1;
    watch_ends();
}

void gt_temporary_release(const char *path)
{
    for (int i = 0; i < PATHS; i++) {
        if (!cleanup_paths[i].used || strcmp(cleanup_paths[i].path, path) != 0)
            continue;
        cleanup_paths[i].used = 0;
        free(cleanup_paths[i].path);
        return;
    }
    gt_bug("%s was never a temporary file", path);
}

void gt_temporary_remove(const char *path)
{
    remove_at(AT_FDCWD, path, DEPTH);
    gt_temporary_release(path);
}

char *gt_temporary_folder(const char *what, struct gt_error *error)
{
    const char *where = getenv("TMPDIR");
    char *folder;

    if (asprintf(&folder, "%s/gridtide-%s-XXXXXX", where != NULL && *where != '\0' ? where : "/tmp", what) < 0)
        gt_bug("asprintf failed");
    if (mkdtemp(folder) != NULL) {
        gt_temporary_add(folder);
        return folder;
    }
    gt_error_set(error, "%s: cannot create this folder: %s (set TMPDIR)", folder, strerror(errno));
    free(folder);
    return NULL;
}
