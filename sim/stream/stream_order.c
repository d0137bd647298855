/* The legacy default stream: its commands wait for everything asked for earlier in the blocking streams
 * of its context, and theirs for everything asked for earlier in it (CUDA C++ Programming Guide,
 * "Default Stream"; rules N1 and N2 of Amert et al., RTSS'17).
 *
 * Each command remembers how many commands of the other side came before it.  Of the default stream that
 * many must be complete; and that many of all blocking streams together, since those that came after
 * it cannot complete before it.
 *
 * Code that is loaded by a launch (CUDA_MODULE_LOADING=LAZY, the default since CUDA 12.2): the first launch of a kernel has the
 * driver put its code on the GPU.  The call returns soon; but what is asked for from it on, in any stream of the context, waits
 * until all that was asked for before is complete.  Seen on an H200: simpleHyperQ of NVIDIA's samples (kernel_A, then kernel_B in
 * each of 32 streams) takes 180, 60, 40, 30 ms with 2, 8, 16, 32 connections, and 170, 50, 30, 20 ms with
 * CUDA_MODULE_LOADING=EAGER: the first kernel_B waits for the first kernel_A, and so do all kernels behind it.
 *
 * Each command remembers how many commands of its context came before the last load.  That many of all streams together must be
 * complete: those that came after it cannot complete before it.
 *
 * Launches of one executable graph go one after the other, whatever streams they are launched into
 * (sim/workload/executables.h).  A launch waits at its stream's head as for an event that was recorded behind the launch
 * before it: between them there is the gap of an event. */
#include "sim/stream/stream_order.h"

#include <stdlib.h>

#include "sim/stream/waiting.h"
#include "sim/workload/executables.h"

static struct gt_context_state *context_of(const struct gt_machine *m, gt_stream_index stream)
{
    return &m->contexts[m->streams[stream].context];
}

/* Is it a default stream, or one that has to do with it? */
static bool takes_part(const struct gt_machine *m, gt_stream_index stream)
{
    return context_of(m, stream)->null_stream != GT_NONE && !(m->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

static void put_behind_default(struct gt_machine *m, struct gt_stream_command *c)
{
    struct gt_context_state *context = context_of(m, c->stream);

    if (!takes_part(m, c->stream))
        return;
    if (context->null_stream == c->stream) {
        c->behind = context->submitted;
    } else {
        c->behind = m->streams[context->null_stream].submitted;
        context->submitted++;
    }
}

static bool default_stream_lets(const struct gt_machine *m, const struct gt_stream_command *c)
{
    const struct gt_context_state *context = context_of(m, c->stream);

    if (!takes_part(m, c->stream))
        return true;
    return (context->null_stream == c->stream ? context->completed : m->streams[context->null_stream].completed) >=
           c->behind;
}

static bool default_stream_holds(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];
    const struct gt_context_state *context = context_of(m, stream);
    const struct gt_stream_command *c = &m->commands[state->head];
    bool was_held = state->held_by_default;

    state->held_by_default = !default_stream_lets(m, c);
    if (!state->held_by_default || was_held)
        return state->held_by_default;
    m->fired[GT_RULE_DEFAULT_STREAM]++;
    if (context->null_stream != stream)
        gt_stream_add_waiter(m, context->null_stream, c->behind, stream, GT_WAITER_DEFAULT_STREAM);
    return true;
}

static void complete_for_default(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_context_state *context = context_of(m, stream);
    struct gt_stream_state *held;

    if (!takes_part(m, stream) || context->null_stream == stream)
        return; /* streams that the default stream holds are among its waiters */
    context->completed++;
    held = &m->streams[context->null_stream];
    if (!held->held_by_default || default_stream_holds(m, context->null_stream))
        return;
    held->default_release = (struct gt_release){ m->engine.now_ps, GT_CAUSE_OP, m->streams[stream].last_op };
    gt_stream_wake(m, context->null_stream, m->engine.now_ps);
}

static bool loads(const struct gt_machine *m, const struct gt_stream_command *c)
{
    if (c->kind == GT_COMMAND_OP)
        return m->workload->calls[m->workload->ops[c->index].call].flags & GT_CALL_LOADS;
    return c->kind == GT_COMMAND_GRAPH && m->workload->calls[c->index].flags & GT_CALL_LOADS;
}

static void put_behind_load(struct gt_machine *m, struct gt_stream_command *c)
{
    struct gt_context_state *context = context_of(m, c->stream);

    if (loads(m, c))
        context->before_load = context->all_submitted;
    c->before_load = context->before_load;
    context->all_submitted++;
}

static bool load_lets(const struct gt_machine *m, const struct gt_stream_command *c)
{
    return context_of(m, c->stream)->all_completed >= c->before_load;
}

static bool load_holds(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];
    struct gt_context_state *context = context_of(m, stream);
    const struct gt_stream_command *c = &m->commands[state->head];

    if (load_lets(m, c))
        return false;
    if (!state->held_by_load) {
        state->held_by_load = true;
        m->fired[GT_RULE_CODE_LOAD]++;
        if (context->held_by_load++ == 0 || c->before_load < context->least_held)
            context->least_held = c->before_load;
    }
    return true;
}

