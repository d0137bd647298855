/* Rows from memory, as a table-valued function of SQLite's that one INSERT ... SELECT reads. */
#include "traces/store/row_source.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS_A_STATEMENT = 1 << 16, COLUMNS_MAX = 16 };

/* What a statement reads: rows `next` to `end` - 1 of the source. */
struct window {
    const struct gt_row_source *source;
    uint64_t next, end;
};

struct table {
    sqlite3_vtab base;
    const struct window *window;
};
struct cursor {
    sqlite3_vtab_cursor base;
    const struct gt_row_source *source;
    uint64_t row, end;
};

static int connect(sqlite3 *database, void *window, int count, const char *const *arguments, sqlite3_vtab **made,
                   char **message)
{
    struct table *table;
    int code = sqlite3_declare_vtab(database, "CREATE TABLE x (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, "
                                              "c12, c13, c14, c15)");

    (void)count;
    (void)arguments;
    (void)message;
    if (code != SQLITE_OK)
        return code;
    table = gt_calloc(1, sizeof *table);
    table->window = window;
    *made = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* There is one way to read it: all, in order. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = ROWS_A_STATEMENT;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
    struct cursor *cursor = gt_calloc(1, sizeof *cursor);

    (void)table;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static void pass_missing(struct cursor *cursor)
{
    const struct gt_row_source *source = cursor->source;

    while (source->holds != NULL && cursor->row < cursor->end && !source->holds(source->user, cursor->row))
        cursor->row++;
}

static int begin(sqlite3_vtab_cursor *base, int plan, const char *name, int count, sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct window *window = ((struct table *)base->pVtab)->window;

    (void)plan;
    (void)name;
    (void)count;
    (void)values;
    cursor->source = window->source;
    cursor->row = window->next;
    cursor->end = window->end;
    pass_missing(cursor);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->row++;
    pass_missing(cursor);
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->row >= cursor->end;
}

static int give_value(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;

    if (column == 0)
        sqlite3_result_int64(result, cursor->source->id);
    else
        cursor->source->value(result, cursor->source->user, cursor->row, column);
    return SQLITE_OK;
}

static int give_row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)((const struct cursor *)base)->row;
    return SQLITE_OK;
}

/* No xCreate: the table is there by itself, and nothing of it goes into the file. */
/* clang-format off */
static const sqlite3_module module = {
    .xConnect = connect, .xDisconnect = disconnect, .xBestIndex = best_index, .xOpen = open_cursor,
    .xClose = close_cursor, .xFilter = begin, .xNext = next_row, .xEof = at_end, .xColumn = give_value,
    .xRowid = give_row_number,
};
/* clang-format on */
static const char name[] = "gridtide_rows";

static void write_statement(const struct gt_row_source *source, char *sql, size_t bytes)
{
    int used = snprintf(sql, bytes, "INSERT INTO %s SELECT c0", source->table);

    for (int column = 1; column < source->columns; column++)
        used += snprintf(sql + used, bytes - (size_t)used, ", c%d", column);
    snprintf(sql + used, bytes - (size_t)used, " FROM %s", name);
}

static int insert_all(struct gt_store *store, struct window *window, uint64_t *done, uint64_t total,
                      struct gt_error *error)
{
    char sql[256];
    sqlite3_stmt *insert;
    int result = 0;

    write_statement(window->source, sql, sizeof sql);
    insert = gt_store_prepare(store, sql, error);
    if (insert == NULL)
        return -1;
    for (; window->next < window->source->count && result == 0; window->next = window->end) {
        uint64_t left = window->source->count - window->next;

        window->end = window->next + (left < ROWS_A_STATEMENT ? left : ROWS_A_STATEMENT);
        if (store->progress != NULL)
            store->progress(store->progress_user, *done, total);
        result = gt_store_step(store, insert, error);
        *done += window->end - window->next;
    }
    sqlite3_finalize(insert);
    return result;
}

int gt_store_insert(struct gt_store *store, const struct gt_row_source *source, uint64_t *done, uint64_t total,
                    struct gt_error *error)
{
    struct window window = { .source = source };
    sqlite3 *database = store->base.sqlite;
    int result;

    if (source->columns > COLUMNS_MAX)
        gt_bug("%s has more columns than a source of rows", source->table);
    if (sqlite3_create_module(database, name, &module, &window) != SQLITE_OK)
        return gt_store_fail(store, error);
    result = insert_all(store, &window, done, total, error);
    sqlite3_create_module(database, name, NULL, NULL);
    return result;
}

void gt_result_time(sqlite3_context *result, gt_time_ps time_ps)
{
    if (time_ps != GT_TIME_NONE)
        sqlite3_result_int64(result, time_ps > INT64_MAX ? INT64_MAX : (sqlite3_int64)time_ps);
}

void gt_result_index(sqlite3_context *result, uint32_t index)
{
    if (index != GT_NONE)
        sqlite3_result_int64(result, index);
}

void gt_result_text(sqlite3_context *result, const char *text)
{
    if (text != NULL && text[0] != '\0')
        sqlite3_result_text(result, text, -1, SQLITE_STATIC);
}
