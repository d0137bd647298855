/* Copy engines: one copy at a time each; both directions share the link.
 *
 * Streams are spread over a few queues at each engine (by their number, as CUDA numbers streams in
 * order of creation); an engine empties one queue before it turns to the next, and takes queues in the
 * order in which they came to hold something.  Seen on H200 with copies on 2 to 12 streams at once:
 * stream 1, 5, 9, then 2, 6, 10, ...; two rounds on four streams run 1 1 2 2 3 3 4 4.  With one queue
 * this is the FIFO of the literature (rules C1 to C4 of Amert et al., RTSS'17).
 *
 * Engines by number: 0 host to device, 1 device to host, 2 device to device, 3 peer to peer; a
 * device with fewer engines has them share. Two more for what goes by way of the host's memory: below.
 *
 * Between GPUs it is the sending one's engine that copies, whichever of the two the stream is on. Seen on two H200s: a copy
 * that GPU 1's stream asks for from GPU 0 waits for those that GPU 0 sends meanwhile. By way of the host's memory it is
 * done in pieces by engines of both for the host, which other copies have in between: as if the GPU that gets it had two
 * engines more, one for what is pushed to it and one for what it takes; beside copies from the host it is slower (link_share.c). */
#include "sim/gpu/copy_engine.h"

#include <stdlib.h>

#include "sim/gpu/block_progress.h"
#include "sim/gpu/collective_move.h"
#include "sim/gpu/driver_kernel.h"
#include "sim/gpu/exclusive_copy.h"
#include "sim/gpu/grid.h"
#include "sim/gpu/link_share.h"
#include "sim/gpu/peer_kernel.h"
#include "sim/machine/durations.h"
#include "sim/machine/free_lists.h"
#include "sim/machine/staging.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/links.h"
#include "sim/stream/operation.h"
#include "sim/stream/stream.h"

static uint32_t engine_number(const struct gt_device *device, enum gt_direction direction)
{
    static const uint8_t table[3][GT_DIRECTIONS] = {
        /*      H2D D2H D2D P2P H2H */
        { 0, 0, 0, 0, 0 },
        { 0, 1, 1, 1, 0 },
        { 0, 1, 2, 3, 0 },
    };
    uint32_t engines = device->copy_engines < 1 ? 1 : device->copy_engines;

    return table[(engines > 3 ? 3 : engines) - 1][direction];
}

/* The engine that does a copy: of its stream's GPU, or of one that it is from or to. */
static uint32_t engine_for(const struct gt_machine *m, const struct gt_op *op)
{
    gt_gpu_index from, to;
    struct gt_link link;

    if (!gt_link_of_copy(m->workload, m->device, op, &link, &from, &to))
        return m->streams[op->stream].gpu * GT_ENGINES + engine_number(m->device, op->direction);
    if (link.kind == GT_LINK_HOST)
        return to * GT_ENGINES + (op->from_peer ? GT_ENGINE_STAGED_PULLS : GT_ENGINE_STAGED_PUSHES);
    return from * GT_ENGINES + engine_number(m->device, GT_P2P);
}

static struct gt_engine_state *engine_of(struct gt_machine *m, uint32_t engine)
{
    return &m->gpus[engine / GT_ENGINES].engines[engine % GT_ENGINES];
}

/* Between host and device; what stays on the device or goes to a peer does not use the host link,
 * whatever engine it runs on. */
static bool crosses_link(const struct gt_op *op)
{
    return op->direction == GT_H2D || op->direction == GT_D2H;
}

/* Account for what an engine has done since its rate last changed. */
static void settle(struct gt_machine *m, struct gt_engine_state *engine)
{
    engine->remaining_ps -= (double)(m->engine.now_ps - engine->updated_ps) * engine->rate;
    if (engine->remaining_ps < 0)
        engine->remaining_ps = 0;
    engine->updated_ps = m->engine.now_ps;
}

static void schedule_end(struct gt_machine *m, uint32_t engine)
{
    struct gt_engine_state *state = engine_of(m, engine);
    gt_time_ps left_ps = gt_whole_ps(state->remaining_ps / state->rate);

    gt_engine_schedule(&m->engine, m->engine.now_ps + left_ps, GT_PHASE_END, GT_HANDLE_COPY, engine, ++state->stamp);
}

static bool goes_between(const struct gt_machine *m, gt_command_index command)
{
    return m->workload->ops[m->commands[command].index].direction == GT_P2P;
}

/* The link's share of both directions: each has its part for sure, and what the other does not want of
 * its own.  A copy that is not on the link demands nothing of it and leaves it to the other. */
