/* Words and numbers of the report: units, short names, what must be escaped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "plots/data/kernel_view.h"
#include "plots/data/units.h"
#include "sim/workload/ranges.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

static void times_are_in_the_unit_that_suits(void **state)
{
    (void)state;
    assert_string_equal(gt_time_text(0).s, "0");
    assert_string_equal(gt_time_text(999).s, "1.00 ns");
    assert_string_equal(gt_time_text(340e6).s, "340 µs");
    assert_string_equal(gt_time_text(1583.2e6).s, "1.58 ms");
    assert_string_equal(gt_time_text(10e9).s, "10.0 ms");
    assert_string_equal(gt_time_text(999.6e6).s, "1.00 ms");
    assert_string_equal(gt_time_text(8.2e12).s, "8.20 s");
    assert_string_equal(gt_time_said(-12.44e6).s, "-12.4 us");
    assert_string_equal(gt_time_text(71.34e9).s, "71.3 ms");
    assert_string_equal(gt_time_text(12.5e12).s, "12.5 s");
    assert_string_equal(gt_time_text(NAN).s, "–");
}

static void loaders_are_known_by_name(void **state)
{
    (void)state;
    assert_true(gt_is_data_loader("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
    assert_true(gt_is_data_loader("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"));
    assert_true(gt_is_data_loader("enumerate(DataPipe)#ZipperIterDataPipe"));
    assert_true(gt_is_data_loader("[pl][profile][_TrainingEpochLoop].train_dataloader_next"));
    assert_true(gt_is_data_loader("[pl][profile][_EvaluationLoop].val_next"));
    assert_true(gt_is_data_loader("torch/utils/data/dataloader.py(701): __next__"));
    assert_false(gt_is_data_loader("torch/utils/data/dataloader.py(701): __init__"));
    assert_false(gt_is_data_loader("aten::stack"));
    assert_false(gt_is_data_loader("[pl][profile]setup_train_dataloader"));
}

static void numbers_are_grouped_and_signed(void **state)
{
    (void)state;
    assert_string_equal(gt_count_text(0).s, "0");
    assert_string_equal(gt_count_text(999).s, "999");
    assert_string_equal(gt_count_text(1000).s, "1,000");
    assert_string_equal(gt_count_text(UINT64_MAX).s, "18,446,744,073,709,551,615");
    assert_string_equal(gt_bytes_text(12.5e6).s, "12.5 MB");
    assert_string_equal(gt_rate_text(NAN).s, "–");
    assert_string_equal(gt_share_text(0.714).s, "71%");
    assert_string_equal(gt_share_text(0.0234).s, "2.3%");
    assert_string_equal(gt_share_text(0.0001).s, "<0.1%");
    assert_string_equal(gt_share_text(0).s, "0%");
    assert_string_equal(gt_signed_pct_text(-1.92).s, "−1.9%");
    assert_string_equal(gt_signed_pct_text(0.381).s, "+0.38%");
    assert_string_equal(gt_signed_pct_text(-0.001).s, "±0.00%");
}

static void check_short(const char *name, size_t columns, const char *expected)
{
    char *text = gt_short_name(name, columns);

    assert_string_equal(text, expected);
    free(text);
}

static void names_lose_what_says_least(void **state)
{
    (void)state;
    check_short("gemm", 10, "gemm");
    check_short("void gemm(float*, int)", 30, "void gemm(float*, int)");
    check_short("void gemm(float*, float*, int, int)", 30, "gemm");
    check_short("void at::native::reduce<512, float>(int)", 24, "reduce<512, float>");
    check_short("void at::native::reduce<512, at::native::Sum<float>>(int)", 24, "reduce<512, at:…<float>>");
    check_short("abcdefghijklmnopqrstuvwxyz", 11, "abcdef…wxyz");
    check_short("a\nb\x01\xff", 16, "a\\u000ab\\u0001\xEF\xBF\xBD");
    check_short("", 10, "");
    check_short("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_", 80,
                "reduce_kernel<512, 1, at::native::ReduceOp<float> >");
    check_short("_ZN9999999999999999999999999999a", 11, "_ZN999…999a");
}

/* A name is as long as who wrote the profile wished: the work must grow with it, not with its square. */
static void a_long_name_takes_no_time(void **state)
{
    enum { LONG = 4000000 };
    char *name = malloc(LONG + 1);

    (void)state;
    assert_non_null(name);
    memset(name, 'k', LONG);
    name[LONG] = '\0';
    alarm(60);
    check_short(name, 11, "kkkkkk…kkkk");
    alarm(0);
    free(name);
}