/* Let go what a load holds no longer, and note how much the others wait for. */
static void release_loaded(struct gt_machine *m, struct gt_context_state *context, gt_op_index last)
{
    gt_context_index number = (gt_context_index)(context - m->contexts);

    context->least_held = UINT64_MAX;
    for (gt_stream_index i = 0; i < m->workload->stream_count; i++) {
        struct gt_stream_state *state = &m->streams[i];
        uint64_t before = state->head == GT_NONE ? 0 : m->commands[state->head].before_load;

        if (state->context != number || !state->held_by_load)
            continue;
        if (context->all_completed < before) {
            context->least_held = before < context->least_held ? before : context->least_held;
            continue;
        }
        state->held_by_load = false;
        context->held_by_load--;
        state->default_release = (struct gt_release){ m->engine.now_ps, GT_CAUSE_OP, last };
        gt_stream_wake(m, i, m->engine.now_ps);
    }
}

static void complete_for_load(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_context_state *context = context_of(m, stream);

    context->all_completed++;
    if (context->held_by_load > 0 && context->all_completed >= context->least_held)
        release_loaded(m, context, m->streams[stream].last_op);
}

static void put_behind_launch(struct gt_machine *m, struct gt_stream_command *graph)
{
    uint32_t executable = m->executable_of_call != NULL ? m->executable_of_call[graph->index] : GT_NONE;
    struct gt_executable_state *last;

    if (executable == GT_NONE)
        return;
    last = &m->executables[executable];
    if (last->number != 0 && last->stream != graph->stream) {
        graph->target_stream = last->stream;
        graph->target_number = last->number;
    }
    *last = (struct gt_executable_state){ graph->stream, graph->number };
}

void gt_stream_order_build(struct gt_machine *m)
{
    uint32_t count;

    m->executable_of_call = gt_executables_of_calls(m->workload, &count);
    if (m->executable_of_call != NULL)
        m->executables = gt_calloc(count, sizeof *m->executables);
}

void gt_stream_order_free(struct gt_machine *m)
{
    free(m->executable_of_call);
    free(m->executables);
}

void gt_stream_order_submit(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command *c = &m->commands[command];

    put_behind_default(m, c);
    put_behind_load(m, c);
    if (c->kind == GT_COMMAND_GRAPH)
        put_behind_launch(m, c);
}

bool gt_stream_order_lets(const struct gt_machine *m, gt_command_index command)
{
    return default_stream_lets(m, &m->commands[command]) && load_lets(m, &m->commands[command]);
}

bool gt_stream_order_holds(struct gt_machine *m, gt_stream_index stream)
{
    return default_stream_holds(m, stream) || load_holds(m, stream);
}

void gt_stream_order_complete(struct gt_machine *m, gt_stream_index stream)
{
    complete_for_default(m, stream);
    complete_for_load(m, stream);
}
