/* output.h - files that appear whole or not at all: without a name until they are whole, where the file system can do
 * that (O_TMPFILE), so that nothing is left whatever ends the program; else under a temporary name beside the final one,
 * renamed at the end, removed on error and on SIGINT/SIGTERM, and after a SIGKILL by the next writer in that folder. */
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
/* Flush and sync: of several files that belong together each is finished before the first is committed.  Nothing is written
 * after it; gt_output_commit() or gt_output_abandon() follows, whatever it returns. */
int gt_output_finish(struct gt_output *output, struct gt_error *error);
/* Finish if that is not done, and rename. On -1 nothing is left. `output` is gone either way. */
int gt_output_commit(struct gt_output *output, struct gt_error *error);
void gt_output_abandon(struct gt_output *output); /* NULL allowed */

/* A file without a name in the folder of `path`, to be written, or -1: the file system has no such files, or something
 * is wrong there, which gt_output_reserve() then says. */
int gt_output_open_unnamed(const char *path);
/* Give it the name `path`, in place of whatever has that.  A name cannot be replaced by linking: where there is one the
 * file gets a temporary name for the moment between two system calls. */
int gt_output_link(int fd, const char *path, struct gt_error *error);

/* For writers that need a path of their own (SQLite opens files by name, and more than once, and its locks and journal
 * go by names too, so a store being written has one, which a SIGKILL leaves until the next writer sweeps): a temporary name beside `path`
 * (malloced), registered for removal on a signal; commit renames it and frees the name. */
char *gt_output_reserve(const char *path, struct gt_error *error);
int gt_output_rename(char *temporary, const char *path, struct gt_error *error);
void gt_output_discard(char *temporary);

#endif
