/* flash_attention.cu - attention without its matrix of weights ever in memory, FP16 in and FP32 out, in the
 * loop orders of FlashAttention-1 (Dao 2022, algorithm 1: keys outside, queries inside, the output read,
 * rescaled and written at each step) and FlashAttention-2 (Dao 2023, algorithm 1: queries outside, the output
 * in registers). Each has a twin that fetches a step ahead with cp.async and one that copies, then works. */
#include <stdlib.h>

#include "kernels/base/reference.h"
#include "kernels/base/tensor.cuh"

namespace {

enum {
    TILE = 64, THREADS = 128, WARP_ROWS = 16,  /* queries and keys a tile; queries a warp */
    VERSIONS = 2, SYNCHRONOUS = 0, ASYNCHRONOUS = 1, BUFFERINGS = 2, HEADS_OF = 2
};
const float QUERY_RANGE = 4;    /* so that the weights differ */
const double TOLERANCE = 2e-3;  /* weights are rounded to FP16 before they meet the values */

struct attention_arguments {
    const __half *query, *key, *value;  /* heads x sequence x head */
    float *output;
    float2 *statistics;  /* version 1: greatest score and sum of weights of each row so far */
    uint32_t sequence, heads, head;
    float scale;         /* log2(e) / sqrt(head): weights are powers of two here */
};

typedef float scores_type[TILE / 8][4];
template <int HEAD> using output_type = float[HEAD / 8][4];

/* Of 4 lanes, which hold a row's columns between them. */
__device__ float greatest_of_row(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ float sum_of_row(float x)
{
    x += __shfl_xor_sync(0xffffffff, x, 1);
    return x + __shfl_xor_sync(0xffffffff, x, 2);
}

__device__ uint32_t pack(float low, float high)
{
    __half2 both = __floats2half2_rn(low, high);
    return *(uint32_t *)&both;
}

template <int HEAD>
__device__ void load_query(uint32_t (&query)[HEAD / 16][4], const uint4 *tile)
{
#pragma unroll
    for (int k = 0; k < HEAD / 16; k++)
        load_left<HEAD / 8>(query[k], tile, this_thread() / 32 * WARP_ROWS, 2 * k);
}

template <int HEAD>
__device__ void score(const uint32_t (&query)[HEAD / 16][4], const uint4 *key, float scale,
                      scores_type &scores)
{
#pragma unroll
    for (int x = 0; x < TILE / 8; x++)
        scores[x][0] = scores[x][1] = scores[x][2] = scores[x][3] = 0;
#pragma unroll
    for (int k = 0; k < HEAD / 16; k++)
#pragma unroll
        for (int x = 0; x < TILE / 16; x++) {
            uint32_t right[4];
            load_right_by_columns<HEAD / 8>(right, key, 16 * x, 2 * k);
            multiply_add(scores[2 * x], query[k], right[0], right[1]);
            multiply_add(scores[2 * x + 1], query[k], right[2], right[3]);
        }
#pragma unroll
    for (int x = 0; x < TILE / 8; x++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            scores[x][i] *= scale;
}

/* Of a lane's row 0 or 1. */
__device__ float greatest_score(const scores_type &scores, int row)
{
    float greatest = -INFINITY;
#pragma unroll
    for (int x = 0; x < TILE / 8; x++)
        greatest = fmaxf(greatest, fmaxf(scores[x][2 * row], scores[x][2 * row + 1]));
    return greatest_of_row(greatest);
}

/* Scores into weights; the sum of those of this lane. */
__device__ float weigh(scores_type &scores, int row, float greatest)
{
    float sum = 0;
#pragma unroll
    for (int x = 0; x < TILE / 8; x++)
#pragma unroll
        for (int i = 2 * row; i < 2 * row + 2; i++) {
            scores[x][i] = exp2f(scores[x][i] - greatest);
            sum += scores[x][i];
        }
    return sum;
}

template <int HEAD>
__device__ void add_values(const scores_type &weights, const uint4 *value, output_type<HEAD> &output)
{
#pragma unroll
    for (int k = 0; k < TILE / 16; k++) {
        const float (*w)[4] = &weights[2 * k];
        uint32_t left[4] = {pack(w[0][0], w[0][1]), pack(w[0][2], w[0][3]), pack(w[1][0], w[1][1]),
                            pack(w[1][2], w[1][3])};
#pragma unroll
        for (int x = 0; x < HEAD / 16; x++) {
            uint32_t right[4];
            load_right_by_rows<HEAD / 8>(right, value, 16 * k, 2 * x);
            multiply_add(output[2 * x], left, right[0], right[1]);
            multiply_add(output[2 * x + 1], left, right[2], right[3]);
        }
    }
}

template <int HEAD, int BUFFERING>
__device__ void bring(uint4 *to, const __half *from, uint64_t row)
{
    const uint4 *chunks = (const uint4 *)from + row * (HEAD / 8);
    if (BUFFERING == ASYNCHRONOUS)
        fetch_tile<TILE, HEAD / 8, THREADS>(to, chunks, HEAD / 8, this_thread());
    else
        copy_tile<TILE, HEAD / 8, THREADS>(to, chunks, HEAD / 8, this_thread());
}

/* Shared memory: tiles of queries, keys, values, two of each where they are fetched ahead; version 2 needs
 * its queries once. */
template <int HEAD>
__host__ __device__ constexpr unsigned tile_chunks(void)
{
    return TILE * HEAD / 8;
}

/* ---- Version 1: a head to a block; steps are (keys, queries) with queries running faster ---- */

template <int HEAD, int BUFFERING>
struct version_1 {
    enum { BUFFERS = 1 + BUFFERING, QUERIES = BUFFERS, RESIDENT = 1 };  /* at least, of blocks an SM */
    const attention_arguments &a;
    uint4 *queries, *keys, *values;
    uint64_t first;   /* row of the head among all heads' rows */
    uint32_t tiles;

    __device__ version_1(const attention_arguments &arguments, uint4 *shared)
        : a(arguments), queries(shared), keys(shared + QUERIES * tile_chunks<HEAD>()),
          values(keys + BUFFERS * tile_chunks<HEAD>()), tiles(arguments.sequence / TILE) {}
    __device__ uint64_t items(void) const { return a.heads; }
    __device__ uint32_t steps(void) const { return tiles * tiles; }
    __device__ void begin(uint64_t item) { first = item * a.sequence; }
    __device__ void end(void) const {}

    __device__ void bring_step(uint32_t step) const
    {
        uint32_t at = step % tiles, outer = step / tiles;
        bring<HEAD, BUFFERING>(queries + step % QUERIES * tile_chunks<HEAD>(), a.query, first + at * TILE);
        if (at > 0)
            return;
        bring<HEAD, BUFFERING>(keys + outer % BUFFERS * tile_chunks<HEAD>(), a.key, first + outer * TILE);
        bring<HEAD, BUFFERING>(values + outer % BUFFERS * tile_chunks<HEAD>(), a.value, first + outer * TILE);
    }

    /* This lane's part of a row of the output. */
    __device__ float2 *place(uint64_t row) const
    {
        return (float2 *)(a.output + row * HEAD) + this_thread() % 4;
    }

    __device__ void read(uint64_t row, float2 (&before)[HEAD / 8], float2 &had) const
    {
        had = a.statistics[row];
#pragma unroll
        for (int x = 0; x < HEAD / 8; x++)
            before[x] = place(row)[4 * x];
    }

    /* What the lane's row r had so far, and what it has of this tile, by their shares of the new sum. */
    __device__ void merge(uint64_t row, int r, const float2 (&before)[HEAD / 8], float2 had, float greatest,
                          float sum, const output_type<HEAD> &output) const
    {
        float most = fmaxf(had.x, greatest);
        float old_part = had.y * exp2f(had.x - most), new_scale = exp2f(greatest - most);
        float total = old_part + sum * new_scale;
        old_part /= total;
        new_scale /= total;
#pragma unroll
        for (int x = 0; x < HEAD / 8; x++)
            place(row)[4 * x] = make_float2(before[x].x * old_part + output[x][2 * r] * new_scale,
                                            before[x].y * old_part + output[x][2 * r + 1] * new_scale);
        __syncwarp();  /* the row's other lanes have read its statistics */
        if (this_thread() % 4 == 0)
            a.statistics[row] = make_float2(most, total);
    }

    __device__ void work_on(uint32_t step)
    {
        uint32_t at = step % tiles, outer = step / tiles;
        uint64_t row = first + at * TILE + this_thread() / 32 * WARP_ROWS + this_thread() % 32 / 4;
        uint32_t query[HEAD / 16][4];
        float2 before[2][HEAD / 8] = {}, had[2] = {{-INFINITY, 0}, {-INFINITY, 0}};
        scores_type scores;
        output_type<HEAD> output = {};
        if (outer > 0) {  /* early, since it takes long */
            read(row, before[0], had[0]);
            read(row + 8, before[1], had[1]);
        }
        load_query<HEAD>(query, queries + step % QUERIES * tile_chunks<HEAD>());
        score<HEAD>(query, keys + outer % BUFFERS * tile_chunks<HEAD>(), a.scale, scores);
        float greatest[2] = {greatest_score(scores, 0), greatest_score(scores, 1)};
        float sum[2] = {sum_of_row(weigh(scores, 0, greatest[0])),
                        sum_of_row(weigh(scores, 1, greatest[1]))};
        add_values<HEAD>(scores, values + outer % BUFFERS * tile_chunks<HEAD>(), output);
        merge(row, 0, before[0], had[0], greatest[0], sum[0], output);
        merge(row + 8, 1, before[1], had[1], greatest[1], sum[1], output);
    }
};

/* ---- Version 2: a tile of queries to a block; steps are keys ---- */

template <int HEAD, int BUFFERING>
struct version_2 {
    enum { BUFFERS = 1 + BUFFERING, QUERIES = 1, RESIDENT = 3 };
    const attention_arguments &a;
    uint4 *queries, *keys, *values;
    uint64_t first, query_row;  /* rows of the head and of the tile among all heads' rows */
    uint32_t tiles;
    uint32_t query[HEAD / 16][4];
    float greatest[2], sum[2];  /* of the lane's rows; the sums of its columns only */
    output_type<HEAD> output;

    __device__ version_2(const attention_arguments &arguments, uint4 *shared)
        : a(arguments), queries(shared), keys(shared + QUERIES * tile_chunks<HEAD>()),
          values(keys + BUFFERS * tile_chunks<HEAD>()), tiles(arguments.sequence / TILE) {}
    __device__ uint64_t items(void) const { return (uint64_t)a.heads * tiles; }
    __device__ uint32_t steps(void) const { return tiles; }

    __device__ void begin(uint64_t item)
    {
        first = item / tiles * a.sequence;
        query_row = item * TILE;
        greatest[0] = greatest[1] = -INFINITY;
        sum[0] = sum[1] = 0;
#pragma unroll
        for (int x = 0; x < HEAD / 8; x++)
            output[x][0] = output[x][1] = output[x][2] = output[x][3] = 0;
    }

    __device__ void bring_step(uint32_t step) const
    {
        if (step == 0)
            bring<HEAD, BUFFERING>(queries, a.query, query_row);
        bring<HEAD, BUFFERING>(keys + step % BUFFERS * tile_chunks<HEAD>(), a.key, first + step * TILE);
        bring<HEAD, BUFFERING>(values + step % BUFFERS * tile_chunks<HEAD>(), a.value, first + step * TILE);
    }

    __device__ void work_on(uint32_t step)
    {
        scores_type scores;
        if (step == 0)
            load_query<HEAD>(query, queries);
        score<HEAD>(query, keys + step % BUFFERS * tile_chunks<HEAD>(), a.scale, scores);
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float most = fmaxf(greatest[row], greatest_score(scores, row));
            float factor = exp2f(greatest[row] - most);
            greatest[row] = most;
            sum[row] = sum[row] * factor + weigh(scores, row, most);
#pragma unroll
            for (int x = 0; x < HEAD / 8; x++) {
                output[x][2 * row] *= factor;
                output[x][2 * row + 1] *= factor;
            }
        }
        add_values<HEAD>(scores, values + step % BUFFERS * tile_chunks<HEAD>(), output);
    }

    __device__ void end(void) const
    {
        uint64_t row = query_row + this_thread() / 32 * WARP_ROWS + this_thread() % 32 / 4;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float scale = 1 / sum_of_row(sum[r]);
            float2 *to = (float2 *)(a.output + (row + 8 * r) * HEAD) + this_thread() % 4;
#pragma unroll
            for (int x = 0; x < HEAD / 8; x++)
                to[4 * x] = make_float2(output[x][2 * r] * scale, output[x][2 * r + 1] * scale);
        }
    }
};

/* The steps of one item: fetched one ahead, or copied when their turn comes. */
template <class VERSION, int BUFFERING>
__device__ void attend(VERSION &version)
{
    uint32_t steps = version.steps();
    if (BUFFERING == ASYNCHRONOUS) {
        version.bring_step(0);
        __pipeline_commit();
    }
    for (uint32_t step = 0; step < steps; step++) {
        if (BUFFERING == SYNCHRONOUS) {
            version.bring_step(step);
        } else {
            if (step + 1 < steps)
                version.bring_step(step + 1);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        }
        __syncthreads();
        version.work_on(step);
        __syncthreads();
    }
}

template <template <int, int> class VERSION, int HEAD, int BUFFERING>
__global__ void __launch_bounds__(THREADS, VERSION<HEAD, BUFFERING>::RESIDENT)
flash_attention(attention_arguments arguments, struct gt_block_log *log)
{
    extern __shared__ uint4 shared[];
    log_begin(log);
    VERSION<HEAD, BUFFERING> version(arguments, shared);
    for (uint64_t item = this_block(); item < version.items(); item += grid_blocks()) {
        version.begin(item);
        attend<VERSION<HEAD, BUFFERING>, BUFFERING>(version);
        version.end();
    }
    log_end(log);
}

typedef void (*attention_function)(attention_arguments, struct gt_block_log *);
struct variant { attention_function function; uint32_t shared_bytes; };

template <template <int, int> class VERSION, int HEAD, int BUFFERING>
constexpr struct variant variant_of(void)
{
    typedef VERSION<HEAD, BUFFERING> version;
    return {flash_attention<VERSION, HEAD, BUFFERING>,
            (version::QUERIES + 2 * version::BUFFERS) * tile_chunks<HEAD>() * 16};
}

#define VARIANTS(VERSION) \
    {{variant_of<VERSION, 64, 0>(), variant_of<VERSION, 64, 1>()}, \
     {variant_of<VERSION, 128, 0>(), variant_of<VERSION, 128, 1>()}}
const struct variant variants[VERSIONS][HEADS_OF][BUFFERINGS] = {VARIANTS(version_1), VARIANTS(version_2)};

enum { VERSION_ARGUMENT, BUFFERING_ARGUMENT, HEAD_ARGUMENT, SEQUENCE_ARGUMENT, HEADS_ARGUMENT };
const int head_sizes[HEADS_OF] = {64, 128};

const struct variant *variant_for(const struct gt_gpu_launch *launch)
{
    return &variants[launch_argument(launch, VERSION_ARGUMENT) - 1][launch_argument(launch, HEAD_ARGUMENT)]
                    [launch_argument(launch, BUFFERING_ARGUMENT)];
}

uint64_t rows(const struct gt_gpu_launch *launch)
{
    return launch_argument(launch, SEQUENCE_ARGUMENT) * launch_argument(launch, HEADS_ARGUMENT);
}

attention_arguments layout(const struct gt_gpu_launch *launch)
{
    uint32_t head = head_sizes[launch_argument(launch, HEAD_ARGUMENT)];
    size_t halves = scratch_array(rows(launch) * head * sizeof(__half)), floats = 2 * halves;
    char *at = (char *)launch->scratch;
    return {(__half *)at, (__half *)(at + halves), (__half *)(at + 2 * halves), (float *)(at + 3 * halves),
            (float2 *)(at + 3 * halves + floats), (uint32_t)launch_argument(launch, SEQUENCE_ARGUMENT),
            (uint32_t)launch_argument(launch, HEADS_ARGUMENT), head, (float)(M_LOG2E / sqrt((double)head))};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    size_t halves = scratch_array(rows(launch) * head_sizes[launch_argument(launch, HEAD_ARGUMENT)] *
                                  sizeof(__half));
    return 5 * halves + scratch_array(rows(launch) * sizeof(float2));
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)variant_for(launch)->function;
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_block_threads(launch) != THREADS)
        return gt_error_set(error, "%u threads a block; give %d", launch_block_threads(launch), THREADS);
    if (launch_argument(launch, SEQUENCE_ARGUMENT) % TILE)
        return gt_error_set(error, "sequence is %llu; give a multiple of %d",
                            (unsigned long long)launch_argument(launch, SEQUENCE_ARGUMENT), TILE);
    return accepts_shared(launch, variant_for(launch)->shared_bytes, error);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    attention_arguments a = layout(launch);
    uint64_t count = rows(launch) * a.head;
    cudaError_t status = fill_halves((__half *)a.query, count, seed, -QUERY_RANGE, QUERY_RANGE,
                                     launch->stream);
    if (status == cudaSuccess)
        status = fill_halves((__half *)a.key, count, seed + 1, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_halves((__half *)a.value, count, seed + 2, -1, 1, launch->stream);
    return status;
}

