/* lstm.cu - networks of LSTM cells as task graphs for the executor: layers over steps, or an encoder and a decoder
 * behind it that is fed what it said last. A cell is `parts` tasks, each some of its units. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/persistent.cuh"
#include "kernels/base/reference.h"
#include "kernels/executor/executor.cuh"

namespace {

enum { GATES = 4, MOST_HIDDEN = 1024 };
enum network { LSTM, SEQ2SEQ };
const double TOLERANCE = 1e-4;

struct cell {
    uint32_t layer;   /* whose weights */
    int32_t below;    /* the cell whose output goes in; -1 - i: input i */
    int32_t before;   /* of the step before; -1: none, zeros */
};

struct shape {
    uint32_t network, layers, steps, decoder_layers, decoder_steps, hidden, parts, policy;
    uint32_t cells, weight_layers;
};

/* The graph, where it lies on the GPU: in its memory, since to work that out takes long. */
struct placed {
    struct gt_executor walk;
    uint32_t *state;
    const uint32_t *initial;  /* what that is before a launch */
    uint64_t state_words;
};

struct arguments_type {
    struct placed *placed;
    uint32_t *ended;
    const struct cell *cells;
    const float *inputs, *weights;  /* steps x hidden; by layer, gate and unit 2 x hidden: of the input, of the state */
    float *outputs, *memories;      /* by cell */
    char *image;                    /* the graph's arrays */
    uint32_t hidden, parts;
};

/* ---- On the GPU ---- */

__device__ inline float logistic(float x)
{
    return 1 / (1 + expf(-x));
}

/* A warp's gate: its row of weights times what goes in and what came out before; in `shared` one after the other. */
__device__ inline float gate(const float *row, const float *shared, uint32_t hidden)
{
    float sum = 0;
    for (uint32_t i = this_thread() % warpSize; i < 2 * hidden; i += warpSize)
        sum = fmaf(row[i], shared[i], sum);
    return warp_reduce<sum_of>(sum, warpSize);
}

__device__ void do_cell(const arguments_type &x, uint32_t number, uint32_t part, float *shared)
{
    struct cell cell = x.cells[number];
    uint32_t hidden = x.hidden, units = hidden / x.parts, warps = block_threads() / warpSize;
    const float *below = cell.below < 0 ? x.inputs + (uint64_t)(-1 - cell.below) * hidden
                                        : x.outputs + (uint64_t)cell.below * hidden;
    for (uint32_t i = this_thread(); i < hidden; i += block_threads()) {
        shared[i] = __ldcg(below + i);
        shared[hidden + i] = cell.before < 0 ? 0 : __ldcg(x.outputs + (uint64_t)cell.before * hidden + i);
    }
    __syncthreads();
    for (uint32_t unit = part * units + this_thread() / warpSize; unit < (part + 1) * units; unit += warps) {
        const float *row = x.weights + ((uint64_t)cell.layer * GATES * hidden + unit) * 2 * hidden;
        uint64_t apart = (uint64_t)hidden * 2 * hidden;  /* from gate to gate */
        float in = gate(row, shared, hidden), forget = gate(row + apart, shared, hidden);
        float fresh = gate(row + 2 * apart, shared, hidden), out = gate(row + 3 * apart, shared, hidden);
        if (this_thread() % warpSize == 0) {
            float kept = cell.before < 0 ? 0 : __ldcg(x.memories + (uint64_t)cell.before * hidden + unit);
            kept = logistic(forget) * kept + logistic(in) * tanhf(fresh);
            x.memories[(uint64_t)number * hidden + unit] = kept;
            x.outputs[(uint64_t)number * hidden + unit] = logistic(out) * tanhf(kept);
        }
    }
}

__global__ void lstm(arguments_type x, struct gt_block_log *log)
{
    __shared__ float values[2 * MOST_HIDDEN];
    __shared__ uint32_t next[EXECUTOR_SHARED_BYTES / sizeof(uint32_t)];
    log_begin(log);
    struct placed placed = *x.placed;
    executor_walk(placed.walk, next, [&](uint32_t task, const struct gt_executor_task &, uint64_t) {
        do_cell(x, task / x.parts, task % x.parts, values);
    });
    if (last_block(x.ended))
        for (uint64_t i = this_thread(); i < placed.state_words; i += block_threads())
            placed.state[i] = placed.initial[i];
    log_end(log);
}

