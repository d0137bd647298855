/* What operators have kernels do at least, and the least time for it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/shapes/profiled_work.h"
#include "sim/shapes/roofline.h"

static const char plain[] = "kernel";

static struct gt_inputs read_inputs(const char *text)
{
    struct gt_inputs inputs;

    memset(&inputs, 0, sizeof inputs);
    inputs.count = gt_tensors_read(text, inputs.tensors);
    assert_true(inputs.count > 0);
    return inputs;
}

static bool work_of(const char *name, const char *text, const char *out, const char *kernel, struct gt_work *work)
{
    struct gt_inputs inputs = read_inputs(text), result = read_inputs(out != NULL ? out : "-");

    return gt_work_of(name, &inputs, out != NULL ? &result.tensors[0] : NULL, gt_work_part_of(name, kernel), kernel,
                      work);
}

static void operators_are_counted(void **state)
{
    /* clang-format off */
    static const struct { const char *name, *inputs, *out, *kernel; double flops, bytes; enum gt_precision precision; } rows[] = {
        /* 2 x 64 x 32 x 16; 2 bytes of 2048 + 512 + 1024 elements */
        { "mm", "float16[64,32] float16[32,16]", NULL, plain, 65536, 7168, GT_PRECISION_HALF },
        /* 2 x 2 x 4 x 8 x 16; 4 bytes of 64 + 256 + 128 */
        { "bmm", "float32[2,4,8] float32[2,8,16]", NULL, plain, 2048, 1792, GT_PRECISION_FP32 },
        { "bmm", "float32[2,4,8] float32[2,8,16]", NULL, "gemm_tf32f32", 2048, 1792, GT_PRECISION_TF32 },
        /* and the bias: 16 x 4 */
        { "addmm", "float32[16] float32[4,8] float32[8,16]", NULL, plain, 1024, 64 + 4 * (32 + 128 + 64), GT_PRECISION_FP32 },
        /* two products of 2 x 2 x 3 x 5 x 7 x 8; 2 bytes of 240 queries, 336 keys, 336 values, 240 results */
        { "_cudnn_attention_forward", "float16[2,3,5,8] float16[2,3,7,8] float16[2,3,7,8]", NULL, plain, 6720, 2304, GT_PRECISION_HALF },
        /* the same with heads behind the sequence */
        { "_flash_attention_forward", "float16[2,5,3,8] float16[2,7,3,8] float16[2,7,3,8]", NULL, plain, 6720, 2304, GT_PRECISION_HALF },
        /* five products; gradient, queries, keys, values, and gradients of those: 240 + 2 x (240 + 336 + 336) */
        { "_cudnn_attention_backward", "float16[2,3,5,8] float16[2,3,5,8] float16[2,3,7,8] float16[2,3,7,8]", NULL, plain,
          16800, 4128, GT_PRECISION_HALF },
        /* stride 2: each of 2 x 4 x 4 x 4 results takes 3 x 3 x 3 multiply-adds; 2 bytes of 384 + 108 + 128 */
        { "cudnn_convolution", "float16[2,3,8,8] float16[4,3,3,3]", "float16[2,4,4,4]", plain, 6912, 1240, GT_PRECISION_HALF },
        /* the same by its numbers: padding 1, stride 2, dilation 1, a group */
        { "cudnn_convolution", "float16[2,3,8,8] float16[4,3,3,3] (1,1) (2,2) (1,1) 1", NULL, plain, 6912, 1240, GT_PRECISION_HALF },
        /* in two groups: half as many weights */
        { "cudnn_convolution", "float16[2,4,8,8] float16[4,2,3,3]", "float16[2,4,8,8]", plain, 2 * 512 * 18, 2 * (512 + 72 + 512), GT_PRECISION_HALF },
        /* each gradient takes as much as forward */
        { "convolution_backward", "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]", NULL, "dgrad", 6912, 1240, GT_PRECISION_HALF },
        { "convolution_backward", "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]", NULL, "wgrad", 6912, 1240, GT_PRECISION_HALF },
        /* transposed: each of 2 x 8 x 8 places of the images with each of 3 x 5 x 2 x 2 weights */
        { "cudnn_convolution_transpose", "float16[2,3,8,8] float16[3,5,2,2]", NULL, plain, 15360, 2 * (384 + 60), GT_PRECISION_HALF },
        /* with a stride of 2 images of 2 x 5 x 16 x 16 come out */
        { "cudnn_convolution_transpose", "float16[2,3,8,8] float16[3,5,2,2] (0,0) (0,0) (2,2) (1,1) 1", NULL, plain, 15360, 2 * (384 + 60 + 2560), GT_PRECISION_HALF },
        /* 3 and 4 elements make 12 */
        { "add", "float32[3,1] float32[1,4]", NULL, plain, 12, 12 + 16 + 48, GT_PRECISION_FP32 },
        { "lt", "float32[3,1] float32[1,4]", NULL, plain, 12, 12 + 16 + 12, GT_PRECISION_FP32 },
        /* the type of a number does not count: 16 x 4 come out */
        { "mul", "float32[16] float64[]", NULL, plain, 16, 64 + 8 + 64, GT_PRECISION_FP32 },
        { "add_", "float32[16] float32[16]", NULL, plain, 16, 128 + 64, GT_PRECISION_FP32 },
        { "copy_", "int64[16] bool[16]", NULL, plain, 0, 128 + 16, GT_PRECISION_FP32 },
        { "fill_", "float32[16]", NULL, plain, 0, 64, GT_PRECISION_FP32 },
        { "native_dropout", "float16[16]", NULL, plain, 16, 32 + 32 + 16, GT_PRECISION_FP32 },
        { "sum", "float32[16,4]", NULL, plain, 64, 256, GT_PRECISION_FP32 },
        { "native_layer_norm", "float16[16,4] - float16[4] float16[4]", NULL, plain, 64, 128 + 8 + 8 + 128, GT_PRECISION_FP32 },
        /* 8 places of 8 bytes; each a number of 2 bytes read and written */
        { "gather", "float16[1000,4] - int64[2,4]", NULL, plain, 0, 64 + 16 + 16, GT_PRECISION_FP32 },
    };
    /* clang-format on */
    struct gt_work work;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(work_of(rows[i].name, rows[i].inputs, rows[i].out, rows[i].kernel, &work));
        assert_float_equal(work.flops, rows[i].flops, 1e-9);
        assert_float_equal(work.bytes, rows[i].bytes, 1e-9);
        assert_int_equal(work.precision, rows[i].precision);
        assert_int_equal(work.unless_causal, strstr(rows[i].name, "attention") != NULL);
    }
}

