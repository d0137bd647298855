#include "plots/data/report_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "traces/io/overwrite.h"
#include "traces/io/temporary.h"

/* What gnuplot's work folder may hold. */
static const char *const work_names[] = {
    "parameters.gp", "style.gp",  "figure.gp",  "figure.svg", "figure.png", "gnuplot.err",
    "tracks.tsv",    "lanes.tsv", "boxes.tsv",  "legend.tsv", "raster.rgb", "heat.f32",
    "steps.tsv",     "bars.tsv",  "points.tsv", "errors.tsv",
};
enum { WORK_NAMES = sizeof work_names / sizeof work_names[0] };

/* A folder that is being filled; six characters of mkdtemp() follow. */
#define TEMPORARY_PREFIX ".gridtide-report-"
enum { RANDOM_CHARACTERS = 6, IDLE_SECONDS = 60 };

static struct {
    bool active;
    int lock; /* held while we live, so that nobody sweeps the folder away */
} building;

static char *join(const char *folder, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        gt_bug("asprintf failed");
    return path;
}

static void add_name(struct gt_folder *folder, char *name)
{
    folder->names = gt_realloc(folder->names, folder->name_count + 1, sizeof *folder->names);
    folder->names[folder->name_count++] = name;
}

/* All that may be in a report: the page, its pictures, and a page and a picture of each trace. */
static void name_files(struct gt_folder *folder, const char *const *pictures, size_t count)
{
    char *name;

    add_name(folder, strdup("index.html"));
    for (size_t i = 0; i < 2 * count; i++) {
        if (asprintf(&name, "%s.%s", pictures[i / 2], i % 2 == 0 ? "svg" : "png") < 0)
            gt_bug("asprintf failed");
        add_name(folder, name);
    }
    for (unsigned i = 0; i < 2 * GT_FOLDER_TRACES; i++) {
        if (asprintf(&name, "trace-%u.%s", i / 2 + 1, i % 2 == 0 ? "html" : "svg") < 0)
            gt_bug("asprintf failed");
        add_name(folder, name);
    }
}

static void free_names(struct gt_folder *folder)
{
    for (size_t i = 0; i < folder->name_count; i++)
        free(folder->names[i]);
    free(folder->names);
    folder->names = NULL;
    folder->name_count = 0;
}

static const char *const *folder_names(const struct gt_folder *folder)
{
    return (const char *const *)folder->names;
}

/* The folder under construction has its final name, or is gone. */
static void release(struct gt_folder *folder)
{
    building.active = false;
    if (building.lock >= 0)
        close(building.lock);
    free_names(folder);
    free(folder->final);
    free(folder->temporary);
    free(folder->work);
    memset(folder, 0, sizeof *folder);
}

static bool is_report_name(const struct gt_folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->name_count; i++)
        if (strcmp(name, folder->names[i]) == 0)
            return true;
    return false;
}

/* Does the folder's index.html begin as a report's does? */
static bool has_marker(const char *path)
{
    char *index = join(path, "index.html"), head[1024];
    FILE *file = fopen(index, "re");
    size_t bytes = file != NULL ? fread(head, 1, sizeof head - 1, file) : 0;

    if (file != NULL)
        fclose(file);
    free(index);
    return memmem(head, bytes, GT_REPORT_MARKER, strlen(GT_REPORT_MARKER)) != NULL;
}

/* 0: may be replaced; -1: refused. */
static int check_contents(const struct gt_folder *folder, const char *path, bool *empty, struct gt_error *error)
{
    DIR *entries = opendir(path);
    struct dirent *entry;
    bool marked = has_marker(path);
    struct stat status;
    int result = 0;

    if (entries == NULL)
        return gt_error_set(error, "%s: cannot read: %s", path, strerror(errno));
    *empty = true;
    while (result == 0 && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        *empty = false;
        if (fstatat(dirfd(entries), entry->d_name, &status, 0) == 0 && gt_is_being_read(&status))
            result = gt_error_set(error, "%s: contains '%.200s', which this report reads; choose another folder",
                                  path, entry->d_name);
        else if (!marked)
            result = gt_error_set(error, "%s: exists and is not a Gridtide report; choose another folder or empty it",
                                  path);
        else if (!is_report_name(folder, entry->d_name))
            result = gt_error_set(
                error, "%s: contains '%.200s', which is not part of a report; move it away or choose another folder",
                path, entry->d_name);
    }
    closedir(entries);
    return result;
}

