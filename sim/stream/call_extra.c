#include "sim/stream/call_extra.h"

#include "sim/links/calls.h"
#include "sim/workload/collective.h"

#define EXTRA(field) offsetof(struct gt_device, field)
#define NO_EXTRA     SIZE_MAX

/* Where a device has the extra costs of a kind of call. */
static size_t extra_of(enum gt_call_kind kind)
{
    switch (kind) {
    case GT_CALL_LAUNCH: return EXTRA(launch_extra);
    case GT_CALL_COPY: return EXTRA(copy_extra);
    case GT_CALL_MEMSET: return EXTRA(memset_extra);
    case GT_CALL_HOST_FUNCTION: return EXTRA(host_function_extra);
    case GT_CALL_EVENT_RECORD:
    case GT_CALL_EVENT_WAIT: return EXTRA(event_extra);
    default: return NO_EXTRA;
    }
}

enum { COPY_WITHIN = GT_CALL_KINDS, COLLECTIVE, CALL_BITS };
_Static_assert(CALL_BITS <= 32, "a bit for each kind, and two");

/* Copies within the device go another way through the driver than those over the link, collectives through NCCL. */
static uint32_t bit_of(const struct gt_machine *m, const struct gt_call *call)
{
    if (call->ops > 0 && call->kind == GT_CALL_COPY && m->workload->ops[call->first_op].direction == GT_D2D)
        return COPY_WITHIN;
    if (call->ops > 0 && call->kind == GT_CALL_LAUNCH && gt_collective_kernel(m->workload, call->first_op) != NULL)
        return COLLECTIVE;
    return call->kind;
}

/* A wait for another GPU's event; a copy taken from another GPU. */
static gt_time_ps afar_ps(const struct gt_machine *m, const struct gt_call *call)
{
    if (call->kind == GT_CALL_COPY && call->ops > 0)
        return gt_link_pull_call_ps(m->workload, m->device, &m->workload->ops[call->first_op]);
    if (call->kind != GT_CALL_EVENT_WAIT || call->event == GT_NONE || m->events[call->event].number == 0 ||
        m->streams[m->events[call->event].stream].gpu == m->streams[call->stream].gpu)
        return 0;
    return m->device->link_wait_call_ps;
}

gt_time_ps gt_call_extra_ps(struct gt_machine *m, gt_thread_index thread, gt_call_index index)
{
    struct gt_thread_state *state = &m->threads[thread];
    const struct gt_call *call = &m->workload->calls[index];
    uint8_t before = state->kind_before;
    uint32_t bit = bit_of(m, call);
    bool cold = !(state->kinds_called & UINT32_C(1) << bit), first;
    size_t place = extra_of(call->kind);
    const struct gt_call_extra *extra;
    gt_time_ps cold_ps;

    state->kinds_called |= UINT32_C(1) << bit;
    state->kind_before = call->kind;
    if (call->stream == GT_NONE)
        return 0;
    first = !m->streams[call->stream].called;
    m->streams[call->stream].called = true;
    if (place == NO_EXTRA)
        return 0;
    extra = (const struct gt_call_extra *)((const char *)m->device + place);
    cold_ps = bit == COLLECTIVE ? m->device->collective.cold_ps : extra->cold_ps;
    return afar_ps(m, call) + (cold ? cold_ps : 0) + (first ? extra->first_ps : 0) +
           (state->next > 0 && before != call->kind ? extra->after_ps : 0);
}
