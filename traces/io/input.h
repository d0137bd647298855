/* input.h - a file's bytes, uncompressed on the way when it is gzip or zstd. */
#ifndef GRIDTIDE_TRACES_IO_INPUT_H
#define GRIDTIDE_TRACES_IO_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/base/error.h"

struct gt_input;

/* Open for reading; refuses directories and what cannot be read, saying why. "-" is standard input. */
struct gt_input *gt_input_open(const char *path, struct gt_error *error);
/* Up to `bytes` bytes: the number read, 0 at the end, -1 with the reason (a truncated or broken
 * compressed stream says at which byte of the file). */
ssize_t gt_input_read(struct gt_input *input, void *buffer, size_t bytes, struct gt_error *error);
uint64_t gt_input_consumed(const struct gt_input *input);   /* bytes of the file itself */
uint64_t gt_input_size(const struct gt_input *input);       /* of the file itself; 0 unknown */
void gt_input_close(struct gt_input *input);

#endif
