/* heap.h - events to come, ordered by (time, phase, sequence): a 4-ary heap of values.
 *
 * Phase settles ties at one time: what ends goes before what wakes, and that
 * before what the host asks next, so that a freed resource is seen by whoever
 * asks at the same picosecond.  Sequence (order of scheduling) settles the rest.
 */
#ifndef GRIDTIDE_SIM_BASE_HEAP_H
#define GRIDTIDE_SIM_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_heap_event {
    uint64_t time_ps;
    uint64_t order;   /* phase in the top 8 bits, sequence below */
    uint32_t handler; /* which handler of the engine's table */
    uint32_t subject; /* its argument: an index */
    uint64_t stamp;   /* generation: a handler ignores an event whose stamp is old */
};

struct gt_heap {
    struct gt_heap_event *events;
    size_t count, room;
};

void gt_heap_push(struct gt_heap *heap, struct gt_heap_event event);
struct gt_heap_event gt_heap_pop(struct gt_heap *heap); /* heap->count must not be 0 */
/* Take out all events that `choose` answers true to, which may keep them; it is asked once for each, in no order. */
void gt_heap_take(struct gt_heap *heap, bool (*choose)(void *user, const struct gt_heap_event *event), void *user);
void gt_heap_free(struct gt_heap *heap);

#endif
