/* Build the machine, run it, say what is left when it stops too soon. */
#include "sim/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/build.h"
#include "sim/gpu/batches.h"
#include "sim/gpu/block_progress.h"
#include "sim/gpu/collective_kernel.h"
#include "sim/gpu/collective_move.h"
#include "sim/gpu/copy_engine.h"
#include "sim/gpu/exclusive_copy.h"
#include "sim/gpu/grid.h"
#include "sim/gpu/grid_sync.h"
#include "sim/gpu/peer_kernel.h"
#include "sim/gpu/task_kernel.h"
#include "sim/gpu/time_slices.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/failure.h"
#include "sim/replay/isolated_durations.h"
#include "sim/serve/requests.h"
#include "sim/stream/child_launch.h"
#include "sim/stream/graph.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/operation.h"
#include "sim/stream/stalled.h"
#include "sim/stream/stream.h"

static const struct gt_event_kind event_kinds[GT_HANDLERS] = {
    [GT_HANDLE_THREAD] = { .handle = gt_thread_handler },
    [GT_HANDLE_LOCK] = { .handle = gt_thread_lock_handler },
    [GT_HANDLE_POLL] = { .handle = gt_poll_handler },
    [GT_HANDLE_STREAM] = { .handle = gt_stream_handler },
    [GT_HANDLE_TIMED_OP] = { .handle = gt_timed_op_handler },
    [GT_HANDLE_BLOCKS] = { .handle = gt_blocks_handler, .take_next = gt_batch_take_next },
    [GT_HANDLE_TIME_SLICE] = { .handle = gt_time_slice_handler },
    [GT_HANDLE_GRID] = { .handle = gt_grid_handler },
    [GT_HANDLE_COPY] = { .handle = gt_copy_handler },
    [GT_HANDLE_ENGINE] = { .handle = gt_engine_handler },
    [GT_HANDLE_COLLECTIVE] = { .handle = gt_collective_handler },
    [GT_HANDLE_COLLECTIVE_MEMORY] = { .handle = gt_collective_memory_handler },
    [GT_HANDLE_LINKS] = { .handle = gt_links_handler },
    [GT_HANDLE_PEER_KERNEL] = { .handle = gt_peer_kernel_handler },
    [GT_HANDLE_NODE] = { .handle = gt_node_handler },
    [GT_HANDLE_EXCLUSIVE_COPY] = { .handle = gt_exclusive_copy_handler },
    [GT_HANDLE_RESIDENT_GROUP] = { .handle = gt_resident_group_handler },
    [GT_HANDLE_REQUEST] = { .handle = gt_requests_handler },
    [GT_HANDLE_CHILD] = { .handle = gt_child_handler },
    [GT_HANDLE_BLOCK_PROGRESS] = { .handle = gt_block_progress_handler },
    [GT_HANDLE_TASKS] = { .handle = gt_tasks_handler },
};

static const struct gt_op_rule op_rules[GT_OP_KINDS] = {
    [GT_OP_KERNEL] = { gt_kernel_start, gt_kernel_ended },
    [GT_OP_COPY] = { gt_copy_start, gt_copy_timed_end },
    [GT_OP_MEMSET] = { gt_memset_start, gt_op_ended },
    [GT_OP_HOST_FUNCTION] = { gt_host_function_start, gt_op_ended },
};

/* The same where a dispatch policy stands before the GPU. */
static const struct gt_op_rule served_op_rules[GT_OP_KINDS] = {
    [GT_OP_KERNEL] = { gt_requests_kernel_start, gt_kernel_ended },
    [GT_OP_COPY] = { gt_copy_start, gt_copy_timed_end },
    [GT_OP_MEMSET] = { gt_memset_start, gt_op_ended },
    [GT_OP_HOST_FUNCTION] = { gt_host_function_start, gt_op_ended },
};

/* "stream 's1'" or "stream 7". */
static void append_stream(const struct gt_machine *m, gt_stream_index stream, char *text, size_t bytes)
{
    const struct gt_stream *s = &m->workload->streams[stream];

    if (s->name != GT_NONE)
        gt_text_append(text, bytes, "stream '%.60s'", gt_name_text(m->workload, s->name));
    else
        gt_text_append(text, bytes, "stream %llu", (unsigned long long)s->id);
}

