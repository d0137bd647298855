#include "sim/workload/child_launches.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

const char *const gt_launch_into_names[GT_INTOS] = {
    [GT_INTO_NULL] = "null",
    [GT_INTO_STREAM] = "stream",
    [GT_INTO_FIRE_AND_FORGET] = "fire_and_forget",
    [GT_INTO_TAIL] = "tail",
};

struct gt_launch_rule *gt_launch_rules_copy(const struct gt_launch_rule *rules, uint32_t count)
{
    struct gt_launch_rule *copy;

    if (count == 0)
        return NULL;
    copy = gt_realloc(NULL, count, sizeof *copy);
    memcpy(copy, rules, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) {
        if (rules[i].block_list_length == 0)
            continue;
        copy[i].block_list = gt_realloc(NULL, rules[i].block_list_length, sizeof *copy[i].block_list);
        memcpy(copy[i].block_list, rules[i].block_list, rules[i].block_list_length * sizeof *copy[i].block_list);
    }
    return copy;
}

void gt_launch_rules_free(struct gt_launch_rule *rules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(rules[i].block_list);
    free(rules);
}

static const struct gt_kernel *kernel_of(const struct gt_workload *w, gt_op_index op)
{
    return &w->kernels[w->ops[op].kernel];
}

/* The nth block of a grid that follows the rule; UINT64_MAX: there are not so many. */
static uint64_t launching_block(const struct gt_launch_rule *rule, uint64_t blocks, uint64_t n)
{
    uint64_t block = UINT64_MAX;

    switch ((enum gt_launch_blocks)rule->blocks) {
    case GT_BLOCKS_ALL: block = n; break;
    case GT_BLOCKS_FIRST: block = n == 0 ? 0 : UINT64_MAX; break;
    case GT_BLOCKS_LAST: block = n == 0 ? blocks - 1 : UINT64_MAX; break;
    case GT_BLOCKS_EVERY: block = n * rule->every; break;
    case GT_BLOCKS_LIST: block = n < rule->block_list_length ? rule->block_list[n] : UINT64_MAX; break;
    }
    return block < blocks ? block : UINT64_MAX;
}

/* What is still to be put into order: one launch, before it is an operation. */
struct launch {
    uint64_t block;
    double at;
    uint32_t rule;
};

struct expansion {
    struct gt_workload *w;
    gt_op_index first; /* that the host launches */
    struct launch *launches;
    uint32_t count, room;
};

static int by_time(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

static int too_many(const struct expansion *e, struct gt_error *error)
{
    return gt_error_set(error,
                        "a launch of kernel %.200s makes more than %d further ones; fewer blocks, or a smaller "
                        "\"depth\" or \"count\" of its \"launches\" keep it in bounds",
                        gt_name_text(e->w, kernel_of(e->w, e->first)->name), GT_MOST_CHILDREN);
}

static int too_many_in_all(const struct expansion *e, struct gt_error *error)
{
    return gt_error_set(
        error,
        "the trace's kernels launch more than %d further ones together, the last of them kernel %.200s; "
        "leave launches out, or make \"depth\" or \"count\" of their \"launches\" smaller",
        GT_MOST_CHILDREN_IN_ALL, gt_name_text(e->w, kernel_of(e->w, e->first)->name));
}

/* All launches of one grid, by rule. */
static int collect(struct expansion *e, gt_op_index parent, uint32_t depth, struct gt_error *error)
{
    const struct gt_kernel *kernel = kernel_of(e->w, parent);
    uint64_t blocks = gt_kernel_blocks(kernel), block;

    e->count = 0;
    for (uint32_t i = 0; i < kernel->launch_count; i++) {
        const struct gt_launch_rule *rule = &kernel->launches[i];

        if (depth >= rule->depth)
            continue;
        for (uint64_t n = 0; (block = launching_block(rule, blocks, n)) != UINT64_MAX; n++) {
            if (e->count + (uint64_t)(e->w->op_count - e->first) + rule->count > GT_MOST_CHILDREN)
                return too_many(e, error);
            if (e->count + (uint64_t)e->w->child_launch_count + rule->count > GT_MOST_CHILDREN_IN_ALL)
                return too_many_in_all(e, error);
            for (uint32_t j = 0; j < rule->count; j++) {
                gt_array_grow(e->launches, e->count, e->room);
                e->launches[e->count++] = (struct launch){ block, rule->at, i };
            }
        }
    }
    if (e->count > 0)
        qsort(e->launches, e->count, sizeof *e->launches, by_time);
    return 0;
}

static void add_children(struct expansion *e, gt_op_index parent, uint32_t depth)
{
    struct gt_workload *w = e->w;

    for (uint32_t i = 0; i < e->count; i++) {
        gt_op_index op = gt_workload_add_op(w);
        const struct gt_launch_rule *rule = &kernel_of(w, parent)->launches[e->launches[i].rule];

        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].call = w->ops[parent].call;
        w->ops[op].stream = w->ops[parent].stream;
        w->ops[op].kernel = rule->kernel != GT_NONE ? rule->kernel : w->ops[parent].kernel;
        w->calls[w->ops[op].call].ops++;
        gt_array_grow(w->child_launches, w->child_launch_count, w->child_launch_room);
        w->child_launches[w->child_launch_count++] =
            (struct gt_child_launch){ op, parent, e->launches[i].block, e->launches[i].rule, depth + 1 };
    }
}

