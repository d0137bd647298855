/* PyTorch's caching allocator, and what programs reserve by it: all sizes worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/shapes/caching_allocator.h"
#include "sim/shapes/reserved_memory.h"
#include "sim/shapes/result_bytes.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

static const uint64_t mib = 1 << 20;

static uint64_t reserved_mib(const struct gt_caching_allocator *allocator)
{
    assert_int_equal(gt_most_reserved_bytes(allocator) % mib, 0);
    return gt_most_reserved_bytes(allocator) / mib;
}

static void small_sizes_share_segments_of_2_mib(void **state)
{
    struct gt_caching_allocator *allocator = gt_caching_allocator_new(UINT64_MAX);

    (void)state;
    assert_non_null(gt_block_take(allocator, 1)); /* 512 bytes */
    assert_non_null(gt_block_take(allocator, mib));
    assert_int_equal(reserved_mib(allocator), 2); /* 1 MiB less 512 bytes is left */
    assert_non_null(gt_block_take(allocator, mib));
    assert_int_equal(reserved_mib(allocator), 4);
    assert_non_null(gt_block_take(allocator, mib - 512)); /* exactly what is left of the first */
    assert_int_equal(reserved_mib(allocator), 4);
    gt_caching_allocator_free(allocator);
}

static void large_sizes_below_10_mib_share_segments_of_20(void **state)
{
    struct gt_caching_allocator *allocator = gt_caching_allocator_new(UINT64_MAX);

    (void)state;
    assert_non_null(gt_block_take(allocator, mib + 1)); /* 1 MiB and 512 bytes */
    assert_int_equal(reserved_mib(allocator), 20);
    assert_non_null(gt_block_take(allocator, 10 * mib - 512));
    assert_int_equal(reserved_mib(allocator), 20); /* 9 MiB are left */
    assert_non_null(gt_block_take(allocator, 10 * mib));
    assert_int_equal(reserved_mib(allocator), 30); /* a segment of its own */
    assert_non_null(gt_block_take(allocator, 10 * mib + 1));
    assert_int_equal(reserved_mib(allocator), 42); /* 12; 2 MiB less 512 bytes are split off */
    /* Of 9 MiB and nearly 2 the smaller one is taken, whole: no more than 1 MiB would be left.  Then 9 MiB are there still. */
    assert_non_null(gt_block_take(allocator, mib + mib / 2));
    assert_non_null(gt_block_take(allocator, 9 * mib));
    assert_int_equal(reserved_mib(allocator), 42);
    gt_caching_allocator_free(allocator);
}

static void free_neighbours_merge(void **state)
{
    struct gt_caching_allocator *allocator = gt_caching_allocator_new(UINT64_MAX);
    struct gt_cached_block *blocks[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        blocks[i] = gt_block_take(allocator, 6 * mib); /* 2 MiB are left of 20 */
    gt_block_give_back(allocator, blocks[0]);
    gt_block_give_back(allocator, blocks[2]);
    blocks[2] = gt_block_take(allocator, 8 * mib); /* the third and what was left */
    assert_int_equal(reserved_mib(allocator), 20);
    gt_block_give_back(allocator, blocks[1]);
    gt_block_give_back(allocator, blocks[2]);
    assert_non_null(gt_block_take(allocator, 20 * mib)); /* all of it */
    assert_int_equal(reserved_mib(allocator), 20);
    gt_caching_allocator_free(allocator);
}

static void free_segments_go_back_where_memory_ends(void **state)
{
    struct gt_caching_allocator *allocator = gt_caching_allocator_new(50 * mib);
    struct gt_cached_block *first, *part;

    (void)state;
    first = gt_block_take(allocator, 20 * mib);
    assert_non_null(gt_block_take(allocator, 20 * mib));
    gt_block_give_back(allocator, first);
    part = gt_block_take(allocator,
                         2 * mib); /* of the first segment, which has to stay: 40 and 30 MiB are more than 50 */
    assert_null(gt_block_take(allocator, 30 * mib));
    gt_block_give_back(allocator, part);
    assert_non_null(gt_block_take(allocator, 30 * mib)); /* 20 go back, 20 and 30 are there */
    assert_int_equal(reserved_mib(allocator), 50);
    assert_null(gt_block_take(allocator, 1));
    gt_caching_allocator_free(allocator);
}

/* A GPU with so many MiB allocated before the first allocation. */
static struct gt_workload *workload(uint64_t allocated_mib)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_thread(w);
    gt_workload_add_gpu(w);
    w->gpus[0].allocated_bytes = allocated_mib * mib;
    return w;
}

static void add(struct gt_workload *w, int64_t bytes_mib, uint32_t frees, gt_range_index range)
{
    gt_workload_add_allocation(w, &(struct gt_allocation){ bytes_mib * (int64_t)mib, frees, range, 0 });
}

static gt_range_index add_range(struct gt_workload *w, const char *name)
{
    gt_range_index added = gt_workload_add_range(w);
    struct gt_range *range = &w->ranges[added];

    range->start_ps = 1000 * added;
    range->duration_ps = 500;
    range->kind = GT_RANGE_OPERATOR;
    range->thread = 0;
    range->name = gt_name(w, name, strlen(name));
    range->inputs = GT_NONE;
    return added;
}

/* On a GPU that has so many MiB for a program (0: not known).  Ends the workload. */
static struct gt_reserved_memory reserve(struct gt_workload *w, uint64_t available_mib)
{
    struct gt_reserved_memory reserved;
    struct gt_device *device = gt_calloc(1, sizeof *device);

