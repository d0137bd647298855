/* Memory that is given back and given out again, by the order of calls: who gets it comes after what it waits for. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"

struct record { /* a buffer is used in a stream that is not its own */
    gt_buffer_index buffer;
    gt_stream_index stream;
};

/* How a buffer's memory was given back last. */
struct given {
    gt_step_index step;      /* the free */
    gt_step_index *recorded; /* what its allocator waits for besides: see GT_CALL_RECORD_STREAM */
    uint32_t recorded_count;
    bool in_stream; /* freed in a stream's order */
};

struct gt_order_memory {
    struct gt_memory_map *map; /* NULL: nothing is ever freed */
    struct given *given;       /* by buffer */
    uint32_t buffer_count;
    struct record *records;
    uint32_t record_count, record_room;
};

static bool frees(const struct gt_workload *w)
{
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kind == GT_CALL_FREE)
            return true;
    return false;
}

struct gt_order_memory *gt_order_memory_new(const struct gt_workload *w)
{
    struct gt_order_memory *memory = gt_calloc(1, sizeof *memory);

    memory->map = frees(w) ? gt_memory_new(w, NULL) : NULL;
    memory->given = gt_calloc(w->buffer_count + 1ull, sizeof *memory->given);
    memory->buffer_count = w->buffer_count;
    return memory;
}

void gt_order_memory_free(struct gt_order_memory *memory)
{
    for (gt_buffer_index i = 0; i < memory->buffer_count; i++)
        free(memory->given[i].recorded);
    if (memory->map != NULL)
        gt_memory_end(memory->map);
    free(memory->given);
    free(memory->records);
    free(memory);
}

void gt_order_record_stream(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_memory *memory = order->memory;

    gt_array_grow(memory->records, memory->record_count, memory->record_room);
    memory->records[memory->record_count++] = (struct record){ call->buffer, call->stream };
}

/* What the streams that the buffer was recorded to be used in were asked for until now. */
static void take_records(struct gt_order *order, gt_buffer_index buffer, struct given *given)
{
    struct gt_order_memory *memory = order->memory;
    uint32_t kept = 0, room = 0;

    for (uint32_t i = 0; i < memory->record_count; i++) {
        gt_step_index last = gt_order_last(order, memory->records[i].stream);

        if (memory->records[i].buffer != buffer) {
            memory->records[kept++] = memory->records[i];
            continue;
        }
        if (last == GT_NONE)
            continue;
        gt_array_grow(given->recorded, given->recorded_count, room);
        given->recorded[given->recorded_count++] = last;
    }
    memory->record_count = kept;
}

static gt_step_index add_free(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream != GT_NONE)
        return gt_order_ask(order, call->thread, call->stream, GT_STEP_PLAIN, GT_NONE);
    gt_order_synchronise(order, index);
    return gt_steps_add(&order->steps, order->threads[call->thread].line, GT_STEP_PLAIN, GT_NONE);
}

static void mark_given(void *user, struct gt_segment *segment)
{
    segment->freed = *(const gt_buffer_index *)user;
}

void gt_order_release(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_memory *memory = order->memory;
    struct given *given = &memory->given[call->buffer];
    gt_buffer_index buffer = call->buffer;
    struct gt_memory_range range;
    gt_step_index waits;

    free(given->recorded); /* all that it was of is given back anew */
    *given = (struct given){ .step = add_free(order, index), .in_stream = call->stream != GT_NONE };
    take_records(order, buffer, given);
    waits = gt_steps_add(&order->steps, GT_NONE, GT_STEP_GIVEN_BACK, index);
    gt_steps_order(&order->steps, given->step, waits);
    for (uint32_t i = 0; i < given->recorded_count; i++)
        gt_steps_order(&order->steps, given->recorded[i], waits);
    range = gt_memory_of_buffer(memory->map, buffer);
    gt_memory_visit(memory->map, range, mark_given, &buffer);
    gt_memory_merge(memory->map, range);
}

/* An alloc that is looked at, and the frees in a stream's order that its own stream comes after. */
struct getting {
    struct gt_order *order;
    const struct gt_call *call;
    gt_step_index *frees;
    uint32_t count, room;
};

static void get_segment(void *user, struct gt_segment *segment)
{
    struct getting *getting = user;
    struct gt_order *order = getting->order;
    const struct given *given;

    if (segment->freed == GT_NONE)
        return;
    given = &order->memory->given[segment->freed];
    segment->freed = GT_NONE;
    for (uint32_t i = 0; i < given->recorded_count; i++)
        gt_order_see(order, getting->call->thread, given->recorded[i]);
    if (!given->in_stream || getting->call->stream == GT_NONE) {
        gt_order_see(order, getting->call->thread, given->step);
        return;
    }
    gt_array_grow(getting->frees, getting->count, getting->room);
    getting->frees[getting->count++] = given->step;
}

void gt_order_alloc(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_memory *memory = order->memory;
    struct getting getting = { .order = order, .call = call };
    gt_step_index step;

    if (memory->map != NULL) {
        struct gt_memory_range range = gt_memory_of_buffer(memory->map, call->buffer);

        gt_memory_visit(memory->map, range, get_segment, &getting);
        gt_memory_merge(memory->map, range);
    }
    if (call->stream != GT_NONE) {
        step = gt_order_ask(order, call->thread, call->stream, GT_STEP_PLAIN, GT_NONE);
        for (uint32_t i = 0; i < getting.count; i++)
            gt_steps_order(&order->steps, getting.frees[i], step);
    }
    free(getting.frees);
}
