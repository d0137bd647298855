/* diff_tables.c - two runs side by side, as tables. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/diff_parts.h"

enum { TEXT_BYTES = 64 };
#define COLUMNS(columns) columns, sizeof columns / sizeof columns[0]

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

static double diff_us(gt_time_ps a, gt_time_ps b)
{
    return b >= a ? us(b - a) : -us(a - b);
}

/* A, B and the difference. */
static void put_times(struct gt_table *table, gt_time_ps a, gt_time_ps b)
{
    gt_table_real(table, us(a), 3);
    gt_table_real(table, us(b), 3);
    gt_table_real(table, diff_us(a, b), 3);
}

static void put_row_times(struct gt_table *table, const struct gt_diff_list *list, const struct gt_diff_row *row)
{
    put_times(table, row->side[0].ps, row->side[1].ps);
    gt_table_real(table,
                  list->changed_ps > 0 ? 100 * diff_us(row->side[0].ps, row->side[1].ps) * 1e6 / list->changed_ps : 0,
                  1);
}

static void put_counts(struct gt_table *table, uint64_t a, uint64_t b)
{
    gt_table_integer(table, (int64_t)a);
    gt_table_integer(table, (int64_t)b);
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
    put_times(table, a, b);
    gt_table_real(table, a > 0 ? 100 * diff_us(a, b) / us(a) : NAN, 1);
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
        put_row_times(table, list, &list->rows[i]);
        put_counts(table, list->rows[i].side[0].times, list->rows[i].side[1].times);
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
        put_row_times(table, list, row);
        put_counts(table, row->side[0].times, row->side[1].times);
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
        put_row_times(table, list, row);
        gt_table_text(table, row->name);
    }
    return table;
}