static void share_link(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_engine_state *up = &m->gpus[gpu].engines[0], *down = &m->gpus[gpu].engines[1];
    double total = m->device->duplex_gbps, part = total * m->device->duplex_in_pct / 100;
    double rates[2] = { 1.0, 1.0 };
    struct gt_engine_state *both[2] = { up, down };

    if (up->running != GT_NONE && down->running != GT_NONE && up->demand_gbps > 0 && down->demand_gbps > 0 &&
        up->demand_gbps + down->demand_gbps > total) {
        if (up->demand_gbps < part)
            part = up->demand_gbps;
        else if (down->demand_gbps < total - part)
            part = total - down->demand_gbps;
        rates[0] = part / up->demand_gbps;
        rates[1] = (total - part) / down->demand_gbps;
        m->fired[GT_RULE_DUPLEX]++;
        m->fired[GT_RULE_DUPLEX_IN] += m->device->duplex_in_pct != 50;
    }
    for (int i = 0; i < 2; i++) {
        double rate = rates[i] < 1.0 ? rates[i] : 1.0;

        if (both[i]->running != GT_NONE && !goes_between(m, both[i]->running) && both[i]->rate != rate) {
            settle(m, both[i]);
            both[i]->rate = rate;
            schedule_end(m, gpu * GT_ENGINES + (uint32_t)i);
        }
    }
}

static void set_rate(struct gt_machine *m, uint32_t engine, double rate)
{
    struct gt_engine_state *state = engine_of(m, engine);

    if (state->rate == rate)
        return;
    settle(m, state);
    state->rate = rate;
    schedule_end(m, engine);
}

/* All links, while a copy between GPUs runs or has just ended. */
static void share_links(struct gt_machine *m)
{
    struct gt_link_rate *rates = gt_calloc(gt_link_users(m), sizeof *rates);
    bool over_host;
    uint32_t count = gt_link_share(m, rates, &over_host);

    for (uint32_t i = 0; i < count; i++) {
        m->fired[GT_RULE_LINK_SHARE] += rates[i].rate < 1;
        if (rates[i].peer != NULL)
            gt_peer_kernel_set_gbps(m, rates[i].peer, rates[i].gbps);
        else if (rates[i].engine == GT_NONE)
            gt_collective_set_link_rate(m, rates[i].instance, rates[i].rate);
        else
            set_rate(m, rates[i].engine, rates[i].rate);
    }
    for (gt_gpu_index gpu = 0; gpu < m->gpu_count && !over_host; gpu++)
        share_link(m, gpu);
    free(rates);
}

/* Does anything else go between GPUs that copies or collectives may be in the way of? */
static bool copies_share(const struct gt_machine *m)
{
    return m->copies_between > 0 || m->peer_kernels != NULL;
}

int gt_links_handler(void *machine, uint32_t unused, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)unused;
    (void)error;
    if (stamp == GT_STAMP_PEER_KERNELS)
        m->peer_links_due = false;
    if (stamp == GT_STAMP_PEER_KERNELS || copies_share(m) || m->collectives->moving_count > 1)
        share_links(m);
    else if (m->collectives->moving_count > 0)
        gt_collective_set_link_rate(m, m->collectives->moving[0], 1);
    return 0;
}

/* A copy has begun on a GPU's engine, or ended there. */
static void share_anew(struct gt_machine *m, gt_gpu_index gpu, bool between)
{
    if (between || copies_share(m))
        share_links(m);
    else
        share_link(m, gpu);
}

/* What a copy asks of the link: all it can carry that way, however long it is said to take, or a copy that
 * was recorded beside another would seem to ask for less. Pageable memory asks for what the host copies. */
static double demand_gbps(const struct gt_device *device, const struct gt_op *op, double duration_ps)
{
    if (!crosses_link(op) || duration_ps <= 0)
        return 0;
    if (op->memory == GT_MEMORY_PAGEABLE)
        return (double)op->bytes * 1000.0 / duration_ps;
    return (op->direction == GT_H2D ? device->h2d_pinned : device->d2h_pinned).gbps;
}

/* What is taken from this GPU is asked for by one stream of the driver's own: seen on H200s, such copies follow each other while
 * others of the engine wait. */
static uint32_t queue_of(const struct gt_machine *m, gt_command_index command)
{
    gt_stream_index stream = m->workload->ops[m->commands[command].index].stream;

    return gt_link_line_pulls(m, command) ? GT_DEVICE_MAX_COPY_QUEUES
                                          : (uint32_t)(m->workload->streams[stream].id % m->device->copy_queues);
}

/* Is another engine of the GPU at work? */
static bool others_copy(struct gt_machine *m, uint32_t engine)
{
    const struct gt_gpu_state *gpu = &m->gpus[engine / GT_ENGINES];

    for (uint32_t i = 0; i < GT_ENGINES; i++) {
        if (i != engine % GT_ENGINES && (gpu->engines[i].running != GT_NONE || gpu->engines[i].in_gap))
            return true;
    }
    return false;
}

