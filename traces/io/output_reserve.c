/* Files without a name until they are whole; and temporary files beside the final ones, removed however the program ends,
 * of which the next writer in that folder sweeps away what a SIGKILL left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "traces/io/output.h"
#include "traces/io/overwrite.h"
#include "traces/io/temporary.h"

/* Temporary files of writers that were killed. */

/* What the names of temporary files begin with; six characters of mkstemp() follow. */
#define GT_TEMPORARY_PREFIX ".gridtide-"

/* A writer that has made its file but not yet locked it is younger than this. */
enum { IDLE_SECONDS = 60, RANDOM_CHARACTERS = 6 };

/* The prefix, mkstemp()'s characters, and maybe the ending of a file that SQLite keeps beside. */
static bool is_temporary(const char *name)
{
    size_t prefix = sizeof GT_TEMPORARY_PREFIX - 1;

    if (strncmp(name, GT_TEMPORARY_PREFIX, prefix) != 0)
        return false;
    name += prefix;
    return strcspn(name, "-") == RANDOM_CHARACTERS &&
           (name[RANDOM_CHARACTERS] == '\0' || strcmp(name + RANDOM_CHARACTERS, "-journal") == 0);
}

static bool is_abandoned(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           time(NULL) - status.st_mtime > IDLE_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Remove the temporary files in `folder` ("/" at its end) that no living process holds a lock on and
 * that nobody has written to for a minute. What cannot be removed stays; that is no error. */
static void output_sweep(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        int fd;

        if (!is_temporary(entry->d_name))
            continue;
        fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (is_abandoned(fd))
            unlinkat(dirfd(directory), entry->d_name, 0);
        close(fd);
    }
    if (directory != NULL)
        closedir(directory);
}

enum { RESERVATIONS = 64, SIDE_FILES = 4 };

/* SQLite keeps files of its own beside a database. */
static const char *const side_endings[SIDE_FILES] = { "", "-journal", "-wal", "-shm" };

/* Temporary files that are being written, by name, each with a lock held while we live, so that nobody sweeps it
 * away. */
static struct reservation {
    char *name; /* NULL: free */
    int lock;
} reservations[RESERVATIONS];

static char *side_name(const char *temporary, int side)
{
    char *name;

    if (asprintf(&name, "%s%s", temporary, side_endings[side]) < 0)
        gt_bug("asprintf failed");
    return name;
}

/* Do this with the names of the file and of those that SQLite may keep beside it. */
static void with_names(const char *temporary, void (*what)(const char *path))
{
    for (int side = 0; side < SIDE_FILES; side++) {
        char *name = side_name(temporary, side);

        what(name);
        free(name);
    }
}

/* The folder that `path` lies in, "/" at its end; malloced. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? strdup("./") : strndup(path, (size_t)(slash - path) + 1);
}

static void set_usual_mode(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    fchmod(fd, 0666 & ~mask);
}

/* The new file, locked; or -1. */
static int create(const char *path, char *temporary, struct gt_error *error)
{
    int fd = mkostemp(temporary, O_CLOEXEC);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return gt_error_set(error, "%s: cannot create: its folder does not exist; make it first", path);
    if (fd < 0)
        return gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
    set_usual_mode(fd);
    flock(fd, LOCK_EX | LOCK_NB);
    return fd;
}

char *gt_output_reserve(const char *path, struct gt_error *error)
{
    struct reservation *reservation = reservations;
    char *folder, *temporary;

    if (gt_writing_is_safe(path, error) != 0)
        return NULL;
    folder = folder_of(path);
    while (reservation < reservations + RESERVATIONS && reservation->name != NULL)
        reservation++;
    if (reservation == reservations + RESERVATIONS)
        gt_bug("more than %d output files at once", RESERVATIONS);
    if (asprintf(&temporary, "%s" GT_TEMPORARY_PREFIX "XXXXXX", folder) < 0)
        gt_bug("asprintf failed");
    output_sweep(folder);
    free(folder);
    reservation->lock = create(path, temporary, error);
    if (reservation->lock < 0) {
        free(temporary);
        return NULL;
    }
    reservation->name = temporary;
    with_names(temporary, gt_temporary_add);
    return temporary;
}

/* The new name is on the disk only when its folder is; not every file system can say so. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

int gt_output_open_unnamed(const char *path)
{
    char *folder;
    int fd;

    if (access("/proc/self/fd", X_OK) != 0) /* gt_output_link() needs it */
        return -1;
    folder = folder_of(path);
    fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0) {
        output_sweep(folder);
        flock(fd, LOCK_EX | LOCK_NB); /* for the moment in which it has a temporary name */
    }
    free(folder);
    return fd;
}

static int link_to(int fd, const char *path)
{
    char from[64];

    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int gt_output_link(int fd, const char *path, struct gt_error *error)
{
    char *temporary;

    if (link_to(fd, path) == 0) {
        sync_folder(path);
        return 0;
    }
    if (errno != EEXIST)
        return gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
    temporary = gt_output_reserve(path, error);
    if (temporary == NULL)
        return -1;
    if (unlink(temporary) == 0 && link_to(fd, temporary) == 0)
        return gt_output_rename(temporary, path, error);
    gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
    gt_output_discard(temporary);
    return -1;
}

/* What was reserved is gone, or has its final name. */
static void release(char *temporary)
{
    for (int i = 0; i < RESERVATIONS; i++) {
        if (reservations[i].name != temporary)
            continue;
        close(reservations[i].lock);
        reservations[i].name = NULL;
        free(temporary);
        return;
    }
    gt_bug("%s was never reserved", temporary);
}

int gt_output_rename(char *temporary, const char *path, struct gt_error *error)
{
    if (rename(temporary, path) != 0) {
        gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
        gt_output_discard(temporary);
        return -1;
    }
    sync_folder(path);
    with_names(temporary, gt_temporary_release);
    release(temporary);
    return 0;
}

void gt_output_discard(char *temporary)
{
    if (temporary == NULL)
        return;
    with_names(temporary, gt_temporary_remove);
    release(temporary);
}
