#include "sim/shapes/work.h"

#include <math.h>
#include <string.h>

#include "sim/devices/kernel_bound.h"
#include "sim/shapes/convolution.h"
#include "sim/shapes/product.h"
#include "sim/shapes/roles.h"

/* What comes out of operators that go over their inputs once. */
enum output {
    OUT_ALIKE,   /* as large as the inputs, each spread over the others' sides */
    OUT_TRUTHS,  /* likewise, a byte for each element */
    OUT_MASKED,  /* likewise, and a byte for each element beside it */
    OUT_LARGEST, /* as large as the largest input */
    OUT_INPUT,   /* written over the first input */
    OUT_COPY,    /* the same, and the first input is not read */
    OUT_NONE,    /* small, or the inputs have it */
    OUT_GATHERED /* for each place in the third input an element of the first */
};

/* As PyTorch 2.11's native_functions.yaml has them. */
/* clang-format off */
static const struct stream {
    const char *name;
    enum output output;
    bool computes;
} streams[] = {
    { "abs", OUT_ALIKE, true },             { "add", OUT_ALIKE, true },
    { "addcdiv", OUT_ALIKE, true },         { "addcmul", OUT_ALIKE, true },
    { "bitwise_and", OUT_ALIKE, true },     { "bitwise_not", OUT_ALIKE, true },
    { "bitwise_or", OUT_ALIKE, true },      { "ceil", OUT_ALIKE, true },
    { "clamp", OUT_ALIKE, true },           { "clamp_max", OUT_ALIKE, true },
    { "clamp_min", OUT_ALIKE, true },       { "cos", OUT_ALIKE, true },
    { "div", OUT_ALIKE, true },             { "elu", OUT_ALIKE, true },
    { "erf", OUT_ALIKE, true },             { "exp", OUT_ALIKE, true },
    { "floor", OUT_ALIKE, true },           { "gelu", OUT_ALIKE, true },
    { "gelu_backward", OUT_ALIKE, true },   { "hardswish", OUT_ALIKE, true },
    { "leaky_relu", OUT_ALIKE, true },      { "lerp", OUT_ALIKE, true },
    { "log", OUT_ALIKE, true },             { "masked_fill", OUT_ALIKE, true },
    { "maximum", OUT_ALIKE, true },         { "minimum", OUT_ALIKE, true },
    { "mul", OUT_ALIKE, true },             { "native_dropout_backward", OUT_ALIKE, true },
    { "neg", OUT_ALIKE, true },             { "pow", OUT_ALIKE, true },
    { "reciprocal", OUT_ALIKE, true },      { "relu", OUT_ALIKE, true },
    { "rsqrt", OUT_ALIKE, true },           { "rsub", OUT_ALIKE, true },
    { "sigmoid", OUT_ALIKE, true },         { "sigmoid_backward", OUT_ALIKE, true },
    { "silu", OUT_ALIKE, true },            { "silu_backward", OUT_ALIKE, true },
    { "sin", OUT_ALIKE, true },             { "softplus", OUT_ALIKE, true },
    { "sqrt", OUT_ALIKE, true },            { "sub", OUT_ALIKE, true },
    { "tanh", OUT_ALIKE, true },            { "tanh_backward", OUT_ALIKE, true },
    { "threshold_backward", OUT_ALIKE, true }, { "where", OUT_ALIKE, true },
    { "eq", OUT_TRUTHS, true },             { "ge", OUT_TRUTHS, true },
    { "gt", OUT_TRUTHS, true },             { "isnan", OUT_TRUTHS, true },
    { "isneginf", OUT_TRUTHS, true },       { "le", OUT_TRUTHS, true },
    { "logical_and", OUT_TRUTHS, true },    { "logical_not", OUT_TRUTHS, true },
    { "logical_or", OUT_TRUTHS, true },     { "lt", OUT_TRUTHS, true },
    { "ne", OUT_TRUTHS, true },             { "native_dropout", OUT_MASKED, true },
    { "_fused_rms_norm", OUT_LARGEST, true },          { "_fused_rms_norm_backward", OUT_LARGEST, true },
    { "_log_softmax", OUT_LARGEST, true },             { "_log_softmax_backward_data", OUT_LARGEST, true },
    { "_softmax", OUT_LARGEST, true },                 { "_softmax_backward_data", OUT_LARGEST, true },
    { "cudnn_batch_norm", OUT_LARGEST, true },         { "cudnn_batch_norm_backward", OUT_LARGEST, true },
    { "cumsum", OUT_LARGEST, true },                   { "native_batch_norm", OUT_LARGEST, true },
    { "native_batch_norm_backward", OUT_LARGEST, true }, { "native_group_norm", OUT_LARGEST, true },
    { "native_group_norm_backward", OUT_LARGEST, true }, { "native_layer_norm", OUT_LARGEST, true },
    { "native_layer_norm_backward", OUT_LARGEST, true },
    { "add_", OUT_INPUT, true },            { "addcdiv_", OUT_INPUT, true },
    { "addcmul_", OUT_INPUT, true },        { "clamp_", OUT_INPUT, true },
    { "clamp_min_", OUT_INPUT, true },      { "div_", OUT_INPUT, true },
    { "lerp_", OUT_INPUT, true },           { "masked_fill_", OUT_INPUT, true },
    { "mul_", OUT_INPUT, true },            { "relu_", OUT_INPUT, true },
    { "sqrt_", OUT_INPUT, true },           { "sub_", OUT_INPUT, true },
    { "copy_", OUT_COPY, false },           { "fill_", OUT_COPY, false },
    { "zero_", OUT_COPY, false },
    { "all", OUT_NONE, true },              { "amax", OUT_NONE, true },
    { "amin", OUT_NONE, true },             { "any", OUT_NONE, true },
    { "argmax", OUT_NONE, true },           { "argmin", OUT_NONE, true },
    { "avg_pool2d", OUT_NONE, true },       { "_adaptive_avg_pool2d", OUT_NONE, true },
    { "embedding_dense_backward", OUT_NONE, true },    { "linalg_vector_norm", OUT_NONE, true },
    { "max", OUT_NONE, true },              { "max_pool2d_with_indices", OUT_NONE, true },
    { "max_pool2d_with_indices_backward", OUT_NONE, true }, { "mean", OUT_NONE, true },
    { "min", OUT_NONE, true },              { "std", OUT_NONE, true },
    { "sum", OUT_NONE, true },              { "topk", OUT_NONE, true },
    { "var", OUT_NONE, true },              { "var_mean", OUT_NONE, true },
    { "gather", OUT_GATHERED, false },
};
/* clang-format on */

