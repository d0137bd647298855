/* table_parts.h - what the files of table.h share: the cells of a table. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_TABLE_PARTS_H
#define GRIDTIDE_SIM_CMD_PRINT_TABLE_PARTS_H

#include <stdbool.h>

#include "sim/cmd/print/table.h"

enum gt_cell_type { GT_CELL_NONE, GT_CELL_TEXT, GT_CELL_INTEGER, GT_CELL_REAL };

struct gt_cell {
    enum gt_cell_type type;
    int decimals;
    union {
        char *text;
        int64_t integer;
        double real;
    };
};

struct gt_table {
    const char *name;
    const struct gt_column *columns;
    size_t column_count;
    struct gt_cell *cells; /* row by row */
    size_t cell_count, cell_room;
    bool single;
};

size_t gt_table_rows(const struct gt_table *table);
const struct gt_cell *gt_table_cell(const struct gt_table *table, size_t row, size_t column);
/* The place of the column of names; column_count where there is none. */
size_t gt_table_name_column(const struct gt_table *table);
/* Short names of the rows, at most `columns` wide, different where the names differ; NULL for a cell without
 * a text.  The caller frees each and the list. */
char **gt_table_short_names(const struct gt_table *table, size_t columns);

/* table_people.c: columns that fit `width`, SIZE_MAX for any; with its name above it where `titled`. */
void gt_table_print_people(FILE *out, const struct gt_table *table, bool titled, size_t width);

#endif
