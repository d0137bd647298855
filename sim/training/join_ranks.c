#include "sim/training/join_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/training/training.h"
#include "sim/workload/processes.h"
#include "sim/workload/pytorch_ranges.h"

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
