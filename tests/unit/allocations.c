/* Allocations of a GPU's memory: peaks, what is no such list, and what they are when operators get other sizes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/shapes/memory.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

static struct gt_workload *workload(uint64_t allocated_bytes)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_thread(w);
    gt_workload_add_gpu(w);
    w->gpus[0].allocated_bytes = allocated_bytes;
    return w;
}

static void add_range(struct gt_workload *w, const char *name, const char *inputs, gt_time_ps start_ps,
                      gt_time_ps duration_ps)
{
    gt_range_index added = gt_workload_add_range(w);
    struct gt_range *range = &w->ranges[added];

    range->start_ps = start_ps;
    range->duration_ps = duration_ps;
    range->kind = GT_RANGE_OPERATOR;
    range->thread = 0;
    range->name = gt_name(w, name, strlen(name));
    range->inputs = inputs == NULL ? GT_NONE : gt_name(w, inputs, strlen(inputs));
}

static void add(struct gt_workload *w, int64_t bytes, uint32_t frees, gt_range_index range)
{
    gt_workload_add_allocation(w, &(struct gt_allocation){ bytes, frees, range, 0 });
}

static void peak_is_the_highest_level(void **state)
{
    struct gt_workload *w = workload(1000);

    (void)state;
    assert_true(isnan(gt_peak_allocated_bytes(w))); /* none were recorded */
    add(w, 512, GT_NONE, GT_NONE);                  /* 1512 */
    add(w, 1024, GT_NONE, GT_NONE);                 /* 2536 */
    add(w, -512, 0, GT_NONE);                       /* 2024 */
    add(w, -1000, GT_NONE, GT_NONE);                /* 1024: from before */
    add(w, 1536, GT_NONE, GT_NONE);                 /* 2560 */
    assert_int_equal(gt_peak_allocated_bytes(w), 2560);
    assert_int_equal(gt_allocations_check(w, NULL), 0);
    gt_workload_free(w);
    w = workload(4096); /* the beginning may be the peak */
    add(w, -512, GT_NONE, GT_NONE);
    assert_int_equal(gt_peak_allocated_bytes(w), 4096);
    gt_workload_free(w);
}

static void refuses(int64_t bytes, uint32_t frees, gt_range_index range, const char *reason)
{
    struct gt_workload *w = workload(100);
    struct gt_error error;

    add(w, 512, GT_NONE, GT_NONE);
    add(w, 512, GT_NONE, GT_NONE);
    add(w, -512, 0, GT_NONE);
    add(w, bytes, frees, range);
    assert_int_equal(gt_allocations_check(w, &error), -1);
    if (strstr(error.text, reason) == NULL)
        fail_msg("'%s' instead of '%s'", error.text, reason);
    gt_workload_free(w);
}

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    refuses(-512, 0, GT_NONE, "freed already");
    refuses(-1024, 1, GT_NONE, "no earlier allocation of that size");
    refuses(-512, 3, GT_NONE, "no earlier allocation of that size");
    refuses(512, 1, GT_NONE, "no earlier allocation of that size");
    refuses(-613, GT_NONE, GT_NONE, "more is freed than was allocated"); /* 100 + 512 are there */
    refuses(INT64_MAX, GT_NONE, GT_NONE, "more than 2^62 bytes");
    refuses(512, GT_NONE, 0, "a range that is not there");
}

/* What a language model of 4 sequences of 100 words allocates within operators, and what it does with 8 of 300. */
/* clang-format off */
static const struct { const char *name, *inputs; int64_t bytes, asked; } made[] = {
    /* the second tensor is a parameter; 400 x 768 x 4 bytes, 2400 x 768 x 4 */
    { "aten::linear", "float32[4,100,256] float32[768,256] float32[768]", 1228800, 7372800 },
    { "aten::addmm", "float32[768] float32[400,256] float32[256,768]", 1228800, 7372800 },
    /* a block with 200 KiB left over: the result is known, the rest goes */
    { "aten::addmm", "float32[768] float32[400,256] float32[256,768]", 1228800 + 204800, 7372800 },
    { "aten::_softmax", "float32[4,8,100,100]", 1280000, 23040000 },       /* 4 x 8 x 100 x 100 x 4, 8 x 8 x 300 x 300 x 4 */
    { "aten::native_layer_norm", "float32[4,100,256] - float32[256] float32[256]", 2048, 9728 }, /* 400 x 4 bytes, 2400 x 4: a mean a row, in blocks of 512 */
    { "aten::native_dropout", "float32[4,100,256]", 102400, 614400 },      /* a byte an element: a mask */
    { "aten::embedding", "float32[5000,256] int64[4,100]", 409600, 2457600 }, /* 400 x 256 x 4 */
    { "aten::mm", "float32[768,400] float32[400,256]", 786432, 786432 },   /* a weight's gradient: 768 x 256 x 4 */
    { "aten::add", "float32[4,100,256] float32[256]", 409600, 2457600 },
    { "aten::sum", "float32[4,100,256]", 409088, 2454528 },                /* no size of it: six times as much as its input */
    { "aten::embedding_dense_backward", "float32[4,100,256] int64[4,100]", 5120000, 5120000 }, /* 5000 x 256 x 4: a parameter's gradient */
};
/* clang-format on */
enum { MADE = sizeof made / sizeof made[0] };

