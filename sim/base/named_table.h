/* named_table.h - tables whose rows a user names, as policies in a device file. */
#ifndef GRIDTIDE_SIM_BASE_NAMED_TABLE_H
#define GRIDTIDE_SIM_BASE_NAMED_TABLE_H

#include <stddef.h>

#include "sim/base/error.h"

/* What every table's row begins with. */
struct gt_named { const char *name, *help; };

/* The row of `name` in a table of `rows` rows of `row_bytes` that each begin with a gt_named; NULL with the
 * names there are, and what they mean, in `error`.  `key`: what named it, for the message. */
const void *gt_named_find(const void *table, size_t rows, size_t row_bytes, const char *key, const char *name,
                          struct gt_error *error);

#endif
