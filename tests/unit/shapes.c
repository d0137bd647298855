/* Operators at other sizes: which sides follow, and how long kernels then take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/shapes/kernel_time.h"
#include "sim/shapes/sizes.h"
#include "sim/shapes/types.h"
#include "sim/shapes/widths.h"
#include "sim/workload/ranges.h"
#include "traces/io/device_file.h"
#include "traces/io/product_file.h"

/* Operators of a language model, recorded with 4 sequences of 100 words. */
/* clang-format off */
static const struct { const char *name, *inputs, *asked; } operators[] = { /* asked: batch 4 to 8, length 100 to 300 */
    { "aten::embedding", "float32[5000,256] int64[4,100]", "float32[5000,256] int64[8,300]" },
    { "aten::linear", "float32[4,100,256] float32[768,256] float32[768]", "float32[8,300,256] float32[768,256] float32[768]" },
    { "aten::addmm", "float32[768] float32[400,256] float32[256,768]", "float32[768] float32[2400,256] float32[256,768]" },
    { "aten::layer_norm", "float32[4,100,256] - float32[256] float32[256]", "float32[8,300,256] - float32[256] float32[256]" },
    { "aten::bmm", "float32[32,100,32] float32[32,32,100]", "float32[64,300,32] float32[64,32,300]" },
    { "aten::_softmax", "float32[4,8,100,100]", "float32[8,8,300,300]" },
    { "aten::scaled_dot_product_attention", "float32[4,8,100,32] float32[4,8,100,32] float32[4,8,100,32]",
      "float32[8,8,300,32] float32[8,8,300,32] float32[8,8,300,32]" },
    { "aten::add", "float32[4,100,256] float32[256]", "float32[8,300,256] float32[256]" },
    { "aten::add", "float32[1,100,256]", "float32[1,300,256]" },              /* places: of one sequence */
    { "aten::mm", "float32[768,400] float32[400,256]", "float32[768,2400] float32[2400,256]" }, /* a weight's gradient */
    { "aten::mm", "float32[400,768] float32[768,256]", "float32[2400,768] float32[768,256]" },  /* an input's */
    { "aten::copy_", "float32[768,256] bfloat16[768,256]", "float32[768,256] bfloat16[768,256]" }, /* of a weight */
    { "aten::nll_loss_forward", "float32[400,5000] int64[400]", "float32[2400,5000] int64[2400]" },
    { "aten::max_pool2d_with_indices", "float32[4,100,14,14]", "float32[8,100,14,14]" }, /* so many channels */
    /* strides and paddings stay, whatever numbers they are */
    { "aten::conv_transpose2d", "float32[4,16,9,9] float32[16,8,4,4] float32[8] (4,100) (1,4) (0,0) 4 (1,1)",
      "float32[8,16,9,9] float32[16,8,4,4] float32[8] (4,100) (1,4) (0,0) 4 (1,1)" },
};
/* clang-format on */
enum { OPERATORS = sizeof operators / sizeof operators[0] };

static void add_operator(struct gt_workload *w, size_t number, const char *name, const char *inputs)
{
    gt_range_index added = gt_workload_add_range(w);
    struct gt_range *range = &w->ranges[added];

    range->start_ps = 1000 * number;
    range->duration_ps = 500;
    range->kind = GT_RANGE_OPERATOR;
    range->thread = 0;
    range->name = gt_name(w, name, strlen(name));
    range->inputs = gt_name(w, inputs, strlen(inputs));
}

static struct gt_workload *recorded(void)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_thread(w);
    for (size_t i = 0; i < OPERATORS; i++)
        add_operator(w, i, operators[i].name, operators[i].inputs);
    gt_ranges_finish(w, NULL);
    return w;
}