/* How long it takes from now on. A copy in that is staged is as fast as the host, which may go on when that is done:
 * where its time is stated, at its end. */
static gt_time_ps duration_ps(struct gt_machine *m, gt_command_index command)
{
    gt_op_index index = m->commands[command].index;
    const struct gt_op *op = &m->workload->ops[index];
    gt_time_ps latency_ps = gt_whole_ps((double)m->replay.latency_ps[GT_OP_COPY]), end_ps, staged_ps;

    if (op->direction != GT_H2D || !gt_copy_staged(m->device, op))
        return gt_stated_ps(m, index);
    if (op->duration_ps != GT_TIME_NONE)
        end_ps = staged_ps = m->engine.now_ps + gt_stated_ps(m, index);
    else
        end_ps = gt_staging_in_end_ps(m, index, m->commands[command].visible_ps - latency_ps, &staged_ps);
    gt_thread_copy_started(m, index, staged_ps);
    return end_ps - m->engine.now_ps;
}

static void start(struct gt_machine *m, uint32_t engine, gt_command_index command)
{
    struct gt_engine_state *state = engine_of(m, engine);
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    m->fired[GT_RULE_ENGINES] += others_copy(m, engine);
    state->running = command;
    state->queue = queue_of(m, command);
    state->remaining_ps = (double)duration_ps(m, command) + (double)gt_link_busy_ps(m, op);
    m->fired[GT_RULE_LINK_BUSY] += gt_link_busy_ps(m, op) > 0;
    state->demand_gbps = demand_gbps(m->device, op, state->remaining_ps);
    state->rate = 1.0;
    state->updated_ps = m->engine.now_ps;
    m->commands[command].start_ps = m->engine.now_ps;
    schedule_end(m, engine);
    m->copies_between += goes_between(m, command);
    share_anew(m, engine / GT_ENGINES, goes_between(m, command));
    gt_block_progress_copies_changed(m, engine / GT_ENGINES);
}

/* Copies of other queues stand there longer than one that now comes to this queue. */
static bool passes_others(const struct gt_engine_state *engine, uint32_t queue)
{
    if (engine->first == GT_NONE)
        return false;
    return engine->queues[queue].head != GT_NONE ? engine->last != queue : engine->queue == queue;
}

/* Into its queue.  A queue's turn comes when those before it are empty; the one served last has the
 * first turn, though it may have been empty for a while. */
static void wait_turn(struct gt_machine *m, struct gt_engine_state *engine, gt_command_index command)
{
    uint32_t queue = queue_of(m, command);

    m->commands[command].wait_next = GT_NONE;
    m->fired[GT_RULE_COPY_QUEUES] += passes_others(engine, queue);
    if (engine->queues[queue].head != GT_NONE) {
        m->commands[engine->queues[queue].tail].wait_next = command;
        engine->queues[queue].tail = command;
        return;
    }
    engine->queues[queue].head = engine->queues[queue].tail = command;
    engine->queues[queue].next = GT_NONE;
    if (engine->first == GT_NONE) {
        engine->first = engine->last = queue;
    } else if (queue == engine->queue) {
        engine->queues[queue].next = engine->first;
        engine->first = queue;
    } else {
        engine->queues[engine->last].next = queue;
        engine->last = queue;
    }
}

/* The copy whose turn it is. */
static uint32_t take_next(struct gt_machine *m, struct gt_engine_state *engine)
{
    uint32_t queue = engine->first, command = engine->queues[queue].head;

    engine->queues[queue].head = m->commands[command].wait_next;
    if (engine->queues[queue].head == GT_NONE)
        engine->first = engine->queues[queue].next;
    return command;
}

/* What goes with the commands comes over the link as they do. */
static gt_time_ps inline_read_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    return op->duration_ps != GT_TIME_NONE || op->direction == GT_H2H
               ? 0
               : gt_link_reads_ps(m, m->streams[op->stream].gpu, 1);
}

/* Seen on H200: of pinned copies in of 1 to 24 KiB 161 of 217 went with the commands where their stream was idle when they were
 * asked for, 1 of 318 with work before them (validate/scripts/small_copies.py).  What comes behind is still taken to follow a copy
 * by the engine.  A recorded time stays. */
static bool finds_idle_stream(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    return m->commands[command].to_idle && op->direction == GT_H2D && op->memory == GT_MEMORY_PINNED &&
           op->duration_ps == GT_TIME_NONE && op->bytes <= m->device->inline_idle_bytes;
}

/* Host memory to host memory needs no engine of the GPU, nor what goes with the commands one of its own.  Seen on H200:
 * copies in of up to 1 KiB run beside larger ones, and follow a kernel as the next kernel would. */
