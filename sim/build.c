/* The machine for a workload. */
#include "sim/build.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/collective_kernel.h"
#include "sim/gpu/peer_kernel.h"
#include "sim/gpu/placement.h"
#include "sim/gpu/sm_partitions.h"
#include "sim/gpu/steady_state.h"
#include "sim/gpu/time_slices.h"
#include "sim/machine/priority.h"
#include "sim/stream/child_state.h"
#include "sim/stream/host_noise.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/launch_order.h"
#include "sim/stream/links.h"
#include "sim/stream/stream_order.h"
#include "sim/stream/waiting.h"
#include "sim/tasks/tasks.h"
#include "sim/workload/processes.h"

static void build_threads(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    uint32_t *at = gt_calloc(w->thread_count + 1ull, sizeof *at);

    m->threads = gt_calloc(w->thread_count, sizeof *m->threads);
    m->thread_calls = gt_calloc(w->call_count, sizeof *m->thread_calls);
    for (uint32_t i = 0; i < w->call_count; i++)
        at[w->calls[i].thread + 1]++;
    for (uint32_t i = 0; i < w->thread_count; i++) {
        at[i + 1] += at[i];
        m->threads[i].calls = m->thread_calls + at[i];
        m->threads[i].call_count = at[i + 1] - at[i];
    }
    for (uint32_t i = 0; i < w->call_count; i++)
        m->thread_calls[at[w->calls[i].thread]++] = i;
    free(at);
}

/* Equal contexts of two processes are two; a stream that nobody uses is in whichever there is. */
static uint32_t context_of(struct gt_machine *m, const struct gt_stream *stream, uint64_t process)
{
    struct gt_context_state *context;

    for (uint32_t i = 0; i < m->context_count; i++) {
        context = &m->contexts[i];
        if (context->gpu != stream->gpu || context->id != stream->context ||
            (context->process != process && context->process != GT_PROCESS_NONE && process != GT_PROCESS_NONE))
            continue;
        context->process = context->process == GT_PROCESS_NONE ? process : context->process;
        return i;
    }
    m->contexts = gt_realloc(m->contexts, m->context_count + 1ull, sizeof *m->contexts);
    context = &m->contexts[m->context_count];
    *context = (struct gt_context_state){
        .gpu = stream->gpu, .id = stream->context, .process = process, .null_stream = GT_NONE
    };
    return m->context_count++;
}

static void join_context(struct gt_machine *m, gt_stream_index stream)
{
    const struct gt_stream_state *state = &m->streams[stream];
    struct gt_context_state *context = &m->contexts[state->context];

    if (state->flags & GT_STREAM_LEGACY_DEFAULT && context->null_stream == GT_NONE &&
        state->process != GT_PROCESS_NONE)
        context->null_stream = stream;
}

/* Whose hardware queues the stream's context has: its own, or those of the first green context of that GPU. */
static gt_context_index queue_owner(const struct gt_machine *m, gt_stream_index stream)
{
    gt_stream_index first = 0;

    if (m->streams[stream].sharing.how != GT_SHARE_GREEN)
        return m->streams[stream].context;
    while (m->streams[first].sharing.how != GT_SHARE_GREEN || m->streams[first].gpu != m->streams[stream].gpu)
        first++;
    return m->streams[first].context;
}

/* Seen on an H200: an MPS client has fewer. */
static uint32_t connections_of(const struct gt_machine *m, const struct gt_stream_state *stream)
{
    return stream->sharing.how == GT_SHARE_MPS && m->device->mps_connections < m->device->connections
               ? m->device->mps_connections
               : m->device->connections;
}