/* "event 'ready'" or "event 7". */
static void append_event(const struct gt_machine *m, gt_event_index event, char *text, size_t bytes)
{
    const struct gt_event *e = &m->workload->events[event];

    if (e->name != GT_NONE)
        gt_text_append(text, bytes, "event '%.60s'", gt_name_text(m->workload, e->name));
    else
        gt_text_append(text, bytes, "event %llu", (unsigned long long)e->id);
}

/* The call that put a stream's head there. */
static const struct gt_call *head_call(const struct gt_machine *m, gt_command_index head)
{
    const struct gt_stream_command *command = &m->commands[head];
    bool is_op = command->kind == GT_COMMAND_OP || command->kind == GT_COMMAND_NODE;

    return &m->workload->calls[is_op ? m->workload->ops[command->index].call : command->index];
}

/* The first of a call's stated edges that was never met. */
static void append_edge(const struct gt_machine *m, const struct gt_call *call, char *text, size_t bytes)
{
    const struct gt_workload *w = m->workload;

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        for (uint32_t j = w->ops[i].first_after; j < w->ops[i].first_after + w->ops[i].afters; j++) {
            uint32_t before = w->afters[j];

            if (m->op_numbers[before] != 0 && m->op_commands[before] == GT_NONE)
                continue; /* it has ended */
            if (w->ops[before].call == w->ops[i].call)
                gt_text_append(text, bytes, ", node %u waiting for node %u", i - call->first_op,
                               before - call->first_op);
            else
                gt_text_append(text, bytes, ", waiting for what line %u asks for",
                               w->calls[w->ops[before].call].line);
            return;
        }
    }
}

static void describe_head(const struct gt_machine *m, gt_stream_index stream, char *text, size_t bytes)
{
    const struct gt_stream_command *c = &m->commands[m->streams[stream].head];
    const struct gt_call *call = head_call(m, m->streams[stream].head);

    gt_text_append(text, bytes, "; ");
    append_stream(m, stream, text, bytes);
    gt_text_append(text, bytes, " is held at line %u (%s)", call->line, gt_call_kind_names[call->kind]);
    if (c->kind == GT_COMMAND_WAIT) {
        gt_text_append(text, bytes, " waiting for ");
        append_event(m, call->event, text, bytes);
        gt_text_append(text, bytes, " of ");
        append_stream(m, c->target_stream, text, bytes);
    } else if (c->kind == GT_COMMAND_GRAPH && c->started) {
        gt_text_append(text, bytes, " with %u of its %u nodes not done", c->nodes_left, call->ops);
    }
    append_edge(m, call, text, bytes);
}

/* Streams do not hold each other up in a circle by themselves: edges are what closes it. */
static bool held_by_edge(const struct gt_machine *m, gt_command_index head)
{
    const struct gt_stream_command *command = &m->commands[head];

    return (command->kind == GT_COMMAND_GRAPH && command->started) ||
           (command->kind == GT_COMMAND_OP && m->op_afters_left != NULL && m->op_afters_left[command->index] > 0);
}

enum { NAMED = 4 };

/* Nothing more can happen. Is that the end, or is somebody still waiting? */
static int check_finished(const struct gt_machine *m, struct gt_error *error)
{
    char text[GT_ERROR_TEXT_BYTES] = "", place[512];
    uint32_t stuck = gt_collective_deadlocks(m, text, sizeof text);

    stuck += gt_grid_sync_deadlocks(m, text, sizeof text);
    for (int edges = 1; edges >= 0; edges--) {
        for (uint32_t i = 0; i < m->workload->stream_count; i++) {
            gt_command_index head = m->streams[i].head;

            if (head != GT_NONE && held_by_edge(m, head) == (bool)edges && stuck++ < NAMED)
                describe_head(m, i, text, sizeof text);
        }
    }
    for (uint32_t i = 0; i < m->workload->thread_count; i++) {
        const struct gt_thread_state *thread = &m->threads[i];

        if (thread->call_count == 0 || thread->done || stuck++ >= NAMED)
            continue;
        gt_text_append(text, sizeof text, "; thread '%.60s' is held at line %u",
                       gt_name_text(m->workload, m->workload->threads[i].name),
                       m->workload->calls[thread->calls[thread->next]].line);
    }
    if (stuck == 0)
        return 0;
    gt_task_kernels_append_stuck(m, text, sizeof text);
    gt_machine_place(m, 0, place, sizeof place);
    return gt_error_set(error,
                        "%.300s: deadlock: at %.3f us nothing can go on%.900s; "
                        "break the circle of waits",
                        place, (double)m->engine.now_ps / 1e6, text);
}

