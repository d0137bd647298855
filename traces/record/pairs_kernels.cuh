/* pairs_kernels.cuh - what pairs.cu launches: kernels as textbooks have them, one instance of each a set, which write down
 * when their first and last blocks began and ended, and the table of their kinds. */
#ifndef GRIDTIDE_TRACES_RECORD_PAIRS_KERNELS_CUH
#define GRIDTIDE_TRACES_RECORD_PAIRS_KERNELS_CUH

#include <cuda_fp16.h>
#include <mma.h>

#include "cases.cuh"

enum { LEARN, CHECK, PROBE, SETS };

enum { MOST_SMS = 256 };

/* Of a kernel's blocks: when the first and the last began and ended, and how many each SM had. */
struct span {
    unsigned long long start, last_start, first_end, end;
    unsigned blocks_on[MOST_SMS];
};

struct arrays {
    float *a, *b, *c; /* 64 Mi values each, random */
    unsigned *index;  /* as many, below 64 Mi */
};

enum { VALUES = 64 << 20 };

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ void begins(span *s)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) {
        atomicMin(&s->start, now());
        atomicMax(&s->last_start, now());
        atomicAdd(&s->blocks_on[sm % MOST_SMS], 1);
    }
}

__device__ void ends(span *s)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&s->first_end, now());
        atomicMax(&s->end, now());
    }
}

#define KERNEL(name) template <int ID> __global__ void name(arrays m, int work, span *s)
#define TYPED(name)  template <int ID, typename T, int N> __global__ void name(arrays m, int work, span *s)
#define THREAD       (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS      (gridDim.x * blockDim.x)

TYPED(chain)
{
    begins(s);
    T a = m.a[threadIdx.x], b = m.b[threadIdx.x], x[N];
    for (int i = 0; i < N; i++)
        x[i] = i;
#pragma unroll 8
    for (int k = 0; k < work; k++)
        for (int i = 0; i < N; i++)
            x[i] = x[i] * a + b;
    T sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i];
    m.c[THREAD] = sum;
    ends(s);
}

/* C = A B by tiles in shared memory; every block multiplies `work` pairs of tiles. */
TYPED(tiled_product)
{
    __shared__ T left[N][N], right[N][N];
    int x = threadIdx.x % N, y = threadIdx.x / N;
    const T *a = (const T *)m.a + blockIdx.x % 64 * N * N, *b = (const T *)m.b + blockIdx.x / 64 * N * N;
    T sum = 0;
    begins(s);
    for (int k = 0; k < work; k++) {
        int tile = k % 256 * 64 * N * N;
        left[y][x] = a[tile + threadIdx.x];
        right[y][x] = b[tile + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < N; i++)
            sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    ((T *)m.c)[THREAD] = sum;
    ends(s);
}

TYPED(bodies)
{
    __shared__ T x[256], y[256], z[256];
    T px = m.a[THREAD], py = m.b[THREAD], pz = m.a[THREAD + 1], fx = 0, fy = 0, fz = 0;
    begins(s);
    for (int k = 0; k < work; k++) {
        for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
            x[i] = m.a[k * 256 + i];
            y[i] = m.b[k * 256 + i];
            z[i] = m.c[k * 256 + i];
        }
        __syncthreads();
#pragma unroll N
        for (int i = 0; i < 256; i++) {
            T dx = x[i] - px, dy = y[i] - py, dz = z[i] - pz, square = dx * dx + dy * dy + dz * dz + (T)0.01;
            T inverse = (T)rsqrtf((float)square), cube = inverse * inverse * inverse;
            fx += dx * cube;
            fy += dy * cube;
            fz += dz * cube;
        }
        __syncthreads();
    }
    m.c[VALUES / 2 + THREAD] = fx + fy + fz;
    ends(s);
}

/* c = a + 3 b over `work` Ki values. */
KERNEL(triad)
{
    begins(s);
    for (unsigned i = THREAD; i < work * 1024u; i += THREADS)
        m.c[i] = m.a[i] + 3 * m.b[i];
    ends(s);
}