/* Streams take hardware queues in turn at first, in the order they appear in, context by context. */
static void build_queues(struct gt_machine *m)
{
    uint32_t connections = m->device->connections, *taken = gt_calloc(m->context_count, sizeof *taken);

    m->queues = gt_calloc((uint64_t)m->context_count * connections, sizeof *m->queues);
    for (uint64_t i = 0; i < (uint64_t)m->context_count * connections; i++)
        m->queues[i].head = GT_NONE;
    for (uint32_t i = 0; i < m->workload->stream_count; i++) {
        gt_context_index owner = queue_owner(m, i);

        m->streams[i].connections = connections_of(m, &m->streams[i]);
        m->streams[i].first_queue = owner * connections;
        m->streams[i].queue = m->streams[i].first_queue + taken[owner]++ % m->streams[i].connections;
    }
    free(taken);
}

static void build_streams(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    uint64_t *processes = gt_stream_processes(w);

    m->streams = gt_calloc(w->stream_count, sizeof *m->streams);
    for (uint32_t i = 0; i < w->stream_count; i++) {
        m->streams[i] = (struct gt_stream_state){
            .head = GT_NONE,
            .tail = GT_NONE,
            .waiters = GT_NONE,
            .gpu = w->streams[i].gpu,
            .compute = w->streams[i].gpu,
            .sharing = gt_process_sharing(w, processes[i]),
            .context = context_of(m, &w->streams[i], processes[i]),
            .process = processes[i],
            .flags = w->streams[i].flags,
            .level = gt_priority_level(m->device, w->streams[i].priority),
            .wake_ps = GT_TIME_NONE,
            .last_op = GT_NONE,
        };
        join_context(m, i);
    }
    free(processes);
    build_queues(m);
}

/* The device's order of SMs, then those it does not list by number. */
static void order_sms(const struct gt_machine *m, struct gt_gpu_state *gpu)
{
    const struct gt_device *device = m->device;
    bool *listed = gt_calloc(device->sms, sizeof *listed);
    uint32_t count = 0;

    for (uint32_t i = 0; i < device->sm_order_length; i++) {
        if (device->sm_order[i] < device->sms && !listed[device->sm_order[i]]) {
            listed[device->sm_order[i]] = true;
            gpu->order[count++] = device->sm_order[i];
        }
    }
    for (uint32_t i = 0; i < device->sms; i++) {
        if (!listed[i])
            gpu->order[count++] = i;
    }
    for (uint32_t i = 0; i < device->sms; i++)
        gpu->rank[gpu->order[i]] = i;
    free(listed);
}

static void build_gpu(const struct gt_machine *m, struct gt_gpu_state *gpu)
{
    const struct gt_device *device = m->device;

    gpu->sms = gt_calloc(device->sms, sizeof *gpu->sms);
    gpu->order = gt_calloc(device->sms, sizeof *gpu->order);
    gpu->rank = gt_calloc(device->sms, sizeof *gpu->rank);
    gpu->gpc = gt_calloc(device->sms, sizeof *gpu->gpc);
    gt_device_assign_gpcs(device, gpu->gpc);
    gpu->dispatch_batch = gt_calloc(device->sms, sizeof *gpu->dispatch_batch);
    gpu->dispatch_batch_first = gt_calloc(device->sms, sizeof *gpu->dispatch_batch_first);
    gpu->dispatch_batch_sms = gt_calloc(device->sms, sizeof *gpu->dispatch_batch_sms);
    for (uint32_t i = 0; i < device->sms; i++) {
        gpu->sms[i] = (struct gt_sm_state){
            .threads = device->threads_per_sm,
            .warps = device->warps_per_sm,
            .shared_bytes = device->shared_bytes_per_sm,
            .blocks = device->blocks_per_sm,
        };
        for (uint32_t j = 0; j < device->register_partitions; j++)
            gpu->sms[i].registers[j] = device->registers_per_sm / device->register_partitions;
    }
    order_sms(m, gpu);
    if (m->placement->create != NULL)
        gpu->placement_state = m->placement->create(device, m->placement_parameters);
    if (m->arbitration->create != NULL)
        gpu->arbitration_state = m->arbitration->create(device, m->arbitration_parameters);
    gpu->freed_by_op = gpu->exclusive = gpu->exclusive_head = gpu->demanding = gpu->deferred.batch = GT_NONE;
    gpu->buffers = gt_calloc(device->staging_buffers, sizeof *gpu->buffers);
    for (int i = 0; i < GT_ENGINES; i++) {
        gpu->engines[i].first = gpu->engines[i].running = GT_NONE;
        for (int queue = 0; queue <= GT_DEVICE_MAX_COPY_QUEUES; queue++)
            gpu->engines[i].queues[queue].head = GT_NONE;
    }
}