static void resize(struct gt_workload *w, struct gt_memory_sizing *sizing)
{
    const struct gt_size_change change = { 4, 8, 100, 300 };
    struct gt_all_inputs all;
    struct gt_sizes sizes;

    gt_all_inputs_find(&all, w);
    gt_sizes_find(&sizes, &all, &change);
    gt_allocations_resize(w, &sizes, sizing);
    gt_sizes_free(&sizes);
    gt_all_inputs_free(&all);
}

static void allocations_follow_inputs(void **state)
{
    struct gt_workload *w = workload(1 << 20);
    struct gt_memory_sizing sizing;

    (void)state;
    for (gt_range_index i = 0; i < MADE; i++)
        add_range(w, made[i].name, made[i].inputs, 1000 * (gt_time_ps)i, 500);
    gt_ranges_finish(w, NULL);
    for (gt_range_index i = 0; i < MADE; i++) {
        add(w, made[i].bytes, GT_NONE, i);
        add(w, -made[i].bytes, 2 * i, GT_NONE);
    }
    resize(w, &sizing);
    for (gt_range_index i = 0; i < MADE; i++) {
        if (w->allocations[2 * i].bytes != made[i].asked)
            fail_msg("%s: %lld of %lld bytes, not %lld", made[i].name, (long long)w->allocations[2 * i].bytes,
                     (long long)made[i].bytes, (long long)made[i].asked);
        assert_int_equal(w->allocations[2 * i + 1].bytes, -made[i].asked); /* what is freed is as large */
    }
    assert_int_equal(gt_allocations_check(w, NULL), 0);
    gt_workload_free(w);
}

/* A linear layer (786432 bytes of weights, 3072 of biases) of an input of 409600 bytes that was there before; its result, of 1228800 bytes,
 * goes through a function.  Beside them 100000 bytes are there that nobody takes. */
static void inputs_from_before_follow(void **state)
{
    struct gt_workload *w = workload(786432 + 3072 + 409600 + 100000);
    struct gt_memory_sizing sizing;

    (void)state;
    add_range(w, "aten::linear", "float32[4,100,256] float32[768,256] float32[768]", 0, 500);
    add_range(w, "aten::relu", "float32[4,100,768]", 1000, 500);
    gt_ranges_finish(w, NULL);
    add(w, 1228800, GT_NONE, 0);
    add(w, 1228800, GT_NONE, 1);
    add(w, -1228800, 0, GT_NONE);
    add(w, -409600, GT_NONE, GT_NONE); /* the input is freed, too, but is as large as nothing that was allocated */
    resize(w, &sizing);
    assert_int_equal(sizing.held.data, 409600);
    assert_int_equal(sizing.held.new_data, 2457600);
    assert_int_equal(sizing.held.parameters, 786432 + 3072);
    assert_int_equal(sizing.held.unknown, 100000);
    assert_int_equal(w->gpus[0].allocated_bytes, 786432 + 3072 + 2457600 + 100000);
    assert_int_equal(gt_peak_allocated_bytes(w), 786432 + 3072 + 2457600 + 100000 + 2 * 7372800);
    gt_workload_free(w);
}

/* The step before left a result behind, which the first allocation of the step replaces: it is as large then, too. */
static void results_of_the_step_before_follow(void **state)
{
    struct gt_workload *w = workload(1228800);
    struct gt_memory_sizing sizing;

    (void)state;
    add_range(w, "aten::linear", "float32[4,100,256] float32[768,256] float32[768]", 0, 500);
    gt_ranges_finish(w, NULL);
    add(w, 1228800, GT_NONE, 0);
    add(w, -1228800, GT_NONE, GT_NONE);
    resize(w, &sizing);
    assert_int_equal(w->allocations[1].bytes, -7372800);
    assert_true(w->gpus[0].allocated_bytes >= 7372800);
    assert_int_equal(gt_allocations_check(w, NULL), 0);
    gt_workload_free(w);
}

/* No growth makes a list that a workload refuses. */
static void huge_sizes_stay_within_limits(void **state)
{
    const struct gt_size_change change = { 4, 1 << 24, 100, 1 << 24 };
    struct gt_workload *w = workload(UINT64_C(1) << 60);
    struct gt_memory_sizing sizing;
    struct gt_all_inputs all;
    struct gt_sizes sizes;

    (void)state;
    add_range(w, "aten::_softmax", "float32[4,8,100,100]", 0, 500);
    gt_ranges_finish(w, NULL);
    for (int i = 0; i < 1000; i++)
        add(w, i % 2 == 0 ? 1280000 : INT64_C(1) << 45, GT_NONE, 0);
    gt_all_inputs_find(&all, w);
    gt_sizes_find(&sizes, &all, &change);
    gt_allocations_resize(w, &sizes, &sizing);
    assert_int_equal(gt_allocations_check(w, NULL), 0);
    gt_sizes_free(&sizes);
    gt_all_inputs_free(&all);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_is_the_highest_level),         cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(allocations_follow_inputs),         cmocka_unit_test(inputs_from_before_follow),
        cmocka_unit_test(results_of_the_step_before_follow), cmocka_unit_test(huge_sizes_stay_within_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
