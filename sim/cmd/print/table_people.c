/* Tables for people.  Where lines may be of any length, a row is a line and nothing is cut.  On a terminal that is
 * too narrow headings are folded at their underscores, then names get a line of their own above their row,
 * then texts are folded between words. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#include "sim/base/error.h"
#include "sim/cmd/print/table_parts.h"
#include "sim/cmd/print/terminal.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

enum { ANY_WIDTH = 1 << 20, TEXT_LEAST = 12 /* columns that folding leaves a text */, INDENT = 2 };
static const char heading_breaks[] = "_", text_breaks[] = " /,;=";

/* Texts in columns, and what is known of their layout. */
struct sheet {
    size_t rows, columns;
    char **texts;    /* row by row */
    char **headings; /* NULL: none */
    enum gt_column_type *types;
    size_t *widths; /* that texts, not headings, may have */
    char **names;   /* a line of its own above each row; NULL: none */
    const char *name_heading;
    bool folded; /* the headings */
};

/* A cell that is no name, as people read it. */
static char *cell_text(const struct gt_cell *cell, enum gt_column_type type)
{
    char *text = NULL;
    int result = 0;

    if (type == GT_COLUMN_TIME && cell->type == GT_CELL_REAL)
        return gt_strdup(gt_time_said(cell->real * 1e6).s);
    switch (cell->type) {
    case GT_CELL_TEXT: return gt_clean_name(cell->text);
    case GT_CELL_INTEGER: result = asprintf(&text, "%" PRId64, cell->integer); break;
    case GT_CELL_REAL:
        result = asprintf(&text, fabs(cell->real) < 1e15 ? "%.*f" : "%.*g", cell->decimals, cell->real);
        break;
    default: result = asprintf(&text, "-"); break;
    }
    if (result < 0)
        gt_bug("asprintf failed");
    return text;
}

static char *heading_text(const struct gt_column *column)
{
    static const char unit[] = "_us";
    char *text = gt_strdup(column->name);
    size_t length = strlen(text), tail = sizeof unit - 1;

    if (column->type == GT_COLUMN_TIME && length > tail && strcmp(text + length - tail, unit) == 0)
        text[length - tail] = '\0';
    return text;
}

/* The widest part of a heading that is not folded any more. */
static size_t widest_part(const char *heading)
{
    size_t widest = 0;

    while (*heading != '\0') {
        size_t part = strcspn(heading, heading_breaks);

        part += heading[part] != '\0';
        widest = part > widest ? part : widest;
        heading += part;
    }
    return widest;
}

static size_t column_width(const struct sheet *sheet, size_t column)
{
    size_t heading = 0, width = sheet->widths[column];

    if (sheet->headings != NULL)
        heading = sheet->folded ? widest_part(sheet->headings[column]) : strlen(sheet->headings[column]);
    return heading > width ? heading : width;
}

static size_t sheet_width(const struct sheet *sheet)
{
    size_t width = sheet->names != NULL ? INDENT : 0;

    for (size_t i = 0; i < sheet->columns; i++)
        width += column_width(sheet, i) + (i > 0);
    return width;
}

static void measure(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->columns; i++) {
        sheet->widths[i] = 0;
        for (size_t row = 0; row < sheet->rows; row++) {
            size_t width = gt_terminal_width(sheet->texts[row * sheet->columns + i]);

            sheet->widths[i] = width > sheet->widths[i] ? width : sheet->widths[i];
        }
    }
}

/* The widest column of that type that can give some of its width; sheet->columns where none can. */
static size_t widest_of(const struct sheet *sheet, enum gt_column_type type)
{
    size_t widest = sheet->columns;

    for (size_t i = 0; i < sheet->columns; i++)
        if (sheet->types[i] == type && sheet->widths[i] > TEXT_LEAST && sheet->widths[i] == column_width(sheet, i) &&
            (widest == sheet->columns || sheet->widths[i] > sheet->widths[widest]))
            widest = i;
    return widest;
}

/* Take columns from the texts that may be wide, then from the others, the widest first, until the sheet fits
 * or they are as narrow as they get. */
static void narrow_texts(struct sheet *sheet, size_t width)
{
    for (size_t now = sheet_width(sheet); now > width; now = sheet_width(sheet)) {
        size_t at = widest_of(sheet, GT_COLUMN_WIDE), rest;

        if (at == sheet->columns)
            at = widest_of(sheet, GT_COLUMN_TEXT);
        if (at == sheet->columns)
            return;
        rest = sheet->widths[at] > now - width ? sheet->widths[at] - (now - width) : 0;
        sheet->widths[at] = rest > TEXT_LEAST ? rest : TEXT_LEAST;
    }
}

