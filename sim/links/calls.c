#include "sim/links/calls.h"

#include "sim/devices/links.h"
#include "sim/machine/durations.h"

static bool staged(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op)
{
    gt_gpu_index from, to;
    struct gt_link link;

    return gt_link_of_copy(w, device, op, &link, &from, &to) && link.kind == GT_LINK_HOST;
}

gt_time_ps gt_link_call_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                           gt_time_ps *rest_ps)
{
    uint64_t piece_bytes = device->link_host_piece_bytes, first_bytes = GT_LINK_FIRST_PIECES * piece_bytes;

    *rest_ps = 0;
    if (!staged(w, device, op))
        return device->link_call_ps;
    /* Seen on H200s: the same from 4 bytes to 1 MiB, and as much more for each further piece. */
    if (piece_bytes > 0 && op->bytes > first_bytes)
        *rest_ps = gt_whole_ps(((double)(op->bytes - first_bytes) / (double)piece_bytes) *
                               (double)device->link_host_piece_call_ps);
    return device->link_call_ps + device->link_host_call_ps + *rest_ps;
}

gt_time_ps gt_link_pull_call_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op)
{
    return op->from_peer && !staged(w, device, op) ? device->link_pull_call_ps : 0;
}
