/* Host threads: each walks its calls, one after the other, on a thread of its own. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/host_waits.h"
#include "validate/gpu/nccl.h"
#include "validate/gpu/together.h"
#include "validate/host_measure.h"
#include "validate/player/internal.h"

/* From the moment that all threads are ready until they set off: time for all to warm up; they have where there are several
 * processes. */
static const uint64_t head_start_ns = 3000000, head_start_of_processes_ns = 200000;

static void spin_until(uint64_t time_ns)
{
    while (gt_clock_ns() < time_ns)
        ;
}

static void set_gaps(struct gt_player *player, const struct gt_play_thread *thread, gt_time_ps origin_ps)
{
    gt_time_ps at_ps = origin_ps;

    for (uint32_t i = 0; i < thread->call_count; i++)
        player->waits_ns[thread->calls[i]] =
            gt_host_gap_ps(&player->workload->calls[thread->calls[i]], &at_ps) / 1000;
}

void gt_player_schedule(struct gt_player *player)
{
    const struct gt_workload *workload = player->workload;
    uint32_t *next;

    player->waits_ns = gt_calloc(workload->call_count + 1ull, sizeof *player->waits_ns);
    player->thread_calls = gt_calloc(workload->call_count + 1ull, sizeof *player->thread_calls);
    player->threads = gt_calloc(workload->thread_count + 1ull, sizeof *player->threads);
    next = player->thread_calls;
    for (uint32_t i = 0; i < workload->thread_count; i++) {
        struct gt_play_thread *thread = &player->threads[player->thread_count];

        *thread = (struct gt_play_thread){ .player = player, .calls = next };
        for (uint32_t j = 0; j < workload->call_count; j++)
            if (workload->calls[j].thread == i)
                *next++ = j;
        thread->call_count = (uint32_t)(next - thread->calls);
        if (thread->call_count > 0)
            player->thread_count++;
    }
    for (uint32_t i = 0; i < player->thread_count; i++)
        set_gaps(player, &player->threads[i], gt_host_first_ps(workload));
}

static const enum cudaMemcpyKind copy_kinds[GT_DIRECTIONS] = {
    [GT_H2D] = cudaMemcpyHostToDevice,
    [GT_D2H] = cudaMemcpyDeviceToHost,
    [GT_D2D] = cudaMemcpyDeviceToDevice,
    [GT_H2H] = cudaMemcpyHostToHost,
};

static void CUDART_CB host_function(void *user)
{
    struct gt_play_op *op = user;

    op->start_ns = gt_clock_ns();
    spin_until(op->start_ns + op->spin_ns);
    op->end_ns = gt_clock_ns();
}

static cudaEvent_t event_of(const struct gt_player *player, uint32_t event, uint32_t gpu)
{
    return player->events[(uint64_t)event * player->gpu_count + gpu];
}

/* As it was recorded last. */
static cudaEvent_t recorded_event(struct gt_player *player, uint32_t event)
{
    return event_of(player, event, atomic_load(&player->event_gpus[event]));
}

/* Between GPUs: by cudaMemcpyPeerAsync, unless the trace names the general function. */
static cudaError_t copy_between(struct gt_player *player, uint32_t number, cudaStream_t stream)
{
    const struct gt_workload *workload = player->workload;
    const struct gt_op *op = &workload->ops[number];
    const struct gt_play_op *play = &player->ops[number];
    gt_gpu_index from, to;

    if (!gt_copy_between(workload, op, &from, &to))
        return cudaErrorInvalidValue;
    if (strcmp(gt_name_text(workload, workload->calls[op->call].name), "cudaMemcpyAsync") == 0)
        return cudaMemcpyAsync(play->to, play->from, op->bytes, cudaMemcpyDefault, stream);
    return cudaMemcpyPeerAsync(play->to, player->gpus[to].device, play->from, player->gpus[from].device, op->bytes,
                               stream);
}

cudaError_t gt_player_issue(struct gt_player *player, uint32_t number, cudaStream_t stream)
{
    const struct gt_op *op = &player->workload->ops[number];
    struct gt_play_op *play = &player->ops[number];
    struct gt_gpu_launch launch;
    struct gt_error ignored;

    switch ((enum gt_op_kind)op->kind) {
    case GT_OP_KERNEL:
        if (play->collective != NULL)
            return gt_nccl_issue(play->collective, stream, &ignored);
        if (play->in_tree)
            return gt_child_tree_start(&play->tree, &play->tree_root, 0, stream);
        launch = play->launch;
        launch.stream = stream;
        return play->library->launch(&launch);
    case GT_OP_COPY:
        if (op->direction == GT_P2P && op->bytes > 0)
            return copy_between(player, number, stream);
        return cudaMemcpyAsync(play->to, play->from, op->bytes, copy_kinds[op->direction], stream);
    case GT_OP_MEMSET: return cudaMemsetAsync(play->to, 0, op->bytes, stream);
    case GT_OP_HOST_FUNCTION: return cudaLaunchHostFunc(stream, host_function, play);
    case GT_OP_KINDS: break;
    }
    return cudaErrorInvalidValue;
}

