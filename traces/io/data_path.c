#include "traces/io/data_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/io/paths.h"

/* Folders whose place in the source tree is not their installed name. */
static const struct source_place {
    const char *subdir, *source;
} source_places[] = {
    { "devices", "sim/devices" },
    { "frameworks", "sim/frameworks" },
    { "templates", "plots/templates" },
};

/* ROOT/SUBDIR[/NAME] if it can be read; else NULL. */
static char *readable(const char *root, const char *subdir, const char *name)
{
    char *path;

    if (asprintf(&path, name != NULL ? "%s/%s/%s" : "%s/%s", root, subdir, name) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *gt_beside_program(const char *name)
{
    char program[4096], *path;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);

    while (length > 0 && program[length - 1] != '/')
        length--;
    return length <= 0 || asprintf(&path, "%.*s%s", (int)length, program, name) < 0 ? NULL : path;
}

/* The folder of the source that a program which was built and not installed is of: `make` wrote it into a file
 * beside it.  Malloced; NULL for an installed one. */
static char *source_tree(void)
{
    char *mark = gt_beside_program("gridtide.source"), *tree = NULL;
    FILE *file = mark == NULL ? NULL : fopen(mark, "re");
    size_t room = 0;
    ssize_t length;

    free(mark);
    if (file == NULL)
        return NULL;
    length = getline(&tree, &room, file);
    fclose(file);
    if (length > 1 && tree[length - 1] == '\n') {
        tree[length - 1] = '\0';
        return tree;
    }
    free(tree);
    return NULL;
}

static char *source_path(const char *subdir, const char *name)
{
    char *tree = source_tree(), *path = NULL;

    for (size_t i = 0; tree != NULL && i < sizeof source_places / sizeof source_places[0]; i++) {
        if (strcmp(source_places[i].subdir, subdir) == 0)
            path = readable(tree, source_places[i].source, name);
    }
    free(tree);
    return path;
}

/* How far two absolute paths agree, by whole names: the bytes up to and with the last '/' that both have. */
static size_t common_bytes(const char *one, const char *other)
{
    size_t common = 0;

    for (size_t i = 0; one[i] != '\0' && one[i] == other[i]; i++)
        if (one[i] == '/')
            common = i + 1;
    return common;
}

char *gt_moved_path(const char *installed)
{
    static const char programs[] = GT_INSTALLED_PROGRAMS;
    size_t common = common_bytes(programs, installed), length = 0;
    char path[8192];

    for (const char *at = programs + common; *at != '\0' && length + 4 < sizeof path; at++)
        if (at == programs + common || at[-1] == '/')
            length = (size_t)(stpcpy(path + length, "../") - path);
    snprintf(path + length, sizeof path - length, "%s", installed + common);
    return gt_beside_program(path);
}

static char *moved_data(const char *subdir, const char *name)
{
    char *folder = gt_moved_path(GT_INSTALLED_DATA), *path = folder == NULL ? NULL : readable(folder, subdir, name);

    free(folder);
    return path;
}

char *gt_data_path(const char *subdir, const char *name)
{
    const char *chosen = getenv("GRIDTIDE_DATA");
    char *path = NULL;

    if (chosen != NULL && chosen[0] != '\0')
        path = readable(chosen, subdir, name);
    if (path == NULL)
        path = source_path(subdir, name);
    if (path == NULL)
        path = moved_data(subdir, name);
    if (path == NULL)
        path = readable(GT_INSTALLED_DATA, subdir, name);
    return path;
}

/* In the order in which they are taken off. */
static const char *const endings[] = {
    ".gz", ".zst", ".json", ".jsonl", ".sqlite", ".ncu-rep", ".nsys-rep", ".qdrep", ".pt.trace", ".trace",
};

char *gt_path_stem(const char *path)
{
    static const char *const descriptors[] = { "/dev/fd/", "/proc/self/fd/" };
    char *stem = strdup(strcmp(path, "-") == 0 ? "stdin" : path), *slash;
    size_t length = strlen(stem);

    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        if (strncmp(path, descriptors[i], strlen(descriptors[i])) == 0) {
            free(stem); /* a number says nothing */
            return strdup("input");
        }
    while (length > 1 && stem[length - 1] == '/') /* of a folder */
        stem[--length] = '\0';
    slash = strrchr(stem, '/');
    if (slash != NULL)
        memmove(stem, slash + 1, strlen(slash + 1) + 1);
    length = strlen(stem);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);

        if (length > ending && strcmp(stem + length - ending, endings[i]) == 0)
            stem[length -= ending] = '\0';
    }
    return stem;
}
