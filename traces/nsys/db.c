/* db.c - tables of integers, built from what a database has, checked row by row. */
#include "traces/nsys/db.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gt_nsys_db_error(const struct gt_nsys_db *db, const char *table, struct gt_error *error)
{
    int code = sqlite3_errcode(db->sqlite);
    bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    const char *hint = damaged ? "; the file is damaged, export it again" : "";

    if (gt_guard_stopped(&db->guard))
        return gt_error_set(error, "%s: reading it takes far more work than a file of its size can need; the "
                            "file is damaged, export it again", db->path);
    if (table == NULL)
        return gt_error_set(error, "%s: %s%s", db->path, sqlite3_errmsg(db->sqlite), hint);
    return gt_error_set(error, "%s: table %s: %s%s", db->path, table, sqlite3_errmsg(db->sqlite), hint);
}

sqlite3_stmt *gt_nsys_db_prepare(const struct gt_nsys_db *db, const char *table, struct gt_error *error,
                                 const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        gt_nsys_db_error(db, table, error);
    return statement;
}

/* Whether `sql`, with two texts bound, gives a row: 1, 0, or -1. */
static int gives_row(const struct gt_nsys_db *db, const char *sql, const char *table, const char *column,
                     struct gt_error *error)
{
    sqlite3_stmt *statement = gt_nsys_db_prepare(db, NULL, error, sql);
    int status;

    if (statement == NULL)
        return -1;
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (column != NULL)
        sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
    status = sqlite3_step(statement);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        gt_nsys_db_error(db, table, error);
    sqlite3_finalize(statement);
    return status == SQLITE_ROW ? 1 : status == SQLITE_DONE ? 0 : -1;
}

int gt_nsys_db_has_table(const struct gt_nsys_db *db, const char *table, struct gt_error *error)
{
    return gives_row(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?1", table, NULL,
                     error);
}

/* "SELECT rowid, c1, NULL, c3 FROM table": NULL for the columns that this schema lacks. */
static char *query(const struct gt_nsys_db *db, const struct gt_nsys_table *table, struct gt_error *error)
{
    sqlite3_str *sql = sqlite3_str_new(db->sqlite);
    bool fits = true;

    sqlite3_str_appendall(sql, "SELECT rowid");
    for (size_t i = 0; i < table->column_count && fits; i++) {
        const struct gt_nsys_column *column = &table->columns[i];
        int there = gives_row(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE",
                              table->name, column->name, error);

        if (there == 1) {
            sqlite3_str_appendf(sql, ", \"%w\"", column->name);
        } else if (there == 0 && column->need == GT_NSYS_MAY_LACK) {
            sqlite3_str_appendall(sql, ", NULL");
        } else {
            fits = false;
            if (there == 0)
                gt_error_set(error, "%s: table %s has no column %s; is this an Nsight Systems export?",
                             db->path, table->name, column->name);
        }
    }
    sqlite3_str_appendf(sql, " FROM main.\"%w\" NOT INDEXED", table->name);
    if (!fits) {
        sqlite3_free(sqlite3_str_finish(sql));
        return NULL;
    }
    return sqlite3_str_finish(sql);
}

int gt_nsys_rows_open(struct gt_nsys_rows *rows, const struct gt_nsys_db *db,
                      const struct gt_nsys_table *table, struct gt_error *error)
{
    int there = gt_nsys_db_has_table(db, table->name, error);
    char *sql;

    *rows = (struct gt_nsys_rows){ .db = db, .table = table };
    if (table->column_count > GT_NSYS_COLUMNS)
        gt_bug("table %s: more than %d columns", table->name, GT_NSYS_COLUMNS);
    if (there != 1)
        return there;
    sql = query(db, table, error);
    if (sql == NULL)
        return -1;
    rows->statement = gt_nsys_db_prepare(db, table->name, error, sql);
    sqlite3_free(sql);
    return rows->statement == NULL ? -1 : 1;
}

int gt_nsys_row_error(const struct gt_nsys_rows *rows, struct gt_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gt_error_set(error, "%s: table %s, row %lld: %s", rows->db->path, rows->table->name,
                        (long long)rows->row, text);
}

static int read_value(struct gt_nsys_rows *rows, int i, struct gt_error *error)
{
    static const char *const types[] = {
        [SQLITE_INTEGER] = "an integer", [SQLITE_FLOAT] = "a fraction", [SQLITE_TEXT] = "text",
        [SQLITE_BLOB] = "bytes", [SQLITE_NULL] = "nothing",
    };
    const struct gt_nsys_column *column = &rows->table->columns[i];
    int type = sqlite3_column_type(rows->statement, i + 1);
    int64_t value = sqlite3_column_int64(rows->statement, i + 1);

    rows->value[i] = GT_NSYS_NULL;
    if (type == SQLITE_NULL && column->need != GT_NSYS_VALUE)
        return 0;
    if (type != SQLITE_INTEGER)
        return gt_nsys_row_error(rows, error, "column %s holds %s, not an integer", column->name,
                                 types[type]);
    if (value < column->low || value > column->high)
        return gt_nsys_row_error(rows, error, "column %s is %lld; it must lie in %lld..%lld", column->name,
                                 (long long)value, (long long)column->low, (long long)column->high);
    rows->value[i] = value;
    return 0;
}

int gt_nsys_rows_next(struct gt_nsys_rows *rows, struct gt_error *error)
{
    int status = sqlite3_step(rows->statement);

    if (status == SQLITE_DONE)
        return 0;
    if (status != SQLITE_ROW) {
        gt_nsys_db_error(rows->db, rows->table->name, error);
        return -1;
    }
    rows->row = sqlite3_column_int64(rows->statement, 0);
    for (size_t i = 0; i < rows->table->column_count; i++) {
        if (read_value(rows, (int)i, error) != 0)
            return -1;
    }
    return 1;
}

void gt_nsys_rows_close(struct gt_nsys_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

int gt_nsys_each_row(const struct gt_nsys_db *db, const struct gt_nsys_table *table,
                     int (*row)(void *user, const struct gt_nsys_rows *rows, struct gt_error *error),
                     void *user, struct gt_error *error)
{
    struct gt_nsys_rows rows;
    int status = gt_nsys_rows_open(&rows, db, table, error);

    if (status != 1)
        return status;
    while ((status = gt_nsys_rows_next(&rows, error)) == 1) {
        if (row(user, &rows, error) != 0) {
            status = -1;
            break;
        }
    }
    gt_nsys_rows_close(&rows);
    return status;
}
