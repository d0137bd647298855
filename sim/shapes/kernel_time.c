#include "sim/shapes/kernel_time.h"

#include <math.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/shapes/convolution.h"
#include "sim/shapes/work.h"

static double ratio(double to, double from)
{
    return from > 0 ? to / from : 1;
}

/* Is the part in the kernel's name, whatever its case? */
static bool named(const struct gt_kernel_case *c, const char *part)
{
    return strcasestr(c->name, part) != NULL;
}

/* Less than a wave takes as long as one. */
static double filled(double waves)
{
    return sqrt(1 + waves * waves);
}

/* Growth of what takes `took_us`, of which a start of `start_us` stays. */
static double after_start_us(const struct gt_kernel_case *c, uint64_t start_ps, double growth)
{
    double start_us = fmin((double)start_ps / 1e6, 0.5 * c->took_us);

    return start_us + (c->took_us - start_us) * growth;
}

/* What goes through memory. */

struct traffic { /* of an operator: bytes before and after, of its inputs and of what comes out */
    double from, to;
    double elements, new_elements; /* of its largest input */
    double row, new_row;           /* the last side of that */
};

static bool changes(const struct gt_kernel_case *c, int input)
{
    return !gt_tensors_alike(&c->from->tensors[input], &c->to->tensors[input]);
}

/* Which inputs count.  Tensors that stay and are larger than all that change, such as an embedding's table, are read in
 * part; places in it are few, or one for a row, whatever their tensor's sizes say. */
static void choose_inputs(const struct gt_kernel_case *c, bool counts[GT_MOST_INPUTS])
{
    double largest = 0;
    bool only_whole = true;

    for (int i = 0; i < c->from->count; i++)
        only_whole &= !changes(c, i) || gt_tensor_is_whole(&c->from->tensors[i]);
    for (int i = 0; i < c->from->count; i++)
        if (changes(c, i) && (only_whole || !gt_tensor_is_whole(&c->from->tensors[i])))
            largest = fmax(largest, gt_tensor_bytes(&c->from->tensors[i]));
    for (int i = 0; i < c->from->count; i++)
        counts[i] = (only_whole || !gt_tensor_is_whole(&c->from->tensors[i])) &&
                    (changes(c, i) || gt_tensor_bytes(&c->from->tensors[i]) <= largest);
}

/* Does what comes out add little?  A reduction's is small; operators whose names end so write into an input. */
static bool adds_no_output(const struct gt_kernel_case *c)
{
    size_t length = strlen(c->operator_name);

    return c->family == GT_FAMILY_REDUCTION || (length > 0 && c->operator_name[length - 1] == '_');
}

static struct traffic traffic_of(const struct gt_kernel_case *c)
{
    double largest = 0, new_largest = 0;
    struct traffic t = { .row = 1, .new_row = 1 };
    bool counts[GT_MOST_INPUTS];

    choose_inputs(c, counts);

    for (int i = 0; i < c->from->count; i++) {
        const struct gt_tensor *from = &c->from->tensors[i], *to = &c->to->tensors[i];
        double bytes = gt_tensor_bytes(from);

        if (!counts[i])
            continue;
        t.from += bytes;
        t.to += gt_tensor_bytes(to);
        largest = fmax(largest, bytes);
        new_largest = fmax(new_largest, gt_tensor_bytes(to));
        if (gt_tensor_elements(from) <= t.elements)
            continue;
        t.elements = gt_tensor_elements(from);
        t.new_elements = gt_tensor_elements(to);
        t.row = from->sides > 0 ? (double)from->size[from->sides - 1] : 1;
        t.new_row = to->sides > 0 ? (double)to->size[to->sides - 1] : 1;
    }
    if (!adds_no_output(c)) { /* what comes out is taken to be as large as the largest input */
        t.from += largest;
        t.to += new_largest;
    }
    return t;
}

/* Which part of so many bytes is not found in L2. */
static double dram_part(const struct gt_device *device, double bytes)
{
    double held = device->kernel.l2_holds_part * (double)device->warp.l2_bytes;
    double spilt = device->kernel.l2_spills_part * (double)device->warp.l2_bytes;

    return bytes <= held ? 0 : bytes >= spilt ? 1 : (bytes - held) / (spilt - held);
}