static void sizes_follow(void **state)
{
    const struct gt_size_change change = { 4, 8, 100, 300 };
    struct gt_workload *w = recorded();
    struct gt_all_inputs all;
    struct gt_sizes sizes;

    (void)state;
    gt_all_inputs_find(&all, w);
    assert_int_equal(all.known, OPERATORS);
    assert_int_equal(gt_recorded_batch(&all), 4);
    assert_int_equal(gt_recorded_seq(&all), 100);
    gt_sizes_find(&sizes, &all, &change);
    for (gt_range_index i = 0; i < OPERATORS; i++) {
        struct gt_inputs to;
        char *text;

        gt_sizes_apply(&sizes, i, &to);
        text = gt_tensors_text(to.tensors, to.count);
        if (strcmp(text, operators[i].asked) != 0)
            fail_msg("%s %s becomes %s, not %s", operators[i].name, operators[i].inputs, text, operators[i].asked);
        free(text);
    }
    assert_false(gt_sizes_seq_is_unclear(&sizes));
    gt_sizes_free(&sizes);
    gt_sizes_find(&sizes, &all, &(struct gt_size_change){ 4, 4, 32, 64 }); /* heads are of 32 */
    assert_true(gt_sizes_seq_is_unclear(&sizes));
    gt_sizes_free(&sizes);
    gt_all_inputs_free(&all);
    gt_workload_free(w);
}

static void load(struct gt_device *device, struct gt_product_sweep **sweep)
{
    struct gt_error error;

    assert_int_equal(gt_device_load("h200", device, &error), 0);
    assert_int_equal(gt_product_sweep_load(device, sweep, &error), 0);
}

/* On an H200: 132 SMs, 2,048 multiply-adds of 16 bits a cycle each at 1980 MHz. */
static void model_of_products(void **state)
{
    struct gt_device device;
    struct gt_product_sweep *sweep;
    struct gt_product p = { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 8192, 8192, 8192 };
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    sweep = gt_product_sweep_new(&device);
    /* Tiles of 256 x 80 leave the least unused: 32 * 103 of them are 25 waves, of 132, less 4 tiles; each wave takes
     * 8192 * 256 * 80 / (2048 * 0.75 * 1980) + 0.44 = 55.60.  DRAM: 3 * 8192^2 * 2 bytes at 4814 * 0.93 * 0.9 GB/s = 99.9, of which a fifth
     * is added; 1.9 before. */
    assert_true(fabs(gt_product_us(&p, sweep) - (25 * 55.604 + 0.2 * 99.93 + 1.9)) < 0.1);
    p = (struct gt_product){ GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 1, 16384, 16384 };
    /* One row: 512 MiB and 64 KiB from DRAM are 133.26; one wave of 128 tiles of 8 x 128, bound by what they load, 45.10. */
    assert_true(fabs(gt_product_us(&p, sweep) - (133.26 + 0.2 * 45.10 + 1.9)) < 0.1);
    gt_product_sweep_free(sweep);
}

static void products_of_the_sweep_are_met(void **state)
{
    struct gt_device device;
    struct gt_product_sweep *sweep;
    double off = 0;

    (void)state;
    load(&device, &sweep);
    assert_true(sweep->count > 20000);
    for (uint32_t i = 0; i < sweep->count; i += 500)
        off += fabs(log(gt_product_us(&sweep->points[i].product, sweep) / sweep->points[i].us));
    assert_true(off / (sweep->count / 500) < 0.06);
    gt_product_sweep_free(sweep);
}

static void what_was_measured_counts_nearby(void **state)
{
    struct gt_device device;
    struct gt_product_sweep *sweep;
    struct gt_product from = { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 1024, 4096, 1024 }, to = from;
    double own, near, far;

    (void)state;
    load(&device, &sweep);
    own = gt_product_us(&from, sweep);
    assert_true(fabs(gt_product_from_us(&from, 3 * own, &to, GT_PRODUCT_FADING, sweep) / (3 * own) - 1) <
                1e-9); /* itself */
    to.m = 2048;       /* one doubling away: the root of the factor 3 */
    near = gt_product_from_us(&from, 3 * own, &to, GT_PRODUCT_FADING, sweep) / gt_product_us(&to, sweep);
    assert_true(fabs(near / sqrt(3) - 1) < 1e-9);
    to.m = 8192; /* three: its fourth root */
    far = gt_product_from_us(&from, 3 * own, &to, GT_PRODUCT_FADING, sweep) / gt_product_us(&to, sweep);
    assert_true(fabs(far / pow(3, 0.25) - 1) < 1e-9);
    gt_product_sweep_free(sweep);
}

