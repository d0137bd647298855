/* sweep.h - unions and intersections of operations' times, in one pass over operations
 * sorted by start: at any moment the sweep knows how many of each class run. */
#ifndef GRIDTIDE_TRACES_STATS_SWEEP_H
#define GRIDTIDE_TRACES_STATS_SWEEP_H

#include "sim/base/heap.h"
#include "sim/workload/workload.h"

/* Classes: copies by direction and memory, memsets by memory, kernels, host functions. */
enum {
    GT_CLASS_COPY = 0,
    GT_CLASS_MEMSET = GT_CLASS_COPY + GT_DIRECTIONS * GT_MEMORIES,
    GT_CLASS_KERNEL = GT_CLASS_MEMSET + GT_MEMORIES,
    GT_CLASS_HOST_FUNCTION,
    GT_CLASSES
};

/* The class of an operation; direction and memory count where the kind has them. */
uint32_t gt_class_of(enum gt_op_kind kind, enum gt_direction direction, enum gt_memory memory);

struct gt_sweep_class {
    uint64_t running;             /* now */
    gt_time_ps busy_ps;           /* any of the class running */
    gt_time_ps kernel_overlap_ps; /* ... and any kernel */
    gt_time_ps other_overlap_ps;  /* ... and a copy of another direction */
};

/* Starts zeroed. */
struct gt_sweep {
    struct gt_heap ends; /* of what runs */
    uint64_t sequence;
    gt_time_ps now_ps;
    uint32_t active; /* classes with something running: a bit each */
    uint64_t running, peak;
    uint64_t copies_running, direction_running[GT_DIRECTIONS];
    gt_time_ps busy_ps, copy_ps, overlap_ps; /* anything; any copy; kernels and copies at once */
    struct gt_sweep_class classes[GT_CLASSES];
};

/* The next operation, [start_ps, end_ps), not before the one added last. Without length it counts nothing. */
void gt_sweep_add(struct gt_sweep *sweep, uint32_t class, gt_time_ps start_ps, gt_time_ps end_ps);
/* Let all that runs end, and free what the sweep holds; the sums stay. */
void gt_sweep_finish(struct gt_sweep *sweep);

#endif
