/* The processes and GPUs of a run, their operations and steps; sums over them. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "traces/explain/breakdown_parts.h"

static uint64_t process_of(const struct gt_loaded_run *t, uint32_t op)
{
    return t->processes[t->calls[t->ops[op].call].thread];
}

/* The lane of an operation; made where it is new.  There are few. */
static struct gt_lane *lane_of(const struct gt_loaded_run *t, uint32_t op, struct gt_lane **lanes, size_t *count)
{
    gt_gpu_index gpu = t->streams[t->ops[op].stream].gpu;
    uint64_t process = process_of(t, op);
    size_t i = 0;

    while (i < *count && ((*lanes)[i].gpu != gpu || (*lanes)[i].process != process))
        i++;
    if (i == *count) {
        *lanes = gt_realloc(*lanes, ++*count, sizeof **lanes);
        (*lanes)[i] = (struct gt_lane){ .run = t, .process = process, .gpu = gpu };
    }
    return &(*lanes)[i];
}

/* What is known of a lane's process, most last: nothing but calls, ranges, steps. */
enum known { KNOWN_CALLS, KNOWN_RANGES, KNOWN_STEPS };

static enum known what_is_known(const struct gt_lane *lane)
{
    const struct gt_loaded_run *t = lane->run;
    enum known known = KNOWN_CALLS;

    for (uint32_t i = 0; i < t->range_count && known != KNOWN_STEPS; i++)
        if (t->ranges[i].thread != GT_NONE && t->processes[t->ranges[i].thread] == lane->process)
            known = t->ranges[i].step ? KNOWN_STEPS : KNOWN_RANGES;
    return known;
}

static int by_op_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_op *ops = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    if (ops[left].start_ps != ops[right].start_ps)
        return ops[left].start_ps < ops[right].start_ps ? -1 : 1;
    return (left > right) - (left < right);
}

static void join(struct gt_lane *to, struct gt_lane *from)
{
    for (size_t i = 0; i < from->op_count; i++) {
        gt_array_grow(to->ops, to->op_count, to->op_room);
        to->ops[to->op_count++] = from->ops[i];
    }
    free(from->ops);
    qsort_r(to->ops, to->op_count, sizeof *to->ops, by_op_start, to->run->ops);
}

/* The lane of the same GPU of whose process most is known. */
static size_t best_lane(const struct gt_lane *lanes, const enum known *known, size_t count, size_t lane)
{
    size_t best = lane;

    for (size_t i = 0; i < count; i++)
        if (lanes[i].gpu == lanes[lane].gpu && known[i] > known[best])
            best = i;
    return best;
}

/* Operations whose call was not recorded are of a process of their own, of which nothing else is known: they fall into the
 * steps, or the run, of the process that has their GPU. */
static size_t join_lanes(struct gt_lane *lanes, size_t count)
{
    size_t kept = 0;
    enum known *known = gt_calloc(count + 1, sizeof *known);

    for (size_t i = 0; i < count; i++)
        known[i] = what_is_known(&lanes[i]);
    for (size_t i = 0; i < count; i++) {
        size_t best = best_lane(lanes, known, count, i);

        if (best != i) {
            join(&lanes[best], &lanes[i]);
            lanes[i].op_count = 0;
        }
    }
    free(known);
    for (size_t i = 0; i < count; i++)
        if (lanes[i].op_count > 0)
            lanes[kept++] = lanes[i];
    return kept;
}

static int by_process(const void *a, const void *b)
{
    const struct gt_lane *left = a, *right = b;

    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->gpu > right->gpu) - (left->gpu < right->gpu);
}

static int by_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_range *ranges = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    if (ranges[left].start_ps != ranges[right].start_ps)
        return ranges[left].start_ps < ranges[right].start_ps ? -1 : 1;
    return (left > right) - (left < right);
}

