#include "traces/export/csv_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/csv_write.h"

static int write_text(struct gt_output *output, const char *text, struct gt_error *error)
{
    char *field = gt_csv_field_of(text);
    int result = gt_output_write(output, field, strlen(field), error);

    free(field);
    return result;
}

/* Picoseconds as microseconds, exactly. What no run can hold is not written as if it were a time. */
static int write_time(struct gt_output *output, int64_t ps, struct gt_error *error)
{
    uint64_t magnitude = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;

    if (magnitude > GT_TIME_LIMIT_PS)
        return gt_error_set(error, "a time of %" PRId64 " ps, which no run can hold; the store is damaged", ps);
    return gt_output_printf(output, error, "%s%" PRIu64 ".%06" PRIu64, ps < 0 ? "-" : "", magnitude / 1000000,
                            magnitude % 1000000);
}

static int write_field(const struct gt_csv_file *file, struct gt_output *output, struct gt_query *query, int column,
                       struct gt_error *error)
{
    if (gt_query_absent(query, column))
        return 0;
    if (file->columns[column].type == GT_CSV_TEXT)
        return write_text(output, gt_export_text(query, column), error);
    if (file->columns[column].type == GT_CSV_TIME)
        return write_time(output, gt_query_integer(query, column), error);
    return gt_output_printf(output, error, "%" PRId64, (int64_t)gt_query_integer(query, column));
}

static int write_header(const struct gt_csv_file *file, struct gt_output *output, struct gt_error *error)
{
    for (size_t column = 0; column < file->count; column++)
        if (gt_output_printf(output, error, "%s%s", column > 0 ? "," : "", file->columns[column].name) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

static int write_row(const struct gt_csv_file *file, struct gt_output *output, struct gt_query *query,
                     struct gt_error *error)
{
    for (size_t column = 0; column < file->count; column++)
        if ((column > 0 && gt_output_write(output, ",", 1, error) != 0) ||
            write_field(file, output, query, (int)column, error) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

/* The part of the run that the row is of; found anew where another run begins. */
static int select_run(struct gt_database *database, struct gt_query *query, const struct gt_filter *filter,
                      int64_t *run, struct gt_selection *selection, struct gt_error *error)
{
    if (*run == gt_query_integer(query, 0))
        return 0;
    *run = gt_query_integer(query, 0);
    gt_selection_free(selection);
    return gt_selection_find(selection, database, *run, filter, error);
}

static int write_rows(const struct gt_csv_file *file, struct gt_store *store, struct gt_output *output,
                      const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);
    struct gt_query *query = gt_export_query(database, file->sql, 0, 0, error);
    struct gt_selection selection = { .all = true };
    int64_t run = -1;
    int row = query != NULL && write_header(file, output, error) == 0 ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (select_run(database, query, filter, &run, &selection, error) != 0 ||
            (file->is_wanted(&selection, query) && write_row(file, output, query, error) != 0))
            row = -1;
    gt_query_end(query);
    gt_selection_free(&selection);
    return row;
}

int gt_csv_file_write(const struct gt_csv_file *file, struct gt_store *store, const char *path,
                      const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_output *output = gt_output_open(path, error);
    if (output == NULL)
        return -1;
    if (write_rows(file, store, output, filter, error) != 0) {
        gt_output_abandon(output);
        return -1;
    }
    return gt_output_commit(output, error);
}
