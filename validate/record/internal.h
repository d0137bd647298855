/* internal.h - the parts of the injection library, in the order in which a record comes about.
 *
 *  inject.c      the driver loads the library: CUPTI is opened, callbacks and activity are switched on
 *  calls.c       a call's callback: what it was, with its arguments (rows.c: the table of functions)
 *  functions.c   kernels: their parameters, and values of these that may be pointers
 *  pieces.c      copies and memsets of rows and arrays: what they moved
 *  streams.c     contexts, streams and GPUs, described when they are met
 *  graphs.c      executable graphs: nodes, edges
 *  activities.c  CUPTI's buffers: kernels, copies and memsets with their times
 *  nvtx.c        ranges
 *  control.c     when recording is on; a thread that hands buffers over; ends of the process
 *  writer.c      the file; chunks.c: its pieces in memory, made ahead
 *
 * Nothing here ends, or changes, the program that is recorded: what fails is written down, or left out.
 */
#ifndef GRIDTIDE_VALIDATE_RECORD_INTERNAL_H
#define GRIDTIDE_VALIDATE_RECORD_INTERNAL_H

#include <cuda.h>
#include <cupti.h>

#include "validate/record/writer.h"

/* clang-format off */
#define GT_CUPTI_FUNCTIONS(F) \
    F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable) \
    F(cuptiActivityDisable) F(cuptiActivitySetAttribute) F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) \
    F(cuptiActivityGetNumDroppedRecords) F(cuptiGetResultString) F(cuptiGetGraphNodeId) F(cuptiGetGraphId) \
    F(cuptiGetGraphExecId) F(cuptiGetStreamIdEx) F(cuptiGetContextId) F(cuptiGetDeviceId) F(cuptiSubscribe_v2) \
    F(cuptiEnableCallback) F(cuptiGetCallbackName)
/* Absent from older drivers, or called by another version's name: each is asked for before its use. */
#define GT_DRIVER_FUNCTIONS(F) \
    F(cuFuncGetParamInfo) F(cuFuncGetName) F(cuKernelGetParamInfo) F(cuKernelGetName) F(cuStreamGetFlags) \
    F(cuStreamGetPriority) F(cuStreamGetGreenCtx) F(cuGreenCtxGetDevResource) F(cuStreamIsCapturing) F(cuGraphGetNodes) F(cuGraphGetEdges) F(cuGraphNodeGetType) \
    F(cuGraphKernelNodeGetParams) F(cuGraphKernelNodeGetAttribute) F(cuGraphMemcpyNodeGetParams) \
    F(cuGraphMemsetNodeGetParams) F(cuGraphChildGraphNodeGetGraph) F(cuDeviceGet) F(cuDeviceGetName) \
    F(cuDeviceGetUuid) F(cuDeviceGetAttribute)
/* clang-format on */

struct gt_recorder_api {
#define GT_MEMBER(name) __typeof__(&name) name;
    GT_CUPTI_FUNCTIONS(GT_MEMBER)
    GT_DRIVER_FUNCTIONS(GT_MEMBER)
#undef GT_MEMBER
};
extern struct gt_recorder_api gt_api;

/* Find them. Returns NULL, or what is missing. */
const char *gt_api_open(void);

/* What a function does with a stream, in its row. */
enum gt_row_flag {
    GT_ROW_STREAM = 1,      /* it works on one */
    GT_ROW_PER_THREAD = 2,  /* of which 0 is the thread's own default stream (--default-stream per-thread) */
    GT_ROW_SYNCHRONOUS = 4, /* it waits for its copy */
    GT_ROW_DEFINES = 8,     /* told even while recording is off: others mean what it made */
    GT_ROW_SWITCHES = 16,   /* asked for even then: it may switch recording on */
    GT_ROW_PIECES = 32      /* what it moves the driver's function says best: itself, or one that it calls */
};
/* A CUDA function that is recorded. */
struct gt_call_row {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId id;
    uint8_t what; /* gt_recorded_what */
    uint8_t flags;
    /* Read the arguments of a call that is over into `call`; NULL: it has none that matter. */
    void (*read)(const void *parameters, struct gt_record_call *call);
};
extern const struct gt_call_row gt_call_rows[];
extern const size_t gt_call_row_count;

