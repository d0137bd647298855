/* order_parts.h - what the files of the order share; for order*.c only. */
#ifndef GRIDTIDE_SIM_CHECK_ORDER_PARTS_H
#define GRIDTIDE_SIM_CHECK_ORDER_PARTS_H

#include "sim/check/order.h"

struct gt_order_context { /* of a GPU */
    gt_gpu_index gpu;
    uint32_t id;
    gt_stream_index null_stream; /* its legacy default stream; GT_NONE */
    gt_stream_index *asked;      /* blocking streams asked for something since that one was last */
    uint32_t asked_count, asked_room;
};

struct gt_order_stream {
    struct gt_line line;
    uint32_t context;
    uint64_t process;  /* of the thread that used it first */
    bool used, asked;  /* `asked`: among its context's */
    uint32_t *chains;  /* lines of graphs' nodes beside the stream's own, */
    uint32_t *reached; /* and how far they have come */
    uint32_t chain_count, chain_room;
};

/* A synchronisation that has not returned yet when a later call begins. */
struct gt_order_pending {
    gt_time_ps end_ps;
    struct gt_line line;
};
struct gt_order_process {
    uint64_t id;
    struct gt_line seen; /* by any of its threads */
    struct gt_order_pending *pending;
    uint32_t pending_count, pending_room;
};
struct gt_order_thread {
    struct gt_line seen;
    uint32_t told; /* how far its process knows of what it has seen, or is going to */
    uint32_t process;
};

struct gt_order_event {
    struct gt_line line;
    bool recorded;
};

struct gt_order_record { /* a buffer is used in a stream that is not its own */
    gt_buffer_index buffer;
    gt_stream_index stream;
};

struct gt_order {
    const struct gt_workload *w;
    const gt_op_index *guesses; /* NULL: none */
    gt_order_visitor *visit;
    void *user;
    struct gt_order_context *contexts;
    uint32_t context_count, context_room;
    struct gt_order_process *processes;
    uint32_t process_count, process_room;
    struct gt_order_stream *streams;
    struct gt_order_thread *threads;
    struct gt_order_event *events;
    struct gt_order_record *records;
    uint32_t record_count, record_room;
    struct gt_line
        *ended; /* by operation: of those that others come after, but for nodes of one graph; NULL: there are none */
    bool *wanted; /* by operation: is it one of these? */
    struct gt_order_meetings *meetings;
    uint32_t *executable_of_call; /* gt_executables_of_calls() */
    struct gt_line *executables;  /* of each: what its last launch came to */
    uint32_t executable_count;
    uint32_t line_count;
    uint64_t unknown_waits;
};

/* The stream is asked for something: by the default streams' rules and after what the thread has seen.  Its line then is
 * that of what was asked for, but for gt_line_next(). */
struct gt_order_stream *gt_order_ask(struct gt_order *order, gt_thread_index thread, gt_stream_index stream);

/* What `op` comes after, but for nodes of its own graph. */
void gt_order_join_afters(struct gt_order *order, gt_op_index op, struct gt_line *line);
void gt_order_tell(struct gt_order *order, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp);

/* order_graph.c: the nodes of a graph that is launched into the stream, which has been asked. */
void gt_order_graph(struct gt_order *order, gt_call_index call, struct gt_order_stream *stream);

/* order_meeting.c: collectives, in whose order ranks are. */
struct gt_order_meetings *gt_order_meetings_new(const struct gt_workload *workload);
void gt_order_meetings_free(struct gt_order_meetings *meetings);
/* `op`, whose line this is, begins: if it is a rank's part of a collective, returns what has ended by then, for
 * gt_order_end_part(), which ends it. */
struct gt_line gt_order_begin_part(struct gt_order *order, gt_op_index op, struct gt_line *line);
/* It has its stamp: `line` comes after what the parts that have come gave it, the streams of these after what it gives. */
void gt_order_end_part(struct gt_order *order, gt_op_index op, struct gt_order_stream *stream, struct gt_line *begun,
                       struct gt_line *line);

#endif