static const struct stream *stream_of(const char *name)
{
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        if (strcmp(streams[i].name, name) == 0)
            return &streams[i];
    return NULL;
}

/* Are all tensors of known types, and none of them a list? */
static bool all_known(const struct gt_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++)
        if (inputs->tensors[i].is_tensor && (inputs->tensors[i].element_bytes == 0 || inputs->tensors[i].is_list))
            return false;
    return inputs->count > 0;
}

static double all_bytes(const struct gt_inputs *inputs)
{
    double bytes = 0;

    for (int i = 0; i < inputs->count; i++)
        bytes += gt_tensor_bytes(&inputs->tensors[i]);
    return bytes;
}

static const struct gt_tensor *largest(const struct gt_inputs *inputs)
{
    const struct gt_tensor *most = &inputs->tensors[0];

    for (int i = 1; i < inputs->count; i++)
        if (gt_tensor_elements(&inputs->tensors[i]) > gt_tensor_elements(most))
            most = &inputs->tensors[i];
    return most;
}

/* Of all inputs spread over each other's sides, counted from the last one. */
static double spread_elements(const struct gt_inputs *inputs)
{
    double elements = 1;

    for (int side = 1; side <= GT_TENSOR_SIDES; side++) {
        uint64_t most = 0;
        bool is_there = false;

        for (int i = 0; i < inputs->count; i++) {
            const struct gt_tensor *tensor = &inputs->tensors[i];

            if (side > tensor->sides)
                continue;
            is_there = true;
            most = tensor->size[tensor->sides - side] > most ? tensor->size[tensor->sides - side] : most;
        }
        elements *= is_there ? (double)most : 1;
    }
    return elements;
}

/* Of the result's elements: floating point goes before whole numbers, tensors before single numbers. */
static double result_bytes(const struct gt_inputs *inputs)
{
    int best = -1;
    double bytes = 0;

    for (int i = 0; i < inputs->count; i++) {
        const struct gt_tensor *tensor = &inputs->tensors[i];
        int rank = 2 * (tensor->sides > 0) + (!gt_tensor_is_whole(tensor) && strcmp(tensor->type, "bool") != 0);

        if (!tensor->is_tensor || rank < best)
            continue;
        bytes = rank > best ? tensor->element_bytes : fmax(bytes, tensor->element_bytes);
        best = rank;
    }
    return bytes;
}

