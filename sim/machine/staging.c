/* Seen on H200, November 2026, in random traces: a pageable copy in returns when the host has put its last chunk into a
 * buffer, 20 us before a last chunk of 1 MiB is over on the GPU and 3 us before one of 130 KiB is, however large the
 * copy.  While it waits behind a kernel the host fills the buffers that there are, and the rest when it runs. */
#include "sim/machine/staging.h"

#include "sim/machine/durations.h"

bool gt_copy_staged(const struct gt_device *device, const struct gt_op *op)
{
    if (device->staging_chunk_bytes == 0 || op->memory != GT_MEMORY_PAGEABLE)
        return false;
    return op->direction == GT_D2H || (op->direction == GT_H2D && op->bytes > device->inline_bytes);
}

uint64_t gt_staging_chunks(const struct gt_device *device, const struct gt_op *op)
{
    uint64_t chunks = op->bytes / device->staging_chunk_bytes + (op->bytes % device->staging_chunk_bytes != 0);

    return chunks > 0 ? chunks : 1;
}

static uint64_t first_bytes(const struct gt_device *device, const struct gt_op *op)
{
    return op->bytes < device->staging_chunk_bytes ? op->bytes : device->staging_chunk_bytes;
}

static const struct gt_copy_cost *link_of(const struct gt_device *device, const struct gt_op *op)
{
    return op->direction == GT_H2D ? &device->h2d_pinned : &device->d2h_pinned;
}

static double link_ps(const struct gt_device *device, const struct gt_op *op, uint64_t bytes)
{
    const struct gt_copy_cost *link = link_of(device, op);

    return (double)link->latency_ps + (double)bytes * 1000.0 / link->gbps;
}

/* How much of a copy in the host had staged when the copy started in the measured run: the first chunk, or as many as
 * there are buffers where it had had the time for more.  `after_ps`: from the start to the call's end. */
static double staged_before_bytes(const struct gt_machine *m, const struct gt_op *op, double before_ps,
                                  double after_ps)
{
    double first = (double)first_bytes(m->device, op), all = first * m->device->staging_buffers;
    double first_ps = after_ps * first / ((double)op->bytes - first);

    return before_ps > 1.5 * first_ps ? all : first;
}

/* From the host's call as it was measured.  A copy in that the buffers hold is the call's work all the time; of a larger
 * one the host stages between the copy's start and the call's end what it had not before; a copy out is emptied once
 * its first chunk is there.  0: not to be told, as where less than half a chunk was left. */
static double measured_gbps(const struct gt_machine *m, gt_op_index index)
{
    const struct gt_op *op = &m->workload->ops[index], *seen = &m->host->ops[index];
    const struct gt_call *call = &m->host->calls[op->call];
    gt_time_ps call_end = gt_call_measured_end(call);
    double bytes = (double)op->bytes, time_ps;

    if (m->options->host == NULL || call_end == GT_TIME_NONE || seen->start_ps == GT_TIME_NONE)
        return 0;
    time_ps = (double)call_end - (double)seen->start_ps;
    if (op->direction == GT_D2H)
        time_ps -= link_ps(m->device, op, first_bytes(m->device, op));
    else if (gt_staging_chunks(m->device, op) > m->device->staging_buffers)
        bytes -= staged_before_bytes(m, op, (double)seen->start_ps - (double)call->start_ps, time_ps);
    else
        time_ps = (double)call->duration_ps - (double)m->device->copy_call_ps;
    return time_ps > 0 && bytes * 2 >= (double)first_bytes(m->device, op) ? bytes * 1000.0 / time_ps : 0;
}

static double host_gbps(const struct gt_machine *m, const struct gt_device *device, gt_op_index index)
{
    double gbps = measured_gbps(m, index);

    if (gbps > 0)
        return gbps;
    if (device->staging_chunk_bytes == 0)
        return device->h2d_pageable.gbps;
    gbps = m->workload->ops[index].direction == GT_D2H ? device->staging_out_gbps : device->staging_in_gbps;
    return m->noise_run_factor > 0 ? gbps / m->noise_run_factor : gbps;
}

gt_time_ps gt_staging_first_ps(const struct gt_machine *m, gt_op_index op)
{
    return gt_whole_ps((double)first_bytes(m->device, &m->workload->ops[op]) * 1000.0 / host_gbps(m, m->device, op));
}