/* Of all operations' rows those of kernels. */
static struct gt_table *kernels_table(const struct gt_diff_list *list, unsigned top)
{
    static const struct gt_column columns[] = {
        { "a_us", GT_COLUMN_NUMBER },      { "b_us", GT_COLUMN_NUMBER },     { "diff_us", GT_COLUMN_NUMBER },
        { "share_pct", GT_COLUMN_NUMBER }, { "times_a", GT_COLUMN_NUMBER },  { "times_b", GT_COLUMN_NUMBER },
        { "slower_us", GT_COLUMN_NUMBER }, { "added_us", GT_COLUMN_NUMBER }, { "removed_us", GT_COLUMN_NUMBER },
        { "kernel", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("kernels", COLUMNS(columns));
    unsigned shown = 0;

    for (uint32_t i = 0; i < list->count && shown < top; i++) {
        const struct gt_diff_row *row = &list->rows[i];

        if (strcmp(row->kind, gt_op_kind_names[GT_OP_KERNEL]) != 0)
            continue;
        shown++;
        put_row_times(table, list, row);
        put_counts(table, row->side[0].times, row->side[1].times);
        gt_table_real(table, diff_us(row->side[0].ps - row->removed_ps, row->side[1].ps - row->added_ps), 3);
        gt_table_real(table, us(row->added_ps), 3);
        gt_table_real(table, us(row->removed_ps), 3);
        gt_table_text(table, row->name);
    }
    return table;
}

/* "pinned", "pageable+pinned" */
static const char *say_memories(uint32_t memories, char text[TEXT_BYTES])
{
    size_t at = 0;

    text[0] = '\0';
    for (int i = 0; i <= GT_MEMORIES && at < TEXT_BYTES; i++)
        if (memories >> i & 1)
            at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%s%s", at > 0 ? "+" : "",
                                   i < GT_MEMORIES ? gt_memory_names[i] : "unknown");
    return at > 0 ? text : NULL;
}

/* Of all operations' rows those that are no kernels: copies, memsets, host functions. */
static struct gt_table *copies_table(const struct gt_diff_list *list)
{
    static const struct gt_column columns[] = {
        { "operation", GT_COLUMN_TEXT },    { "memory_a", GT_COLUMN_TEXT },     { "memory_b", GT_COLUMN_TEXT },
        { "a_us", GT_COLUMN_NUMBER },       { "b_us", GT_COLUMN_NUMBER },       { "diff_us", GT_COLUMN_NUMBER },
        { "share_pct", GT_COLUMN_NUMBER },  { "times_a", GT_COLUMN_NUMBER },    { "times_b", GT_COLUMN_NUMBER },
        { "bytes_a", GT_COLUMN_NUMBER },    { "bytes_b", GT_COLUMN_NUMBER },    { "slower_us", GT_COLUMN_NUMBER },
        { "added_us", GT_COLUMN_NUMBER },   { "removed_us", GT_COLUMN_NUMBER }, { "alone_a_us", GT_COLUMN_NUMBER },
        { "alone_b_us", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("copies", COLUMNS(columns));
    char text[TEXT_BYTES];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_diff_row *row = &list->rows[i];

        if (strcmp(row->kind, gt_op_kind_names[GT_OP_KERNEL]) == 0)
            continue;
        gt_table_text(table, row->name);
        gt_table_text(table, say_memories(row->side[0].memories, text));
        gt_table_text(table, say_memories(row->side[1].memories, text));
        put_row_times(table, list, row);
        put_counts(table, row->side[0].times, row->side[1].times);
        put_counts(table, row->side[0].bytes, row->side[1].bytes);
        gt_table_real(table, diff_us(row->side[0].ps - row->removed_ps, row->side[1].ps - row->added_ps), 3);
        gt_table_real(table, us(row->added_ps), 3);
        gt_table_real(table, us(row->removed_ps), 3);
        gt_table_real(table, us(row->side[0].part_ps), 3);
        gt_table_real(table, us(row->side[1].part_ps), 3);
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
        put_row_times(table, &diff->calls, row);
        put_counts(table, row->side[0].times, row->side[1].times);
        if (diff->causes)
            put_times(table, row->side[0].part_ps, row->side[1].part_ps);
        for (int i = 0; i < 3 && !diff->causes; i++)
            gt_table_real(table, NAN, 3);
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
        put_row_times(table, list, row);
        put_times(table, row->side[0].part_ps, row->side[1].part_ps);
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
        put_times(table, row->side[0].ps, row->side[1].ps);
        put_times(table, row->side[0].part_ps, row->side[1].part_ps);
        put_counts(table, row->side[0].times, row->side[1].times);
        gt_table_text(table, row->name);
    }
    return table;
}

static void put_op_start(struct gt_table *table, const struct gt_diff_side *side, gt_op_index op)
{
    if (op == GT_NONE) {
        gt_table_text(table, NULL);
        gt_table_text(table, NULL);
        return;
    }
    gt_table_integer(table, op);
    gt_table_real(table, us(side->run->ops[op].start_ps), 3);
}

static gt_time_ps time_of(const struct gt_diff_side *side, gt_op_index op)
{
    return op == GT_NONE ? 0 : side->run->ops[op].end_ps - side->run->ops[op].start_ps;
}

static struct gt_table *operations_table(const struct gt_diff *diff, unsigned top)
{
    static const struct gt_column columns[] = {
        { "change", GT_COLUMN_TEXT },    { "a_us", GT_COLUMN_NUMBER },       { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER }, { "op_a", GT_COLUMN_NUMBER },       { "start_a_us", GT_COLUMN_NUMBER },
        { "op_b", GT_COLUMN_NUMBER },    { "start_b_us", GT_COLUMN_NUMBER }, { "stream", GT_COLUMN_TEXT },
        { "operation", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("operations", COLUMNS(columns));
    char name[400];

    for (uint32_t i = 0; i < diff->changed_count && i < top; i++) {
        const struct gt_diff_op *changed = &diff->changed[i];
        gt_time_ps a_ps = time_of(diff->side[0], changed->op[0]), b_ps = time_of(diff->side[1], changed->op[1]);
        int side = changed->op[1] == GT_NONE ? 0 : 1;
        const struct gt_loaded_run *run = diff->side[side]->run;

        gt_table_text(table, changed->op[0] == GT_NONE   ? "added"
                             : changed->op[1] == GT_NONE ? "removed"
                             : b_ps > a_ps               ? "slower"
                                                         : "faster");
        put_times(table, a_ps, b_ps);
        put_op_start(table, diff->side[0], changed->op[0]);
        put_op_start(table, diff->side[1], changed->op[1]);
        gt_table_text(table, run->streams[run->ops[changed->op[side]].stream].name);
        gt_loaded_op_name(run, changed->op[side], name, sizeof name);
        gt_table_text(table, name);
    }
    return table;
}

static struct gt_table *notes_table(const struct gt_diff *diff)
{
    static const struct gt_column columns[] = { { "section", GT_COLUMN_TEXT }, { "note", GT_COLUMN_WIDE } };
    struct gt_table *table = gt_table_new("notes", COLUMNS(columns));

    if (!diff->causes) {
        gt_table_text(table, "critical_path");
        gt_table_text(table, "a measured run has no causes: no critical path, no cause of a gap, no blocked calls");
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
    tables[count++] = kernels_table(&diff->ops, top);
    tables[count++] = copies_table(&diff->ops);
    tables[count++] = calls_table(diff, format, top);
    tables[count++] = steps_table(&diff->steps, format, top);
    tables[count++] = operators_table(&diff->operators, format, top);
    tables[count++] = operations_table(diff, top);
    tables[count++] = notes_table(diff);
    return count;
}
