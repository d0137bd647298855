/* network.cu - operators as launches of their own, a part a block; the memory that they share, and what the CPU makes of
 * their inputs. */
#include "kernels/executor/network.cuh"

namespace {

const float MOST = 0.25f;  /* of the numbers in a fresh memory: sums of some hundred products do not saturate every gate */

struct operator_arguments {
    float *memory;
    struct gt_network_part first;
};

__host__ __device__ inline struct gt_network_part part_at(struct gt_network_part part, uint32_t index)
{
    if (part.work == GT_EXECUTOR_PRODUCT) {
        part.places[0] += index * part.rows * part.columns;
        part.places[2] += index * part.rows;
    } else {
        for (int i = 0; i < GT_NETWORK_CELL_PLACES; i++)
            part.places[i] += index * part.rows;
    }
    return part;
}

__global__ void network_operator(struct operator_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    struct gt_network_part part = part_at(arguments.first, (uint32_t)this_block());
    if (part.work == GT_EXECUTOR_PRODUCT)
        network_product(arguments.memory, part.rows, part.columns, part.places);
    else
        network_cell(arguments.memory, part.rows, part.places);
    log_end(log);
}

struct operator_arguments layout(const struct gt_gpu_launch *launch)
{
    return {launch->network, *launch->part};
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (!launch->part)
        return gt_error_set(error, "it works in a trace's memory; give it the places there, \"at\":\"0 65536 65792\"");
    if (launch->part->work == GT_EXECUTOR_PRODUCT && launch->part->columns % 4)
        return gt_error_set(error, "%u columns; give a multiple of 4", launch->part->columns);
    if (launch_block_threads(launch) % 32)
        return gt_error_set(error, "%u threads a block; give whole warps", launch_block_threads(launch));
    return 0;
}

double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

void compare_product(const float *memory, const struct gt_network_part *part, struct gt_reference_norm *norm)
{
    const float *matrix = memory + part->places[0], *vector = memory + part->places[1];
    for (uint32_t row = 0; row < part->rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < part->columns; i++)
            sum += (double)matrix[(uint64_t)row * part->columns + i] * vector[i];
        gt_reference_add(norm, memory[part->places[2] + row], sum);
    }
}

void compare_cell(const float *memory, const struct gt_network_part *part, struct gt_reference_norm *norm)
{
    for (uint32_t i = 0; i < part->rows; i++) {
        double gates[4];
        for (int gate = 0; gate < 4; gate++)
            gates[gate] = (double)memory[part->places[2 * gate] + i] + memory[part->places[2 * gate + 1] + i];
        double kept = logistic(gates[1]) * memory[part->places[8] + i] + logistic(gates[0]) * tanh(gates[2]);
        gt_reference_add(norm, memory[part->places[9] + i], kept);
        gt_reference_add(norm, memory[part->places[10] + i], logistic(gates[3]) * tanh(kept));
    }
}

uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

const char *const works[] = {"product", "cell"};
const struct gt_kernel_parameter parameters[] = {
    {"work", "", "a matrix by a vector, or an LSTM's cell", 0, 1, 0, works},
    {"rows", "", "elements of the result that a block works out", 1, 1 << 20, 16, nullptr},
    {"columns", "", "of the matrix", 1, 1 << 20, 256, nullptr},
};

}

uint32_t gt_network_places(enum gt_executor_work work)
{
    return work == GT_EXECUTOR_PRODUCT ? GT_NETWORK_PRODUCT_PLACES : work == GT_EXECUTOR_CELL ? GT_NETWORK_CELL_PLACES : 0;
}

struct gt_network_part gt_network_part_at(const struct gt_network_part *first, uint32_t index)
{
    return part_at(*first, index);
}

uint64_t gt_network_end(const struct gt_network_part *part)
{
    uint64_t end = 0;
    if (part->work == GT_EXECUTOR_PRODUCT)
        return later(part->places[0] + (uint64_t)part->rows * part->columns,
                     later(part->places[1] + (uint64_t)part->columns, part->places[2] + (uint64_t)part->rows));
    for (int i = 0; i < GT_NETWORK_CELL_PLACES; i++)
        end = later(end, part->places[i] + (uint64_t)part->rows);
    return end;
}

cudaError_t gt_network_fill(float *memory, uint64_t floats, uint64_t seed, cudaStream_t stream)
{
    return fill_floats(memory, floats, seed, -MOST, MOST, stream);
}

void gt_network_compare(const float *memory, const struct gt_network_part *part, struct gt_reference_norm *norm)
{
    if (part->work == GT_EXECUTOR_PRODUCT)
        compare_product(memory, part, norm);
    else
        compare_cell(memory, part, norm);
}

extern "C" const struct gt_library_kernel gt_kernel_operator = {
    .name = "operator",
    .help = "one of a network's operators, a part of its result a block; the player holds it against FP64",
    .restriction = "in a trace, whole warps",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<network_operator>>,
    .scratch_bytes = nullptr,
    .fill = nullptr,
    .launch = launch_of<only<network_operator>, layout>,
    .verify = nullptr,
};
