#include "sim/base/named_table.h"

#include <stdio.h>
#include <string.h>

const void *gt_named_find(const void *table, size_t rows, size_t row_bytes, const char *key,
                           const char *name, struct gt_error *error)
{
    char known[512] = "";

    for (size_t i = 0; i < rows; i++) {
        const struct gt_named *row = (const void *)((const char *)table + i * row_bytes);
        size_t used = strlen(known);

        if (strcmp(row->name, name) == 0)
            return row;
        snprintf(known + used, sizeof known - used, "%s %s (%s)", i == 0 ? "" : ",", row->name,
                 row->help);
    }
    gt_error_set(error, "%s: no policy '%s'; there are:%s", key, name, known);
    return NULL;
}