/* The SMs as processes see them that take turns with others. */
static int build_shares(struct gt_machine *m, struct gt_error *error)
{
    uint32_t built = m->compute_count;

    if (gt_sm_partitions_build(m, error) != 0 || gt_time_slices_build(m, error) != 0)
        return -1;
    m->gpus = gt_realloc(m->gpus, m->compute_count, sizeof *m->gpus);
    memset(m->gpus + built, 0, (m->compute_count - built) * sizeof *m->gpus);
    for (uint32_t i = built; i < m->compute_count; i++) {
        build_gpu(m, &m->gpus[i]);
        m->gpus[i].stopped = true; /* the first turn is that of the process whose SMs are the GPU's own */
    }
    for (gt_stream_index i = 0; i < m->workload->stream_count; i++)
        m->gpus[m->streams[i].compute].of = m->streams[i].gpu;
    return 0;
}

/* Does the workload say when operations ran, or did the recording that it was made of? */
static bool has_recorded_times(const struct gt_workload *w)
{
    for (gt_op_index i = 0; i < w->op_count; i++)
        if (w->ops[i].start_ps != GT_TIME_NONE)
            return true;
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].flags & GT_CALL_STATED)
            return true;
    return false;
}

static void find_sent_bytes(struct gt_machine *m)
{
    uint64_t *bytes = gt_calloc(m->gpu_count, sizeof *bytes);

    gt_peer_sent_bytes(m->workload, bytes);
    for (gt_gpu_index gpu = 0; gpu < m->gpu_count; gpu++)
        m->gpus[gpu].sent_bytes = bytes[gpu];
    free(bytes);
}

/* Are there kernels in more than one stream, or launched by others? */
static bool kernels_apart(const struct gt_workload *w)
{
    gt_stream_index stream = GT_NONE;

    if (w->child_launch_count > 0)
        return true;
    for (uint32_t i = 0; i < w->op_count; i++) {
        if (w->ops[i].kind != GT_OP_KERNEL || w->ops[i].stream == stream)
            continue;
        if (stream != GT_NONE)
            return true;
        stream = w->ops[i].stream;
    }
    return false;
}

/* Is any kernel launched so that its blocks may come before the one before it is over? */
static bool programmatic(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].programmatic)
            return true;
    return false;
}

static void build_edges(struct gt_machine *m)
{
    uint32_t ops = m->workload->op_count;

    if (m->replay.edge_count > 0 || m->replay.graphs.node_ps != NULL) {
        m->op_commands = gt_realloc(NULL, ops, sizeof *m->op_commands);
        memset(m->op_commands, 0xff, ops * sizeof *m->op_commands);
    }
    if (m->replay.edge_count == 0)
        return;
    m->op_afters_left = gt_realloc(NULL, ops, sizeof *m->op_afters_left);
    memcpy(m->op_afters_left, m->replay.edges_in, ops * sizeof *m->op_afters_left);
    for (gt_op_index i = 0; i < ops && m->replay.given_up != NULL; i++)
        if (m->replay.given_up[i])
            m->op_afters_left[i] -= gt_replay_inferred_count(&m->replay, m->workload, i);
}

static int find_policies(struct gt_machine *m, struct gt_error *error)
{
    m->placement = gt_placement_find(m->device->placement, m->options->placement, m->placement_parameters, error);
    if (m->placement == NULL)
        return -1;
    m->arbitration =
        gt_arbitration_find(m->device->arbitration, m->options->arbitration, m->arbitration_parameters, error);
    return m->arbitration == NULL ? -1 : 0;
}

