#include "sim/cmd/print/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/cmd/print/json.h"
#include "sim/cmd/print/table_parts.h"
#include "sim/cmd/print/terminal.h"
#include "traces/io/csv.h"
#include "traces/names/clean_text.h"
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

const char *const gt_format_names[GT_FORMATS] = {
    [GT_FORMAT_TABLE] = "table",
    [GT_FORMAT_CSV] = "csv",
    [GT_FORMAT_JSON] = "json",
};

int gt_format_parse(const char *name, enum gt_format *format)
{
    for (int i = 0; i < GT_FORMATS; i++) {
        if (strcmp(name, gt_format_names[i]) == 0) {
            *format = (enum gt_format)i;
            return 0;
        }
    }
    return -1;
}

static void print_csv_text(FILE *out, const char *text)
{
    char *field = gt_csv_field_of(text);

    fputs(field, out);
    free(field);
}

/* Programs get a text as it is, a terminal what can do nothing to it. */
static void print_csv_traced(FILE *out, const char *text)
{
    char *clean = isatty(fileno(out)) ? gt_clean_name(text) : NULL;

    print_csv_text(out, clean != NULL ? clean : text);
    free(clean);
}

static void print_csv_cell(FILE *out, const struct gt_cell *cell)
{
    switch (cell->type) {
    case GT_CELL_TEXT: print_csv_traced(out, cell->text); break;
    case GT_CELL_INTEGER: fprintf(out, "%" PRId64, cell->integer); break;
    case GT_CELL_REAL: fprintf(out, "%.10g", cell->real); break;
    default: break;
    }
}

static void print_csv_short_name(FILE *out, const char *name)
{
    fputc(',', out);
    if (name != NULL)
        print_csv_text(out, name);
}

static void print_csv_heading(FILE *out, const struct gt_table *table, bool titled)
{
    if (titled)
        fputs("table,", out);
    for (size_t i = 0; i < table->column_count; i++) {
        print_csv_text(out, table->columns[i].name);
        if (table->columns[i].type == GT_COLUMN_NAME)
            fputs(",short_name", out);
        fputs(i + 1 < table->column_count ? "," : "\r\n", out);
    }
}

static void print_csv_row(FILE *out, const struct gt_table *table, size_t row, const char *short_name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        print_csv_cell(out, gt_table_cell(table, row, i));
        if (table->columns[i].type == GT_COLUMN_NAME)
            print_csv_short_name(out, short_name);
        fputs(i + 1 < table->column_count ? "," : "\r\n", out);
    }
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void print_csv(FILE *out, const struct gt_table *table, bool titled)
{
    char **short_names = gt_table_short_names(table, GT_SHORT_NAME_COLUMNS);
    size_t rows = gt_table_rows(table);

    print_csv_heading(out, table, titled);
    for (size_t row = 0; row < rows; row++) {
        if (titled) {
            print_csv_text(out, table->name);
            fputc(',', out);
        }
        print_csv_row(out, table, row, short_names[row]);
    }
    free_names(short_names, rows);
}

static void json_row(yajl_gen json, const struct gt_table *table, size_t row, const char *short_name)
{
    yajl_gen_map_open(json);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct gt_cell *cell = gt_table_cell(table, row, i);

        gt_json_text(json, table->columns[i].name);
        switch (cell->type) {
        case GT_CELL_TEXT: gt_json_text(json, cell->text); break;
        case GT_CELL_INTEGER: gt_json_integer(json, cell->integer); break;
        case GT_CELL_REAL: gt_json_real(json, cell->real); break;
        default: yajl_gen_null(json); break;
        }
        if (table->columns[i].type == GT_COLUMN_NAME) {
            gt_json_text(json, "short_name");
            gt_json_text(json, short_name);
        }
    }
    yajl_gen_map_close(json);
}

static void json_table(yajl_gen json, const struct gt_table *table)
{
    char **short_names = gt_table_short_names(table, GT_SHORT_NAME_COLUMNS);
    size_t rows = gt_table_rows(table);
    bool array = !table->single || rows == 0;

    gt_json_text(json, table->name);
    if (array)
        yajl_gen_array_open(json);
    for (size_t row = 0; row < (array ? rows : 1); row++)
        json_row(json, table, row, short_names[row]);
    if (array)
        yajl_gen_array_close(json);
    free_names(short_names, rows);
}

static void print_json(FILE *out, struct gt_table *const *tables, size_t count)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    for (size_t i = 0; i < count; i++)
        json_table(json, tables[i]);
    yajl_gen_map_close(json);
    gt_json_finish(json, out);
}

/* What --table asks for; a process is one command. */
static struct {
    const char *declared; /* "run, interval": NULL: any name is one */
    const char *name;     /* NULL: every table */
    bool printed;
    char *others; /* "gaps, pairs": the tables passed over; NULL: none */
} choice;

static bool is_declared(const char *name)
{
    size_t length = strlen(name);

    for (const char *at = choice.declared; at != NULL; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    }
    return choice.declared == NULL;
}

void gt_tables_declare(const char *names)
{
    choice.declared = names;
}

const char *gt_tables_choose(const char *name)
{
    if (name != NULL && !is_declared(name))
        return choice.declared;
    free(choice.others);
    choice.name = name;
    choice.printed = false;
    choice.others = NULL;
    return NULL;
}

bool gt_tables_chosen(void)
{
    return choice.name != NULL;
}

bool gt_table_is_chosen(const char *name)
{
    return choice.name != NULL && strcmp(choice.name, name) == 0;
}

char *gt_tables_missing(void)
{
    if (choice.name == NULL || choice.printed || choice.others == NULL)
        return NULL;
    return gt_format("there is no table '%s' here; there are %s", choice.name, choice.others);
}

static void pass_over(const struct gt_table *table)
{
    char *others = choice.others == NULL ? gt_strdup(table->name) : gt_format("%s, %s", choice.others, table->name);

    free(choice.others);
    choice.others = others;
}

static void print_tables(FILE *out, enum gt_format format, struct gt_table *const *tables, size_t count)
{
    size_t width = gt_terminal_columns(out);

    if (format == GT_FORMAT_JSON) {
        print_json(out, tables, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputs(format == GT_FORMAT_CSV ? "\r\n" : "\n", out);
        if (format == GT_FORMAT_CSV)
            print_csv(out, tables[i], count > 1);
        else
            gt_table_print_people(out, tables[i], count > 1, width);
    }
}

static void check_names(enum gt_format format, struct gt_table *const *tables, size_t count)
{
    bool titles = format == GT_FORMAT_TABLE && choice.name == NULL;

    for (size_t i = 0; i < count && !titles; i++)
        if (!is_declared(tables[i]->name))
            gt_bug("table %s is not declared", tables[i]->name);
}

void gt_tables_print(FILE *out, enum gt_format format, struct gt_table *const *tables, size_t count)
{
    check_names(format, tables, count);
    if (choice.name == NULL)
        print_tables(out, format, tables, count);
    for (size_t i = 0; choice.name != NULL && i < count; i++) {
        if (gt_table_is_chosen(tables[i]->name)) {
            print_tables(out, format, &tables[i], 1);
            choice.printed = true;
        } else {
            pass_over(tables[i]);
        }
    }
}
