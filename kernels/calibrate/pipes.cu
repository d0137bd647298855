/* pipes.cu - loops over one instruction, in one chain or several, for the pipes of an SM. */
#include "kernels/calibrate/pipes.h"

#include "kernels/base/tensor.cuh"

namespace {

enum { SHORTER = 32, LONGER = 96, MOST_CHAINS = 8 };

/* An instruction: value = f(value, b, c, d), where no run of them can be made into fewer. `link` also gets
 * the number of the link in its chain. */
struct alu {
    static constexpr const char *name = "lop3.b32";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t b, uint32_t) { value = b; }
    __device__ void link(uint32_t b, uint32_t c, uint32_t d, int number)
    {
        if (number % 2)
            asm volatile("lop3.b32 %0, %0, %1, %2, 0xb8;" : "+r"(value) : "r"(b), "r"(c));
        else
            asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(value) : "r"(d), "r"(b));
    }
    __device__ uint32_t end() { return value; }
};

/* Alike in all lanes: the compiler takes the uniform data path. */
struct uniform : alu {
    static constexpr const char *name = "shf.l.b32, uniform";
    enum { UNIFORM = true };
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
        asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(value) : "r"(b), "r"(c));
    }
};

struct fma32 {
    static constexpr const char *name = "fma.f32";
    enum { CHAINS = 8, UNIFORM = false };
    float value;
    __device__ void begin(uint32_t b, uint32_t) { value = (float)b; }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                     : "+f"(value) : "f"(__uint_as_float(b)), "f"(__uint_as_float(c)));
    }
    __device__ uint32_t end() { return __float_as_uint(value); }
};

struct imad {
    static constexpr const char *name = "mad.lo.s32";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t b, uint32_t) { value = b; }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
        asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(value) : "r"(b), "r"(c));
    }
    __device__ uint32_t end() { return value; }
};

struct hfma2 {
    static constexpr const char *name = "fma.f16x2";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t b, uint32_t) { value = b; }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
        asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(value) : "r"(b), "r"(c));
    }
    __device__ uint32_t end() { return value; }
};

/* With the halves of one register for both: the compiler has HFMA2.MMA, of another pipe, do none of these. */
struct halves : hfma2 {
    static constexpr const char *name = "fma.f16x2 by halves";
    __device__ void link(uint32_t b, uint32_t, uint32_t, int)
    {
        asm volatile("{ .reg .b16 l, h; .reg .b32 x, y; mov.b32 {l, h}, %1; mov.b32 x, {l, l};"
                     " mov.b32 y, {h, h}; fma.rn.f16x2 %0, %0, x, y; }" : "+r"(value) : "r"(b));
    }
};

struct dfma {
    static constexpr const char *name = "fma.f64";
    enum { CHAINS = 8, UNIFORM = false };
    double value, b, c;
    __device__ void begin(uint32_t from, uint32_t) { value = b = from; c = from + 1; }
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
        asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(value) : "d"(b), "d"(c));
    }
    __device__ uint32_t end() { return (uint32_t)(int64_t)value; }
};

/* With two registers to read, not three. */
struct square64 : dfma {
    static constexpr const char *name = "fma.f64 of two";
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
        asm volatile("fma.rn.f64 %0, %0, %1, %0;" : "+d"(value) : "d"(b));
    }
};

struct mufu {
    static constexpr const char *name = "ex2.approx.f32";
    enum { CHAINS = 8, UNIFORM = false };
    float value;
    __device__ void begin(uint32_t b, uint32_t) { value = (float)b; }
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(value));
    }
    __device__ uint32_t end() { return __float_as_uint(value); }
};

struct shuffle {
    static constexpr const char *name = "shfl.sync.bfly";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t b, uint32_t) { value = b; }
    __device__ void link(uint32_t b, uint32_t, uint32_t, int)
    {
        asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 0x1f, 0xffffffff;" : "+r"(value) : "r"(b));
    }
    __device__ uint32_t end() { return value; }
};

/* Each lane's words hold their own addresses: no bank is asked twice. */
__shared__ uint32_t words[32 * MOST_CHAINS];

struct lds {
    static constexpr const char *name = "ld.shared.u32";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t, uint32_t chain)
    {
        uint32_t *word = &words[chain * 32 + this_thread() % 32];
        value = (uint32_t)__cvta_generic_to_shared(word);
        *word = value;
        __syncwarp();
    }
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(value) :: "memory");
    }
    __device__ uint32_t end() { return value; }
};

struct atoms {
    static constexpr const char *name = "atom.shared.add.u32";
    enum { CHAINS = 8, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t, uint32_t chain)
    {
        uint32_t *word = &words[chain * 32 + this_thread() % 32];
        value = (uint32_t)__cvta_generic_to_shared(word);
        *word = value;
        __syncwarp();
    }
    __device__ void link(uint32_t, uint32_t, uint32_t d, int)
    {
        asm volatile("atom.shared.add.u32 %0, [%0], %1;" : "+r"(value) : "r"(d) : "memory");
    }
    __device__ uint32_t end() { return value; }
};

/* A constant that says which one is next: 0, in all of them; the shift of the place is the ALU's. */
__constant__ uint32_t zeros[64];

struct ldc {
    static constexpr const char *name = "shl.b32, ld.const.u32";
    enum { CHAINS = 4, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t b, uint32_t) { value = b % 32; }
    __device__ void link(uint32_t, uint32_t, uint32_t, int) { value = zeros[value]; }
    __device__ uint32_t end() { return value; }
};

