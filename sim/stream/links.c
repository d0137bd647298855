#include "sim/stream/links.h"

#include <stdlib.h>

#include "sim/devices/links.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/waiting.h"

void gt_link_lines_build(struct gt_machine *m)
{
    uint64_t count = (uint64_t)m->gpu_count * m->gpu_count;

    if (m->gpu_count < 2 || m->device->link_in_line == 0)
        return;
    m->link_lines = gt_calloc(count, sizeof *m->link_lines);
    for (uint64_t i = 0; i < count; i++)
        m->link_lines[i].head = GT_NONE;
}

void gt_link_lines_free(struct gt_machine *m)
{
    free(m->link_lines);
}

/* What a command is for its line. */
struct place {
    struct gt_link_line_state *line; /* NULL: it goes its own way */
    bool staged, pulled;
    bool short_one;
};

static struct place place_of(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];
    const struct gt_op *op;
    gt_gpu_index from, to;
    struct gt_link link;
    struct place place = { .line = NULL };

    if (m->link_lines == NULL || c->kind != GT_COMMAND_OP)
        return place;
    op = &m->workload->ops[c->index];
    if (!gt_link_of_copy(m->workload, m->device, op, &link, &from, &to))
        return place;
    place.staged = link.kind == GT_LINK_HOST;
    place.pulled = op->from_peer;
    place.short_one = op->bytes <= (uint64_t)GT_LINK_FIRST_PIECES * m->device->link_host_piece_bytes;
    if (place.pulled || place.staged)
        place.line = &m->link_lines[from * m->gpu_count + to];
    return place;
}

/* May one go while the other one, which was asked for before, still waits? */
static bool passes(const struct place *place, const struct place *ahead)
{
    return place->staged && ahead->staged && place->pulled != ahead->pulled && place->short_one && ahead->short_one;
}

void gt_link_line_push(struct gt_machine *m, gt_command_index command)
{
    struct gt_link_line_state *line = place_of(m, command).line;

    if (line == NULL)
        return;
    m->commands[command].line_next = GT_NONE;
    if (line->head == GT_NONE)
        line->head = command;
    else
        m->commands[line->tail].line_next = command;
    line->tail = command;
}

gt_time_ps gt_link_line_due(const struct gt_machine *m, gt_command_index command)
{
    const struct place place = place_of(m, command);
    gt_command_index head;
    struct place ahead;

    if (place.line == NULL)
        return 0;
    head = place.line->head;
    if (head == command)
        return place.line->handing_on ? 0 : place.line->free_ps;
    ahead = place_of(m, head);
    return m->commands[head].line_next == command && passes(&place, &ahead) ? place.line->free_ps : GT_TIME_NONE;
}

bool gt_link_line_pulls(const struct gt_machine *m, gt_command_index command)
{
    const struct place place = place_of(m, command);

    return place.line != NULL && !place.staged;
}

static void tell(struct gt_machine *m, gt_command_index command, gt_time_ps free_ps, gt_op_index before)
{
    gt_stream_command_hold(m, command, GT_WAIT_ENGINE, free_ps, GT_CAUSE_OP, before);
    gt_stream_wake(m, m->commands[command].stream, free_ps);
}

/* It is the head, or the one behind it. */
static void take_out(struct gt_machine *m, struct gt_link_line_state *line, gt_command_index command)
{
    gt_command_index next = m->commands[command].line_next;

    if (line->head == command) {
        line->head = next;
        return;
    }
    m->commands[line->head].line_next = next;
    if (line->tail == command)
        line->tail = line->head;
}

/* Staged pieces follow each other at once: the next copy's first one is in the host's memory by then. */
gt_stream_index gt_link_line_leave(struct gt_machine *m, gt_command_index command)
{
    const struct place place = place_of(m, command);
    gt_op_index op = m->commands[command].index;
    gt_command_index head;

    if (place.line == NULL)
        return GT_NONE;
    take_out(m, place.line, command);
    place.line->free_ps = m->engine.now_ps + (place.staged ? 0 : m->device->link_line_gap_ps);
    head = place.line->head;
    if (head == GT_NONE)
        return GT_NONE;
    tell(m, head, place.line->free_ps, op);
    if (!place.staged) {
        place.line->handing_on = true;
        return m->commands[head].stream;
    }
    if (m->commands[head].line_next != GT_NONE)
        tell(m, m->commands[head].line_next, place.line->free_ps, op);
    return GT_NONE;
}

void gt_link_line_handed_on(struct gt_machine *m, gt_command_index command)
{
    place_of(m, command).line->handing_on = false;
}

/* Seen on H200 in 1,050 random traces, from the end of a call to its operation's start, medians without and with a copy in
 * at work: kernels 2.2 and 4.4 us, memsets and copies within the device by kernels 1.7 and 3.8, copies out 1.8 and 7.1,
 * small memsets 1.7 and 7.2, small copies in 1.4 and 6.6; the small ones last 0.8 and 3.8 us.  A copy out changes nothing. */
enum { READS_OF_KERNEL = 1, READS_OF_COPY = 2 };

gt_time_ps gt_link_reads_ps(const struct gt_machine *m, gt_gpu_index gpu, uint32_t reads)
{
    const struct gt_engine_state *in = &m->gpus[gpu].engines[0];
    gt_time_ps reads_ps = reads * m->device->link_read_ps;
    double left_ps;

    if (in->running == GT_NONE || m->workload->ops[m->commands[in->running].index].memory == GT_MEMORY_PAGEABLE ||
        m->workload->ops[m->commands[in->running].index].direction != GT_H2D)
        return 0;
    left_ps = in->remaining_ps / in->rate - (double)(m->engine.now_ps - in->updated_ps);
    return left_ps < 0 ? 0 : left_ps < (double)reads_ps ? (gt_time_ps)left_ps : reads_ps;
}

static bool by_kernel(const struct gt_machine *m, const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL || (op->kind == GT_OP_COPY && op->direction == GT_D2D) ||
           (op->kind == GT_OP_MEMSET && op->bytes > m->device->copied_memset_bytes);
}

gt_time_ps gt_link_command_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    if (op->kind == GT_OP_HOST_FUNCTION || op->start_ps != GT_TIME_NONE ||
        m->workload->calls[op->call].flags & GT_CALL_STATED)
        return 0;
    return gt_link_reads_ps(m, m->streams[op->stream].gpu, by_kernel(m, op) ? READS_OF_KERNEL : READS_OF_COPY);
}
