#include "traces/io/datadir.h"

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

/* The folder of the source that a program which was built and not installed is of: `make` wrote it into a file
 * beside it.  Malloced; NULL for an installed one. */
static char *source_tree(void)
{
    static const char mark[] = "/gridtide.source";
    char path[4096 + sizeof mark], *tree = NULL;
    ssize_t length = readlink("/proc/self/exe", path, 4096);
    size_t room = 0;
    FILE *file;

    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length <= 0)
        return NULL;
    strcpy(path + length - 1, mark);
    file = fopen(path, "re");
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

char *gt_data_path(const char *subdir, const char *name)
{
    const char *chosen = getenv("GRIDTIDE_DATA");
    char *path = NULL;

    if (chosen != NULL && chosen[0] != '\0')
        path = readable(chosen, subdir, name);
    if (path == NULL)
        path = source_path(subdir, name);
    if (path == NULL)
        path = readable(GT_INSTALLED_DATA, subdir, name);
    return path;
}
