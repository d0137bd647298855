/* machine.h - the state of one simulated machine; inside sim/ only.
 *
 * Host threads walk their calls and put commands into streams (sim/stream), whose operations run on GPUs (sim/gpu).
 * What is in flight stands in arrays with free lists (free_lists.h), so that numbers stay good; what is to come
 * are events of the engine.  Only state is here: the rules are in those rooms, and sim/simulate.c puts the tables
 * together by which the engine and the streams reach them.
 */
#ifndef GRIDTIDE_SIM_MACHINE_MACHINE_H
#define GRIDTIDE_SIM_MACHINE_MACHINE_H

#include "sim/base/error.h"
#include "sim/base/fair_share.h"
#include "sim/base/heap.h"
#include "sim/base/named_table.h"
#include "sim/machine/gpu_state.h"
#include "sim/machine/options.h"
#include "sim/machine/stream_state.h"
#include "sim/replay/isolated_durations.h"
#include "sim/replay/replay.h"
#include "sim/workload/probe.h"
#include "sim/workload/workload.h"

struct gt_machine;

/* In this order at one and the same time. */
enum gt_phase { GT_PHASE_END, GT_PHASE_WAKE, GT_PHASE_HOST, GT_PHASE_RATES };

struct gt_engine {
    gt_time_ps now_ps;
    uint64_t sequence;
    uint64_t handled; /* events so far */
    struct gt_heap heap;
};

/* Does what an event says; -1 (with `error` filled) stops the run. */
typedef int gt_handler(void *machine, uint32_t subject, uint64_t stamp, struct gt_error *error);

struct gt_event_kind {
    gt_handler *handle;
    /* Events that would follow each other whatever else comes, at one time and scheduled one right after the
     * other, share one place in the heap, and with it what the heap costs.  Takes the subject behind `subject`
     * off their row; GT_NONE at its end.  NULL: events of this kind stand alone. */
    uint32_t (*take_next)(void *machine, uint32_t subject);
};

/* Call kinds[handler].handle(machine, subject, stamp) at `time_ps`, which must not be past. */
void gt_engine_schedule(struct gt_engine *engine, gt_time_ps time_ps, enum gt_phase phase, uint32_t handler,
                        uint32_t subject, uint64_t stamp);
/* One more event in the place of the one scheduled last: the caller has put its subject behind that one's. */
void gt_engine_schedule_next(struct gt_engine *engine);
/* Handle events until none is left. Returns 0, or -1 from the first handler that says so. */
int gt_engine_run(struct gt_engine *engine, const struct gt_event_kind *kinds, void *machine, struct gt_error *error);
void gt_engine_free(struct gt_engine *engine);

/* Kinds of event: the row of the engine's table, and what subject and stamp are. */
enum gt_handler_number {
    GT_HANDLE_THREAD,            /* thread: its next call begins; stamp: 0, or GT_THREAD_HAS_LOCK */
    GT_HANDLE_STREAM,            /* stream: looks at its head again; stamp: its wake's */
    GT_HANDLE_LOCK,              /* lock of threads: who has it has called */
    GT_HANDLE_POLL,              /* thread: its poll's most pieces are done; stamp: the call's place in its thread */
    GT_HANDLE_NODE,              /* command: a graph node's gap has passed, or its turn has come, by the stamp */
    GT_HANDLE_TIMED_OP,          /* command: its time is over (gt_timed_op_start()) */
    GT_HANDLE_BLOCKS,            /* batch: its blocks end, or leave their SM, by the stamp */
    GT_HANDLE_GRID,              /* grid: the remainder after its last block has passed */
    GT_HANDLE_COPY,              /* engine: its copy ends; stamp: the engine's */
    GT_HANDLE_ENGINE,            /* engine: the gap behind a copy has passed */
    GT_HANDLE_COLLECTIVE,        /* collective: its data has moved, or what may; stamp: its own */
    GT_HANDLE_LINKS,             /* what lies between GPUs is shared anew; stamp: for whom */
    GT_HANDLE_PEER_KERNEL,       /* grid: blocks have moved their bytes to or from another GPU; stamp: the kernel's */
    GT_HANDLE_COLLECTIVE_MEMORY, /* GPU: what collectives have of its memory may change */
    GT_HANDLE_EXCLUSIVE_COPY,    /* GPU: a gap around copies that keep out of kernels' way has passed */
    GT_HANDLE_RESIDENT_GROUP,    /* group: its first batch ends; stamp: the group's */
    GT_HANDLE_BLOCK_PROGRESS,    /* GPU: blocks have come or gone that share something */
    GT_HANDLE_TASKS,             /* GPU: something is due in task graphs of its kernels; stamp: the GPU's */
    GT_HANDLE_TIME_SLICE,        /* GPU: processes take turns on it; stamp: its slices' */
    GT_HANDLE_REQUEST,           /* sim/serve/requests.h: a request, by the stamp */
    GT_HANDLE_CHILD,             /* child launch: by the stamp (sim/stream/child_launch.h) */
    GT_HANDLERS
};
enum { GT_STAMP_COLLECTIVES, GT_STAMP_PEER_KERNELS }; /* of GT_HANDLE_LINKS: whose data has set off or stopped */

