#include "traces/io/device_file.h"

#include <stdlib.h>
#include <string.h>

/* Keys that nobody measured or documented: their source says that they are guesses. */
static uint32_t estimated_keys(const struct gt_key_notes *notes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < notes->count; i++)
        count += gt_key_note_guesses(notes->keys[i]);
    return count;
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
    if (is_path)
        return load_file(name_or_path, device, notes, error);
    char *path = gt_device_name_path(name_or_path, error);
    int status = path != NULL ? load_file(path, device, notes, error) : -1;
    free(path);
    return status;
}

int gt_device_load(const char *name_or_path, struct gt_device *device, struct gt_error *error)
{
    return gt_device_load_notes(name_or_path, device, NULL, error);
}
