/* db.c - tables of integers, built from what a database has, checked row by row. */
#include "traces/tables/db.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gt_query *gt_db_query(struct gt_db *db, const char *table, const char *sql, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(&db->base, sql, error);

    if (query != NULL)
        gt_query_about(query, table);
    return query;
}

/* Whether `sql`, with two texts bound, gives a row: 1, 0, or -1. */
static int gives_row(struct gt_db *db, const char *sql, const char *table, const char *column, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(&db->base, sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind_text(query, 1, table);
    if (column != NULL)
        gt_query_bind_text(query, 2, column);
    row = gt_query_next(query, error);
    gt_query_end(query);
    return row;
}

int gt_db_has_table(struct gt_db *db, const char *table, struct gt_error *error)
{
    return gives_row(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?1", table,
                     NULL, error);
}

/* Whether the table has a column: 1; 0, with an error where it must have; -1. */
static int has_column(struct gt_db *db, const struct gt_db_table *table, const struct gt_db_column *column,
                      struct gt_error *error)
{
    int there = gives_row(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE", table->name,
                          column->name, error);

    if (there == 0 && column->need != GT_DB_MAY_LACK && column->need != GT_DB_TEXT)
        return gt_error_set(error, "%s: table %s has no column %s; is this %s?", db->path, table->name, column->name,
                            db->maker->file);
    return there;
}

/* "SELECT rowid, c1, NULL, c3 FROM table": NULL for the columns that this schema lacks. Malloced. */
static char *select_columns(struct gt_db *db, const struct gt_db_table *table, struct gt_error *error)
{
    char *sql;
    size_t bytes;
    FILE *out = open_memstream(&sql, &bytes);
    int there = 0;

    if (out == NULL)
        gt_bug("open_memstream failed");
    fputs("SELECT rowid", out);
    for (size_t i = 0; i < table->column_count && there >= 0; i++) {
        there = has_column(db, table, &table->columns[i], error);
        if (there == 1)
            fprintf(out, ", \"%s\"", table->columns[i].name);
        else
            fputs(", NULL", out);
    }
    fprintf(out, " FROM main.\"%s\" NOT INDEXED", table->name);
    fclose(out);
    if (there >= 0)
        return sql;
    free(sql);
    return NULL;
}

int gt_db_rows_open(struct gt_db_rows *rows, struct gt_db *db, const struct gt_db_table *table,
                    struct gt_error *error)
{
    int there = gt_db_has_table(db, table->name, error);
    char *sql;

    *rows = (struct gt_db_rows){ .db = db, .table = table };
    if (table->column_count > GT_DB_COLUMNS)
        gt_bug("table %s: more than %d columns", table->name, GT_DB_COLUMNS);
    if (there != 1)
        return there;
    sql = select_columns(db, table, error);
    if (sql == NULL)
        return -1;
    rows->query = gt_db_query(db, table->name, sql, error);
    free(sql);
    return rows->query == NULL ? -1 : 1;
}

int gt_db_row_error(const struct gt_db_rows *rows, struct gt_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gt_error_set(error, "%s: table %s, row %lld: %s", rows->db->path, rows->table->name, (long long)rows->row,
                        text);
}

static int read_value(struct gt_db_rows *rows, int i, struct gt_error *error)
{
    const struct gt_db_column *column = &rows->table->columns[i];
    int64_t value = gt_query_integer(rows->query, i + 1);

    rows->value[i] = GT_DB_NULL;
    if (column->need == GT_DB_TEXT)
        return 0;
    if (gt_query_absent(rows->query, i + 1) && column->need != GT_DB_VALUE)
        return 0;
    if (!gt_query_is_integer(rows->query, i + 1))
        return gt_db_row_error(rows, error, "column %s contains %s, not an integer", column->name,
                               gt_query_kind(rows->query, i + 1));
    if (value < column->low || value > column->high)
        return gt_db_row_error(rows, error, "column %s is %lld; it must be in %lld..%lld", column->name,
                               (long long)value, (long long)column->low, (long long)column->high);
    rows->value[i] = value;
    return 0;
}

const char *gt_db_row_text(const struct gt_db_rows *rows, int i)
{
    return gt_query_is_text(rows->query, i + 1) ? gt_query_string(rows->query, i + 1) : NULL;
}

int gt_db_rows_next(struct gt_db_rows *rows, struct gt_error *error)
{
    int status = gt_query_next(rows->query, error);

    if (status != 1)
        return status;
    rows->row = gt_query_integer(rows->query, 0);
    for (size_t i = 0; i < rows->table->column_count; i++) {
        if (read_value(rows, (int)i, error) != 0)
            return -1;
    }
    return 1;
}

void gt_db_rows_close(struct gt_db_rows *rows)
{
    gt_query_end(rows->query);
    rows->query = NULL;
}

int gt_db_each_row(struct gt_db *db, const struct gt_db_table *table,
                   int (*row)(void *user, const struct gt_db_rows *rows, struct gt_error *error), void *user,
                   struct gt_error *error)
{
    struct gt_db_rows rows;
    int status = gt_db_rows_open(&rows, db, table, error);

    if (status != 1)
        return status;
    while ((status = gt_db_rows_next(&rows, error)) == 1) {
        if (row(user, &rows, error) != 0) {
            status = -1;
            break;
        }
    }
    gt_db_rows_close(&rows);
    return status;
}
