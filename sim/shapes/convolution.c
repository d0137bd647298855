#include "sim/shapes/convolution.h"

#include <math.h>
#include <string.h>

enum { NONE = -1 };

/* Places of arguments as PyTorch 2.11's native_functions.yaml has them; the weights are behind the images. */
/* clang-format off */
static const struct places {
    const char *name;
    int8_t images, stride, padding, dilation, groups, transposed, output_padding, asked;
    bool is_transposed; /* whatever its arguments say */
} rows[] = {
    { "conv1d", 0, 3, 4, 5, 6, NONE, NONE, NONE, false },
    { "conv2d", 0, 3, 4, 5, 6, NONE, NONE, NONE, false },
    { "conv3d", 0, 3, 4, 5, 6, NONE, NONE, NONE, false },
    { "conv_transpose1d", 0, 3, 4, 7, 6, NONE, 5, NONE, true },
    { "conv_transpose2d", 0, 3, 4, 7, 6, NONE, 5, NONE, true },
    { "conv_transpose3d", 0, 3, 4, 7, 6, NONE, 5, NONE, true },
    { "convolution", 0, 3, 4, 5, 8, 6, 7, NONE, false },
    { "_convolution", 0, 3, 4, 5, 8, 6, 7, NONE, false },
    { "cudnn_convolution", 0, 3, 2, 4, 5, NONE, NONE, NONE, false },
    { "cudnn_convolution_relu", 0, 3, 4, 5, 6, NONE, NONE, NONE, false },
    { "cudnn_convolution_add_relu", 0, 5, 6, 7, 8, NONE, NONE, NONE, false },
    { "cudnn_convolution_transpose", 0, 4, 2, 5, 6, NONE, 3, NONE, true },
    { "_conv_depthwise2d", 0, 4, 5, 6, NONE, NONE, NONE, NONE, false },
    { "conv_depthwise3d", 0, 4, 5, 6, NONE, NONE, NONE, NONE, false },
    { "miopen_convolution", 0, 4, 3, 5, 6, NONE, NONE, NONE, false },
    { "miopen_depthwise_convolution", 0, 4, 3, 5, 6, NONE, NONE, NONE, false },
    { "miopen_convolution_transpose", 0, 5, 3, 6, 7, NONE, 4, NONE, true },
    { "convolution_backward", 1, 4, 5, 6, 9, 7, 8, 10, false },
};
/* clang-format on */

static const struct places *places_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool gt_is_convolution(const char *operator_name)
{
    return places_of(operator_name) != NULL;
}

/* The argument's number for a side of the images; one number is for all of them.  -1: not recorded, or less than that. */
static double number_at(const struct gt_inputs *inputs, int place, int side)
{
    const struct gt_tensor *argument = &inputs->tensors[place < 0 ? 0 : place];

    if (place < 0 || place >= inputs->count || argument->numbers == 0)
        return -1;
    if (argument->numbers == 1)
        side = 0;
    return side < argument->numbers ? fmax(argument->number[side], -1) : -1;
}

/* Places of the result along a side; 0: the numbers are not recorded, or nothing comes out of such. */
static double out_side(const struct places *at, const struct gt_inputs *inputs, const struct gt_convolution *c,
                       int side)
{
    double in = (double)c->images.size[side + 2], filter = (double)c->weights.size[side + 2];
    double stride = number_at(inputs, at->stride, side), padding = number_at(inputs, at->padding, side),
           dilation = number_at(inputs, at->dilation, side), span = dilation * (filter - 1) + 1;
    double more = c->transposed ? number_at(inputs, at->output_padding, side) : 0;

    if (stride < 1 || padding < 0 || dilation < 1 || more < 0 || in < 1 || filter < 1)
        return 0;
    if (c->transposed)
        return fmax(0, (in - 1) * stride - 2 * padding + span + more);
    return in + 2 * padding < span ? 0 : floor((in + 2 * padding - span) / stride) + 1;
}

/* What comes out of the forward pass, by the numbers.  False: not known. */
static bool find_out(const struct places *at, const struct gt_inputs *inputs, struct gt_convolution *c)
{
    double groups = c->transposed ? number_at(inputs, at->groups, 0) : 1, side;

    c->out = c->images;
    c->out.size[1] = c->transposed ? c->weights.size[1] * (uint64_t)fmax(groups, 0) : c->weights.size[0];
    for (int i = 2; i < c->out.sides; i++) {
        side = out_side(at, inputs, c, i - 2);
        if (side < 1 || side > INT32_MAX)
            return false;
        c->out.size[i] = (uint64_t)side;
    }
    return groups >= 1;
}

bool gt_convolution_of(const char *operator_name, const struct gt_inputs *inputs, struct gt_convolution *convolution)
{
    const struct places *at = places_of(operator_name);
    const struct gt_tensor *images = &inputs->tensors[at == NULL ? 0 : at->images], *weights = images + 1;

    if (at == NULL || inputs->count < at->images + 2 || images->sides < 3 || weights->sides != images->sides)
        return false;
    *convolution = (struct gt_convolution){
        .images = *images,
        .weights = *weights,
        .transposed = at->is_transposed || number_at(inputs, at->transposed, 0) == 1,
        .backward = at->images == 1,
    };
    if (convolution->backward) {
        convolution->out = inputs->tensors[0];
        convolution->wants_images = number_at(inputs, at->asked, 0) == 1;
        convolution->wants_weights = number_at(inputs, at->asked, 1) == 1;
        convolution->has_out = convolution->out.sides == images->sides;
        return convolution->has_out;
    }
    convolution->has_out = find_out(at, inputs, convolution);
    if (!convolution->has_out)
        convolution->out = (struct gt_tensor){ .sides = 0 };
    return true;
}

double gt_convolution_flops(const struct gt_convolution *convolution)
{
    const struct gt_tensor *at = convolution->transposed ? &convolution->images : &convolution->out;

    if ((!convolution->has_out && !convolution->transposed) || at->size[1] == 0)
        return 0;
    return 2 * gt_tensor_elements(at) / (double)at->size[1] * gt_tensor_elements(&convolution->weights);
}

bool gt_convolution_product(const struct gt_convolution *convolution, const struct gt_tensor *result,
                            struct gt_product *product)
{
    const struct gt_tensor *weights = &convolution->weights;
    const struct gt_tensor *taken = convolution->transposed ? &convolution->out : &convolution->images;
    double flops = gt_convolution_flops(convolution), groups, others;

    if (!convolution->has_out || flops == 0 || weights->size[1] < 2 || gt_tensor_elements(result) == 0)
        return false;
    groups = fmax(1, (double)taken->size[1] / (double)weights->size[1]);
    others = gt_tensor_elements(result) / (double)(result == weights ? weights->size[0] : result->size[1]);
    product->batch = groups;
    product->m = result == weights ? (double)weights->size[0] / groups : others;
    product->n = result == weights ? others : (double)result->size[1] / groups;
    product->k = flops / 2 / (groups * product->m * product->n);
    return true;
}
