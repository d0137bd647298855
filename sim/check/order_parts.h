/* order_parts.h - what the files of the order share; for order*.c only. */
#ifndef GRIDTIDE_SIM_CHECK_ORDER_PARTS_H
#define GRIDTIDE_SIM_CHECK_ORDER_PARTS_H

#include "sim/check/memory.h"
#include "sim/check/steps.h"

struct gt_order_context { /* of a process, on a GPU */
    gt_gpu_index gpu;
    uint32_t id;
    uint64_t process;
    gt_stream_index null_stream; /* its legacy default stream; GT_NONE */
    gt_step_index foreign;  /* a copy in another GPU's legacy default stream that holds this one's too; GT_NONE */
    gt_stream_index *asked; /* blocking streams asked for something since either was last */
    uint32_t asked_count, asked_room;
};

struct gt_order_stream {
    uint32_t line, context;
    uint64_t process; /* of the thread that used it first */
    bool used, asked; /* `asked`: among its context's */
    /* The last of each that it is known to come after, so that it need not be said again; GT_NONE. */
    gt_step_index after_thread, after_default, after_all;
    gt_thread_index synced_by; /* the thread that saw its end last, among others, */
    gt_step_index synced;      /* and how far it had come */
    uint32_t *chains;          /* lines of graphs' nodes beside the stream's own */
    uint32_t chain_count, chain_room;
};

/* A synchronisation that has not returned yet when a later call begins. */
struct gt_order_pending {
    gt_time_ps end_ps;
    gt_step_index seen;
};
struct gt_order_process {
    uint64_t id;
    uint32_t line; /* what any of its threads has seen */
    struct gt_order_pending *pending;
    uint32_t pending_count, pending_room;
};
struct gt_order_thread {
    uint32_t line;           /* what it has seen */
    gt_step_index told;      /* how far its process knows of that, or is going to; GT_NONE */
    gt_step_index from_them; /* how far it knows what its process has seen; GT_NONE */
    uint32_t process;
};

struct gt_order_memory; /* order_memory.c */

struct gt_order {
    const struct gt_workload *w;
    struct gt_steps steps;
    struct gt_order_context *contexts;
    uint32_t context_count, context_room;
    struct gt_order_process *processes;
    uint32_t process_count, process_room;
    struct gt_order_stream *streams;
    struct gt_order_thread *threads;
    gt_step_index *events;  /* of each, its last record; GT_NONE */
    gt_step_index *ended;   /* by operation: the step with which it has ended; GT_NONE: not asked for yet */
    gt_step_index *of_call; /* by call: the first step that was added for it; one more behind the last */
    struct gt_order_collectives *instances;
    struct gt_order_memory *memory;
    uint32_t *executable_of_call; /* gt_executables_of_calls() */
    gt_step_index *executables;   /* of each: the end of its last launch; GT_NONE */
    const gt_op_index *guesses;   /* NULL: none */
    uint64_t unknown_waits;
};

/* order_gpu.c: the last step of a stream, of what a thread has seen; GT_NONE: there is none. */
gt_step_index gt_order_last(const struct gt_order *order, gt_stream_index stream);
gt_step_index gt_order_seen(const struct gt_order *order, gt_thread_index thread);

/* A thread has asked a stream for something: its next step, after what the thread has seen and by the default streams'
 * rules. */
gt_step_index gt_order_ask(struct gt_order *order, gt_thread_index thread, gt_stream_index stream,
                           enum gt_step_kind kind, uint32_t what);
/* A copy between GPUs in a legacy default stream "does not start until all commands previously issued to either device have
 * completed and runs to completion before any commands issued after the copy to either device can start" (CUDA C++
 * Programming Guide, "Peer-to-Peer Memory Copy"): it holds the blocking streams of both. */
void gt_order_hold_peer(struct gt_order *order, const struct gt_op *op, gt_step_index step);
/* The last step of a line is operation `op`: its end, and what it comes after but for nodes of its own graph. */
void gt_order_op(struct gt_order *order, gt_op_index op, gt_step_index step);
/* Of which kind that step is. */
enum gt_step_kind gt_order_op_kind(const struct gt_order *order, gt_op_index op);

/* order_begin.c: what threads see end. */
void gt_order_see(struct gt_order *order, gt_thread_index thread, gt_step_index step);
/* The thread sees all end that a synchronisation of the stream waits for: what it was asked for, and of a legacy default stream what
 * all blocking streams of its context were. */
void gt_order_see_stream(struct gt_order *order, gt_thread_index thread, gt_stream_index stream);
/* All streams of the calling process; of one context, or one GPU, where that is not GT_NONE. */
void gt_order_see_streams(struct gt_order *order, gt_thread_index thread, uint32_t context, gt_gpu_index gpu);
/* Before and behind a call: what threads of its process have seen by then. */
void gt_order_see_returned(struct gt_order *order, const struct gt_call *call);
void gt_order_tell_process(struct gt_order *order, const struct gt_call *call);

/* order.c: the next call.  What one that has no operations and is there to wait lets its thread see end. */
void gt_order_call(struct gt_order *order, gt_call_index call);
void gt_order_synchronise(struct gt_order *order, gt_call_index call);

/* order_gpu.c: the nodes of a graph that is launched into the stream, which has been asked for it. Returns its end. */
gt_step_index gt_order_graph(struct gt_order *order, const struct gt_call *call, gt_stream_index stream);

/* order_gpu.c: collectives, in whose order ranks are. */
struct gt_order_collectives *gt_order_collectives_new(const struct gt_workload *workload);
void gt_order_collectives_free(struct gt_order_collectives *instances);
/* The step, of kind GT_STEP_PART and the last one of its line, is operation `op`, a part of a collective: adds its end,
 * which it returns. */
gt_step_index gt_order_part(struct gt_order *order, gt_op_index op, gt_step_index step);

/* order_memory.c: memory that is given back and given out again. */
struct gt_order_memory *gt_order_memory_new(const struct gt_workload *workload);
void gt_order_memory_free(struct gt_order_memory *memory);
void gt_order_alloc(struct gt_order *order, gt_call_index call);
void gt_order_release(struct gt_order *order, gt_call_index call);
void gt_order_record_stream(struct gt_order *order, gt_call_index call);

#endif
