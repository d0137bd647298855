#include "traces/diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/diff/matching.h"
#include "traces/explain/explain.h"

static struct gt_diff_sum *sum_of(struct gt_diff_list *list, const char *kind, const char *name, int side)
{
    uint32_t row = gt_diff_list_row(list, kind, name); /* it may move the rows */

    return &list->rows[row].side[side];
}

static void add(struct gt_diff_sum *sum, uint64_t times, gt_time_ps ps, gt_time_ps part_ps)
{
    sum->times += times;
    sum->ps += ps;
    sum->part_ps += part_ps;
}

static void sum_path(struct gt_diff *diff, int side)
{
    const struct gt_stats *stats = diff->side[side]->stats;
    const struct gt_limits *limits = &diff->side[side]->limits;
    gt_time_ps rest_ps = limits->path_ps;

    for (size_t i = 0; i < stats->path_count; i++) {
        const struct gt_stats_path_part *part = &stats->path[i];
        const char *kind = gt_path_kind_names[part->kind];

        add(sum_of(&diff->path, NULL, kind, side), part->segments, part->total_ps, 0);
        add(sum_of(&diff->path_names, kind, part->name, side), part->segments, part->total_ps, 0);
    }
    for (size_t i = 0; i < limits->operator_count; i++) {
        const struct gt_limit_share *share = &limits->operators[i];

        add(sum_of(&diff->path_operators, NULL, share->name, side), 0, share->path_ps, 0);
        rest_ps -= share->path_ps;
    }
    if (diff->side[0]->limits.operator_count + diff->side[1]->limits.operator_count > 0)
        add(sum_of(&diff->path_operators, NULL, "-", side), 0, rest_ps, 0);
}

static void sum_gaps(struct gt_diff *diff, int side)
{
    size_t count;
    struct gt_gap *gaps = gt_gaps(diff->side[side]->run, 1, &count);

    for (size_t i = 0; i < count; i++)
        add(sum_of(&diff->gaps, NULL,
                   diff->side[side]->run->simulated ? gt_why_names[gaps[i].hold.why] : "not recorded", side),
            1, gaps[i].to_ps - gaps[i].from_ps, 0);
    free(gaps);
}

static void sum_calls(struct gt_diff *diff, int side)
{
    const struct gt_loaded_run *run = diff->side[side]->run;

    for (uint32_t i = 0; i < run->call_count; i++)
        if (run->calls[i].there)
            add(sum_of(&diff->calls, NULL, run->names[run->calls[i].name], side), 1,
                run->calls[i].end_ps - run->calls[i].start_ps, run->calls[i].blocked_ps);
}

/* Copies go by direction alone: whether memory is pinned is what two runs may differ in. */
static void name_copy(uint8_t direction, char *name, size_t bytes)
{
    snprintf(name, bytes, "copy %s", direction < GT_DIRECTIONS ? gt_direction_names[direction] : "unknown");
}

static uint32_t row_of_op(struct gt_diff *diff, const struct gt_loaded_run *run, gt_op_index op)
{
    const char *kind = gt_op_kind_names[run->ops[op].kind];
    char name[64];

    if (run->ops[op].kind == GT_OP_KERNEL)
        return gt_diff_list_row(&diff->ops, kind, run->kernels[run->ops[op].kernel].name);
    if (run->ops[op].kind != GT_OP_COPY)
        return gt_diff_list_row(&diff->ops, kind, kind);
    name_copy(run->ops[op].direction, name, sizeof name);
    return gt_diff_list_row(&diff->ops, kind, name);
}

/* The run's operations by number, with the row that each is summed up in. */
struct sequence {
    gt_op_index *ops;
    uint32_t *rows, count;
};

static struct sequence list_ops(struct gt_diff *diff, int side)
{
    const struct gt_loaded_run *run = diff->side[side]->run;
    struct sequence s = { .ops = gt_calloc(run->op_count + 1ull, sizeof *s.ops),
                          .rows = gt_calloc(run->op_count + 1ull, sizeof *s.rows) };

    for (uint32_t i = 0; i < run->op_count; i++) {
        const struct gt_loaded_op *op = &run->ops[i];
        struct gt_diff_sum *sum;

        if (!op->there)
            continue;
        s.ops[s.count] = i;
        s.rows[s.count] = row_of_op(diff, run, i);
        sum = &diff->ops.rows[s.rows[s.count++]].side[side];
        add(sum, 1, op->end_ps - op->start_ps, 0);
        sum->bytes += op->bytes;
        if (op->kind == GT_OP_COPY)
            sum->memories |= UINT32_C(1) << (op->memory < GT_MEMORIES ? op->memory : GT_MEMORIES);
    }
    return s;
}

