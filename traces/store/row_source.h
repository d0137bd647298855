/* row_source.h - many rows from memory into a table by few statements, not by one each: what a statement costs
 * is paid once for thousands of rows, and rows in the order of their keys are appended without a search. */
#ifndef GRIDTIDE_TRACES_STORE_ROW_SOURCE_H
#define GRIDTIDE_TRACES_STORE_ROW_SOURCE_H

#include "traces/store/internal.h"

struct gt_row_source {
    const char *table;
    int columns; /* of the table, at most 16; the first is `id` in every row */
    int64_t id;
    uint64_t count;
    /* False where there is no row of that number. NULL: there are all. */
    bool (*holds)(const void *user, uint64_t row);
    /* The value of a column from 1 on: by sqlite3_result_*(), or nothing for NULL. */
    void (*value)(sqlite3_context *result, const void *user, uint64_t row, int column);
    const void *user;
};

/* Inside a transaction.  Tells who watches the store, from `*done` on, of `total` rows.  Returns 0 or -1. */
int gt_store_insert(struct gt_store *store, const struct gt_row_source *source, uint64_t *done, uint64_t total,
                    struct gt_error *error);

/* Times and texts as gt_store_bind_time() and gt_store_bind_text() bind them; the index GT_NONE gives NULL. */
void gt_result_time(sqlite3_context *result, gt_time_ps time_ps);
void gt_result_index(sqlite3_context *result, uint32_t index);
void gt_result_text(sqlite3_context *result, const char *text);

#endif