/* m16n8k16 in FP16, sums in FP32; each adds to the sums of the one before. */
struct hmma {
    static constexpr const char *name = "mma.m16n8k16.f32.f16";
    enum { CHAINS = 4, UNIFORM = false };
    float sums[4];
    uint32_t a[4];
    __device__ void begin(uint32_t b, uint32_t)
    {
        for (int i = 0; i < 4; i++) {
            sums[i] = 0;
            a[i] = b + (uint32_t)i;
        }
    }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int) { multiply_add(sums, a, b, c); }
    __device__ uint32_t end() { return __float_as_uint(sums[0] + sums[1] + sums[2] + sums[3]); }
};

struct tf32 : hmma {
    static constexpr const char *name = "mma.m16n8k8.f32.tf32";
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
                     " {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(c));
#endif
    }
};

struct hmma8 : hmma {
    static constexpr const char *name = "mma.m16n8k8.f32.f16";
    __device__ void link(uint32_t b, uint32_t, uint32_t, int)
    {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6},"
                     " {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b));
    }
};

struct hmma_half {
    static constexpr const char *name = "mma.m16n8k16.f16.f16";
    enum { CHAINS = 4, UNIFORM = false };
    uint32_t sums[2], a[4];
    __device__ void begin(uint32_t b, uint32_t)
    {
        for (int i = 0; i < 4; i++)
            a[i] = b + (uint32_t)i;
        sums[0] = sums[1] = 0;
    }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5},"
                     " {%6, %7}, {%0, %1};"
                     : "+r"(sums[0]), "+r"(sums[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(c));
#endif
    }
    __device__ uint32_t end() { return sums[0] + sums[1]; }
};

struct imma {
    static constexpr const char *name = "mma.m16n8k32.s32.s8";
    enum { CHAINS = 4, UNIFORM = false };
    int sums[4];
    uint32_t a[4];
    __device__ void begin(uint32_t b, uint32_t)
    {
        for (int i = 0; i < 4; i++) {
            sums[i] = 0;
            a[i] = b + (uint32_t)i;
        }
    }
    __device__ void link(uint32_t b, uint32_t c, uint32_t, int)
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
                     " {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(c));
#endif
    }
    __device__ uint32_t end() { return (uint32_t)(sums[0] + sums[1] + sums[2] + sums[3]); }
};

struct dmma {
    static constexpr const char *name = "mma.m8n8k4.f64";
    enum { CHAINS = 4, UNIFORM = false };
    double sums[2], a;
    __device__ void begin(uint32_t b, uint32_t) { a = b; sums[0] = sums[1] = 0; }
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                     : "+d"(sums[0]), "+d"(sums[1]) : "d"(a));
#endif
    }
    __device__ uint32_t end() { return (uint32_t)(int64_t)(sums[0] + sums[1]); }
};

/* ldmatrix.x4 of the words of a shared row: four wavefronts. */
struct ldsm {
    static constexpr const char *name = "ldmatrix.x4";
    enum { CHAINS = 4, UNIFORM = false };
    uint32_t value;
    __device__ void begin(uint32_t, uint32_t)
    {
        value = (uint32_t)__cvta_generic_to_shared(&words[this_thread() % 32 * 4]);
        for (int i = 0; i < 4; i++)
            words[this_thread() % 32 * 4 + i] = (uint32_t)__cvta_generic_to_shared(words);
        __syncwarp();
    }
    __device__ void link(uint32_t, uint32_t, uint32_t, int)
    {
        asm volatile("{ .reg .b32 p, q, r; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, p, q, r}, [%0]; }"
                     : "+r"(value) :: "memory");
    }
    __device__ uint32_t end() { return value; }
};

template <typename T, int CHAINS, int BODY>
__global__ void loop(struct gt_pipe_run run, uint32_t b, uint32_t c, uint32_t d)
{
    T chains[CHAINS];
    uint32_t warp = this_thread() / 32, sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        chains[i].begin((T::UNIFORM ? b : b + this_thread()) + (uint32_t)i, (uint32_t)i);
    __syncthreads();
    if (warp % run.every != 0)
        return;
    uint64_t start_cycles = (uint64_t)clock64();
#pragma unroll 1
    for (uint32_t trip = 0; trip < run.trips; trip++) {
#pragma unroll
        for (int i = 0; i < BODY; i++)
            chains[i % CHAINS].link(b, c, d, i / CHAINS);
    }
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        sum += chains[i].end();
    uint64_t end_cycles = (uint64_t)clock64();
    if (sum == run.unlikely)
        end_cycles = 0;
    if (this_thread() % 32 == 0)
        run.spans[blockIdx.x * (blockDim.x / 32) + warp] = {start_cycles, end_cycles};
}

#define ROW(type)                                                                                          \
    {type::name,                                                                             \
     {{(const void *)loop<type, 1, SHORTER>, (const void *)loop<type, 1, LONGER>},                         \
      {(const void *)loop<type, type::CHAINS, SHORTER>, (const void *)loop<type, type::CHAINS, LONGER>}},  \
     SHORTER, LONGER}

} // namespace

const struct gt_pipe_kernel gt_pipe_kernels[] = {
    ROW(alu), ROW(uniform), ROW(fma32), ROW(imad), ROW(hfma2), ROW(halves), ROW(dfma), ROW(square64),
    ROW(mufu), ROW(shuffle), ROW(lds), ROW(ldsm), ROW(atoms), ROW(ldc), ROW(hmma), ROW(hmma8), ROW(hmma_half),
    ROW(tf32), ROW(imma), ROW(dmma),
};
const size_t gt_pipe_kernel_count = sizeof gt_pipe_kernels / sizeof gt_pipe_kernels[0];