/* How long so many bytes take at least. */
static double bytes_us(const struct gt_device *device, double bytes)
{
    const struct gt_kernel_costs *costs = &device->kernel;
    double part = dram_part(device, bytes),
           l2 = device->warp.l2_read_bytes_per_cycle * device->clock_mhz * costs->l2_part;
    double dram = device->warp.dram_gbps * device->warp.dram_efficiency * costs->dram_part * 1e3;

    return bytes / ((1 - part) * l2 + part * dram);
}

static double waves(const struct gt_kernel_case *c)
{
    struct gt_occupancy occupancy;
    struct gt_error ignored;

    if (gt_occupancy_of(c->device, c->kernel, &occupancy, &ignored) != 0)
        occupancy.blocks_per_sm = 1;
    return (double)gt_kernel_blocks(c->kernel) / ((double)c->device->sms * occupancy.blocks_per_sm);
}

/* Normalisations of a batch have a block for each channel, however many images there are. */
static bool grid_stays(const struct gt_kernel_case *c)
{
    double blocks = (double)gt_kernel_blocks(c->kernel);

    if (strstr(c->operator_name, "batch_norm") == NULL)
        return false;
    for (int i = 0; i < c->from->count; i++)
        if (gt_tensors_alike(&c->from->tensors[i], &c->to->tensors[i]) &&
            gt_tensor_elements(&c->from->tensors[i]) == blocks)
            return true;
    return false;
}

/* Its time has three parts: a start, what its bytes take at least, and the rest, which is latencies or arithmetic of its
 * blocks: it grows once they are more than a wave, and with a row where a block does one. */
static double streaming_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    double start_us = fmin((double)costs->least_ps / 1e6, 0.9 * c->took_us),
           unsure_us = (double)costs->unsure_ps / 1e6;
    double threads = (double)gt_kernel_blocks(c->kernel) * (double)gt_kernel_threads(c->kernel);
    struct traffic t = traffic_of(c);
    double growth = ratio(t.to, t.from), least_us = bytes_us(c->device, t.from), now = waves(c), rest, moved;
    double rows =
        c->family == GT_FAMILY_NORMALIZATION || c->family == GT_FAMILY_SOFTMAX ? ratio(t.new_row, t.row) : 1;

    if (named(c, "embedding_backward_feature")) /* goes over all places one by one */
        return after_start_us(c, costs->least_ps, growth);
    if (grid_stays(c))
        rest =
            filled(t.to / threads / costs->busy_thread_bytes) / filled(t.from / threads / costs->busy_thread_bytes);
    else if (t.from / threads > costs->thread_bytes)
        return c->took_us;
    else
        rest = rows * filled(now * growth / rows) / filled(now);
    moved = fmin(1, (c->took_us - start_us + unsure_us) / (least_us + unsure_us));
    if (moved > 0.5) /* faster than others from L2, but not from DRAM; what is far faster does not touch all bytes */
        moved += (1 - moved) * dram_part(c->device, t.to);
    return start_us + moved * bytes_us(c->device, t.to) + fmax(0, c->took_us - start_us - least_us) * rest;
}

/* Attention: of each sequence and head, as many tiles of queries as its length has, each of which goes over all keys. */

struct attention {
    double tiles, keys;
};

enum { TILE = 128, PLAIN_TILE = 64 };

static bool tiles_of(const struct gt_kernel_case *c, const struct gt_inputs *inputs, struct attention *attention)
{
    struct gt_attention sizes;
    double tile;

    if (!gt_attention_of(c->operator_name, inputs, &sizes))
        return false;
    tile = sizes.element_bytes == 4 ? PLAIN_TILE : TILE;
    attention->tiles = sizes.batch * sizes.heads * ceil(sizes.queries / tile);
    attention->keys = ceil(sizes.keys / tile) * tile;
    return true;
}

static double attention_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    bool plain = c->from->tensors[0].element_bytes == 4;
    double extra = plain ? 0 : costs->attention_extra_keys;
    double places = plain ? (double)gt_kernel_blocks(c->kernel) / waves(c) : c->device->sms;
    struct attention from, to;

    if (!tiles_of(c, c->from, &from) || !tiles_of(c, c->to, &to))
        return streaming_us(c);
    return after_start_us(c, plain ? costs->plain_attention_start_ps : costs->attention_start_ps,
                          (to.keys + extra) / (from.keys + extra) * filled(to.tiles / places) /
                              filled(from.tiles / places));
}

/* Convolutions. */

