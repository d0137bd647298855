#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/cmd/print/table_parts.h"
#include "traces/names/short_name.h"

struct gt_table *gt_table_new(const char *name, const struct gt_column *columns, size_t column_count)
{
    struct gt_table *table = gt_calloc(1, sizeof *table);

    table->name = name;
    table->columns = columns;
    table->column_count = column_count;
    return table;
}

void gt_table_single(struct gt_table *table)
{
    table->single = true;
}

void gt_table_free(struct gt_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        if (table->cells[i].type == GT_CELL_TEXT)
            free(table->cells[i].text);
    free(table->cells);
    free(table);
}

static void add_cell(struct gt_table *table, struct gt_cell cell)
{
    gt_array_grow(table->cells, table->cell_count, table->cell_room);
    table->cells[table->cell_count++] = cell;
}

void gt_table_text(struct gt_table *table, const char *text)
{
    if (text == NULL)
        add_cell(table, (struct gt_cell){ .type = GT_CELL_NONE });
    else
        add_cell(table, (struct gt_cell){ .type = GT_CELL_TEXT, .text = gt_strdup(text) });
}

void gt_table_integer(struct gt_table *table, int64_t value)
{
    add_cell(table, (struct gt_cell){ .type = GT_CELL_INTEGER, .integer = value });
}

void gt_table_real(struct gt_table *table, double value, int decimals)
{
    add_cell(table, (struct gt_cell){
                        .type = isfinite(value) ? GT_CELL_REAL : GT_CELL_NONE, .decimals = decimals, .real = value });
}

size_t gt_table_rows(const struct gt_table *table)
{
    if (table->cell_count % table->column_count != 0)
        gt_bug("table %s: the last row is not full", table->name);
    return table->cell_count / table->column_count;
}

const struct gt_cell *gt_table_cell(const struct gt_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

size_t gt_table_name_column(const struct gt_table *table)
{
    size_t column = 0;

    while (column < table->column_count && table->columns[column].type != GT_COLUMN_NAME)
        column++;
    return column;
}

char **gt_table_short_names(const struct gt_table *table, size_t columns)
{
    size_t rows = gt_table_rows(table), column = gt_table_name_column(table);
    const char **names = gt_calloc(rows + 1, sizeof *names);
    char **shorts = gt_calloc(rows + 1, sizeof *shorts);

    for (size_t row = 0; row < rows && column < table->column_count; row++) {
        const struct gt_cell *cell = gt_table_cell(table, row, column);

        names[row] = cell->type == GT_CELL_TEXT ? cell->text : NULL;
    }
    gt_short_names_unique(names, shorts, rows, columns);
    free(names);
    return shorts;
}