/* ---- The graph ---- */

struct shape shape_of(const struct gt_gpu_launch *launch)
{
    struct shape s = {};
    s.network = (uint32_t)launch_argument(launch, 0);
    s.layers = (uint32_t)launch_argument(launch, 1);
    s.steps = (uint32_t)launch_argument(launch, 2);
    s.hidden = (uint32_t)launch_argument(launch, 3);
    s.parts = (uint32_t)launch_argument(launch, 4);
    s.policy = (uint32_t)launch_argument(launch, 5);
    if (s.network == SEQ2SEQ) {  /* the paper's: half as many layers, 30 steps to 100 */
        s.decoder_layers = (s.layers + 1) / 2;
        s.decoder_steps = (s.steps * 3 + 9) / 10;
    }
    s.cells = s.layers * s.steps + s.decoder_layers * s.decoder_steps;
    s.weight_layers = s.layers + s.decoder_layers;
    return s;
}

/* Cell `number`: steps one after the other, of each all layers. */
struct cell cell_of(const struct shape *s, uint32_t number)
{
    uint32_t encoder = s->layers * s->steps, layer = number % s->layers, step = number / s->layers;
    if (number < encoder)
        return {layer, layer > 0 ? (int32_t)number - 1 : -1 - (int32_t)step,
                step > 0 ? (int32_t)(number - s->layers) : -1};
    layer = (number - encoder) % s->decoder_layers;
    step = (number - encoder) / s->decoder_layers;
    /* What the encoder's last layers know at its end is where the decoder begins. */
    int32_t before = step > 0 ? (int32_t)(number - s->decoder_layers)
                              : (int32_t)(encoder - s->decoder_layers + layer);
    return {s->layers + layer, (int32_t)number - 1, before};
}

/* Every part of a cell waits for all parts of the two that it needs; the caller frees plan->tasks and what else it
 * points to by free_plan(). */
struct gt_executor_plan make_plan(const struct shape *s, uint32_t workers)
{
    uint32_t tasks = s->cells * s->parts, waits = 0;
    auto *task = (struct gt_executor_task *)gt_calloc(tasks, sizeof(struct gt_executor_task));
    auto *wait = (struct gt_executor_wait *)gt_calloc(2ull * s->cells, sizeof(struct gt_executor_wait));
    auto *signal = (uint32_t *)gt_calloc(s->cells, sizeof(uint32_t));
    auto *worker = (uint32_t *)gt_calloc(tasks, sizeof(uint32_t));
    for (uint32_t number = 0; number < s->cells; number++) {
        struct cell cell = cell_of(s, number);
        uint32_t first = waits;
        signal[number] = number;
        if (cell.below >= 0)
            wait[waits++] = {(uint32_t)cell.below, s->parts};
        if (cell.before >= 0 && cell.before != cell.below)
            wait[waits++] = {(uint32_t)cell.before, s->parts};
        for (uint32_t part = 0; part < s->parts; part++) {
            struct gt_executor_task *t = &task[number * s->parts + part];
            t->first_wait = first;
            t->waits = (uint16_t)(waits - first);
            t->first_signal = number;
            t->signals = 1;
            worker[number * s->parts + part] = (cell.layer * s->parts + part) % workers;  /* it keeps its weights */
        }
    }
    struct gt_executor_plan plan = {};
    plan.policy = (enum gt_executor_policy)s->policy;
    plan.workers = workers;
    plan.tasks = task;
    plan.task_count = tasks;
    plan.task_workers = worker;
    plan.waits = wait;
    plan.signals = signal;
    plan.initial = (uint32_t *)gt_calloc(s->cells, sizeof(uint32_t));
    plan.counter_count = s->cells;
    return plan;
}

void free_plan(struct gt_executor_plan *plan)
{
    free((void *)plan->tasks);
    free((void *)plan->waits);
    free((void *)plan->signals);
    free((void *)plan->task_workers);
    free((void *)plan->initial);
}