/* Sums of 4 MiB that stay in L2, read again and again. */
KERNEL(sum_in_l2)
{
    float sum = 0;
    begins(s);
    for (int k = 0; k < work; k++)
#pragma unroll 4
        for (unsigned i = THREAD; i < 1u << 20; i += THREADS)
            sum += m.a[(i + k * 4096) & ((1u << 20) - 1)];
    m.c[THREAD] = sum;
    ends(s);
}

KERNEL(five_points)
{
    enum { WIDE = 4096 };
    begins(s);
    for (unsigned i = THREAD + WIDE; i < work * 1024u + WIDE; i += THREADS)
        m.c[i] = 0.2f * (m.a[i] + m.a[i - 1] + m.a[i + 1] + m.a[i - WIDE] + m.a[i + WIDE]);
    ends(s);
}

/* 32 x 32 tiles turned over in shared memory, N floats a row: 32 of bank conflicts, 33 of none. */
template <int ID, int N> __global__ void turned(arrays m, int work, span *s)
{
    __shared__ float tile[32][N];
    int x = threadIdx.x % 32, first = threadIdx.x / 32, high = blockDim.x / 32;
    begins(s);
    for (int k = blockIdx.x; k < work; k += gridDim.x) {
        for (int y = first; y < 32; y += high)
            tile[y][x] = m.a[(size_t)(k / 256 * 32 + y) * 8192 + k % 256 * 32 + x];
        __syncthreads();
        for (int y = first; y < 32; y += high)
            m.c[(size_t)(k % 256 * 32 + y) * 8192 + k / 256 * 32 + x] = tile[x][y];
        __syncthreads();
    }
    ends(s);
}

/* Shared memory read N words apart. */
template <int ID, int N> __global__ void conflicts(arrays m, int work, span *s)
{
    __shared__ float shared[2048];
    for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x)
        shared[i] = m.a[i];
    __syncthreads();
    unsigned at = threadIdx.x * N;
    float sum = 0;
    begins(s);
#pragma unroll 8
    for (int k = 0; k < work; k++)
        sum += shared[(at + k * 33) % 2048];
    m.c[THREAD] = sum;
    ends(s);
}

KERNEL(summed)
{
    __shared__ float part[32];
    float sum = 0;
    begins(s);
    for (unsigned i = THREAD; i < work * 1024u; i += THREADS)
        sum += m.a[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned i = 1; i < blockDim.x / 32; i++)
            sum += part[i];
        atomicAdd(m.c, sum);
    }
    ends(s);
}

KERNEL(counted)
{
    __shared__ unsigned bin[256];
    begins(s);
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        bin[i] = 0;
    __syncthreads();
    for (unsigned i = THREAD; i < work * 1024u; i += THREADS)
        atomicAdd(&bin[m.index[i] % 256], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd((unsigned *)m.c + i, bin[i]);
    ends(s);
}

/* Reads at random places of 2^N values. */
template <int ID, int N> __global__ void gathered(arrays m, int work, span *s)
{
    begins(s);
    for (unsigned i = THREAD; i < work * 1024u; i += THREADS)
        m.c[i] = m.a[m.index[i] & ((1u << N) - 1)];
    ends(s);
}

/* Loads that wait for one another, around a ring of 2^N values. */
template <int ID, int N> __global__ void walked(arrays m, int work, span *s)
{
    unsigned at = THREAD * 32, sum = 0;
    begins(s);
    for (int k = 0; k < work; k++) {
        unsigned next = m.index[at & ((1u << N) - 1)];
        sum += next;
        at = at + 1024 + (next >> 31);
    }
    m.c[THREAD] = sum;
    ends(s);
}

/* Soft-max of rows of 1,024 values, a row a block at a time. */
KERNEL(soft_max)
{
    __shared__ float part[32], whole;
    begins(s);
    for (int row = blockIdx.x; row < work; row += gridDim.x) {
        float sum = 0;
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            sum += __expf(m.a[row * 1024 + i]);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned i = 1; i < blockDim.x / 32; i++)
                sum += part[i];
            whole = 1 / sum;
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            m.c[row * 1024 + i] = __expf(m.a[row * 1024 + i]) * whole;
    }
    ends(s);
}

