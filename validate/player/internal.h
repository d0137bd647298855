/* internal.h - what the files of the player share.
 *
 *   player.c          ready, play, tell: the order of things
 *   gpus.c     the trace's GPUs on those of the machine, who reaches whose memory
 *   lock.c     locks that threads share
 *   kernels.c  each kernel's launch: arguments, block times, log
 *   tasks.c    kernels whose blocks walk a task graph
 *   task_works.c  what such tasks do
 *   network.c  the memory of a network's operators
 *   children.c  kernels that blocks launch, and those that launch them
 *   collectives.c  groups and what they do together, by NCCL
 *   memory.c   allocations; the buffers that copies and memsets work on
 *   allocations.c  those that the trace's own calls make and free
 *   edges.c    orders that the streams alone do not give
 *   green.c    green contexts
 *   graph.c    graphs, one an instance a call
 *   calls.c    host threads walk their calls
 *   clock.c    the SMs' clock; the GPU's timer against the host's
 *   warm.c     calls that mean nothing, before those that count
 *   awake.c    CPUs that do not fall asleep meanwhile
 *   records.c  what happened, as records of a run
 *
 * Times are nanoseconds of gt_clock_ns() unless a name says GPU.
 */
#ifndef GRIDTIDE_VALIDATE_PLAYER_INTERNAL_H
#define GRIDTIDE_VALIDATE_PLAYER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <cuda_runtime_api.h>

#include "kernels/children/child_tree.h"
#include "kernels/executor/executor.h"
#include "kernels/executor/network.h"
#include "kernels/library.h"
#include "sim/base/array.h"
#include "validate/gpu/cuda_error.h"
#include "validate/gpu/cupti.h"
#include "validate/proxy_kernel.h"
#include "validate/validate.h"

#define GT_NO_LOG UINT64_MAX

struct gt_nccl_part;
struct gt_play_collectives;

struct gt_play_op {
    const struct gt_library_kernel *library; /* kernels */
    struct gt_gpu_launch launch;
    double arguments[GT_LIBRARY_PARAMETERS];
    struct gt_executor tasks;    /* launch.tasks, where its blocks walk a task graph */
    void *state, *initial_state; /* on the GPU: what a launch of it uses up; what that is before each */
    size_t state_bytes;
    struct gt_network_part part; /* launch.part, where it runs one of a network's operators */
    uint64_t blocks;
    const struct gt_nccl_part *collective; /* of kernels: it is such a part; NULL */
    bool in_tree;                          /* its blocks launch kernels, or it is launched by some */
    struct gt_child_tree tree;             /* the first of such a call: all that follows from it */
    struct gt_tree_grid tree_root;
    uint64_t first_log;        /* in logs; GT_NO_LOG: CUPTI says when it ran */
    void *to, *from;           /* copies and memsets */
    uint64_t node;             /* in a graph: gt_cupti_node() */
    uint64_t start_ns, end_ns; /* when it ran; end 0: not known */
    uint64_t spin_ns;          /* host functions: for how long */
    cudaEvent_t done;          /* for others that streams do not make wait; or NULL */
    atomic_bool asked;         /* its event has been recorded in this repetition */
};

struct gt_play_call {
    uint64_t start_ns, end_ns;
    cudaGraphExec_t graph; /* graph launches */
    uint64_t pieces;       /* polls: of work that were done */
    uint32_t blocking_op;  /* synchronisations without a target: the op awaited */
};

/* Who stands in line for a lock. */
struct gt_play_waiter {
    struct gt_play_waiter *next;
    pthread_cond_t handed;
    bool has_it;
};
struct gt_play_lock {
    uint32_t name; /* as the threads' */
    uint64_t process;
    pthread_mutex_t mutex; /* of what follows */
    bool taken;
    struct gt_play_waiter *first, *last; /* who waits, in order */
};

struct gt_play_thread {
    struct gt_player *player;
    const uint32_t *calls; /* in order */
    uint32_t call_count;
    struct gt_play_lock *lock; /* that it holds while it calls; NULL: none */
    struct gt_play_waiter waiter;
    pthread_t handle;
};

