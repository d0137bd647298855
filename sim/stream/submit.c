#include "sim/stream/submit.h"

#include "sim/stream/default_stream.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/waiting.h"

gt_command_number gt_stream_submit(struct gt_machine *m, gt_command_index number, gt_time_ps visible_ps)
{
    struct gt_stream_command *command = &m->commands[number];
    struct gt_stream_state *stream = &m->streams[command->stream];

    command->submit_ps = m->engine.now_ps;
    command->visible_ps = visible_ps > stream->last_visible_ps ? visible_ps : stream->last_visible_ps;
    stream->last_visible_ps = command->visible_ps;
    command->number = ++stream->submitted;
    gt_default_stream_submit(m, number);
    gt_hw_queue_push(m, number);
    if (stream->head == GT_NONE) {
        stream->head = stream->tail = number;
        gt_stream_wake(m, command->stream, command->visible_ps);
    } else {
        m->commands[stream->tail].next = number;
        stream->tail = number;
    }
    return command->number;
}