static bool is_step_of(const struct gt_lane *lane, const struct gt_loaded_range *range)
{
    const struct gt_loaded_run *t = lane->run;
    const struct gt_selection *part = &t->part;

    return range->step && range->start_ps != GT_TIME_NONE && range->thread != GT_NONE &&
           t->processes[range->thread] == lane->process &&
           (part->all || (range->first_call >= part->first_call && range->end_call <= part->end_call));
}

static void add_window(struct gt_lane *lane, struct gt_breakdown *breakdown, size_t *room, const char *name,
                       gt_time_ps from_ps, gt_time_ps to_ps)
{
    const struct gt_selection *part = &lane->run->part;

    if (!part->all && part->end_call == UINT64_MAX) { /* no step was asked for: a part of the time */
        from_ps = from_ps > part->from_ps ? from_ps : part->from_ps;
        to_ps = to_ps < part->to_ps ? to_ps : part->to_ps;
    }
    if (to_ps <= from_ps)
        return;
    gt_array_grow(breakdown->steps, breakdown->step_count, *room);
    breakdown->steps[breakdown->step_count++] = (struct gt_breakdown_step){
        .name = name, .process = lane->process, .gpu = lane->gpu, .from_ps = from_ps, .to_ps = to_ps
    };
    lane->window_count++;
}

/* When what had been asked for until that call has ended. */
static gt_time_ps ended_by(const struct gt_lane *lane, uint32_t end_call)
{
    gt_time_ps end_ps = 0;

    for (size_t i = 0; i < lane->op_count; i++) {
        const struct gt_loaded_op *op = &lane->run->ops[lane->ops[i]];

        if (op->call < end_call && op->end_ps > end_ps)
            end_ps = op->end_ps;
    }
    return end_ps;
}

static void add_steps(struct gt_lane *lane, struct gt_breakdown *breakdown, size_t *room, const uint32_t *order,
                      uint32_t count)
{
    gt_time_ps before_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_loaded_range *range = &lane->run->ranges[order[i]];
        gt_time_ps to_ps = range->end_ps, ended_ps = i + 1 == count ? ended_by(lane, range->end_call) : 0;

        to_ps = to_ps > ended_ps ? to_ps : ended_ps;
        if (i + 1 < count && lane->run->ranges[order[i + 1]].start_ps < to_ps)
            to_ps = lane->run->ranges[order[i + 1]].start_ps;
        lane->last_thread = range->thread;
        add_window(lane, breakdown, room, range->name, range->start_ps > before_ps ? range->start_ps : before_ps,
                   to_ps);
        before_ps = to_ps > before_ps ? to_ps : before_ps;
    }
}

/* From the first call or operation of the process to the last one's end. */
static void add_whole(struct gt_lane *lane, struct gt_breakdown *breakdown, size_t *room)
{
    const struct gt_loaded_run *t = lane->run;
    gt_time_ps from_ps = t->ops[lane->ops[0]].start_ps, to_ps = ended_by(lane, UINT32_MAX);

    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct gt_loaded_call *call = &t->calls[i];

        if (!call->there || t->processes[call->thread] != lane->process)
            continue;
        from_ps = call->start_ps < from_ps ? call->start_ps : from_ps;
        if (call->end_ps > to_ps) {
            to_ps = call->end_ps;
            lane->last_thread = call->thread;
        }
    }
    add_window(lane, breakdown, room, "", from_ps, to_ps);
}

/* From the step's start to the first call of the process in it, or behind it. */
static gt_time_ps lead_of(const struct gt_lane *lane, const struct gt_breakdown_step *step)
{
    const struct gt_loaded_run *t = lane->run;
    gt_time_ps first_ps = step->to_ps;

    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct gt_loaded_call *call = &t->calls[i];

        if (call->there && t->processes[call->thread] == lane->process && call->start_ps >= step->from_ps &&
            call->start_ps < first_ps)
            first_ps = call->start_ps;
    }
    return first_ps - step->from_ps;
}

/* A step within another one, or of another thread than the first, is none of its own. */
static uint32_t drop_nested(const struct gt_loaded_range *ranges, uint32_t *order, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || (ranges[order[i]].thread == ranges[order[0]].thread &&
                          ranges[order[i]].start_ps >= ranges[order[kept - 1]].end_ps))
            order[kept++] = order[i];
    return kept;
}

