/* How fast races are looked for: workloads of 1 M operations, made in memory: no file, no schedules.
 * Prints one line a case: operations, streams, races, seconds of processor time. */
#include <stdio.h>
#include <time.h>

#include "sim/check/check.h"
#include "sim/workload/block_cost.h"

enum { OPERATIONS = 1000000, BUFFERS = 4096, BUFFER_BYTES = 1 << 20, EVENTS = 256, PIECE_BYTES = 4096 };

static uint64_t draws;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(gt_random_bits(5, 6, draws++) % below);
}

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct gt_call *add_call(struct gt_workload *w, enum gt_call_kind kind, gt_stream_index stream)
{
    gt_call_index index = gt_workload_add_call(w);
    struct gt_call *call = &w->calls[index];

    call->kind = (uint8_t)kind;
    call->thread = 0;
    call->stream = stream;
    call->first_op = w->op_count;
    return call;
}

static void add_event_call(struct gt_workload *w, enum gt_call_kind kind, gt_stream_index stream,
                           gt_event_index event)
{
    add_call(w, kind, stream)->event = event;
}

/* `pieces`: of the buffers, at random places; else whole ones. */
static void add_access(struct gt_workload *w, gt_op_index op, gt_buffer_index buffer, bool writes, bool pieces)
{
    struct gt_buffer_access access = { .buffer = buffer, .writes = writes };

    if (pieces) {
        access.offset = draw(BUFFER_BYTES / PIECE_BYTES) * (uint64_t)PIECE_BYTES;
        access.bytes = PIECE_BYTES;
    }
    gt_workload_add_access(w, op, &access);
}

static void add_kernel(struct gt_workload *w, gt_kernel_index kernel, gt_stream_index stream)
{
    struct gt_call *call = add_call(w, GT_CALL_LAUNCH, stream);
    gt_op_index op;

    call->ops = 1;
    op = gt_workload_add_op(w);
    w->ops[op].call = w->call_count - 1;
    w->ops[op].stream = stream;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = kernel;
}

/* One kernel, a GPU, a thread, streams, events. */
static struct gt_workload *begin(uint32_t streams, gt_kernel_index *index)
{
    struct gt_workload *w = gt_workload_new();
    struct gt_kernel kernel = { .name = gt_name(w, "k", 1),
                                .grid = { 1, 1, 1 },
                                .block = { 128, 1, 1 },
                                .duration_ps = 1000000,
                                .runs = GT_NONE,
                                .arguments = GT_NONE };

    *index = gt_workload_kernel(w, &kernel);
    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < streams; i++) {
        gt_workload_add_stream(w);
        w->streams[i].flags = GT_STREAM_NON_BLOCKING;
    }
    for (uint32_t i = 0; i < EVENTS; i++)
        gt_workload_add_event(w);
    return w;
}

/* One buffer: half of the kernels write a part of it each, and then the others read it whole. */
static struct gt_workload *make_parts(uint32_t streams)
{
    gt_kernel_index index;
    struct gt_workload *w = begin(streams, &index);
    gt_buffer_index buffer = gt_workload_add_buffer(w);

    w->buffers[buffer].bytes = OPERATIONS / 2 * 16;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        bool writes = i < OPERATIONS / 2;
        struct gt_buffer_access access = { .buffer = buffer, .writes = writes };

        if (writes) {
            access.offset = i * UINT64_C(16);
            access.bytes = 16;
        }
        add_kernel(w, index, i % streams);
        gt_workload_add_access(w, i, &access);
        if (i == OPERATIONS / 2 - 1)
            add_call(w, GT_CALL_DEVICE_SYNC, GT_NONE);
    }
    return w;
}

/* Each kernel reads two buffers and writes one; every `handover` kernels of a stream the next stream waits for it, and
 * every 1,000 the host waits for all.  `shared`: buffers are everybody's; else each stream has its own. */
static struct gt_workload *make(uint32_t streams, uint32_t handover, bool shared, bool pieces)
{
    gt_kernel_index index;
    struct gt_workload *w = begin(streams, &index);

    for (uint32_t i = 0; i < BUFFERS; i++) {
        gt_buffer_index buffer = gt_workload_add_buffer(w);

        w->buffers[buffer].bytes = BUFFER_BYTES;
        w->buffers[buffer].address = 4096 + (uint64_t)i * BUFFER_BYTES / (pieces ? 2 : 1);
    }
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        gt_stream_index stream = draw(streams);

        add_kernel(w, index, stream);
        for (int j = 0; j < 3; j++)
            add_access(w, i, shared ? draw(BUFFERS) : draw(BUFFERS / streams / 2) * 2 * streams + stream * 2, j == 2,
                       pieces);
        if (i % handover == 0) {
            add_event_call(w, GT_CALL_EVENT_RECORD, stream, i % EVENTS);
            add_event_call(w, GT_CALL_EVENT_WAIT, (stream + 1) % streams, i % EVENTS);
        }
        if (i % 1000 == 999)
            add_call(w, GT_CALL_DEVICE_SYNC, GT_NONE);
    }
    return w;
}

/* Ends the workload. */
static void bench(const char *what, uint32_t streams, struct gt_workload *w)
{
    struct gt_check check;
    double start_s = now_s();

    gt_check_run(&check, w);
    printf("%-36s %7d operations %4u streams %8u races %7.3f s\n", what, OPERATIONS, streams, check.certain.count,
           now_s() - start_s);
    fflush(stdout);
    gt_check_free(&check);
    gt_workload_free(w);
}

int main(void)
{
    bench("own buffers, whole", 32, make(32, 4, false, false));
    bench("own buffers, pieces", 32, make(32, 4, false, true));
    bench("everybody's buffers, whole", 8, make(8, 1, true, false));
    bench("everybody's buffers, pieces, overlap", 32, make(32, 4, true, true));
    bench("many streams, a wait a kernel", 512, make(512, 1, false, false));
    bench("parts that are read whole", 8, make_parts(8));
    return 0;
}