/* Short names of `count` names in `columns`: as expected, where that is given, and unlike each other. */
static void check_unique(const char *const names[], const char *const expected[], size_t count, size_t columns)
{
    char **shorts = calloc(count, sizeof *shorts);

    assert_non_null(shorts);
    gt_short_names_unique(names, shorts, count, columns);
    for (size_t i = 0; i < count; i++) {
        if (expected != NULL)
            assert_string_equal(shorts[i], expected[i]);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(strcmp(names[i], names[j]) == 0, strcmp(shorts[i], shorts[j]) == 0);
    }
    for (size_t i = 0; i < count; i++)
        free(shorts[i]);
    free(shorts);
}

static void names_alike_show_where_they_differ(void **state)
{
    static const char *const gemms[] = {
        "sm80_gemm_f32f32_tilesize64x64_stage3_warps_tn_execute",
        "other",
        "sm80_gemm_f32f32_tilesize64x32_stage3_warps_tn_execute",
        "other",
    };
    /* clang-format off */
    static const char *const shown[] = {
        "sm80_gem…e64x64_stage3_…", "other", "sm80_gem…e64x32_stage3_…", "other",
    };
    /* clang-format on */
    static const char *const same_function[] = { "void a::copy<float>(float*)", "void b::copy<float>(float*)",
                                                 "void a::copy<float>(float*, int)" };
    static const char *const functors[] = {
        "void at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)",
        "void at::native::elementwise_kernel<4, at::native::BinaryFunctor<float>, std::array<char*, 3> >(int)",
        "void at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<double>, std::array<char*, 3> >(int)",
    };
    static const char *const functors_shown[] = {
        "elementwise…CUDAFunctor_add<float>…",
        "elementwise…BinaryFunctor<float>, …",
        "elementwise…CUDAFunctor_add<double…",
    };

    (void)state;
    check_unique(gemms, shown, 4, 24);
    check_unique(same_function, NULL, 3, 20);
    check_unique(functors, functors_shown, 3, 35);
}

/* Nothing that can be seen tells these apart, or nothing that fits. */
static void names_that_look_alike_are_numbered(void **state)
{
    static const char *const unseen[] = { "scan\x01", "scan", "scan\x02", "scan" };
    enum { MANY = 300, LONG = 120 };
    static char texts[MANY][LONG + 1];
    const char *names[MANY];

    (void)state;
    check_unique(unseen, NULL, 4, 16);
    for (int i = 0; i < MANY; i++) { /* they differ here and there, nine bits of them */
        memset(texts[i], 'k', LONG);
        for (int bit = 0; bit < 9; bit++)
            texts[i][10 + 12 * bit] = i >> bit & 1 ? 'x' : 'y';
        names[i] = texts[i];
    }
    check_unique(names, NULL, MANY, 16);
}

static void a_name_that_is_not_there_has_no_short_name(void **state)
{
    const char *const names[] = { NULL, "gemm", NULL };
    char *shorts[3];

    (void)state;
    gt_short_names_unique(names, shorts, 3, 20);
    assert_null(shorts[0]);
    assert_string_equal(shorts[1], "gemm");
    assert_null(shorts[2]);
    free(shorts[1]);
}

