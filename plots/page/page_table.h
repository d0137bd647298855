/* page_table.h - a table of the page: begin, a name and its cells for each row, end. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_TABLE_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "plots/data/units.h"

/* A section with a title, a paragraph and the table's head.  `heads` is NULL-ended; the first is that of the
 * rows' names, the others are of numbers; an empty one is left out. */
void gt_page_table_begin(FILE *out, const char *id, const char *title, const char *how, const char *const heads[]);
/* Where not all of `rows` are shown, say so, and which command of gridtide prints all. */
void gt_page_table_end(FILE *out, const char *command, size_t rows, size_t shown);

/* The row's beginning: a name from the trace in its short form; the whole of it is its title. */
void gt_page_name_cell(FILE *out, const char *name, const char *shortened);
void gt_page_cell(FILE *out, struct gt_text text);

#endif
