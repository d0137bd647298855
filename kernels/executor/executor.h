/* executor.h - a task graph as arrays on the GPU, and the kernel whose blocks walk it.
 *
 * A worker is a block.  It asks for a task, waits until the task's counters are there, works, counts up the counters
 * that the task signals, writes down when all that was, and asks again until there are no more.  Thread 0 takes and
 * reads the clock; the first warp's lanes poll the task's counters side by side, and signal them so, 32 at a time, so
 * that a task with several waits or signals costs hardly more than one with one.  The rest of the block waits at a
 * barrier before and after the work.
 *
 * How a worker gets its next task:
 *   SHARED  one atomic addition to the head of the one list; whoever got a task polls its counters.
 *   READY   a ticket (one atomic addition), then polls that slot of the queue until a task is in it.  Whoever counts a
 *           counter up (an atomic with an answer) counts down what each task waits for that this let go (one more
 *           atomic a task, 32 tasks side by side); those with nothing left are pushed together: one atomic to the tail,
 *           then a store to each slot.
 *   STEAL   its own deque first: a load and a compare-and-swap of one word (both ends of the deque); a push is one
 *           atomic addition to it.  With an empty deque of its own the first warp looks at 32 others at a time, from a
 *           random one on, in turn; the first of them that has some is tried, one compare-and-swap at its old end.
 *           After a turn over all it looks whether all tasks have been taken.  What is let go is found as for READY.
 *   STATIC  the next of its own list: a load.  Then it polls, as for SHARED.
 *   MIXED   its own list first, then SHARED.
 *
 * Going: a gt_executor_plan, gt_executor_image_make(), copies of both parts in device memory, gt_executor_place(), and
 * the result as gt_gpu_launch.tasks.  Before each launch the state must be the image's again.
 */
#ifndef GRIDTIDE_KERNELS_EXECUTOR_EXECUTOR_H
#define GRIDTIDE_KERNELS_EXECUTOR_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gt_executor_policy {
    GT_EXECUTOR_SHARED,
    GT_EXECUTOR_READY,
    GT_EXECUTOR_STEAL,
    GT_EXECUTOR_STATIC,
    GT_EXECUTOR_MIXED,
    GT_EXECUTOR_POLICIES
};
extern const char *const gt_executor_policy_names[GT_EXECUTOR_POLICIES];

/* What a task does.  Tiles, element-wise ones, reductions and those that move read numbers that never change and write to
 * a place of the task's own, so that any graph may hold them; products and cells work in a memory that they share
 * (network.h), each on what others have left there. */
enum gt_executor_work {
    GT_EXECUTOR_SPIN,        /* amount: SM cycles */
    GT_EXECUTOR_TILE,        /* 32 x 32 elements of a product of matrices; amount: terms of each */
    GT_EXECUTOR_ELEMENTWISE, /* y = 2 x + 1; amount: elements */
    GT_EXECUTOR_REDUCTION,   /* a sum; amount: elements */
    GT_EXECUTOR_PRODUCT,     /* a matrix by a vector; amount: gt_executor_pair(rows, columns) */
    GT_EXECUTOR_CELL,        /* an LSTM's; amount: gt_executor_pair(elements, 0) */
    GT_EXECUTOR_MOVE, /* bytes from memory, multiply-adds beside; amount: gt_executor_pair(of 4 KiB, of 1,024) */
    GT_EXECUTOR_WORKS
};
extern const char *const gt_executor_work_names[GT_EXECUTOR_WORKS];

struct gt_executor_task {
    uint64_t amount; /* of its work */
    uint32_t first_wait, first_signal, first_made;
    uint32_t first_place; /* products and cells: in the plan's places */
    uint16_t waits, signals, made;
    uint16_t work; /* gt_executor_work, or what another kernel that walks a graph makes of it */
};