/* `from` and `to`: inputs; returns the time of a kernel of so many blocks of 128 threads that took `took_us`. */
static double after_us(const char *name, const char *operator_name, const char *from, const char *to, uint32_t blocks,
                       double took_us)
{
    struct gt_kernel kernel = { .grid = { blocks, 1, 1 }, .block = { 128, 1, 1 }, .cluster = { 1, 1, 1 } };
    struct gt_inputs one = { .count = 0 }, other = { .count = 0 };
    struct gt_device device;
    struct gt_product_sweep *sweep;
    struct gt_kernel_case c = { .name = name,
                                .operator_name = operator_name,
                                .kernel = &kernel,
                                .device = &device,
                                .from = &one,
                                .to = &other,
                                .took_us = took_us,
                                .product_us = took_us };
    double factor;

    load(&device, &sweep);
    one.count = gt_tensors_read(from, one.tensors);
    other.count = gt_tensors_read(to, other.tensors);
    c.family = gt_kernel_family_of(name);
    factor = gt_kernel_time_factor(&c, sweep);
    gt_product_sweep_free(sweep);
    return factor * took_us;
}

static const char elementwise[] = "void at::native::vectorized_elementwise_kernel<4, add>";

static void streaming_follows_bytes(void **state)
{
    (void)state;
    /* 16 M floats twice in, once out: 201.3 MB at 4814 * 0.93 * 0.94 = 4208 GB/s are 47.8 us, and 0.95 before; four times as much: 191.4. */
    assert_true(fabs(after_us(elementwise, "add", "float32[16,1048576] float32[16,1048576]",
                              "float32[64,1048576] float32[64,1048576]", 32768, 48.8) -
                     192.3) < 0.5);
    /* The same work: the same time, whatever it was. */
    assert_true(after_us(elementwise, "add", "float32[16,64]", "float32[16,64]", 8, 7) == 7);
    /* Too little for a wave: latencies stay, bytes are next to nothing. */
    assert_true(fabs(after_us(elementwise, "add", "float32[2,64]", "float32[4,64]", 1, 1.5) - 1.5) < 0.01);
}

static void what_does_not_touch_all_stays(void **state)
{
    (void)state;
    /* One block of 128 threads cannot read 131 MB in 7 us. */
    assert_true(after_us("void at::native::nll_loss_forward_reduce_cuda_kernel_2d", "nll_loss_forward",
                         "float32[1024,32000] int64[1024]", "float32[4096,32000] int64[4096]", 1, 7) == 7);
}

static void attention_follows_tiles_and_keys(void **state)
{
    /* 4 * 16 * 8 = 512 tiles of 128 queries, 1024 keys; twice as long: 1,024 tiles, 2048 keys: (2048 + 256) / (1024 + 256) times
     * sqrt(1 + 7.758^2) / sqrt(1 + 3.879^2) = 1.8 * 1.9526; 2 of 102 us stay: 2 + 100 * 3.5147. */
    double us = after_us("cudnn_generated_fort_native_sdpa_sm90_flash_fprop", "_cudnn_attention_forward",
                         "bfloat16[4,16,1024,64] bfloat16[4,16,1024,64] bfloat16[4,16,1024,64]",
                         "bfloat16[4,16,2048,64] bfloat16[4,16,2048,64] bfloat16[4,16,2048,64]", 132, 102);

    (void)state;
    assert_true(fabs(us - 353.5) < 0.5);
}

/* Eight times as many images: a product of 8 x 14 x 14 = 1568 places, later 12544, by 512 channels, each of 256 x 3 x 3 = 2304 weights.
 * What a kernel takes beyond its start grows as the model of products says. */
