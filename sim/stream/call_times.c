#include "sim/stream/call_times.h"

#include "sim/devices/links.h"
#include "sim/machine/durations.h"
#include "sim/machine/staging.h"
#include "sim/stream/api_call.h"
#include "sim/stream/host_noise.h"
#include "sim/workload/collective.h"
#include "sim/workload/host_waits.h"

/* The operation of a call that copies pageable memory in this direction; else NULL. */
static const struct gt_op *pageable_op(const struct gt_machine *m, const struct gt_call *call,
                                       enum gt_direction direction)
{
    const struct gt_op *op = call->ops > 0 ? &m->workload->ops[call->first_op] : NULL;

    return op != NULL && call->kind == GT_CALL_COPY && op->memory == GT_MEMORY_PAGEABLE && op->direction == direction
               ? op
               : NULL;
}

/* Staging a pageable copy is the host's own copying. */
static gt_time_ps staging_ps(const struct gt_machine *m, const struct gt_call *call)
{
    return pageable_op(m, call, GT_H2D) == NULL ? 0 : gt_staging_all_ps(m, call->first_op);
}

/* Does it go by way of the host's memory? */
static bool by_way_of_host(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op)
{
    gt_gpu_index from, to;
    struct gt_link link;

    return gt_link_of_copy(w, device, op, &link, &from, &to) && link.kind == GT_LINK_HOST;
}

/* What a call costs that copies `op` between GPUs, beside what it costs that it is taken from the other one.  By way of
 * the host's memory the driver asks for it piece by piece, of which the GPU begins with the first meanwhile: `*rest_ps`
 * of the cost comes after that. */
static gt_time_ps link_call_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                               gt_time_ps *rest_ps)
{
    uint64_t piece_bytes = device->link_host_piece_bytes, first_bytes = GT_LINK_FIRST_PIECES * piece_bytes;

    *rest_ps = 0;
    if (!by_way_of_host(w, device, op))
        return device->link_call_ps;
    /* Seen on H200s: the same from 4 bytes to 1 MiB, and as much more for each further piece. */
    if (piece_bytes > 0 && op->bytes > first_bytes)
        *rest_ps = gt_whole_ps(((double)(op->bytes - first_bytes) / (double)piece_bytes) *
                               (double)device->link_host_piece_call_ps);
    return device->link_call_ps + device->link_host_call_ps + *rest_ps;
}

/* What it costs more because it is taken from the other GPU. */
static gt_time_ps link_pull_call_ps(const struct gt_workload *w, const struct gt_device *device,
                                    const struct gt_op *op)
{
    return op->from_peer && !by_way_of_host(w, device, op) ? device->link_pull_call_ps : 0;
}

gt_time_ps gt_call_row_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_call *call)
{
    gt_time_ps rest_ps;

    if (call->kind == GT_CALL_HOST_WORK) /* costs what it states, on any device */
        return 0;
    if (call->kind == GT_CALL_COPY && call->ops > 0 && w->ops[call->first_op].direction == GT_D2D)
        return device->copy_within_call_ps;
    if (call->kind == GT_CALL_COPY && call->ops > 0 && w->ops[call->first_op].direction == GT_P2P)
        return link_call_ps(w, device, &w->ops[call->first_op], &rest_ps);
    if (call->kind == GT_CALL_LAUNCH && call->ops > 0 &&
        w->kernels[w->ops[call->first_op].kernel].collective.kind != GT_COLLECTIVE_NONE)
        return device->launch_call_ps + device->collective.call_ps;
    if (call->kind == GT_CALL_LAUNCH && call->ops > 0 &&
        (w->ops[call->first_op].programmatic || w->kernels[w->ops[call->first_op].kernel].cooperative))
        return device->launch_call_ps + device->attributes_call_ps;
    return *(const uint64_t *)((const char *)device + gt_api[call->kind].cost_offset);
}

static gt_time_ps row_cost_ps(const struct gt_machine *m, const struct gt_device *device, const struct gt_call *call)
{
    return gt_call_row_ps(m->workload, device, call);
}