/* Fold `count` texts, one a column, and put them into the print-out; returns how many lines they take. */
static size_t add_lines(struct libscols_table *print, const struct sheet *sheet, char *const *texts, bool heading)
{
    char **folded = gt_calloc(sheet->columns, sizeof *folded);
    size_t lines = 1;

    for (size_t i = 0; i < sheet->columns; i++) {
        folded[i] = gt_fold(texts[i], heading ? column_width(sheet, i) : sheet->widths[i],
                            heading ? heading_breaks : text_breaks);
        lines = gt_fold_lines(folded[i]) > lines ? gt_fold_lines(folded[i]) : lines;
    }
    for (size_t at = 0; at < lines; at++) {
        struct libscols_line *line = scols_table_new_line(print, NULL);

        for (size_t i = 0; i < sheet->columns; i++)
            scols_line_refer_data(line, i, gt_fold_line(folded[i], at));
    }
    for (size_t i = 0; i < sheet->columns; i++)
        free(folded[i]);
    free(folded);
    return lines;
}

/* `count` lines of what is printed, indented below names. */
static const char *put_lines(FILE *out, const char *printed, size_t count, size_t indent)
{
    for (; count > 0 && *printed != '\0'; count--) {
        size_t bytes = strcspn(printed, "\n"), length = bytes;

        while (length > 0 && printed[length - 1] == ' ')
            length--;
        fprintf(out, "%*s%.*s\n", (int)indent, "", (int)length, printed);
        printed += bytes + (printed[bytes] != '\0');
    }
    return printed;
}

static bool is_number(enum gt_column_type type)
{
    return type == GT_COLUMN_NUMBER || type == GT_COLUMN_TIME;
}

static void put_sheet(FILE *out, const struct sheet *sheet)
{
    struct libscols_table *print = scols_new_table();
    size_t *lines = gt_calloc(sheet->rows + 1, sizeof *lines), heading_lines = 0;
    size_t indent = sheet->names != NULL ? INDENT : 0;
    char *printed = NULL;
    const char *at;

    if (print == NULL)
        gt_no_memory("a table");
    scols_table_enable_noheadings(print, 1);
    scols_table_set_termforce(print, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < sheet->columns; i++)
        scols_table_new_column(print, "", 0.0, is_number(sheet->types[i]) ? SCOLS_FL_RIGHT : 0);
    if (sheet->headings != NULL)
        heading_lines = add_lines(print, sheet, sheet->headings, true);
    for (size_t row = 0; row < sheet->rows; row++)
        lines[row] = add_lines(print, sheet, &sheet->texts[row * sheet->columns], false);
    if (scols_print_table_to_string(print, &printed) != 0 || printed == NULL)
        gt_bug("scols_print_table_to_string failed");
    if (sheet->names != NULL)
        fprintf(out, "%s\n", sheet->name_heading);
    at = put_lines(out, printed, heading_lines, indent);
    for (size_t row = 0; row < sheet->rows; row++) {
        if (sheet->names != NULL)
            fprintf(out, "%s\n", sheet->names[row] != NULL ? sheet->names[row] : "-");
        at = put_lines(out, at, lines[row], indent);
    }
    free(printed);
    free(lines);
    scols_unref_table(print);
}

/* Where a terminal has bytes alone, the ellipsis is three full stops. */
static void plain_ellipses(char **names, size_t count)
{
    static const char ellipsis[] = "…";

    for (size_t i = 0; i < count && MB_CUR_MAX == 1; i++)
        for (char *at = names[i]; at != NULL && (at = strstr(at, ellipsis)) != NULL;)
            memcpy(at, "...", strlen(ellipsis));
}

static char **names_within(const struct gt_table *table, size_t width)
{
    enum { ELLIPSES = 2 }; /* of a name, and columns more that each takes as full stops */
    char **names = gt_table_short_names(table, MB_CUR_MAX == 1 ? width - 2 * ELLIPSES : width);

    plain_ellipses(names, gt_table_rows(table));
    return names;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++)
        free(texts[i]);
    free(texts);
}