static void convolutions_are_products(void **state)
{
    static const char kernel[] = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64";
    static const char from[] = "float16[8,256,28,28] float16[512,256,3,3] (1,1) (2,2) (1,1) 1";
    static const char to[] = "float16[64,256,28,28] float16[512,256,3,3] (1,1) (2,2) (1,1) 1";
    struct gt_product one = { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 1568, 512, 2304 }, other = one;
    struct gt_device device;
    struct gt_product_sweep *sweep;
    double own, more, start_us;

    (void)state;
    load(&device, &sweep);
    other.m = 12544;
    own = gt_product_us(&one, sweep);
    more = gt_product_us(&other, sweep) / own;
    start_us = (double)device.kernel.least_ps / 1e6;
    assert_true(more > 4 && more < 8);
    /* the grid, made for the device, does not count */
    assert_true(fabs(after_us(kernel, "cudnn_convolution", from, to, 132, own) -
                     (start_us + (own - start_us) * more)) < 1e-6);
    /* three times as long: at three doublings 3^(1 / (1 + 3 x 0.5)) times as long */
    assert_true(fabs(after_us(kernel, "cudnn_convolution", from, to, 132, 3 * own) -
                     (start_us + (3 * own - start_us) * more * pow(3, 1 / 2.5 - 1))) < 1e-6);
    /* cuBLAS's kernels do it, too */
    assert_true(fabs(after_us("nvjet_sm90_hsh_224x64_64x5_2x1_v_bz_NNN", "cudnn_convolution", from, to, 132, own) -
                     (start_us + (own - start_us) * more)) < 1e-6);
    gt_product_sweep_free(sweep);
}

/* 528 blocks are 4 an SM; eight times as many: sqrt(1 + 32^2) / sqrt(1 + 4^2) = 7.765 of the 9.05 us beyond the start. */
static void channels_alone_are_none(void **state)
{
    double us = after_us("conv_depthwise2d_forward_kernel", "_conv_depthwise2d",
                         "float32[8,384,28,28] float32[384,1,5,5] (5,5) - (1,1) (2,2) (1,1)",
                         "float32[64,384,28,28] float32[384,1,5,5] (5,5) - (1,1) (2,2) (1,1)", 528, 10);

    (void)state;
    assert_true(fabs(us - (0.95 + 9.05 * 7.765)) < 0.01);
}

static void types_change_bytes(void **state)
{
    (void)state;
    /* As above, with 100.7 MB: 23.9 us, and 0.95 before. */
    assert_true(fabs(after_us(elementwise, "add", "float32[16,1048576] float32[16,1048576]",
                              "bfloat16[16,1048576] bfloat16[16,1048576]", 32768, 48.8) -
                     24.9) < 0.1);
    /* Of the same bytes: no change. */
    assert_true(fabs(after_us(elementwise, "add", "float16[16,1048576] float16[16,1048576]",
                              "bfloat16[16,1048576] bfloat16[16,1048576]", 32768, 24.9) -
                     24.9) < 1e-9);
}

/* Heads of 64, 4 * 16 sequences and heads of 1024.  On tensor cores 512 tiles of 128 queries and 1024 + 256 keys at 9 scores a cycle:
 * sqrt(1 + 3.879^2) * 128 * 1280 / (9 * 1980) = 36.83 us.  Without, 1024 tiles of 64 queries at 3.06 / 8: sqrt(1 + 7.758^2) * 64 * 1024 /
 * (0.3825 * 1980) = 676.9.  2 of 102 us are a start, which becomes one of 6: 6 + 100 * 676.9 / 36.83. */
static void attention_of_another_type(void **state)
{
    double us = after_us("cudnn_generated_fort_native_sdpa_sm90_flash_fprop", "_cudnn_attention_forward",
                         "bfloat16[4,16,1024,64] bfloat16[4,16,1024,64] bfloat16[4,16,1024,64]",
                         "float32[4,16,1024,64] float32[4,16,1024,64] float32[4,16,1024,64]", 132, 102);

    (void)state;
    assert_true(fabs(us - 1844) < 2);
}

