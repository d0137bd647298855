/* What comes out of convolutions, and their operations, by strides, paddings, dilations and groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/shapes/convolution.h"

static struct gt_inputs read_inputs(const char *text)
{
    struct gt_inputs inputs;

    memset(&inputs, 0, sizeof inputs);
    inputs.count = gt_tensors_read(text, inputs.tensors);
    assert_true(inputs.count > 0);
    return inputs;
}

static void results_have_their_sizes(void **state)
{
    /* clang-format off */
    static const struct { const char *name, *inputs, *out; double flops; } rows[] = {
        /* 8 + 2 - 3 and 1: 8 places a side; 2 x 2 x 8 x 8 x 4 x 3 x 3 x 3 */
        { "conv2d", "float16[2,3,8,8] float16[4,3,3,3] - (1,1) (1,1) (1,1) 1", "float16[2,4,8,8]", 27648 },
        /* (8 + 2 - 3) / 2, rounded down, and 1: 4; cuDNN's operator has the padding first */
        { "cudnn_convolution", "float16[2,3,8,8] float16[4,3,3,3] (1,1) (2,2) (1,1) 1 0 0 1", "float16[2,4,4,4]", 6912 },
        /* MIOpen's has a bias before it */
        { "miopen_convolution", "float16[2,3,8,8] float16[4,3,3,3] - (1,1) (2,2) (1,1) 1 0 0", "float16[2,4,4,4]", 6912 },
        /* (7 + 0 - 1) / 2 + 1 = 4 and (9 - 1) / 4 + 1 = 3; one number is for all sides; 2 x 1 x 12 x 5 x 2 */
        { "convolution", "float32[1,2,7,9] float32[5,2,1,1] float32[5] (2,4) (0) (1) 0 (0) 1", "float32[1,5,4,3]", 240 },
        /* dilated, a filter of 3 spans 2 x 2 + 1 = 5 and one of 1 spans 1: 9 + 2 - 5 + 1 = 7, 9 - 1 + 1 = 9; 2 x 63 x 6 x 6 x 3 */
        { "_convolution", "float32[1,6,9,9] float32[6,6,3,1] - (1,1) (1,0) (2,2) 0 (0,0) 1 0 0 1 1", "float32[1,6,7,9]", 13608 },
        /* in groups: weights of 4 / 2 channels; 2 x 1 x 6 x 6 x 8 x 2 x 3 x 3 */
        { "cudnn_convolution", "float32[1,4,8,8] float32[8,2,3,3] (0,0) (1,1) (1,1) 2", "float32[1,8,6,6]", 10368 },
        /* each channel alone: (14 + 4 - 5) / 1 + 1 = 14; 2 x 4 x 14 x 14 x 6 x 5 x 5 */
        { "_conv_depthwise2d", "float16[4,6,14,14] float16[6,1,5,5] (5,5) - (1,1) (2,2) (1,1)", "float16[4,6,14,14]", 235200 },
        /* three sides: 4 + 2 - 3 + 1 = 4, (6 - 3) / 3 + 1 = 2, 5 - 3 + 1 = 3; 2 x 24 x 2 x 27 */
        { "conv3d", "float32[1,1,4,6,5] float32[2,1,3,3,3] - (1,3,1) (1,0,0) (1,1,1) 1", "float32[1,2,4,2,3]", 2592 },
        /* (16 + 4 - 5) / 3 + 1 = 6: 2 x 6 x 2 x 2 x 5 */
        { "conv1d", "float32[1,2,16] float32[2,2,5] - (3) (2) (1) 1", "float32[1,2,6]", 240 },
        /* transposed: (8 - 1) x 2 - 2 x 1 + 3 - 1 + 1 + 1 = 16; each of 2 x 8 x 8 places with each of 3 x 5 x 3 x 3 weights */
        { "cudnn_convolution_transpose", "float16[2,3,8,8] float16[3,5,3,3] (1,1) (1,1) (2,2) (1,1) 1", "float16[2,5,16,16]", 34560 },
        /* (4 - 1) x 4 + 4 = 16 in two groups of 5: 2 x 16 x 6 x 5 x 4 x 4 */
        { "convolution", "float16[1,6,4,4] float16[6,5,4,4] - (4,4) (0,0) (1,1) 1 (0,0) 2", "float16[1,10,16,16]", 15360 },
        /* backward, the gradient of the result comes first: 2 x 2 x 4 x 4 x 4 x 27 */
        { "convolution_backward", "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3] (4) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)",
          "float16[2,4,4,4]", 6912 },
        /* and transposed, each place of the images counts: 2 x 2 x 8 x 8 x 3 x 5 x 3 x 3 */
        { "convolution_backward", "float16[2,5,16,16] float16[2,3,8,8] float16[3,5,3,3] (5) (2,2) (1,1) (1,1) 1 (1,1) 1 (1,1,0)",
          "float16[2,5,16,16]", 34560 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gt_inputs inputs = read_inputs(rows[i].inputs);
        struct gt_convolution c;
        char *out;

        assert_true(gt_is_convolution(rows[i].name));
        assert_true(gt_convolution_of(rows[i].name, &inputs, &c));
        assert_true(c.has_out);
        out = gt_tensors_text(&c.out, 1);
        assert_string_equal(out, rows[i].out);
        free(out);
        assert_float_equal(gt_convolution_flops(&c), rows[i].flops, 1e-9);
        assert_int_equal(c.backward, strstr(rows[i].name, "backward") != NULL);
        assert_int_equal(c.wants_images && c.wants_weights, c.backward);
    }
}