/* The matrix product that the kernel makes of it; false where that is not known, or none. */
static bool convolution_product(const struct gt_kernel_case *c, const struct gt_inputs *inputs,
                                struct gt_product *product)
{
    enum gt_work_part part = gt_work_part_of(c->operator_name, c->name);
    struct gt_convolution convolution;

    if (!gt_convolution_of(c->operator_name, inputs, &convolution) ||
        (convolution.backward && part == GT_WORK_MAIN)) /* of which gradient, nobody says */
        return false;
    *product =
        (struct gt_product){ .precision = gt_precision_of(&convolution.images, c->name), .form = GT_PRODUCT_TN };
    return gt_convolution_product(&convolution,
                                  part == GT_WORK_WEIGHT_GRADIENT  ? &convolution.weights
                                  : part == GT_WORK_INPUT_GRADIENT ? &convolution.images
                                                                   : &convolution.out,
                                  product);
}

/* Without a product to sum up, as of filters with one channel, a kernel has no long start. */
static uint64_t convolution_start_ps(const struct gt_kernel_case *c)
{
    struct gt_convolution convolution;
    bool one_channel = gt_convolution_of(c->operator_name, c->from, &convolution) && convolution.weights.size[1] == 1;

    return one_channel ? c->device->kernel.least_ps : c->device->kernel.convolution_start_ps;
}

static double convolution_us(const struct gt_kernel_case *c, struct gt_product_sweep *sweep)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    struct traffic t = traffic_of(c);
    double now = (double)gt_kernel_blocks(c->kernel) / c->device->sms, growth = ratio(t.new_elements, t.elements);
    struct gt_product from, to;

    if (!gt_convolution_multiplies(c->name))
        return streaming_us(c);
    if (convolution_product(c, c->from, &from) && convolution_product(c, c->to, &to))
        return after_start_us(c, costs->least_ps,
                              gt_product_from_us(&from, c->took_us, &to, costs->convolution_fading, sweep) /
                                  c->took_us);
    return after_start_us(c, convolution_start_ps(c), filled(now * growth) / filled(now));
}

/* Kernels of a convolution may be those of matrix products. */
static bool is_of_convolution(const struct gt_kernel_case *c)
{
    return c->family == GT_FAMILY_CONVOLUTION ||
           (gt_is_convolution(c->operator_name) && gt_work_part_of(c->operator_name, c->name) != GT_WORK_HELP);
}

static bool only_types_change(const struct gt_kernel_case *c);
static double typed_us(const struct gt_kernel_case *c);

static double after_us(const struct gt_kernel_case *c, struct gt_product_sweep *sweep)
{
    struct gt_product from, to;

    if (c->product_us > 0 && gt_product_of(c->operator_name, c->from, c->name, &from) &&
        gt_product_of(c->operator_name, c->to, c->name, &to))
        return gt_product_from_us(&from, c->product_us, &to, GT_PRODUCT_FADING, sweep) / c->product_us * c->took_us;
    if (only_types_change(c))
        return typed_us(c);
    if (is_of_convolution(c))
        return convolution_us(c, sweep);
    return c->family == GT_FAMILY_ATTENTION ? attention_us(c) : streaming_us(c);
}

double gt_kernel_time_factor(const struct gt_kernel_case *c, struct gt_product_sweep *sweep)
{
    double factor;

    if (c->took_us <= 0 || memcmp(c->from, c->to, sizeof *c->from) == 0)
        return 1;
    factor = after_us(c, sweep) / c->took_us;
    return isfinite(factor) && factor > 0 ? factor : 1; /* of sizes of 0, or beyond all memory */
}

/* As many blocks as the device has SMs, or a few times that, all at once: made for the device, not for the work. */
static bool made_for_device(const struct gt_kernel_case *c)
{
    return gt_kernel_blocks(c->kernel) % c->device->sms == 0 && waves(c) <= 1;
}

double gt_kernel_grid_factor(const struct gt_kernel_case *c)
{
    struct traffic t = traffic_of(c);
    struct gt_product from, to;

    if (made_for_device(c) || grid_stays(c))
        return 1;
    if (gt_product_of(c->operator_name, c->from, c->name, &from) &&
        gt_product_of(c->operator_name, c->to, c->name, &to))
        return to.batch * to.m * to.n / (from.batch * from.m * from.n);
    return ratio(t.new_elements, t.elements);
}

/* Other types, the same sizes. */

