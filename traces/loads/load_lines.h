/* load_lines.h - the lines of a load file: JSON objects, a kind of object a field that names it. */
#ifndef GRIDTIDE_TRACES_LOADS_LOAD_LINES_H
#define GRIDTIDE_TRACES_LOADS_LOAD_LINES_H

#include <stdbool.h>

#include "traces/jsonl/fields.h"

struct gt_load_lines { /* path alone is set before reading */
    const char *path, *line;
    uint64_t number; /* of the line at hand */
    struct gt_unknown unknown;
};

/* Hand each line that is no comment to `take`, which returns 0 or -1 with what is wrong.  Returns 0, or -1 with FILE:LINE and what is
 * wrong. */
int gt_load_lines_read(struct gt_load_lines *lines,
                       int (*take)(void *user, const struct gt_json_token *object, struct gt_error *error),
                       void *user, struct gt_error *error);

/* The object's fields into the struct at `into`; a field that is not in the table is an error. */
int gt_load_fields(struct gt_load_lines *lines, const struct gt_json_token *object,
                   const struct gt_field_table *table, void *into, struct gt_error *error);

/* Has the object a field of that name? */
bool gt_load_has(const struct gt_json_token *object, const char *name);

/* A malloced copy; NULL for null and for what is not there. */
char *gt_load_text(const struct gt_json_token *text);

/* A file that the load names, from where the load is; malloced, NULL as above. */
char *gt_load_beside(const struct gt_load_lines *lines, const struct gt_json_token *text);

#endif
