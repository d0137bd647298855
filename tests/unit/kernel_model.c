/* Waves as the device tier asks for them: by blocks on the SM and by SMs that compete; what a run keeps
 * busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/warp/kernel_model.h"
#include "tests/unit/warp_program.h"

/* A warp loads 128 bytes of which no cache knows and waits for them: at 1 byte a cycle DRAM takes 128. */
static void one_load(void)
{
    set("memory.dram_gbps", "1");
    set("memory.dram_efficiency", "1");
    set("memory.l2_reuse_bytes", "0");
    accesses[0] = (struct gt_access){
        .space = GT_SPACE_GLOBAL, .width_bytes = 4, .sectors = 4, .sectors_ideal = 4, .tag_requests = 1
    };
    program.memory_count = 1;
    program.use = (struct gt_memory_use){ .l2_read_sectors = 4, .dram_read_bytes = 128 };
    struct gt_instruction *load = add(GT_PIPE_LSU, GT_ACTION_LOAD, 1);
    load->memory = 0;
    load->write_barrier = 0;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1)->wait_mask = 1;
    add_exit();
    close_block(GT_END_EXIT);
}

/* One launch of `count` blocks of a warp. */
static struct gt_kernel_model *modelled_launch(struct gt_workload *w, uint32_t count)
{
    /* clang-format off */
    struct gt_kernel kernel = {
        .runs = GT_NONE, .arguments = GT_NONE, .name = gt_name(w, "k", 1), .grid = { count, 1, 1 },
        .block = { 32, 1, 1 }, .cost = GT_COST_NONE, .duration_ps = GT_TIME_NONE, .program = &program,
    };
    /* clang-format on */
    uint32_t number = gt_workload_kernel(w, &kernel), op = gt_workload_add_op(w);

    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = number;
    w->ops[op].stream = gt_workload_add_stream(w);
    return gt_model_kernels(w, &device, &device, false, NULL, &error);
}

/* DRAM has 128 cycles of work for each SM that competes and each block on this one; the rest is latency.
 * Steps at 1, 2 and 4 of 4 SMs: 3 lies between, and 3 blocks between 2 and 4. */
static void waves_by_blocks_and_sms(void **state)
{
    struct gt_workload *w = gt_workload_new();
    struct gt_kernel_model *modelled;

    (void)state;
    set("chip.sms", "4");
    set("sm.blocks", "4");
    one_load();
    modelled = modelled_launch(w, 4);
    assert_non_null(modelled);
    const struct gt_kernel_model_launch *launch = gt_kernel_model_launch(modelled, 0);
    assert_null(launch->failure);
    double alone = gt_kernel_model_wave(modelled, launch, 1, 1);
    assert_true(alone > 128);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 1, 2) - alone, 128, 1);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 1, 3) - alone, 256, 1);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 1, 4) - alone, 384, 1);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 1, 9) - alone, 384 + 5 * 128, 2);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 2, 1) - alone, 128, 1);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 3, 1) - alone, 256, 1);
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 4, 4) - alone, 15 * 128, 2);
    assert_true(gt_kernel_model_wave(modelled, launch, 0, 1) == 0);
    assert_true(gt_kernel_model_wave(modelled, launch, 5, 1) == 0);
    /* 4 SMs: what the launch itself was run with. */
    assert_float_equal(gt_kernel_model_wave(modelled, launch, 1, 4), launch->result.run_cycles, 1);
    gt_kernel_model_free(modelled);
    gt_workload_free(w);
}

/* Three instructions a warp on one of four sub-partitions; 4 sectors over the SM's port; 128 cycles of DRAM
 * for each of 4 SMs. */
static void what_was_busy(void **state)
{
    (void)state;
    set("chip.sms", "4");
    one_load();
    run(4, 1, 1);
    assert_float_equal(result.busy[GT_RESOURCE_ISSUE] * result.run_cycles, 3 / 4.0, 0.01);
    assert_float_equal(result.busy[GT_RESOURCE_PORT] * result.run_cycles, 128 / 64.0, 0.01);
    assert_float_equal(result.busy[GT_RESOURCE_DRAM] * result.run_cycles, 4 * 128, 0.01);
    assert_true(result.busy[GT_RESOURCE_L2_WRITE] == 0);
    /* The load issues at 0, its tags are looked up, and what waits for it issues when it is there; then
     * EXIT. */
    assert_float_equal(result.read_latency, result.run_cycles - 2, 1);
    assert_float_equal(result.busy[GT_RESOURCE_PIPE + GT_PIPE_FMA] * result.run_cycles, 1 / 4.0, 0.01);
}

/* Ten multiply-adds and EXIT: without stalls all eleven in a row; each four cycles behind the one before,
 * none but the first at once. */
static void bursts(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_float_equal(result.issue_run_length, 11, 0.01);
    for (int i = 0; i < 10; i++)
        code[i].stall_cycles = 4;
    run(1, 1, 1);
    assert_float_equal(result.issue_run_length, 1.1, 0.01);
}

/* Blocks of a warp, two on each of four schedulers, which go on with one until it ends: four at a time; where they only
 * wait, all eight. */
static void blocks_at_a_time(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(8, 1, 8);
    assert_float_equal(result.at_once, 4, 0.5);
    for (int i = 0; i < 60; i++)
        code[i].stall_cycles = 4;
    run(8, 1, 8);
    assert_float_equal(result.at_once, 8, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(waves_by_blocks_and_sms), TEST(what_was_busy), TEST(bursts),
                                        TEST(blocks_at_a_time) };

    return cmocka_run_group_tests_name("modelled", tests, NULL, NULL);
}
