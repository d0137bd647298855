#include "traces/compare/kernel_numbers.h"

#include <math.h>

/* Sums over the program: traffic, threads. */
static void add_code(struct gt_explained *explained)
{
    double threads = 0;

    for (uint32_t i = 0; i < explained->inside->instructions; i++) {
        const struct gt_code_row *code = &explained->inside->code[i];

        explained->executed += code->executions;
        threads += code->executions * code->threads;
        if (isnan(code->sectors))
            continue;
        /* A typed program need not say what would be ideal. */
        if (code->sectors_ideal > 0) {
            explained->sectors += code->executions * code->sectors;
            explained->sectors_ideal += code->executions * code->sectors_ideal;
        }
        if (code->wavefronts_ideal > 0) {
            explained->wavefronts += code->executions * code->wavefronts;
            explained->wavefronts_ideal += code->executions * code->wavefronts_ideal;
        }
    }
    explained->threads = explained->executed > 0 ? threads / explained->executed : NAN;
}

/* By reason, as shares of their sum. */
static void add_reasons(const double *amounts, uint32_t instructions, double sum, double reasons[GT_STALLS])
{
    for (int reason = 0; reason < GT_STALLS; reason++) {
        reasons[reason] = 0;
        for (uint32_t i = 0; i < instructions; i++)
            reasons[reason] += amounts[(size_t)i * GT_STALLS + (size_t)reason];
        reasons[reason] = sum > 0 ? reasons[reason] / sum : NAN;
    }
}

/* A warp instruction takes its pipe for an interval.  Matrix instructions differ by shape: not told here. */
static void add_pipes(struct gt_explained *explained)
{
    const struct gt_kernel_stalls *inside = explained->inside;

    for (int pipe = 0; pipe < GT_PIPES; pipe++)
        explained->issued += inside->issued[pipe];
    for (int pipe = 0; pipe < GT_PIPES; pipe++)
        explained->pipe_busy[pipe] = pipe == GT_PIPE_TENSOR || explained->issued == 0
                                         ? NAN
                                         : inside->issued[pipe] / explained->issued *
                                               explained->numbers->issue_share * inside->device.warp.interval[pipe];
}

void gt_explain(const struct gt_kernel_row *row, const struct gt_kernel_stalls *inside,
                struct gt_explained *explained)
{
    const struct gt_device *device = &inside->device;

    *explained = (struct gt_explained){
        .row = row,
        .inside = inside,
        .waves = NAN,
        .warps_most = NAN,
        .numbers = isnan(row->in_simulated.cycles) ? &row->in_measured : &row->in_simulated,
        .dram_peak = device->warp.dram_gbps * 1e3 / device->clock_mhz,
        .l2_peak = device->warp.l2_read_bytes_per_cycle,
    };
    explained->dram_share = explained->numbers->dram_bytes_per_cycle / explained->dram_peak;
    explained->l2_share = explained->numbers->l2_bytes_per_cycle / explained->l2_peak;
    add_reasons(inside->simulated, inside->instructions, inside->simulated_sum, explained->simulated);
    add_reasons(inside->measured, inside->instructions, inside->measured_sum, explained->measured);
    add_pipes(explained);
    add_code(explained);
    if (!inside->fits)
        return;
    explained->waves = (double)gt_kernel_blocks(&inside->shape) / device->sms / inside->occupancy.blocks_per_sm;
    explained->warps_most = (double)inside->occupancy.blocks_per_sm * inside->occupancy.need.warps;
}
