#include "sim/workload/processes.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"

struct named_thread {
    uint64_t process;
    gt_thread_index thread;
};

static int by_process(const void *left, const void *right)
{
    const struct named_thread *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->thread, b->thread);
    return 0;
}

uint32_t *gt_thread_processes(const struct gt_workload *w)
{
    struct named_thread *threads = gt_calloc(w->thread_count + 1ull, sizeof *threads);
    uint32_t *first = gt_calloc(w->thread_count + 1ull, sizeof *first);

    for (gt_thread_index i = 0; i < w->thread_count; i++)
        threads[i] = (struct named_thread){ w->threads[i].process, i };
    qsort(threads, w->thread_count, sizeof *threads, by_process);
    for (uint32_t i = 0; i < w->thread_count; i++) {
        bool same = i > 0 && threads[i - 1].process == threads[i].process;

        first[threads[i].thread] = same ? first[threads[i - 1].thread] : threads[i].thread;
    }
    free(threads);
    return first;
}

struct gt_sharing gt_process_sharing(const struct gt_workload *w, uint64_t process)
{
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        if (w->threads[i].process == process && w->threads[i].sharing.how != GT_SHARE_UNSAID)
            return w->threads[i].sharing;
    return (struct gt_sharing){ .how = GT_SHARE_UNSAID };
}

uint32_t gt_process_count(const struct gt_workload *w)
{
    uint32_t *first = gt_thread_processes(w), count = 0;

    for (gt_thread_index i = 0; i < w->thread_count; i++)
        count += first[i] == i;
    free(first);
    return count;
}

static void use_streams(const struct gt_workload *w, bool made_up, uint64_t *processes)
{
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (((call->flags & GT_CALL_INFERRED) != 0) != made_up)
            continue;
        for (uint32_t j = 0; j <= call->ops; j++) {
            gt_stream_index stream = j == call->ops ? call->stream : w->ops[call->first_op + j].stream;

            if (stream != GT_NONE && processes[stream] == GT_PROCESS_NONE)
                processes[stream] = w->threads[call->thread].process;
        }
    }
}

static uint64_t *no_processes(const struct gt_workload *w)
{
    uint64_t *processes = gt_realloc(NULL, w->stream_count + 1ull, sizeof *processes);

    memset(processes, 0xff, (w->stream_count + 1ull) * sizeof *processes); /* GT_PROCESS_NONE */
    return processes;
}

/* Streams that calls alone use which were made up are of the process whose context they are in. */
static void join_contexts(const struct gt_workload *w, uint64_t *processes)
{
    gt_stream_index *known = gt_realloc(NULL, w->stream_count + 1ull, sizeof *known); /* one a context */
    uint64_t *users = no_processes(w);
    uint32_t count = 0;

    use_streams(w, true, users);
    for (int pass = 0; pass < 2; pass++)
        for (gt_stream_index i = 0; i < w->stream_count; i++) {
            uint32_t at = 0;

            if ((pass == 0) == (processes[i] == GT_PROCESS_NONE))
                continue;
            while (at < count && (w->streams[known[at]].gpu != w->streams[i].gpu ||
                                  w->streams[known[at]].context != w->streams[i].context))
                at++;
            if (pass == 1 && at < count && users[i] != GT_PROCESS_NONE)
                processes[i] = processes[known[at]];
            else if (pass == 0 && at == count)
                known[count++] = i;
        }
    free(known);
    free(users);
}

uint64_t *gt_stream_processes(const struct gt_workload *w)
{
    uint64_t *processes = no_processes(w);

    use_streams(w, false, processes);
    join_contexts(w, processes);
    use_streams(w, true, processes);
    return processes;
}

/* Several GPUs and threads of one program: who may reach whose memory, who holds a lock when. */

bool gt_gpus_are_peers(const struct gt_workload *workload, gt_gpu_index one, gt_gpu_index other)
{
    gt_gpu_index first = one < other ? one : other, last = one < other ? other : one;
    const struct gt_gpu *gpu = &workload->gpus[last];

    return first == last || !gpu->peers_known || (gpu->peers[first / 64] >> first % 64 & 1) != 0;
}

bool gt_copy_between(const struct gt_workload *workload, const struct gt_op *op, gt_gpu_index *from, gt_gpu_index *to)
{
    gt_gpu_index own = workload->streams[op->stream].gpu;

    if (op->kind != GT_OP_COPY || op->direction != GT_P2P || op->peer_gpu == GT_NONE)
        return false;
    *from = op->from_peer ? op->peer_gpu : own;
    *to = op->from_peer ? own : op->peer_gpu;
    return true;
}

void gt_peer_sent_bytes(const struct gt_workload *workload, uint64_t *bytes)
{
    for (gt_gpu_index gpu = 0; gpu < workload->gpu_count; gpu++)
        bytes[gpu] = 0;
    for (gt_op_index i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        gt_gpu_index from = op->from_peer ? op->peer_gpu : workload->streams[op->stream].gpu;

        if (op->peer_gpu != GT_NONE)
            bytes[from] = op->bytes > UINT64_MAX - bytes[from] ? UINT64_MAX : bytes[from] + op->bytes;
    }
}

bool gt_call_needs_lock(const struct gt_workload *workload, gt_call_index index)
{
    const struct gt_call *call = &workload->calls[index];

    return workload->threads[call->thread].lock != GT_NONE && !gt_call_may_wait(workload, call);
}
