/* input.h - a file's bytes, uncompressed on the way when it is gzip, zstd or xz, without the byte-order mark
 * that text may begin with.  What cannot be read twice (a pipe, standard input) is opened once and handed on. */
#ifndef GRIDTIDE_TRACES_IO_INPUT_H
#define GRIDTIDE_TRACES_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/base/error.h"

struct gt_input;

/* Open for reading; refuses directories and what cannot be read, saying why. "-" is standard input. */
struct gt_input *gt_input_open(const char *path, struct gt_error *error);
/* `opened`, of which nothing has been read but its head, for one more holder; `path` opened where it is NULL.
 * Each holder closes it. */
struct gt_input *gt_input_share(struct gt_input *opened, const char *path, struct gt_error *error);
/* The first bytes, up to `most`, without taking them: gt_input_read() gives them again.  Before the first
 * read; good until then.  Fewer where the file ends or breaks, which the read will tell. */
const unsigned char *gt_input_head(struct gt_input *input, size_t most, size_t *bytes);
/* Are the bytes those of a file that can be opened again by its name? */
bool gt_input_is_plain_file(const struct gt_input *input);
/* Up to `bytes` bytes: the number read, 0 at the end, -1 with the reason (a truncated or broken
 * compressed stream says at which byte of the file). */
ssize_t gt_input_read(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error);
uint64_t gt_input_consumed(const struct gt_input *input); /* bytes of the file itself */
uint64_t gt_input_size(const struct gt_input *input);     /* of the file itself; 0 unknown */
void gt_input_close(struct gt_input *input);

#endif
