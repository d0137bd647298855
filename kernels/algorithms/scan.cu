/* scan.cu - running sums of an array in one pass: a block scans a tile, then looks back over the tiles before
 * it until one knows its sum from the beginning (Merrill and Garland 2016, "Single-pass Parallel Prefix Scan
 * with Decoupled Look-back"). */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { HEAD_BYTES = 256, WARP = 32, MOST_WARPS = 32, EACH = 4 };  /* EACH values a thread and tile */
enum known { NOTHING, OF_TILE, FROM_BEGINNING };

/* Words that outlive a launch. The last block to end makes them ready for the next one. */
struct scan_head {
    unsigned next_tile;  /* handed out: a tile's predecessors are then done or being worked on */
    unsigned ended;      /* blocks so far */
    unsigned launches;   /* so far: states of earlier ones count as NOTHING */
};

struct scan_arguments {
    struct scan_head *head;
    uint64_t *states;  /* of each tile: the launch it is of, what is known, and that sum, in one word */
    const uint32_t *from;
    uint32_t *to;
    uint64_t count;
};

__host__ __device__ inline uint64_t tile_count(uint64_t count, unsigned threads)
{
    return (count + (uint64_t)threads * EACH - 1) / ((uint64_t)threads * EACH);
}

__device__ void tell(uint64_t *state, unsigned launch, enum known known, uint32_t sum)
{
    *(volatile uint64_t *)state = (uint64_t)launch << 34 | (uint64_t)known << 32 | sum;
}

__device__ enum known ask(const uint64_t *state, unsigned launch, uint32_t *sum)
{
    uint64_t word = *(const volatile uint64_t *)state;
    *sum = (uint32_t)word;
    return word >> 34 == (launch & 0x3fffffff) ? (enum known)(word >> 32 & 3) : NOTHING;
}

__device__ uint32_t warp_sums(uint32_t value)
{
    for (unsigned offset = 1; offset < WARP; offset *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffff, value, offset);
        if (this_thread() % WARP >= offset)
            value += other;
    }
    return value;
}

