#include "traces/store/query.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct gt_query {
    struct gt_database *database;
    sqlite3_stmt *statement;
    const char *table; /* named in errors; or NULL */
};

struct gt_query *gt_query_new(struct gt_database *database, const char *sql, struct gt_error *error)
{
    sqlite3_stmt *statement = gt_database_prepare(database, sql, error);
    struct gt_query *query;

    if (statement == NULL)
        return NULL;
    query = gt_calloc(1, sizeof *query);
    *query = (struct gt_query){ .database = database, .statement = statement };
    return query;
}

void gt_query_end(struct gt_query *query)
{
    if (query != NULL)
        sqlite3_finalize(query->statement);
    free(query);
}

void gt_query_about(struct gt_query *query, const char *table)
{
    query->table = table;
}

void gt_query_bind(struct gt_query *query, int place, int64_t value)
{
    sqlite3_bind_int64(query->statement, place, value);
}

void gt_query_bind_text(struct gt_query *query, int place, const char *text)
{
    sqlite3_bind_text(query->statement, place, text, -1, SQLITE_STATIC);
}

/* "PATH: table NAME: what SQLite says". */
static int fail(struct gt_query *query, struct gt_error *error)
{
    char text[GT_ERROR_TEXT_BYTES];
    const char *path = query->database->path;

    gt_database_fail(query->database, error);
    if (query->table == NULL || error == NULL)
        return -1;
    memcpy(text, error->text, sizeof text);
    return gt_error_set(error, "%s: table %s%s", path, query->table, text + strlen(path));
}

int gt_query_next(struct gt_query *query, struct gt_error *error)
{
    switch (sqlite3_step(query->statement)) {
    case SQLITE_ROW: return 1;
    case SQLITE_DONE: return 0;
    default: return fail(query, error);
    }
}

void gt_query_rewind(struct gt_query *query)
{
    sqlite3_reset(query->statement);
}

int gt_query_one(struct gt_database *database, const char *sql, int64_t first, int64_t second, int64_t *value,
                 struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, first);
    gt_query_bind(query, 2, second);
    row = gt_query_next(query, error);
    if (row == 1 && gt_query_absent(query, 0))
        row = 0;
    if (row == 1)
        *value = gt_query_integer(query, 0);
    gt_query_end(query);
    return row;
}

bool gt_query_absent(struct gt_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

int64_t gt_query_integer(struct gt_query *query, int column)
{
    return sqlite3_column_int64(query->statement, column);
}

double gt_query_real(struct gt_query *query, int column)
{
    return gt_query_absent(query, column) ? NAN : sqlite3_column_double(query->statement, column);
}

const char *gt_query_string(struct gt_query *query, int column)
{
    return (const char *)sqlite3_column_text(query->statement, column);
}

char *gt_query_text(struct gt_query *query, int column)
{
    const char *text = gt_query_string(query, column);
    size_t bytes = (size_t)sqlite3_column_bytes(query->statement, column);
    char *copy = gt_calloc(bytes + 1, 1);

    if (text != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

const char *gt_query_column(struct gt_query *query, int column)
{
    return sqlite3_column_name(query->statement, column);
}

int gt_query_columns(struct gt_query *query)
{
    return sqlite3_column_count(query->statement);
}

bool gt_query_is_real(struct gt_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_FLOAT;
}

bool gt_query_is_integer(struct gt_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_INTEGER;
}

bool gt_query_is_text(struct gt_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_TEXT;
}

const char *gt_query_kind(struct gt_query *query, int column)
{
    static const char *const kinds[] = {
        [SQLITE_INTEGER] = "an integer", [SQLITE_FLOAT] = "a fraction", [SQLITE_TEXT] = "text",
        [SQLITE_BLOB] = "bytes",         [SQLITE_NULL] = "nothing",
    };

    return kinds[sqlite3_column_type(query->statement, column)];
}

int gt_query_number(struct gt_query *query, int column, uint64_t limit, const char *what, uint64_t *number,
                    struct gt_error *error)
{
    int64_t value = gt_query_integer(query, column);

    if (!gt_query_is_integer(query, column) || value < 0 || (uint64_t)value > limit) {
        const char *text = gt_query_string(query, column);

        return gt_error_set(error, "%s is %.40s: not a whole number of 0 to %llu; the store is damaged", what,
                            text != NULL ? text : "missing", (unsigned long long)limit);
    }
    *number = (uint64_t)value;
    return 0;
}

int gt_query_span(struct gt_query *query, int column, const char *what, int64_t number, gt_time_ps *start_ps,
                  gt_time_ps *end_ps, struct gt_error *error)
{
    if (gt_query_number(query, column, GT_TIME_LIMIT_PS, "start_ps", start_ps, error) != 0 ||
        gt_query_number(query, column + 1, GT_TIME_LIMIT_PS, "end_ps", end_ps, error) != 0)
        return gt_error_prefix(error, "%s %lld: ", what, (long long)number);
    if (*end_ps < *start_ps)
        return gt_error_set(error, "%s %lld ends before it starts; the store is damaged", what, (long long)number);
    return 0;
}
