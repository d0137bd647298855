/* diff_tables.c - two runs side by side, as tables. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cmd/report/diff_parts.h"

enum { TEXT_BYTES = 64 };
#define COLUMNS(columns) columns, sizeof columns / sizeof columns[0]

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

static struct gt_table *diff_table(const struct gt_diff *diff)
{
    static const struct gt_column columns[] = {
        { "run", GT_COLUMN_TEXT },       { "trace_a", GT_COLUMN_TEXT },   { "trace_b", GT_COLUMN_TEXT },
        { "device_a", GT_COLUMN_TEXT },  { "device_b", GT_COLUMN_TEXT },  { "options_a", GT_COLUMN_TEXT },
        { "options_b", GT_COLUMN_TEXT }, { "matched", GT_COLUMN_NUMBER }, { "added", GT_COLUMN_NUMBER },
        { "removed", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("diff", COLUMNS(columns));
    const struct gt_loaded_run *a = diff->side[0]->run, *b = diff->side[1]->run;

    gt_table_single(table);
    gt_table_text(table, a->simulated ? "simulated" : "measured");
    gt_table_text(table, a->trace);
    gt_table_text(table, b->trace);
    gt_table_text(table, a->device.name);
    gt_table_text(table, b->device.name);
    gt_table_text(table, a->options);
    gt_table_text(table, b->options);
    gt_table_integer(table, diff->matched);
    gt_table_integer(table, diff->added);
    gt_table_integer(table, diff->removed);
    return table;
}

static void put_total(struct gt_table *table, const char *what, gt_time_ps a, gt_time_ps b)
{
    gt_table_text(table, what);
    gt_diff_put_times(table, a, b);
    gt_table_real(table, a > 0 ? 100 * gt_diff_us(a, b) / us(a) : NAN, 1);
}

static gt_time_ps sum_ps(const struct gt_diff_list *list, int side)
{
    gt_time_ps sum = 0;

    for (uint32_t i = 0; i < list->count; i++)
        sum += list->rows[i].side[side].ps;
    return sum;
}

static struct gt_table *totals_table(const struct gt_diff *diff)
{
    static const struct gt_column columns[] = {
        { "time", GT_COLUMN_TEXT },      { "a_us", GT_COLUMN_NUMBER },     { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER }, { "diff_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("totals", COLUMNS(columns));
    const struct gt_stats *a = diff->side[0]->stats, *b = diff->side[1]->stats;

    put_total(table, "makespan", a->summary.makespan_ps, b->summary.makespan_ps);
    if (diff->causes)
        put_total(table, "critical-path", diff->side[0]->limits.path_ps, diff->side[1]->limits.path_ps);
    put_total(table, "gpu-busy", a->summary.busy_ps, b->summary.busy_ps);
    put_total(table, "gpu-idle", a->summary.idle_ps, b->summary.idle_ps);
    put_total(table, "operations", sum_ps(&diff->ops, 0), sum_ps(&diff->ops, 1));
    if (diff->causes)
        put_total(table, "host-blocked", a->summary.blocked_ps, b->summary.blocked_ps);
    return table;
}

/* People see at most so many rows; the others in one, so that the column still adds up. */
struct listing {
    const struct gt_diff_list *list;
    uint32_t shown;
    struct gt_diff_row others; /* of no name where there are none */
    char name[TEXT_BYTES];
};

static struct listing list_rows(const struct gt_diff_list *list, enum gt_format format, unsigned top)
{
    struct listing l = { .list = list, .shown = list->count < top ? list->count : top };

    if (l.shown == list->count || format != GT_FORMAT_TABLE)
        return l;
    snprintf(l.name, sizeof l.name, "(%" PRIu32 " others)", list->count - l.shown);
    l.others.name = l.name;
    for (uint32_t i = l.shown; i < list->count; i++) {
        for (int side = 0; side < 2; side++) {
            l.others.side[side].times += list->rows[i].side[side].times;
            l.others.side[side].ps += list->rows[i].side[side].ps;
            l.others.side[side].part_ps += list->rows[i].side[side].part_ps;
        }
    }
    return l;
}

