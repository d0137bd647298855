#include "validate/measured_host.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

void gt_measured_host_make(struct gt_measured_host *host, const struct gt_workload *workload)
{
    struct gt_workload *w = &host->workload;

    *w = *workload;
    w->calls = gt_calloc(w->call_count + 1ull, sizeof *w->calls);
    w->ops = gt_calloc(w->op_count + 1ull, sizeof *w->ops);
    for (uint32_t i = 0; i < w->call_count; i++) {
        w->calls[i] = workload->calls[i];
        w->calls[i].start_ps = w->calls[i].duration_ps = GT_TIME_NONE;
    }
    for (uint32_t i = 0; i < w->op_count; i++) {
        w->ops[i] = workload->ops[i];
        w->ops[i].start_ps = w->ops[i].duration_ps = GT_TIME_NONE;
    }
}

void gt_measured_host_free(struct gt_measured_host *host)
{
    free(host->workload.calls);
    free(host->workload.ops);
    memset(host, 0, sizeof *host);
}

static int take_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct gt_call *call = &((struct gt_measured_host *)user)->workload.calls[record->call];

    (void)error;
    call->start_ps = record->start_ps;
    call->duration_ps = record->end_ps - record->start_ps;
    return 0;
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct gt_op *op = &((struct gt_measured_host *)user)->workload.ops[record->op];

    (void)error;
    op->start_ps = record->start_ps;
    op->duration_ps = record->end_ps - record->start_ps;
    return 0;
}

struct gt_probe gt_measured_host_probe(struct gt_measured_host *host)
{
    return (struct gt_probe){ .user = host, .call = take_call, .op = take_op };
}
