/* Code that is loaded by a launch (CUDA_MODULE_LOADING=LAZY, the default since CUDA 12.2): the first launch of a kernel has the
 * driver put its code on the GPU.  The call returns soon; but what is asked for from it on, in any stream of the context, waits
 * until all that was asked for before is complete.  Seen on an H200: simpleHyperQ of NVIDIA's samples (kernel_A, then kernel_B in
 * each of 32 streams) takes 180, 60, 40, 30 ms with 2, 8, 16, 32 connections, and 170, 50, 30, 20 ms with
 * CUDA_MODULE_LOADING=EAGER: the first kernel_B waits for the first kernel_A, and so do all kernels behind it.
 *
 * Each command remembers how many commands of its context came before the last load.  That many of all streams together must be
 * complete: those that came after it cannot complete before it. */
#include "sim/stream/code_load.h"

#include "sim/stream/waiting.h"

static bool loads(const struct gt_machine *m, const struct gt_stream_command *c)
{
    if (c->kind == GT_COMMAND_OP)
        return m->workload->calls[m->workload->ops[c->index].call].flags & GT_CALL_LOADS;
    return c->kind == GT_COMMAND_GRAPH && m->workload->calls[c->index].flags & GT_CALL_LOADS;
}

static struct gt_context_state *context_of(const struct gt_machine *m, gt_stream_index stream)
{
    return &m->contexts[m->streams[stream].context];
}

void gt_code_load_submit(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command *c = &m->commands[command];
    struct gt_context_state *context = context_of(m, c->stream);

    if (loads(m, c))
        context->before_load = context->all_submitted;
    c->before_load = context->before_load;
    context->all_submitted++;
}

bool gt_code_load_lets(const struct gt_machine *m, gt_command_index command)
{
    return context_of(m, m->commands[command].stream)->all_completed >= m->commands[command].before_load;
}

bool gt_code_load_holds(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];
    struct gt_context_state *context = context_of(m, stream);
    uint64_t before = m->commands[state->head].before_load;

    if (context->all_completed >= before)
        return false;
    if (!state->held_by_load) {
        state->held_by_load = true;
        m->fired[GT_RULE_CODE_LOAD]++;
        if (context->held_by_load++ == 0 || before < context->least_held)
            context->least_held = before;
    }
    return true;
}

/* Let go what is held no longer, and note how much the others wait for. */
static void release(struct gt_machine *m, struct gt_context_state *context, gt_op_index last)
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

void gt_code_load_complete(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_context_state *context = context_of(m, stream);

    context->all_completed++;
    if (context->held_by_load > 0 && context->all_completed >= context->least_held)
        release(m, context, m->streams[stream].last_op);
}
