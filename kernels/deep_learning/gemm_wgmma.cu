/* gemm_wgmma.cu - C = A B with Hopper's WGMMA, FP16 in and FP32 out: 128 x 128 tiles of C. One warpgroup
 * fetches, two multiply 64 rows each; between them is a ring of stages with an mbarrier for "full" and one
 * for "empty" each. What fetches is the tensor memory accelerator, told by one thread, or cp.async by 128.
 *
 * B is kept by columns (n x k), as WGMMA likes it best. Stages are in the 128-byte swizzle, which is that of
 * tile_place<8>(). This file is compiled for sm_90a; elsewhere the kernel is empty, takes no shared memory
 * and is refused. Instructions: PTX ISA 8.0, "Asynchronous warpgroup level matrix instructions". */
#include <cuda.h>

#include "kernels/base/tensor.cuh"
#include "kernels/base/wgmma.cuh"
#include "kernels/deep_learning/gemm.cuh"

namespace {

enum {
    TILE = 128, DEPTH = 64, STAGES = 4, WARPGROUP = 128, CONSUMERS = 2, THREADS = (1 + CONSUMERS) * WARPGROUP,
    WGMMA_ROWS = 64, WGMMA_DEPTH = 16, SUMS = WGMMA_SUMS,
    CHUNKS = DEPTH / CHUNK_HALVES, TILE_CHUNKS = TILE * CHUNKS, STAGE_CHUNKS = 2 * TILE_CHUNKS,
    STAGE_BYTES = STAGE_CHUNKS * 16, ALIGNMENT = 1024, /* of a swizzled tile */
    SHARED_BYTES = STAGES * STAGE_BYTES + ALIGNMENT,
    IN_FLIGHT = 2                                      /* steps that a thread's cp.async run behind */
};
enum feeding { TMA, CP_ASYNC, FEEDINGS };
const double TOLERANCE = 1e-4;  /* tensor cores cut off where they add, rather than round */

typedef struct gemm_arguments<__half> arguments_type;
struct tensor_maps { CUtensorMap a, b; };

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ void barrier_start(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals));
}

__device__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

__device__ void barrier_arrive_expecting(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

/* Until the phase of that parity is over; a fresh barrier is as if one of parity 1 were. */
__device__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    unsigned over;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                     " selp.b32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(shared_address(barrier)), "r"(parity) : "memory");
    while (!over);
}

/* A box of DEPTH x TILE halves at (depth, row), counted in bytes by the barrier. */
__device__ void fetch_box(uint4 *to, const CUtensorMap *map, uint32_t depth, uint32_t row, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(to)), "l"(map), "r"(depth), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}

/* A place in the ring of stages; the parity of the phase in which that stage gets full. */
struct ring_place {
    unsigned stage = 0, parity = 0;
    __device__ void advance(void)
    {
        stage = stage + 1 < STAGES ? stage + 1 : 0;
        parity ^= stage == 0;
    }
};

/* Its thread 0 tells the accelerator what to fetch. */
__device__ void feed_by_tma(const struct tensor_maps &maps, const arguments_type &g, uint64_t tiles,
                            uint4 *stages, uint64_t *full, uint64_t *empty)
{
    struct ring_place place;
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        uint32_t row = (uint32_t)(tile / (g.n / TILE)) * TILE;
        uint32_t column = (uint32_t)(tile % (g.n / TILE)) * TILE;
        for (uint32_t depth = 0; depth < g.k; depth += DEPTH, place.advance()) {
            uint4 *to = stages + place.stage * STAGE_CHUNKS;
            barrier_wait(&empty[place.stage], place.parity ^ 1);
            barrier_arrive_expecting(&full[place.stage], STAGE_BYTES);
            fetch_box(to, &maps.a, depth, row, &full[place.stage]);
            fetch_box(to + TILE_CHUNKS, &maps.b, depth, column, &full[place.stage]);
        }
    }
}

