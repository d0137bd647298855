#include "traces/io/datadir.h"

#include <stdbool.h>
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

/* An installed program must not pick up the tree that it was built from. */
static bool runs_from_build_tree(void)
{
    char self[4096];
    const char tree[] = GT_BUILD_TREE "/";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self);

    return length >= (ssize_t)sizeof tree - 1 && memcmp(self, tree, sizeof tree - 1) == 0;
}

static char *source_path(const char *subdir, const char *name)
{
    for (size_t i = 0; i < sizeof source_places / sizeof source_places[0]; i++) {
        if (strcmp(source_places[i].subdir, subdir) == 0)
            return readable(GT_SOURCE_TREE, source_places[i].source, name);
    }
    return NULL;
}

char *gt_data_path(const char *subdir, const char *name)
{
    const char *chosen = getenv("GRIDTIDE_DATA");
    char *path = NULL;

    if (chosen != NULL && chosen[0] != '\0')
        path = readable(chosen, subdir, name);
    if (path == NULL && runs_from_build_tree())
        path = source_path(subdir, name);
    if (path == NULL)
        path = readable(GT_INSTALLED_DATA, subdir, name);
    return path;
}
