/* cases.cuh - programs of named cases for a profiler: the launches of each lie in a window of
 * cudaProfilerStart() and cudaProfilerStop(); `ncu --profile-from-start off` sees them alone. */
#ifndef GRIDTIDE_TRACES_RECORD_CASES_CUH
#define GRIDTIDE_TRACES_RECORD_CASES_CUH

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

inline void check(cudaError_t result, const char *what)
{
    if (result != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
        exit(1);
    }
}

/* Memory of the GPU, not given back: a case is a few hundred MiB at most, the program short. */
template <typename T> T *device_array(size_t count)
{
    T *array;
    check(cudaMalloc(&array, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(array, 0, count * sizeof(T)), "cudaMemset");
    return array;
}

template <typename T> T *device_copy(const std::vector<T> &values)
{
    T *array = device_array<T>(values.size());
    check(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return array;
}

/* Numbers below `limit`, the same in every run. */
template <typename T> std::vector<T> random_values(size_t count, double limit)
{
    std::mt19937_64 generator(1);
    std::vector<T> values(count);
    for (T &value : values)
        value = (T)((generator() >> 11) * 0x1p-53 * limit);
    return values;
}

/* What a case launches, after everything it needs is there. */
using launches = std::function<void()>;
struct profile_case { const char *name; launches (*make)(); };

/* Run all cases, or those named in the arguments. */
template <size_t N> int run_cases(const profile_case (&cases)[N], int argc, char **argv)
{
    for (const profile_case &one : cases) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted = wanted || strcmp(argv[i], one.name) == 0;
        if (!wanted)
            continue;
        launches launch = one.make();
        check(cudaDeviceSynchronize(), one.name);
        check(cudaProfilerStart(), one.name);
        launch();
        check(cudaGetLastError(), one.name);
        check(cudaDeviceSynchronize(), one.name);
        check(cudaProfilerStop(), one.name);
        printf("%s: done\n", one.name);
        fflush(stdout);
    }
    return 0;
}

#endif
