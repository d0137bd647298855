/* counters.h - the counters of a running task graph: who waits for them, or what they make ready. */
#ifndef GRIDTIDE_SIM_TASKS_COUNTERS_H
#define GRIDTIDE_SIM_TASKS_COUNTERS_H

#include "sim/workload/task_graph.h"

struct gt_task_counter_state {
    gt_time_ps free_ps; /* its address can serve the next atomic from then on */
    uint32_t value;
    uint32_t head; /* polled: the first worker that waits, by rising threshold; else: the first of its waits, in
                    * gt_task_counters.waits, that it has not met */
};

struct gt_task_counters {
    struct gt_task_counter_state *states;
    /* Where tasks are handed out when ready: a counter's waits, its thresholds rising, and what each task still lacks. */
    struct gt_task_met {
        uint32_t wait; /* in graph->waits */
        gt_task_index task;
    } * waits;
    uint32_t *ends; /* of each counter's */
    uint32_t *lacks;
};

/* For a graph, its counters at their initial values.  `handed_out`: `waits` and the rest too; gt_task_counters_free()
 * ends it. */
void gt_task_counters_make(struct gt_task_counters *counters, const struct gt_task_graph *graph, bool handed_out);
void gt_task_counters_free(struct gt_task_counters *counters);

/* One more for a counter, at `now_ps`; returns when it is there. */
gt_time_ps gt_task_counter_signal(struct gt_task_counter_state *counter, gt_time_ps now_ps, gt_time_ps serial_ps);
/* When it reaches `threshold`, which signals that have been sent are enough for: exactly, if that is still to come; else
 * some time that has passed. */
gt_time_ps gt_task_counter_reached_ps(const struct gt_task_counter_state *counter, uint32_t threshold,
                                      gt_time_ps serial_ps);

#endif