/* A run begins with the first call that was recorded: what a step did before is lost, if other steps do something. */
static void count_windows(const struct gt_lane *lane, struct gt_breakdown_step *steps)
{
    for (size_t i = 0; i < lane->window_count; i++) {
        steps[i].counted = true;
        steps[i].behind = lane->first_window + lane->window_count;
    }
    if (lane->run->part.all && lane->window_count > 1 && lead_of(lane, &steps[0]) == 0 &&
        lead_of(lane, &steps[1]) > 0)
        steps[0].counted = false;
}

static void find_windows(struct gt_lane *lane, struct gt_breakdown *breakdown, size_t *room)
{
    const struct gt_loaded_run *t = lane->run;
    uint32_t *order = gt_calloc(t->range_count + 1ull, sizeof *order), count = 0;

    for (uint32_t i = 0; i < t->range_count; i++)
        if (is_step_of(lane, &t->ranges[i]))
            order[count++] = i;
    lane->first_window = breakdown->step_count;
    lane->last_thread = t->calls[t->ops[lane->ops[lane->op_count - 1]].call].thread;
    if (count > 0)
        qsort_r(order, count, sizeof *order, by_start, t->ranges);
    if (count > 0)
        add_steps(lane, breakdown, room, order, drop_nested(t->ranges, order, count));
    else
        add_whole(lane, breakdown, room);
    count_windows(lane, &breakdown->steps[lane->first_window]);
    breakdown->marked |= count > 0;
    breakdown->lane_count++;
    free(order);
}

struct gt_lane *gt_lanes_find(const struct gt_loaded_run *t, struct gt_breakdown *breakdown, size_t *count)
{
    gt_time_ps *host_ps = gt_calloc(GT_TIME_KINDS * (t->range_count + 1ull), sizeof *host_ps);
    struct gt_lane *lanes = NULL;
    size_t room = 0;

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++) {
        struct gt_lane *lane = lane_of(t, t->by_start[i], &lanes, count);

        gt_array_grow(lane->ops, lane->op_count, lane->op_room);
        lane->ops[lane->op_count++] = t->by_start[i];
    }
    if (*count > 0)
        *count = join_lanes(lanes, *count);
    if (*count > 0)
        qsort(lanes, *count, sizeof *lanes, by_process);
    for (size_t i = 0; i < *count; i++) {
        lanes[i].host_ps = host_ps;
        lanes[i].waits = &breakdown->waits;
        find_windows(&lanes[i], breakdown, &room);
    }
    for (size_t i = 0; i < *count; i++)
        lanes[i].windows = &breakdown->steps[lanes[i].first_window];
    if (*count == 0)
        free(host_ps);
    return lanes;
}

/* The loader itself, of what runs within. */
static uint32_t charged_range(const struct gt_loaded_run *t, enum gt_time_kind kind, uint32_t range)
{
    while (kind == GT_TIME_DATA_LOADING && t->ranges[range].parent != GT_NONE &&
           t->ranges[t->ranges[range].parent].loader)
        range = t->ranges[range].parent;
    return range == GT_NONE ? t->range_count : range;
}

gt_time_ps gt_lane_add(struct gt_lane *lane, enum gt_time_kind kind, gt_time_ps from_ps, gt_time_ps to_ps,
                       const struct gt_host_piece *piece)
{
    size_t ranges = lane->run->range_count + 1ull;
    gt_time_ps counted_ps = 0;

    while (lane->window_at + 1 < lane->window_count && lane->windows[lane->window_at].to_ps <= from_ps)
        lane->window_at++;
    for (size_t i = lane->window_at; i < lane->window_count && lane->windows[i].from_ps < to_ps; i++) {
        struct gt_breakdown_step *step = &lane->windows[i];
        gt_time_ps begin_ps = from_ps > step->from_ps ? from_ps : step->from_ps;
        gt_time_ps end_ps = to_ps < step->to_ps ? to_ps : step->to_ps;

        if (end_ps <= begin_ps)
            continue;
        step->ps[kind] += end_ps - begin_ps;
        counted_ps += step->counted ? end_ps - begin_ps : 0;
        if (piece != NULL && step->counted)
            lane->host_ps[(size_t)kind * ranges + charged_range(lane->run, kind, piece->range)] += end_ps - begin_ps;
    }
    return counted_ps;
}

