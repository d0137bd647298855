/* temporary.h - files and folders under temporary names, removed however the program ends: at its exit and on
 * signals that end it.  What a SIGKILL leaves whoever writes there next sweeps away (output.h). */
#ifndef GRIDTIDE_TRACES_IO_TEMPORARY_H
#define GRIDTIDE_TRACES_IO_TEMPORARY_H

#include "sim/base/error.h"

/* From now on `path` is removed at the end, and where it is a folder all that is in it. */
void gt_temporary_add(const char *path);
/* No longer: it has its final name, or is gone. */
void gt_temporary_release(const char *path);
/* Remove it now. */
void gt_temporary_remove(const char *path);

/* A new folder for files to be unpacked to, named after `what`, in $TMPDIR or /tmp, and added.  Malloced; NULL
 * with the reason.  gt_temporary_remove() ends it. */
char *gt_temporary_folder(const char *what, struct gt_error *error);

#endif
