/* query.h - rows out of an SQLite file, checked: a store may have been edited by hand, a profiler's file be of
 * a version that nobody has seen. Columns count from 0, parameters from 1. */
#ifndef GRIDTIDE_TRACES_STORE_QUERY_H
#define GRIDTIDE_TRACES_STORE_QUERY_H

#include <stdbool.h>

#include "sim/workload/workload.h"
#include "traces/store/database.h"

struct gt_query;

/* A statement; NULL with the reason, with which all below but binding and rows is allowed. */
struct gt_query *gt_query_new(struct gt_database *database, const char *sql, struct gt_error *error);
void gt_query_end(struct gt_query *query);
/* Name the table that a statement is about in its errors: "PATH: table NAME: ...". */
void gt_query_about(struct gt_query *query, const char *table);

/* Parameters, where the statement has them; text must last. Bind after gt_query_rewind() or before the first row. */
void gt_query_bind(struct gt_query *query, int place, int64_t value);
void gt_query_bind_text(struct gt_query *query, int place, const char *text);
/* The next row: 1; 0 after the last; -1. */
int gt_query_next(struct gt_query *query, struct gt_error *error);
/* To before the first row; parameters stay. */
void gt_query_rewind(struct gt_query *query);
/* The only column of the first row of a statement with up to two parameters: 1; 0 where there is no row or it
 * holds NULL, `*value` as it was; -1. */
int gt_query_one(struct gt_database *database, const char *sql, int64_t first, int64_t second, int64_t *value,
                 struct gt_error *error);

/* A column of the row at hand. Text is valid until the next row; NULL for NULL. */
bool gt_query_absent(struct gt_query *query, int column);
int64_t gt_query_integer(struct gt_query *query, int column); /* 0 for NULL */
double gt_query_real(struct gt_query *query, int column);     /* NAN for NULL */
const char *gt_query_string(struct gt_query *query, int column);
char *gt_query_text(struct gt_query *query, int column);         /* malloced; "" for NULL */
const char *gt_query_column(struct gt_query *query, int column); /* its name */
int gt_query_columns(struct gt_query *query);                    /* how many there are */
bool gt_query_is_integer(struct gt_query *query, int column);
bool gt_query_is_real(struct gt_query *query, int column);
bool gt_query_is_text(struct gt_query *query, int column);
const char *gt_query_kind(struct gt_query *query, int column); /* "an integer", "text", ... */

/* A column that must be a whole number up to `limit`; `what` names it in the error, which has no path yet. */
int gt_query_number(struct gt_query *query, int column, uint64_t limit, const char *what, uint64_t *number,
                    struct gt_error *error);
/* Start and end columns, side by side: times in order. */
int gt_query_span(struct gt_query *query, int column, const char *what, int64_t number, gt_time_ps *start_ps,
                  gt_time_ps *end_ps, struct gt_error *error);

#endif
