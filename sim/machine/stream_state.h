/* stream_state.h - what a machine knows of host threads, streams and what stands in them.
 *
 * A command is what stands in a stream: an operation, an event's record, a wait, a graph; a node is an operation
 * of a graph, a child one that a block launches.  Commands exist only while in flight.
 */
#ifndef GRIDTIDE_SIM_MACHINE_STREAM_STATE_H
#define GRIDTIDE_SIM_MACHINE_STREAM_STATE_H

#include "sim/workload/probe.h"

typedef uint32_t gt_command_index; /* in gt_machine.commands */
typedef uint32_t gt_waiter_index;  /* in gt_machine.waiters */
typedef uint32_t gt_context_index; /* in gt_machine.contexts */
typedef uint32_t gt_queue_index;   /* in gt_machine.queues: hardware queues */
/* Position of a command in its stream, from 1; 0: none. */
typedef uint64_t gt_command_number;

enum gt_stream_command_kind {
    GT_COMMAND_OP,
    GT_COMMAND_RECORD,
    GT_COMMAND_WAIT,
    GT_COMMAND_GRAPH,
    GT_COMMAND_NODE,
    GT_COMMAND_CHILD
};

/* What let something go on: when, and the call or operation it was. */
struct gt_release {
    gt_time_ps time_ps; /* 0: nothing has held it so far */
    uint32_t cause;     /* gt_cause */
    uint32_t index;     /* by cause; GT_NONE */
};

/* What a thread may wait for all at once (sim/stream/waiting.c): streams of a process, of its context, of a GPU, and
 * those of its context that its legacy default stream waits for. */
enum { GT_SYNC_GROUPS = 4 };

struct gt_stream_command {
    uint32_t index; /* gt_op_index (OP, NODE, CHILD) or gt_call_index (RECORD, WAIT, GRAPH) */
    gt_stream_index stream;
    gt_command_index next;       /* in its stream; also the free list */
    gt_command_index queue_next; /* in its hardware queue */
    gt_queue_index queue;        /* which that is */
    gt_command_index wait_next;  /* in an engine's, a distributor's or an admission list */
    gt_command_index line_next;  /* in its line: links.h */
    gt_command_index parent;     /* NODE: the graph's command */
    uint32_t nodes_left;         /* GRAPH: nodes not ended */
    gt_stream_index
        target_stream; /* what it waits for (WAIT: a record, GRAPH: the launch before) is that stream's ... */
    gt_command_number target_number; /* ... command; 0: nothing */
    gt_command_number number;
    uint64_t behind;      /* commands of the other side of the default stream's rules asked for before it */
    uint64_t before_load; /* commands of its context that must be complete first: those before code was loaded */
    uint64_t sync_epoch[GT_SYNC_GROUPS]; /* waiting.c: of its process, of that in its context, of that on its GPU */
    gt_time_ps submit_ps, visible_ps, start_ps;
    gt_time_ps
        triggered_ps;      /* of a kernel: all its blocks have let the next one come by then; GT_TIME_NONE: not yet */
    gt_time_ps depends_ps; /* its blocks wait until then, when the kernel before it is over; GT_TIME_NONE: it is not;
                              * 0: for nothing */
    uint32_t grid;         /* of a kernel whose blocks are handed out, in gt_machine.grids; GT_NONE */
    struct gt_release releases[GT_WAITS]; /* of what held it back, by reason */
    uint8_t kind;
    bool waiting;   /* WAIT, GRAPH: already on its target's list; NODE: ready, behind others in its hardware queue */
    bool started;   /* its stream has let it go; what comes behind it waits for its end */
    bool read;      /* by the GPU, as far as that takes longer than usual */
    bool unwritten; /* NODE, the first of its group: not in its hardware queue yet, the driver is writing */
    bool in_queue;  /* still at or behind its hardware queue's head */
    bool to_idle;   /* its stream held nothing when it was asked for */
};

/* Someone to tell when a stream has completed command `number`: a host thread that waits, one that polls, a stream that waits for an
 * event, or one that the default stream holds back. */
enum gt_waiter_kind { GT_WAITER_THREAD, GT_WAITER_POLL, GT_WAITER_EVENT, GT_WAITER_DEFAULT_STREAM };
struct gt_waiter {
    gt_command_number number;
    gt_waiter_index next;
    uint32_t index; /* gt_thread_index or gt_stream_index */
    enum gt_waiter_kind kind;
};

struct gt_executable_state { /* an executable graph: its last launch */
    gt_stream_index stream;
    gt_command_number number; /* in that stream; 0: not launched yet */
};