/* The trace's line that is under way: of an operation that runs, or else of a thread's call. */
static uint32_t line_at_work(const struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->workload->stream_count; i++) {
        gt_command_index head = m->streams[i].head;

        if (head != GT_NONE && m->commands[head].started)
            return head_call(m, head)->line;
    }
    for (uint32_t i = 0; i < m->workload->thread_count; i++) {
        const struct gt_thread_state *thread = &m->threads[i];

        if (thread->next < thread->call_count)
            return m->workload->calls[thread->calls[thread->next]].line;
    }
    return 0;
}

/* The engine refused to go on: where in the trace was that? */
static int locate_error(const struct gt_machine *m, struct gt_error *error)
{
    char place[512];

    gt_machine_place(m, line_at_work(m), place, sizeof place);
    return gt_error_prefix(error, "%.300s: ", place);
}

/* Each thread's first call. */
static void begin_threads(struct gt_machine *m)
{
    for (uint32_t i = 0; i < m->workload->thread_count; i++) {
        const struct gt_thread_state *thread = &m->threads[i];
        const struct gt_call *first;

        if (thread->call_count == 0)
            continue;
        first = &m->host->calls[thread->calls[0]];
        gt_engine_schedule(&m->engine,
                           first->start_ps == GT_TIME_NONE
                               ? first->before_ps
                               : first->start_ps + gt_replay_held_ps(&m->replay, thread->calls[0]),
                           GT_PHASE_HOST, GT_HANDLE_THREAD, i, 0);
    }
}

static int run_machine(struct gt_machine *m, struct gt_error *error)
{
    if (m->requests != NULL)
        gt_requests_begin(m);
    else
        begin_threads(m);
    do {
        if (gt_engine_run(&m->engine, event_kinds, m, error) != 0)
            return m->engine.now_ps > GT_TIME_LIMIT_PS ? locate_error(m, error) : -1;
    } while (gt_stalled_release(m));
    return check_finished(m, error);
}

/* One run, from an empty machine to an empty machine. */
static int play(const struct gt_machine *setting, struct gt_summary *summary, struct gt_error *error)
{
    struct gt_machine machine = *setting;
    int status = gt_machine_build(&machine, error);

    if (status == 0)
        status = run_machine(&machine, error);
    *summary = (struct gt_summary){
        .end_ps = machine.end_ps,
        .operations = machine.ended_ops,
        .blocks = machine.blocks,
        .tasks = machine.tasks,
        .events = machine.engine.handled,
        .waits = machine.waits,
        .extrapolated = machine.extrapolated,
        .dropped = gt_replay_dropped(&machine.replay, machine.workload) + machine.calls_released,
    };
    memcpy(summary->refused, machine.refused, sizeof summary->refused);
    memcpy(summary->fired, machine.fired, sizeof summary->fired);
    gt_machine_free(&machine);
    return status;
}

/* What replays of the recorded run share: the plan is made by the first of them. */
struct replaying {
    const struct gt_machine *setting;
    struct gt_replay replay;
    bool made;
};

static void make_replay(struct replaying *replaying, const struct gt_device *device, const struct gt_learned *learned)
{
    const struct gt_machine *setting = replaying->setting;

    gt_replay_make(&replaying->replay, setting->workload, setting->recorded, device, learned,
                   !setting->options->no_inference);
    if (setting->options->calibrated_gaps)
        gt_replay_forget_gaps(&replaying->replay, setting->recorded, device);
}

