/* diff_operations.c - operations of two runs side by side: kernels and copies by name, and single ones. */
#include <stdio.h>
#include <string.h>

#include "sim/cmd/report/diff_parts.h"

enum { TEXT_BYTES = 64 };
#define COLUMNS(columns) columns, sizeof columns / sizeof columns[0]

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

double gt_diff_us(gt_time_ps a, gt_time_ps b)
{
    return b >= a ? us(b - a) : -us(a - b);
}

void gt_diff_put_times(struct gt_table *table, gt_time_ps a, gt_time_ps b)
{
    gt_table_real(table, us(a), 1);
    gt_table_real(table, us(b), 1);
    gt_table_real(table, gt_diff_us(a, b), 1);
}

void gt_diff_put_row_times(struct gt_table *table, const struct gt_diff_list *list, const struct gt_diff_row *row)
{
    gt_diff_put_times(table, row->side[0].ps, row->side[1].ps);
    gt_table_real(
        table, list->changed_ps > 0 ? 100 * gt_diff_us(row->side[0].ps, row->side[1].ps) * 1e6 / list->changed_ps : 0,
        1);
}

void gt_diff_put_counts(struct gt_table *table, uint64_t a, uint64_t b)
{
    gt_table_integer(table, (int64_t)a);
    gt_table_integer(table, (int64_t)b);
}

/* What those in both runs take longer, what only B has, what only A has. */
static void put_changes(struct gt_table *table, const struct gt_diff_row *row)
{
    gt_table_real(table, gt_diff_us(row->side[0].ps - row->removed_ps, row->side[1].ps - row->added_ps), 1);
    gt_table_real(table, us(row->added_ps), 1);
    gt_table_real(table, us(row->removed_ps), 1);
}

static bool is_kernel(const struct gt_diff_row *row)
{
    return strcmp(row->kind, gt_op_kind_names[GT_OP_KERNEL]) == 0;
}

/* Of all operations' rows those of kernels. */
struct gt_table *gt_diff_kernels_table(const struct gt_diff_list *list, unsigned top)
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

        if (!is_kernel(row))
            continue;
        shown++;
        gt_diff_put_row_times(table, list, row);
        gt_diff_put_counts(table, row->side[0].times, row->side[1].times);
        put_changes(table, row);
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
struct gt_table *gt_diff_copies_table(const struct gt_diff_list *list)
{
    static const struct gt_column columns[] = {
        { "operation", GT_COLUMN_TEXT },    { "a_us", GT_COLUMN_NUMBER },      { "b_us", GT_COLUMN_NUMBER },
        { "diff_us", GT_COLUMN_NUMBER },    { "share_pct", GT_COLUMN_NUMBER }, { "times_a", GT_COLUMN_NUMBER },
        { "times_b", GT_COLUMN_NUMBER },    { "slower_us", GT_COLUMN_NUMBER }, { "added_us", GT_COLUMN_NUMBER },
        { "removed_us", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("copies", COLUMNS(columns));

    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_diff_row *row = &list->rows[i];

        if (is_kernel(row))
            continue;
        gt_table_text(table, row->name);
        gt_diff_put_row_times(table, list, row);
        gt_diff_put_counts(table, row->side[0].times, row->side[1].times);
        put_changes(table, row);
    }
    return table;
}

/* Of the same what they copied, and for how long while no kernel ran. */
struct gt_table *gt_diff_copied_table(const struct gt_diff_list *list)
{
    static const struct gt_column columns[] = {
        { "operation", GT_COLUMN_TEXT },    { "memory_a", GT_COLUMN_TEXT },  { "memory_b", GT_COLUMN_TEXT },
        { "bytes_a", GT_COLUMN_NUMBER },    { "bytes_b", GT_COLUMN_NUMBER }, { "alone_a_us", GT_COLUMN_NUMBER },
        { "alone_b_us", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("copied", COLUMNS(columns));
    char text[TEXT_BYTES];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_diff_row *row = &list->rows[i];

        if (is_kernel(row))
            continue;
        gt_table_text(table, row->name);
        gt_table_text(table, say_memories(row->side[0].memories, text));
        gt_table_text(table, say_memories(row->side[1].memories, text));
        gt_diff_put_counts(table, row->side[0].bytes, row->side[1].bytes);
        gt_table_real(table, us(row->side[0].part_ps), 1);
        gt_table_real(table, us(row->side[1].part_ps), 1);
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
    gt_table_real(table, us(side->run->ops[op].start_ps), 1);
}

static gt_time_ps time_of(const struct gt_diff_side *side, gt_op_index op)
{
    return op == GT_NONE ? 0 : side->run->ops[op].end_ps - side->run->ops[op].start_ps;
}

struct gt_table *gt_diff_operations_table(const struct gt_diff *diff, unsigned top)
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
        gt_diff_put_times(table, a_ps, b_ps);
        put_op_start(table, diff->side[0], changed->op[0]);
        put_op_start(table, diff->side[1], changed->op[1]);
        gt_table_text(table, run->streams[run->ops[changed->op[side]].stream].name);
        gt_loaded_op_name(run, changed->op[side], name, sizeof name);
        gt_table_text(table, name);
    }
    return table;
}
