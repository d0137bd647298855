/* table.h - what commands print: tables for people, CSV and JSON for programs.
 *
 * Fill a table cell by cell, row by row:
 *     static const struct gt_column columns[] = {
 *         { "stream", GT_COLUMN_TEXT }, { "busy_us", GT_COLUMN_NUMBER } };
 *     struct gt_table *table = gt_table_new("streams", columns, 2);
 *     gt_table_text(table, "stream 7"); gt_table_real(table, 12.5, 1);
 *     gt_tables_print(stdout, GT_FORMAT_JSON, &table, 1);
 *     gt_table_free(table);
 */
#ifndef GRIDTIDE_SIM_CMD_PRINT_TABLE_H
#define GRIDTIDE_SIM_CMD_PRINT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gt_table;

enum gt_format { GT_FORMAT_TABLE, GT_FORMAT_CSV, GT_FORMAT_JSON, GT_FORMATS };
extern const char *const gt_format_names[GT_FORMATS];
/* The format of that name into *format. Returns 0, or -1 when there is none. */
int gt_format_parse(const char *name, enum gt_format *format);

/* Numbers stand to the right.  A NAME, a kernel's or what stands among them, is demangled for people and stands
 * last in its row; programs get it as traced, and in a column more, "short_name", in GT_SHORT_NAME_COLUMNS
 * (json.h).  Names that differ have short names that differ (traces/names/short_name.h).  One of a table at most.
 *
 * A pipe or a file gets everything, a row a line.  What is too wide for a terminal (terminal.h) is laid out in
 * this order: headings are folded, names get lines of their own above their rows, there shortened with an
 * ellipsis, WIDE and then other texts are folded. */
enum gt_column_type {
    GT_COLUMN_TEXT,
    GT_COLUMN_WIDE,
    GT_COLUMN_NAME,
    GT_COLUMN_NUMBER,
    GT_COLUMN_TIME /* microseconds, "busy_us": people get them in the unit that suits their size, below "busy" */
};
struct gt_column {
    const char *name; /* heading and key: lower case, the unit at the end ("busy_us") */
    enum gt_column_type type;
};

/* An empty table; `name` is its title and its key in JSON. `name` and `columns` must outlive it. */
struct gt_table *gt_table_new(const char *name, const struct gt_column *columns, size_t column_count);
/* A table of one row that is an object in JSON rather than an array, and a list of
 * "name value" lines for people. */
void gt_table_single(struct gt_table *table);
void gt_table_free(struct gt_table *table);

/* The next cell of the row; a row is full after column_count of them. */
void gt_table_text(struct gt_table *table, const char *text); /* copied; NULL: nothing */
void gt_table_integer(struct gt_table *table, int64_t value);
void gt_table_real(struct gt_table *table, double value, int decimals); /* decimals for people; programs get
                                                                          ten digits; not finite: nothing */

/* Print tables in order. JSON: one object, one member a table (an array of objects; an object for
 * a single one). CSV: RFC 4180, a heading line a table, an empty line between tables, and where
 * there are several, their name in a first column "table". Cells with nothing in them are null,
 * empty, "-".  Characters that steer a terminal or turn the direction of writing are shown as "\u202e" to people,
 * and in CSV where `out` is a terminal; JSON says them by escapes; CSV for programs has every text as traced. */
void gt_tables_print(FILE *out, enum gt_format format, struct gt_table *const *tables, size_t count);

/* The names of all tables that this process, which is one command, can print: "run, interval".  A table of another name is a bug
 * from here on, but among several for people, where names are titles.  `names` must last; NULL: any. */
void gt_tables_declare(const char *names);
/* Option --table: from here on gt_tables_print() prints the table of this name alone, untitled, and nothing where it is not among
 * them; NULL: all. `name` must last. Returns NULL; where no table of this name is declared, it chooses none and returns those that
 * are. */
const char *gt_tables_choose(const char *name);
/* Was one chosen?  Commands then leave out what they print beside tables, and leave no table out for the format's sake. */
bool gt_tables_chosen(void);
bool gt_table_is_chosen(const char *name);
/* At the end of a command: NULL where the chosen table was printed, none was chosen, or no table at all was to be printed; else
 * what is wrong, with the names of the tables that this run has; malloced. */
char *gt_tables_missing(void);

#endif
