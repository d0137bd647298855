/* output.h - files that appear whole or not at all: a temporary name beside the
 * final one, renamed at the end; removed on error and on SIGINT/SIGTERM. */
#ifndef GRIDTIDE_TRACES_IO_OUTPUT_H
#define GRIDTIDE_TRACES_IO_OUTPUT_H

#include <stddef.h>

#include "sim/base/error.h"

struct gt_output;

/* Begin writing `path`; ".gz" and ".zst" endings compress; "-" is standard output. */
struct gt_output *gt_output_open(const char *path, struct gt_error *error);
int gt_output_write(struct gt_output *output, const void *data, size_t bytes, struct gt_error *error);
int gt_output_printf(struct gt_output *output, struct gt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Finish: flush, sync, rename. On -1 nothing is left. `output` is gone either way. */
int gt_output_commit(struct gt_output *output, struct gt_error *error);
void gt_output_abandon(struct gt_output *output); /* NULL allowed */

/* For writers that need a path of their own (SQLite): a temporary name beside `path`
 * (malloced), registered for removal on a signal; commit renames it and frees the name. */
char *gt_output_reserve(const char *path, struct gt_error *error);
int gt_output_rename(char *temporary, const char *path, struct gt_error *error);
void gt_output_discard(char *temporary);

#endif
