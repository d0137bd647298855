/* db.h - reading tables of a database that others made, that may lack some, or be broken.
 *
 * Errors name the file, the table, the row and the column.
 */
#ifndef GRIDTIDE_TRACES_TABLES_DB_H
#define GRIDTIDE_TRACES_TABLES_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/import/importer.h"
#include "traces/store/query.h"

/* What wrote such files, for messages. */
struct gt_db_maker {
    const char *file;   /* "an Nsight Systems export" */
    const char *advice; /* what to do to get one: "export the report with ..." */
};

struct gt_db {
    struct gt_database base;
    const char *path; /* for messages; the caller's */
    const struct gt_db_maker *maker;
    void *image; /* an unpacked copy in an unlinked temporary file, mapped; or NULL */
    size_t image_bytes;
};

/* Open read-only without ever writing beside the file; gzip and zstd are unpacked into $TMPDIR. `maker` must last. */
int gt_db_open(struct gt_db *db, const char *path, const struct gt_db_maker *maker,
               const struct gt_import_options *options, struct gt_error *error);
void gt_db_close(struct gt_db *db);

/* 1, 0, or -1 where the file cannot say. */
int gt_db_has_table(struct gt_db *db, const char *table, struct gt_error *error);

/* "not there": the column is missing, or the row has NULL in it. */
#define GT_DB_NULL INT64_MIN

/* Ranges that columns are held to. */
#define GT_DB_ANY  (INT64_MIN + 1), INT64_MAX
#define GT_DB_TIME 0, INT64_MAX
#define GT_DB_U32  0, UINT32_MAX

enum gt_db_need {
    GT_DB_MAY_LACK, /* column and value may be missing */
    GT_DB_COLUMN,   /* the column must be there, values may be NULL */
    GT_DB_VALUE,    /* every row must have a value */
    GT_DB_TEXT,     /* a text, whose column and value may be missing: gt_db_row_text() */
};
struct gt_db_column {
    const char *name;
    enum gt_db_need need;
    int64_t low, high; /* other values are errors */
};
enum { GT_DB_COLUMNS = 24 };
struct gt_db_table {
    const char *name;
    const struct gt_db_column *columns; /* integers, but for GT_DB_TEXT */
    size_t column_count;
};

struct gt_db_rows {
    struct gt_db *db;
    const struct gt_db_table *table;
    struct gt_query *query;
    int64_t row;                  /* rowid, for messages */
    int64_t value[GT_DB_COLUMNS]; /* of the row at hand, as in table->columns */
};

/* Begin to read a table in the order of its rows. 1; 0: there is no such table; -1. */
int gt_db_rows_open(struct gt_db_rows *rows, struct gt_db *db, const struct gt_db_table *table,
                    struct gt_error *error);
/* The next row: 1; 0 after the last; -1. */
int gt_db_rows_next(struct gt_db_rows *rows, struct gt_error *error);
/* Ends it; needed only after gt_db_rows_open gave 1. */
void gt_db_rows_close(struct gt_db_rows *rows);
/* The text of column `i` of the row at hand, good until the next; NULL where it has none. */
const char *gt_db_row_text(const struct gt_db_rows *rows, int i);
/* What is wrong with the row at hand, printf-style after "FILE: table T, row N: ". Returns -1. */
int gt_db_row_error(const struct gt_db_rows *rows, struct gt_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Read every row of a table that may be missing: `row` is called for each and returns 0 or -1. */
int gt_db_each_row(struct gt_db *db, const struct gt_db_table *table,
                   int (*row)(void *user, const struct gt_db_rows *rows, struct gt_error *error), void *user,
                   struct gt_error *error);

/* A statement that reads `table` (named in errors); NULL with the reason. The caller ends it. */
struct gt_query *gt_db_query(struct gt_db *db, const char *table, const char *sql, struct gt_error *error);

#endif
