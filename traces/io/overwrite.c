#include "traces/io/overwrite.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files that are being read, in the order in which they were opened. */
static struct file {
    dev_t device;
    ino_t inode;
} * files;
static uint32_t file_count;
static bool watching;

void gt_watch_reading(void)
{
    watching = true;
}

/* Only what keeps its bytes can lose them: no terminal, pipe or /dev/null. */
static bool keeps_bytes(const struct stat *status)
{
    return S_ISREG(status->st_mode) || S_ISBLK(status->st_mode);
}

bool gt_is_being_read(const struct stat *status)
{
    if (!keeps_bytes(status))
        return false;
    for (uint32_t i = 0; i < file_count; i++)
        if (files[i].device == status->st_dev && files[i].inode == status->st_ino)
            return true;
    return false;
}

static int note(const struct stat *status, const char *path, struct gt_error *error)
{
    struct stat out;

    if (!watching || !keeps_bytes(status))
        return 0;
    if (fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == status->st_dev && out.st_ino == status->st_ino)
        return gt_error_set(error, "%s: standard output goes to the file that is read; send it elsewhere", path);
    if (gt_is_being_read(status))
        return 0;
    files = gt_realloc(files, file_count + 1ull, sizeof *files);
    files[file_count++] = (struct file){ status->st_dev, status->st_ino };
    return 0;
}

int gt_reading_begins(int fd, const char *path, struct gt_error *error)
{
    struct stat status;

    return fstat(fd, &status) == 0 ? note(&status, path, error) : 0;
}

int gt_reading_begins_at(const char *path, struct gt_error *error)
{
    struct stat status;

    return stat(path, &status) == 0 ? note(&status, path, error) : 0;
}

void gt_reading_is_over(void)
{
    free(files);
    files = NULL;
    file_count = 0;
}

static int refuse(const char *path, struct gt_error *error)
{
    return gt_error_set(error,
                        "%s: would be written over what is read, under this name or another; "
                        "give another name with -o",
                        path);
}

static const char *const endings[] = { "", "-journal", "-wal", "-shm" };

/* SQLite takes files of these names for its own and removes them with the store that they stand beside. */
static bool is_beside_what_is_read(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 1; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        struct stat status;
        char *store;
        bool read;

        if (length <= ending || strcmp(path + length - ending, endings[i]) != 0)
            continue;
        store = gt_format("%.*s", (int)(length - ending), path);
        read = stat(store, &status) == 0 && gt_is_being_read(&status);
        free(store);
        if (read)
            return true;
    }
    return false;
}

int gt_writing_is_safe(const char *path, struct gt_error *error)
{
    if (is_beside_what_is_read(path))
        return gt_error_set(error,
                            "%s: is a name that SQLite keeps for itself beside the store that is read; give "
                            "another name with -o",
                            path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct stat status;
        char *name;
        int found;

        if (asprintf(&name, "%s%s", path, endings[i]) < 0)
            gt_bug("asprintf failed");
        found = stat(name, &status);
        free(name);
        if (found == 0 && gt_is_being_read(&status))
            return refuse(path, error);
    }
    return 0;
}

int gt_writing_is_safe_to(int fd, const char *path, struct gt_error *error)
{
    struct stat status;

    return fstat(fd, &status) == 0 && gt_is_being_read(&status) ? refuse(path, error) : 0;
}