static bool stream_work(const struct stream *stream, const struct gt_inputs *inputs, struct gt_work *work)
{
    const struct gt_tensor *first = &inputs->tensors[0], *most = largest(inputs);
    double bytes = all_bytes(inputs), elements = gt_tensor_elements(most), spread = spread_elements(inputs);

    switch (stream->output) {
    case OUT_ALIKE: bytes += spread * result_bytes(inputs); break;
    case OUT_TRUTHS: bytes += spread; break;
    case OUT_MASKED: bytes += spread * (result_bytes(inputs) + 1); break;
    case OUT_LARGEST: bytes += gt_tensor_bytes(most); break;
    case OUT_INPUT: bytes += gt_tensor_bytes(first); break;
    case OUT_GATHERED:
        if (inputs->count < 3 || !inputs->tensors[2].is_tensor)
            return false;
        bytes =
            gt_tensor_elements(&inputs->tensors[2]) * (2.0 * first->element_bytes + inputs->tensors[2].element_bytes);
        break;
    default: break; /* OUT_COPY: written in place of being read */
    }
    *work = (struct gt_work){
        .precision = GT_PRECISION_FP32,
        .flops = stream->computes ? (stream->output <= OUT_MASKED ? spread : elements) : 0,
        .bytes = bytes,
    };
    return bytes > 0;
}

/* Tensor cores, and FMA pipes, have no more than 32 bits, and no whole numbers of the kinds that are counted here. */
static bool multiplies_floats(const struct gt_tensor *matrix)
{
    return matrix->element_bytes <= 4 && !gt_tensor_is_whole(matrix) && strcmp(matrix->type, "bool") != 0;
}

static bool product_work(const char *operator_name, const struct gt_inputs *inputs, const char *kernel,
                         struct gt_work *work)
{
    int first = gt_product_first(operator_name);
    const struct gt_tensor *left = &inputs->tensors[first < 0 ? 0 : first];
    struct gt_product p;

    if (!gt_product_of(operator_name, inputs, kernel, &p) || !multiplies_floats(left))
        return false;
    *work = (struct gt_work){
        .precision = p.precision,
        .flops = 2 * p.batch * p.m * p.n * p.k,
        .bytes = all_bytes(inputs) + p.batch * p.m * p.n * left->element_bytes,
    };
    return true;
}

bool gt_attention_of(const char *operator_name, const struct gt_inputs *inputs, struct gt_attention *attention)
{
    const char *roles = gt_roles_of(operator_name);
    bool backward = strstr(operator_name, "backward") != NULL; /* the gradient comes before the queries */
    const struct gt_tensor *q = &inputs->tensors[backward], *k = q + 1, *v = q + 2;
    int seq = roles[0] == GT_ROLE_HEADS_LAST ? 1 : 2;

    if ((roles[0] != GT_ROLE_HEADS_LAST && roles[0] != GT_ROLE_HEADS) || inputs->count < backward + 3 ||
        q->sides != 4 || k->sides != 4 || v->sides != 4)
        return false;
    *attention = (struct gt_attention){
        .batch = (double)q->size[0],
        .heads = (double)q->size[3 - seq],
        .queries = (double)q->size[seq],
        .keys = (double)k->size[seq],
        .size = (double)q->size[3],
        .value_size = (double)v->size[3],
        .element_bytes = q->element_bytes,
        .backward = backward,
    };
    return gt_tensor_elements(q) > 0 && gt_tensor_elements(k) > 0;
}

/* Two products forward, Q by K and that by V.  Backward five: Q by K again, and two gradients of each. */
static bool attention_work(const char *operator_name, const struct gt_inputs *inputs, struct gt_work *work)
{
    struct gt_attention a;
    double rows, out;

    if (!gt_attention_of(operator_name, inputs, &a) || !multiplies_floats(&inputs->tensors[a.backward]))
        return false;
    rows = a.batch * a.heads * a.queries;
    out = a.backward ? gt_tensor_bytes(&inputs->tensors[1]) + gt_tensor_bytes(&inputs->tensors[2]) +
                           gt_tensor_bytes(&inputs->tensors[3])
                     : rows * a.value_size * a.element_bytes;
    *work = (struct gt_work){
        /* kernels for 32 bits, too, work on tensor cores: CUTLASS's do three products of TF32 for one */
        .precision = a.element_bytes <= 2 ? GT_PRECISION_HALF : GT_PRECISION_TF32,
        .flops = 2 * rows * a.keys * (a.backward ? 3 * a.size + 2 * a.value_size : a.size + a.value_size),
        .bytes = all_bytes(inputs) + out,
        .unless_causal = true,
    };
    return true;
}

/* Convolutions. */

bool gt_work_needs_out(const char *operator_name, const struct gt_inputs *inputs)
{
    struct gt_convolution convolution;

    return gt_convolution_of(operator_name, inputs, &convolution) && !convolution.has_out;
}

