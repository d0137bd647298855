/* device_names.c - the device files that come with Gridtide, by name. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/datadir.h"
#include "traces/io/device_file.h"

static const char ending[] = ".ini";

static int is_device_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), tail = strlen(ending);
    return length > tail && entry->d_name[0] != '.' && strcmp(entry->d_name + length - tail, ending) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **gt_device_names(struct gt_error *error)
{
    struct dirent **entries;
    char *folder = gt_data_path("devices", NULL);
    int count = folder != NULL ? scandir(folder, &entries, is_device_file, NULL) : -1;
    if (count < 0) {
        gt_error_set(error, "no folder of device files (%s); is Gridtide installed, or $GRIDTIDE_DATA right?",
                     folder != NULL ? strerror(errno) : "not found");
        free(folder);
        return NULL;
    }
    char **names = gt_calloc((unsigned)count + 1, sizeof(*names));
    for (int i = 0; i < count; i++) {
        size_t length = strlen(entries[i]->d_name) - strlen(ending);
        names[i] = gt_calloc(length + 1, 1);
        memcpy(names[i], entries[i]->d_name, length);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    qsort(names, (size_t)count, sizeof(*names), by_name);
    return names;
}

void gt_device_names_free(char **names)
{
    for (size_t i = 0; names != NULL && names[i] != NULL; i++)
        free(names[i]);
    free(names);
}

static int unknown_name(const char *name, struct gt_error *error)
{
    char known[512] = "";
    char **names = gt_device_names(error);
    if (names == NULL)
        return -1;
    for (size_t i = 0, at = 0; names[i] != NULL && at < sizeof(known); i++)
        at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i > 0 ? ", " : "", names[i]);
    gt_device_names_free(names);
    return gt_error_set(error, "there is no device '%.60s'; there are %s, or give a file NAME.ini", name, known);
}

char *gt_device_name_path(const char *name, struct gt_error *error)
{
    char file[256];
    char *path = NULL;
    if (name[0] != '\0' && name[0] != '.' &&
        (size_t)snprintf(file, sizeof(file), "%s%s", name, ending) < sizeof(file))
        path = gt_data_path("devices", file);
    if (path == NULL)
        unknown_name(name, error);
    return path;
}
