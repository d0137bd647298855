/* datadir.h - where Gridtide's own data files are: device files, plot templates. */
#ifndef GRIDTIDE_TRACES_IO_DATADIR_H
#define GRIDTIDE_TRACES_IO_DATADIR_H

/* The path of data file `name` in `subdir` ("devices" or "plots"), or of the folder itself
 * with `name` NULL. Malloced; NULL when there is no such file.
 *
 * Looked for in $GRIDTIDE_DATA/SUBDIR when that is set, then in the source tree when the program
 * stands where it was built (beside the file gridtide.source that make wrote), then where `make install` put it. */
char *gt_data_path(const char *subdir, const char *name);

#endif