/* The GPU's timer against the host's clock at one moment: host = GPU + offset, which is between the two. */
struct gt_alignment {
    int64_t gpu_ns, low_ns, high_ns;
};

struct gt_play_part { /* of the network's memory: so many parts, one behind the other */
    struct gt_network_part first;
    uint32_t count;
};

struct gt_play_works { /* what a graph's tasks do */
    struct gt_executor_task *tasks;
    uint32_t *places, place_count;
};

struct gt_play_buffer {   /* of the workload's buffers */
    void *memory;         /* NULL: not held */
    bool pinned, ordered; /* by a stream */
};

/* One GPU of the workload. */
struct gt_play_gpu {
    bool used;
    int device;                         /* CUDA's number of it */
    cudaStream_t own;                   /* for what is not the trace's */
    double clock_mhz, overshoot_cycles; /* a spinning block runs so much longer than asked */
    struct gt_alignment before, after;
    struct gt_block_log *logs; /* there; records first_log and on of the player's logs_here */
    uint64_t first_log, log_count;
    void *warm_memory;
    cudaEvent_t warm_event;
    cudaGraphExec_t warm_graph;
};

struct gt_player {
    const struct gt_workload *workload;
    struct gt_play_options options;
    char description[256];
    struct gt_play_gpu *gpus; /* as the workload's */
    struct gt_play_gpu *gpu;  /* being made ready, or asked for what it has: the current device of that thread */
    uint32_t gpu_count;
    bool several;           /* GPUs are used */
    struct gt_play_op *ops; /* as the workload's */
    struct gt_play_call *calls;
    struct gt_play_buffer *buffers; /* as the workload's */
    cudaStream_t *streams;
    uint64_t *stream_processes;     /* by stream, sim/workload/processes.h; NULL: all threads are of one process */
    struct gt_green_context *green; /* green.c */
    uint32_t green_count;
    gt_stream_index *recorders;     /* by event: the stream that records it first, or GT_NONE */
    cudaEvent_t *events;            /* of one repetition: of each one a GPU */
    atomic_uint *event_gpus;        /* by event: where it was recorded last */
    struct gt_play_thread *threads; /* those that make calls */
    uint32_t thread_count;
    uint32_t *thread_calls;              /* what their lists point into */
    uint32_t *edges_from, *edges;        /* i follows edges[edges_from[i]] and on, up to i + 1's */
    uint64_t *waits_ns;                  /* per call: the thread's own work before it */
    void **memory, **pinned, **pageable; /* to be freed */
    uint32_t memory_count, pinned_count, pageable_count;
    struct gt_block_log *logs_here; /* fetched */
    uint64_t log_count;
    struct gt_play_lock *locks;
    uint32_t lock_count;
    bool *tree_kernels;               /* by kernel: played as part of a tree */
    uint32_t *tree_places;            /* by child launch: of its stream */
    unsigned long long *tree_streams; /* on the GPU; NULL: no block launches anything */
    uint32_t tree_stream_count;
    struct gt_play_collectives *collectives; /* NULL: there are none */
    float *network;                          /* on the GPU; NULL: no operators */
    uint64_t network_floats;
    struct gt_play_part *parts;
    uint32_t part_count, part_room;
    bool kernels_recorded;                       /* CUPTI records kernels, which costs each a little */
    const struct gt_library_kernel *warm_kernel; /* for calls that mean nothing */
    double warm_arguments[GT_LIBRARY_PARAMETERS];
    void *warm_host;
    uint64_t untraced_ns; /* from the first call to the last while nobody records */
    uint64_t origin_ns;   /* when the threads set off */
    pthread_t *keepers;   /* of the CPUs awake */
    uint32_t keeper_count;
    atomic_bool over;            /* they may end */
    uint64_t unplayed;           /* calls whose target is not known */
    cudaStream_t *spare_streams; /* made by calls of the trace */
    cudaEvent_t *spare_events;
    atomic_uint spare_stream_count, spare_event_count;
    atomic_uint ready;
    atomic_uint_fast64_t go_ns; /* 0: not yet */
    atomic_bool failed;
    struct gt_error failure;
    pthread_mutex_t lock;
    bool broken; /* the GPU must be given up after an error */
};