/* Numbers that are missing, or of no convolution: the result is not known, and nothing breaks. */
static void other_numbers_say_nothing(void **state)
{
    static const char *const rows[] = {
        "float16[2,3,8,8] float16[4,3,3,3]",
        "float16[2,3,8,8] float16[4,3,3,3] (1,1)",
        "float16[2,3,8,8] float16[4,3,3,3] - (1,1) (1,1)",
        "float16[2,3,8,8] float16[4,3,3,3] (1,1) (0,0) (1,1)",         /* a stride of 0 */
        "float16[2,3,8,8] float16[4,3,3,3] (-2147483647) (1,1) (1,1)", /* negative padding */
        "float16[2,3,8,8] float16[4,3,3,3] (1,1) (1,1) (0,0)",         /* no dilation */
        "float16[2,3,8,8] float16[4,3,3,3] (1,1) (1,1) ()",            /* an empty list */
        "float16[2,3,8,8,8] float16[4,3,3,3,3] (1,1) (1,1) (1,1)",     /* of two sides, for images of three */
        "float16[2,3,8,8] float16[4,3,9,9] (0,0) (1,1) (1,1)",         /* filters larger than images */
        "float16[2,3,8,8] float16[4,3,3,3] (0) (1) (2147483647)",      /* and far larger */
        "float16[2,3,8,0] float16[4,3,3,3] (4,4) (1,1) (1,1)",
        "float16[2,3,18446744073709551615,8] float16[4,3,1,1] (0) (1) (1)",
    };
    struct gt_convolution c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gt_inputs inputs = read_inputs(rows[i]);

        assert_true(gt_convolution_of("cudnn_convolution", &inputs, &c));
        if (c.has_out || c.out.is_tensor || gt_convolution_flops(&c) != 0)
            fail_msg("%s has a result", rows[i]);
    }
}

static void are_products_of_matrices(void **state)
{
    enum result { OUT, IMAGES, WEIGHTS };
    static const char forward[] = "float16[2,3,8,8] float16[4,3,3,3] (1,1) (2,2) (1,1) 1",
                      groups[] = "float16[2,6,8,8] float16[4,3,3,3] (1,1) (2,2) (1,1) 2",
                      transposed[] = "float16[2,3,8,8] float16[3,5,2,2] (0,0) (0,0) (2,2) (1,1) 1",
                      backward[] = "float16[2,4,4,4] float16[2,3,8,8] float16[4,3,3,3]";
    static const struct {
        const char *name, *inputs;
        enum result result;
        double batch, m, n, k;
    } rows[] = {
        /* 2 x 4 x 4 places, 4 channels, of 3 x 3 x 3 each */
        { "cudnn_convolution", forward, OUT, 1, 32, 4, 27 },
        /* two products of half the channels */
        { "cudnn_convolution", groups, OUT, 2, 32, 2, 27 },
        /* 2 x 16 x 16 places, 5 channels; a stride of 2 and a filter of 2: each takes 3 channels of one place */
        { "cudnn_convolution_transpose", transposed, OUT, 1, 512, 5, 3 },
        /* 2 x 8 x 8 places of the images, 3 channels; 32 x 4 x 27 multiply-adds, so 9 for each */
        { "convolution_backward", backward, IMAGES, 1, 128, 3, 9 },
        /* 4 filters of 27 weights, over 2 x 4 x 4 places */
        { "convolution_backward", backward, WEIGHTS, 1, 4, 27, 32 },
    };
    struct gt_inputs inputs = read_inputs("float16[2,6,8,8] float16[6,1,3,3] (1,1) (1,1) (1,1) 6");
    struct gt_convolution c;
    struct gt_product product;

    (void)state;
    assert_true(gt_convolution_of("cudnn_convolution", &inputs, &c));
    assert_false(gt_convolution_product(&c, &c.out, &product)); /* each channel alone */
    inputs = read_inputs("float16[2,3,8,8] float16[4,3,3,3]");
    assert_true(gt_convolution_of("cudnn_convolution", &inputs, &c));
    assert_false(gt_convolution_product(&c, &c.out, &product)); /* of unknown strides */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        inputs = read_inputs(rows[i].inputs);
        assert_true(gt_convolution_of(rows[i].name, &inputs, &c));
        assert_true(gt_convolution_product(&c,
                                           rows[i].result == OUT      ? &c.out
                                           : rows[i].result == IMAGES ? &c.images
                                                                      : &c.weights,
                                           &product));
        assert_float_equal(product.batch, rows[i].batch, 1e-9);
        assert_float_equal(product.m, rows[i].m, 1e-9);
        assert_float_equal(product.n, rows[i].n, 1e-9);
        assert_float_equal(product.k, rows[i].k, 1e-9);
    }
}

static void others_are_no_convolutions(void **state)
{
    static const struct {
        const char *name, *inputs;
    } rows[] = {
        { "mm", "float16[2,3] float16[3,4]" },
        { "cudnn_convolution", "float16[2,3,8,8]" },
        { "cudnn_convolution", "float16[2,3,8,8] float16[4,3]" },
        { "cudnn_convolution", "(1,1) (1,1) (1,1)" },
        { "conv2d", "float16[2,3] float16[4,3]" },
        { "convolution_backward", "float16[2,4,4,4] float16[2,3,8,8]" },
        { "convolution_backward", "- float16[2,3,8,8] float16[4,3,3,3]" },
    };
    struct gt_convolution c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gt_inputs inputs = read_inputs(rows[i].inputs);

        assert_false(gt_convolution_of(rows[i].name, &inputs, &c));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_their_sizes),
        cmocka_unit_test(other_numbers_say_nothing),
        cmocka_unit_test(are_products_of_matrices),
        cmocka_unit_test(others_are_no_convolutions),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