/* y = A x, a warp to a row of 2,048. */
KERNEL(by_vector)
{
    begins(s);
    for (int row = THREAD / 32; row < work; row += THREADS / 32) {
        float sum = 0;
#pragma unroll 4
        for (int i = threadIdx.x % 32; i < 2048; i += 32)
            sum += m.a[row * 2048 + i] * m.b[i];
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x % 32 == 0)
            m.c[row] = sum;
    }
    ends(s);
}

KERNEL(escaped)
{
    float cx = -2 + 2.5f * (THREAD % 1024) / 1024, cy = (float)(THREAD / 1024) / 512, x = 0, y = 0;
    int steps = 0;
    begins(s);
    for (; steps < work && x * x + y * y < 4; steps++) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    m.c[THREAD] = steps;
    ends(s);
}

KERNEL(options)
{
    begins(s);
    for (unsigned i = THREAD; i < work * 1024u; i += THREADS) {
        float price = m.a[i % VALUES] + 5, strike = m.b[i % VALUES] + 1;
        float d1 = (__logf(price / strike) + 0.06f) / 0.3f, d2 = d1 - 0.3f;
        m.c[i] = price * normcdff(d1) - strike * __expf(-0.02f) * normcdff(d2);
    }
    ends(s);
}

/* The special function unit. */
KERNEL(waves)
{
    float x = m.a[threadIdx.x], y = 0;
    begins(s);
    for (int k = 0; k < work; k++) {
        y += __sinf(x + k);
        x = __expf(-y * y);
    }
    m.c[THREAD] = x + y;
    ends(s);
}

/* Integers: random numbers and bits. */
KERNEL(tossed)
{
    unsigned a = THREAD * 2654435761u + 12345, b = a ^ 0x9e3779b9u, hits = 0;
    begins(s);
    for (int k = 0; k < work; k++) {
        a ^= a << 13, a ^= a >> 17, a ^= a << 5;
        b = b * 1664525u + 1013904223u;
        hits += __popc(a & b);
    }
    m.c[THREAD] = hits;
    ends(s);
}

/* Products of 16 x 16 halves on the tensor cores, straight from global memory. */
KERNEL(tensor_global)
{
    using namespace nvcuda::wmma;
    const __half *a = (const __half *)m.a, *b = (const __half *)m.b;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0);
    begins(s);
    for (int k = 0; k < work; k++) {
        fragment<matrix_a, 16, 16, 16, __half, row_major> left;
        fragment<matrix_b, 16, 16, 16, __half, col_major> right;
        load_matrix_sync(left, a + (size_t)(THREAD / 32 % 64) * 16 * 1024 + k % 64 * 16, 1024);
        load_matrix_sync(right, b + (size_t)(THREAD / 2048 % 64) * 16 * 1024 + k % 64 * 16, 1024);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(m.c + (size_t)(THREAD / 32) * 256, sum, 16, mem_row_major);
    ends(s);
}

/* Tensor cores fed from shared memory, by blocks of 2^n warps. */
KERNEL(tensor_shared)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half left[32][80], right[32][80];
    const __half *a = (const __half *)m.a + (size_t)(blockIdx.x % 64) * 65536, *b = (const __half *)m.b;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0);
    begins(s);
    for (int k = 0; k < work; k++) {
        for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) {
            left[i / 64][i % 64] = a[k % 16 * 2048 + i];
            right[i / 64][i % 64] = b[k % 16 * 2048 + i];
        }
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            fragment<matrix_a, 16, 16, 16, __half, row_major> l;
            fragment<matrix_b, 16, 16, 16, __half, col_major> r;
            load_matrix_sync(l, &left[threadIdx.x / 32 % 2 * 16][i * 16], 80);
            load_matrix_sync(r, &right[threadIdx.x / 64 % 2 * 16][i * 16], 80);
            mma_sync(sum, l, r, sum);
        }
        __syncthreads();
    }
    store_matrix_sync(m.c + (size_t)(THREAD / 32) * 256, sum, 16, mem_row_major);
    ends(s);
}