int gt_machine_build(struct gt_machine *m, struct gt_error *error)
{
    const struct gt_workload *w = m->workload;

    m->error = error;
    m->serial.running = m->serial.head = m->serial.last_op = GT_NONE;
    m->commands_free = m->waiters_free = m->grids_free = m->batches_free = m->groups_free = GT_NONE;
    if (find_policies(m, error) != 0)
        return -1;
    m->plain_level = gt_priority_level(m->device, 0);
    m->noise_run_factor = gt_noise_run_factor(m->device, m->options);
    m->gpu_count = m->compute_count = w->gpu_count;
    m->gpus = gt_calloc(w->gpu_count, sizeof *m->gpus);
    for (uint32_t i = 0; i < w->gpu_count; i++) {
        build_gpu(m, &m->gpus[i]);
        m->gpus[i].of = i;
    }
    find_sent_bytes(m);
    build_streams(m);
    m->recorded_times = has_recorded_times(w);
    if (build_shares(m, error) != 0)
        return -1;
    build_threads(m);
    gt_thread_locks_build(m);
    gt_link_lines_build(m);
    gt_device_syncs_build(m);
    gt_stream_order_build(m);
    gt_child_launches_build(m);
    gt_collectives_build(m);
    gt_launch_order_build(m);
    build_edges(m);
    if (m->replay.graphs.node_ps != NULL)
        m->node_visible_ps = gt_calloc(w->op_count, sizeof *m->node_visible_ps);
    m->kernels_apart = kernels_apart(w);
    m->programmatic = programmatic(w) && m->options->blocks && !m->options->serialize;
    m->unwritten = GT_NONE;
    m->events = gt_calloc(w->event_count, sizeof *m->events);
    m->op_numbers = gt_calloc(w->op_count, sizeof *m->op_numbers);
    m->occupancies = gt_calloc(w->kernel_count, sizeof *m->occupancies);
    m->recorded_waves = gt_calloc(w->kernel_count, sizeof *m->recorded_waves);
    return 0;
}

void gt_machine_free(struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->compute_count; i++) {
        free(m->gpus[i].sms);
        free(m->gpus[i].order);
        free(m->gpus[i].gpc);
        free(m->gpus[i].cluster_room);
        free(m->gpus[i].rank);
        free(m->gpus[i].dispatch_batch);
        free(m->gpus[i].dispatch_batch_first);
        free(m->gpus[i].dispatch_batch_sms);
        free(m->gpus[i].buffers);
        free(m->gpus[i].groups);
        gt_tasks_free(m->gpus[i].tasks);
        if (m->placement->free != NULL)
            m->placement->free(m->gpus[i].placement_state);
        if (m->arbitration->free != NULL)
            m->arbitration->free(m->gpus[i].arbitration_state);
    }
    free(m->gpus);
    gt_time_slices_free(m);
    gt_sm_partitions_free(m);
    gt_device_syncs_free(m);
    gt_stream_order_free(m);
    gt_child_launches_free(m);
    gt_collectives_free(m);
    gt_launch_order_free(m);
    gt_peer_kernels_free(m);
    free(m->contexts);
    free(m->queues);
    free(m->threads);
    free(m->thread_calls);
    gt_thread_locks_free(m);
    gt_link_lines_free(m);
    free(m->streams);
    free(m->events);
    free(m->op_numbers);
    free(m->op_afters_left);
    free(m->op_commands);
    free(m->node_visible_ps);
    free(m->occupancies);
    free(m->recorded_waves);
    free(m->commands);
    free(m->waiters);
    free(m->grids);
    free(m->batches);
    free(m->groups);
    free(m->demands);
    gt_maxmin_free(&m->maxmin);
    gt_steady_state_free(m);
    free(m->sm_kinds);
    free(m->kind_of_sm);
    gt_engine_free(&m->engine);
}
