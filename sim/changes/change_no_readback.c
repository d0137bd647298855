/* no-readback: the host looks at the small results that it copies out at the end only, and does not wait for them before. */
#include "sim/baseline/stated.h"
#include "sim/changes/change.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/host_waits.h"

#include <stdlib.h>

/* Such a copy brings out some results, not the data that a program is about: up to 1 MiB, which takes the link 20 us. */
enum { SMALL_BYTES = 1048576 };

/* A thread has asked for small copies out of one stream, and for nothing since. */
struct reading {
    gt_stream_index stream; /* GT_NONE: it has not */
    gt_event_index event;   /* recorded behind them; GT_NONE: none */
    bool ever;              /* it did before: a wait for them is due at the end */
    gt_stream_index last;   /* of whose stream */
};

static bool is_readback(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = gt_call_copies(w, call, GT_D2H);

    return op != NULL && op->bytes <= SMALL_BYTES;
}

/* Is this wait for nothing but the small copies out directly before it?  Takes note of the call. */
static bool is_wait_for_readback(const struct gt_workload *w, const struct gt_call *call, struct reading *reading)
{
    bool is = reading->stream != GT_NONE &&
              (call->kind == GT_CALL_DEVICE_SYNC ||
               (call->kind == GT_CALL_STREAM_SYNC && call->stream == reading->stream) ||
               (call->kind == GT_CALL_EVENT_SYNC && call->event != GT_NONE && call->event == reading->event));

    if (is_readback(w, call)) {
        gt_stream_index stream = w->ops[call->first_op].stream;

        if (stream != reading->stream)
            reading->event = GT_NONE;
        reading->stream = stream;
    } else if (call->kind == GT_CALL_EVENT_RECORD && reading->stream != GT_NONE && call->stream == reading->stream) {
        reading->event = call->event;
    } else if (!gt_call_is_idle(call)) {
        reading->stream = reading->event = GT_NONE;
    }
    return is;
}

static struct reading *readings_of(const struct gt_workload *w)
{
    struct reading *readings = gt_calloc(w->thread_count + 1ull, sizeof *readings);

    for (uint32_t i = 0; i < w->thread_count; i++)
        readings[i] = (struct reading){ GT_NONE, GT_NONE, false, GT_NONE };
    return readings;
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    const struct gt_workload *w = scenario->workload;
    struct reading *readings = readings_of(w);
    bool found = false;

    (void)argument;
    for (uint32_t i = 0; i < w->call_count && !found; i++) {
        const struct gt_call *call = &w->calls[i];

        found = is_wait_for_readback(w, call, &readings[call->thread]) ||
                (is_readback(w, call) && gt_call_holds_host(w, call));
    }
    free(readings);
    return found;
}

/* The copy as it would be asked for: into pinned memory, not waited for. */
static void free_host(struct gt_workload *to, gt_call_index index)
{
    struct gt_call *call = &to->calls[index];
    struct gt_op *op = &to->ops[call->first_op];

    call->flags &= (uint8_t)~GT_CALL_SYNCHRONOUS;
    gt_stated_forget(to, index);
    if (op->memory != GT_MEMORY_PAGEABLE)
        return;
    op->memory = GT_MEMORY_PINNED;
    op->duration_ps = call->duration_ps = GT_TIME_NONE;
}

static void wait_at_end(struct gt_rebuild *rebuild, gt_thread_index thread, const struct reading *reading)
{
    gt_call_index added;

    if (!reading->ever)
        return;
    added = gt_rebuild_insert(rebuild, GT_CALL_STREAM_SYNC, thread);
    rebuild->to->calls[added].stream = reading->last;
}

static struct gt_workload *rebuild_unread(const struct gt_workload *w, uint32_t *waits)
{
    struct reading *readings = readings_of(w);
    struct gt_rebuild rebuild;

    gt_rebuild_begin(&rebuild, w);
    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        struct reading *reading = &readings[call->thread];
        gt_call_index copy;

        if (is_wait_for_readback(w, call, reading)) {
            reading->ever = true;
            (*waits)++;
            gt_rebuild_drop(&rebuild, i);
            continue;
        }
        copy = gt_rebuild_copy(&rebuild, i);
        if (!is_readback(w, call))
            continue;
        reading->last = reading->stream;
        if (!gt_call_holds_host(w, call))
            continue;
        reading->ever = true;
        (*waits)++;
        free_host(rebuild.to, copy);
    }
    for (gt_thread_index thread = 0; thread < w->thread_count; thread++)
        wait_at_end(&rebuild, thread, &readings[thread]);
    free(readings);
    return gt_rebuild_end(&rebuild);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    uint32_t waits = 0;

    (void)error;
    if (!applies(scenario, argument))
        return 0;
    gt_scenario_replace(scenario, rebuild_unread(scenario->workload, &waits));
    gt_scenario_assume(scenario, GT_TRUST_HIGH,
                       "%u waits for copies out of up to %u KiB are replaced by one at the end; assumes the host "
                       "does not need these values earlier and keeps them in pinned memory",
                       waits, SMALL_BYTES / 1024);
    return 0;
}

static const char *const tried[] = { "", NULL };
const struct gt_change_kind gt_change_no_readback = {
    .name = "no-readback",
    .keeps_gpu = true,
    .takes = GT_ARGUMENT_NONE,
    .help = "replace waits for small device-to-host copies by one wait at the end",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
