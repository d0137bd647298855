#include "sim/cmd/serve/serve_window.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

enum { OPERATIONS_MAX = 2000, EVENTS_MAX = 1 << 20 };

/* So many blocks come to, or leave, an SM. */
struct gt_window_event {
    gt_time_ps at_ps;
    uint32_t tenant, sm;
    int32_t blocks;
};

static int by_time(const void *left, const void *right)
{
    const struct gt_window_event *a = left, *b = right;

    GT_ORDER(a->at_ps, b->at_ps);
    GT_ORDER(a->tenant, b->tenant);
    GT_ORDER(a->sm, b->sm);
    GT_ORDER(b->blocks, a->blocks);
    return 0;
}

static uint32_t tenant_of(const struct gt_serve_window *window, gt_op_index op)
{
    return window->tenant_of[window->joined->calls[window->joined->ops[op].call].thread];
}

static bool is_full(const struct gt_serve_window *window)
{
    return window->operation_count == OPERATIONS_MAX;
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct gt_serve_window *window = user;
    const struct gt_op *op = &window->joined->ops[record->op];

    (void)error;
    if (is_full(window))
        return 0;
    window->operations[window->operation_count++] = (struct gt_serve_operation){
        .tenant = tenant_of(window, record->op),
        .lane = op->stream,
        .kind = gt_op_kind_names[op->kind],
        .name =
            op->kind == GT_OP_KERNEL ? gt_name_text(window->joined, window->joined->kernels[op->kernel].name) : NULL,
        .start_ps = record->start_ps,
        .end_ps = record->end_ps,
    };
    return 0;
}

static void add_event(struct gt_serve_window *window, const struct gt_block_record *record, gt_time_ps at_ps,
                      int32_t blocks)
{
    gt_array_grow(window->events, window->event_count, window->event_room);
    window->events[window->event_count++] =
        (struct gt_window_event){ at_ps, tenant_of(window, record->op), record->sm, blocks };
}

static int take_blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    struct gt_serve_window *window = user;

    (void)error;
    if (is_full(window) || window->event_count >= EVENTS_MAX)
        return 0;
    add_event(window, record, record->start_ps, (int32_t)record->blocks);
    add_event(window, record, record->end_ps, -(int32_t)record->blocks);
    return 0;
}

static int tell_progress(void *user, uint64_t done, uint64_t total, struct gt_error *error)
{
    const struct gt_serve_window *window = user;

    return window->next->progress != NULL ? window->next->progress(window->next->user, done, total, error) : 0;
}

void gt_serve_window_begin(struct gt_serve_window *window, const struct gt_workload *joined,
                           const struct gt_load *load, const struct gt_probe *next, struct gt_probe *probe)
{
    gt_thread_index thread = 0;

    memset(window, 0, sizeof *window);
    window->joined = joined;
    window->next = next;
    window->operations = gt_calloc(OPERATIONS_MAX, sizeof *window->operations);
    window->tenant_of = gt_calloc(joined->thread_count, sizeof *window->tenant_of);
    for (uint32_t t = 0; t < load->tenant_count; t++)
        for (uint32_t i = 0; i < load->tenants[t].workers * load->tenants[t].request->thread_count; i++)
            window->tenant_of[thread++] = t;
    *probe = (struct gt_probe){ .user = window, .op = take_op, .blocks = take_blocks, .progress = tell_progress };
}

static gt_time_ps last_ps(const struct gt_serve_window *window)
{
    gt_time_ps last = 0;

    for (uint32_t i = 0; i < window->operation_count; i++)
        if (window->operations[i].end_ps > last)
            last = window->operations[i].end_ps;
    return last;
}

/* Blocks come to many SMs within a few nanoseconds: changes are told once in a while, and when nothing follows for as long. */
enum { EVERY_PS = 1000000 };

static bool is_due(const struct gt_serve_window *window, uint32_t at, gt_time_ps told_ps)
{
    const struct gt_window_event *event = &window->events[at], *next = event + 1;

    return event->at_ps >= told_ps + EVERY_PS || at + 1 == window->event_count ||
           next->at_ps >= event->at_ps + EVERY_PS;
}

static int put_sms(struct gt_serve_window *window, uint32_t sms, struct gt_serve_rows *rows, struct gt_error *error)
{
    int64_t *blocks = gt_calloc((uint64_t)sms * GT_LOAD_TENANTS_MAX, sizeof *blocks);
    uint32_t used[GT_LOAD_TENANTS_MAX] = { 0 }, told[GT_LOAD_TENANTS_MAX] = { 0 };
    gt_time_ps end_ps = last_ps(window), told_ps = 0;
    int status = 0;

    qsort(window->events, window->event_count, sizeof *window->events, by_time);
    for (uint32_t i = 0; status == 0 && i < window->event_count && window->events[i].at_ps <= end_ps; i++) {
        const struct gt_window_event *event = &window->events[i];
        int64_t *here = &blocks[(uint64_t)event->tenant * sms + event->sm], before = *here;

        *here += event->blocks;
        used[event->tenant] += (before == 0 && *here > 0) - (before > 0 && *here == 0);
        if (!is_due(window, i, told_ps))
            continue;
        told_ps = event->at_ps;
        for (uint32_t t = 0; status == 0 && t < GT_LOAD_TENANTS_MAX; t++) {
            if (used[t] == told[t])
                continue;
            told[t] = used[t];
            status = gt_serve_rows_sms(rows, &(struct gt_serve_sms){ t, used[t], event->at_ps }, error);
        }
    }
    free(blocks);
    return status;
}

int gt_serve_window_end(struct gt_serve_window *window, uint32_t sms, struct gt_serve_rows *rows,
                        struct gt_error *error)
{
    int status = 0;

    if (rows != NULL) {
        for (uint32_t i = 0; status == 0 && i < window->operation_count; i++)
            status = gt_serve_rows_operation(rows, &window->operations[i], error);
        if (status == 0)
            status = put_sms(window, sms, rows, error);
    }
    free(window->operations);
    free(window->tenant_of);
    free(window->events);
    return status;
}