/* gpus.c */
/* Which of the machine's GPUs plays which of the trace's. */
int gt_player_find_gpus(struct gt_player *player, struct gt_error *error);
/* From now on player->gpu, and the calling thread's device; that of an operation's stream. */
int gt_player_use(struct gt_player *player, uint32_t gpu, struct gt_error *error);
int gt_player_use_of_op(struct gt_player *player, uint32_t op, struct gt_error *error);
/* On each GPU that is used; back on the first one then. */
int gt_player_each_gpu(struct gt_player *player, int (*act)(struct gt_player *player, struct gt_error *error),
                       struct gt_error *error);
/* Peer access as the trace has it; none any more. */
int gt_player_open_ways(struct gt_player *player, struct gt_error *error);
void gt_player_close_ways(struct gt_player *player);
/* The GPU that a call is about; GT_NONE: any.  For threads of the trace: make it the calling thread's device; wait for
 * it, or for all with GT_NONE. */
uint32_t gt_player_gpu_of_call(const struct gt_player *player, uint32_t call);
cudaError_t gt_player_turn_to(const struct gt_player *player, uint32_t gpu);
cudaError_t gt_player_sync_gpus(const struct gt_player *player, uint32_t gpu);
/* The device synchronisation `call`: of its GPU, or all, what its own process put there. */
cudaError_t gt_player_sync_own(const struct gt_player *player, uint32_t call);

/* lock.c */
void gt_player_make_locks(struct gt_player *player);
void gt_player_free_locks(struct gt_player *player);
void gt_player_take_lock(struct gt_play_thread *thread);
void gt_player_give_lock(struct gt_play_thread *thread);

/* memory.c: on player->gpu */
void *gt_player_device_memory(struct gt_player *player, uint64_t bytes, struct gt_error *error);
void *gt_player_pinned_memory(struct gt_player *player, uint64_t bytes, struct gt_error *error);
int gt_player_buffers(struct gt_player *player, struct gt_error *error);
void gt_player_free_memory(struct gt_player *player);

/* allocations.c: by a call of alloc or free; what is still held when a repetition is over. */
cudaError_t gt_player_allocate(struct gt_player *player, uint32_t call);
cudaError_t gt_player_free(struct gt_player *player, uint32_t call);
void gt_player_free_held(struct gt_player *player);

/* kernels.c */
int gt_player_kernels(struct gt_player *player, struct gt_error *error);

/* tasks.c */
/* Make operation `op` ready to be launched, if its kernel has tasks. */
int gt_player_tasks(struct gt_player *player, uint32_t op, struct gt_error *error);
/* Before each repetition: as if nothing had been done. */
int gt_player_reset_tasks(struct gt_player *player, struct gt_error *error);
/* After it, and after the blocks' records have been fetched. */
int gt_player_send_tasks(struct gt_player *player, const struct gt_probe *probe, struct gt_error *error);

/* task_works.c */
/* What each task of the graph does; gt_player_task_works_free(), whatever comes back. */
int gt_player_task_works(struct gt_player *player, const struct gt_task_graph *graph, struct gt_play_works *works,
                         struct gt_error *error);
void gt_player_task_works_free(struct gt_play_works *works);
/* The place of `name` in a list of so many; -1. */
int gt_player_find_name(const char *const *names, int count, const char *name);

/* peer.c */
/* The operation's kernel works in another GPU's memory, if it says so: what and where. */
int gt_player_peer(struct gt_player *player, uint32_t op, struct gt_error *error);

/* network.c */
/* `count` parts of an operator, one behind the other, that something in the trace works out. */
void gt_player_add_part(struct gt_player *player, const struct gt_network_part *part, uint32_t count);
/* The operation runs one of a network's operators; `places`: its argument "at", or NULL. */
int gt_player_operator(struct gt_player *player, uint32_t op, const char *places, struct gt_error *error);
/* Once all parts are known; before each repetition; after one: is what they left right? */
int gt_player_network(struct gt_player *player, struct gt_error *error);
int gt_player_reset_network(struct gt_player *player, struct gt_error *error);
int gt_player_check_network(struct gt_player *player, struct gt_error *error);