cudaError_t launch_attention(const struct gt_gpu_launch *launch)
{
    return start(launch, variant_for(launch)->function, layout(launch), launch->log);
}

/* Row `row` of the output, by the definition; no maximum is subtracted: doubles hold these powers. */
void reference_row(const attention_arguments *a, uint64_t row, uint64_t seed, double *output)
{
    uint64_t first = row / a->sequence * a->sequence;
    double query[128], sum = 0;
    for (uint32_t i = 0; i < a->head; i++) {
        query[i] = as_half(random_float(seed, row * a->head + i, -QUERY_RANGE, QUERY_RANGE));
        output[i] = 0;
    }
    for (uint64_t key = first; key < first + a->sequence; key++) {
        double dot = 0;
        for (uint32_t i = 0; i < a->head; i++)
            dot += query[i] * as_half(random_float(seed + 1, key * a->head + i, -1, 1));
        double weight = exp(dot / sqrt((double)a->head));
        sum += weight;
        for (uint32_t i = 0; i < a->head; i++)
            output[i] += weight * as_half(random_float(seed + 2, key * a->head + i, -1, 1));
    }
    for (uint32_t i = 0; i < a->head; i++)
        output[i] /= sum;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t VALUE_COST = 64, FEWEST_ROWS = 32;  /* a row is many outputs: so few will do */
    attention_arguments a = layout(launch);
    float *got = reference_fetch(a.output, rows(launch) * a.head, error);
    if (!got)
        return -1;
    struct gt_reference_norm norm = {};
    uint64_t cost = a.sequence * a.head * VALUE_COST;
    struct gt_reference_sample sample = gt_reference_sample(rows(launch), cost, seed);
    if (sample.count < sample.total)
        sample.count = FEWEST_ROWS;
    for (uint64_t i = 0; i < sample.count; i++) {
        double expected[128];
        uint64_t row = gt_reference_place(&sample, i);
        reference_row(&a, row, seed, expected);
        for (uint32_t x = 0; x < a.head; x++)
            gt_reference_add(&norm, got[row * a.head + x], expected[x]);
    }
    free(got);
    return gt_reference_verdict(&norm, TOLERANCE, error);
}

const char *const buffering_names[BUFFERINGS] = {"sync", "async"};
const char *const head_names[HEADS_OF] = {"64", "128"};
const struct gt_kernel_parameter parameters[] = {
    {"version", "", "loop order: 1 keys outside, a head to a block; 2 queries outside, 64 of them to a block",
     1, VERSIONS, 2, nullptr},
    {"buffering", "", "tiles are copied when needed (sync) or fetched a step ahead (async)", 0,
     BUFFERINGS - 1, ASYNCHRONOUS, buffering_names},
    {"head", "", "values in a query", 0, HEADS_OF - 1, 0, head_names},
    {"sequence", "", "queries and keys of a head; a multiple of 64", TILE, 65536, 1024, nullptr},
    {"heads", "", "of the whole batch", 1, 65536, 64, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_flash_attention = {
    .name = "flash_attention",
    .help = "attention in the loop orders of FlashAttention-1 and -2, FP16 to FP32 on tensor cores, tiles"
            " copied or fetched ahead; checked by norm against FP64",
    .restriction = "blocks of 128 threads; dynamic shared memory for 3 tiles of 64 x head halves, 6"
                   " (version 1) or 5 (version 2) where fetched ahead",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_attention,
    .verify = verify,
};
