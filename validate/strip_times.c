#include "validate/strip_times.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"
#include "validate/host_measure.h"

/* The calls as they will be, and where each thread has come to. */
struct rewriting {
    struct gt_workload *workload;
    struct gt_call *calls;
    uint32_t count;
    gt_time_ps *thread_ps;
};

static void add(struct rewriting *rewriting, struct gt_call call)
{
    for (uint32_t i = call.first_op; i < call.first_op + call.ops; i++)
        rewriting->workload->ops[i].call = rewriting->count;
    rewriting->calls[rewriting->count++] = call;
}

static void add_work(struct rewriting *rewriting, const struct gt_call *before, gt_time_ps duration_ps)
{
    add(rewriting, (struct gt_call){
                       .start_ps = GT_TIME_NONE,
                       .duration_ps = duration_ps,
                       .thread = before->thread,
                       .name = GT_NONE,
                       .stream = GT_NONE,
                       .event = GT_NONE,
                       .buffer = GT_NONE,
                       .executable = GT_NONE,
                       .first_op = before->first_op,
                       .line = before->line,
                       .kind = GT_CALL_HOST_WORK,
                   });
}

/* The ranges go with their calls. */
static void strip_ranges(struct gt_workload *workload, const gt_call_index *place)
{
    gt_ranges_renumber(workload, place);
    for (uint32_t i = 0; i < workload->range_count; i++)
        workload->ranges[i].start_ps = workload->ranges[i].duration_ps = GT_TIME_NONE;
}

static void rewrite(struct rewriting *rewriting, struct gt_call call)
{
    gt_time_ps gap_ps = gt_host_gap_ps(&call, &rewriting->thread_ps[call.thread]);

    if (gap_ps > 0)
        add_work(rewriting, &call, gap_ps);
    call.start_ps = GT_TIME_NONE;
    if (call.kind == GT_CALL_OTHER && call.duration_ps != GT_TIME_NONE)
        call.kind = GT_CALL_HOST_WORK;
    if (call.kind != GT_CALL_HOST_WORK)
        call.duration_ps = GT_TIME_NONE;
    add(rewriting, call);
}

void gt_strip_times(struct gt_workload *workload)
{
    struct rewriting rewriting = { .workload = workload, .count = 0 };
    gt_time_ps origin_ps = gt_host_first_ps(workload);
    gt_call_index *place = gt_calloc(workload->call_count + 1ull, sizeof *place);

    rewriting.calls = gt_calloc(2ull * workload->call_count + 1, sizeof *rewriting.calls);
    rewriting.thread_ps = gt_calloc(workload->thread_count + 1ull, sizeof *rewriting.thread_ps);
    for (uint32_t i = 0; i < workload->thread_count; i++)
        rewriting.thread_ps[i] = origin_ps;
    for (uint32_t i = 0; i < workload->call_count; i++) {
        place[i] = rewriting.count; /* the work before a call is done in its ranges */
        rewrite(&rewriting, workload->calls[i]);
    }
    place[workload->call_count] = rewriting.count;
    strip_ranges(workload, place);
    free(place);
    free(workload->calls);
    workload->calls = rewriting.calls;
    workload->call_room = 2 * workload->call_count + 1;
    workload->call_count = rewriting.count;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        struct gt_op *op = &workload->ops[i];

        op->start_ps = GT_TIME_NONE;
        if (op->kind != GT_OP_HOST_FUNCTION)
            op->duration_ps = GT_TIME_NONE;
    }
    free(rewriting.thread_ps);
}