/* What becomes of an operation of one kind (gt_op_kind). */
struct gt_op_rule {
    /* Its stream lets it go now: start it, or put it where it waits for its resource. */
    void (*start)(struct gt_machine *m, gt_command_index command);
    /* The time is over that gt_timed_op_start() gave it. */
    void (*timed_end)(struct gt_machine *m, gt_command_index command);
};

struct gt_collectives;        /* sim/gpu/collective_kernel.h */
struct gt_child_state;        /* sim/stream/child_state.h */
struct gt_device_syncs;       /* sim/stream/waiting.c */
struct gt_demand;             /* sim/gpu/progress_limit.h */
struct gt_peer_kernel;        /* sim/gpu/peer_kernel.h */
struct gt_requests;           /* sim/serve/requests.h */
struct gt_steady_state;       /* sim/gpu/steady_state.h */
struct gt_time_slices;        /* sim/gpu/time_slices.c */
struct gt_placement_policy;   /* sim/gpu/placement.h */
struct gt_arbitration_policy; /* sim/gpu/arbitration.h */

struct gt_machine {
    struct gt_engine engine;
    /* what is played, on what, how */
    const struct gt_workload *workload;
    const struct gt_workload *host; /* whose recorded calls threads follow: options->host, or the workload */
    const struct gt_device *device;
    const struct gt_device *recorded;   /* that the measured times are from; often the same */
    const struct gt_isolated *isolated; /* what durations would be without contention; NULL: not learned */
    bool at_recorded; /* what was recorded starts when it did, whatever its gap, once all it comes after is over */
    const struct gt_options *options;
    const struct gt_probe *probe;
    const struct gt_op_rule *op_rules; /* [gt_op_kind] */
    struct gt_requests *requests;      /* threads make their calls for each; NULL: once */
    struct gt_replay replay; /* set before; its arrays are lent, and but given_up not changed by playing it */
    /* host threads and streams */
    struct gt_thread_state *threads;
    gt_call_index *thread_calls;
    struct gt_lock_state *locks; /* of threads */
    struct gt_submission submissions[GT_SUBMISSIONS];
    uint32_t next_submission;
    struct gt_stream_state *streams;
    struct gt_context_state *contexts;
    uint32_t context_count;
    struct gt_hw_queue_state *queues; /* so many for each context */
    gt_command_index unwritten; /* the first of the groups of a graph that the driver has still to write; GT_NONE */
    struct gt_event_state *events;
    uint32_t *executable_of_call;            /* gt_executables_of_calls() */
    struct gt_executable_state *executables; /* of each its last launch; NULL: none is known */
    struct gt_device_syncs *device_syncs;    /* NULL: no call waits so */
    uint32_t plain_level;                    /* of priority 0 */
    struct gt_collectives *collectives;      /* NULL: there are none */
    struct gt_launch_order *launch_order;    /* NULL: threads go each at its own pace */
    struct gt_child_state *children;         /* NULL: no block launches anything */
    struct gt_serial_state serial;           /* only where options->serialize */
    /* operations */
    gt_command_number *op_numbers;    /* in its stream, once submitted; else 0 */
    uint32_t *op_afters_left;         /* edges into each operation not ended yet; NULL: no edges at all */
    gt_time_ps *node_visible_ps;      /* of a graph launched: when the GPU has it; NULL: there are no graphs */
    gt_command_index *op_commands;    /* in flight, of operations with edges; NULL: no edges at all */
    struct gt_occupancy *occupancies; /* by kernel, filled on first use: blocks_per_sm 0 = not yet */
    uint64_t *recorded_waves; /* by kernel, filled on first use: waves alone on the recorded device; 0 = not yet */
    bool programmatic;        /* some kernel is launched programmatically */
    bool kernels_apart;       /* in several streams, where one could see what another's blocks do */
    /* what is in flight: free_lists.h */
    struct gt_stream_command *commands;
    uint32_t commands_free, command_count, command_room;
    struct gt_waiter *waiters;
    uint32_t waiters_free, waiter_count, waiter_room;
    struct gt_grid *grids;
    uint32_t grids_free, grid_count, grid_room;
    struct gt_batch *batches;
    uint32_t batches_free, batch_count, batch_room;
    struct gt_last_due { /* of blocks, as scheduled last: may another share its place? */
        gt_batch_index batch;
        gt_time_ps due_ps;
        uint64_t stamp;
        uint64_t sequence; /* the engine's, right after */
    } last_due;
    struct gt_resident_group *groups;
    uint32_t groups_free, group_count, group_room;
    uint64_t group_stamps;
    /* GPUs */
    struct gt_gpu_state *gpus; /* those of the workload, then the SMs as further processes see them that take turns */
    uint32_t gpu_count, compute_count;  /* of the workload; of all */
    struct gt_time_slices *time_slices; /* of GPUs whose processes take turns */
    uint32_t time_slices_count;
    bool blocks_may_stop;    /* before their time: in time slices, or taken off the GPU */
    struct gt_sm_partition { /* the SMs that a process may use, where those are not all */
        uint64_t process;
        uint32_t green; /* gt_stream.green; 0: of the whole process */
        gt_gpu_index gpu;
        uint32_t size;
        bool fixed;                        /* these SMs; else as many, whichever its blocks are on */
        uint64_t sms[GT_FREE_BLOCK_WORDS]; /* by SM */
        uint32_t *blocks, used;            /* of its own on each SM; SMs that have any */
    } * partitions;
    uint32_t partition_count;
    bool recorded_times;                   /* the workload says when operations ran */
    uint32_t copies_between;               /* GPUs, at work */
    struct gt_peer_kernel *peer_kernels;   /* that work in another GPU's memory, in the order in which they began */
    bool peer_links_due;                   /* an event will share links anew for them */
    struct gt_link_line_state *link_lines; /* by GPU that sends, then by the one that gets it; NULL: there are none */
    const struct gt_placement_policy *placement;
    const struct gt_arbitration_policy *arbitration;
    double placement_parameters[GT_NAMED_PARAMETERS], arbitration_parameters[GT_NAMED_PARAMETERS];
    struct gt_demand *demands; /* by launch of options->modelled; NULL: none so far */
    struct gt_maxmin maxmin;   /* who gets how much of what blocks share, while that is worked out */
    struct gt_sm_kind {        /* while rates are worked out: SMs that hold equal blocks: one of them, how many */
        gt_sm_index sm;
        uint32_t sms, first_consumer; /* of its groups, in `maxmin` */
    } * sm_kinds;
    uint32_t *kind_of_sm;
    struct gt_steady_state *steady_state; /* of a huge grid; NULL: none so far */
    /* how far it has come */
    double noise_run_factor; /* what the host's calls take in this run, of what is usual */
    uint64_t ended_ops, blocks, tasks, waits, extrapolated, progress_at;
    uint64_t calls_released;       /* that would have waited for ever for what was only inferred */
    uint64_t refused[GT_REFUSALS]; /* launches by blocks */
    uint64_t fired[GT_RULES];      /* rules that acted, how often: rules.h */
    gt_time_ps end_ps;             /* the latest end so far */
    struct gt_error *error;        /* filled by the first failure; `failed` is then set */
    bool failed;
};

#endif