/* Have CUPTI tell the subscriber of calls: of all while recording is on, else of those that are needed then, too, so that
 * the others cost nothing. */
void gt_calls_enable(CUpti_SubscriberHandle subscriber);
void gt_calls_switch(bool on);
void CUPTIAPI gt_calls_take(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);
/* Calls that CUPTI tells of from now on, on this thread, are the recorder's own. */
void gt_calls_own(bool own);
/* Time in the recorder's own code so far. */
void gt_calls_cost(uint64_t *calls, uint64_t *total_ns);

/* What is launched, and how its parameters are given. */
struct gt_launch_view {
    const void *function; /* a CUfunction or CUkernel */
    void **parameters;    /* a pointer to each; or NULL */
    void **extra;         /* or all in one piece, as cuLaunchKernel() has it */
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
    bool cooperative, has_priority; /* by other ways than attributes */
    int32_t priority;
};
/* Is the driver's function such a launch? */
bool gt_launch_look(CUpti_CallbackId id, const void *parameters, struct gt_launch_view *view);
/* Write what a launch, or a node of a graph, gave its kernel. */
void gt_function_record(const struct gt_launch_view *view, const struct gt_recorded_giver *giver);
/* Memory that pointers may lead to. */
void gt_function_memory(uint64_t address, uint64_t bytes);

/* Write what a function of the driver that is over moved, for the call of that correlation. */
void gt_pieces_record(const struct gt_call_row *row, const void *parameters, uint32_t correlation);
/* Write what copies and memsets in nodes of graphs move. */
void gt_pieces_of_copy(const CUDA_MEMCPY3D *copy, const struct gt_recorded_giver *giver);
void gt_pieces_of_memset(const CUDA_MEMSET_NODE_PARAMS *set, const struct gt_recorded_giver *giver);

/* Describe the context and its GPU when they are met. */
void gt_context_met(CUcontext context, uint32_t number);
void gt_stream_made(CUcontext context, CUstream stream);
/* The calling thread's own default stream in that context. */
void gt_per_thread_stream_met(CUcontext context, uint32_t number);

/* The graph was instantiated, or an executable one updated to it, by the call of that correlation, with the flags of its
 * instantiation. */
void gt_graph_made(CUgraphExec executable, CUgraph graph, uint64_t flags, uint32_t correlation);
/* A function of the driver that changes nodes of an executable graph is over. */
void gt_graph_changed(CUpti_CallbackId id, const void *parameters, uint32_t correlation);
void gt_graph_cloned(const CUpti_GraphData *data);
/* A node comes after another: of executable graphs this is told nowhere else. */
void gt_graph_joined(const CUpti_GraphData *data);

void CUPTIAPI gt_activities_give(uint8_t **buffer, size_t *bytes, size_t *records);
void CUPTIAPI gt_activities_take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
void gt_activities_enable(bool on);
void gt_activities_cost(uint64_t *buffers, uint64_t *buffers_ns, uint64_t *overhead_ns);

/* Is recording on? */
bool gt_recording(void);
/* cudaProfilerStart() or -Stop(). */
void gt_control_profiler(bool begins);
/* Is a range of these names (gt_writer_name()) what switches recording?  Such a range begins, or ends. */
bool gt_control_wants(uint32_t domain, uint32_t name);
void gt_control_range(bool begins);
/* Read the environment and make the file, once. 0, or an errno: there is nothing to record. */
int gt_control_open(void);
/* CUDA begins: recording is switched on as was wished, and a thread hands over what CUPTI has. 0, or an errno. */
int gt_control_begin(void);
/* The process is about to end, or to become another program, on this thread. */
void gt_control_last_words(enum gt_recorded_end how, int signal);

#endif
