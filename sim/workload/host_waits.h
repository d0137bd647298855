/* host_waits.h - which CUDA call waits for what: one table, by the kind of a call and what it asks for.
 *
 * It answers two questions: what CUDA's API reference lets a program rely on, and what drivers were observed to do, which is
 * what a simulation plays.  host_waits.c names the source of each row.
 *
 * Not here: a launch that waits for room in a full launch queue (sim/stream/api_call.h), and how long staging takes
 * (sim/machine/staging.h).
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_HOST_WAITS_H
#define GRIDTIDE_SIM_WORKLOAD_HOST_WAITS_H

#include "sim/workload/workload.h"

/* What a call returns behind.  Of the first four, which calls with operations have, the later one is the longer wait.  Those
 * from GT_HOST_WAIT_STREAM to GT_HOST_WAIT_PROCESS are for all that streams of the caller's process were asked for before. */
enum gt_host_wait {
    GT_HOST_WAIT_NONE,
    GT_HOST_WAIT_STAGED,             /* the host has copied its pageable memory into staging buffers */
    GT_HOST_WAIT_STREAM_THEN_STAGED, /* all that its stream was asked for before; then as GT_HOST_WAIT_STAGED */
    GT_HOST_WAIT_OPERATION,          /* its own operation */
    GT_HOST_WAIT_EVENT,              /* what its event's last record captured; nothing where there is none */
    GT_HOST_WAIT_STREAM,             /* one stream */
    GT_HOST_WAIT_BLOCKING_STREAMS,   /* a legacy default stream and all blocking streams of its context */
    GT_HOST_WAIT_GPU,                /* those on its buffer's GPU; if there is none there, all */
    GT_HOST_WAIT_CONTEXT,            /* those of the context of the stream that the call names */
    GT_HOST_WAIT_PROCESS,            /* all: the trace does not say which device the call is for */
    GT_HOST_WAIT_UNKNOWN             /* a stream or an event that the trace does not name */
};

/* By what: the API reference, or measurement. */
enum gt_host_waits_by { GT_HOST_WAITS_PROMISED, GT_HOST_WAITS_OBSERVED };

/* What a call waits for that asks for one operation, or for nothing; of several operations the longest wait.  By observation a
 * call in stated form waits for its operation as it was seen to, or not (GT_CALL_STATED). */
enum gt_host_wait gt_call_host_wait(const struct gt_workload *workload, const struct gt_call *call,
                                    enum gt_host_waits_by by);
/* What the call waits for on account of one operation; `op` need not be one of the workload's. */
enum gt_host_wait gt_op_host_wait(const struct gt_workload *workload, const struct gt_call *call,
                                  const struct gt_op *op, enum gt_host_waits_by by);
/* What a synchronisation of that stream waits for: GT_HOST_WAIT_STREAM or GT_HOST_WAIT_BLOCKING_STREAMS. */
enum gt_host_wait gt_stream_host_wait(const struct gt_workload *workload, gt_stream_index stream);

/* Can calls like this one wait, staging included, whether this one did or not (GT_CALL_STATED)?  Memory of unknown kind may be
 * pageable. */
bool gt_call_may_wait(const struct gt_workload *workload, const struct gt_call *call);

/* Does a call that waits for streams (GT_HOST_WAIT_STREAM to GT_HOST_WAIT_PROCESS) wait for what its process asked this one
 * for before?  False of other waits. */
bool gt_host_wait_covers(const struct gt_workload *workload, const struct gt_call *call, enum gt_host_wait wait,
                         gt_stream_index stream);

/* A call that is there to wait: cudaStreamSynchronize, cudaEventSynchronize, cudaDeviceSynchronize, a poll; cudaFree, which
 * waits as they do. */
bool gt_call_synchronises(const struct gt_call *call);
/* A call that asks for operations and is observed to return only when they are done, or at least when its stream has come to
 * them (GT_HOST_WAIT_STREAM_THEN_STAGED). */
bool gt_call_holds_host(const struct gt_workload *workload, const struct gt_call *call);
/* cudaStreamQuery, cudaEventQuery: the host looks how far the GPU is. */
bool gt_call_queries(const struct gt_call *call);
/* Does the thread do nothing for the GPU in it: its own work, or a call that neither submits, queries nor waits? */
bool gt_call_is_idle(const struct gt_call *call);

#endif