static void products_of_another_type(void **state)
{
    struct gt_device device;
    struct gt_product_sweep *sweep;
    struct gt_product half = { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 4096, 4096, 4096 }, single = half, fp8 = half;
    double us;

    (void)state;
    load(&device, &sweep);
    single.precision = GT_PRECISION_FP32;
    fp8.precision = GT_PRECISION_FP8;
    /* What a kernel of 16 bits took says nothing of one of 32: the sweep alone does. */
    us = after_us("nvjet_hsh_128x256_64x4_2x1_v_bz_TNT", "mm", "bfloat16[4096,4096] bfloat16[4096,4096]",
                  "fp32[4096,4096] fp32[4096,4096]", 132, 1000);
    assert_true(fabs(us / gt_product_us(&single, sweep) - 1) < 1e-9);
    /* Bound by arithmetic: half as long, but for the waves. */
    us = gt_product_us(&fp8, sweep) / gt_product_us(&half, sweep);
    assert_true(us > 0.5 && us < 0.6);
    gt_product_sweep_free(sweep);
}

/* A profile under autocast: parameters of 32 bits, products of 16, the loss in 32. */
static void types_follow(void **state)
{
    static const struct {
        const char *name, *inputs, *half, *single;
    } rows[] = {
        { "aten::linear", "float32[4,64] float32[8,64]", "float32[4,64] float32[8,64]",
          "float32[4,64] float32[8,64]" },
        { "aten::mm", "bfloat16[4,64] bfloat16[64,8]", "float16[4,64] float16[64,8]", "fp32[4,64] fp32[64,8]" },
        { "aten::copy_", "bfloat16[8,64] float32[8,64]", "float16[8,64] float32[8,64]",
          "float32[8,64] float32[8,64]" },
        { "aten::nll_loss", "float32[4,8] int64[4] bool[4]", "float32[4,8] int64[4] bool[4]",
          "float32[4,8] int64[4] bool[4]" },
    };
    struct gt_workload *w = gt_workload_new();
    struct gt_all_inputs all;

    (void)state;
    gt_workload_add_thread(w);
    for (size_t i = 0; i < 4; i++)
        add_operator(w, i, rows[i].name, rows[i].inputs);
    gt_ranges_finish(w, NULL);
    gt_all_inputs_find(&all, w);
    for (gt_range_index i = 0; i < 4; i++) {
        struct gt_inputs half, single;
        char *one, *other;

        gt_types_apply(&all, &(struct gt_type_change){ GT_CLASS_HALF, GT_TYPE_FP16 }, i, &half);
        gt_types_apply(&all, &(struct gt_type_change){ GT_CLASS_HALF, GT_TYPE_FP32 }, i, &single);
        one = gt_tensors_text(half.tensors, half.count);
        other = gt_tensors_text(single.tensors, single.count);
        assert_string_equal(one, rows[i].half);
        assert_string_equal(other, rows[i].single);
        assert_int_equal(gt_is_cast(rows[i].name + 6, gt_inputs_of(&all, i)), i == 2);
        assert_false(gt_is_cast(rows[i].name + 6, &single));
        free(one);
        free(other);
    }
    gt_all_inputs_free(&all);
    gt_workload_free(w);
}

