#include "sim/cmd/report/breakdown_tables.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "traces/names/short_name.h"

enum { INDENT = 2, NAME_WIDTH = 60 };

static void add_us(struct gt_table *table, gt_time_ps time_ps)
{
    gt_table_real(table, (double)time_ps / 1e6, 3);
}

/* A kind of time a row, of all steps, with its mean of a step. */
static struct gt_table *breakdown_table(const struct gt_breakdown *breakdown)
{
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT },
        { "time_us", GT_COLUMN_TIME },
        { "step_us", GT_COLUMN_TIME },
        { "pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("breakdown", columns, sizeof columns / sizeof columns[0]);

    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS && breakdown->total_ps > 0; kind++) {
        gt_table_text(table, gt_time_kind_names[kind]);
        add_us(table, breakdown->ps[kind]);
        gt_table_real(table, (double)breakdown->ps[kind] / (double)breakdown->counted / 1e6, 3);
        gt_table_real(table, 100 * (double)breakdown->ps[kind] / (double)breakdown->total_ps, 1);
    }
    return table;
}

/* For people: which process and GPU where there are several, and the kinds that there are. */
static struct gt_table *steps_for_people(const struct gt_breakdown *breakdown, size_t most)
{
    static struct gt_column columns[GT_TIME_KINDS + 4]; /* they outlive the table */
    bool several = breakdown->lane_count > 1;
    size_t count = 0;
    struct gt_table *table;

    if (several) {
        columns[count++] = (struct gt_column){ "process", GT_COLUMN_NUMBER };
        columns[count++] = (struct gt_column){ "gpu", GT_COLUMN_NUMBER };
    }
    columns[count++] = (struct gt_column){ "step", GT_COLUMN_WIDE };
    columns[count++] = (struct gt_column){ "time_us", GT_COLUMN_TIME };
    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
        if (breakdown->ps[kind] > 0)
            columns[count++] = (struct gt_column){ gt_time_kind_names[kind], GT_COLUMN_TIME };
    table = gt_table_new("breakdown_steps", columns, count);
    for (size_t i = 0; i < breakdown->step_count && i < most; i++) {
        const struct gt_breakdown_step *step = &breakdown->steps[i];

        if (several) {
            gt_table_integer(table, (int64_t)step->process);
            gt_table_integer(table, step->gpu);
        }
        gt_table_text(table, step->name[0] != '\0' ? step->name : NULL);
        add_us(table, step->to_ps - step->from_ps);
        for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
            if (breakdown->ps[kind] > 0)
                add_us(table, step->ps[kind]);
    }
    return table;
}

static struct gt_table *steps_for_programs(const struct gt_breakdown *breakdown)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "process", GT_COLUMN_NUMBER }, { "gpu", GT_COLUMN_NUMBER }, { "step", GT_COLUMN_WIDE },
        { "time_us", GT_COLUMN_TIME }, { "computation_us", GT_COLUMN_TIME }, { "communication_us", GT_COLUMN_TIME },
        { "copies_us", GT_COLUMN_TIME }, { "launch_us", GT_COLUMN_TIME }, { "data_loading_us", GT_COLUMN_TIME },
        { "host_us", GT_COLUMN_TIME }, { "synchronisation_us", GT_COLUMN_TIME }, { "idle_us", GT_COLUMN_TIME },
        { "counted", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("breakdown_steps", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < breakdown->step_count; i++) {
        const struct gt_breakdown_step *step = &breakdown->steps[i];

        gt_table_integer(table, (int64_t)step->process);
        gt_table_integer(table, step->gpu);
        gt_table_text(table, step->name[0] != '\0' ? step->name : NULL);
        add_us(table, step->to_ps - step->from_ps);
        for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
            add_us(table, step->ps[kind]);
        gt_table_integer(table, step->counted);
    }
    return table;
}

/* The counted steps from `first` on that are of the same process and GPU, added up into *sum; returns how many steps there
 * are, counted or not. */
static size_t sum_rank(const struct gt_breakdown *breakdown, size_t first, struct gt_breakdown_step *sum,
                       uint64_t *counted)
{
    const struct gt_breakdown_step *steps = breakdown->steps;
    size_t i = first;

    *sum = (struct gt_breakdown_step){ .process = steps[first].process, .gpu = steps[first].gpu };
    *counted = 0;
    for (; i < breakdown->step_count && steps[i].process == sum->process && steps[i].gpu == sum->gpu; i++) {
        if (!steps[i].counted)
            continue;
        ++*counted;
        sum->to_ps += steps[i].to_ps - steps[i].from_ps;
        for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
            sum->ps[kind] += steps[i].ps[kind];
    }
    return i - first;
}