static gt_time_ps add_ps(gt_time_ps time_ps, int64_t more_ps)
{
    return more_ps < 0 && (gt_time_ps)-more_ps > time_ps ? 0 : time_ps + (gt_time_ps)more_ps;
}

/* CPU time of a call that was not measured, were it alone: its row's; of a graph, until all its nodes are written. */
gt_time_ps gt_call_plain_ps(const struct gt_machine *m, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];

    return c->kind == GT_CALL_GRAPH_LAUNCH && c->ops > 0 ? m->replay.graphs.call_ps[call]
                                                         : row_cost_ps(m, m->device, c);
}

/* A recorded time, changed by what the device simulated costs more or less than the recorded one; one taken from
 * a measured run is of the device simulated. */
static gt_time_ps moved_ps(const struct gt_machine *m, const struct gt_call *call, gt_time_ps time_ps)
{
    if (m->options->host != NULL)
        return time_ps;
    return add_ps(time_ps, (int64_t)(row_cost_ps(m, m->device, call) - row_cost_ps(m, m->recorded, call)));
}

/* A time from a call to its operation, which the operation's own latency is part of, for the device at hand. */
static gt_time_ps moved_start_ps(const struct gt_machine *m, const struct gt_call *call, gt_time_ps time_ps)
{
    bool copy = m->workload->ops[call->first_op].kind == GT_OP_COPY;
    const struct gt_device *now = m->device, *then = m->recorded;

    return add_ps(moved_ps(m, call, time_ps), copy ? (int64_t)(now->copy_submit_ps - then->copy_submit_ps)
                                                   : (int64_t)(now->launch_latency_ps - then->launch_latency_ps));
}

/* A recorded call keeps its recorded time, less what it spent waiting for the GPU. */
gt_time_ps gt_call_cost_ps(const struct gt_machine *m, gt_call_index call)
{
    const struct gt_call *c = &m->host->calls[call];
    gt_time_ps cost_ps;

    if (c->duration_ps == GT_TIME_NONE || c->kind == GT_CALL_POLL)
        return m->threads[c->thread].cost_ps + staging_ps(m, c);
    if (m->replay.blocking_op[call] == GT_NONE)
        return moved_ps(m, c, c->duration_ps - gt_replay_held_ps(&m->replay, call));
    cost_ps = row_cost_ps(m, m->device, c);
    return cost_ps < c->duration_ps ? cost_ps : c->duration_ps;
}

/* A pageable copy out is not over for the host before it has emptied the last buffer. */
static gt_time_ps unstaging_ps(const struct gt_machine *m, const struct gt_call *call)
{
    const struct gt_op *op = pageable_op(m, call, GT_D2H);

    if (op == NULL || call->duration_ps != GT_TIME_NONE || !gt_copy_staged(m->device, op))
        return 0;
    return gt_staging_out_tail_ps(m, call->first_op);
}

gt_time_ps gt_call_tail_ps(const struct gt_machine *m, gt_call_index call)
{
    gt_op_index op = m->replay.blocking_op[call];
    gt_time_ps staged_ps = m->threads[m->workload->calls[call].thread].staged_ps;

    if (staged_ps != GT_TIME_NONE)
        return staged_ps > m->engine.now_ps ? staged_ps - m->engine.now_ps : 0;
    if (op == GT_NONE && m->workload->calls[call].return_ps != GT_TIME_NONE)
        return add_ps(m->workload->calls[call].return_ps,
                      (int64_t)(m->device->sync_return_ps - m->recorded->sync_return_ps));
    if (op == GT_NONE)
        return gt_noise_call_ps(m, call, m->replay.sync_return_ps) + unstaging_ps(m, &m->workload->calls[call]);
    return add_ps(gt_call_measured_end(&m->host->calls[call]) - gt_op_measured_end(&m->host->ops[op]),
                  m->options->host != NULL ? 0 : (int64_t)(m->device->sync_return_ps - m->recorded->sync_return_ps));
}

/* When an operation is there for the GPU that its call, which begins now, has asked for `after_ps` from now, which
 * a profiler's own work may put before that, but never before the call; and, where recorded, no
 * later after the call's start than the operation was seen to start (a call may go on long after it
 * has done its asking, when the profiler flushes a buffer or a module is loaded). */
