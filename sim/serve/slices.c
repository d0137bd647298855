#include "sim/serve/slices.h"

#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/rewrite/rebuild.h"

/* Of one kernel: how it is cut. */
struct pieces {
    uint64_t blocks, count;
    uint64_t waves, wave_blocks; /* of the whole; 0: not known */
};

static struct pieces pieces_of(const struct gt_workload *w, const struct gt_call *call,
                               const struct gt_device *device, uint64_t blocks)
{
    struct pieces pieces = { 0, 1, 0, 0 };
    const struct gt_kernel *kernel;
    struct gt_occupancy occupancy;

    if (call->kind != GT_CALL_LAUNCH || call->ops != 1)
        return pieces;
    kernel = &w->kernels[w->ops[call->first_op].kernel];
    pieces.blocks = gt_kernel_blocks(kernel);
    if (kernel->cooperative || kernel->grid_barriers > 0 || gt_kernel_cluster_blocks(kernel) > 1 ||
        pieces.blocks <= blocks)
        return pieces;
    pieces.count = (pieces.blocks + blocks - 1) / blocks;
    if (gt_occupancy_of(device, kernel, &occupancy, NULL) == 0) {
        pieces.waves = occupancy.waves;
        pieces.wave_blocks = (uint64_t)occupancy.blocks_per_sm * device->sms;
    }
    return pieces;
}

/* What a piece of so many blocks takes of what the whole does. */
static gt_time_ps piece_ps(const struct pieces *pieces, uint64_t blocks, gt_time_ps whole_ps)
{
    uint64_t waves;

    if (whole_ps == GT_TIME_NONE || pieces->waves == 0)
        return whole_ps;
    waves = (blocks + pieces->wave_blocks - 1) / pieces->wave_blocks;
    return (gt_time_ps)((unsigned __int128)whole_ps * waves / pieces->waves);
}

/* The kernel of blocks `first` to `first` + `blocks` - 1. */
static gt_kernel_index piece_kernel(struct gt_workload *w, gt_kernel_index whole, const struct pieces *pieces,
                                    uint64_t first, uint64_t blocks)
{
    struct gt_kernel kernel = w->kernels[whole];
    gt_time_ps *list = NULL;
    gt_kernel_index index;

    kernel.grid[0] = (uint32_t)blocks;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.duration_ps = piece_ps(pieces, blocks, kernel.duration_ps);
    if (kernel.cost == GT_COST_LIST) {
        list = gt_calloc(kernel.block_list_length, sizeof *list);
        for (uint32_t i = 0; i < kernel.block_list_length; i++)
            list[i] = kernel.block_list_ps[(first + i) % kernel.block_list_length];
        kernel.block_list_ps = list;
    }
    index = gt_workload_kernel(w, &kernel);
    free(list);
    return index;
}

static void launch_pieces(struct gt_rebuild *rebuild, gt_call_index call, const struct pieces *pieces, uint64_t most,
                          gt_time_ps alone_ps, gt_time_ps *sliced_ps)
{
    for (uint64_t first = 0; first < pieces->blocks; first += most) {
        uint64_t blocks = pieces->blocks - first < most ? pieces->blocks - first : most;
        gt_call_index copy = gt_rebuild_copy(rebuild, call);
        gt_op_index op = rebuild->to->calls[copy].first_op;

        rebuild->to->ops[op].kernel = piece_kernel(rebuild->to, rebuild->to->ops[op].kernel, pieces, first, blocks);
        rebuild->to->ops[op].duration_ps = piece_ps(pieces, blocks, rebuild->to->ops[op].duration_ps);
        if (first > 0)
            rebuild->to->calls[copy].before_ps = 0;
        sliced_ps[op] = piece_ps(pieces, blocks, alone_ps);
    }
}

struct gt_workload *gt_slice_kernels(const struct gt_workload *request, const struct gt_device *device,
                                     uint64_t blocks, const gt_time_ps *alone_ps, gt_time_ps **sliced_ps)
{
    struct gt_rebuild rebuild;
    uint64_t ops = 0;

    for (gt_call_index i = 0; i < request->call_count; i++)
        ops += request->calls[i].ops + pieces_of(request, &request->calls[i], device, blocks).count;
    *sliced_ps = gt_calloc(ops, sizeof **sliced_ps);
    gt_rebuild_begin(&rebuild, request);
    for (gt_call_index i = 0; i < request->call_count; i++) {
        const struct gt_call *call = &request->calls[i];
        struct pieces pieces = pieces_of(request, call, device, blocks);

        if (pieces.count > 1) {
            launch_pieces(&rebuild, i, &pieces, blocks, alone_ps[call->first_op], *sliced_ps);
            continue;
        }
        gt_call_index copy = gt_rebuild_copy(&rebuild, i);
        gt_op_index first = rebuild.to->calls[copy].first_op;

        for (uint32_t op = 0; op < call->ops; op++)
            (*sliced_ps)[first + op] = alone_ps[call->first_op + op];
    }
    return gt_rebuild_end(&rebuild);
}
