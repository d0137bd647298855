/* overwrite.h - nothing is written over what the program reads.
 *
 * Whoever opens a file to read says so here, and whoever is about to write asks here: the openers of
 * traces/io and of the store do both, so that every command is covered.  Files are told apart by device
 * and inode; names, links and /proc/self/fd make no difference.
 */
#ifndef GRIDTIDE_TRACES_IO_OVERWRITE_H
#define GRIDTIDE_TRACES_IO_OVERWRITE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "sim/base/error.h"

/* Begin to watch: main() asks for it.  Tests, which read back what they write and write it again, do not. */
void gt_watch_reading(void);

/* The file behind `fd`, called `path` in messages, is being read from now on.  Returns 0; -1 where it is
 * what standard output is being written to. */
int gt_reading_begins(int fd, const char *path, struct gt_error *error);
/* gt_reading_begins() for a file that somebody else opens; one that is not there is left to them. */
int gt_reading_begins_at(const char *path, struct gt_error *error);
/* What was read until now may be replaced: it was a start for what is to be written. */
void gt_reading_is_over(void);

/* Is this one of the files that are being read? */
bool gt_is_being_read(const struct stat *status);
/* -1 where the file at `path`, or one that SQLite keeps beside it, is being read; 0 otherwise, also where
 * there is none. */
int gt_writing_is_safe(const char *path, struct gt_error *error);
/* gt_writing_is_safe() for an open file. */
int gt_writing_is_safe_to(int fd, const char *path, struct gt_error *error);

#endif