static gt_time_ps visible_ps(const struct gt_machine *m, gt_call_index call, gt_op_index index, int64_t after_ps)
{
    const struct gt_call *c = &m->workload->calls[call];

    if (index != GT_NONE && m->workload->ops[index].visible_ps != GT_TIME_NONE)
        return m->engine.now_ps + moved_start_ps(m, c, m->workload->ops[index].visible_ps);
    if (index != GT_NONE && c->start_ps != GT_TIME_NONE) {
        const struct gt_op *op = &m->workload->ops[index];
        gt_time_ps call_ps = c->start_ps + gt_replay_held_ps(&m->replay, call);

        if (op->start_ps != GT_TIME_NONE && op->start_ps >= call_ps &&
            (gt_started_by_call(m->replay.launch_gaps, index) ||
             (int64_t)moved_start_ps(m, c, op->start_ps - call_ps) < after_ps))
            after_ps = (int64_t)moved_start_ps(m, c, op->start_ps - call_ps);
    }
    return after_ps > 0 ? m->engine.now_ps + (gt_time_ps)after_ps : m->engine.now_ps;
}

/* When what a call submits at its end can be seen by the GPU. */
gt_time_ps gt_call_visible_ps(const struct gt_machine *m, gt_call_index call, int64_t latency_ps)
{
    const struct gt_call *c = &m->workload->calls[call];

    return visible_ps(m, call, c->ops > 0 ? c->first_op : GT_NONE, (int64_t)gt_call_cost_ps(m, call) + latency_ps);
}

/* Nodes of a graph are there one group after the other, while it is launched. */
static gt_time_ps written_node_ps(const struct gt_machine *m, gt_call_index call, gt_op_index op)
{
    gt_time_ps cost_ps = gt_call_cost_ps(m, call), all_ps = m->replay.graphs.call_ps[call];

    if (all_ps > 0)
        cost_ps = gt_whole_ps((double)cost_ps * (double)m->replay.graphs.node_ps[op] / (double)all_ps);
    return visible_ps(m, call, op, (int64_t)cost_ps + m->replay.graph_latency_ps);
}

/* Those of a recorded launch when they were seen to be; what follows others is there in time. */
gt_time_ps gt_node_visible_ps(const struct gt_machine *m, gt_call_index call, gt_op_index op)
{
    const struct gt_recorded_graphs *recorded = &m->replay.recorded_graphs;
    const struct gt_call *c = &m->workload->calls[call];

    if (recorded->queued == NULL || recorded->queued[call] || recorded->behind_ps[c->first_op] == GT_TIME_NONE)
        return written_node_ps(m, call, op);
    if (recorded->behind_ps[op] == GT_TIME_NONE)
        op = c->first_op;
    return m->engine.now_ps +
           add_ps(moved_start_ps(m, c, recorded->behind_ps[op]), -(int64_t)gt_replay_held_ps(&m->replay, call));
}

static bool measured(const struct gt_machine *m, gt_call_index call, const struct gt_op *op)
{
    return gt_call_measured_end(&m->workload->calls[call]) != GT_TIME_NONE && gt_op_measured_end(op) != GT_TIME_NONE;
}

/* What the call waits for: as recorded, else as calls like it were observed to. */
static enum gt_host_wait wait_of(const struct gt_machine *m, gt_call_index call, const struct gt_op *op)
{
    const struct gt_call *c = &m->workload->calls[call];

    if (!(c->flags & GT_CALL_STATED) && measured(m, call, op))
        return m->replay.blocking_op[call] != GT_NONE ? GT_HOST_WAIT_OPERATION : GT_HOST_WAIT_NONE;
    return gt_op_host_wait(m->workload, c, op, GT_HOST_WAITS_OBSERVED);
}

/* Would a synchronisation of the stream wait now? */
static bool is_busy(const struct gt_machine *m, gt_stream_index stream)
{
    const struct gt_stream_state *state = &m->streams[stream];
    const struct gt_context_state *context = &m->contexts[state->context];

    return state->completed < state->submitted ||
           (gt_stream_host_wait(m->workload, stream) == GT_HOST_WAIT_BLOCKING_STREAMS &&
            context->completed < context->submitted);
}