static void new_sheet(struct sheet *sheet, size_t rows, size_t columns)
{
    *sheet = (struct sheet){ .rows = rows, .columns = columns };
    sheet->texts = gt_calloc(rows * columns + 1, sizeof *sheet->texts);
    sheet->types = gt_calloc(columns + 1, sizeof *sheet->types);
    sheet->widths = gt_calloc(columns + 1, sizeof *sheet->widths);
}

static void free_sheet(struct sheet *sheet)
{
    free_texts(sheet->texts, sheet->rows * sheet->columns);
    free_texts(sheet->names, sheet->rows);
    free_texts(sheet->headings, sheet->headings != NULL ? sheet->columns : 0);
    free(sheet->types);
    free(sheet->widths);
}

/* The rows of a table; names come last, or above their rows where they are `apart`. */
static void fill_rows(struct sheet *sheet, const struct gt_table *table, size_t width, bool apart)
{
    size_t name = gt_table_name_column(table), rows = gt_table_rows(table), to = 0;
    bool named = name < table->column_count;
    char **names = names_within(table, apart ? width : ANY_WIDTH);

    new_sheet(sheet, rows, table->column_count - (apart ? 1 : 0));
    sheet->headings = gt_calloc(sheet->columns + 1, sizeof *sheet->headings);
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == name)
            continue;
        sheet->types[to] = table->columns[i].type;
        sheet->headings[to] = heading_text(&table->columns[i]);
        for (size_t row = 0; row < rows; row++)
            sheet->texts[row * sheet->columns + to] = cell_text(gt_table_cell(table, row, i), table->columns[i].type);
        to++;
    }
    if (apart) {
        sheet->names = names;
        sheet->name_heading = table->columns[name].name;
    } else if (named) {
        sheet->types[to] = GT_COLUMN_NAME;
        sheet->headings[to] = strdup(table->columns[name].name);
        for (size_t row = 0; row < rows; row++)
            sheet->texts[row * sheet->columns + to] = names[row] != NULL ? names[row] : strdup("-");
        free(names);
    } else {
        free(names);
    }
    measure(sheet);
}

/* Headings whole, or where that is too wide, folded. */
static bool fits(struct sheet *sheet, size_t width)
{
    sheet->folded = false;
    if (sheet_width(sheet) <= width)
        return true;
    sheet->folded = true;
    return sheet_width(sheet) <= width;
}

static void print_rows(FILE *out, const struct gt_table *table, size_t width)
{
    struct sheet sheet;

    fill_rows(&sheet, table, width, false);
    if (!fits(&sheet, width)) {
        if (gt_table_name_column(table) < table->column_count) {
            free_sheet(&sheet);
            fill_rows(&sheet, table, width, true);
        }
        if (!fits(&sheet, width))
            narrow_texts(&sheet, width);
    }
    put_sheet(out, &sheet);
    free_sheet(&sheet);
}

/* What the headings of a list leave for a name. */
static size_t room_in_list(const struct gt_table *table, size_t width)
{
    size_t widest = 0;

    for (size_t i = 0; i < table->column_count; i++)
        widest = strlen(table->columns[i].name) > widest ? strlen(table->columns[i].name) : widest;
    return width == SIZE_MAX ? ANY_WIDTH : width > widest + 1 + TEXT_LEAST ? width - widest - 1 : TEXT_LEAST;
}

/* The one row of a table as a list of "name value" lines. */
static void print_list(FILE *out, const struct gt_table *table, size_t width)
{
    char **names = names_within(table, room_in_list(table, width));
    struct sheet sheet;

    new_sheet(&sheet, table->column_count, 2);
    sheet.types[1] = GT_COLUMN_WIDE;
    for (size_t i = 0; i < table->column_count; i++) {
        bool name = table->columns[i].type == GT_COLUMN_NAME && names[0] != NULL;

        sheet.texts[2 * i] = heading_text(&table->columns[i]);
        sheet.texts[2 * i + 1] =
            name ? strdup(names[0]) : cell_text(gt_table_cell(table, 0, i), table->columns[i].type);
    }
    free_texts(names, gt_table_rows(table));
    measure(&sheet);
    narrow_texts(&sheet, width);
    put_sheet(out, &sheet);
    free_sheet(&sheet);
}

void gt_table_print_people(FILE *out, const struct gt_table *table, bool titled, size_t width)
{
    if (titled)
        fprintf(out, "%s\n", table->name);
    if (gt_table_rows(table) == 0)
        fputs("(none)\n", out);
    else if (table->single)
        print_list(out, table, width);
    else
        print_rows(out, table, width);
}
