/* In place of the recorder's library, where there is no GPU: it writes down a program that was never run, two kernels one behind
 * the other, and an event query for each SIGUSR2. */
#include <signal.h>
#include <stdlib.h>

#include "sim/workload/workload.h"
#include "validate/record/writer.h"

enum { STREAM = 0xa000 };

static void write_call(enum gt_recorded_what what, const char *text, uint32_t correlation, uint64_t start_ns)
{
    uint32_t name = gt_writer_name(text);
    struct gt_record_call *call = gt_writer_begin(GT_RECORDED_CALL, sizeof *call);

    call->head.flags = GT_RECORDED_IN_STREAM;
    call->start_ns = start_ns;
    call->end_ns = start_ns + 5000;
    call->thread = 1;
    call->stream = STREAM;
    call->correlation = correlation;
    call->name = name;
    call->context = 1;
    call->what = what;
    gt_writer_end(call);
}

static void write_kernel(uint32_t correlation, uint64_t start_ns)
{
    uint32_t name = gt_writer_name("_Z5scalePfPKfi");
    struct gt_record_op *op = gt_writer_begin(GT_RECORDED_OP, sizeof *op);

    op->start_ns = start_ns;
    op->end_ns = start_ns + 20000;
    op->kind = GT_OP_KERNEL;
    op->context = 1;
    op->stream = 13;
    op->correlation = correlation;
    op->name = name;
    op->peer_gpu = UINT32_MAX;
    op->registers = 16;
    for (int i = 0; i < 3; i++)
        op->grid[i] = op->block[i] = 1;
    op->grid[0] = 132;
    op->block[0] = 256;
    gt_writer_end(op);
}

static void write_gpu(void)
{
    static const char name[] = "NVIDIA H200";
    struct gt_record_gpu *gpu = gt_writer_begin(GT_RECORDED_GPU, sizeof *gpu + sizeof name - 1);
    struct gt_record_context *context;
    struct gt_record_stream *stream;

    gpu->length = sizeof name - 1;
    for (size_t i = 0; i < sizeof name - 1; i++)
        gpu->text[i] = name[i];
    gt_writer_end(gpu);
    context = gt_writer_begin(GT_RECORDED_CONTEXT, sizeof *context);
    context->context = 1;
    context->null_stream = 7;
    gt_writer_end(context);
    stream = gt_writer_begin(GT_RECORDED_STREAM, sizeof *stream);
    stream->handle = STREAM;
    stream->context = 1;
    stream->id = 13;
    gt_writer_end(stream);
}

static void on_signal(int number)
{
    static uint32_t times;

    (void)number;
    times++;
    write_call(GT_DID_OTHER, "cudaAsked_v9000", 100 + times, 1000000 + times * UINT64_C(10000));
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("GRIDTIDE_RECORD_DIR");
    struct gt_record_end *end;

    if (folder == NULL || gt_writer_open(folder, UINT64_C(1) << 20) != 0)
        return;
    signal(SIGUSR2, on_signal);
    write_gpu();
    for (uint32_t i = 0; i < 2; i++) {
        write_call(GT_DID_LAUNCH, "__cudaLaunchKernel_ptsz_v13000", 10 + i, 10000 + i * UINT64_C(8000));
        write_kernel(10 + i, 20000 + i * UINT64_C(22000));
    }
    write_call(GT_DID_STREAM_SYNC, "cudaStreamSynchronize_v3020", 20, 30000);
    end = gt_writer_begin(GT_RECORDED_END, sizeof *end);
    gt_writer_end(end);
}