struct gt_stream_state {
    gt_command_index head, tail;
    gt_command_number submitted, completed; /* the last of each */
    gt_waiter_index waiters, waiters_tail;
    gt_gpu_index gpu;          /* that it is a stream of: copy engines, links */
    gt_gpu_index compute;      /* whose SMs its kernels run on, in gt_machine.gpus: time_slices.h */
    struct gt_sharing sharing; /* of its process */
    uint32_t partition;        /* of SMs, gt_block_need.partition */
    gt_context_index context;
    uint32_t connections;       /* that its context has */
    gt_queue_index first_queue; /* of its context's; green contexts of a GPU have their queues in common */
    gt_queue_index queue;       /* the connection of its commands, as long as any is in it */
    uint32_t queued;            /* so many */
    uint32_t level;             /* of priority; 0 the most urgent */
    uint32_t flags;
    uint64_t process; /* gt_stream_processes() */
    uint64_t wake_stamp;
    gt_time_ps wake_ps; /* of the wake scheduled last; GT_TIME_NONE: none */
    gt_time_ps last_visible_ps;
    gt_time_ps end_ps;               /* of the last operation completed in order */
    gt_command_number triggered;     /* the last kernel completed, and ... */
    gt_time_ps triggered_ps;         /* ... when its blocks had let the next one come */
    gt_op_index last_op;             /* that operation */
    gt_time_ps idle_from_ps;         /* latest end of any operation recorded on this stream */
    struct gt_release event_release; /* by waits since the last operation */
    struct gt_release
        default_release;  /* by the default stream's rules, or a load of code, since the last operation */
    bool held_by_default; /* by the default stream's rules, right now */
    bool held_by_load;    /* by a load of code, right now */
    bool waited_afar;     /* for an event of another GPU, since the last operation */
    bool called;          /* some call was into it, before */
};

/* The streams of one context on one GPU: the default stream's rules, device synchronisation. */
struct gt_context_state {
    gt_gpu_index gpu;
    uint32_t id;                   /* as in the workload */
    uint64_t process;              /* gt_stream_processes(): equal contexts of two processes are two */
    gt_stream_index null_stream;   /* GT_NONE: no legacy default stream in use */
    uint64_t submitted, completed; /* commands of all streams that take part in its rules */
    /* Loads of code: commands of all streams, and of these those before the last load. */
    uint64_t all_submitted, all_completed, before_load;
    uint64_t least_held;   /* of streams that are held: the fewest commands that one waits for */
    uint32_t held_by_load; /* so many */
};

/* An event's last record. */
struct gt_event_state {
    gt_stream_index stream;
    gt_command_number number;    /* 0: never recorded */
    struct gt_release completed; /* once it is complete; index GT_NONE: not yet, or nothing before it */
};

struct gt_thread_state {
    const gt_call_index *calls; /* its own, in order */
    uint32_t call_count, next;
    uint32_t pending;     /* conditions not met yet */
    bool waits_for_queue; /* for a place in the launch queue, before the call can act */
    gt_time_ps start_ps;  /* of the call under way */
    gt_time_ps acted_ps;  /* when it could act: at its start, or when the launch queue had a place */
    gt_time_ps blocked_ps;
    gt_time_ps cost_ps;     /* of the call, where no measured time says it: its row of the device file, what that
                             * costs more here, and the host's noise; without staging */
    uint32_t kinds_called;  /* bits, by gt_call_kind; copies within the device have a bit of their own */
    uint8_t kind_before;    /* gt_call_kind of the call before; GT_CALL_KINDS: none */
    gt_op_index cause_op;   /* whose end released it last */
    gt_stream_index polled; /* the poll under way asks for that stream's ... */
    gt_command_number polled_number; /* ... command; 0: none is under way */
    uint64_t pieces;                 /* of its work, done in a poll */
    gt_op_index staging_op;          /* the copy in that its call goes on staging when that has started; GT_NONE */
    gt_time_ps staged_ps;            /* its start came: when the host is done with it; else GT_TIME_NONE */
    bool done;
    bool has_lock;             /* for the call under way, or stands in line for it */
    uint32_t lock;             /* in gt_machine.locks; GT_NONE */
    gt_thread_index lock_next; /* behind it in the lock's line */
};

/* Copies from one GPU to another that go one after the other (sim/stream/links.h). */
struct gt_link_line_state {
    gt_command_index head, tail; /* head GT_NONE: none */
    gt_time_ps free_ps;          /* the head may start from then on */
    bool handing_on;             /* or get into its engine's queue, right now */
};

/* A lock that threads share (sim/stream/host_thread.h). */
struct gt_lock_state {
    bool taken;
    gt_thread_index head, tail; /* that wait for it; head GT_NONE: nobody */
};

/* Calls that submit work, the latest few: who is inside one now. */
enum { GT_SUBMISSIONS = 16 };
struct gt_submission {
    gt_thread_index thread;
    gt_gpu_index gpu;
    gt_time_ps end_ps;
};

/* --serialize: who has the machine's one place, who stands in line for it, what had it last. */
struct gt_serial_state {
    gt_command_index running, head, tail; /* GT_NONE: none */
    gt_op_index last_op;
    gt_time_ps end_ps; /* of that operation */
};

struct gt_hw_queue_state {
    gt_command_index head, tail;
    uint32_t count; /* of commands */
};

#endif
