/* device_file.h - devices from key files (key_file.h), by the keys of sim/devices/device.h. */
#ifndef GRIDTIDE_TRACES_IO_DEVICE_FILE_H
#define GRIDTIDE_TRACES_IO_DEVICE_FILE_H

#include "sim/devices/device.h"
#include "traces/io/key_file.h"

/* The device of traces that name none. */
#define GT_DEVICE_FALLBACK "h200"

/* Read a device: a name without '/' and ".ini" is one of the device files that come with Gridtide,
 * anything else is a path, and a table (product.sweep) that lies beside that file is found there: the device has
 * its path. Keys that the file leaves out have their defaults; gt_device_check has
 * passed. Returns -1 with FILE:LINE and the reason; an unknown name lists the known ones. */
int gt_device_load(const char *name_or_path, struct gt_device *device, struct gt_error *error);
/* gt_device_load() with the file's notes, which gt_key_notes_free ends. */
int gt_device_load_notes(const char *name_or_path, struct gt_device *device, struct gt_key_notes *notes,
                         struct gt_error *error);

/* The names of the device files that come with Gridtide, sorted, NULL-ended; NULL with an error
 * where there is no such folder. gt_device_names_free ends them. */
char **gt_device_names(struct gt_error *error);
void gt_device_names_free(char **names);
/* The first of these names whose device has compute capability `capability` / 10 . `capability` % 10 (90: 9.0),
 * malloced; NULL where none has. */
char *gt_device_name_of_capability(uint32_t capability);
/* The path of the device file of that name, malloced; NULL with an error that lists the names. */
char *gt_device_name_path(const char *name, struct gt_error *error);

#endif
