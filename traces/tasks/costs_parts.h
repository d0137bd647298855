/* costs_parts.h - times of tasks between their reader (costs.c) and the graphs that take them (costs_attach.c). */
#ifndef GRIDTIDE_TRACES_TASKS_COSTS_PARTS_H
#define GRIDTIDE_TRACES_TASKS_COSTS_PARTS_H

#include "traces/tasks/costs.h"

#define GT_COST_OF_ANY_SIZE UINT64_MAX

/* A row of the table: what a task of this kind and size takes. */
struct gt_cost_row {
    char *kind;
    uint64_t size; /* GT_COST_OF_ANY_SIZE: of any */
    gt_time_ps time_ps;
    bool operations;   /* what the size counts; else bytes */
    uint32_t recorded; /* the kind of the recording that it is of, in place of a time */
    bool used;
};

struct gt_task_costs {
    struct gt_cost_row *costs; /* by kind, then size */
    uint32_t count, room;
    struct gt_task_slices recorded;
    bool is_recorded;
};

#endif
