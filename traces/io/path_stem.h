/* path_stem.h - what a file is called, without where it lies and what it is packed in. */
#ifndef GRIDTIDE_TRACES_IO_PATH_STEM_H
#define GRIDTIDE_TRACES_IO_PATH_STEM_H

/* A file's name without its folder and the endings of its format and compression ("a/b.pt.trace.json.gz":
 * "b"); "stdin" for "-".  Malloced. */
char *gt_path_stem(const char *path);

#endif