enum gt_time_kind gt_host_piece_kind(const struct gt_loaded_run *t, const struct gt_host_piece *piece)
{
    if (piece->range != GT_NONE && t->ranges[piece->range].loader)
        return GT_TIME_DATA_LOADING;
    if (piece->call == GT_NONE)
        return GT_TIME_HOST;
    switch (t->calls[piece->call].kind) {
    case GT_CALL_LAUNCH:
    case GT_CALL_GRAPH_LAUNCH:
    case GT_CALL_MEMSET:
    case GT_CALL_HOST_FUNCTION:
    case GT_CALL_EVENT_RECORD:
    case GT_CALL_EVENT_WAIT: return GT_TIME_LAUNCH;
    case GT_CALL_COPY: /* the copy has ended, since nothing runs */
    case GT_CALL_STREAM_SYNC:
    case GT_CALL_EVENT_SYNC:
    case GT_CALL_DEVICE_SYNC:
    case GT_CALL_EVENT_QUERY:
    case GT_CALL_STREAM_QUERY:
    case GT_CALL_POLL: return GT_TIME_SYNCHRONISATION;
    default: return GT_TIME_HOST;
    }
}

static int by_host_time(const void *a, const void *b)
{
    const struct gt_breakdown_host *left = a, *right = b;

    if (left->ps != right->ps)
        return left->ps > right->ps ? -1 : 1;
    return strcmp(left->name, right->name);
}

struct named {
    UT_hash_handle hh;
    size_t place;
};

/* Ranges of one name are one. */
static void sum_hosts(const struct gt_loaded_run *t, const gt_time_ps *host_ps, struct gt_breakdown *breakdown)
{
    size_t ranges = t->range_count + 1ull, room = 0;

    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++) {
        struct named *names = NULL, *named, *next;

        for (size_t range = 0; range < ranges; range++) {
            const char *name = gt_host_range_name(t, range < t->range_count ? (uint32_t)range : GT_NONE);

            if (host_ps[kind * ranges + range] == 0)
                continue;
            HASH_FIND(hh, names, name, strlen(name), named);
            if (named == NULL) {
                gt_array_grow(breakdown->hosts, breakdown->host_count, room);
                breakdown->hosts[breakdown->host_count] = (struct gt_breakdown_host){ name, kind, 0 };
                named = gt_calloc(1, sizeof *named);
                named->place = breakdown->host_count++;
                HASH_ADD_KEYPTR(hh, names, name, strlen(name), named);
            }
            breakdown->hosts[named->place].ps += host_ps[kind * ranges + range];
        }
        HASH_ITER(hh, names, named, next)
        {
            HASH_DEL(names, named);
            free(named);
        }
    }
    if (breakdown->host_count > 0)
        qsort(breakdown->hosts, breakdown->host_count, sizeof *breakdown->hosts, by_host_time);
}

void gt_lanes_end(struct gt_lane *lanes, size_t count, struct gt_breakdown *breakdown)
{
    for (size_t i = 0; i < breakdown->step_count; i++) {
        if (!breakdown->steps[i].counted)
            continue;
        breakdown->counted++;
        breakdown->total_ps += breakdown->steps[i].to_ps - breakdown->steps[i].from_ps;
        for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
            breakdown->ps[kind] += breakdown->steps[i].ps[kind];
    }
    if (count > 0) {
        sum_hosts(lanes[0].run, lanes[0].host_ps, breakdown);
        free(lanes[0].host_ps);
    }
    for (size_t i = 0; i < count; i++)
        free(lanes[i].ops);
    free(lanes);
}
