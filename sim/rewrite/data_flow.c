#include "sim/rewrite/data_flow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

static const struct gt_buffer_access *access_of(const struct gt_workload *w, const struct gt_op *op, uint32_t i)
{
    return &w->accesses[op->first_access + i];
}

/* Does it say of this side what it touches, in buffers? */
static bool tells(const struct gt_workload *w, const struct gt_op *op, bool writes)
{
    bool told = false;

    for (uint32_t i = 0; i < op->accesses; i++) {
        const struct gt_buffer_access *access = access_of(w, op, i);

        if (access->buffer == GT_NONE || access->possible)
            return false;
        told |= access->writes == writes;
    }
    return told;
}

static bool is_known(const struct gt_workload *w, const struct gt_op *op)
{
    if (op->kind == GT_OP_HOST_FUNCTION)
        return false;
    if (op->kind == GT_OP_COPY && op->direction == GT_D2H)
        return tells(w, op, false);
    if (op->kind == GT_OP_COPY && op->direction != GT_H2D)
        return tells(w, op, false) && tells(w, op, true);
    return tells(w, op, true);
}

static bool call_is_known(const struct gt_workload *w, const struct gt_call *call)
{
    for (uint32_t i = 0; i < call->ops; i++)
        if (!is_known(w, &w->ops[call->first_op + i]))
            return false;
    return call->ops > 0;
}

static int by_address(const void *a, const void *b, void *user)
{
    const struct gt_buffer *buffers = user;
    uint64_t left = buffers[*(const uint32_t *)a].address, right = buffers[*(const uint32_t *)b].address;

    return (left > right) - (left < right);
}

static uint64_t buffer_end(const struct gt_buffer *buffer)
{
    return buffer->bytes > UINT64_MAX - buffer->address ? UINT64_MAX : buffer->address + buffer->bytes;
}

/* Sweep the buffers with addresses in their order. */
static void find_memory(struct gt_data_flow *flow)
{
    const struct gt_workload *w = flow->w;
    uint32_t *order = gt_calloc(w->buffer_count + 1ull, sizeof *order), count = 0;
    uint64_t end = 0;

    for (uint32_t i = 0; i < w->buffer_count; i++) {
        flow->memory[i] = i;
        if (w->buffers[i].address != GT_ADDRESS_NONE)
            order[count++] = i;
    }
    qsort_r(order, count, sizeof *order, by_address, w->buffers);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_buffer *buffer = &w->buffers[order[i]];

        if (i > 0 && (buffer->address < end || buffer->address == w->buffers[order[i - 1]].address))
            flow->memory[order[i]] = flow->memory[order[i - 1]];
        end = buffer_end(buffer) > end ? buffer_end(buffer) : end;
    }
    free(order);
}

void gt_data_flow_begin(struct gt_data_flow *flow, const struct gt_workload *w)
{
    *flow = (struct gt_data_flow){
        .w = w,
        .known = gt_calloc(w->call_count + 1ull, sizeof *flow->known),
        .memory = gt_calloc(w->buffer_count + 1ull, sizeof *flow->memory),
        .touches = gt_calloc(w->buffer_count + 1ull, sizeof *flow->touches),
        .since = gt_calloc(w->stream_count + 1ull, sizeof *flow->since),
    };
    for (uint32_t i = 0; i < w->call_count; i++)
        flow->known[i] = call_is_known(w, &w->calls[i]);
    find_memory(flow);
}

void gt_data_flow_free(struct gt_data_flow *flow)
{
    for (uint32_t i = 0; i < flow->w->buffer_count; i++)
        free(flow->touches[i].list);
    free(flow->known);
    free(flow->memory);
    free(flow->touches);
    free(flow->since);
}