/* cudaMemcpy() from pageable memory behind a busy stream returns about when the copy has ended (of 1 MiB 20 us before: host-waits.txt).
 * A device file without staging buffers has copies up to a size that are staged, and others that are waited for. */
bool gt_call_waits_for_end(const struct gt_machine *m, gt_call_index call, const struct gt_op *op)
{
    enum gt_host_wait wait = wait_of(m, call, op);

    if (wait == GT_HOST_WAIT_STREAM_THEN_STAGED && is_busy(m, op->stream))
        return true;
    if (wait == GT_HOST_WAIT_STAGED || wait == GT_HOST_WAIT_STREAM_THEN_STAGED)
        return m->device->staging_chunk_bytes == 0 && op->bytes > m->device->pageable_stage_bytes;
    return wait == GT_HOST_WAIT_OPERATION;
}

/* A copy in of which the host has more to stage than there are buffers: for the others the copy has to run. */
bool gt_call_waits_for_start(const struct gt_machine *m, gt_call_index call, const struct gt_op *op)
{
    enum gt_host_wait wait = wait_of(m, call, op);

    return (wait == GT_HOST_WAIT_STAGED || wait == GT_HOST_WAIT_STREAM_THEN_STAGED) &&
           gt_copy_staged(m->device, op) && gt_staging_chunks(m->device, op) > m->device->staging_buffers;
}

/* Until the engine has something to copy. */
static gt_time_ps first_staged_ps(const struct gt_machine *m, const struct gt_op *op)
{
    if (op->direction != GT_H2D || !gt_copy_staged(m->device, op))
        return 0;
    return gt_staging_first_ps(m, (gt_op_index)(op - m->workload->ops));
}

gt_time_ps gt_cooperative_ps(const struct gt_machine *m, const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL && m->workload->kernels[op->kernel].cooperative ? m->device->cooperative_ps : 0;
}

/* How long a call goes on after the GPU may begin with its copy to another GPU. */
static gt_time_ps rest_ps(const struct gt_machine *m, gt_call_index call, const struct gt_op *op)
{
    gt_time_ps rest_ps, all_ps;

    if (op->direction != GT_P2P || op->kind != GT_OP_COPY)
        return 0;
    all_ps = link_call_ps(m->workload, m->device, op, &rest_ps);
    return rest_ps == 0 ? 0 : gt_whole_ps((double)gt_call_cost_ps(m, call) * (double)rest_ps / (double)all_ps);
}

gt_time_ps gt_op_visible_ps(const struct gt_machine *m, gt_call_index call, const struct gt_op *op, bool waits)
{
    const struct gt_call *c = &m->workload->calls[call];

    if (op->kind != GT_OP_COPY &&
        op->kind != GT_OP_MEMSET) /* asked for at the call's end, whether it then waits or not */
        waits = false;
    if (op->visible_ps != GT_TIME_NONE)
        return visible_ps(m, call, (gt_op_index)(op - m->workload->ops), 0);
    if (waits && m->replay.blocking_op[call] != GT_NONE)
        return m->engine.now_ps + moved_start_ps(m, c, (gt_time_ps)m->replay.copy_start_delay_ns[call] * 1000);
    if (waits || (op->direction == GT_H2D && gt_copy_staged(m->device, op) && c->duration_ps == GT_TIME_NONE))
        return m->engine.now_ps +
               add_ps(gt_noise_call_ps(m, call, row_cost_ps(m, m->device, c)) + first_staged_ps(m, op),
                      m->replay.latency_ps[op->kind]);
    if (c->flags & GT_CALL_INFERRED) /* its recorded start is its operation's */
        return m->engine.now_ps;
    return gt_call_visible_ps(
        m, call, m->replay.latency_ps[op->kind] + (int64_t)gt_cooperative_ps(m, op) - (int64_t)rest_ps(m, call, op));
}

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
        return link_pull_call_ps(m->workload, m->device, &m->workload->ops[call->first_op]);
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