static cudaStream_t stream_of(const struct gt_player *player, uint32_t stream)
{
    return stream == GT_NONE ? cudaStreamLegacy : player->streams[stream];
}

/* Does the synchronous form of the operation wait? */
static bool waits(const struct gt_player *player, const struct gt_call *call, gt_op_index op)
{
    return gt_op_host_wait(player->workload, call, &player->workload->ops[op], GT_HOST_WAITS_OBSERVED) >=
           GT_HOST_WAIT_STREAM_THEN_STAGED;
}

static cudaError_t issue_all(struct gt_player *player, const struct gt_call *call)
{
    cudaError_t code = cudaSuccess;

    for (uint32_t i = call->first_op; i < call->first_op + call->ops && code == cudaSuccess; i++) {
        cudaStream_t stream = stream_of(player, player->workload->ops[i].stream);

        if (player->ops[i].in_tree && i > call->first_op)
            break; /* a block launches it */
        code = gt_player_wait_before(player, i, stream);
        if (code == cudaSuccess)
            code = gt_player_issue(player, i, stream);
        if (code == cudaSuccess)
            code = gt_player_tell_after(player, i, stream);
        if (code == cudaSuccess && call->flags & GT_CALL_SYNCHRONOUS && waits(player, call, i))
            code = cudaStreamSynchronize(stream);
    }
    return code;
}

/* The synchronous forms exist for the legacy default stream only. */
static bool plain(const struct gt_player *player, const struct gt_call *call)
{
    return call->flags & GT_CALL_SYNCHRONOUS && call->ops == 1 &&
           player->workload->ops[call->first_op].direction != GT_P2P &&
           stream_of(player, player->workload->ops[call->first_op].stream) == cudaStreamLegacy;
}

static cudaError_t copy(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];
    const struct gt_op *op = &player->workload->ops[call->first_op];

    if (!plain(player, call))
        return issue_all(player, call);
    return cudaMemcpy(player->ops[call->first_op].to, player->ops[call->first_op].from, op->bytes,
                      copy_kinds[op->direction]);
}

static cudaError_t set_memory(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];

    if (!plain(player, call))
        return issue_all(player, call);
    return cudaMemset(player->ops[call->first_op].to, 0, player->workload->ops[call->first_op].bytes);
}

static cudaError_t issue(struct gt_player *player, uint32_t number)
{
    return issue_all(player, &player->workload->calls[number]);
}

static cudaError_t launch_graph(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];
    cudaStream_t stream =
        stream_of(player, call->stream != GT_NONE || call->ops == 0 ? call->stream
                                                                    : player->workload->ops[call->first_op].stream);
    uint32_t end = call->first_op + call->ops;
    cudaError_t code = cudaSuccess;

    if (player->calls[number].graph == NULL)
        return cudaSuccess;
    for (uint32_t i = call->first_op; i < end && code == cudaSuccess; i++)
        code = gt_player_wait_before(player, i, stream);
    if (code == cudaSuccess)
        code = cudaGraphLaunch(player->calls[number].graph, stream);
    for (uint32_t i = call->first_op; i < end && code == cudaSuccess; i++)
        code = gt_player_tell_after(player, i, stream);
    return code;
}

/* The stream is there already, so that no thread has to wait for it; the call makes one like it. */
static cudaError_t create_stream(struct gt_player *player, uint32_t number)
{
    uint32_t stream = player->workload->calls[number].stream;
    const struct gt_stream *like = &player->workload->streams[stream == GT_NONE ? 0 : stream];
    uint32_t place = atomic_fetch_add(&player->spare_stream_count, 1);
    unsigned flags =
        stream != GT_NONE && like->flags & GT_STREAM_NON_BLOCKING ? cudaStreamNonBlocking : cudaStreamDefault;

    return cudaStreamCreateWithPriority(&player->spare_streams[place], flags, stream == GT_NONE ? 0 : like->priority);
}

static cudaError_t create_event(struct gt_player *player, uint32_t number)
{
    uint32_t place = atomic_fetch_add(&player->spare_event_count, 1);

    (void)number;
    return cudaEventCreateWithFlags(&player->spare_events[place], cudaEventDisableTiming);
}

