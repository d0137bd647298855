/* wgmma.cuh - one matrix product of a warp group, m64n128k16 in FP16 with sums in FP32, both operands in
 * shared memory.  Only where files are compiled for sm_90a.  PTX ISA 8.0, "Asynchronous warpgroup level
 * matrix instructions". */
#ifndef GRIDTIDE_KERNELS_BASE_WGMMA_CUH
#define GRIDTIDE_KERNELS_BASE_WGMMA_CUH

#include "kernels/base/tensor.cuh"

enum { WGMMA_SUMS = 64 };         /* of a thread */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* What WGMMA is told of a K-major tile in the 128-byte swizzle: its place, 1,024 bytes from 8 rows to the
 * next 8, layout 1; all in units of 16 bytes. */
__device__ inline uint64_t matrix_descriptor(const uint4 *tile)
{
    return (uint64_t)(shared_address(tile) & 0x3ffff) >> 4 | UINT64_C(1) << 16 | UINT64_C(1024 / 16) << 32 |
           UINT64_C(1) << 62;
}

__device__ inline void wgmma(float (&d)[WGMMA_SUMS], uint64_t a, uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

#endif
#endif
