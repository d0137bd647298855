/* Operators, annotations, modules: the host's time in each, and the GPU's for what it launched. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "traces/stats/internal.h"

/* How deep to look for a range of the same name around another: what calls itself counts once. */
enum { DEPTH_MAX = 256 };

struct range {
    gt_time_ps host_ps, inner_ps; /* its own time; of ranges directly in it */
    gt_time_ps gpu_self_ps, gpu_ps;
    uint64_t operations;
    uint32_t parent; /* GT_NONE */
    uint32_t out;    /* in stats->operators */
    bool nested;     /* can be in another's time */
    bool placed;     /* the run knows when it was */
};

struct key { /* of an operator, while ranges pass */
    char *text;
    uint32_t out;
    UT_hash_handle hh;
};

struct operators {
    struct gt_stats_work *work;
    struct range *ranges; /* by range_no */
    uint32_t count, room;
    struct key *keys;
    size_t out_room;
};

/* The operator of that kind and name; made where it is new. */
static uint32_t operator_of(struct operators *operators, const char *kind, const char *name)
{
    struct gt_stats *stats = operators->work->stats;
    char *text = gt_format("%s %s", kind, name);
    struct key *key;

    HASH_FIND(hh, operators->keys, text, strlen(text), key);
    if (key != NULL) {
        free(text);
        return key->out;
    }
    gt_array_grow(stats->operators, stats->operator_count, operators->out_room);
    key = gt_calloc(1, sizeof *key);
    key->text = text;
    key->out = (uint32_t)stats->operator_count;
    HASH_ADD_KEYPTR(hh, operators->keys, key->text, strlen(text), key);
    stats->operators[stats->operator_count++] =
        (struct gt_stats_operator){ .kind = gt_strdup(kind), .name = gt_strdup(name) };
    return key->out;
}

static void free_keys(struct operators *operators)
{
    struct key *key, *next;

    HASH_ITER(hh, operators->keys, key, next)
    {
        HASH_DEL(operators->keys, key);
        free(key->text);
        free(key);
    }
}

enum {
    RANGE_NO,
    RANGE_KIND,
    RANGE_NAME,
    RANGE_PARENT,
    RANGE_NESTED,
    RANGE_START,
    RANGE_END,
    RANGE_FIRST_CALL,
    RANGE_BEHIND_CALL
};

/* Of a step, or a part of the time, the ranges that begin there. */
static bool is_in(const struct gt_selection *selection, struct gt_query *query, gt_time_ps start_ps)
{
    int64_t behind = gt_query_integer(query, RANGE_BEHIND_CALL);

    return start_ps >= selection->from_ps && start_ps < selection->to_ps && behind >= 0 &&
           (uint64_t)behind >= selection->first_call &&
           (uint64_t)gt_query_integer(query, RANGE_FIRST_CALL) <= selection->end_call;
}

static int read_range(struct operators *operators, struct gt_query *query, struct gt_error *error)
{
    const char *kind = gt_query_string(query, RANGE_KIND), *name = gt_query_string(query, RANGE_NAME);
    struct range range = { .parent = GT_NONE, .nested = gt_query_integer(query, RANGE_NESTED) != 0 };
    gt_time_ps start_ps, end_ps;
    uint64_t parent;

    if (gt_query_integer(query, RANGE_NO) != operators->count || kind == NULL || name == NULL)
        return gt_error_set(error, "range %" PRIu32 " is missing; the store is damaged", operators->count);
    if (!gt_query_absent(query, RANGE_PARENT)) {
        if (operators->count == 0 ||
            gt_query_number(query, RANGE_PARENT, operators->count - 1, "parent_no", &parent, error) != 0)
            return gt_error_set(error, "range %" PRIu32 " has a later range as its parent; the store is damaged",
                                operators->count);
        range.parent = (uint32_t)parent;
    }
    if (!gt_query_absent(query, RANGE_START)) {
        if (gt_query_span(query, RANGE_START, "range", operators->count, &start_ps, &end_ps, error) != 0)
            return -1;
        range.host_ps = end_ps - start_ps;
        range.placed = is_in(&operators->work->selection, query, start_ps);
    }
    range.out = operator_of(operators, kind, name);
    gt_array_grow(operators->ranges, operators->count, operators->room);
    operators->ranges[operators->count++] = range;
    return 0;
}

static int add_gpu_time(struct operators *operators, struct gt_query *query, struct gt_error *error)
{
    struct range *range;
    uint64_t number, time_ps;

    if (!gt_selection_has_op(&operators->work->selection, gt_query_integer(query, 2)))
        return 0;
    if (operators->count == 0 ||
        gt_query_number(query, 0, operators->count - 1, "call_range.range_no", &number, error) != 0 ||
        gt_query_number(query, 1, GT_TIME_LIMIT_PS, "time of an operation", &time_ps, error) != 0)
        return gt_error_set(error, "a call is in a range that does not exist; the store is damaged");
    range = &operators->ranges[number];
    range->gpu_self_ps = range->gpu_ps = gt_time_add(range->gpu_ps, time_ps);
    range->operations++;
    return 0;
}