static void what_is_not_known_stays_so(void **state)
{
    static const struct {
        const char *name, *inputs, *out;
    } rows[] = {
        { "cat", "float32[16]+", NULL },                                    /* a list: the first of several */
        { "add", "float32[16] ?[16]", NULL },                               /* of no known type */
        { "roi_align", "float32[16]", NULL },                               /* in no table */
        { "mm", "float64[4,4] float64[4,4]", NULL },                        /* on other pipes */
        { "cudnn_convolution", "float16[2,3,8,8] float16[4,3,3,3]", NULL }, /* of an unknown stride */
        { "convolution_backward", "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]",
          NULL }, /* of which gradient? */
        { "_flash_attention_forward", "float16[60,3,8] float16[60,3,8] float16[60,3,8]",
          NULL }, /* lengths that differ */
    };
    struct gt_work work;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_false(work_of(rows[i].name, rows[i].inputs, rows[i].out, plain, &work));
}

static void results_of_convolutions_fit(void **state)
{
    struct gt_inputs inputs = read_inputs("float16[2,3,8,8] float16[4,3,3,3]");
    struct gt_inputs numbers = read_inputs("float16[2,3,8,8] float16[4,3,3,3] (1,1) (2,2) (1,1) 1");
    struct gt_inputs gradient = read_inputs("float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]");
    struct gt_inputs others = read_inputs(
        "float16[2,4,4,4] float16[2,4,10,10] float16[2,5,4,4] float16[1,4,4,4] float16[2,4,16,16] float32[2,4,4,4]");

    (void)state;
    assert_true(gt_work_needs_out("cudnn_convolution", &inputs));
    assert_false(gt_work_needs_out("cudnn_convolution", &numbers));
    assert_false(gt_work_needs_out("convolution_backward", &gradient));
    assert_false(gt_work_needs_out("mm", &inputs));
    for (int i = 0; i < others.count; i++) /* other channels, another batch, larger than padding makes it, type */
        assert_int_equal(gt_work_could_be_out(&inputs, &others.tensors[i]), i < 2);
}

