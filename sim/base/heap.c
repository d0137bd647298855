#include "sim/base/heap.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/error.h"

static bool before(const struct gt_heap_event *a, const struct gt_heap_event *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

/* Into a hole, or above it where it goes before what is there. */
static void put(struct gt_heap *heap, size_t hole, struct gt_heap_event event)
{
    while (hole > 0 && before(&event, &heap->events[(hole - 1) / 4])) {
        heap->events[hole] = heap->events[(hole - 1) / 4];
        hole = (hole - 1) / 4;
    }
    heap->events[hole] = event;
}

void gt_heap_push(struct gt_heap *heap, struct gt_heap_event event)
{
    gt_array_grow(heap->events, heap->count, heap->room);
    put(heap, heap->count++, event);
}

/* The event that was last mostly belongs at the bottom: the hole goes there without asking on the way. */
struct gt_heap_event gt_heap_pop(struct gt_heap *heap)
{
    struct gt_heap_event top, last;
    size_t hole = 0;

    if (heap->count == 0)
        gt_bug("pop of an empty event heap");
    top = heap->events[0];
    last = heap->events[--heap->count];
    for (;;) {
        size_t first = hole * 4 + 1, best = first, end = first + 4;

        if (first >= heap->count)
            break;
        if (end > heap->count)
            end = heap->count;
        for (size_t child = first + 1; child < end; child++) {
            if (before(&heap->events[child], &heap->events[best]))
                best = child;
        }
        heap->events[hole] = heap->events[best];
        hole = best;
    }
    if (heap->count > 0)
        put(heap, hole, last);
    return top;
}

void gt_heap_take(struct gt_heap *heap, bool (*choose)(void *user, const struct gt_heap_event *event), void *user)
{
    size_t count = heap->count;

    heap->count = 0;
    for (size_t i = 0; i < count; i++) { /* those that stay move to places before their own */
        struct gt_heap_event event = heap->events[i];

        if (!choose(user, &event))
            put(heap, heap->count++, event);
    }
}

void gt_heap_free(struct gt_heap *heap)
{
    free(heap->events);
    heap->events = NULL;
    heap->count = heap->room = 0;
}
