#include "sim/cmd/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libsmartcols/libsmartcols.h>

#include "traces/names/short_name.h"
#include "sim/cmd/json.h"
#include "sim/base/error.h"

enum { PIPE_WIDTH = 120, /* of tables for people that go to no terminal */
       NAME_LEAST = 24 };

enum cell_type { CELL_NONE, CELL_TEXT, CELL_INTEGER, CELL_REAL };

struct cell {
    enum cell_type type;
    int decimals;
    union { char *text; int64_t integer; double real; };
};

struct gt_table {
    const char *name;
    const struct gt_column *columns;
    size_t column_count;
    struct cell *cells;
    size_t cell_count, cell_room;
    bool single;
};

const char *const gt_format_names[GT_FORMATS] = {
    [GT_FORMAT_TABLE] = "table", [GT_FORMAT_CSV] = "csv", [GT_FORMAT_JSON] = "json",
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
        if (table->cells[i].type == CELL_TEXT)
            free(table->cells[i].text);
    free(table->cells);
    free(table);
}

static void add_cell(struct gt_table *table, struct cell cell)
{
    if (table->cell_count == table->cell_room) {
        table->cell_room = table->cell_room < 64 ? 64 : table->cell_room * 2;
        table->cells = gt_realloc(table->cells, table->cell_room, sizeof *table->cells);
    }
    table->cells[table->cell_count++] = cell;
}

void gt_table_text(struct gt_table *table, const char *text)
{
    if (text == NULL)
        add_cell(table, (struct cell){ .type = CELL_NONE });
    else
        add_cell(table, (struct cell){ .type = CELL_TEXT, .text = strdup(text) });
}

void gt_table_integer(struct gt_table *table, int64_t value)
{
    add_cell(table, (struct cell){ .type = CELL_INTEGER, .integer = value });
}

void gt_table_real(struct gt_table *table, double value, int decimals)
{
    add_cell(table, (struct cell){ .type = isfinite(value) ? CELL_REAL : CELL_NONE,
                                   .decimals = decimals, .real = value });
}

static size_t row_count(const struct gt_table *table)
{
    if (table->cell_count % table->column_count != 0)
        gt_bug("table %s: the last row is not full", table->name);
    return table->cell_count / table->column_count;
}