static void sum_bare_copies(struct gt_diff *diff, int side)
{
    size_t count;
    struct gt_bare_copies *copies = gt_bare_copies(diff->side[side]->run, NULL, &count);
    char name[64];

    for (size_t i = 0; i < count; i++) {
        name_copy(copies[i].direction, name, sizeof name);
        add(sum_of(&diff->ops, gt_op_kind_names[GT_OP_COPY], name, side), 0, 0, copies[i].bare_ps);
    }
    free(copies);
}

static gt_time_ps time_of(const struct gt_diff *diff, int side, gt_op_index op)
{
    const struct gt_loaded_op *ops = diff->side[side]->run->ops;

    return op == GT_NONE ? 0 : ops[op].end_ps - ops[op].start_ps;
}

static void keep(struct gt_diff *diff, gt_op_index a, gt_op_index b)
{
    gt_time_ps a_ps = time_of(diff, 0, a), b_ps = time_of(diff, 1, b);

    diff->matched += a != GT_NONE && b != GT_NONE;
    diff->added += a == GT_NONE;
    diff->removed += b == GT_NONE;
    if (a_ps != b_ps || a == GT_NONE || b == GT_NONE)
        diff->changed[diff->changed_count++] =
            (struct gt_diff_op){ { a, b }, a_ps > b_ps ? a_ps - b_ps : b_ps - a_ps };
}

static int by_weight(const void *left, const void *right)
{
    const struct gt_diff_op *a = left, *b = right;

    if (a->weight_ps != b->weight_ps)
        return a->weight_ps > b->weight_ps ? -1 : 1;
    if (a->op[1] != b->op[1])
        return a->op[1] < b->op[1] ? -1 : 1;
    return (a->op[0] > b->op[0]) - (a->op[0] < b->op[0]);
}

static void match(struct gt_diff *diff, const struct sequence *a, const struct sequence *b)
{
    uint32_t *b_of_a = gt_calloc(a->count + 1ull, sizeof *b_of_a);
    bool *matched = gt_calloc(b->count + 1ull, sizeof *matched);

    gt_match(a->rows, a->count, b->rows, b->count, diff->ops.count, b_of_a);
    diff->changed = gt_calloc((uint64_t)a->count + b->count + 1, sizeof *diff->changed);
    for (uint32_t i = 0; i < a->count; i++) {
        struct gt_diff_row *row = &diff->ops.rows[a->rows[i]];

        if (b_of_a[i] != UINT32_MAX) {
            matched[b_of_a[i]] = true;
            keep(diff, a->ops[i], b->ops[b_of_a[i]]);
            continue;
        }
        row->removed++;
        row->removed_ps += time_of(diff, 0, a->ops[i]);
        keep(diff, a->ops[i], GT_NONE);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        struct gt_diff_row *row = &diff->ops.rows[b->rows[i]];

        if (matched[i])
            continue;
        row->added++;
        row->added_ps += time_of(diff, 1, b->ops[i]);
        keep(diff, GT_NONE, b->ops[i]);
    }
    if (diff->changed_count > 0)
        qsort(diff->changed, diff->changed_count, sizeof *diff->changed, by_weight);
    free(b_of_a);
    free(matched);
}

static void compare_ops(struct gt_diff *diff)
{
    struct sequence a = list_ops(diff, 0), b = list_ops(diff, 1);

    match(diff, &a, &b);
    for (int side = 0; side < 2; side++)
        sum_bare_copies(diff, side);
    free(a.ops);
    free(a.rows);
    free(b.ops);
    free(b.rows);
}

static const struct gt_stats_step *step_of(const struct gt_diff *diff, int side, size_t index)
{
    const struct gt_stats *stats = diff->side[side]->stats;

    return index < stats->step_count ? &stats->steps[index] : NULL;
}

/* The first step with the first: their names have numbers that depend on when recording began. */
static void compare_steps(struct gt_diff *diff)
{
    const size_t counts[2] = { diff->side[0]->stats->step_count, diff->side[1]->stats->step_count };

    for (size_t i = 0; i < counts[0] || i < counts[1]; i++) {
        const struct gt_stats_step *steps[2] = { step_of(diff, 0, i), step_of(diff, 1, i) };
        const char *first = steps[0] != NULL ? steps[0]->name : steps[1]->name;
        bool renamed = steps[0] != NULL && steps[1] != NULL && strcmp(first, steps[1]->name) != 0;
        char *name = gt_format("%zu: %s%s%s", i + 1, first, renamed ? " -> " : "", renamed ? steps[1]->name : "");
        uint32_t row = gt_diff_list_row(&diff->steps, NULL, name);

        for (int side = 0; side < 2; side++)
            if (steps[side] != NULL)
                add(&diff->steps.rows[row].side[side], 1, steps[side]->end_ps - steps[side]->start_ps,
                    steps[side]->busy_ps);
        free(name);
    }
}

static void sum_operators(struct gt_diff *diff, int side)
{
    const struct gt_stats *stats = diff->side[side]->stats;

    for (size_t i = 0; i < stats->operator_count; i++)
        add(sum_of(&diff->operators, stats->operators[i].kind, stats->operators[i].name, side),
            stats->operators[i].count, stats->operators[i].self_ps, stats->operators[i].gpu_self_ps);
}

