/* operator_graph.h - what a network computes, before it is decided who does it when.
 *
 * Operators, and which of them need what others make.  An operator has one or more implementations: Rammer (Ma et al.,
 * OSDI 2020) calls them rKernels.  Each cuts it into tasks that are alike and need nothing of each other (rTasks), which
 * workers (vEUs) do one at a time.  Many operators may be of one kind, and share its implementations.
 *
 * Fill it with gt_operator_graph_add_...(), then gt_operator_graph_finish().  traces/operators reads one from a file.
 */
#ifndef GRIDTIDE_SIM_SCHEDULE_OPERATOR_GRAPH_H
#define GRIDTIDE_SIM_SCHEDULE_OPERATOR_GRAPH_H

#include "sim/workload/workload.h"

typedef uint32_t gt_operator_index;

struct gt_implementation {
    char *name;          /* NULL: none */
    uint32_t tasks;      /* 1 at least */
    gt_time_ps task_ps;  /* of each, alone on its worker */
    gt_time_ps *list_ps; /* what tasks take one after the other, around; NULL: all task_ps.  Plans go by that */
    uint32_t list_length;
    gt_time_ps block_ps;        /* of each, as a block of a plain launch; 0: as long */
    uint64_t bytes, operations; /* that a task moves and does; 0: not known */
    uint32_t registers_per_thread, shared_bytes;
    char *runs,
        *arguments; /* what a player does for a task of a plan, as of struct gt_task_kind; NULL: it spins.  Where
                               * its operators say what they read and write, it does that for blocks of launches, too */
};

struct gt_operator_kind {
    char *name;
    struct gt_implementation *implementations;
    uint32_t count, room;
};

struct gt_operator {
    char *name;
    uint32_t kind;
    uint32_t first_predecessor, predecessors; /* in `predecessors`: operators that must have ended before */
    uint32_t first_access, accesses;          /* in `accesses`: buffers that it reads, then those that it writes */
    uint32_t first_successor, successors;     /* in `successors`: operators that wait for it; by finish() */
    uint32_t level; /* its breadth-first wave: 0 without predecessors, else one more than theirs */
    uint32_t line;  /* of its definition; 0: unknown */
};

struct gt_operator_buffer { /* what operators that are played with real work read and write */
    char *name;
    uint64_t bytes;
};
struct gt_operator_access {
    uint32_t buffer;
    bool writes;
};

struct gt_operator_graph {
    char *name;   /* NULL: none */
    char *device; /* that it is meant for; NULL: none */
    char *note;   /* what its times are; NULL: not said */
    uint32_t workers_per_sm, block_threads;
    struct gt_operator_kind *kinds;
    uint32_t kind_count, kind_room;
    struct gt_operator *operators;
    uint32_t operator_count, operator_room;
    gt_operator_index *predecessors, *successors;
    uint32_t predecessor_count, predecessor_room;
    struct gt_operator_buffer *buffers;
    uint32_t buffer_count, buffer_room;
    struct gt_operator_access *accesses;
    uint32_t access_count, access_room;
    /* By finish(): operators by level, in the order of the graph within one; that is a topological order. */
    gt_operator_index *by_level;
    uint32_t *first_of_level; /* in by_level; levels + 1 of them */
    uint32_t levels;
};

struct gt_operator_graph *gt_operator_graph_new(void);
void gt_operator_graph_free(struct gt_operator_graph *graph); /* NULL is allowed */

/* Append one; names are copied. */
uint32_t gt_operator_graph_add_kind(struct gt_operator_graph *graph, const char *name);
struct gt_implementation *gt_operator_graph_add_implementation(struct gt_operator_graph *graph, uint32_t kind);
gt_operator_index gt_operator_graph_add_operator(struct gt_operator_graph *graph, const char *name, uint32_t kind);
/* `op` comes after `before`.  All that one operator comes after is said in a row. */
void gt_operator_graph_add_predecessor(struct gt_operator_graph *graph, gt_operator_index op,
                                       gt_operator_index before);

uint32_t gt_operator_graph_add_buffer(struct gt_operator_graph *graph, const char *name, uint64_t bytes);
/* `op` reads or writes a buffer.  All of one operator is said in a row. */
void gt_operator_graph_add_access(struct gt_operator_graph *graph, gt_operator_index op, uint32_t buffer,
                                  bool writes);
/* Where each buffer begins in the memory that a player has for them, in floats: one behind the other, at multiples of
 * 256 bytes.  The caller frees it. */
uint64_t *gt_operator_graph_places(const struct gt_operator_graph *graph);

/* Find levels and successors.  Returns 0; -1, naming line and operator, where operators wait for each other in a ring,
 * or where there are none. */
int gt_operator_graph_finish(struct gt_operator_graph *graph, struct gt_error *error);

/* The implementation of a kind that ends first on so many workers that have nothing else to do (the first of equals),
 * and the one that takes the least of the workers' time: Rammer's fastest rKernel, and its most efficient one. */
uint32_t gt_fastest_implementation(const struct gt_operator_kind *kind, uint32_t workers);
uint32_t gt_thriftiest_implementation(const struct gt_operator_kind *kind);
/* How long an implementation takes alone on so many workers. */
gt_time_ps gt_implementation_ps(const struct gt_implementation *implementation, uint32_t workers);

#endif
