#include "traces/io/device_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/io/data_path.h"

/* Keys that nobody measured or documented: their source says that they are guesses. */
static uint32_t estimated_keys(const struct gt_key_notes *notes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < notes->count; i++)
        count += gt_key_note_guesses(notes->keys[i]);
    return count;
}

/* A table that the file names without a folder and that lies beside it is meant: where the file goes, it goes. */
static void find_beside(const char *path, struct gt_device *device)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) : 1;
    char beside[GT_DEVICE_PATH_BYTES] = "";

    if (strcmp(device->product.sweep, "none") != 0 && strchr(device->product.sweep, '/') == NULL &&
        (size_t)snprintf(beside, sizeof beside, "%.*s/%s", folder, slash != NULL ? path : ".",
                         device->product.sweep) < sizeof beside &&
        access(beside, F_OK) == 0)
        memcpy(device->product.sweep, beside, sizeof beside);
}

static int load_file(const char *path, struct gt_device *device, struct gt_key_notes *notes, struct gt_error *error)
{
    struct gt_key_notes own;
    int status;

    gt_device_init(device);
    if (gt_key_file_read(path, &gt_device_table, device, &own, error) != 0)
        return -1;
    device->estimated_keys = estimated_keys(&own);
    status = gt_device_check(device, error);
    if (status == 0 && notes != NULL)
        *notes = own;
    else
        gt_key_notes_free(&own);
    return status == 0 ? 0 : gt_error_prefix(error, "%s: ", path);
}

int gt_device_load_notes(const char *name_or_path, struct gt_device *device, struct gt_key_notes *notes,
                         struct gt_error *error)
{
    size_t length = strlen(name_or_path);
    bool is_path =
        strchr(name_or_path, '/') != NULL || (length >= 4 && strcmp(name_or_path + length - 4, ".ini") == 0);
    if (is_path) {
        if (load_file(name_or_path, device, notes, error) != 0)
            return -1;
        find_beside(name_or_path, device);
        return 0;
    }
    char *path = gt_device_name_path(name_or_path, error);
    int status = path != NULL ? load_file(path, device, notes, error) : -1;
    free(path);
    return status;
}

int gt_device_load(const char *name_or_path, struct gt_device *device, struct gt_error *error)
{
    return gt_device_load_notes(name_or_path, device, NULL, error);
}

/* The device files that come with Gridtide, by name. */

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

char *gt_device_name_of_capability(uint32_t capability)
{
    struct gt_error error;
    char **names = gt_device_names(&error), *found = NULL;

    for (size_t i = 0; names != NULL && names[i] != NULL && found == NULL; i++) {
        struct gt_device device;

        if (gt_device_load(names[i], &device, &error) == 0 &&
            device.compute_major * 10 + device.compute_minor == capability)
            found = gt_strdup(names[i]);
    }
    gt_device_names_free(names);
    return found;
}
