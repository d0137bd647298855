#include "sim/shapes/kernel_time.h"

#include <math.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/shapes/roles.h"

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

static bool attention_of(const struct gt_kernel_case *c, const struct gt_inputs *inputs, struct attention *attention)
{
    int first = strstr(c->operator_name, "backward") != NULL; /* the gradient comes before the queries */
    const struct gt_tensor *q = &inputs->tensors[first], *k = q + 1;
    const char *roles = gt_roles_of(c->operator_name);
    int seq = roles[0] == GT_ROLE_HEADS_LAST ? 1 : 2;
    double tile = q->element_bytes == 4 ? PLAIN_TILE : TILE;

    if (inputs->count < first + 3 || q->sides != 4 || k->sides != 4 || roles[0] == '\0')
        return false;
    attention->tiles = (double)q->size[0] * (double)q->size[3 - seq] * ceil((double)q->size[seq] / tile);
    attention->keys = ceil((double)k->size[seq] / tile) * tile;
    return attention->tiles > 0 && attention->keys > 0;
}

static double attention_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    bool plain = c->from->tensors[0].element_bytes == 4;
    double extra = plain ? 0 : costs->attention_extra_keys;
    double places = plain ? (double)gt_kernel_blocks(c->kernel) / waves(c) : c->device->sms;
    struct attention from, to;

    if (!attention_of(c, c->from, &from) || !attention_of(c, c->to, &to))
        return streaming_us(c);
    return after_start_us(c, plain ? costs->plain_attention_start_ps : costs->attention_start_ps,
                          (to.keys + extra) / (from.keys + extra) * filled(to.tiles / places) /
                              filled(from.tiles / places));
}

/* Convolutions that multiply, not those that only turn data round for them. */
static bool multiplies(const struct gt_kernel_case *c)
{
    static const char *const others[] = { "nchwto",  "nhwcto",      "nhwcadd", "init_device",
                                          "offsets", "scalepacked", "reduc" };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (named(c, others[i]))
            return false;
    return true;
}

static double convolution_us(const struct gt_kernel_case *c)
{
    const struct gt_kernel_costs *costs = &c->device->kernel;
    struct traffic t = traffic_of(c);
    double now = (double)gt_kernel_blocks(c->kernel) / c->device->sms, growth = ratio(t.new_elements, t.elements);

    if (!multiplies(c))
        return streaming_us(c);
    growth = named(c, "wgrad") ? pow(growth, costs->weight_gradient_power) : filled(now * growth) / filled(now);
    return after_start_us(c, costs->convolution_start_ps, growth);
}

static double after_us(const struct gt_kernel_case *c, struct gt_product_sweep *sweep)
{
    struct gt_product from, to;

    if (c->product_us > 0 && gt_product_of(c->operator_name, c->from, c->name, &from) &&
        gt_product_of(c->operator_name, c->to, c->name, &to))
        return gt_product_from_us(&from, c->product_us, &to, sweep) / c->product_us * c->took_us;
    switch (c->family) {
    case GT_FAMILY_ATTENTION: return attention_us(c);
    case GT_FAMILY_CONVOLUTION: return convolution_us(c);
    default: return streaming_us(c);
    }
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