/* Sum of all tiles before `tile`, by one warp, WARP tiles at a time; all its lanes get it. */
__device__ uint32_t look_back(const uint64_t *states, int64_t tile, unsigned launch)
{
    uint32_t sum = 0;
    for (int64_t nearest = tile - 1; nearest >= 0; nearest -= WARP) {
        int64_t mine = nearest - this_thread() % WARP;
        uint32_t part = 0;
        enum known known = FROM_BEGINNING;  /* of nothing, before the first tile */
        do
            if (mine >= 0)
                known = ask(&states[mine], launch, &part);
        while (__any_sync(0xffffffff, known == NOTHING));
        unsigned whole = __ballot_sync(0xffffffff, known == FROM_BEGINNING);
        if (this_thread() % WARP < (unsigned)__ffs(whole) || whole == 0)
            sum += part;
        if (whole)
            break;
    }
    for (unsigned offset = WARP / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    return sum;
}

/* Exclusive sum of `value` over the block's threads; `total` of all. `shared` holds MOST_WARPS. */
__device__ uint32_t block_sums(uint32_t value, uint32_t *shared, uint32_t *total)
{
    unsigned warp = this_thread() / WARP, warps = block_threads() / WARP;
    uint32_t upto = warp_sums(value);
    if (this_thread() % WARP == WARP - 1)
        shared[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        uint32_t sums = warp_sums(this_thread() < warps ? shared[this_thread()] : 0);
        __syncwarp();
        shared[this_thread()] = sums;
    }
    __syncthreads();
    *total = shared[warps - 1];
    return upto - value + (warp ? shared[warp - 1] : 0);
}

__device__ void scan_tile(const scan_arguments &s, uint64_t tile, unsigned launch, uint32_t *shared,
                          uint32_t *before)
{
    uint64_t first = (tile * block_threads() + this_thread()) * EACH;
    uint32_t values[EACH] = {}, total, sum = 0;
    if (first + EACH <= s.count) {
        uint4 four = *(const uint4 *)&s.from[first];
        values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
    } else {
        for (int i = 0; i < EACH; i++)
            values[i] = first + i < s.count ? s.from[first + i] : 0;
    }
    for (int i = 0; i < EACH; i++)
        sum = values[i] += sum;
    uint32_t mine = block_sums(sum, shared, &total);
    if (this_thread() < WARP) {
        if (tile > 0 && this_thread() == 0)
            tell(&s.states[tile], launch, OF_TILE, total);
        uint32_t earlier = look_back(s.states, (int64_t)tile, launch);
        if (this_thread() == 0) {
            tell(&s.states[tile], launch, FROM_BEGINNING, earlier + total);
            *before = earlier;
        }
    }
    __syncthreads();
    mine += *before;
    if (first + EACH <= s.count)
        *(uint4 *)&s.to[first] = make_uint4(mine + values[0], mine + values[1], mine + values[2],
                                            mine + values[3]);
    else
        for (int i = 0; i < EACH && first + i < s.count; i++)
            s.to[first + i] = mine + values[i];
}

__global__ void scan(scan_arguments s, struct gt_block_log *log)
{
    __shared__ uint32_t shared[MOST_WARPS], before;
    __shared__ unsigned next;
    log_begin(log);
    unsigned launch = *(volatile unsigned *)&s.head->launches;
    uint64_t tiles = tile_count(s.count, block_threads());
    for (;;) {
        if (this_thread() == 0)
            next = atomicAdd(&s.head->next_tile, 1);
        __syncthreads();
        uint64_t tile = next;
        if (tile >= tiles)
            break;
        scan_tile(s, tile, launch, shared, &before);
        __syncthreads();
    }
    if (this_thread() == 0) {
        unsigned blocks = (unsigned)grid_blocks();
        __threadfence();
        if (atomicInc(&s.head->ended, blocks - 1) == blocks - 1) {
            s.head->next_tile = 0;
            s.head->launches = launch + 1;
        }
    }
    log_end(log);
}

scan_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t count = launch_argument(launch, 0);
    char *head = (char *)launch->scratch, *states = head + HEAD_BYTES;
    char *from = states + scratch_array(tile_count(count, launch_block_threads(launch)) * sizeof(uint64_t));
    return {(struct scan_head *)head, (uint64_t *)states, (uint32_t *)from,
            (uint32_t *)(from + scratch_array(count * sizeof(uint32_t))), count};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t count = launch_argument(launch, 0);
    return HEAD_BYTES + scratch_array(tile_count(count, launch_block_threads(launch)) * sizeof(uint64_t)) +
           2 * scratch_array(count * sizeof(uint32_t));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    uint64_t tiles = tile_count(launch_argument(launch, 0), launch_block_threads(launch));
    if (launch_block_threads(launch) % WARP)
        return gt_error_set(error, "%u threads a block; give whole warps", launch_block_threads(launch));
    if (launch_blocks(launch) + tiles > UINT32_MAX)
        return gt_error_set(error, "%llu blocks and %llu tiles; at most %u together can be counted",
                            (unsigned long long)launch_blocks(launch), (unsigned long long)tiles, UINT32_MAX);
    return 0;
}

/* Launch 0 finds states of launch 2^30 - 1, which the poison means. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    scan_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.head, 0, sizeof *arrays.head, launch->stream);
    if (status == cudaSuccess)
        status = fill_words((uint32_t *)arrays.from, arrays.count, seed, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    scan_arguments arrays = layout(launch);
    uint32_t expected = 0;
    return reference_check_all(arrays.to, arrays.count, [&](const uint32_t *got, uint64_t i) {
        expected += (uint32_t)random_bits(seed, i);
        return got[i] == expected ? 0 : gt_error_set(error, "sum %llu is %u instead of %u",
                                                     (unsigned long long)i, got[i], expected);
    }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"count", "values", "to sum up, 32-bit integers (sums wrap)", 1, 2e9, 1 << 24, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_scan = {
    .name = "scan",
    .help = "running sums of integers in one pass, by decoupled look-back; checked value by value",
    .restriction = "whole warps",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<scan>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<scan>, layout>,
    .verify = verify,
};