/* The arrangement of the launch's graph: gt_executor_image_free(). */
struct gt_executor_image image_of(const struct gt_gpu_launch *launch)
{
    struct shape s = shape_of(launch);
    struct gt_executor_plan plan = make_plan(&s, (uint32_t)launch_blocks(launch));
    struct gt_executor_image image = {};
    struct gt_error ignored;
    gt_executor_image_make(&plan, &image, &ignored);  /* accepts() has looked at what could be wrong */
    free_plan(&plan);
    return image;
}

arguments_type layout(const struct gt_gpu_launch *launch)
{
    struct shape s = shape_of(launch);
    char *at = (char *)launch->scratch;
    arguments_type x = {};
    auto array = [&](uint64_t size) {
        char *here = at;
        at += scratch_array(size);
        return here;
    };
    x.placed = (struct placed *)array(sizeof *x.placed);
    x.ended = (uint32_t *)array(sizeof(uint32_t));
    x.cells = (const struct cell *)array(s.cells * sizeof(struct cell));
    x.inputs = (const float *)array((uint64_t)s.steps * s.hidden * sizeof(float));
    x.weights = (const float *)array((uint64_t)s.weight_layers * GATES * s.hidden * 2 * s.hidden * sizeof(float));
    x.outputs = (float *)array((uint64_t)s.cells * s.hidden * sizeof(float));
    x.memories = (float *)array((uint64_t)s.cells * s.hidden * sizeof(float));
    x.image = at;
    x.hidden = s.hidden;
    x.parts = s.parts;
    return x;
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    struct gt_executor_image image = image_of(launch);
    size_t bytes = scratch_array(image.graph_bytes) + 2 * scratch_array(image.state_bytes);
    gt_executor_image_free(&image);
    return (size_t)(layout(launch).image - (char *)launch->scratch) + bytes;
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    struct shape s = shape_of(launch);
    if (s.hidden % s.parts)
        return gt_error_set(error, "%u units in %u parts; give a part of equal size", s.hidden, s.parts);
    if (launch_block_threads(launch) % 32)
        return gt_error_set(error, "%u threads a block; give whole warps", launch_block_threads(launch));
    return 0;
}

float scale_of(uint32_t hidden)
{
    return 1 / sqrtf((float)hidden);
}

cudaError_t upload(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
}

cudaError_t fill_graph(const arguments_type *x, const struct gt_executor_image *image, cudaStream_t stream)
{
    char *state = x->image + scratch_array(image->graph_bytes), *initial = state + scratch_array(image->state_bytes);
    struct placed placed = {gt_executor_place(image, x->image, state), (uint32_t *)state, (uint32_t *)initial,
                            image->state_bytes / sizeof(uint32_t)};
    cudaError_t status = upload(x->image, image->graph, image->graph_bytes, stream);
    if (status == cudaSuccess)
        status = upload(state, image->state, image->state_bytes, stream);
    if (status == cudaSuccess)
        status = upload(initial, image->state, image->state_bytes, stream);
    if (status == cudaSuccess)
        status = upload(x->placed, &placed, sizeof placed, stream);
    return status == cudaSuccess ? cudaMemsetAsync(x->ended, 0, sizeof *x->ended, stream) : status;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct shape s = shape_of(launch);
    struct gt_executor_image image = image_of(launch);
    arguments_type x = layout(launch);
    struct cell *cells = (struct cell *)gt_calloc(s.cells, sizeof *cells);
    for (uint32_t i = 0; i < s.cells; i++)
        cells[i] = cell_of(&s, i);
    cudaError_t status = fill_graph(&x, &image, launch->stream);
    if (status == cudaSuccess)
        status = upload((void *)x.cells, cells, s.cells * sizeof *cells, launch->stream);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(launch->stream);  /* the host's copies go now */
    free(cells);
    gt_executor_image_free(&image);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.inputs, (uint64_t)s.steps * s.hidden, seed, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.weights, (uint64_t)s.weight_layers * GATES * s.hidden * 2 * s.hidden, seed + 1,
                             -scale_of(s.hidden), scale_of(s.hidden), launch->stream);
    return status;
}