static const struct cell *cell_at(const struct gt_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* The cell for people, into `room` where it is a number. */
static const char *human_text(const struct cell *cell, char *room, size_t bytes)
{
    switch (cell->type) {
    case CELL_TEXT: return cell->text;
    case CELL_INTEGER: snprintf(room, bytes, "%" PRId64, cell->integer); return room;
    case CELL_REAL:
        snprintf(room, bytes, fabs(cell->real) < 1e15 ? "%.*f" : "%.*g", cell->decimals, cell->real);
        return room;
    default: return "-";
    }
}

/* A name in at most `columns`; where a terminal has bytes alone, the ellipsis is three full stops. */
static char *name_text(const char *name, size_t columns)
{
    static const char ellipsis[] = "…";
    char *text, *at;

    if (MB_CUR_MAX > 1)
        return gt_short_name(name, columns);
    text = gt_short_name(name, columns - 2);
    at = strstr(text, ellipsis);
    if (at != NULL)
        memcpy(at, "...", strlen(ellipsis));
    return text;
}

/* A cell of column `column` of the table; a name in at most `name_columns`. */
static void set_human_cell(struct libscols_line *line, size_t at, const struct gt_column *column,
                           const struct cell *cell, size_t name_columns)
{
    char room[64];

    if (column->type == GT_COLUMN_NAME && cell->type == CELL_TEXT)
        scols_line_refer_data(line, at, name_text(cell->text, name_columns));
    else
        scols_line_set_data(line, at, human_text(cell, room, sizeof room));
}

/* What the other columns of a table `columns` wide leave for names. */
static size_t room_for_names(const struct gt_table *table, size_t columns)
{
    size_t taken = 0;
    char room[64];

    for (size_t i = 0; i < table->column_count; i++) {
        size_t widest = strlen(table->columns[i].name);

        if (table->columns[i].type == GT_COLUMN_NAME)
            continue;
        for (size_t row = 0; row < row_count(table); row++) {
            size_t width = strlen(human_text(cell_at(table, row, i), room, sizeof room));

            widest = width > widest ? width : widest;
        }
        taken += widest + 1;
    }
    return columns > taken + NAME_LEAST ? columns - taken : NAME_LEAST;
}

static void fill_rows(struct libscols_table *sheet, const struct gt_table *table)
{
    static const int flags[] = { [GT_COLUMN_TEXT] = 0, [GT_COLUMN_WIDE] = SCOLS_FL_TRUNC,
                                 [GT_COLUMN_NAME] = SCOLS_FL_TRUNC, [GT_COLUMN_NUMBER] = SCOLS_FL_RIGHT };
    size_t name_columns = room_for_names(table, scols_table_get_termwidth(sheet));

    for (size_t i = 0; i < table->column_count; i++) {
        const struct gt_column *column = &table->columns[i];

        scols_table_new_column(sheet, column->name, flags[column->type] == SCOLS_FL_TRUNC ? 0.3 : 0.0,
                               flags[column->type]);
    }
    for (size_t row = 0; row < row_count(table); row++) {
        struct libscols_line *line = scols_table_new_line(sheet, NULL);

        for (size_t i = 0; i < table->column_count; i++)
            set_human_cell(line, i, &table->columns[i], cell_at(table, row, i), name_columns);
    }
}

/* What the headings of a list leave for names. */
static size_t room_in_list(const struct gt_table *table, size_t columns)
{
    size_t widest = 0;

    for (size_t i = 0; i < table->column_count; i++)
        widest = strlen(table->columns[i].name) > widest ? strlen(table->columns[i].name) : widest;
    return columns > widest + 1 + NAME_LEAST ? columns - widest - 1 : NAME_LEAST;
}

static void fill_list(struct libscols_table *sheet, const struct gt_table *table)
{
    size_t name_columns = room_in_list(table, scols_table_get_termwidth(sheet));

    scols_table_enable_noheadings(sheet, 1);
    scols_table_new_column(sheet, "name", 0.0, 0);
    scols_table_new_column(sheet, "value", 0.0, 0);
    for (size_t i = 0; i < table->column_count && row_count(table) > 0; i++) {
        struct libscols_line *line = scols_table_new_line(sheet, NULL);

        scols_line_set_data(line, 0, table->columns[i].name);
        set_human_cell(line, 1, &table->columns[i], cell_at(table, 0, i), name_columns);
    }
}

static void print_human(FILE *out, const struct gt_table *table, bool titled)
{
    struct libscols_table *sheet = scols_new_table();

    if (sheet == NULL)
        gt_bug("scols_new_table failed");
    if (titled)
        fprintf(out, "%s\n", table->name);
    scols_table_set_stream(sheet, out);
    if (!isatty(fileno(out))) {
        scols_table_set_termforce(sheet, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(sheet, PIPE_WIDTH);
    }
    if (table->single)
        fill_list(sheet, table);
    else
        fill_rows(sheet, table);
    if (row_count(table) == 0)
        fputs("(none)\n", out);
    else
        scols_print_table(sheet);
    scols_unref_table(sheet);
}

/* RFC 4180: a field with a quote, a comma or a line break stands in quotes, quotes doubled. */
static void print_csv_text(FILE *out, const char *text)
{
    if (text[strcspn(text, "\",\r\n")] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv_cell(FILE *out, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_TEXT: print_csv_text(out, cell->text); break;
    case CELL_INTEGER: fprintf(out, "%" PRId64, cell->integer); break;
    case CELL_REAL: fprintf(out, "%.10g", cell->real); break;
    default: break;
    }
}

static void print_csv_short_name(FILE *out, const struct cell *cell)
{
    char *text = cell->type == CELL_TEXT ? gt_short_name(cell->text, GT_SHORT_NAME_COLUMNS) : NULL;

    fputc(',', out);
    if (text != NULL)
        print_csv_text(out, text);
    free(text);
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

static void print_csv(FILE *out, const struct gt_table *table, bool titled)
{
    print_csv_heading(out, table, titled);
    for (size_t row = 0; row < row_count(table); row++) {
        if (titled) {
            print_csv_text(out, table->name);
            fputc(',', out);
        }
        for (size_t i = 0; i < table->column_count; i++) {
            print_csv_cell(out, cell_at(table, row, i));
            if (table->columns[i].type == GT_COLUMN_NAME)
                print_csv_short_name(out, cell_at(table, row, i));
            fputs(i + 1 < table->column_count ? "," : "\r\n", out);
        }
    }
}

static void json_row(yajl_gen json, const struct gt_table *table, size_t row)
{
    yajl_gen_map_open(json);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct cell *cell = cell_at(table, row, i);

        gt_json_text(json, table->columns[i].name);
        switch (cell->type) {
        case CELL_TEXT: gt_json_text(json, cell->text); break;
        case CELL_INTEGER: gt_json_integer(json, cell->integer); break;
        case CELL_REAL: gt_json_real(json, cell->real); break;
        default: yajl_gen_null(json); break;
        }
        if (table->columns[i].type == GT_COLUMN_NAME)
            gt_json_short_name(json, cell->type == CELL_TEXT ? cell->text : NULL);
    }
    yajl_gen_map_close(json);
}

static void print_json(FILE *out, struct gt_table *const *tables, size_t count)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    for (size_t i = 0; i < count; i++) {
        gt_json_text(json, tables[i]->name);
        if (tables[i]->single && row_count(tables[i]) > 0) {
            json_row(json, tables[i], 0);
            continue;
        }
        yajl_gen_array_open(json);
        for (size_t row = 0; row < row_count(tables[i]); row++)
            json_row(json, tables[i], row);
        yajl_gen_array_close(json);
    }
    yajl_gen_map_close(json);
    gt_json_finish(json, out);
}

void gt_tables_print(FILE *out, enum gt_format format, struct gt_table *const *tables, size_t count)
{
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
            print_human(out, tables[i], count > 1);
    }
}
