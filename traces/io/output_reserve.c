/* Temporary files beside the final ones, removed however the program ends; what a SIGKILL leaves the
 * next writer in that folder sweeps away. */
#include "traces/io/output_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/io/output.h"
#include "traces/io/overwrite.h"

enum { RESERVATIONS = 64, SIDE_FILES = 4 };

/* SQLite keeps files of its own beside a database. */
static const char *const side_endings[SIDE_FILES] = { "", "-journal", "-wal", "-shm" };

/* What to remove. The signal handler reads these: names are whole before `used` is set. */
static struct reservation {
    volatile sig_atomic_t used;
    int lock;                       /* held while we live, so that nobody sweeps the file away */
    char *names[SIDE_FILES];        /* names[0] is the temporary file itself */
} reservations[RESERVATIONS];

static void remove_all(void)
{
    for (int i = 0; i < RESERVATIONS; i++)
        if (reservations[i].used)
            for (int side = 0; side < SIDE_FILES; side++)
                unlink(reservations[i].names[side]);
}

static void on_signal(int number)
{
    remove_all();
    raise(number);                  /* the default action is back by now: SA_RESETHAND */
}

static void watch_ends(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };
    static bool watching;
    struct sigaction action, old;

    if (watching)
        return;
    watching = true;
    atexit(remove_all);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
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
    while (reservation < reservations + RESERVATIONS && reservation->used)
        reservation++;
    if (reservation == reservations + RESERVATIONS)
        gt_bug("more than %d output files at once", RESERVATIONS);
    if (asprintf(&temporary, "%s" GT_TEMPORARY_PREFIX "XXXXXX", folder) < 0)
        gt_bug("asprintf failed");
    gt_output_sweep(folder);
    free(folder);
    watch_ends();
    reservation->lock = create(path, temporary, error);
    if (reservation->lock < 0) {
        free(temporary);
        return NULL;
    }
    for (int side = 0; side < SIDE_FILES; side++)
        if (asprintf(&reservation->names[side], "%s%s", temporary, side_endings[side]) < 0)
            gt_bug("asprintf failed");
    reservation->used = 1;
    return temporary;
}

static struct reservation *find(const char *temporary)
{
    for (int i = 0; i < RESERVATIONS; i++)
        if (reservations[i].used && strcmp(reservations[i].names[0], temporary) == 0)
            return &reservations[i];
    gt_bug("%s was never reserved", temporary);
}

static void release(char *temporary)
{
    struct reservation *reservation = find(temporary);

    reservation->used = 0;
    close(reservation->lock);
    for (int side = 0; side < SIDE_FILES; side++)
        free(reservation->names[side]);
    free(temporary);
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

int gt_output_rename(char *temporary, const char *path, struct gt_error *error)
{
    if (rename(temporary, path) != 0) {
        gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
        gt_output_discard(temporary);
        return -1;
    }
    sync_folder(path);
    release(temporary);
    return 0;
}

void gt_output_discard(char *temporary)
{
    if (temporary == NULL)
        return;
    for (int side = 0; side < SIDE_FILES; side++)
        unlink(find(temporary)->names[side]);
    release(temporary);
}