/* ---- Checking ---- */

double gate_expected(const float *row, const double *in, const double *before, uint32_t hidden)
{
    double sum = 0;
    for (uint32_t i = 0; i < hidden; i++)
        sum += row[i] * in[i] + row[hidden + i] * before[i];
    return sum;
}

double logistic_expected(double x)
{
    return 1 / (1 + exp(-x));
}

/* All cells' outputs; the memories behind them. */
void expect(const struct shape *s, uint64_t seed, const float *weights, double *outputs)
{
    uint64_t hidden = s->hidden, all = s->cells * hidden, apart = hidden * 2 * hidden;
    double *in = (double *)gt_calloc(hidden, sizeof *in), *zeros = (double *)gt_calloc(hidden, sizeof *zeros);
    for (uint32_t number = 0; number < s->cells; number++) {
        struct cell cell = cell_of(s, number);
        const double *below = cell.below >= 0 ? outputs + (uint64_t)cell.below * hidden : in;
        const double *before = cell.before >= 0 ? outputs + (uint64_t)cell.before * hidden : zeros;
        for (uint64_t i = 0; i < hidden && cell.below < 0; i++)
            in[i] = random_float(seed, (uint64_t)(-1 - cell.below) * hidden + i, -1, 1);
        for (uint64_t unit = 0; unit < hidden; unit++) {
            const float *row = weights + (cell.layer * GATES * hidden + unit) * 2 * hidden;
            double kept = cell.before >= 0 ? outputs[all + (uint64_t)cell.before * hidden + unit] : 0;
            kept = logistic_expected(gate_expected(row + apart, below, before, s->hidden)) * kept +
                   logistic_expected(gate_expected(row, below, before, s->hidden)) *
                       tanh(gate_expected(row + 2 * apart, below, before, s->hidden));
            outputs[all + number * hidden + unit] = kept;
            outputs[number * hidden + unit] =
                logistic_expected(gate_expected(row + 3 * apart, below, before, s->hidden)) * tanh(kept);
        }
    }
    free(in);
    free(zeros);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct shape s = shape_of(launch);
    arguments_type x = layout(launch);
    uint64_t all = (uint64_t)s.cells * s.hidden, count = (uint64_t)s.weight_layers * GATES * s.hidden * 2 * s.hidden;
    float *weights = (float *)gt_calloc(count, sizeof *weights);
    double *expected = (double *)gt_calloc(2 * all, sizeof *expected);
    float *got = reference_fetch(x.outputs, all, error);
    struct gt_reference_norm norm = {};
    for (uint64_t i = 0; i < count; i++)
        weights[i] = random_float(seed + 1, i, -scale_of(s.hidden), scale_of(s.hidden));
    expect(&s, seed, weights, expected);
    for (uint64_t i = 0; got && i < all; i++)
        gt_reference_add(&norm, got[i], expected[i]);
    int result = got ? gt_reference_verdict(&norm, TOLERANCE, error) : -1;
    free(weights);
    free(expected);
    free(got);
    return result;
}

const char *const networks[] = {"lstm", "seq2seq"};
const char *const handings[] = {"shared", "ready", "steal", "static"};
const struct gt_kernel_parameter parameters[] = {
    {"network", "", "layers over steps; or an encoder of these and a decoder of half the layers, 3 steps to 10", 0, 1,
     0, networks},
    {"layers", "", "of the (first) network", 1, 64, 10, nullptr},
    {"steps", "", "of the (first) network", 1, 1000, 100, nullptr},
    {"hidden", "", "units of a cell", 32, MOST_HIDDEN, 256, nullptr},
    {"parts", "", "tasks of a cell", 1, 256, 16, nullptr},
    {"handing", "", "how blocks get their tasks", 0, 3, 3, handings},
};

}

extern "C" const struct gt_library_kernel gt_kernel_lstm = {
    .name = "lstm",
    .help = "LSTM cells as a task graph, layers over steps or encoder and decoder; checked by norm against FP64",
    .restriction = "whole warps, all blocks resident at once",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<lstm>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<lstm>, layout>,
    .verify = verify,
};