    gt_device_init(device);
    device->compute_major = 9;
    device->memory_bytes = available_mib > 0 ? (available_mib + 7) * mib : 0;
    device->memory_context_bytes = 7 * mib;
    gt_ranges_finish(w, NULL);
    assert_int_equal(gt_allocations_check(w, NULL), 0);
    gt_reserved_memory_find(&reserved, w, device);
    free(device);
    gt_workload_free(w);
    return reserved;
}

/* 30 MiB and 30, freed; then 45, which fit into neither. */
static struct gt_workload *growing(void)
{
    struct gt_workload *w = workload(0);

    add(w, 30, GT_NONE, GT_NONE);
    add(w, 30, GT_NONE, GT_NONE);
    add(w, -30, 0, GT_NONE);
    add(w, -30, 1, GT_NONE);
    add(w, 45, GT_NONE, GT_NONE); /* a segment of 46 */
    add(w, -45, 4, GT_NONE);
    return w;
}

static void what_is_cached_counts_until_memory_ends(void **state)
{
    struct gt_reserved_memory reserved = reserve(growing(), 0);

    (void)state;
    assert_int_equal(reserved.bytes, 106 * mib);
    assert_false(reserved.out_of_memory);
    /* 30, 30 and 46 are more than 80: both of 30 go back.  In the next repetition 30 come out of 46 (15 are left), 30 more are a
     * segment (76); 45 are no more than the 46 that are free again. */
    reserved = reserve(growing(), 80);
    assert_int_equal(reserved.bytes, 76 * mib);
    assert_false(reserved.out_of_memory);
    reserved = reserve(growing(), 59); /* never 60 at once; with enough memory it would be 106 */
    assert_int_equal(reserved.bytes, 106 * mib);
    assert_true(reserved.out_of_memory);
}

static void a_step_frees_what_the_one_before_left(void **state)
{
    struct gt_workload *w = workload(40); /* 10 stay */
    struct gt_reserved_memory reserved;

    (void)state;
    add(w, 30, GT_NONE, GT_NONE); /* beside the last step's, which is freed behind it */
    add(w, -30, GT_NONE, GT_NONE);
    reserved = reserve(w, 0);
    assert_int_equal(reserved.bytes, 70 * mib);
    assert_false(reserved.out_of_memory);
}

/* 100 MiB, freed; a product's result. */
static struct gt_reserved_memory reserve_product(const char *name)
{
    struct gt_workload *w = workload(32);
    gt_range_index range = add_range(w, name);

    add(w, 100, GT_NONE, GT_NONE);
    add(w, -100, 0, GT_NONE);
    add(w, 4, GT_NONE, range);
    add(w, -4, 2, range);
    return reserve(w, 0);
}

static void cublas_keeps_memory_from_its_first_product_on(void **state)
{
    (void)state;
    /* Its 32 MiB lie within the 100 MiB that the first step had freed, so that the next 100 are another segment. */
    assert_int_equal(reserve_product("aten::mm").bytes, 200 * mib);
    assert_int_equal(reserve_product("aten::add").bytes, 132 * mib); /* 32 of unknown use, and 100 */
}

/* Parameters of 30 MiB, their gradient (from the step before, then from this one), and 60 more from before. */
static struct gt_reserved_memory reserve_training(const char *optimizer)
{
    struct gt_workload *w = workload(120);
    gt_range_index backward = add_range(w, "autograd::engine::evaluate_function: MulBackward0");
    gt_range_index step = add_range(w, optimizer);

    add(w, -30, GT_NONE, GT_NONE);
    add(w, 100, GT_NONE, GT_NONE); /* activations */
    add(w, 30, GT_NONE, backward);
    add(w, -100, 1, GT_NONE);
    add(w, 30, GT_NONE, step);
    add(w, -30, 4, step);
    return reserve(w, 0);
}

static void an_optimizer_allocates_moments_at_its_first_step(void **state)
{
    (void)state;
    /* 30 of parameters, 100, 30 of the gradient; both moments of 30 within the 100, so that the next step has another segment. */
    assert_int_equal(reserve_training("Optimizer.step#AdamW.step").bytes, 260 * mib);
    /* 90 that were there before, 100, 30. */
    assert_int_equal(reserve_training("something").bytes, 220 * mib);
}

/* A workspace that is 132,096 bytes more than 24 x 1024 x 14 rows of the first input by the batch of the second, 24, by 8 bytes.  Nothing
 * grows with a batch twice. */
static void a_result_has_a_batch_once(void **state)
{
    struct gt_inputs from = { .count = 3 }, to = { .count = 3 };
    struct gt_result_bytes result;

    (void)state;
    assert_int_equal(
        gt_tensors_read("float32[24,1024,14,14] float32[24,512,28,28] float32[1024,512,1,1]", from.tensors), 3);
    assert_int_equal(
        gt_tensors_read("float32[384,1024,14,14] float32[384,512,28,28] float32[1024,512,1,1]", to.tensors), 3);
    assert_false(gt_result_bytes_of("aten::convolution_backward", &from, &to, 66192384, &result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sizes_share_segments_of_2_mib),
        cmocka_unit_test(large_sizes_below_10_mib_share_segments_of_20),
        cmocka_unit_test(free_neighbours_merge),
        cmocka_unit_test(free_segments_go_back_where_memory_ends),
        cmocka_unit_test(what_is_cached_counts_until_memory_ends),
        cmocka_unit_test(a_step_frees_what_the_one_before_left),
        cmocka_unit_test(cublas_keeps_memory_from_its_first_product_on),
        cmocka_unit_test(a_result_has_a_batch_once),
        cmocka_unit_test(an_optimizer_allocates_moments_at_its_first_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