/* The recorded run again, on the device it was recorded on. */
static int replay(void *user, const struct gt_isolated *isolated, bool at_recorded, const struct gt_probe *probe,
                  struct gt_error *error)
{
    struct replaying *replaying = user;
    struct gt_options options = *replaying->setting->options;
    struct gt_machine machine = *replaying->setting;
    struct gt_summary summary;

    if (!replaying->made)
        make_replay(replaying, machine.recorded, NULL);
    replaying->made = true;
    options.serialize = false;
    options.program_cost = false;
    machine.host = machine.workload;
    machine.device = machine.recorded;
    machine.options = &options;
    machine.probe = probe;
    machine.isolated = isolated;
    machine.at_recorded = at_recorded;
    machine.replay = replaying->replay;
    return play(&machine, &summary, error);
}

/* The plan for another device than the recorded one; what the recorded run showed to be contradictory stays out. */
static void make_anew(struct replaying *replaying, const struct gt_device *device)
{
    const struct gt_machine *setting = replaying->setting;
    struct gt_replay recorded = replaying->replay;

    make_replay(replaying, device, setting->options->learned);
    gt_replay_give_up_as(&replaying->replay, &recorded, setting->workload);
    gt_replay_free(&recorded);
}

typedef void gt_learner(struct gt_isolated *isolated, const struct gt_workload *workload, gt_player *play,
                        void *user);

static void learn(const struct gt_workload *workload, const struct gt_device *recorded,
                  const struct gt_options *options, gt_learner *isolate, struct gt_replay *learned,
                  struct gt_isolated *isolated)
{
    struct gt_machine setting = {
        .workload = workload,
        .device = recorded,
        .recorded = recorded,
        .options = options,
        .op_rules = op_rules,
    };
    struct replaying replaying = { .setting = &setting };

    isolate(isolated, workload, replay, &replaying);
    if (!replaying.made)
        make_replay(&replaying, recorded, NULL);
    *learned = replaying.replay;
}

void gt_simulate_learn(const struct gt_workload *workload, const struct gt_device *recorded,
                       const struct gt_options *options, struct gt_replay *learned, struct gt_isolated *isolated)
{
    learn(workload, recorded, options, gt_isolated_learn, learned, isolated);
}

void gt_simulate_learn_equivalent(const struct gt_workload *workload, const struct gt_device *recorded,
                                  const struct gt_options *options, struct gt_isolated *isolated)
{
    struct gt_replay learned;

    learn(workload, recorded, options, gt_isolated_learn_equivalent, &learned, isolated);
    gt_replay_free(&learned);
}

int gt_simulate(const struct gt_workload *workload, const struct gt_device *device, const struct gt_options *options,
                const struct gt_probe *probe, struct gt_summary *summary, struct gt_error *error)
{
    /* clang-format off */
    struct gt_machine setting = {
        .workload = workload, .device = device, .options = options, .probe = probe, .op_rules = op_rules,
        .recorded = options->recorded_on != NULL ? options->recorded_on : device,
    };
    /* clang-format on */
    struct replaying replaying = { .setting = &setting };
    bool as_recorded; /* what was learned for replays holds for the run proper too */
    struct gt_isolated isolated;
    int status;

    memset(summary, 0, sizeof *summary);
    if (gt_device_check(device, error) != 0 || gt_device_check(setting.recorded, error) != 0)
        return -1;
    if (memcmp(device, setting.recorded, sizeof *device) == 0)
        setting.recorded = device;
    gt_isolated_learn(&isolated, workload, replay, &replaying);
    as_recorded = replaying.made && device == setting.recorded;
    setting.isolated = &isolated;
    if (!as_recorded)
        make_anew(&replaying, device);
    setting.host = options->host != NULL ? options->host : setting.workload;
    if (options->host != NULL)
        gt_replay_take_host(&replaying.replay, options->host);
    setting.replay = replaying.replay;
    setting.requests = options->requests;
    setting.op_rules = options->requests != NULL ? served_op_rules : op_rules;
    status = play(&setting, summary, error);
    summary->too_short = isolated.too_short;
    gt_replay_free(&replaying.replay);
    gt_isolated_free(&isolated);
    return status;
}
