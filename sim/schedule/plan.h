/* plan.h - who does what, in which order: what a scheduling policy makes of an operator graph before anything runs.
 *
 * A plan is Rammer's rProgram, or several that are launched one after the other: for each operator the implementation
 * that is used, and for each task of it a worker.  Tasks stand in one list in the order in which they were placed; a
 * worker's own list is what is in it for that worker, in that order.
 *
 * While it is made, a plan knows how long it takes: a clock a worker, the end of each operator, by the tasks' own times and
 * what taking, awaiting and signalling one costs in the mean.  By that policies compare schedules, as Rammer does by
 * profiling; it knows nothing of memory that tasks share, nor of atomics that wait for each other.  `gridtide run` does.
 */
#ifndef GRIDTIDE_SIM_SCHEDULE_PLAN_H
#define GRIDTIDE_SIM_SCHEDULE_PLAN_H

#include "sim/schedule/operator_graph.h"

enum gt_barriers {
    GT_BARRIERS_FINE,   /* an operator's tasks wait for the operators before it, and for nothing else */
    GT_BARRIERS_GLOBAL, /* all workers wait for each other between breadth-first waves */
    GT_BARRIERS
};
extern const char *const gt_barriers_names[GT_BARRIERS];

struct gt_plan_costs {
    gt_time_ps launch_ps; /* from one program's end to the next one's start */
    gt_time_ps take_ps;   /* from a worker's being free to its knowing its next task */
    gt_time_ps read_ps;   /* of a task with predecessors: from its being known to its first look at them */
    gt_time_ps wait_ps;   /* ... from then, or from the last one's end being known, to its start */
    gt_time_ps signal_ps; /* of a task with successors: from its end until its worker is free */
    gt_time_ps flight_ps; /* ... from then until other workers know */
};

/* How many workers are resident at once with so much each, at least 1. */
struct gt_plan_room {
    uint32_t (*resident)(const void *user, uint32_t registers_per_thread, uint32_t shared_bytes); /* NULL: no limit */
    const void *user;
};

struct gt_placed_task {
    gt_operator_index op;
    uint32_t worker;
};

/* Clocks count from the start of the first program. */
struct gt_plan {
    const struct gt_operator_graph *graph;
    uint32_t workers; /* of a program, at most */
    enum gt_barriers barriers;
    struct gt_plan_costs costs;
    struct gt_plan_room room;

    uint32_t *chosen; /* of each operator: which of its kind's implementations; GT_NONE: none yet */
    struct gt_placed_task *tasks;
    uint32_t task_count, task_room;
    struct gt_planned_program {
        uint32_t first_task;                         /* in tasks */
        uint32_t workers;                            /* numbers below that have lists */
        uint32_t registers_per_thread, shared_bytes; /* of a worker: the most of what its tasks ask for */
    } * programs;
    uint32_t program_count, program_room;

    gt_time_ps *end_ps;       /* of each operator's tasks so far, when it is known */
    gt_time_ps *level_end_ps; /* of each level's */
    gt_time_ps latest_ps;     /* of all */
    struct gt_workers {       /* of the program at hand */
        gt_time_ps *free_ps;  /* when each has done its list */
        uint32_t *heap;       /* workers by free_ps, then by number: a binary heap */
        uint32_t *places;     /* of each in it */
    } clocks;
};

/* An empty plan / its end.  `graph`, finished, must outlive it; `workers` is 1 at least.  plan->room is the caller's to set. */
struct gt_plan *gt_plan_new(const struct gt_operator_graph *graph, uint32_t workers, enum gt_barriers barriers,
                            const struct gt_plan_costs *costs);
void gt_plan_free(struct gt_plan *plan); /* NULL is allowed */

/* The operator's implementation, before its first task is placed. */
void gt_plan_choose(struct gt_plan *plan, gt_operator_index op, uint32_t implementation);
const struct gt_implementation *gt_plan_chosen(const struct gt_plan *plan, gt_operator_index op);
/* The program at hand shall do these levels, too, whose implementations are chosen: it has as many workers as are resident
 * with the most of what its tasks ask for.  False where these are fewer than it has already, with tasks in their lists. */
bool gt_plan_make_room(struct gt_plan *plan, uint32_t first_level, uint32_t levels);
/* How many workers of a program are resident at once, at least 1. */
uint32_t gt_plan_resident(const struct gt_plan *plan, const struct gt_planned_program *program);
/* How many workers the program at hand has. */
uint32_t gt_plan_workers(const struct gt_plan *plan);
/* When a task of `op` may start as far as others are concerned.  All tasks of its predecessors have been placed;
 * with global barriers all of the level before. */
gt_time_ps gt_plan_ready_ps(const struct gt_plan *plan, gt_operator_index op);
/* The worker that is free first; of several the one of the lowest number. */
uint32_t gt_plan_first_free(const struct gt_plan *plan);
/* One more task of `op` at the end of the list of `worker`. */
void gt_plan_place(struct gt_plan *plan, gt_operator_index op, uint32_t worker);
/* What is placed from here on is a program of its own, launched when those before have ended; nothing where the last
 * one has no task yet. */
void gt_plan_next_program(struct gt_plan *plan);

/* A place to come back to, between two levels: nothing of the level to come is placed yet. */
struct gt_plan_mark {
    uint32_t task_count, program_count;
    struct gt_planned_program program; /* the last one */
    gt_time_ps latest_ps;
    struct gt_workers clocks;
};
struct gt_plan_mark *gt_plan_mark_new(const struct gt_plan *plan);
void gt_plan_mark_free(struct gt_plan_mark *mark);
void gt_plan_mark_set(struct gt_plan_mark *mark, const struct gt_plan *plan);
void gt_plan_back_to(struct gt_plan *plan, const struct gt_plan_mark *mark);

/* Is every task of every operator placed once, and behind all tasks of its predecessors (with global barriers: of lower
 * levels), by workers that are all resident?  Returns 0, or -1 with the first that is not: whoever writes a policy sees what it did. */
int gt_plan_check(const struct gt_plan *plan, struct gt_error *error);

/* What a plan is, in numbers. */
struct gt_plan_size {
    gt_time_ps work_ps;          /* all tasks in a row */
    gt_time_ps critical_path_ps; /* the longest chain of operators, each with a worker for each of its tasks */
    gt_time_ps end_ps;           /* by the plan's clocks */
};
struct gt_plan_size gt_plan_measure(const struct gt_plan *plan);

#endif
