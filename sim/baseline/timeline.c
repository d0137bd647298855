#include "sim/baseline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct keeping {
    struct gt_timeline *timeline;
    const struct gt_probe *beside;
};

static void span(struct gt_timeline *timeline, gt_time_ps start_ps, gt_time_ps end_ps)
{
    timeline->first_ps = start_ps < timeline->first_ps ? start_ps : timeline->first_ps;
    timeline->end_ps = end_ps > timeline->end_ps ? end_ps : timeline->end_ps;
}

static int keep_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct keeping *keeping = user;

    keeping->timeline->calls[record->call] = *record;
    span(keeping->timeline, record->start_ps, record->end_ps);
    return keeping->beside != NULL && keeping->beside->call != NULL
               ? keeping->beside->call(keeping->beside->user, record, error)
               : 0;
}

static int keep_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct keeping *keeping = user;

    keeping->timeline->ops[record->op] = *record;
    span(keeping->timeline, record->start_ps, record->end_ps);
    return keeping->beside != NULL && keeping->beside->op != NULL
               ? keeping->beside->op(keeping->beside->user, record, error)
               : 0;
}

static int pass_blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    const struct gt_probe *beside = ((struct keeping *)user)->beside;

    return beside->blocks(beside->user, record, error);
}

static int pass_repeat(void *user, const struct gt_repeat_record *record, struct gt_error *error)
{
    const struct gt_probe *beside = ((struct keeping *)user)->beside;

    return beside->repeat(beside->user, record, error);
}

static int pass_progress(void *user, uint64_t done, uint64_t total, struct gt_error *error)
{
    const struct gt_probe *beside = ((struct keeping *)user)->beside;

    return beside->progress(beside->user, done, total, error);
}

int gt_timeline_play(struct gt_timeline *timeline, const struct gt_workload *workload, const struct gt_device *device,
                     const struct gt_options *options, const struct gt_probe *beside, struct gt_error *error)
{
    struct keeping keeping = { timeline, beside };
    struct gt_probe probe = {
        .user = &keeping,
        .call = keep_call,
        .op = keep_op,
        .blocks = beside != NULL && beside->blocks != NULL ? pass_blocks : NULL,
        .repeat = beside != NULL && beside->repeat != NULL ? pass_repeat : NULL,
        .progress = beside != NULL && beside->progress != NULL ? pass_progress : NULL,
    };

    *timeline = (struct gt_timeline){
        .calls = gt_calloc(workload->call_count + 1ull, sizeof *timeline->calls),
        .ops = gt_calloc(workload->op_count + 1ull, sizeof *timeline->ops),
        .first_ps = GT_TIME_NONE,
    };
    if (gt_simulate(workload, device, options, &probe, &timeline->summary, error) != 0) {
        gt_timeline_free(timeline);
        return -1;
    }
    if (timeline->first_ps == GT_TIME_NONE)
        timeline->first_ps = 0;
    return 0;
}

void gt_timeline_free(struct gt_timeline *timeline)
{
    free(timeline->calls);
    free(timeline->ops);
    memset(timeline, 0, sizeof *timeline);
}

double gt_timeline_us(const struct gt_timeline *timeline)
{
    return (double)(timeline->end_ps - timeline->first_ps) / 1e6;
}

gt_stream_index gt_timeline_crowded(const struct gt_timeline *timeline, const struct gt_workload *w)
{
    gt_time_ps *waited_ps = gt_calloc(w->stream_count + 1ull, sizeof *waited_ps), all_ps = 0;
    gt_stream_index most = 0;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        const struct gt_op_record *record = &timeline->ops[i];
        bool other = record->cause == GT_CAUSE_OP && w->ops[record->cause_index].stream != w->ops[i].stream;

        if (w->ops[i].kind == GT_OP_KERNEL && other)
            waited_ps[w->ops[i].stream] += record->wait_ps[GT_WAIT_RESOURCE];
    }
    for (gt_stream_index i = 0; i < w->stream_count; i++) {
        all_ps += waited_ps[i];
        most = waited_ps[i] > waited_ps[most] ? i : most;
    }
    if (2 * waited_ps[most] <= all_ps)
        most = GT_NONE;
    free(waited_ps);
    return most;
}

double gt_recorded_us(const struct gt_workload *w)
{
    gt_time_ps first_ps = GT_TIME_NONE, last_ps = 0;

    for (uint32_t i = 0; i < w->call_count; i++) {
        gt_time_ps end_ps = gt_call_measured_end(&w->calls[i]);

        if (end_ps == GT_TIME_NONE)
            continue;
        first_ps = w->calls[i].start_ps < first_ps ? w->calls[i].start_ps : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
    }
    for (uint32_t i = 0; i < w->op_count; i++) {
        gt_time_ps end_ps = gt_op_measured_end(&w->ops[i]);

        if (end_ps == GT_TIME_NONE)
            continue;
        first_ps = w->ops[i].start_ps < first_ps ? w->ops[i].start_ps : first_ps;
        last_ps = end_ps > last_ps ? end_ps : last_ps;
    }
    return first_ps == GT_TIME_NONE ? NAN : (double)(last_ps - first_ps) / 1e6;
}
