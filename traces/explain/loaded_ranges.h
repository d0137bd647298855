/* loaded_ranges.h - ranges of a run that is being loaded, and how rows are read. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LOADED_RANGES_H
#define GRIDTIDE_TRACES_EXPLAIN_LOADED_RANGES_H

#include "traces/explain/loaded_run.h"
#include "traces/store/query.h"

/* Rooms of the arrays while they grow. */
struct gt_loading_run {
    struct gt_loaded_run *t;
    struct gt_database *database;
    struct gt_error *error;
    uint32_t op_room, call_room, stream_room, kernel_room, thread_room, name_room, range_room;
};

/* Each row of a statement with the parameter ?1, in order.  Returns 0 or -1. */
int gt_loading_rows(struct gt_loading_run *loading, const char *sql, int64_t id,
                    int (*row)(struct gt_loading_run *loading, struct gt_query *query));
/* A column as an index below `count`; GT_NONE where it is absent, or none. */
uint32_t gt_loading_index(struct gt_query *query, int column, uint32_t count);
/* A column as the place of its word among names; `count` where it is none of them. */
uint8_t gt_loading_word(struct gt_query *query, int column, const char *const *names, int count);
/* Is the row the next one of its table?  0, or -1: it is missing. */
int gt_loading_numbered(struct gt_loading_run *loading, struct gt_query *query, uint32_t next, const char *what);

/* Ranges, the calls in them, and when they were.  Returns 0 or -1. */
int gt_loading_ranges(struct gt_loading_run *loading);

#endif
