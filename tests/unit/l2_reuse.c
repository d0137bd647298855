/* What a launch finds in L2 of what those before it touched: worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/warp/l2_reuse.h"
#include "sim/workload/program.h"

enum { KEEPS_BYTES = 10000 };

enum { LAUNCHES = 3, LAST = LAUNCHES - 1 };

/* Launches of one stream, recorded; each of 4 blocks of 2 warps, as profiled. */
struct fixture {
    struct gt_device device;
    struct gt_program programs[LAUNCHES];
    struct gt_workload *workload;
};
static const uint32_t before[LAUNCHES] = { GT_NONE, 0, 1 };

struct bytes {
    uint64_t read, written;
};

static void set_up(struct fixture *f, struct bytes first, struct bytes second, struct bytes last)
{
    const struct bytes bytes[LAUNCHES] = { first, second, last };

    gt_device_init(&f->device);
    f->device.warp.l2_reuse_bytes = KEEPS_BYTES;
    f->workload = gt_workload_new();
    for (int i = 0; i < LAUNCHES; i++) {
        struct gt_kernel kernel = { .name = GT_NONE,
                                    .runs = GT_NONE,
                                    .arguments = GT_NONE,
                                    .grid = { 4, 1, 1 },
                                    .block = { 64, 1, 1 },
                                    .duration_ps = GT_TIME_NONE };
        uint32_t op = gt_workload_add_op(f->workload);

        f->programs[i] = (struct gt_program){ .warps = 8, .warps_per_block = 2 };
        f->programs[i].use.dram_read_bytes = bytes[i].read;
        f->programs[i].use.l2_write_sectors = bytes[i].written / 32;
        kernel.program = &f->programs[i];
        f->workload->ops[op].kind = GT_OP_KERNEL;
        f->workload->ops[op].start_ps = (gt_time_ps)op * 1000;
        f->workload->ops[op].kernel = gt_workload_kernel(f->workload, &kernel);
    }
}

static double share(struct fixture *f)
{
    return gt_l2_reuse_fraction(&f->device, f->workload, LAST, before, gt_l2_played_bytes(f->workload));
}

#define SHARE_IS(expected, ...)               \
    do {                                      \
        struct fixture f;                     \
        set_up(&f, __VA_ARGS__);              \
        assert_true(share(&f) == (expected)); \
        gt_workload_free(f.workload);         \
    } while (0)

/* Of 4096 bytes read the one before read 1024 and wrote 512, the first one wrote 512. */
static void bytes_that_were_touched(void **state)
{
    (void)state;
    SHARE_IS(0.5, ((struct bytes){ 4096, 512 }), ((struct bytes){ 1024, 512 }), ((struct bytes){ 4096, 0 }));
    SHARE_IS(1, ((struct bytes){ 0, 0 }), ((struct bytes){ 0, 5120 }), ((struct bytes){ 4096, 0 }));
    SHARE_IS(0, ((struct bytes){ 0, 0 }), ((struct bytes){ 0, 0 }), ((struct bytes){ 4096, 0 }));
}

/* L2 keeps 10000.  The one before touched 8000 of them; of the first one's 4000 and 4000 a quarter is left,
 * 1000 of what it wrote.  Where the one before touched 20000, half is left. */
static void as_far_back_as_l2_keeps(void **state)
{
    (void)state;
    SHARE_IS(9000.0 / 9984, ((struct bytes){ 4000, 4000 }), ((struct bytes){ 8000, 0 }), ((struct bytes){ 9984, 0 }));
    SHARE_IS(1, ((struct bytes){ 0, 4000 }), ((struct bytes){ 20000, 0 }), ((struct bytes){ 9984, 0 }));
    SHARE_IS(0, ((struct bytes){ 0, 0 }), ((struct bytes){ 0, 8000 }), ((struct bytes){ 8000, 3200 }));
}

/* The one before at half its profiled grid touched half as much: 1024 of 4096. */
static void bytes_go_with_the_grid(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, (struct bytes){ 0, 0 }, (struct bytes){ 2048, 0 }, (struct bytes){ 4096, 0 });
    f.workload->kernels[1].grid[0] = 2;
    assert_true(share(&f) == 0.25);
    gt_workload_free(f.workload);
}

/* A typed trace is played over and over.  L2 keeps 10000 bytes for sure, 20000 at most: of 10000 touched all is left, of
 * 15000 a quarter, of 20000 nothing, whatever of that kernels read and wrote and copies moved. */
static void typed_launches_find_what_the_play_before_left(void **state)
{
    struct fixture f;
    uint32_t copy;

    (void)state;
    set_up(&f, (struct bytes){ 2000, 1600 }, (struct bytes){ 0, 3200 }, (struct bytes){ 3200, 0 });
    f.workload->ops[LAST].start_ps = GT_TIME_NONE;
    assert_true(gt_l2_played_bytes(f.workload) == 10000);
    assert_true(share(&f) == 1);
    copy = gt_workload_add_op(f.workload);
    f.workload->ops[copy].kind = GT_OP_COPY;
    f.workload->ops[copy].bytes = 5000;
    assert_float_equal(share(&f), 0.25, 1e-9);
    f.workload->ops[copy].bytes = 10000;
    assert_true(share(&f) == 0);
    f.device.warp.l2_reuse_bytes = 0;
    assert_true(share(&f) == 0);
    gt_workload_free(f.workload);
}

/* Those with a profile are what the profiler saw, caches empty. */
static void profiled_and_first_launches_find_nothing(void **state)
{
    struct gt_profile profile = { .op = LAST };
    struct fixture f;

    (void)state;
    set_up(&f, (struct bytes){ 4096, 0 }, (struct bytes){ 4096, 0 }, (struct bytes){ 4096, 0 });
    assert_true(share(&f) == 1);
    assert_true(gt_l2_reuse_fraction(&f.device, f.workload, 0, before, 12288) == 0);
    f.programs[LAST].warm_caches = true; /* what it found is in its rates */
    assert_true(share(&f) == 0);
    f.programs[LAST].warm_caches = false;
    gt_workload_add_profile(f.workload, &profile);
    assert_true(share(&f) == 0);
    gt_workload_free(f.workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_were_touched),
        cmocka_unit_test(as_far_back_as_l2_keeps),
        cmocka_unit_test(bytes_go_with_the_grid),
        cmocka_unit_test(profiled_and_first_launches_find_nothing),
        cmocka_unit_test(typed_launches_find_what_the_play_before_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
