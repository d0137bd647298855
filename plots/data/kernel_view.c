#include "plots/data/kernel_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_cycles(const void *left, const void *right)
{
    const struct gt_kernel_row *a = *(const struct gt_kernel_row *const *)left;
    const struct gt_kernel_row *b = *(const struct gt_kernel_row *const *)right;

    if (a->in_simulated.cycles != b->in_simulated.cycles)
        return a->in_simulated.cycles > b->in_simulated.cycles ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

uint32_t gt_kernels_choose(const struct gt_kernels *kernels, const struct gt_kernel_row **chosen)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        if (row->in_simulated.cycles > 0 && row->in_simulated.like_op == row->op)
            chosen[count++] = row;
    }
    qsort(chosen, count, sizeof *chosen, by_cycles);
    return count < GT_KERNELS_CHOSEN ? count : GT_KERNELS_CHOSEN;
}

const struct gt_wait_group gt_wait_groups[GT_WAIT_GROUPS] = {
    { "issuing", 0x0072b2, 1u << GT_STALL_SELECTED },
    { "not selected", 0x56b4e9, 1u << GT_STALL_NOT_SELECTED },
    { "fixed latency", 0x009e73, 1u << GT_STALL_WAIT },
    { "pipe busy", 0xe69f00,
      1u << GT_STALL_MATH_PIPE | 1u << GT_STALL_DISPATCH | 1u << GT_STALL_GMMA | 1u << GT_STALL_WARPGROUP_ARRIVE },
    { "global memory", 0xd55e00,
      1u << GT_STALL_LONG_SCOREBOARD | 1u << GT_STALL_LG_THROTTLE | 1u << GT_STALL_TEX_THROTTLE |
          1u << GT_STALL_DRAIN },
    { "shared memory", 0xcc79a7, 1u << GT_STALL_SHORT_SCOREBOARD | 1u << GT_STALL_MIO_THROTTLE },
    { "barriers", 0x4b2e83, 1u << GT_STALL_BARRIER | 1u << GT_STALL_MEMBAR },
    { "code and constants", 0x7d7d7d,
      1u << GT_STALL_NO_INSTRUCTION | 1u << GT_STALL_CONSTANT_MISS | 1u << GT_STALL_BRANCH_RESOLVING },
    { "other", 0xc8c8c8, 1u << GT_STALL_SLEEPING | 1u << GT_STALL_MISC },
};

void gt_wait_shares(const double reasons[GT_STALLS], double shares[GT_WAIT_GROUPS])
{
    double sum = 0;

    for (int reason = 0; reason < GT_STALLS; reason++)
        sum += reasons[reason];
    for (int group = 0; group < GT_WAIT_GROUPS; group++) {
        shares[group] = 0;
        for (int reason = 0; reason < GT_STALLS && sum > 0; reason++)
            shares[group] += gt_wait_groups[group].reasons & 1u << reason ? reasons[reason] / sum : 0;
    }
}

struct gt_text gt_kernel_bound(const struct gt_device *device, const struct gt_kernel_numbers *numbers,
                               const double reasons[GT_STALLS])
{
    double dram_peak = device->warp.dram_gbps * 1e3 / device->clock_mhz;
    /* clang-format off */
    const struct { const char *name; double share; } units[] = {
        { "DRAM", numbers->dram_bytes_per_cycle / dram_peak },
        { "L2", numbers->l2_bytes_per_cycle / device->warp.l2_read_bytes_per_cycle },
        { "load/store unit", numbers->lsu_share },
        { "issue slots", numbers->issue_share },
    };
    /* clang-format on */
    double shares[GT_WAIT_GROUPS];
    struct gt_text text = { "–" };
    int busiest = 0, waits = 1;

    for (int unit = 1; unit < (int)(sizeof units / sizeof units[0]); unit++)
        if (units[unit].share > units[busiest].share || isnan(units[busiest].share))
            busiest = unit;
    if (units[busiest].share >= GT_BOUND_SHARE) {
        snprintf(text.s, sizeof text.s, "%s %.0f%%", units[busiest].name, 100 * units[busiest].share);
        return text;
    }
    gt_wait_shares(reasons, shares);
    for (int group = 1; group < GT_WAIT_GROUPS; group++)
        if (shares[group] > shares[waits])
            waits = group;
    if (shares[waits] > 0)
        snprintf(text.s, sizeof text.s, "waits: %s %.0f%%", gt_wait_groups[waits].name, 100 * shares[waits]);
    return text;
}
