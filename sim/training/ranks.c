#include "sim/training/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/collectives/cost.h"
#include "sim/training/training.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "sim/workload/processes.h"
#include "sim/workload/ranges.h"

static const double largest_mib = 1 << 20;
enum { HOST_GPUS = 8 }; /* that NVSwitches join in one (HGX, DGX) */

int gt_count_parse(const char *argument, const char *what, uint32_t least, uint32_t most, uint32_t *count,
                   struct gt_error *error)
{
    char *rest;
    unsigned long number;

    errno = 0;
    number = strtoul(argument, &rest, 10);
    if (argument[0] < '0' || argument[0] > '9' || *rest != '\0' || errno != 0 || number < least || number > most)
        return gt_error_set(error, "%s is a number from %u to %u, not '%.60s'", what, least, most, argument);
    *count = (uint32_t)number;
    return 0;
}

static int parse_bucket(const char *text, uint64_t *bytes, struct gt_error *error)
{
    static const char key[] = "bucket=";
    char *rest;
    double mib;

    if (strncmp(text, key, sizeof key - 1) != 0)
        return gt_error_set(error, "after ':' comes bucket=MIB, not '%.60s'", text);
    text += sizeof key - 1;
    mib = strtod(text, &rest);
    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || !(mib > 0) || mib > largest_mib)
        return gt_error_set(error, "a bucket has MiB from above 0 to %.0f, not '%.60s'", largest_mib, text);
    *bytes = (uint64_t)fmax(1, mib * (1 << 20)); /* 0 would be the usual sizes */
    return 0;
}

int gt_ranks_parse(const char *argument, uint32_t *ranks, uint64_t *bucket_bytes, struct gt_error *error)
{
    const char *colon = strchr(argument, ':');
    char number[16] = "";
    size_t length = colon != NULL ? (size_t)(colon - argument) : strlen(argument);

    memcpy(number, argument, length < sizeof number ? length : sizeof number - 1);
    if (gt_count_parse(number, "how many GPUs", 2, GT_MOST_GPUS, ranks, error) != 0)
        return -1;
    if (colon == NULL)
        return 0;
    return parse_bucket(colon + 1, bucket_bytes, error);
}

/* Once a scenario: more than was measured, and why; `otherwise` where that is the number of GPUs alone. */
static void tell(struct gt_scenario *scenario, const char *otherwise)
{
    char *why = gt_collective_why_extrapolated(&scenario->device);

    scenario->extrapolated = true;
    gt_scenario_assume(scenario, GT_TRUST_LOW, "extrapolated: %s", why != NULL ? why : otherwise);
    free(why);
}

void gt_ranks_tell_extrapolated(struct gt_scenario *scenario, uint32_t ranks)
{
    char *otherwise;

    if (!gt_collective_extrapolated(&scenario->device, ranks))
        return;
    otherwise = gt_format("Collectives and links were measured with %u GPUs, not with %u",
                          scenario->device.collective.measured_ranks, ranks);
    tell(scenario, otherwise);
    free(otherwise);
    if (ranks > HOST_GPUS)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "All %u GPUs are linked as in one host; the slower network between hosts is not modelled",
                           ranks);
}

void gt_ranks_tell_extrapolated_collectives(struct gt_scenario *scenario, uint64_t collectives)
{
    char *otherwise;

    if (collectives == 0 || scenario->extrapolated)
        return;
    otherwise = gt_format("Collectives were measured with %u GPUs; %llu of the trace have more",
                          scenario->device.collective.measured_ranks, (unsigned long long)collectives);
    tell(scenario, otherwise);
    free(otherwise);
}