void gt_diff_make(const struct gt_diff_side *a, const struct gt_diff_side *b, struct gt_diff *diff)
{
    *diff = (struct gt_diff){ .side = { a, b }, .causes = a->run->simulated && b->run->simulated };
    for (int side = 0; side < 2; side++) {
        if (diff->causes)
            sum_path(diff, side);
        sum_gaps(diff, side);
        sum_calls(diff, side);
        sum_operators(diff, side);
    }
    compare_ops(diff);
    compare_steps(diff);
    gt_diff_list_finish(&diff->path, false);
    gt_diff_list_finish(&diff->path_names, false);
    gt_diff_list_finish(&diff->path_operators, false);
    gt_diff_list_finish(&diff->gaps, false);
    gt_diff_list_finish(&diff->ops, false);
    gt_diff_list_finish(&diff->calls, false);
    gt_diff_list_finish(&diff->steps, false);
    gt_diff_list_finish(&diff->operators, true);
}

void gt_diff_free(struct gt_diff *diff)
{
    gt_diff_list_free(&diff->path);
    gt_diff_list_free(&diff->path_names);
    gt_diff_list_free(&diff->path_operators);
    gt_diff_list_free(&diff->gaps);
    gt_diff_list_free(&diff->ops);
    gt_diff_list_free(&diff->calls);
    gt_diff_list_free(&diff->steps);
    gt_diff_list_free(&diff->operators);
    free(diff->changed);
}

static int load(struct gt_database *database, int64_t run_id, struct gt_diff_side *side, struct gt_error *error)
{
    side->stats = gt_stats_compute(database, run_id, NULL, error);
    if (side->stats == NULL)
        return -1;
    side->run = gt_loaded_run_load(database, run_id, error);
    if (side->run == NULL)
        return -1;
    return side->run->simulated ? gt_limits_of(side->run, side->stats, side->stats, &side->limits, error) : 0;
}

int gt_diff_side_load(struct gt_database *database, const char *kind, struct gt_diff_side *side,
                      struct gt_error *error)
{
    int64_t run_id;

    *side = (struct gt_diff_side){ .run = NULL };
    run_id = gt_stats_find_run(database, kind, error);
    if (run_id < 0)
        return -1;
    return load(database, run_id, side, error) == 0 ? 0 : gt_database_name_error(database, error);
}

void gt_diff_side_free(struct gt_diff_side *side)
{
    gt_loaded_run_free(side->run);
    gt_stats_free(side->stats);
    gt_limits_free(&side->limits);
}

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"

struct gt_diff_name {
    UT_hash_handle hh;
    char *key; /* "KIND NAME" */
    uint32_t row;
};

uint32_t gt_diff_list_row(struct gt_diff_list *list, const char *kind, const char *name)
{
    char *key = gt_format("%s %s", kind != NULL ? kind : "", name);
    size_t length = strlen(key);
    struct gt_diff_name *named;

    HASH_FIND(hh, list->names, key, length, named);
    if (named != NULL) {
        free(key);
        return named->row;
    }
    gt_array_grow(list->rows, list->count, list->room);
    list->rows[list->count] = (struct gt_diff_row){ .kind = kind, .name = gt_strdup(name) };
    named = gt_calloc(1, sizeof *named);
    *named = (struct gt_diff_name){ .key = key, .row = list->count++ };
    HASH_ADD_KEYPTR(hh, list->names, key, length, named);
    return named->row;
}

static uint64_t between(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a - b : b - a;
}

static int by_row_weight(const void *left, const void *right)
{
    const struct gt_diff_row *a = left, *b = right;
    int kinds = strcmp(a->kind != NULL ? a->kind : "", b->kind != NULL ? b->kind : "");

    if (a->weight_ps != b->weight_ps)
        return a->weight_ps > b->weight_ps ? -1 : 1;
    return kinds != 0 ? kinds : strcmp(a->name, b->name);
}

static void free_names(struct gt_diff_list *list)
{
    struct gt_diff_name *named, *next;

    HASH_ITER(hh, list->names, named, next)
    {
        HASH_DEL(list->names, named);
        free(named->key);
        free(named);
    }
}

void gt_diff_list_finish(struct gt_diff_list *list, bool parts_too)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct gt_diff_row *row = &list->rows[i];

        row->weight_ps = between(row->side[0].ps, row->side[1].ps) +
                         (parts_too ? between(row->side[0].part_ps, row->side[1].part_ps) : 0);
        list->changed_ps += (double)row->weight_ps;
    }
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, by_row_weight);
    free_names(list);
}

void gt_diff_list_free(struct gt_diff_list *list)
{
    free_names(list);
    for (uint32_t i = 0; i < list->count; i++)
        free(list->rows[i].name);
    free(list->rows);
    *list = (struct gt_diff_list){ .rows = NULL };
}