/* collectives.c */
/* Groups and memory, once the GPUs are there; before the kernels. */
int gt_player_collectives(struct gt_player *player, struct gt_error *error);
void gt_player_free_collectives(struct gt_player *player);

/* children.c */
/* The operation's kernel launches kernels or is launched by some: can it be played? */
int gt_player_tree_kernel(struct gt_player *player, uint32_t op, struct gt_error *error);
/* All trees, once their kernels and logs are there; before each repetition. */
int gt_player_trees(struct gt_player *player, struct gt_error *error);
int gt_player_reset_trees(struct gt_player *player, struct gt_error *error);

/* edges.c */
int gt_player_edges(struct gt_player *player, struct gt_error *error);
void gt_player_free_edges(struct gt_player *player);
/* Around asking for an operation: wait in its stream for those it comes after; let others wait for it. */
cudaError_t gt_player_wait_before(struct gt_player *player, uint32_t op, cudaStream_t stream);
cudaError_t gt_player_tell_after(struct gt_player *player, uint32_t op, cudaStream_t stream);
/* What a synchronisation of unknown target waited for, as recorded. */
cudaError_t gt_player_wait_released(struct gt_player *player, uint32_t call);

/* graph.c */
int gt_player_graphs(struct gt_player *player, struct gt_error *error);
void gt_player_free_graphs(struct gt_player *player);

/* calls.c */
void gt_player_schedule(struct gt_player *player); /* who calls what, and the gaps between */
cudaError_t gt_player_issue(struct gt_player *player, uint32_t op, cudaStream_t stream);
/* All threads through all calls, and everything on the GPU to its end. */
int gt_player_walk(struct gt_player *player, struct gt_error *error);

/* warm.c */
int gt_player_make_warm(struct gt_player *player, struct gt_error *error);
void gt_player_free_warm(struct gt_player *player);
/* On the calling thread, each GPU, until shortly before a time, at least once. */
cudaError_t gt_player_warm(struct gt_player *player, uint64_t until_ns);

/* green.c */
/* The green contexts of processes that share so; before streams are made. */
int gt_player_green(struct gt_player *player, struct gt_error *error);
void gt_player_free_green(struct gt_player *player); /* when streams and events are gone */
/* player->streams[stream], and an event to be recorded in a stream (GT_NONE: in none), each in the context it belongs to. */
cudaError_t gt_player_make_stream(struct gt_player *player, gt_stream_index stream, unsigned flags, int priority);
cudaError_t gt_player_make_event(const struct gt_player *player, gt_stream_index stream, cudaEvent_t *event);

/* awake.c */
/* Keep every CPU that this process may use busy, with the lowest priority there is, until gt_player_sleep();
 * for a trace of one host thread with host functions. Returns whether all are. */
bool gt_player_keep_cpu_awake(struct gt_player *player);
void gt_player_sleep(struct gt_player *player);

/* clock.c */
/* Of player->gpu: its clock; where its timer stands, before and after. */
int gt_player_measure_clock(struct gt_player *player, struct gt_error *error);
int gt_player_align_before(struct gt_player *player, struct gt_error *error);
int gt_player_align_after(struct gt_player *player, struct gt_error *error);
/* A time of the GPU's timer on the host's clock. */
uint64_t gt_player_host_ns(const struct gt_play_gpu *gpu, uint64_t gpu_ns);
/* The GPU of an operation. */
static inline const struct gt_play_gpu *gt_player_gpu_of(const struct gt_player *player, uint32_t op)
{
    return &player->gpus[player->workload->streams[player->workload->ops[op].stream].gpu];
}

/* records.c */
/* From the first call's start to the last one's end: what needs no GPU clock. */
uint64_t gt_player_span_ns(const struct gt_player *player);
int gt_player_send(struct gt_player *player, const struct gt_activity *activity, const struct gt_probe *probe,
                   struct gt_play_result *result, struct gt_error *error);

#endif
