/* mandelbrot.cuh - steps until z = z^2 + c leaves the circle of radius 2, the same number on host and device. */
#ifndef GRIDTIDE_KERNELS_ALGORITHMS_MANDELBROT_CUH
#define GRIDTIDE_KERNELS_ALGORITHMS_MANDELBROT_CUH

#include "kernels/base/kernel.cuh"

const float MANDELBROT_LEFT = -2.2f, MANDELBROT_TOP = -1.2f;
const float MANDELBROT_SHIFT = 0.2f, MANDELBROT_SPAN = 2.4f;  /* of the plane, SHIFT being random */

struct mandelbrot_view {
    float left, top;
    uint32_t width, height, limit;
};

/* Every operation is rounded by itself or fused by name, so that host and device agree to the step. */
__host__ __device__ inline uint32_t mandelbrot_steps(uint32_t x, uint32_t y, const struct mandelbrot_view &view)
{
    float real = fmaf((float)x, MANDELBROT_SPAN / view.width, view.left);
    float imaginary = fmaf((float)y, MANDELBROT_SPAN / view.height, view.top);
    float a = 0, b = 0;
    uint32_t step = 0;
    while (step < view.limit && fmaf(a, a, b * b) <= 4) {
        float next = fmaf(a, a, fmaf(-b, b, real));
        b = fmaf(2 * a, b, imaginary);
        a = next;
        step++;
    }
    return step;
}

/* The view that inputs of `seed` show: its corner is random. On the device it stands in two floats. */
inline cudaError_t mandelbrot_fill(float *corner, uint64_t seed, cudaStream_t stream)
{
    cudaError_t status = fill_floats(corner, 1, seed, MANDELBROT_LEFT, MANDELBROT_LEFT + MANDELBROT_SHIFT, stream);
    if (status == cudaSuccess)
        status = fill_floats(corner + 1, 1, seed + 1, MANDELBROT_TOP - MANDELBROT_SHIFT, MANDELBROT_TOP, stream);
    return status;
}

inline struct mandelbrot_view mandelbrot_view_of(uint64_t seed, uint32_t width, uint32_t height, uint32_t limit)
{
    return {random_float(seed, 0, MANDELBROT_LEFT, MANDELBROT_LEFT + MANDELBROT_SHIFT),
            random_float(seed + 1, 0, MANDELBROT_TOP - MANDELBROT_SHIFT, MANDELBROT_TOP), width, height, limit};
}

#endif