/* Keys of a block sorted by bitonic steps in shared memory, over and over. */
KERNEL(sorted)
{
    __shared__ unsigned key[1024];
    begins(s);
    for (int k = blockIdx.x; k < work; k += gridDim.x) {
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            key[i] = m.index[k * 1024 + i];
        for (unsigned span = 2; span <= 1024; span *= 2)
            for (unsigned distance = span / 2; distance > 0; distance /= 2) {
                __syncthreads();
                for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) {
                    unsigned low = 2 * i - (i & (distance - 1)), high = low + distance;
                    unsigned x = key[low], y = key[high];
                    if ((x > y) == ((low & span) == 0)) {
                        key[low] = y;
                        key[high] = x;
                    }
                }
            }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
            ((unsigned *)m.c)[k * 1024 + i] = key[i];
    }
    ends(s);
}

/* 17 taps along rows, through shared memory. */
KERNEL(filtered)
{
    __shared__ float row[512 + 16];
    begins(s);
    for (int k = blockIdx.x; k < work; k += gridDim.x) {
        for (unsigned i = threadIdx.x; i < blockDim.x + 16; i += blockDim.x)
            row[i] = m.a[(size_t)k * 512 + i];
        __syncthreads();
        float sum = 0;
        for (int j = 0; j < 17; j++)
            sum += row[threadIdx.x + j] * (0.01f * j);
        m.c[(size_t)k * 512 + threadIdx.x] = sum;
        __syncthreads();
    }
    ends(s);
}

typedef void (*function)(arrays, int, span *);

struct kind {
    const char *name;
    function of_set[SETS];
    int most_work, fewest_threads, most_threads;
};

/* clang-format off */
#define PLAIN(name, most, low, high) {#name, {name<0>, name<1>, name<2>}, most, low, high}
#define SIZED(name, n, most, low, high) {#name #n, {name<0, n>, name<1, n>, name<2, n>}, most, low, high}
#define OF(name, t, n, most, low, high) {#name "_" #t #n, {name<0, t, n>, name<1, t, n>, name<2, t, n>}, most, low, high}
static const kind kinds[] = {
    OF(chain, float, 1, 1 << 24, 64, 512), OF(chain, float, 4, 1 << 24, 64, 512),
    OF(chain, double, 2, 1 << 24, 64, 512), OF(tiled_product, float, 16, 1 << 20, 256, 256),
    OF(tiled_product, double, 16, 1 << 20, 256, 256), OF(bodies, float, 8, 1 << 17, 64, 256),
    PLAIN(triad, 1 << 16, 128, 512), PLAIN(sum_in_l2, 1 << 20, 128, 512), SIZED(conflicts, 8, 1 << 24, 64, 512),
    SIZED(walked, 20, 1 << 24, 64, 128), PLAIN(waves, 1 << 24, 64, 512), PLAIN(tossed, 1 << 24, 64, 512),
    PLAIN(tensor_shared, 1 << 24, 128, 256), /* up to here PROBES */
    OF(chain, int, 4, 1 << 24, 64, 512), OF(tiled_product, float, 32, 1 << 20, 1024, 1024),
    OF(bodies, double, 4, 1 << 17, 64, 256), PLAIN(five_points, (1 << 16) - 16, 128, 512),
    SIZED(turned, 32, 1 << 16, 128, 512), SIZED(turned, 33, 1 << 16, 128, 512),
    SIZED(conflicts, 2, 1 << 24, 64, 512), PLAIN(summed, 1 << 16, 128, 512), PLAIN(counted, 1 << 16, 128, 512),
    SIZED(gathered, 21, 1 << 16, 128, 512), SIZED(gathered, 26, 1 << 16, 128, 512),
    SIZED(walked, 22, 1 << 24, 64, 256), PLAIN(soft_max, 1 << 16, 128, 512), PLAIN(by_vector, 1 << 15, 128, 512),
    PLAIN(escaped, 1 << 24, 128, 256), PLAIN(options, 1 << 16, 128, 512), PLAIN(tensor_global, 1 << 24, 64, 256),
    PLAIN(sorted, 1 << 16, 128, 512), PLAIN(filtered, 1 << 16, 128, 512),
};
/* clang-format on */

#endif