static cudaError_t sync_stream(struct gt_player *player, uint32_t number)
{
    return cudaStreamSynchronize(stream_of(player, player->workload->calls[number].stream));
}

static cudaError_t query_stream(struct gt_player *player, uint32_t number)
{
    cudaError_t code = cudaStreamQuery(stream_of(player, player->workload->calls[number].stream));

    return code == cudaErrorNotReady ? cudaSuccess : code;
}

static cudaError_t record_event(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];

    uint32_t gpu = player->workload->streams[call->stream].gpu;
    cudaError_t code = cudaEventRecord(event_of(player, call->event, gpu), stream_of(player, call->stream));

    atomic_store(&player->event_gpus[call->event], gpu);
    return code;
}

static cudaError_t wait_event(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];

    return cudaStreamWaitEvent(stream_of(player, call->stream), recorded_event(player, call->event), 0);
}

static cudaError_t query_event(struct gt_player *player, uint32_t number)
{
    cudaError_t code = cudaEventQuery(recorded_event(player, player->workload->calls[number].event));

    return code == cudaErrorNotReady ? cudaSuccess : code;
}

/* Work piece by piece until what is asked for is done, or there were the most pieces. */
static cudaError_t poll(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];
    struct gt_play_call *play = &player->calls[number];
    cudaError_t code;

    for (play->pieces = 0;; play->pieces++) {
        code = call->event != GT_NONE ? cudaEventQuery(recorded_event(player, call->event))
                                      : cudaStreamQuery(stream_of(player, call->stream));
        if (code != cudaErrorNotReady || (call->most_pieces > 0 && play->pieces == call->most_pieces) ||
            atomic_load_explicit(&player->failed, memory_order_relaxed))
            return code == cudaErrorNotReady ? cudaSuccess : code;
        spin_until(gt_clock_ns() + call->piece_ps / 1000);
    }
}

static cudaError_t sync_event(struct gt_player *player, uint32_t number)
{
    return cudaEventSynchronize(recorded_event(player, player->workload->calls[number].event));
}

static cudaError_t sync_device(struct gt_player *player, uint32_t number)
{
    return gt_player_sync_own(player, number);
}

/* The thread computes, or does something that the GPU does not see. */
static cudaError_t work(struct gt_player *player, uint32_t number)
{
    gt_time_ps duration_ps = player->workload->calls[number].duration_ps;

    if (duration_ps != GT_TIME_NONE)
        spin_until(player->calls[number].start_ns + duration_ps / 1000);
    spin_until(player->origin_ns + player->workload->calls[number].until_ps / 1000);
    return cudaSuccess;
}

static const struct act {
    cudaError_t (*act)(struct gt_player *player, uint32_t number);
    bool event; /* it must be known which */
    bool stream;
} acts[GT_CALL_KINDS] = {
    [GT_CALL_HOST_WORK] = { work, false, false },
    [GT_CALL_LAUNCH] = { issue, false, false },
    [GT_CALL_GRAPH_LAUNCH] = { launch_graph, false, false },
    [GT_CALL_COPY] = { copy, false, false },
    [GT_CALL_MEMSET] = { set_memory, false, false },
    [GT_CALL_HOST_FUNCTION] = { issue, false, false },
    [GT_CALL_STREAM_CREATE] = { create_stream, false, false },
    [GT_CALL_STREAM_SYNC] = { sync_stream, false, true },
    [GT_CALL_STREAM_QUERY] = { query_stream, false, true },
    [GT_CALL_EVENT_CREATE] = { create_event, false, false },
    [GT_CALL_EVENT_RECORD] = { record_event, true, true },
    [GT_CALL_EVENT_WAIT] = { wait_event, true, true },
    [GT_CALL_EVENT_QUERY] = { query_event, true, false },
    [GT_CALL_EVENT_SYNC] = { sync_event, true, false },
    [GT_CALL_DEVICE_SYNC] = { sync_device, false, false },
    [GT_CALL_ALLOC] = { gt_player_allocate, false, false },
    [GT_CALL_FREE] = { gt_player_free, false, false },
    [GT_CALL_POLL] = { poll, false, false },
    [GT_CALL_RECORD_STREAM] = { work, false, false },
    [GT_CALL_OTHER] = { work, false, false },
};

/* Is it known what the call is about? What is not is played as far as its times tell what it waited for. */
static bool playable(const struct gt_call *call)
{
    return (call->event != GT_NONE || !acts[call->kind].event) &&
           (call->stream != GT_NONE || !acts[call->kind].stream);
}

