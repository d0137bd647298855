/* data_path.h - names of files: where Gridtide's data is installed, and a path's file name without its ending. */
#ifndef GRIDTIDE_TRACES_IO_DATA_PATH_H
#define GRIDTIDE_TRACES_IO_DATA_PATH_H

/* The path of data file `name` in `subdir` ("devices", "frameworks" or "templates"), or of the folder itself
 * with `name` NULL. Malloced; NULL when there is no such file.
 *
 * Looked for in $GRIDTIDE_DATA/SUBDIR when that is set, then in the source tree when the program
 * stands where it was built (beside the file gridtide.source that make wrote), then where `make install` put it, first in an
 * installation that was moved as a whole. */
char *gt_data_path(const char *subdir, const char *name);

/* The path of `name` in the folder of this program. Malloced; NULL where the system does not say which that is. */
char *gt_beside_program(const char *name);

/* Where `installed`, a folder that `make install` wrote to (traces/io/paths.h), is in an installation that was moved as a
 * whole: as far from this program as it was from where the program was installed. Malloced, or NULL. */
char *gt_moved_path(const char *installed);

/* A file's name without its folder and the endings of its format and compression ("a/b.pt.trace.json.gz":
 * "b"); "stdin" for "-".  Malloced. */
char *gt_path_stem(const char *path);

#endif
