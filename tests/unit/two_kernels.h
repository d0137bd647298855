/* two_kernels.h - the workload that tests of the validator play. */
#ifndef GRIDTIDE_TESTS_UNIT_TWO_KERNELS_H
#define GRIDTIDE_TESTS_UNIT_TWO_KERNELS_H

#include "sim/workload/workload.h"

/* Two kernels of eight blocks, one after the other; 10 us a block. */
static struct gt_workload *make_workload(void)
{
    struct gt_workload *workload = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .name = gt_name(workload, "k", 1), .grid = { 8, 1, 1 }, .block = { 64, 1, 1 }, .cost = GT_COST_FIXED,
        .block_min_ps = 10000000, .block_max_ps = 10000000, .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE, .arguments = GT_NONE,
    };
    /* clang-format on */

    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_thread(workload);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call].kind = GT_CALL_LAUNCH;
        workload->calls[call].ops = 1;
        workload->calls[call].stream = 0;
        workload->calls[call].thread = 0;
        workload->ops[op].call = call;
        workload->ops[op].stream = 0;
        workload->ops[op].kind = GT_OP_KERNEL;
        workload->ops[op].kernel = gt_workload_kernel(workload, &kernel);
    }
    return workload;
}

#endif
