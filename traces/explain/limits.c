#include "traces/explain/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"
#include "traces/explain/host_time.h"
#include "traces/explain/part.h"

/* What the kinds of the path's parts come to for people who ask what a run is bound by. */
static const char *const bounds[GT_PATH_KINDS] = {
    [GT_PATH_KERNEL] = "kernels",     [GT_PATH_COPY] = "copies",     [GT_PATH_MEMSET] = "copies",
    [GT_PATH_HOST_FUNCTION] = "host", [GT_PATH_LAUNCH] = "launches", [GT_PATH_GAP] = "gaps",
    [GT_PATH_API] = "host",           [GT_PATH_HOST_WORK] = "host",  [GT_PATH_UNKNOWN] = "unknown",
};

static bool is_host(enum gt_path_kind kind)
{
    return kind == GT_PATH_API || kind == GT_PATH_HOST_WORK || kind == GT_PATH_HOST_FUNCTION;
}

static int by_path(const void *a, const void *b)
{
    const struct gt_limit_cause *left = a, *right = b;

    return (left->path_ps < right->path_ps) - (left->path_ps > right->path_ps);
}

/* `by_part`: the time that counts, of each part of the statistics' path. */
static void sum_causes(const struct gt_stats *stats, const gt_time_ps *by_part, struct gt_limits *limits)
{
    struct gt_limit_cause causes[GT_PATH_KINDS] = { { 0 } };
    gt_time_ps most_ps[GT_PATH_KINDS] = { 0 };

    for (size_t i = 0; i < stats->path_count; i++) {
        const struct gt_stats_path_part *part = &stats->path[i];
        struct gt_limit_cause *cause = &causes[part->kind];

        cause->kind = part->kind;
        cause->path_ps += by_part[i];
        limits->path_ps += by_part[i];
        if (by_part[i] > most_ps[part->kind]) {
            most_ps[part->kind] = by_part[i];
            snprintf(cause->most, sizeof cause->most, "%s", part->name);
        }
    }
    for (int kind = 0; kind < GT_PATH_KINDS; kind++) {
        if (causes[kind].path_ps == 0)
            continue;
        causes[kind].share = (double)causes[kind].path_ps / (double)limits->path_ps;
        limits->causes[limits->cause_count++] = causes[kind];
    }
    qsort(limits->causes, limits->cause_count, sizeof *limits->causes, by_path);
}

/* Kinds that go by one word together. */
static void find_bound(struct gt_limits *limits)
{
    limits->bound_by = "nothing";
    for (size_t i = 0; i < limits->cause_count; i++) {
        double share = 0;

        for (size_t j = 0; j < limits->cause_count; j++)
            if (strcmp(bounds[limits->causes[j].kind], bounds[limits->causes[i].kind]) == 0)
                share += limits->causes[j].share;
        if (share > limits->bound_share) {
            limits->bound_share = share;
            limits->bound_by = bounds[limits->causes[i].kind];
        }
    }
}

/* Which step and which operator each call was made for, by number among their names; GT_NONE: none. */
struct attribution {
    uint32_t *step_of, *operator_of; /* by call */
    struct gt_limit_share *steps, *operators;
    size_t step_count, operator_count, step_room, operator_room;
    struct named {
        UT_hash_handle hh;
        uint32_t index;
    } * names;
};

/* Operators of one name are one; steps have names of their own. */
static uint32_t operator_named(struct attribution *a, const char *name)
{
    size_t length = strlen(name);
    struct named *named;

    HASH_FIND(hh, a->names, name, length, named);
    if (named != NULL)
        return named->index;
    gt_array_grow(a->operators, a->operator_count, a->operator_room);
    a->operators[a->operator_count] = (struct gt_limit_share){ .name = gt_strdup(name) };
    named = gt_calloc(1, sizeof *named);
    named->index = (uint32_t)a->operator_count++;
    HASH_ADD_KEYPTR(hh, a->names, a->operators[named->index].name, length, named);
    return named->index;
}

/* Ranges come outer ones first, so that the innermost stays. */
static void attribute(const struct gt_loaded_run *t, struct attribution *a)
{
    for (uint32_t i = 0; i < t->range_count; i++) {
        const struct gt_loaded_range *range = &t->ranges[i];

        if (!range->step)
            continue;
        gt_array_grow(a->steps, a->step_count, a->step_room);
        a->steps[a->step_count] = (struct gt_limit_share){ .name = gt_strdup(range->name) };
        for (uint32_t call = range->first_call; call < range->end_call; call++)
            a->step_of[call] = (uint32_t)a->step_count;
        a->step_count++;
    }
    for (uint32_t i = 0; i < t->call_count; i++) {
        uint32_t range = t->calls[i].range;

        if (range != GT_NONE && !t->ranges[range].step)
            a->operator_of[i] = operator_named(a, t->ranges[range].name);
    }
}

/* Segments come in order of time.  A thread's own work belongs to the step of the call behind it, and to the operators
 * that were open meanwhile. */
struct summing {
    const struct gt_loaded_run *t;
    struct attribution *a;
    gt_time_ps *by_part;
    struct gt_stats_segment own_work; /* the thread is not known before the next segment */
    bool working;
};

static void add_time(struct gt_limit_share *share, enum gt_path_kind kind, gt_time_ps time_ps)
{
    share->path_ps += time_ps;
    share->host_ps += is_host(kind) ? time_ps : 0;
    share->launch_ps += kind == GT_PATH_LAUNCH ? time_ps : 0;
}

static void add_host_piece(void *user, const struct gt_host_piece *piece)
{
    struct summing *s = user;
    uint32_t number = operator_named(s->a, gt_host_range_name(s->t, piece->range));

    add_time(&s->a->operators[number], GT_PATH_HOST_WORK, piece->to_ps - piece->from_ps);
}