gt_time_ps gt_staging_all_ps(const struct gt_machine *m, gt_op_index op)
{
    return gt_whole_ps((double)m->workload->ops[op].bytes * 1000.0 / host_gbps(m, m->device, op));
}

gt_time_ps gt_staging_out_tail_ps(const struct gt_machine *m, gt_op_index index)
{
    const struct gt_op *op = &m->workload->ops[index];
    double first_ps = link_ps(m->device, op, first_bytes(m->device, op));
    double tail_ps = (double)gt_staging_all_ps(m, index) + first_ps - gt_staging_duration_ps(m, m->device, index);

    return tail_ps > 0 ? gt_whole_ps(tail_ps) : 0;
}

/* What the buffers hold of a copy out, and else the first chunk, at the link's rate, and the rest as fast as the host
 * copies.  Seen on H200: 1 MiB in 21 us, 4 MiB 183, 64 MiB 3486 (in); 24, 176, 3324 (out). */
double gt_staging_duration_ps(const struct gt_machine *m, const struct gt_device *device, gt_op_index index)
{
    const struct gt_op *op = &m->workload->ops[index];
    uint64_t first = first_bytes(device, op), chunks = gt_staging_chunks(device, op);

    if (op->direction == GT_D2H && chunks <= device->staging_buffers)
        return link_ps(device, op, op->bytes) + (double)(chunks - 1) * (double)device->copy_gap_ps;
    return link_ps(device, op, first) + (double)(op->bytes - first) * 1000.0 / host_gbps(m, device, index);
}

/* A row of chunks under way; times from the copy's start on the GPU. */
struct row {
    double staged_ps;                               /* when the host had the chunk at hand in its buffer */
    double end_ps;                                  /* of the chunk before, on the GPU */
    double buffer_free_ps[GT_STAGING_BUFFERS_MOST]; /* each buffer */
};

/* Chunk number `i`. */
static void move_chunk(struct row *row, const struct gt_machine *m, const struct gt_op *op, uint64_t i,
                       uint64_t bytes, double host_gbps)
{
    double *free_ps = &row->buffer_free_ps[i % m->device->staging_buffers], start_ps = 0;

    if (i > 0) {
        if (i >= m->device->staging_buffers && row->staged_ps < *free_ps)
            row->staged_ps = *free_ps;
        row->staged_ps += (double)bytes * 1000.0 / host_gbps;
        start_ps = row->end_ps + (double)m->replay.copy_gap_ps;
        if (start_ps < row->staged_ps)
            start_ps = row->staged_ps;
    }
    *free_ps = row->end_ps = start_ps + link_ps(m->device, op, bytes);
}

/* So many chunks more, each as the last one. */
static void skip_chunks(struct row *row, uint32_t buffers, double each_ps, uint64_t chunks)
{
    double more_ps = each_ps * (double)chunks;

    row->staged_ps += more_ps;
    row->end_ps += more_ps;
    for (uint32_t i = 0; i < buffers; i++)
        row->buffer_free_ps[i] += more_ps;
}

gt_time_ps gt_staging_in_end_ps(const struct gt_machine *m, gt_op_index index, gt_time_ps staged_ps,
                                gt_time_ps *returned_ps)
{
    const struct gt_op *op = &m->workload->ops[index];
    struct row row = { .staged_ps = (double)staged_ps - (double)m->engine.now_ps };
    uint64_t chunks = gt_staging_chunks(m->device, op), chunk_bytes = first_bytes(m->device, op);
    uint64_t settled = 4ull * m->device->staging_buffers, skipped = 0;
    double gbps = host_gbps(m, m->device, index), before_ps = 0, now_ps = (double)m->engine.now_ps;

    for (uint64_t i = 0; i + skipped < chunks; i++) {
        if (i == settled && chunks > 2 * settled) {
            skipped = (chunks - settled - 1) / m->device->staging_buffers * m->device->staging_buffers;
            skip_chunks(&row, m->device->staging_buffers, row.end_ps - before_ps, skipped);
        }
        before_ps = row.end_ps;
        move_chunk(&row, m, op, i, i + skipped + 1 < chunks ? chunk_bytes : op->bytes - (chunks - 1) * chunk_bytes,
                   gbps);
    }
    *returned_ps = now_ps + row.staged_ps > 0 ? gt_whole_ps(now_ps + row.staged_ps) : 0;
    return gt_whole_ps(now_ps + row.end_ps);
}
