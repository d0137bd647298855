/* framework_file.h - a framework's constants from a key file (key_file.h), by the keys of sim/frameworks/framework.h. */
#ifndef GRIDTIDE_TRACES_IO_FRAMEWORK_FILE_H
#define GRIDTIDE_TRACES_IO_FRAMEWORK_FILE_H

#include "sim/frameworks/framework.h"
#include "traces/io/key_file.h"

/* Read the file at `path`; NULL: of the framework that comes with Gridtide.  It has to set every key.  Returns -1 with FILE:LINE and
 * the reason. */
int gt_framework_load(const char *path, struct gt_framework *framework, struct gt_error *error);
/* gt_framework_load() with the file's notes, which gt_key_notes_free ends. */
int gt_framework_load_notes(const char *path, struct gt_framework *framework, struct gt_key_notes *notes,
                            struct gt_error *error);

#endif