/* The bytes, from the memory's lowest address or else the buffer's begin. */
static struct gt_touch touch_of(const struct gt_workload *w, const struct gt_buffer_access *access)
{
    const struct gt_buffer *buffer = &w->buffers[access->buffer];
    uint64_t base = buffer->address != GT_ADDRESS_NONE ? buffer->address : 0;
    uint64_t bytes = access->bytes != 0               ? access->bytes
                     : buffer->bytes > access->offset ? buffer->bytes - access->offset
                                                      : 0;
    struct gt_touch touch = { .from = base + access->offset, .writes = access->writes };

    touch.to = bytes == 0 || bytes > UINT64_MAX - touch.from ? UINT64_MAX : touch.from + bytes;
    return touch;
}

bool gt_data_flow_knows(const struct gt_data_flow *flow, gt_op_index op)
{
    return is_known(flow->w, &flow->w->ops[op]);
}

bool gt_data_flow_conflict(const struct gt_data_flow *flow, gt_op_index one, gt_op_index other)
{
    const struct gt_op *a = &flow->w->ops[one], *b = &flow->w->ops[other];

    for (uint32_t i = 0; i < a->accesses; i++) {
        const struct gt_buffer_access *first = access_of(flow->w, a, i);
        struct gt_touch touch = touch_of(flow->w, first);

        for (uint32_t j = 0; j < b->accesses; j++) {
            const struct gt_buffer_access *second = access_of(flow->w, b, j);
            struct gt_touch beside = touch_of(flow->w, second);

            if (flow->memory[first->buffer] == flow->memory[second->buffer] && touch.from < beside.to &&
                beside.from < touch.to && (touch.writes || beside.writes))
                return true;
        }
    }
    return false;
}

static struct gt_touches *touches_of(struct gt_data_flow *flow, const struct gt_buffer_access *access)
{
    return &flow->touches[flow->memory[access->buffer]];
}

void gt_data_flow_visit(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream,
                        void (*visit)(void *user, const struct gt_touch *touch), void *user)
{
    const struct gt_call *c = &flow->w->calls[call];

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++) {
        for (uint32_t i = 0; i < flow->w->ops[op].accesses; i++) {
            const struct gt_buffer_access *access = access_of(flow->w, &flow->w->ops[op], i);
            struct gt_touch now = touch_of(flow->w, access);
            struct gt_touches *touches = touches_of(flow, access);

            for (uint32_t j = 0; j < touches->count; j++) {
                const struct gt_touch *touch = &touches->list[j];

                if (touch->stream == stream && touch->call >= flow->since[stream] && touch->from < now.to &&
                    now.from < touch->to && (touch->writes || now.writes))
                    visit(user, touch);
            }
        }
    }
}

/* What comes after `now` in the list's order need not look at `touch` any more. */
static bool supersedes(const struct gt_data_flow *flow, const struct gt_touch *now, const struct gt_touch *touch)
{
    if (touch->call < flow->since[touch->stream])
        return true;
    if (touch->stream != now->stream || touch->from < now->from || touch->to > now->to)
        return false;
    return now->writes || (touch->target == now->target && !touch->writes);
}

void gt_data_flow_add(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream, gt_stream_index target)
{
    const struct gt_call *c = &flow->w->calls[call];

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++) {
        for (uint32_t i = 0; i < flow->w->ops[op].accesses; i++) {
            const struct gt_buffer_access *access = access_of(flow->w, &flow->w->ops[op], i);
            struct gt_touches *touches = touches_of(flow, access);
            struct gt_touch now = touch_of(flow->w, access);
            uint32_t kept = 0;

            now.call = call;
            now.stream = stream;
            now.target = target;
            for (uint32_t j = 0; j < touches->count; j++)
                if (!supersedes(flow, &now, &touches->list[j]))
                    touches->list[kept++] = touches->list[j];
            touches->count = kept;
            gt_array_grow(touches->list, touches->count, touches->room);
            touches->list[touches->count++] = now;
        }
    }
}

void gt_data_flow_clear(struct gt_data_flow *flow, gt_stream_index stream, gt_call_index call)
{
    flow->since[stream] = call;
}