/* Operators of a model of width 256, recorded with 4 sequences of 100 words: 8 heads of 32, of which keys have 2, an inner size of 700. */
/* clang-format off */
static const struct { const char *name, *inputs, *asked; } widths[] = { /* asked: 256 to 512 */
    { "aten::embedding", "float32[5000,256] int64[4,100]", "float32[5000,512] int64[4,100]" },
    { "aten::linear", "float32[4,100,256] float32[256,256]", "float32[4,100,512] float32[512,512]" },
    { "aten::linear", "float32[4,100,256] float32[64,256]", "float32[4,100,512] float32[128,512]" },   /* keys */
    { "aten::linear", "float32[4,100,256] float32[768,256]", "float32[4,100,512] float32[1536,512]" }, /* all three */
    { "aten::linear", "float32[4,100,256] float32[1400,256]", "float32[4,100,512] float32[2800,512]" }, /* gate and up */
    { "aten::linear", "float32[4,100,700] float32[256,700]", "float32[4,100,1400] float32[512,1400]" },
    { "aten::linear", "float32[4,100,256] float32[5000,256]", "float32[4,100,512] float32[5000,512]" }, /* words */
    { "aten::linear", "float32[4,100,90] float32[180,90]", "float32[4,100,90] float32[180,90]" }, /* not of the width */
    { "aten::layer_norm", "float32[4,100,256] - float32[256] float32[256]", "float32[4,100,512] - float32[512] float32[512]" },
    { "aten::scaled_dot_product_attention", "float32[4,8,100,32] float32[4,2,100,32]", "float32[4,16,100,32] float32[4,4,100,32]" },
    { "aten::add", "float32[4,100,8,32] float32[4,100,1,1]", "float32[4,100,16,32] float32[4,100,1,1]" },
    { "aten::_softmax", "float32[4,8,100,100]", "float32[4,16,100,100]" },
    { "aten::bmm", "float32[32,100,32] float32[32,32,100]", "float32[64,100,32] float32[64,32,100]" },
    { "aten::mm", "float32[256,400] float32[400,700]", "float32[512,400] float32[400,1400]" }, /* a weight's gradient */
    { "aten::addmm", "float32[256] float32[400,256] float32[256,256]", "float32[512] float32[400,512] float32[512,512]" },
    { "aten::sum", "float32[400,700]", "float32[400,1400]" },
    { "aten::gt", "bool[4,100,256] int64[4,100]", "bool[4,100,512] int64[4,100]" },
};
/* clang-format on */

static void widths_follow(void **state)
{
    const struct gt_size_change now = { 4, 4, 100, 100 };
    struct gt_workload *w = gt_workload_new();
    struct gt_all_inputs all;
    struct gt_widths found;

    (void)state;
    gt_workload_add_thread(w);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        add_operator(w, i, widths[i].name, widths[i].inputs);
    gt_ranges_finish(w, NULL);
    gt_all_inputs_find(&all, w);
    assert_int_equal(gt_recorded_width(&all), 256);
    gt_widths_find(&found, &all, &now, 256, 512);
    for (gt_range_index i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        struct gt_inputs to;
        char *text;

        gt_widths_apply(&found, i, &to);
        text = gt_tensors_text(to.tensors, to.count);
        if (strcmp(text, widths[i].asked) != 0)
            fail_msg("%s %s becomes %s, not %s", widths[i].name, widths[i].inputs, text, widths[i].asked);
        free(text);
    }
    gt_widths_free(&found);
    /* To 400: 12.5 heads are 13 (away from 0), 3.125 are 3, 1093.75 of the inner size 1096. */
    gt_widths_find(&found, &all, &now, 256, 400);
    for (uint32_t i = 0; i < found.features.count; i++)
        if (found.features.sides[i].from == 700)
            assert_true(found.features.sides[i].to == 1096 && !found.features.sides[i].is_exact);
    for (uint32_t i = 0; i < found.heads.count; i++)
        if (found.heads.sides[i].from == 8)
            assert_true(found.heads.sides[i].to == 13 && !found.heads.sides[i].is_exact);
    gt_widths_free(&found);
    gt_all_inputs_free(&all);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow),
        cmocka_unit_test(model_of_products),
        cmocka_unit_test(products_of_the_sweep_are_met),
        cmocka_unit_test(what_was_measured_counts_nearby),
        cmocka_unit_test(streaming_follows_bytes),
        cmocka_unit_test(what_does_not_touch_all_stays),
        cmocka_unit_test(attention_follows_tiles_and_keys),
        cmocka_unit_test(convolutions_are_products),
        cmocka_unit_test(channels_alone_are_none),
        cmocka_unit_test(types_change_bytes),
        cmocka_unit_test(attention_of_another_type),
        cmocka_unit_test(products_of_another_type),
        cmocka_unit_test(types_follow),
        cmocka_unit_test(widths_follow),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