/* -1: refused; else 0, with what is there now. */
static int check_final(const struct gt_folder *folder, bool *exists, bool *empty, struct gt_error *error)
{
    const char *path = folder->final;
    struct stat status;

    *exists = *empty = false;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            return 0;
        return gt_error_set(error, "%s: cannot write a report there: %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode))
        return gt_error_set(error, "%s: exists and is not a folder; choose another name", path);
    *exists = true;
    return check_contents(folder, path, empty, error);
}

/* `path` without slashes at its end, links followed where it exists; malloced. NULL: refused. */
static char *final_path(const char *path, struct gt_error *error)
{
    char *copy = strdup(path), *real, *last;

    if (copy == NULL)
        gt_bug("strdup failed");
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--)
        copy[length - 1] = '\0';
    last = strrchr(copy, '/') != NULL ? strrchr(copy, '/') + 1 : copy;
    if (*last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) {
        gt_error_set(error, "'%s': a report needs its own folder; give the name of one", path);
        free(copy);
        return NULL;
    }
    real = realpath(copy, NULL);
    if (real == NULL)
        return copy;
    free(copy);
    return real;
}

/* Remove a former report, or the work folder: the files that we make, then the folder itself. */
static void remove_files(const char *path, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *file = join(path, names[i]);

        unlink(file);
        free(file);
    }
    rmdir(path);
}

/* A report that is being made is locked; one whose maker was killed is not.  A folder that was made but not
 * yet locked is younger than this. */
static bool is_abandoned(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_uid == geteuid() && time(NULL) - status.st_mtime > IDLE_SECONDS &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Remove what killed makers of reports left in `parent` ("" or "/" at its end).  What holds other files than
 * a report's stays; that is no error. */
static void sweep(const struct gt_folder *folder, const char *parent)
{
    DIR *entries = opendir(parent[0] != '\0' ? parent : ".");
    const size_t prefix = strlen(TEMPORARY_PREFIX);
    struct dirent *entry;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        int fd;

        if (strncmp(entry->d_name, TEMPORARY_PREFIX, prefix) != 0 ||
            strlen(entry->d_name) != prefix + RANDOM_CHARACTERS)
            continue;
        fd = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && is_abandoned(fd)) {
            char *path, *work;

            if (asprintf(&path, "%s%s", parent, entry->d_name) < 0)
                gt_bug("asprintf failed");
            work = join(path, "work");
            remove_files(work, work_names, WORK_NAMES);
            remove_files(path, folder_names(folder), folder->name_count);
            free(work);
            free(path);
        }
        if (fd >= 0)
            close(fd);
    }
    if (entries != NULL)
        closedir(entries);
}

static int make_folders(struct gt_folder *folder, struct gt_error *error)
{
    const char *slash = strrchr(folder->final, '/');
    char *parent = strndup(folder->final, slash == NULL ? 0 : (size_t)(slash + 1 - folder->final));
    mode_t mask = umask(0);

    umask(mask);
    sweep(folder, parent);
    if (asprintf(&folder->temporary, "%s" TEMPORARY_PREFIX "XXXXXX", parent) < 0)
        gt_bug("asprintf failed");
    free(parent);
    if (mkdtemp(folder->temporary) == NULL) {
        if (errno == ENOENT || errno == ENOTDIR)
            return gt_error_set(error, "%s: the parent folder does not exist; create it first", folder->final);
        return gt_error_set(error, "%s: cannot create: %s", folder->final, strerror(errno));
    }
    folder->work = join(folder->temporary, "work");
    gt_temporary_add(folder->temporary);
    building.active = true;
    building.lock = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    flock(building.lock, LOCK_EX | LOCK_NB);
    if (chmod(folder->temporary, 0777 & ~mask) != 0 || mkdir(folder->work, 0700) != 0) {
        gt_error_set(error, "%s: cannot create: %s", folder->work, strerror(errno));
        gt_folder_abandon(folder);
        return -1;
    }
    return 0;
}