void gt_copy_start(struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];
    uint32_t engine = engine_for(m, op);
    struct gt_engine_state *state = engine_of(m, engine);

    bool of_call = m->commands[command].kind == GT_COMMAND_OP, small = gt_replay_with_commands(&m->replay, op);
    bool inlined = of_call && small, idle = of_call && !small && finds_idle_stream(m, command);

    m->fired[GT_RULE_WITH_COMMANDS] += small || idle; /* gaps beside nodes follow it too */
    if (idle) {
        gt_timed_op_start(m, command, gt_with_commands_ps(m->device, op->bytes) + inline_read_ps(m, command));
        return;
    }
    if (op->direction == GT_H2H || inlined) {
        gt_timed_op_start(m, command, gt_stated_ps(m, m->commands[command].index) + inline_read_ps(m, command));
        return;
    }
    if (op->direction == GT_D2D && !m->replay.within_alone && gt_driver_kernel_runs(m, command)) {
        gt_grid_admit(m, command);
        return;
    }
    gt_hw_queue_leave(m, command);
    if (op->direction == GT_D2D && m->replay.within_alone) {
        gt_exclusive_copy_start(m, command);
        return;
    }
    if (state->running == GT_NONE && !state->in_gap) {
        start(m, engine, command);
        return;
    }
    wait_turn(m, state, command);
}

void gt_memset_start(struct gt_machine *m, gt_command_index command)
{
    if (gt_driver_kernel_runs(m, command))
        gt_grid_admit(m, command);
    else
        gt_timed_op_start(m, command, gt_stated_ps(m, m->commands[command].index) + inline_read_ps(m, command));
}

void gt_copy_timed_end(struct gt_machine *m, gt_command_index command)
{
    gt_stream_index stream = m->workload->ops[m->commands[command].index].stream;

    if (m->gpus[m->streams[stream].gpu].exclusive == command)
        gt_exclusive_copy_ended(m, command);
    else
        gt_op_ended(m, command);
}

static bool follows_in_line(const struct gt_machine *m, const struct gt_engine_state *engine,
                            gt_command_index command)
{
    return m->workload->ops[engine->last_op].from_peer && gt_link_line_pulls(m, command);
}

/* From one copy to the next.  One that waited for work of another engine is found out about only when this
 * engine is free: seen on H200 with uploads, kernels and downloads on 2 to 8 streams: 5 us, not 1.6. */
static gt_time_ps gap_before(const struct gt_machine *m, const struct gt_engine_state *engine,
                             gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];
    uint32_t before = m->streams[op->stream].last_op;

    if (goes_between(m, command))
        return follows_in_line(m, engine, command) ? m->device->link_line_gap_ps : m->device->link_gap_ps;
    return before != GT_NONE && gt_replay_switches_engine(&m->replay, &m->workload->ops[before], op)
               ? m->replay.engine_switch_gap_ps
               : m->replay.copy_gap_ps;
}

/* The gap is over.  Whoever follows in the stream served last has asked by now: it counts as waiting,
 * since it stood in the engine's queue already. */
int gt_engine_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_engine_state *state = engine_of(m, engine);
    gt_command_index command;

    (void)stamp;
    (void)error;
    state->in_gap = false;
    command = take_next(m, state);
    gt_stream_command_hold(m, command, GT_WAIT_ENGINE, m->engine.now_ps, GT_CAUSE_OP, state->last_op);
    start(m, engine, command);
    return m->failed ? -1 : 0;
}

static void hand_on_line(struct gt_machine *m, gt_command_index command)
{
    gt_stream_index next = gt_link_line_leave(m, command);

    if (next == GT_NONE)
        return;
    gt_stream_advance(m, next);
    gt_link_line_handed_on(m, command);
}

int gt_copy_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_engine_state *state = engine_of(m, engine);
    gt_command_index command = state->running;

    (void)error;
    if (stamp != state->stamp)
        return 0;
    state->running = GT_NONE;
    state->last_op = m->commands[command].index;
    m->copies_between -= goes_between(m, command);
    share_anew(m, engine / GT_ENGINES, goes_between(m, command));
    gt_block_progress_copies_changed(m, engine / GT_ENGINES);
    state->in_gap = true; /* who comes now has to wait */
    hand_on_line(m, command);
    state->in_gap = state->first != GT_NONE;
    if (state->in_gap) {
        m->fired[GT_RULE_COPY_GAP]++;
        gt_engine_schedule(&m->engine, m->engine.now_ps + gap_before(m, state, state->queues[state->first].head),
                           GT_PHASE_HOST, GT_HANDLE_ENGINE, engine, 0);
    }
    gt_op_ended(m, command);
    return m->failed ? -1 : 0;
}
