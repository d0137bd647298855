/* features.cuh - small programs that each use one feature of CUDA, for `gridtide record`: what a recording must hold of it is
 * in tests/cli/recorded_features.bats.  features.cu: all but graphs; features_graphs.cu.
 *
 *     nvcc -arch=sm_90 -std=c++17 -o features features.cu features_graphs.cu -lcuda
 */
#ifndef GRIDTIDE_TRACES_RECORD_FEATURES_CUH
#define GRIDTIDE_TRACES_RECORD_FEATURES_CUH

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

struct feature {
    const char *name;
    void (*run)();
};
/* Ends with a NULL. */
extern const feature graph_features[];

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t result_ = (call);                                                           \
        if (result_ != cudaSuccess) {                                                           \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(result_)); \
            exit(3);                                                                            \
        }                                                                                       \
    } while (0)

/* Two kernels: one takes its time, one reads and writes. */
extern __global__ void spin(float *p, int n);
extern __global__ void scale(float *out, const float *in, int n);

const int COUNT = 1 << 20; /* floats of each buffer */
extern float *a, *b, *c, *host;
extern cudaStream_t s[3];
extern cudaEvent_t e[3];

#endif