/* Strides make images smaller; padding makes them larger, but not by more than the weights' sides. */
bool gt_work_could_be_out(const struct gt_inputs *inputs, const struct gt_tensor *out)
{
    const struct gt_tensor *images = &inputs->tensors[0], *weights = &inputs->tensors[1];

    if (inputs->count < 2 || images->sides < 3 || weights->sides != images->sides || out->sides != images->sides ||
        out->size[0] != images->size[0] || out->size[1] != weights->size[0] || strcmp(out->type, images->type) != 0)
        return false;
    for (int i = 2; i < out->sides; i++)
        if (out->size[i] == 0 || out->size[i] > images->size[i] + weights->size[i])
            return false;
    return true;
}

/* A gradient takes as much as the pass forward. */
static bool convolution_work(const char *operator_name, const struct gt_inputs *inputs, const struct gt_tensor *out,
                             enum gt_work_part part, const char *kernel, struct gt_work *work)
{
    double passes = part == GT_WORK_GRADIENTS ? 2 : 1;
    struct gt_convolution c;

    if (!gt_convolution_of(operator_name, inputs, &c) || !multiplies_floats(&c.images))
        return false;
    if (!c.has_out && out != NULL) {
        c.out = *out;
        c.has_out = true;
    }
    if (c.backward && part == GT_WORK_MAIN) /* of which gradient, nobody says */
        return false;
    *work = (struct gt_work){
        .precision = gt_precision_of(&c.images, kernel),
        .flops = passes * gt_convolution_flops(&c),
        .bytes = passes * (gt_tensor_bytes(&c.images) + gt_tensor_bytes(&c.weights) +
                           gt_tensor_elements(&c.out) * c.images.element_bytes),
    };
    return work->flops > 0;
}

bool gt_work_of(const char *operator_name, const struct gt_inputs *inputs, const struct gt_tensor *out,
                enum gt_work_part part, const char *kernel, struct gt_work *work)
{
    const struct stream *stream = stream_of(operator_name);

    if (!all_known(inputs))
        return false;
    if (stream != NULL)
        return stream_work(stream, inputs, work);
    if (gt_product_first(operator_name) >= 0)
        return product_work(operator_name, inputs, kernel, work);
    if (gt_is_convolution(operator_name))
        return convolution_work(operator_name, inputs, out, part, kernel, work);
    return attention_work(operator_name, inputs, work);
}

bool gt_convolution_multiplies(const char *kernel)
{
    static const char *const others[] = { "nchwto",  "nhwcto",      "nhwcadd", "init_device",
                                          "offsets", "scalepacked", "reduc" };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasestr(kernel, others[i]) != NULL)
            return false;
    return true;
}

enum gt_work_part gt_work_part_of(const char *operator_name, const char *kernel)
{
    enum gt_kernel_family family = gt_kernel_family_of(kernel);

    if (gt_product_first(operator_name) >= 0)
        return strcasestr(kernel, "splitkreduce") != NULL || family == GT_FAMILY_COPY ? GT_WORK_HELP : GT_WORK_MAIN;
    if (gt_roles_of(operator_name)[0] == GT_ROLE_HEADS || gt_roles_of(operator_name)[0] == GT_ROLE_HEADS_LAST)
        return family == GT_FAMILY_ATTENTION ? GT_WORK_MAIN : GT_WORK_HELP;
    if (!gt_is_convolution(operator_name))
        return GT_WORK_MAIN;
    if (!gt_convolution_multiplies(kernel) || family == GT_FAMILY_COPY || family == GT_FAMILY_REDUCTION)
        return GT_WORK_HELP;
    if (strcmp(operator_name, "convolution_backward") != 0)
        return GT_WORK_MAIN;
    if (strcasestr(kernel, "dgrad") != NULL)
        return GT_WORK_INPUT_GRADIENT;
    return strcasestr(kernel, "wgrad") != NULL || strstr(kernel, "grad_weight") != NULL ? GT_WORK_WEIGHT_GRADIENT
                                                                                        : GT_WORK_MAIN;
}

enum gt_work_part gt_work_part_left(const char *operator_name, const struct gt_inputs *inputs, bool inputs_made,
                                    bool weights_made)
{
    struct gt_convolution c;

    if (!gt_convolution_of(operator_name, inputs, &c) || !c.backward)
        return GT_WORK_MAIN;
    if (c.wants_images && !inputs_made)
        return c.wants_weights && !weights_made ? GT_WORK_GRADIENTS : GT_WORK_INPUT_GRADIENT;
    return c.wants_weights && !weights_made ? GT_WORK_WEIGHT_GRADIENT : GT_WORK_MAIN;
}
