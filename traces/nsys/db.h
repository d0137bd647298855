/* db.h - reading tables of a database that others made, that may lack some, or be broken.
 *
 * Errors name the file, the table, the row and the column.
 */
#ifndef GRIDTIDE_TRACES_NSYS_DB_H
#define GRIDTIDE_TRACES_NSYS_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/import/importer.h"
#include "traces/store/query.h"

struct gt_nsys_db {
    struct gt_database base;
    const char *path; /* for messages; the caller's */
    void *image;      /* an unpacked copy in an unlinked temporary file, mapped; or NULL */
    size_t image_bytes;
};

/* Open read-only without ever writing beside the file; gzip and zstd are unpacked into $TMPDIR. */
int gt_nsys_db_open(struct gt_nsys_db *db, const char *path, const struct gt_import_options *options,
                    struct gt_error *error);
/* Open the database of a report (.nsys-rep), which the program `nsys` exports into $TMPDIR. */
int gt_nsys_report_open(struct gt_nsys_db *db, const char *report, const struct gt_import_options *options,
                        struct gt_error *error);
void gt_nsys_db_close(struct gt_nsys_db *db);

/* 1, 0, or -1 where the file cannot say. */
int gt_nsys_db_has_table(struct gt_nsys_db *db, const char *table, struct gt_error *error);

/* "not there": the column is missing, or the row has NULL in it. */
#define GT_NSYS_NULL INT64_MIN

enum gt_nsys_need {
    GT_NSYS_MAY_LACK, /* column and value may be missing */
    GT_NSYS_COLUMN,   /* the column must be there, values may be NULL */
    GT_NSYS_VALUE,    /* every row must have a value */
    GT_NSYS_TEXT,     /* a text, whose column and value may be missing: gt_nsys_row_text() */
};
struct gt_nsys_column {
    const char *name;
    enum gt_nsys_need need;
    int64_t low, high; /* other values are errors */
};
enum { GT_NSYS_COLUMNS = 24 };
struct gt_nsys_table {
    const char *name;
    const struct gt_nsys_column *columns; /* integers, but for GT_NSYS_TEXT */
    size_t column_count;
};

struct gt_nsys_rows {
    struct gt_nsys_db *db;
    const struct gt_nsys_table *table;
    struct gt_query *query;
    int64_t row;                    /* rowid, for messages */
    int64_t value[GT_NSYS_COLUMNS]; /* of the row at hand, as in table->columns */
};

/* Begin to read a table in the order of its rows. 1; 0: there is no such table; -1. */
int gt_nsys_rows_open(struct gt_nsys_rows *rows, struct gt_nsys_db *db, const struct gt_nsys_table *table,
                      struct gt_error *error);
/* The next row: 1; 0 after the last; -1. */
int gt_nsys_rows_next(struct gt_nsys_rows *rows, struct gt_error *error);
/* Ends it; needed only after gt_nsys_rows_open gave 1. */
void gt_nsys_rows_close(struct gt_nsys_rows *rows);
/* The text of column `i` of the row at hand, good until the next; NULL where it has none. */
const char *gt_nsys_row_text(const struct gt_nsys_rows *rows, int i);
/* What is wrong with the row at hand, printf-style after "FILE: table T, row N: ". Returns -1. */
int gt_nsys_row_error(const struct gt_nsys_rows *rows, struct gt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Read every row of a table that may be missing: `row` is called for each and returns 0 or -1. */
int gt_nsys_each_row(struct gt_nsys_db *db, const struct gt_nsys_table *table,
                     int (*row)(void *user, const struct gt_nsys_rows *rows, struct gt_error *error), void *user,
                     struct gt_error *error);

/* A statement that reads `table` (named in errors); NULL with the reason. The caller ends it. */
struct gt_query *gt_nsys_db_query(struct gt_nsys_db *db, const char *table, const char *sql, struct gt_error *error);

#endif
