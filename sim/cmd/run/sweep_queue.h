/* sweep_queue.h - which point a worker gets next: those of a trace that it has ready as long as there are any, as a trace
 * is read once by each that has a part of it. */
#ifndef GRIDTIDE_SIM_CMD_RUN_SWEEP_QUEUE_H
#define GRIDTIDE_SIM_CMD_RUN_SWEEP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_sweep_queue {
    struct gt_sweep_queue_trace {
        uint64_t *points; /* to be done: a stack */
        uint64_t count;
        uint32_t workers; /* that were given some of it last */
        bool dropped;
    } * traces;
    uint32_t trace_count;
    uint64_t points_a_trace, left; /* left: points that wait */
    uint64_t *again;               /* points that were given a second time */
    uint64_t again_count;
};

void gt_sweep_queue_begin(struct gt_sweep_queue *queue, const uint64_t *todo, uint64_t count, uint32_t traces,
                          uint64_t points_a_trace);
void gt_sweep_queue_end(struct gt_sweep_queue *queue);
/* A point for a worker that was at `*trace` (GT_NONE: none), and its trace; false, and GT_NONE, where there is none
 * left. */
bool gt_sweep_queue_next(struct gt_sweep_queue *queue, uint64_t *point, uint32_t *trace);
/* The point was not done: once it is put back; false the second time. */
bool gt_sweep_queue_again(struct gt_sweep_queue *queue, uint64_t point);
/* No point of that trace any more; false where that was said before. */
bool gt_sweep_queue_drop(struct gt_sweep_queue *queue, uint32_t trace);

#endif
