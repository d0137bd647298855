/* export_table.c - one table or view of a store as a CSV file (RFC 4180) that pandas and DuckDB read without options: a heading,
 * a row a line, numbers without units, nothing for NULL. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "traces/export/internal.h"
#include "traces/store/tables.h"

/* The fewest digits that are the same number again. */
static int write_real(struct gt_output *output, double value, struct gt_error *error)
{
    char text[32] = "";

    for (int digits = 15; digits <= 17 && isfinite(value); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return gt_output_printf(output, error, "%s", text);
}

static int write_cell(struct gt_output *output, struct gt_query *query, int column, struct gt_error *error)
{
    if (gt_query_absent(query, column))
        return 0;
    if (gt_query_is_integer(query, column))
        return gt_output_printf(output, error, "%" PRId64, gt_query_integer(query, column));
    if (gt_query_is_real(query, column))
        return write_real(output, gt_query_real(query, column), error);
    return gt_export_csv_text(output, gt_export_text(query, column), error);
}

/* The heading, or the row at hand. */
static int write_line(struct gt_output *output, struct gt_query *query, bool heading, struct gt_error *error)
{
    int count = gt_query_columns(query);

    for (int column = 0; column < count; column++)
        if ((column > 0 && gt_output_write(output, ",", 1, error) != 0) ||
            (heading ? gt_export_csv_text(output, gt_query_column(query, column), error)
                     : write_cell(output, query, column, error)) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

static int write_rows(struct gt_query *query, struct gt_output *output, struct gt_error *error)
{
    int row = write_line(output, query, true, error) == 0 ? 1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_line(output, query, false, error) != 0)
            row = -1;
    return row;
}

int gt_export_table(struct gt_store *store, const char *name, const char *path, struct gt_error *error)
{
    struct gt_query *query = gt_store_table(store, name, error);
    struct gt_output *output = query == NULL ? NULL : gt_output_open(path, error);
    int result = output == NULL ? -1 : write_rows(query, output, error);

    gt_query_end(query);
    if (result == 0)
        return gt_output_commit(output, error);
    gt_output_abandon(output);
    return -1;
}
