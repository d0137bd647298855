/* json_line.h - one line of JSON as a flat list of tokens, parsed by yajl.
 *
 * Tokens stand in the order of the text; an object's children are keys, each
 * followed by its value, an array's are its values; `span` leads over a token and
 * its children.  One parser is used for any number of lines.
 */
#ifndef GRIDTIDE_TRACES_IO_JSON_LINE_H
#define GRIDTIDE_TRACES_IO_JSON_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { GT_JSON_DEPTH_LIMIT = 32 };

enum gt_json_type {
    GT_JSON_NULL,
    GT_JSON_FALSE,
    GT_JSON_TRUE,
    GT_JSON_NUMBER,
    GT_JSON_STRING,
    GT_JSON_KEY,
    GT_JSON_OBJECT,
    GT_JSON_ARRAY
};

struct gt_json_token {
    const char *text; /* strings, keys (unescaped), numbers (as written): not NUL-ended */
    uint32_t length;
    uint32_t span;    /* this token and all its children: token + span is the one behind them */
    uint32_t raw_end; /* offset in the line just behind this token and its children */
    enum gt_json_type type;
};

struct gt_json_line;

struct gt_json_line *gt_json_line_new(void);
void gt_json_line_free(struct gt_json_line *json);

/* Parse one line (its newline included) that holds one object. Returns its tokens, of which
 * [0] is the object, good until the next call and as long as `line`; or NULL with "what is
 * wrong", the column named. */
const struct gt_json_token *gt_json_line_parse(struct gt_json_line *json, const char *line, size_t length,
                                               struct gt_error *error);

#endif
