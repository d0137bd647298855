/* fill.cu - random inputs made on the device. */
#include "kernels/base/tensor.cuh"

namespace {

enum { BLOCKS = 1024, THREADS = 256 };

__global__ void floats(float *to, uint64_t count, uint64_t seed, float low, float high)
{
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < count; i += BLOCKS * THREADS)
        to[i] = random_float(seed, i, low, high);
}

__global__ void halves(__half *to, uint64_t count, uint64_t seed, float low, float high)
{
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < count; i += BLOCKS * THREADS)
        to[i] = __float2half(random_float(seed, i, low, high));
}

__global__ void words(uint32_t *to, uint64_t count, uint64_t seed)
{
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < count; i += BLOCKS * THREADS)
        to[i] = (uint32_t)random_bits(seed, i);
}

}

cudaError_t fill_floats(float *to, uint64_t count, uint64_t seed, float low, float high, cudaStream_t stream)
{
    floats<<<BLOCKS, THREADS, 0, stream>>>(to, count, seed, low, high);
    return cudaGetLastError();
}

cudaError_t fill_halves(__half *to, uint64_t count, uint64_t seed, float low, float high,
                        cudaStream_t stream)
{
    halves<<<BLOCKS, THREADS, 0, stream>>>(to, count, seed, low, high);
    return cudaGetLastError();
}

cudaError_t fill_words(uint32_t *to, uint64_t count, uint64_t seed, cudaStream_t stream)
{
    words<<<BLOCKS, THREADS, 0, stream>>>(to, count, seed);
    return cudaGetLastError();
}
