#include "traces/io/output_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

void gt_output_sweep(const char *folder)
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