/* Two numbers as an amount. */
static inline uint64_t gt_executor_pair(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

struct gt_executor_wait { /* begins once `counter` is at least `threshold` */
    uint32_t counter, threshold;
};

/* On the host: what is to be walked, and how.  Arrays stay the caller's. */
struct gt_executor_plan {
    enum gt_executor_policy policy;
    uint32_t workers;
    uint64_t seed; /* of the turns in which thieves look */
    const struct gt_executor_task *tasks;
    uint32_t task_count;
    const uint32_t *task_workers; /* whose list each is in; GT_EXECUTOR_ANY: nobody's; NULL: all are nobody's */
    const struct gt_executor_wait *waits;
    const uint32_t *signals, *made;
    const uint32_t *initial; /* values of the counters before the launch */
    uint32_t counter_count;
    const uint32_t *places; /* of products and cells, as many a task as its work has (network.h) */
    uint32_t place_count;
};
#define GT_EXECUTOR_ANY UINT32_MAX

/* Which arrays lie where in the image's two parts, bytes from their beginnings. */
struct gt_executor_layout {
    size_t tasks, waits, signals, made, places, order, list_first, list, counter_base, release_first, released;
    size_t head, tail, taken, gave_up, counters, missing, slots, deques, entries;
};

struct gt_executor_image {
    void *graph, *state; /* the part that stays as it is; the one that a launch uses up */
    size_t graph_bytes, state_bytes;
    struct gt_executor_layout at;
    enum gt_executor_policy policy;
    uint32_t workers, task_count, order_count;
    uint64_t seed;
};

/* Words that many workers count up at once have a sector each. */
enum { GT_EXECUTOR_COUNTER_BYTES = 32 };

/* By the SM's clock; the block log of the same launch ties it to the global timer. All zero: not done. */
struct gt_executor_log {
    uint64_t asked_cycles, taken_cycles, start_cycles, end_cycles;
    uint32_t worker, stolen;
};

/* What the kernel is given: device pointers. */
struct gt_executor {
    const struct gt_executor_task *tasks;
    const struct gt_executor_wait *waits;
    const uint32_t *signals, *made, *places;
    const uint32_t *order;         /* SHARED, MIXED: what the list holds */
    const uint32_t *list_first;    /* STATIC, MIXED: where a worker's own begins, up to the next one's */
    const uint32_t *list;          /* ... here */
    const uint32_t *counter_base;  /* READY, STEAL: a counter that comes to v lets go from */
    const uint32_t *release_first; /* release_first[counter_base[counter] + v] on, up to the next, */
    const uint32_t *released;      /* of these tasks */
    uint32_t *head, *tail;         /* of the list or queue */
    uint32_t *taken;               /* STEAL: tasks, by anybody */
    uint32_t *gave_up;             /* somebody waited without end */
    uint32_t *counters;            /* GT_EXECUTOR_COUNTER_BYTES each */
    uint32_t *missing;             /* READY, STEAL: what each task still waits for */
    uint32_t *slots;               /* READY: task + 1; 0: not there yet */
    uint64_t *deques;              /* STEAL: newest end << 32 | oldest; GT_EXECUTOR_COUNTER_BYTES each */
    uint32_t *entries;             /* task_count for each deque */
    struct gt_executor_log *log;   /* a record a task; NULL: none */
    void *data;                    /* the launch's scratch: what tasks work on that do not spin */
    float *network;                /* what products and cells work in; the caller's to set */
    int works, moves;              /* gt_executor_works(), gt_executor_moves(); the caller's to set */
    uint64_t task_output_bytes;    /* of it each has so much of its own: gt_executor_output_bytes() */
    uint64_t seed;
    enum gt_executor_policy policy;
    uint32_t workers, task_count, order_count;
    volatile uint32_t *never; /* NULL, which the compiler cannot know */
};

/* Arrange a plan for the GPU. Returns 0 (then gt_executor_image_free), or -1 with what is wrong with it: a list
 * without its worker, a task made by another where nobody looks for such, more than memory holds. */
int gt_executor_image_make(const struct gt_executor_plan *plan, struct gt_executor_image *image,
                           struct gt_error *error);
void gt_executor_image_free(struct gt_executor_image *image);

/* The image's two parts as they lie in device memory. Log and output bytes are the caller's to set. */
struct gt_executor gt_executor_place(const struct gt_executor_image *image, void *graph, void *state);

/* Device memory of its own that a task's work needs, the most of all; 0 where none has such. */
uint64_t gt_executor_output_bytes(const struct gt_executor_task *tasks, uint32_t task_count);

/* The most that a task's amount may be of tiles, element-wise ones and reductions; what one that moves counts in. */
enum { GT_EXECUTOR_AMOUNT_MOST = 1 << 20, GT_EXECUTOR_TILE_SIDE = 32 };
enum { GT_EXECUTOR_MOVE_BYTES = 4096, GT_EXECUTOR_MOVE_OPERATIONS = 2048 };
/* Does any of these tasks do more than spin; and does one move bytes, so that the executor's scratch has a ring of memory? */
int gt_executor_works(const struct gt_executor_task *tasks, uint32_t task_count);
int gt_executor_moves(const struct gt_executor_task *tasks, uint32_t task_count);
/* Drive what they read out of the L2 cache, on launch->stream; nothing where none moves. */
struct gt_gpu_launch;
int gt_executor_forget(const struct gt_gpu_launch *launch); /* a cudaError_t */

#ifdef __cplusplus
}
#endif
#endif