int gt_folder_begin(struct gt_folder *folder, const char *path, const char *const *pictures, size_t count,
                    struct gt_error *error)
{
    bool exists, empty;

    memset(folder, 0, sizeof *folder);
    name_files(folder, pictures, count);
    if (building.active)
        gt_bug("two report folders at once");
    folder->final = final_path(path, error);
    if (folder->final == NULL) {
        free_names(folder);
        return -1;
    }
    if (check_final(folder, &exists, &empty, error) != 0 || make_folders(folder, error) != 0) {
        free(folder->final);
        free(folder->temporary);
        free_names(folder);
        return -1;
    }
    return 0;
}

static FILE *open_in(const char *where, const char *name, struct gt_error *error)
{
    char *path = join(where, name);
    FILE *file = fopen(path, "wxe");

    if (file == NULL && errno == EEXIST && unlink(path) == 0)
        file = fopen(path, "wxe");
    if (file == NULL)
        gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
    free(path);
    return file;
}

FILE *gt_folder_open(const struct gt_folder *folder, const char *name, struct gt_error *error)
{
    if (!is_report_name(folder, name))
        gt_bug("'%s' is not among a report's files", name);
    return open_in(folder->temporary, name, error);
}

FILE *gt_folder_open_work(const struct gt_folder *folder, const char *name, struct gt_error *error)
{
    for (int i = 0; i < WORK_NAMES; i++)
        if (strcmp(name, work_names[i]) == 0)
            return open_in(folder->work, name, error);
    gt_bug("'%s' is not among the work files", name);
}

int gt_folder_close(const struct gt_folder *folder, FILE *file, struct gt_error *error)
{
    bool bad = ferror(file) != 0;

    errno = 0;
    if (fclose(file) != 0 || bad)
        return gt_error_set(error, "%s: cannot write: %s", folder->final,
                            errno != 0 ? strerror(errno) : "the disk may be full");
    return 0;
}

int gt_folder_take(const struct gt_folder *folder, const char *from, const char *to, struct gt_error *error)
{
    char *source = join(folder->work, from), *target = join(folder->temporary, to);
    struct stat status;
    int result = 0;

    if (stat(source, &status) != 0 || status.st_size == 0 || rename(source, target) != 0)
        result = gt_error_set(error, "%s: gnuplot did not write %s; is the disk full?", folder->final, to);
    free(source);
    free(target);
    return result;
}

/* Swap with the former report: what readers open is the old one or the new one, whole. */
static int replace(const struct gt_folder *folder)
{
    char *aside;
    int result;

    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->final, RENAME_EXCHANGE) == 0) {
        remove_files(folder->temporary, folder_names(folder), folder->name_count);
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (asprintf(&aside, "%s-old", folder->temporary) < 0) /* the file system cannot swap */
        gt_bug("asprintf failed");
    result = rename(folder->final, aside);
    if (result == 0 && (result = rename(folder->temporary, folder->final)) != 0)
        rename(aside, folder->final);
    else if (result == 0)
        remove_files(aside, folder_names(folder), folder->name_count);
    free(aside);
    return result;
}

int gt_folder_commit(struct gt_folder *folder, struct gt_error *error)
{
    bool exists, empty;
    int result;

    remove_files(folder->work, work_names, WORK_NAMES);
    result = check_final(folder, &exists, &empty, error);
    if (result == 0) {
        result = exists && !empty ? replace(folder) : rename(folder->temporary, folder->final);
        if (result != 0)
            gt_error_set(error, "%s: cannot move the report there: %s", folder->final, strerror(errno));
    }
    if (result == 0)
        gt_temporary_release(folder->temporary);
    else
        gt_temporary_remove(folder->temporary);
    release(folder);
    return result;
}

void gt_folder_abandon(struct gt_folder *folder)
{
    gt_temporary_remove(folder->temporary);
    release(folder);
}
