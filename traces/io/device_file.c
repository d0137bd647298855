#include "traces/io/device_file.h"

#include <stdlib.h>
#include <string.h>

static int load_file(const char *path, struct gt_device *device, struct gt_key_notes *notes, struct gt_error *error)
{
    gt_device_init(device);
    if (gt_key_file_read(path, &gt_device_table, device, notes, error) != 0)
        return -1;
    if (gt_device_check(device, error) == 0)
        return 0;
    if (notes != NULL)
        gt_key_notes_free(notes);
    return gt_error_prefix(error, "%s: ", path);
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