/* `call`: the segment's, or of own work the one behind it. */
static void sum_for(struct summing *s, const struct gt_stats_segment *segment, uint32_t call)
{
    struct attribution *a = s->a;
    gt_time_ps from_ps, to_ps, time_ps = gt_part_of_segment(s->t, segment, call, &from_ps, &to_ps);

    s->by_part[segment->part] += time_ps;
    if (call == GT_NONE || time_ps == 0)
        return;
    if (a->step_of[call] != GT_NONE)
        add_time(&a->steps[a->step_of[call]], segment->kind, time_ps);
    if (segment->kind == GT_PATH_HOST_WORK || segment->kind == GT_PATH_API)
        gt_host_pieces(s->t, s->t->calls[call].thread, from_ps, to_ps, add_host_piece, s);
    else if (a->operator_of[call] != GT_NONE)
        add_time(&a->operators[a->operator_of[call]], segment->kind, time_ps);
}

static int sum_segment(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    struct summing *s = user;
    int64_t call = segment->call;

    (void)error;
    if (call < 0 && segment->op >= 0 && segment->op < s->t->op_count)
        call = s->t->ops[segment->op].call;
    if (call >= s->t->call_count)
        call = -1;
    if (s->working)
        sum_for(s, &s->own_work, call < 0 ? GT_NONE : (uint32_t)call);
    s->working = call < 0 && segment->kind == GT_PATH_HOST_WORK;
    if (s->working)
        s->own_work = *segment;
    else
        sum_for(s, segment, call < 0 ? GT_NONE : (uint32_t)call);
    return 0;
}

static int by_share(const void *a, const void *b)
{
    const struct gt_limit_share *left = a, *right = b;

    if (left->path_ps != right->path_ps)
        return left->path_ps > right->path_ps ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Those with a part of the path, most first. */
static size_t keep(struct gt_limit_share *shares, size_t count, gt_time_ps path_ps)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        shares[i].share = path_ps > 0 ? (double)shares[i].path_ps / (double)path_ps : 0;
        if (shares[i].path_ps > 0)
            shares[kept++] = shares[i];
        else
            free(shares[i].name);
    }
    if (kept > 0)
        qsort(shares, kept, sizeof *shares, by_share);
    return kept;
}

static int share_out(const struct gt_loaded_run *t, struct gt_stats *stats, struct gt_limits *limits,
                     struct gt_error *error)
{
    gt_time_ps *by_part = gt_calloc(stats->path_count + 1, sizeof *by_part);
    struct attribution a = { .step_of = gt_realloc(NULL, t->call_count + 1ull, sizeof(uint32_t)),
                             .operator_of = gt_realloc(NULL, t->call_count + 1ull, sizeof(uint32_t)) };
    struct named *named, *next;
    int result = 0;

    memset(a.step_of, 0xff, (t->call_count + 1ull) * sizeof *a.step_of); /* GT_NONE */
    memset(a.operator_of, 0xff, (t->call_count + 1ull) * sizeof *a.operator_of);
    attribute(t, &a);
    if (stats->path_file != NULL) {
        struct summing summing = { .t = t, .a = &a, .by_part = by_part };

        result = gt_stats_path(stats, sum_segment, &summing, error);
        if (summing.working)
            sum_for(&summing, &summing.own_work, GT_NONE);
    }
    sum_causes(stats, by_part, limits);
    free(by_part);
    HASH_ITER(hh, a.names, named, next)
    {
        HASH_DEL(a.names, named);
        free(named);
    }
    limits->steps = a.steps;
    limits->operators = a.operators;
    limits->step_count = keep(a.steps, a.step_count, limits->path_ps);
    limits->operator_count = keep(a.operators, a.operator_count, limits->path_ps);
    free(a.step_of);
    free(a.operator_of);
    return result;
}

int gt_limits_of(const struct gt_loaded_run *t, struct gt_stats *whole, const struct gt_stats *part,
                 struct gt_limits *limits, struct gt_error *error)
{
    int result;

    *limits = (struct gt_limits){ .bound_by = "nothing" };
    limits->makespan_ps = part->summary.makespan_ps;
    limits->idle_ps = part->summary.idle_ps;
    result = share_out(t, whole, limits, error);
    find_bound(limits);
    if (result != 0)
        gt_limits_free(limits);
    return result;
}

int gt_limits_find(struct gt_database *database, const struct gt_loaded_run *t, const struct gt_filter *filter,
                   struct gt_limits *limits, struct gt_error *error)
{
    struct gt_stats *whole = gt_stats_compute(database, t->run_id, NULL, error), *part = whole;
    int result = -1;

    if (whole != NULL && !gt_filter_is_all(filter))
        part = gt_stats_compute(database, t->run_id, filter, error);
    if (part != NULL)
        result = gt_limits_of(t, whole, part, limits, error);
    if (result == 0) { /* they are the limits' now */
        limits->task_kernels = part->task_kernels;
        limits->task_kernel_count = part->task_kernel_count;
        part->task_kernels = NULL;
    }
    if (part != whole)
        gt_stats_free(part);
    gt_stats_free(whole);
    return result;
}

void gt_limits_free(struct gt_limits *limits)
{
    for (size_t i = 0; i < limits->step_count; i++)
        free(limits->steps[i].name);
    for (size_t i = 0; i < limits->operator_count; i++)
        free(limits->operators[i].name);
    free(limits->steps);
    free(limits->operators);
    free(limits->task_kernels);
    limits->steps = limits->operators = NULL;
    limits->step_count = limits->operator_count = 0;
}
