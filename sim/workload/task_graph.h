/* task_graph.h - work that the blocks of one kernel hand out among themselves.
 *
 * A persistent kernel's resident blocks are workers; each takes a task, waits until the task's counters have reached
 * their thresholds, does it, and counts up the counters that the task signals.  How a worker gets its next task is the
 * kernel's task policy (sim/tasks/policy.h): a launch names it, and the graph.
 *
 * A graph is filled once, by gt_task_graph_add_...(), in order: a task's waits, signals, made tasks and accesses right
 * after the task.  Then it does not change, and workloads share it.  Names are numbers of the workload's names.
 * Everything is plain arrays, some 100 bytes a task, for graphs have millions.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_TASK_GRAPH_H
#define GRIDTIDE_SIM_WORKLOAD_TASK_GRAPH_H

#include "sim/workload/workload.h"

typedef uint32_t gt_task_index;
typedef uint32_t gt_task_kind_index;
typedef uint32_t gt_task_counter_index;
typedef uint32_t gt_task_buffer_index;
typedef uint32_t gt_worker_index; /* the block of the grid, linear */

enum { GT_MOST_WORKERS = 1 << 20 }; /* a grid of so many blocks is the largest that does tasks */

/* What one task of a kind takes. */
enum gt_task_cost {
    GT_TASK_COST_NONE,  /* not known: from its bytes and operations (roofline), or its kind's program */
    GT_TASK_COST_FIXED, /* min_ps */
    GT_TASK_COST_RANGE, /* min_ps to max_ps, uniform, seeded */
    GT_TASK_COST_LIST,  /* task number i of the graph takes [i % list_length] */
    GT_TASK_COST_HEAVY, /* Pareto: min_ps / u^(1/tail), u uniform in (0,1], at most max_ps */
    GT_TASK_COSTS
};
extern const char *const gt_task_cost_names[GT_TASK_COSTS];

struct gt_task_kind {
    uint32_t name;
    enum gt_task_cost cost;
    gt_time_ps min_ps, max_ps;
    gt_time_ps *list_ps;
    uint32_t list_length;
    double tail;
    uint64_t bytes, operations; /* that a task moves and does, where it does not say itself */
    /* The kernel has the most of its kinds' resources. */
    uint32_t registers_per_thread, static_shared_bytes;
    uint32_t runs,
        arguments; /* what the executor on a real GPU does for it, as of struct gt_kernel; GT_NONE: spins */
    const struct gt_program *program; /* one of the workload's; NULL: not known */
};

struct gt_task {
    gt_time_ps time_ps;         /* GT_TIME_NONE: as its kind says */
    uint64_t bytes, operations; /* GT_TASK_AS_KIND: as its kind says */
    uint32_t name;              /* GT_NONE: none */
    gt_task_kind_index kind;
    gt_worker_index worker; /* whose list it is in, in the order of tasks; GT_NONE: anybody's */
    uint32_t first_wait, first_signal, first_made, first_access;
    uint16_t waits, signals, made, accesses;
    uint32_t line; /* of its definition; 0: unknown */
};
#define GT_TASK_AS_KIND UINT64_MAX

struct gt_task_wait { /* begins once `counter` is at least `threshold` */
    gt_task_counter_index counter;
    uint32_t threshold;
};
struct gt_task_counter {
    uint32_t name; /* GT_NONE: none */
    uint32_t initial;
};
struct gt_task_buffer {
    uint32_t name;
    uint64_t bytes;
    bool given; /* it has its contents before the launch: a weight, an input */
};
struct gt_task_access {
    gt_task_buffer_index buffer;
    bool writes;
};

struct gt_task_graph {
    uint32_t name;
    uint32_t number;  /* among the workload's graphs: its times are drawn by that, and by the seed */
    uint32_t line;    /* of its definition; 0: unknown */
    uint32_t sharers; /* workloads beside the first that point to it */
    /* From the end of a task to the start of the next one of its worker's list, where tasks wait for nothing and that was
     * recorded; GT_TIME_NONE: what the device says (sim/tasks/policy.h). */
    gt_time_ps between_ps;
    struct gt_task_kind *kinds;
    uint32_t kind_count, kind_room;
    struct gt_task *tasks;
    uint32_t task_count, task_room;
    struct gt_task_counter *counters;
    uint32_t counter_count, counter_room;
    struct gt_task_wait *waits;
    uint32_t wait_count, wait_room;
    gt_task_counter_index *signals; /* each counted up by one when the task ends */
    uint32_t signal_count, signal_room;
    gt_task_index *made; /* tasks that exist from the end of the task on that makes them, not before */
    uint32_t made_count, made_room;
    struct gt_task_buffer *buffers;
    uint32_t buffer_count, buffer_room;
    struct gt_task_access *accesses;
    uint32_t access_count, access_room;
};

/* An empty graph / the end of one, once the last workload that shares it lets go. NULL is allowed. */
struct gt_task_graph *gt_task_graph_new(uint32_t name);
void gt_task_graph_free(struct gt_task_graph *graph);

/* One like it, of a workload that calls things otherwise: `name` (NULL: the names are the same) gives the number of each
 * name, GT_NONE for GT_NONE. */
struct gt_task_graph *gt_task_graph_copy(const struct gt_task_graph *graph,
                                         uint32_t (*name)(void *user, uint32_t name), void *user);
/* Each task takes so many times as long; one that says no time moves and does so many times as much. */
void gt_task_graph_scale(struct gt_task_graph *graph, double factor);

/* Append one element with "none" fields and return its index. */
gt_task_kind_index gt_task_graph_add_kind(struct gt_task_graph *graph, uint32_t name);
gt_task_index gt_task_graph_add_task(struct gt_task_graph *graph, gt_task_kind_index kind);
gt_task_counter_index gt_task_graph_add_counter(struct gt_task_graph *graph, uint32_t name, uint32_t initial);
gt_task_buffer_index gt_task_graph_add_buffer(struct gt_task_graph *graph, const struct gt_task_buffer *buffer);
/* Of the task added last; 65535 of each at most. */
void gt_task_graph_add_wait(struct gt_task_graph *graph, gt_task_counter_index counter, uint32_t threshold);
void gt_task_graph_add_signal(struct gt_task_graph *graph, gt_task_counter_index counter);
void gt_task_graph_add_made(struct gt_task_graph *graph, gt_task_index made);
void gt_task_graph_add_access(struct gt_task_graph *graph, gt_task_buffer_index buffer, bool writes);

/* What task `number` takes alone: its own time, or its kind's, drawn by `seed`; GT_TIME_NONE where only bytes, operations
 * or a program say it.  The same arguments give the same time anywhere, on the GPU too. */
gt_time_ps gt_task_cost_ps(const struct gt_task_graph *graph, gt_task_index task, uint64_t seed);
uint64_t gt_task_bytes(const struct gt_task_graph *graph, gt_task_index task);
uint64_t gt_task_operations(const struct gt_task_graph *graph, gt_task_index task);

/* Hand over a graph, which the workload then owns and frees: kernels may point to it. */
void gt_workload_add_task_graph(struct gt_workload *workload, struct gt_task_graph *graph);

#endif