static int each_row(struct operators *operators, const char *sql,
                    int (*add)(struct operators *, struct gt_query *, struct gt_error *), struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(operators->work, sql, error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        if (add(operators, query, error) != 0) {
            result = -1;
            break;
        }
    }
    gt_query_end(query);
    return result;
}

/* Is it within one of the same kind and name? */
static bool is_recursive(const struct operators *operators, const struct range *range)
{
    uint32_t around = range->parent;

    for (int depth = 0; depth < DEPTH_MAX && around != GT_NONE; depth++, around = operators->ranges[around].parent)
        if (operators->ranges[around].out == range->out)
            return true;
    return false;
}

/* From the innermost outwards: a range comes behind the one that it is in. */
static void add_to_parents(struct operators *operators)
{
    for (uint32_t i = operators->count; i-- > 0;) {
        const struct range *range = &operators->ranges[i];
        struct range *parent;

        if (range->parent == GT_NONE || !range->nested)
            continue;
        parent = &operators->ranges[range->parent];
        parent->inner_ps = gt_time_add(parent->inner_ps, range->host_ps);
        parent->gpu_ps = gt_time_add(parent->gpu_ps, range->gpu_ps);
        parent->operations += range->operations;
    }
}

static void sum_up(struct operators *operators)
{
    for (uint32_t i = 0; i < operators->count; i++) {
        const struct range *range = &operators->ranges[i];
        struct gt_stats_operator *out = &operators->work->stats->operators[range->out];

        if (!range->placed)
            continue;
        out->count++;
        if (range->host_ps > range->inner_ps)
            out->self_ps = gt_time_add(out->self_ps, range->host_ps - range->inner_ps);
        out->gpu_self_ps = gt_time_add(out->gpu_self_ps, range->gpu_self_ps);
        if (is_recursive(operators, range))
            continue;
        out->total_ps = gt_time_add(out->total_ps, range->host_ps);
        out->gpu_ps = gt_time_add(out->gpu_ps, range->gpu_ps);
        out->operations += range->operations;
    }
}

/* Steps stand in a list of their own. */
static void leave_steps_out(struct gt_stats *stats)
{
    size_t kept = 0;

    for (size_t i = 0; i < stats->operator_count; i++) {
        struct gt_stats_operator *row = &stats->operators[i];

        if (row->count > 0 && strcmp(row->kind, gt_range_kind_names[GT_RANGE_STEP]) != 0) {
            stats->operators[kept++] = *row;
            continue;
        }
        free(row->kind);
        free(row->name);
    }
    stats->operator_count = kept;
}

static int by_gpu_then_host(const void *left, const void *right)
{
    const struct gt_stats_operator *a = left, *b = right;

    if (a->gpu_self_ps != b->gpu_self_ps)
        return a->gpu_self_ps > b->gpu_self_ps ? -1 : 1;
    if (a->self_ps != b->self_ps)
        return a->self_ps > b->self_ps ? -1 : 1;
    return strcmp(a->name, b->name) != 0 ? strcmp(a->name, b->name) : strcmp(a->kind, b->kind);
}

int gt_stats_operators(struct gt_stats_work *work, struct gt_error *error)
{
    struct operators operators = { .work = work };
    struct gt_stats *stats = work->stats;
    int result =
        each_row(&operators,
                 "SELECT g.range_no, g.kind, g.name, g.parent_no, g.nested, t.start_ps, t.end_ps, g.first_call,"
                 " g.behind_call"
                 " FROM range g LEFT JOIN run_range t ON t.run_id = ?1 AND t.range_no = g.range_no"
                 " WHERE g.trace_id = ?2 ORDER BY g.range_no",
                 read_range, error);

    if (result == 0)
        result = each_row(&operators,
                          "SELECT c.range_no, p.end_ps - p.start_ps, p.op_no FROM run_op p"
                          " JOIN op o ON o.trace_id = ?2 AND o.op_no = p.op_no AND o.kind <> 'host_function'"
                          " JOIN call_range c ON c.trace_id = ?2 AND c.call_no = o.call_no"
                          " WHERE p.run_id = ?1 AND c.range_no IS NOT NULL",
                          add_gpu_time, error);
    if (result == 0) {
        add_to_parents(&operators);
        sum_up(&operators);
        leave_steps_out(stats);
        if (stats->operator_count > 0)
            qsort(stats->operators, stats->operator_count, sizeof *stats->operators, by_gpu_then_host);
    }
    free_keys(&operators);
    free(operators.ranges);
    return result;
}