/* Grid after grid, as they were added: so each grid's launches stand together, before those of its children. */
int gt_child_launches_expand(struct gt_workload *w, gt_op_index op, struct gt_error *error)
{
    struct expansion e = { .w = w, .first = op };
    int result = 0;

    for (gt_op_index parent = op; parent < w->op_count && result == 0; parent++) {
        const struct gt_child_launch *launched = gt_child_launch_of(w, parent);
        uint32_t depth = launched != NULL ? launched->depth : 0;

        result = collect(&e, parent, depth, error);
        if (result == 0)
            add_children(&e, parent, depth);
    }
    free(e.launches);
    return result;
}

const struct gt_child_launch *gt_child_launch_of(const struct gt_workload *w, gt_op_index op)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, w->child_launch_count, w->child_launches[middle].op < op);
    return low < w->child_launch_count && w->child_launches[low].op == op ? &w->child_launches[low] : NULL;
}

const struct gt_launch_rule *gt_child_launch_rule(const struct gt_workload *w, const struct gt_child_launch *child)
{
    return &kernel_of(w, child->parent)->launches[child->rule];
}

uint32_t gt_child_launches_by(const struct gt_workload *w, gt_op_index op, uint32_t *first)
{
    uint32_t low = 0, high = w->child_launch_count, count = 0;

    while (low < high) { /* parents rise, as their children do */
        uint32_t middle = low + (high - low) / 2;

        if (w->child_launches[middle].parent < op)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low + count < w->child_launch_count && w->child_launches[low + count].parent == op)
        count++;
    return count;
}

static int check_rule(const struct gt_launch_rule *rule, gt_kernel_index index, struct gt_error *error)
{
    if (rule->kernel != GT_NONE && rule->kernel >= index)
        return gt_error_set(error, "it launches a kernel that is not defined before it");
    if (rule->kernel == GT_NONE && rule->depth == GT_ANY_DEPTH)
        return gt_error_set(error, "it launches itself for ever; give a \"depth\"");
    if (rule->into >= GT_INTOS || rule->count == 0 || !(rule->at >= 0 && rule->at <= 1))
        return gt_error_set(error, "a launch of its blocks has a count of 0, a time that is no share of the block's, "
                                   "0 to 1, or goes into no known stream");
    if (rule->blocks > GT_BLOCKS_LIST || (rule->blocks == GT_BLOCKS_EVERY && rule->every == 0) ||
        (rule->blocks == GT_BLOCKS_LIST && (rule->block_list == NULL || rule->block_list_length == 0)))
        return gt_error_set(error, "which of its blocks launch is not said");
    return 0;
}

int gt_launch_rules_check(const struct gt_workload *w, gt_kernel_index index, struct gt_error *error)
{
    const struct gt_kernel *kernel = &w->kernels[index];

    if (kernel->launch_count > 0 && kernel->cost == GT_COST_NONE)
        return gt_error_set(error,
                            "its blocks launch kernels at times that are shares of a block's: give \"block_us\" "
                            "or \"block_list_us\"");
    if (kernel->launch_count > 0 && (kernel->program != NULL || kernel->tasks != NULL))
        return gt_error_set(error, "its blocks launch kernels, and it has a program or tasks too; give one");
    for (uint32_t i = 0; i < kernel->launch_count; i++)
        if (check_rule(&kernel->launches[i], index, error) != 0)
            return -1;
    return 0;
}