/* DRAM's peak is 1000 GB/s at 1 GHz: 1000 bytes a cycle. */
static void a_kernel_is_bound_by_what_works_or_else_by_what_warps_wait_for(void **state)
{
    const struct gt_device device = { .clock_mhz = 1000,
                                      .warp = { .dram_gbps = 1000, .l2_read_bytes_per_cycle = 2000 } };
    const struct gt_kernel_numbers nothing = {
        .dram_bytes_per_cycle = NAN, .l2_bytes_per_cycle = NAN, .issue_share = NAN, .lsu_share = NAN
    };
    struct gt_kernel_numbers numbers = {
        .dram_bytes_per_cycle = 600, .l2_bytes_per_cycle = 1100, .issue_share = 0.1, .lsu_share = 0.2
    };
    double reasons[GT_STALLS] = { 0 };

    (void)state;
    assert_string_equal(gt_kernel_bound(&device, &nothing, reasons).s, "–");
    assert_string_equal(gt_kernel_bound(&device, &numbers, reasons).s, "DRAM 60%");
    numbers.l2_bytes_per_cycle = 1900;
    assert_string_equal(gt_kernel_bound(&device, &numbers, reasons).s, "L2 95%");
    numbers.dram_bytes_per_cycle = NAN;
    numbers.lsu_share = 0.96;
    assert_string_equal(gt_kernel_bound(&device, &numbers, reasons).s, "load/store unit 96%");
    numbers.l2_bytes_per_cycle = numbers.lsu_share = 0.59;
    assert_string_equal(gt_kernel_bound(&device, &numbers, reasons).s, "–");
    reasons[GT_STALL_SELECTED] = 5;
    reasons[GT_STALL_LONG_SCOREBOARD] = 1;
    reasons[GT_STALL_DRAIN] = 1;
    reasons[GT_STALL_BARRIER] = 1;
    assert_string_equal(gt_kernel_bound(&device, &numbers, reasons).s, "waits: global memory 25%");
}

/* What would not be drawn would be missing from the bars. */
static void every_reason_is_in_one_group(void **state)
{
    (void)state;
    for (int reason = 0; reason < GT_STALLS; reason++) {
        double reasons[GT_STALLS] = { 0 }, shares[GT_WAIT_GROUPS], sum = 0;

        reasons[reason] = 3;
        gt_wait_shares(reasons, shares);
        for (int group = 0; group < GT_WAIT_GROUPS; group++)
            sum += shares[group];
        assert_true(sum == 1);
    }
}

typedef void write_fn(FILE *out, const char *text);

static void check_written(write_fn *write, const char *text, const char *expected)
{
    char *written;
    size_t bytes;
    FILE *out = open_memstream(&written, &bytes);

    write(out, text);
    fclose(out);
    assert_string_equal(written, expected);
    free(written);
}

static void names_leave_as_text(void **state)
{
    (void)state;
    check_written(gt_html, "<a href=\"x\">'&", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    check_written(gt_html, "\xE2\x80\xAE", "\\u202e");              /* turns the direction of what follows */
    check_written(gt_html, "\xC0\xBC", "\xEF\xBF\xBD\xEF\xBF\xBD"); /* "<" the long way round */
    check_written(gt_plot_field, "a\tb\nc\\n\"`x`", "a\\\\u0009b\\\\u000ac\\\\n''`x`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_in_the_unit_that_suits),
        cmocka_unit_test(loaders_are_known_by_name),
        cmocka_unit_test(numbers_are_grouped_and_signed),
        cmocka_unit_test(names_lose_what_says_least),
        cmocka_unit_test(a_long_name_takes_no_time),
        cmocka_unit_test(names_alike_show_where_they_differ),
        cmocka_unit_test(names_that_look_alike_are_numbered),
        cmocka_unit_test(a_name_that_is_not_there_has_no_short_name),
        cmocka_unit_test(names_leave_as_text),
        cmocka_unit_test(a_kernel_is_bound_by_what_works_or_else_by_what_warps_wait_for),
        cmocka_unit_test(every_reason_is_in_one_group),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