static void kernels_have_their_parts(void **state)
{
    static const struct {
        const char *name, *kernel;
        enum gt_work_part part;
    } rows[] = {
        { "mm", "nvjet_sm90_tst_64x64", GT_WORK_MAIN },
        { "mm", "cublasLt::splitKreduce_kernel", GT_WORK_HELP },
        { "_cudnn_attention_backward", "cudnn_generated_fort_native_sdpa_sm90_flash_bprop", GT_WORK_MAIN },
        { "_cudnn_attention_backward", "cudnn::fusion::convert_dq_to_16bits", GT_WORK_HELP },
        { "cudnn_convolution", "sm90_xmma_fprop_implicit_gemm", GT_WORK_MAIN },
        { "cudnn_convolution", "cudnn::engines_precompiled::nchwToNhwcKernel", GT_WORK_HELP },
        { "convolution_backward", "sm90_xmma_dgrad_implicit_gemm", GT_WORK_INPUT_GRADIENT },
        { "convolution_backward", "sm90_xmma_wgrad_implicit_gemm", GT_WORK_WEIGHT_GRADIENT },
        { "convolution_backward", "conv_depthwise2d_grad_weight_kernel", GT_WORK_WEIGHT_GRADIENT },
        { "convolution_backward", "implicit_convolve_sgemm", GT_WORK_MAIN },
        { "native_layer_norm_backward", "GammaBetaBackwardCUDAKernel", GT_WORK_MAIN },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(gt_work_part_of(rows[i].name, rows[i].kernel), rows[i].part);
}

/* Kernels that do not tell which gradient they make: those that are asked for and that no other kernel makes. */
static void gradients_are_what_others_leave(void **state)
{
    static const char tensors[] = "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]";
    static const struct {
        const char *name, *numbers;
        bool inputs_made, weights_made;
        enum gt_work_part part;
        double flops; /* 6912 a gradient; 0: not known */
    } rows[] = {
        { "convolution_backward", " (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)", false, false, GT_WORK_GRADIENTS,
          13824 },
        { "convolution_backward", " (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)", true, false, GT_WORK_WEIGHT_GRADIENT,
          6912 },
        { "convolution_backward", " (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)", false, true, GT_WORK_INPUT_GRADIENT,
          6912 },
        { "convolution_backward", " (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)", true, true, GT_WORK_MAIN, 0 },
        { "convolution_backward", " (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (0,1,0)", false, false, GT_WORK_WEIGHT_GRADIENT,
          6912 },
        { "convolution_backward", "", true, false, GT_WORK_MAIN, 0 },
        { "cudnn_convolution", "", false, false, GT_WORK_MAIN, 0 },
        { "mm", "", false, false, GT_WORK_MAIN, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        struct gt_inputs inputs;
        enum gt_work_part part;
        struct gt_work work = { .flops = 0 };

        snprintf(text, sizeof text, "%s%s", tensors, rows[i].numbers);
        inputs = read_inputs(text);
        part = gt_work_part_left(rows[i].name, &inputs, rows[i].inputs_made, rows[i].weights_made);
        assert_int_equal(part, rows[i].part);
        assert_int_equal(gt_work_of(rows[i].name, &inputs, NULL, part, plain, &work), rows[i].flops > 0);
        if (rows[i].flops > 0) {
            double passes = rows[i].flops / 6912;

            assert_float_equal(work.flops, rows[i].flops, 1e-9);
            assert_float_equal(work.bytes, 1240 * passes, 1e-9);
        }
    }
}

/* 16 bits: 2 x 4 x 512 x 10 SMs x 1000 MHz = 40.96 million operations a microsecond, TF32 half of that, FP32
 * 2 x 4 x 32 x 10 x 1000 = 2.56; DRAM a million bytes, L2 five. */
static struct gt_device made_device(void)
{
    struct gt_device device;

    gt_device_init(&device);
    device.sms = 10;
    device.clock_mhz = 1000;
    device.register_partitions = 4;
    device.warp_threads = 32;
    device.warp.mma_per_cycle = 256;
    device.warp.gmma_per_cycle = 512;
    device.warp.interval[GT_PIPE_FMA] = 1;
    device.warp.dram_gbps = 1000;
    device.warp.l2_read_bytes_per_cycle = 5000;
    return device;
}

static void least_times(void **state)
{
    /* clang-format off */
    static const struct { struct gt_work work; double took_us, least_us; enum gt_kernel_bound roof; } rows[] = {
        { { GT_PRECISION_HALF, 409.6e6, 1e6, false }, 20, 10, GT_BOUND_TENSOR },
        { { GT_PRECISION_TF32, 409.6e6, 1e6, false }, 25, 20, GT_BOUND_TENSOR },
        { { GT_PRECISION_FP32, 25.6e6, 1e6, false }, 20, 10, GT_BOUND_FP32 },
        { { GT_PRECISION_HALF, 40.96e6, 8e6, false }, 10, 8, GT_BOUND_DRAM },
        { { GT_PRECISION_HALF, 40.96e6, 8e6, false }, 4, 1.6, GT_BOUND_L2 }, /* DRAM would take 8 */
        { { GT_PRECISION_HALF, 122.88e6, 8e6, false }, 4, 3, GT_BOUND_TENSOR },
    };
    /* clang-format on */
    const struct gt_work too_much = { GT_PRECISION_HALF, 0, 8e6, false };
    struct gt_device device = made_device();
    struct gt_roofline roofline;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(gt_roofline_of(&rows[i].work, rows[i].took_us, &device, &roofline));
        assert_float_equal(roofline.least_us, rows[i].least_us, 1e-9);
        assert_int_equal(roofline.roof, rows[i].roof);
    }
    assert_false(gt_roofline_of(&too_much, 1, &device, &roofline)); /* L2 takes 1.6 */
}

static void profilers_count(void **state)
{
    char text[] = "HGMMA.64x128x16.F32 R24\0FFMA R1, R2, R3\0@!P0 FMUL.FTZ R1, R2\0FMNMX R1, R2";
    struct gt_instruction instructions[] = {
        { .text = 0, .executions = 8, .gmma_m = 64, .gmma_n = 128, .gmma_k = 16, .action = GT_ACTION_GMMA },
        { .text = 24, .executions = 10, .threads_on = 32 },
        { .text = 40, .executions = 10, .threads_on = 16 },
        { .text = 61, .executions = 10, .threads_on = 32 },
    };
    struct gt_program program = { .instructions = instructions, .instruction_count = 4, .text = text };
    const struct gt_profile profile = { .use = { .dram_read_bytes = 1000, .dram_write_bytes = 24 } };
    struct gt_work work;

    (void)state;
    /* four warps execute a GMMA together: 8 / 4 x 2 x 64 x 128 x 16 */
    assert_true(gt_profiled_work(&program, &profile, &work));
    assert_int_equal(work.precision, GT_PRECISION_HALF);
    assert_float_equal(work.flops, 524288, 1e-9);
    assert_float_equal(work.bytes, 1024, 1e-9);
    /* without it 10 x 32 x 2 and 10 x 16 */
    instructions[0].executions = 0;
    assert_true(gt_profiled_work(&program, &profile, &work));
    assert_int_equal(work.precision, GT_PRECISION_FP32);
    assert_float_equal(work.flops, 800, 1e-9);
    instructions[0].element = GT_ELEMENT_8_BITS;
    assert_false(gt_profiled_work(&program, &profile, &work));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_counted),
        cmocka_unit_test(what_is_not_known_stays_so),
        cmocka_unit_test(results_of_convolutions_fit),
        cmocka_unit_test(kernels_have_their_parts),
        cmocka_unit_test(gradients_are_what_others_leave),
        cmocka_unit_test(least_times),
        cmocka_unit_test(profilers_count),
    };

    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