static bool only_types_change(const struct gt_kernel_case *c)
{
    for (int i = 0; i < c->from->count; i++)
        if (changes(c, i))
            return false;
    return true;
}

/* Of all inputs, and of what comes out. */
static struct traffic typed_traffic(const struct gt_kernel_case *c)
{
    struct traffic t = { .from = 0 };
    double largest = 0, new_largest = 0;

    for (int i = 0; i < c->from->count; i++) {
        t.from += gt_tensor_bytes(&c->from->tensors[i]);
        t.to += gt_tensor_bytes(&c->to->tensors[i]);
        if (gt_tensor_bytes(&c->from->tensors[i]) > largest) {
            largest = gt_tensor_bytes(&c->from->tensors[i]);
            new_largest = gt_tensor_bytes(&c->to->tensors[i]);
        }
    }
    if (!adds_no_output(c)) {
        t.from += largest;
        t.to += new_largest;
    }
    return t;
}

/* Its bytes change, its elements, blocks and their latencies do not. */
static double typed_streaming_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    double start_us = fmin((double)costs->least_ps / 1e6, 0.9 * c->took_us),
           unsure_us = (double)costs->unsure_ps / 1e6;
    double threads = (double)gt_kernel_blocks(c->kernel) * (double)gt_kernel_threads(c->kernel);
    struct traffic t = typed_traffic(c);
    double least_us = bytes_us(c->device, t.from), moved;

    if (c->family == GT_FAMILY_EMBEDDING) /* reads a part of its table */
        return after_start_us(c, costs->least_ps, ratio(t.to, t.from));
    if (t.from / threads > costs->thread_bytes)
        return c->took_us;
    moved = fmin(1, (c->took_us - start_us + unsure_us) / (least_us + unsure_us));
    return start_us + moved * bytes_us(c->device, t.to) + fmax(0, c->took_us - start_us - least_us);
}

/* How long an SM is busy with attention's scores, of which tensor cores do more at a time. */
static double scores_us(const struct gt_kernel_case *c, const struct gt_inputs *inputs, const struct attention *a)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    const struct gt_tensor *q = &inputs->tensors[strstr(c->operator_name, "backward") != NULL];
    bool plain = q->element_bytes == 4;
    double keys = a->keys + (plain ? 0 : costs->attention_extra_keys);
    double rate = plain ? costs->plain_attention_scores / sqrt(fmax(1, (double)q->size[3])) : costs->attention_scores;

    return filled(a->tiles / c->device->sms) * (plain ? PLAIN_TILE : TILE) * keys / (rate * c->device->clock_mhz);
}

/* There is no flash attention of 32-bit numbers: the memory-efficient kernel does it. */
static double typed_attention_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    bool plain = c->to->tensors[0].element_bytes == 4, was_plain = c->from->tensors[0].element_bytes == 4;
    double start_us = (double)(was_plain ? costs->plain_attention_start_ps : costs->attention_start_ps) / 1e6;
    double new_start_us = (double)(plain ? costs->plain_attention_start_ps : costs->attention_start_ps) / 1e6;
    struct attention from, to;

    if (plain == was_plain)
        return c->took_us;
    if (!tiles_of(c, c->from, &from) || !tiles_of(c, c->to, &to))
        return typed_streaming_us(c);
    start_us = fmin(start_us, 0.5 * c->took_us);
    return new_start_us + (c->took_us - start_us) * scores_us(c, c->to, &to) / scores_us(c, c->from, &from);
}

/* Tensor cores take half as long for elements of half the bytes, TF32 for four bytes: what PyTorch allows in convolutions. */
static double typed_convolution_us(const struct gt_kernel_case *c)
{
    struct traffic t = typed_traffic(c);
    double growth = ratio(c->to->tensors[0].element_bytes, c->from->tensors[0].element_bytes);
    double us = after_start_us(c, c->device->kernel.convolution_start_ps, growth);

    return gt_convolution_multiplies(c->name)
               ? (growth < 1 ? fmax(us, fmin(c->took_us, bytes_us(c->device, t.to))) : us)
               : typed_streaming_us(c);
}

static double typed_us(const struct gt_kernel_case *c)
{
    switch (c->family) {
    case GT_FAMILY_ATTENTION: return typed_attention_us(c);
    case GT_FAMILY_CONVOLUTION: return typed_convolution_us(c);
    default: return typed_streaming_us(c);
    }
}