struct joining {
    const struct gt_workload *w;
    uint32_t *process;     /* by thread: the first one of its process */
    gt_thread_index *main; /* by process: that marks its steps; GT_NONE: none does, or it has several GPUs */
    bool *joined;          /* by thread: its calls are as good as those of `main` */
    gt_call_index *last;   /* by process: the call of such threads copied before; GT_NONE */
};

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_calloc(count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, (count + 1ull) * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static void begin(struct joining *j, const struct gt_workload *w)
{
    *j = (struct joining){
        .w = w,
        .process = gt_thread_processes(w),
        .main = nones(w->thread_count),
        .joined = gt_calloc(w->thread_count + 1ull, sizeof *j->joined),
        .last = nones(w->thread_count),
    };
}

static void end(struct joining *j)
{
    free(j->process);
    free(j->main);
    free(j->joined);
    free(j->last);
}

static void find_mains(struct joining *j)
{
    const struct gt_workload *w = j->w;
    gt_gpu_index *gpus = nones(w->thread_count);

    for (gt_range_index i = 0; i < w->range_count; i++) {
        gt_thread_index *main = &j->main[j->process[w->ranges[i].thread]];

        if (w->ranges[i].kind == GT_RANGE_STEP && *main == GT_NONE)
            *main = w->ranges[i].thread;
    }
    for (gt_op_index i = 0; i < w->op_count; i++) {
        uint32_t process = j->process[w->calls[w->ops[i].call].thread];
        gt_gpu_index gpu = w->streams[w->ops[i].stream].gpu;

        if (gpus[process] != GT_NONE && gpus[process] != gpu)
            j->main[process] = GT_NONE;
        gpus[process] = gpu;
    }
    free(gpus);
}

/* Returns whether any process has such a thread beside its main one. */
static bool find_joined(struct joining *j)
{
    const struct gt_workload *w = j->w;
    bool any = false;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];
        gt_thread_index main = j->main[j->process[range->thread]];

        if (main == GT_NONE || !gt_range_makes_gradient(w, range))
            continue;
        j->joined[range->thread] = j->joined[main] = true;
        any |= range->thread != main;
    }
    return any;
}

static void copy_call(struct joining *j, struct gt_rebuild *rebuild, gt_call_index index)
{
    const struct gt_call *from = &j->w->calls[index];
    gt_call_index added = gt_rebuild_copy(rebuild, index);
    struct gt_call *to = &rebuild->to->calls[added];
    gt_call_index *last = &j->last[j->process[from->thread]];

    if (!j->joined[from->thread])
        return;
    if (*last != GT_NONE && j->w->calls[*last].thread != from->thread) /* not its own work: it waited */
        to->before_ps = from->handover_ps != GT_TIME_NONE ? from->handover_ps : 0;
    to->before_ps = to->before_ps > to->kept_ps ? to->before_ps : to->kept_ps; /* a loader did not wait for it */
    to->thread = j->main[j->process[from->thread]];
    *last = index;
}

static struct gt_workload *rebuild_joined(struct joining *j)
{
    struct gt_rebuild rebuild;
    struct gt_workload *to;

    gt_rebuild_begin(&rebuild, j->w);
    for (gt_call_index i = 0; i < j->w->call_count; i++)
        copy_call(j, &rebuild, i);
    to = gt_rebuild_end(&rebuild);
    for (gt_range_index i = 0; i < to->range_count; i++)
        if (j->joined[to->ranges[i].thread])
            to->ranges[i].thread = j->main[j->process[to->ranges[i].thread]];
    return to;
}

bool gt_join_ranks(struct gt_scenario *scenario)
{
    struct joining joining;
    bool found;

    if (gt_process_count(scenario->workload) < 2)
        return false;
    begin(&joining, scenario->workload);
    find_mains(&joining);
    found = find_joined(&joining);
    if (found)
        gt_scenario_replace(scenario, rebuild_joined(&joining));
    end(&joining);
    return found;
}

static gt_gpu_index used_gpu(const struct gt_workload *w)
{
    return w->op_count > 0 ? w->streams[w->ops[0].stream].gpu : 0;
}

static uint32_t unused_id(const struct gt_workload *w)
{
    uint32_t id = 0;

    for (uint32_t i = 0; i < w->gpu_count; i++)
        if (w->gpus[i].id == id) {
            id++;
            i = UINT32_MAX; /* from the beginning */
        }
    return id;
}

uint32_t gt_replicate_begin(struct gt_workload *w, uint32_t more)
{
    static const char name[] = "all ranks";
    gt_gpu_index *gpus = gt_calloc(more + 1ull, sizeof *gpus);
    uint32_t group;

    gpus[0] = used_gpu(w);
    for (uint32_t i = 1; i <= more; i++) {
        uint32_t id = unused_id(w);

        gpus[i] = gt_workload_add_gpu(w);
        w->gpus[gpus[i]].id = id;
        w->gpus[gpus[i]].name = w->gpus[gpus[0]].name;
    }
    group = gt_workload_add_group(w, gt_name(w, name, sizeof name - 1), gpus, more + 1);
    free(gpus);
    return group;
}

