/* cub.cu - algorithms of CUB for a profiler: cub [CASE...]. */
#include <cub/cub.cuh>

#include "cases.cuh"

/* A call of CUB: once for the bytes it needs, then as the case. */
template <typename Call> static launches sized(Call call)
{
    size_t bytes = 0;
    check(call(nullptr, bytes), "size");
    void *space = device_array<char>(bytes + 1);
    return [=] { size_t again = bytes; call(space, again); };
}

static launches make_histogram()
{
    const int count = 4 << 20;
    float *samples = device_copy(random_values<float>(count, 1));
    int *bins = device_array<int>(256);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(space, bytes, samples, bins, 257, 0.f, 1.f, count);
    });
}

struct less { __device__ bool operator()(int a, int b) const { return a < b; } };

static launches make_merge_sort()
{
    const int count = 14000;
    int *keys = device_copy(random_values<int>(count, 1e9));
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceMergeSort::SortKeys(space, bytes, keys, count, less());
    });
}

static std::vector<int> runs(int count)
{
    std::vector<int> keys = random_values<int>(count, 6);
    int key = 0;
    for (int &one : keys)
        one = key += one == 0;
    return keys;
}

static launches make_reduce_by_key()
{
    const int count = 4 << 20;
    int *keys = device_copy(runs(count)), *unique = device_array<int>(count), *number = device_array<int>(1);
    float *values = device_copy(random_values<float>(count, 1)), *sums = device_array<float>(count);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceReduce::ReduceByKey(space, bytes, keys, unique, values, sums, number,
                                              cuda::std::plus<float>(), count);
    });
}

static launches make_unique()
{
    const int count = 4 << 20;
    int *keys = device_copy(runs(count)), *unique = device_array<int>(count), *number = device_array<int>(1);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceSelect::Unique(space, bytes, keys, unique, number, count);
    });
}

static int *segments(int count, double limit)
{
    std::vector<int> lengths = random_values<int>(count, limit), offsets(count + 1);
    for (int i = 0; i < count; i++)
        offsets[i + 1] = offsets[i] + (i % 256 == 0 ? 4000 : lengths[i]);
    return device_copy(offsets);
}

static launches make_segmented_sort()
{
    const int count = 2 << 20, many = 8192;
    int *from = device_copy(random_values<int>(count, 1e9)), *to = device_array<int>(count);
    int *offsets = segments(many, 200);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceSegmentedSort::SortKeys(space, bytes, from, to, count, many, offsets, offsets + 1);
    });
}

static launches make_segmented_sum()
{
    const int many = 4096;
    double *from = device_copy(random_values<double>(2 << 20, 1)), *to = device_array<double>(many);
    int *offsets = segments(many, 400);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(space, bytes, from, to, many, offsets, offsets + 1);
    });
}

static launches make_radix_pairs_small()
{
    const int count = 3000;
    uint64_t *from = device_copy(random_values<uint64_t>(count, 1e18)), *to = device_array<uint64_t>(count);
    int *a = device_array<int>(count), *b = device_array<int>(count);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(space, bytes, from, to, a, b, count);
    });
}

static launches make_adjacent_difference()
{
    const int count = 8 << 20;
    int *from = device_copy(random_values<int>(count, 1e9)), *to = device_array<int>(count);
    return sized([=](void *space, size_t &bytes) {
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(space, bytes, from, to, count);
    });
}

static const profile_case cases[] = {
    {"cub_histogram", make_histogram}, {"cub_merge_sort", make_merge_sort},
    {"cub_reduce_by_key", make_reduce_by_key}, {"cub_unique", make_unique},
    {"cub_segmented_sort", make_segmented_sort}, {"cub_segmented_sum", make_segmented_sum},
    {"cub_radix_pairs_small", make_radix_pairs_small}, {"cub_adjacent_difference", make_adjacent_difference},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