/* A stage is full once each thread has seen its own copies end and made them known to WGMMA's proxy. */
__device__ void feed_by_cp_async(const arguments_type &g, uint64_t tiles, uint4 *stages, uint64_t *full,
                                 uint64_t *empty)
{
    struct ring_place place;
    uint64_t step = 0;
    unsigned thread = this_thread() % WARPGROUP;
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        uint32_t row = (uint32_t)(tile / (g.n / TILE)) * TILE;
        uint32_t column = (uint32_t)(tile % (g.n / TILE)) * TILE;
        const __half *a = g.a + (uint64_t)row * g.k, *b = g.b + (uint64_t)column * g.k;
        for (uint32_t depth = 0; depth < g.k; depth += DEPTH, step++, place.advance()) {
            uint4 *to = stages + place.stage * STAGE_CHUNKS;
            barrier_wait(&empty[place.stage], place.parity ^ 1);
            fetch_tile<TILE, CHUNKS, WARPGROUP>(to, (const uint4 *)(a + depth), g.k / CHUNK_HALVES, thread);
            fetch_tile<TILE, CHUNKS, WARPGROUP>(to + TILE_CHUNKS, (const uint4 *)(b + depth),
                                                g.k / CHUNK_HALVES, thread);
            __pipeline_commit();
            __pipeline_wait_prior(IN_FLIGHT);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            if (step >= IN_FLIGHT)
                barrier_arrive(&full[(step - IN_FLIGHT) % STAGES]);
        }
    }
    __pipeline_wait_prior(0);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (uint64_t left = step < IN_FLIGHT ? 0 : step - IN_FLIGHT; left < step; left++)
        barrier_arrive(&full[left % STAGES]);
}

/* One tile's 64 rows of this warpgroup. A stage is given back when the step after it is under way. */
__device__ void multiply_tile(uint32_t steps, unsigned group, const uint4 *stages, uint64_t *full,
                              uint64_t *empty, struct ring_place &place, float (&sums)[SUMS])
{
    unsigned before = 0;
    for (uint32_t step = 0; step < steps; step++, place.advance()) {
        const uint4 *a = stages + place.stage * STAGE_CHUNKS;
        barrier_wait(&full[place.stage], place.parity);
        uint64_t left = matrix_descriptor(a + group * WGMMA_ROWS * CHUNKS);
        uint64_t right = matrix_descriptor(a + TILE_CHUNKS);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int depth = 0; depth < DEPTH; depth += WGMMA_DEPTH)
            wgmma(sums, left + depth / CHUNK_HALVES, right + depth / CHUNK_HALVES);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step > 0 && this_thread() % 32 == 0)
            barrier_arrive(&empty[before]);
        before = place.stage;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (this_thread() % 32 == 0)
        barrier_arrive(&empty[before]);
}

__device__ void multiply(const arguments_type &g, uint64_t tiles, const uint4 *stages, uint64_t *full,
                         uint64_t *empty)
{
    struct ring_place place;
    unsigned group = this_thread() / WARPGROUP - 1, thread = this_thread() % WARPGROUP;
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        uint64_t row = tile / (g.n / TILE) * TILE + group * WGMMA_ROWS + thread / 32 * 16 + thread % 32 / 4;
        float *c = g.c + row * g.n + tile % (g.n / TILE) * TILE + thread % 4 * 2;
        float sums[SUMS] = {};
        multiply_tile(g.k / DEPTH, group, stages, full, empty, place, sums);
#pragma unroll
        for (int i = 0; i < SUMS; i += 4) {
            *(float2 *)&c[2 * i] = make_float2(sums[i], sums[i + 1]);
            *(float2 *)&c[8 * (uint64_t)g.n + 2 * i] = make_float2(sums[i + 2], sums[i + 3]);
        }
    }
}

#endif

template <enum feeding FEEDING>
__global__ void __launch_bounds__(THREADS) gemm_wgmma(const __grid_constant__ struct tensor_maps maps,
                                                      arguments_type g, struct gt_block_log *log)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ uint4 shared[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    log_begin(log);
    uint4 *stages = shared + (-shared_address(shared) & (ALIGNMENT - 1)) / sizeof *shared;
    uint64_t tiles = (uint64_t)(g.n / TILE) * (g.m / TILE);
    if (this_thread() == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_start(&full[i], FEEDING == TMA ? 1 : WARPGROUP);
            barrier_start(&empty[i], CONSUMERS * WARPGROUP / 32);  /* one lane a warp */
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (this_thread() >= WARPGROUP)
        multiply(g, tiles, stages, full, empty);
    else if (FEEDING == CP_ASYNC)
        feed_by_cp_async(g, tiles, stages, full, empty);
    else if (this_thread() == 0)
        feed_by_tma(maps, g, tiles, stages, full, empty);
    __syncwarp();
    log_end(log);
#endif
}

typedef void (*gemm_function)(struct tensor_maps, arguments_type, struct gt_block_log *);
const gemm_function functions[FEEDINGS] = {gemm_wgmma<TMA>, gemm_wgmma<CP_ASYNC>};

gemm_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 3)];
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)function(launch);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    struct cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, entry(launch)) != cudaSuccess || attributes.sharedSizeBytes == 0) {
        cudaGetLastError();
        return gt_error_set(error, "WGMMA needs a GPU of compute capability 9.0 and a library built for it;"
                            " configure with NVCC_ARCH for sm_90, or take gemm_cp_async");
    }
    if (gemm_accepts<__half>(launch, THREADS, TILE, DEPTH, error) != 0)
        return -1;
    return accepts_shared(launch, SHARED_BYTES, error);
}