/* How many of each there were before the first copy. */
struct counts {
    uint32_t streams, threads, events, calls, child_launches;
};

static void copy_things(struct gt_workload *w, const struct counts *n, gt_gpu_index gpu, uint32_t rank)
{
    for (uint32_t i = 0; i < n->streams; i++) {
        gt_stream_index added = gt_workload_add_stream(w);

        w->streams[added] = w->streams[i];
        w->streams[added].gpu = gpu;
    }
    for (uint32_t i = 0; i < n->threads; i++) {
        gt_thread_index added = gt_workload_add_thread(w);

        w->threads[added] = w->threads[i];
        w->threads[added].process = w->threads[i].process + ((uint64_t)rank << 32);
    }
    for (uint32_t i = 0; i < n->events; i++) {
        gt_event_index added = gt_workload_add_event(w);

        w->events[added] = w->events[i];
    }
}

/* All copies of operations stand as far behind them, so that their edges lead as far back. */
static void copy_op(struct gt_workload *w, gt_op_index from, uint32_t streams)
{
    gt_op_index added = gt_workload_add_op(w);
    struct gt_op *op = &w->ops[added];
    uint32_t first_after = op->first_after, first_access = op->first_access;

    *op = w->ops[from];
    op->call = w->call_count - 1;
    op->stream += streams;
    op->first_after = first_after;
    op->first_access = first_access;
    op->afters = op->accesses = 0;
    for (uint32_t i = 0; i < w->ops[from].afters; i++)
        gt_workload_add_after(w, added, w->afters[w->ops[from].first_after + i] + (added - from));
}

static void copy_calls(struct gt_workload *w, const struct counts *n, uint32_t streams, uint32_t threads,
                       uint32_t events)
{
    gt_op_index ops = w->op_count;

    for (uint32_t i = 0; i < n->calls; i++) {
        gt_call_index added = gt_workload_add_call(w);
        struct gt_call *call = &w->calls[added];

        *call = w->calls[i];
        call->thread += threads;
        call->stream += call->stream != GT_NONE ? streams : 0;
        call->event += call->event != GT_NONE ? events : 0;
        call->awaited += call->awaited != GT_NONE ? ops : 0;
        call->first_op = w->op_count;
        for (uint32_t op = 0; op < w->calls[i].ops; op++)
            copy_op(w, w->calls[i].first_op + op, streams);
    }
    for (uint32_t i = 0; i < n->child_launches; i++) {
        struct gt_child_launch copy = w->child_launches[i];

        copy.op += ops;
        copy.parent += ops;
        gt_array_grow(w->child_launches, w->child_launch_count, w->child_launch_room);
        w->child_launches[w->child_launch_count++] = copy;
    }
}

/* Ranges of a rank's threads: where their calls are, the recorded times are of the first rank's. */
static void copy_ranges(struct gt_workload *w, uint32_t ranges, uint32_t threads, gt_call_index calls)
{
    for (uint32_t i = 0; i < ranges; i++) {
        gt_range_index added = gt_workload_add_range(w);
        struct gt_range *range = &w->ranges[added];

        *range = w->ranges[i];
        range->start_ps = range->duration_ps = GT_TIME_NONE;
        range->thread += threads;
        range->parent += range->parent != GT_NONE ? added - i : 0;
        range->first_call += calls;
        range->end_call += calls;
    }
}

void gt_replicate_end(struct gt_workload *w, uint32_t group)
{
    const struct counts n = { w->stream_count, w->thread_count, w->event_count, w->call_count,
                              w->child_launch_count };
    uint32_t ranges = w->range_count;

    for (uint32_t rank = 1; rank < w->groups[group].size; rank++) {
        uint32_t streams = w->stream_count, threads = w->thread_count, events = w->event_count;
        gt_call_index calls = w->call_count;

        copy_things(w, &n, w->groups[group].members[rank], rank);
        copy_calls(w, &n, streams, threads, events);
        copy_ranges(w, ranges, threads, calls);
    }
}