/* A process on a GPU a row: the mean of a step. */
static struct gt_table *ranks_table(const struct gt_breakdown *breakdown)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "process", GT_COLUMN_NUMBER }, { "gpu", GT_COLUMN_NUMBER }, { "steps", GT_COLUMN_NUMBER },
        { "step_us", GT_COLUMN_TIME }, { "computation_us", GT_COLUMN_TIME }, { "communication_us", GT_COLUMN_TIME },
        { "copies_us", GT_COLUMN_TIME }, { "launch_us", GT_COLUMN_TIME }, { "data_loading_us", GT_COLUMN_TIME },
        { "host_us", GT_COLUMN_TIME }, { "synchronisation_us", GT_COLUMN_TIME }, { "idle_us", GT_COLUMN_TIME },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("breakdown_ranks", columns, sizeof columns / sizeof columns[0]);
    struct gt_breakdown_step sum;
    uint64_t counted;

    for (size_t i = 0; i < breakdown->step_count;) {
        i += sum_rank(breakdown, i, &sum, &counted);
        gt_table_integer(table, (int64_t)sum.process);
        gt_table_integer(table, sum.gpu);
        gt_table_integer(table, (int64_t)counted);
        gt_table_real(table, (double)sum.to_ps / (double)counted / 1e6, 3);
        for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
            gt_table_real(table, (double)sum.ps[kind] / (double)counted / 1e6, 3);
    }
    return table;
}

/* What the host did while the GPU had nothing to do, a range name a row. */
static struct gt_table *hosts_table(const struct gt_breakdown *breakdown, size_t most)
{
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT },
        { "time_us", GT_COLUMN_TIME },
        { "pct", GT_COLUMN_NUMBER },
        { "name", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("host_while_idle", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < breakdown->host_count && i < most; i++) {
        gt_table_text(table, gt_time_kind_names[breakdown->hosts[i].kind]);
        add_us(table, breakdown->hosts[i].ps);
        gt_table_real(table, 100 * (double)breakdown->hosts[i].ps / (double)breakdown->total_ps, 1);
        gt_table_text(table, breakdown->hosts[i].name);
    }
    return table;
}

static void add_node(struct gt_table *table, const struct gt_launch_node *node, bool people)
{
    bool range = node->host_ps > 0;
    char *brief = people ? gt_short_name(node->name, NAME_WIDTH) : gt_strdup(node->name);
    char *indented = gt_format("%*s%s", people ? (int)(INDENT * node->depth) : 0, "", brief);

    gt_table_text(table, node->kind);
    gt_table_integer(table, (int64_t)node->count);
    gt_table_integer(table, (int64_t)node->launches);
    add_us(table, node->gpu_ps);
    gt_table_real(table, range ? (double)node->host_ps / 1e6 : NAN, 3);
    gt_table_real(table, range ? (double)node->self_ps / 1e6 : NAN, 3);
    gt_table_text(table, indented);
    free(brief);
    free(indented);
}

/* For people: names keep their indents, so they are no column of names, which would trim them. */
static struct gt_table *tree_for_people(const struct gt_launch_tree *tree, size_t most)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT }, { "count", GT_COLUMN_NUMBER }, { "launches", GT_COLUMN_NUMBER },
        { "gpu_us", GT_COLUMN_TIME }, { "host_us", GT_COLUMN_TIME }, { "host_self_us", GT_COLUMN_TIME },
        { "name", GT_COLUMN_WIDE },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("launch_tree", columns, sizeof columns / sizeof columns[0]);
    bool *shown = gt_launch_tree_largest(tree, most);

    for (size_t i = 0; i < tree->count; i++)
        if (shown[i])
            add_node(table, &tree->nodes[i], true);
    free(shown);
    return table;
}

static struct gt_table *tree_for_programs(const struct gt_launch_tree *tree)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "node", GT_COLUMN_NUMBER }, { "parent", GT_COLUMN_NUMBER }, { "depth", GT_COLUMN_NUMBER },
        { "kind", GT_COLUMN_TEXT }, { "count", GT_COLUMN_NUMBER }, { "launches", GT_COLUMN_NUMBER },
        { "gpu_us", GT_COLUMN_TIME }, { "host_us", GT_COLUMN_TIME }, { "host_self_us", GT_COLUMN_TIME },
        { "name", GT_COLUMN_NAME },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("launch_tree", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < tree->count; i++) {
        gt_table_integer(table, (int64_t)i);
        if (tree->nodes[i].parent == GT_NONE)
            gt_table_text(table, NULL);
        else
            gt_table_integer(table, tree->nodes[i].parent);
        gt_table_integer(table, tree->nodes[i].depth);
        add_node(table, &tree->nodes[i], false);
    }
    return table;
}

int gt_breakdown_tables(const struct gt_breakdown *breakdown, enum gt_format format, size_t most,
                        struct gt_table **tables)
{
    bool people = format == GT_FORMAT_TABLE, all = !people || gt_tables_chosen();
    int count = 0;

    tables[count++] = breakdown_table(breakdown);
    if (all || breakdown->lane_count > 1)
        tables[count++] = ranks_table(breakdown);
    if (all || breakdown->step_count > 1)
        tables[count++] = people ? steps_for_people(breakdown, most) : steps_for_programs(breakdown);
    if (all || breakdown->host_count > 0)
        tables[count++] = hosts_table(breakdown, most);
    return count;
}

int gt_launch_tables(const struct gt_loaded_run *run, enum gt_format format, size_t most, struct gt_table **tables)
{
    bool people = format == GT_FORMAT_TABLE;
    struct gt_launch_tree tree;

    if (people && run->range_count == 0 && !gt_tables_chosen())
        return 0;
    gt_launch_tree_find(run, &tree);
    tables[0] = people ? tree_for_people(&tree, most) : tree_for_programs(&tree);
    gt_launch_tree_free(&tree);
    return 1;
}
