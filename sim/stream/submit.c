#include "sim/stream/submit.h"

#include "sim/stream/graph_groups.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/link_line.h"
#include "sim/stream/stream_order.h"
#include "sim/stream/waiting.h"

gt_command_number gt_stream_submit(struct gt_machine *m, gt_command_index command, gt_time_ps visible_ps)
{
    struct gt_stream_command *c = &m->commands[command];
    struct gt_stream_state *state = &m->streams[c->stream];

    c->submit_ps = m->engine.now_ps;
    c->visible_ps = visible_ps > state->last_visible_ps ? visible_ps : state->last_visible_ps;
    state->last_visible_ps = c->visible_ps;
    c->number = ++state->submitted;
    gt_graph_write_rest(m);
    gt_stream_order_submit(m, command);
    gt_device_sync_submit(m, command);
    gt_link_line_push(m, command);
    if (c->kind != GT_COMMAND_GRAPH || !gt_graph_in_groups(m, command))
        gt_hw_queue_push(m, command);
    if (state->head == GT_NONE) {
        state->head = state->tail = command;
        gt_stream_wake(m, c->stream, c->visible_ps);
    } else {
        m->commands[state->tail].next = command;
        state->tail = command;
        if (m->programmatic) /* it may come before what is ahead of it is over */
            gt_stream_wake(m, c->stream, c->visible_ps);
    }
    return c->number;
}
