/* lines.h - a text file line by line, of bounded length. */
#ifndef GRIDTIDE_TRACES_IO_LINES_H
#define GRIDTIDE_TRACES_IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/io/input.h"

enum { GT_LINE_LIMIT_BYTES = 64 << 20 };

struct gt_lines {
    struct gt_input *input; /* not owned */
    char *buffer;
    size_t begin, end, room; /* bytes of `buffer` not yet handed on */
    uint64_t number;         /* of the line last handed on, from 1 */
    bool ended;              /* `input` has no more */
};

/* Start reading lines of `input`, which must outlive them. */
void gt_lines_open(struct gt_lines *lines, struct gt_input *input);
void gt_lines_close(struct gt_lines *lines);

/* The next line with the newline at its end (added to a last line that has none), good until the
 * next call. Returns 1; 0 at the end; -1 with "what is wrong" (no file or line named). */
int gt_lines_next(struct gt_lines *lines, char **text, size_t *length, struct gt_error *error);

/* Is the line blank, or does it begin with // or #, so that formats of lines pass it over? */
bool gt_line_is_comment(const char *text, size_t length);

#endif
