/* diff.c - `gridtide diff`: what got slower from one run to another. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/report/diff_parts.h"

enum { TOP = 20, TOP_MAX = 100000000, OPTION_TOP = 256 };

struct arguments {
    const char *stores[2], *run; /* before and after; their kind */
    enum gt_format format;
    unsigned top; /* 0: as is usual */
};

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("diff, totals, critical_path, critical_path_names, critical_path_operators, gaps, kernels, "
                    "copies, copied, calls, steps, operators, operations, notes"),
    { "run", 'r', "simulated|measured", 0,
      "Which runs: the newest simulated runs (the default) or the newest measured runs", 0 },
    { "top", OPTION_TOP, "N", 0,
      "Print at most N rows of each list, largest difference first (default 20 in tables, all in "
      "CSV and JSON)",
      0 },
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const kinds[] = { "simulated", "measured" };
    struct arguments *arguments = state->input;

    switch (key) {
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'r': arguments->run = kinds[gt_option_either(state, "run", text, kinds[0], kinds[1])]; return 0;
    case OPTION_TOP: arguments->top = (unsigned)gt_option_number(state, "top", text, 1, TOP_MAX); return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "two stores can be compared: '%s' is one too many", text);
        arguments->stores[state->arg_num] = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "name two stores that 'gridtide run' wrote: before and after");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "A.db B.db",
    "Show what got slower or faster from run A to run B: the makespan, the critical path by "
    "cause, name and operator, idle time by cause, kernels, copies, calls, steps, operators "
    "and single operations. Operations are matched by name and order, so that added and "
    "removed operations are distinguished from slower ones.\vDifferences are B minus A: a "
    "positive value means that B takes longer. Lists are sorted by the size of the difference; "
    "share_pct is the part of all increases, or of all decreases, in the list. The rows of the "
    "critical path add up to the time from the first call to the last end; the gaps and the "
    "busy time of one GPU add up to the makespan. Measured runs have no critical path and no "
    "causes of gaps, because a recording does not contain causes.",
    NULL, NULL, NULL,
};
/* clang-format on */

static void print(const struct gt_diff *diff, const struct arguments *arguments)
{
    struct gt_table *tables[GT_DIFF_TABLES];
    unsigned usual = arguments->format == GT_FORMAT_TABLE ? TOP : TOP_MAX;
    size_t count = gt_diff_tables(diff, arguments->format, arguments->top > 0 ? arguments->top : usual, tables);

    gt_tables_print(stdout, arguments->format, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
}

/* What is to be loaded from a store, and where it goes. */
struct loading {
    const char *run;
    struct gt_diff_side *side;
};

static int load(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct loading *loading = user;

    return gt_diff_side_load(gt_store_database(store), loading->run, loading->side, error);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .run = "simulated" };
    struct gt_diff_side sides[2] = { { .run = NULL }, { .run = NULL } };
    struct gt_diff diff;
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    for (int i = 0; i < 2 && status == GT_EXIT_DONE; i++)
        status = gt_with_store(arguments.stores[i], load, &(struct loading){ arguments.run, &sides[i] });
    if (status == GT_EXIT_DONE) {
        gt_diff_make(&sides[0], &sides[1], &diff);
        print(&diff, &arguments);
        gt_diff_free(&diff);
    }
    for (int i = 0; i < 2; i++)
        gt_diff_side_free(&sides[i]);
    return status;
}

const struct gt_command gt_command_diff = {
    "diff",
    "show what got slower or faster between two runs",
    run,
};

/* Operations of two runs side by side: kernels and copies by name, and single ones. */

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
