/* Seen on H200 in 1,050 random traces, from the end of a call to its operation's start, medians without and with a copy in
 * at work: kernels 2.2 and 4.4 us, memsets and copies within the device by kernels 1.7 and 3.8, copies out 1.8 and 7.1,
 * small memsets 1.7 and 7.2, small copies in 1.4 and 6.6; the small ones last 0.8 and 3.8 us.  A copy out changes nothing. */
#include "sim/links/reads.h"

enum { READS_OF_KERNEL = 1, READS_OF_COPY = 2 };

gt_time_ps gt_link_reads_ps(const struct gt_machine *m, gt_gpu_index gpu, uint32_t reads)
{
    const struct gt_engine_state *in = &m->gpus[gpu].engines[0];
    gt_time_ps reads_ps = reads * m->device->link_read_ps;
    double left_ps;

    if (in->running == GT_NONE || m->workload->ops[m->commands[in->running].index].memory == GT_MEMORY_PAGEABLE ||
        m->workload->ops[m->commands[in->running].index].direction != GT_H2D)
        return 0;
    left_ps = in->remaining_ps / in->rate - (double)(m->engine.now_ps - in->updated_ps);
    return left_ps < 0 ? 0 : left_ps < (double)reads_ps ? (gt_time_ps)left_ps : reads_ps;
}

static bool by_kernel(const struct gt_machine *m, const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL || (op->kind == GT_OP_COPY && op->direction == GT_D2D) ||
           (op->kind == GT_OP_MEMSET && op->bytes > m->device->copied_memset_bytes);
}

gt_time_ps gt_link_command_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    if (op->kind == GT_OP_HOST_FUNCTION || op->start_ps != GT_TIME_NONE ||
        m->workload->calls[op->call].flags & GT_CALL_STATED)
        return 0;
    return gt_link_reads_ps(m, m->streams[op->stream].gpu, by_kernel(m, op) ? READS_OF_KERNEL : READS_OF_COPY);
}
