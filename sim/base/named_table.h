/* named_table.h - tables whose rows a user names, as policies in a device file: "NAME", or with numbers that the
 * row takes, "NAME PARAMETER=NUMBER ...".
 */
#ifndef GRIDTIDE_SIM_BASE_NAMED_TABLE_H
#define GRIDTIDE_SIM_BASE_NAMED_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { GT_NAMED_PARAMETERS = 4 };

/* What every table's row begins with. */
struct gt_named {
    const char *name, *help;
    struct gt_parameter {
        const char *name, *help; /* name NULL: there are no more */
        double fallback, low, high;
    } parameters[GT_NAMED_PARAMETERS];
};

/* Is it this row that `text` names? */
bool gt_named_is(const struct gt_named *row, const char *text);

/* The row that `text` names in a table of `rows` rows of `row_bytes` that each begin with a gt_named; NULL with the
 * names there are, and what they mean, in `error`.  `key`: where the text is from, for the message. */
const void *gt_named_find(const void *table, size_t rows, size_t row_bytes, const char *key, const char *text,
                          struct gt_error *error);

/* The numbers that `text` gives a row, GT_NAMED_PARAMETERS of them in the row's order, its fallbacks where the text
 * gives none.  Returns 0; -1 with the reason: a parameter that the row does not take, or a number out of range. */
int gt_named_parameters(const struct gt_named *row, const char *key, const char *text, double *values,
                        struct gt_error *error);

#endif