static const struct gt_diff_row *next_row(struct listing *l, uint32_t i)
{
    if (i < l->shown)
        return &l->list->rows[i];
    l->others.name = l->name;
    return i == l->shown && l->name[0] != '\0' ? &l->others : NULL;
}

/* Times by one word: causes of the path, of gaps. */
static struct gt_table *words_table(const char *title, const struct gt_diff_list *list)
{
    static const struct gt_column columns[] = {
        { "cause", GT_COLUMN_TEXT },     { "a_us", GT_COLUMN_NUMBER },      { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER }, { "share_pct", GT_COLUMN_NUMBER }, { "times_a", GT_COLUMN_NUMBER },
        { "times_b", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new(title, COLUMNS(columns));

    for (uint32_t i = 0; i < list->count; i++) {
        gt_table_text(table, list->rows[i].name);
        gt_diff_put_row_times(table, list, &list->rows[i]);
        gt_diff_put_counts(table, list->rows[i].side[0].times, list->rows[i].side[1].times);
    }
    return table;
}

static struct gt_table *path_names_table(const struct gt_diff_list *list, enum gt_format format, unsigned top)
{
    static const struct gt_column columns[] = {
        { "cause", GT_COLUMN_TEXT },     { "a_us", GT_COLUMN_NUMBER },      { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER }, { "share_pct", GT_COLUMN_NUMBER }, { "times_a", GT_COLUMN_NUMBER },
        { "times_b", GT_COLUMN_NUMBER }, { "name", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("critical_path_names", COLUMNS(columns));
    struct listing l = list_rows(list, format, top);
    const struct gt_diff_row *row;

    for (uint32_t i = 0; (row = next_row(&l, i)) != NULL; i++) {
        gt_table_text(table, row->kind);
        gt_diff_put_row_times(table, list, row);
        gt_diff_put_counts(table, row->side[0].times, row->side[1].times);
        gt_table_text(table, row->name);
    }
    return table;
}

static struct gt_table *path_operators_table(const struct gt_diff_list *list, enum gt_format format, unsigned top)
{
    static const struct gt_column columns[] = {
        { "a_us", GT_COLUMN_NUMBER },      { "b_us", GT_COLUMN_NUMBER },   { "diff_us", GT_COLUMN_NUMBER },
        { "share_pct", GT_COLUMN_NUMBER }, { "operator", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("critical_path_operators", COLUMNS(columns));
    struct listing l = list_rows(list, format, top);
    const struct gt_diff_row *row;

    for (uint32_t i = 0; (row = next_row(&l, i)) != NULL; i++) {
        gt_diff_put_row_times(table, list, row);
        gt_table_text(table, row->name);
    }
    return table;
}

static struct gt_table *calls_table(const struct gt_diff *diff, enum gt_format format, unsigned top)
{
    static const struct gt_column columns[] = {
        { "call", GT_COLUMN_TEXT },           { "a_us", GT_COLUMN_NUMBER },
        { "b_us", GT_COLUMN_NUMBER },         { "diff_us", GT_COLUMN_NUMBER },
        { "share_pct", GT_COLUMN_NUMBER },    { "times_a", GT_COLUMN_NUMBER },
        { "times_b", GT_COLUMN_NUMBER },      { "blocked_a_us", GT_COLUMN_NUMBER },
        { "blocked_b_us", GT_COLUMN_NUMBER }, { "blocked_diff_us", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("calls", COLUMNS(columns));
    struct listing l = list_rows(&diff->calls, format, top);
    const struct gt_diff_row *row;

    for (uint32_t i = 0; (row = next_row(&l, i)) != NULL; i++) {
        gt_table_text(table, row->name);
        gt_diff_put_row_times(table, &diff->calls, row);
        gt_diff_put_counts(table, row->side[0].times, row->side[1].times);
        if (diff->causes)
            gt_diff_put_times(table, row->side[0].part_ps, row->side[1].part_ps);
        for (int column = 0; column < 3 && !diff->causes; column++)
            gt_table_real(table, NAN, 1);
    }
    return table;
}

static struct gt_table *steps_table(const struct gt_diff_list *list, enum gt_format format, unsigned top)
{
    static const struct gt_column columns[] = {
        { "a_us", GT_COLUMN_NUMBER },
        { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER },
        { "share_pct", GT_COLUMN_NUMBER },
        { "gpu_busy_a_us", GT_COLUMN_NUMBER },
        { "gpu_busy_b_us", GT_COLUMN_NUMBER },
        { "gpu_busy_diff_us", GT_COLUMN_NUMBER },
        { "step", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("steps", COLUMNS(columns));
    struct listing l = list_rows(list, format, top);
    const struct gt_diff_row *row;

    for (uint32_t i = 0; (row = next_row(&l, i)) != NULL; i++) {
        gt_diff_put_row_times(table, list, row);
        gt_diff_put_times(table, row->side[0].part_ps, row->side[1].part_ps);
        gt_table_text(table, row->name);
    }
    return table;
}

static struct gt_table *operators_table(const struct gt_diff_list *list, enum gt_format format, unsigned top)
{
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT },           { "host_a_us", GT_COLUMN_NUMBER }, { "host_b_us", GT_COLUMN_NUMBER },
        { "host_diff_us", GT_COLUMN_NUMBER }, { "gpu_a_us", GT_COLUMN_NUMBER },  { "gpu_b_us", GT_COLUMN_NUMBER },
        { "gpu_diff_us", GT_COLUMN_NUMBER },  { "times_a", GT_COLUMN_NUMBER },   { "times_b", GT_COLUMN_NUMBER },
        { "operator", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("operators", COLUMNS(columns));
    struct listing l = list_rows(list, format, top);
    const struct gt_diff_row *row;

    for (uint32_t i = 0; (row = next_row(&l, i)) != NULL; i++) {
        gt_table_text(table, row->kind);
        gt_diff_put_times(table, row->side[0].ps, row->side[1].ps);
        gt_diff_put_times(table, row->side[0].part_ps, row->side[1].part_ps);
        gt_diff_put_counts(table, row->side[0].times, row->side[1].times);
        gt_table_text(table, row->name);
    }
    return table;
}

static struct gt_table *notes_table(const struct gt_diff *diff)
{
    static const struct gt_column columns[] = { { "section", GT_COLUMN_TEXT }, { "note", GT_COLUMN_WIDE } };
    struct gt_table *table = gt_table_new("notes", COLUMNS(columns));

    if (!diff->causes) {
        gt_table_text(table, "critical_path");
        gt_table_text(table, "a measured run has no causes: no critical path, no causes of gaps, no blocked calls");
    }
    if (strcmp(diff->side[0]->run->device.name, diff->side[1]->run->device.name) != 0) {
        gt_table_text(table, "diff");
        gt_table_text(table, "the runs are on different devices");
    }
    return table;
}

size_t gt_diff_tables(const struct gt_diff *diff, enum gt_format format, unsigned top,
                      struct gt_table *tables[GT_DIFF_TABLES])
{
    size_t count = 0;

    tables[count++] = diff_table(diff);
    tables[count++] = totals_table(diff);
    tables[count++] = words_table("critical_path", &diff->path);
    tables[count++] = path_names_table(&diff->path_names, format, top);
    tables[count++] = path_operators_table(&diff->path_operators, format, top);
    tables[count++] = words_table("gaps", &diff->gaps);
    tables[count++] = gt_diff_kernels_table(&diff->ops, top);
    tables[count++] = gt_diff_copies_table(&diff->ops);
    tables[count++] = gt_diff_copied_table(&diff->ops);
    tables[count++] = calls_table(diff, format, top);
    tables[count++] = steps_table(&diff->steps, format, top);
    tables[count++] = operators_table(&diff->operators, format, top);
    tables[count++] = gt_diff_operations_table(diff, top);
    tables[count++] = notes_table(diff);
    return count;
}