static void fail(struct gt_player *player, uint32_t number, cudaError_t code)
{
    const struct gt_call *call = &player->workload->calls[number];

    pthread_mutex_lock(&player->lock);
    if (!atomic_exchange(&player->failed, true))
        gt_error_set(&player->failure, "line %u: %s failed: %s", call->line, gt_call_kind_names[call->kind],
                     cudaGetErrorString(code));
    pthread_mutex_unlock(&player->lock);
}

/* The call at its time, with the thread's lock where it has one: the call begins when it has that. */
static cudaError_t make_call(struct gt_play_thread *thread, uint32_t number)
{
    struct gt_player *player = thread->player;
    const struct gt_call *what = &player->workload->calls[number];
    struct gt_play_call *call = &player->calls[number];
    bool locked = thread->lock != NULL && gt_call_needs_lock(player->workload, number);
    cudaError_t code;

    if (locked)
        gt_player_take_lock(thread);
    gt_cupti_mark(number);
    call->start_ns = gt_clock_ns();
    if (playable(what))
        code = acts[what->kind].act(player, number);
    else
        code = gt_player_wait_released(player, number);
    call->end_ns = gt_clock_ns();
    if (locked)
        gt_player_give_lock(thread);
    return code;
}

static void walk(struct gt_play_thread *thread)
{
    struct gt_player *player = thread->player;
    uint64_t last_ns = player->origin_ns;

    for (uint32_t i = 0; i < thread->call_count && !atomic_load_explicit(&player->failed, memory_order_relaxed);
         i++) {
        uint32_t number = thread->calls[i];
        cudaError_t code = gt_player_turn_to(player, gt_player_gpu_of_call(player, number));

        if (player->waits_ns[number] > 0)
            spin_until(last_ns + player->waits_ns[number]);
        if (code == cudaSuccess)
            code = make_call(thread, number);
        last_ns = player->calls[number].end_ns;
        if (code != cudaSuccess)
            fail(player, number, code);
    }
}

/* Processes in time slices would wait for each other's warming calls, and some still be at them when others begin: so each has a
 * turn, before they meet. */
static cudaError_t warm_in_turn(struct gt_player *player)
{
    cudaError_t code;

    gt_together_take_turn(player->options.together);
    code = gt_player_warm(player, 0);
    gt_together_end_turn(player->options.together);
    return code;
}

/* A thread gets to know the GPU, then waits for the others. */
static void *run_thread(void *user)
{
    struct gt_play_thread *thread = user;
    struct gt_player *player = thread->player;
    bool alone = player->options.together == NULL;
    uint64_t go_ns;

    if (cudaSetDevice(player->gpu->device) != cudaSuccess || cudaFree(NULL) != cudaSuccess ||
        (!alone && warm_in_turn(player) != cudaSuccess))
        fail(player, thread->calls[0], cudaGetLastError());
    atomic_fetch_add(&player->ready, 1);
    while ((go_ns = atomic_load(&player->go_ns)) == 0)
        sched_yield();
    if (alone && gt_player_warm(player, go_ns) != cudaSuccess)
        fail(player, thread->calls[0], cudaGetLastError());
    spin_until(go_ns);
    walk(thread);
    return NULL;
}

static void give_signal(struct gt_player *player, uint32_t started)
{
    while (atomic_load(&player->ready) < started)
        sched_yield();
    player->origin_ns = player->options.together != NULL
                            ? gt_together_origin_ns(player->options.together, head_start_of_processes_ns)
                            : gt_clock_ns() + head_start_ns;
    atomic_store(&player->go_ns, player->origin_ns);
}

int gt_player_walk(struct gt_player *player, struct gt_error *error)
{
    uint32_t started = 0;
    cudaError_t code;

    atomic_store(&player->ready, 0);
    atomic_store(&player->go_ns, 0);
    atomic_store(&player->failed, false);
    while (started < player->thread_count &&
           pthread_create(&player->threads[started].handle, NULL, run_thread, &player->threads[started]) == 0)
        started++;
    if (started < player->thread_count) {
        gt_error_set(&player->failure, "no more than %u host threads can be started", started);
        atomic_store(&player->failed, true);
    }
    give_signal(player, started);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(player->threads[i].handle, NULL);
    code = gt_player_sync_gpus(player, GT_NONE);
    player->unplayed = 0;
    for (uint32_t i = 0; i < player->workload->call_count; i++)
        player->unplayed += !playable(&player->workload->calls[i]);
    if (atomic_load(&player->failed))
        return gt_error_set(error, "%s", player->failure.text);
    return code == cudaSuccess ? 0 : gt_cuda_fail("cudaDeviceSynchronize()", code, error);
}