/* B by columns: column `column` of B is row `column` here. */
__global__ void fill_turned(__half *to, uint32_t n, uint32_t k, uint64_t seed)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < (uint64_t)n * k;
         i += gridDim.x * blockDim.x)
        to[i] = __float2half(random_float(seed, i % k * n + i / k, -1, 1));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    const unsigned BLOCKS = 1024;
    arguments_type g = gemm_layout<__half>(launch);
    fill_turned<<<BLOCKS, WARPGROUP, 0, launch->stream>>>((__half *)g.b, g.n, g.k, seed + 1);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess)
        status = fill_halves((__half *)g.a, (uint64_t)g.m * g.k, seed, -1, 1, launch->stream);
    return status;
}

typedef decltype(&cuTensorMapEncodeTiled) encode_function;

/* The driver's function, through the runtime: programs are not linked with libcuda. NULL: it has none.
 * Looked up once; threads that look at the same time find the same. */
encode_function find_encode(void)
{
    static void *function;
    enum cudaDriverEntryPointQueryResult result;
    const unsigned CUDA_12 = 12000;
    if (!function && cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, CUDA_12,
                                                      cudaEnableDefault, &result) != cudaSuccess)
        return nullptr;
    return (encode_function)function;
}

/* `rows` of `columns` halves, fetched TILE by DEPTH. */
cudaError_t describe(encode_function encode, CUtensorMap *map, const __half *matrix, uint32_t rows,
                     uint32_t columns)
{
    const cuuint64_t sizes[2] = {columns, rows}, pitch[1] = {columns * sizeof *matrix};
    const cuuint32_t box[2] = {DEPTH, TILE}, steps[2] = {1, 1};
    CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)matrix, sizes, pitch, box,
                             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t launch_gemm(const struct gt_gpu_launch *launch)
{
    arguments_type g = gemm_layout<__half>(launch);
    struct tensor_maps maps = {};
    encode_function encode = find_encode();
    cudaError_t status = encode ? describe(encode, &maps.a, g.a, g.m, g.k) : cudaErrorNotSupported;
    if (status == cudaSuccess)
        status = describe(encode, &maps.b, g.b, g.n, g.k);
    if (status == cudaSuccess)
        status = start(launch, function(launch), maps, g, launch->log);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    return gemm_verify<__half>(launch, seed, as_half, TOLERANCE, error);
}

const char *const feeding_names[FEEDINGS] = {"tma", "cp_async"};
const struct gt_kernel_parameter parameters[] = {
    {"m", "", "rows of A and C; a multiple of 128", 128, 65536, 2048, nullptr},
    {"n", "", "columns of B and C; a multiple of 128", 128, 65536, 2048, nullptr},
    {"k", "", "columns of A, rows of B; a multiple of 64", 64, 65536, 2048, nullptr},
    {"feeding", "", "what fetches A and B: the tensor memory accelerator or cp.async", 0, FEEDINGS - 1, TMA,
     feeding_names},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gemm_wgmma = {
    .name = "gemm_wgmma",
    .help = "C = A B with Hopper's WGMMA, FP16 to FP32, B by columns, a 128 x 128 tile to a block at a time;"
            " checked by norm against FP64",
    .restriction = "GPUs of compute capability 9.0; blocks of 384 threads with 132,096 bytes of dynamic"
                   " shared memory",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = gemm_scratch_bytes<__half>,
    .fill = fill,
    .launch = launch_gemm,
    .verify = verify,
};
