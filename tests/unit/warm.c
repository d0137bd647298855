/* What a launch finds in L2 of what the one before it touched: worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/program.h"
#include "sim/warm.h"

enum { KEEPS_BYTES = 10000 };

/* Two launches of one stream, recorded; each of 4 blocks of 2 warps, as profiled. */
struct fixture {
    struct gt_device device;
    struct gt_program programs[2];
    struct gt_workload *workload;
};

static void set_up(struct fixture *f, uint64_t first_reads, uint64_t first_writes, uint64_t second_reads)
{
    const uint64_t reads[] = { first_reads, second_reads }, sectors[] = { first_writes / 32, 0 };

    gt_device_init(&f->device);
    f->device.warp.l2_reuse_bytes = KEEPS_BYTES;
    f->workload = gt_workload_new();
    for (int i = 0; i < 2; i++) {
        struct gt_kernel kernel = { .name = GT_NONE, .runs = GT_NONE, .arguments = GT_NONE,
                                    .grid = { 4, 1, 1 }, .block = { 64, 1, 1 },
                                    .duration_ps = GT_TIME_NONE };
        uint32_t op = gt_workload_add_op(f->workload);

        f->programs[i] = (struct gt_program){ .warps = 8, .warps_per_block = 2 };
        f->programs[i].use.dram_read_bytes = reads[i];
        f->programs[i].use.l2_write_sectors = sectors[i];
        kernel.program = &f->programs[i];
        f->workload->ops[op].kind = GT_OP_KERNEL;
        f->workload->ops[op].start_ps = (gt_time_ps)op * 1000;
        f->workload->ops[op].kernel = gt_workload_kernel(f->workload, &kernel);
    }
}

static double share(struct fixture *f)
{
    return gt_warm_share(&f->device, f->workload, 1, 0);
}

/* 2048 of 4096 bytes can be what the first one read or wrote; at 8192 of 4096 all are there. */
static void as_many_bytes_as_were_touched(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 1024, 1024, 4096);
    assert_true(share(&f) == 0.5);
    assert_true(gt_warm_share(&f.device, f.workload, 0, GT_NONE) == 0);
    gt_workload_free(f.workload);
    set_up(&f, 0, 5120, 4096);
    assert_true(share(&f) == 1);
    gt_workload_free(f.workload);
}

/* 6000 + 4096 are more than 10000. */
static void nothing_beyond_what_l2_keeps(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 6000, 0, 4096);
    assert_true(share(&f) == 0);
    f.device.warp.l2_reuse_bytes = 20000;
    assert_true(share(&f) == 1);
    gt_workload_free(f.workload);
}

/* The first one at half its profiled grid touched half as much: 1024 of 4096. */
static void bytes_go_with_the_grid(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 2048, 0, 4096);
    f.workload->kernels[0].grid[0] = 2;
    assert_true(share(&f) == 0.25);
    gt_workload_free(f.workload);
}

/* Typed launches have memory of their own; those with a profile are what the profiler saw, caches empty. */
static void typed_and_profiled_launches_find_nothing(void **state)
{
    struct gt_profile profile = { .op = 1 };
    struct fixture f;

    (void)state;
    set_up(&f, 4096, 0, 4096);
    assert_true(share(&f) == 1);
    f.workload->ops[1].start_ps = GT_TIME_NONE;
    assert_true(share(&f) == 0);
    f.workload->ops[1].start_ps = 1000;
    gt_workload_add_profile(f.workload, &profile);
    assert_true(share(&f) == 0);
    gt_workload_free(f.workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_bytes_as_were_touched),
        cmocka_unit_test(nothing_beyond_what_l2_keeps),
        cmocka_unit_test(bytes_go_with_the_grid),
        cmocka_unit_test(typed_and_profiled_launches_find_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
