/* flat_twin.cuh - kernels that are there twice: a block whose threads launch further ones, and a flat twin whose blocks share
 * the work out among themselves. */
#ifndef GRIDTIDE_KERNELS_CHILDREN_FLAT_TWIN_CUH
#define GRIDTIDE_KERNELS_CHILDREN_FLAT_TWIN_CUH

#include <stdlib.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

/* The parameter "how". */
enum { HOW_CHILDREN, HOW_FLAT };
const char *const hows[] = {"children", "flat"};

/* That parameter is number HOW of the kernel's. */
template <int HOW>
int accepts_twin(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_argument(launch, HOW) == HOW_CHILDREN && launch_blocks(launch) != 1)
        return gt_error_set(error, "with children the host launches one block, which launches the others");
    return 0;
}

/* Are all `count` words on the GPU as `expected`, which expect(expected) fills?  `difference` says of one that is not its number
 * and the two. */
template <typename EXPECT>
int verify_words(const uint32_t *words, uint64_t count, EXPECT expect, const char *difference, struct gt_error *error)
{
    uint32_t *expected = (uint32_t *)malloc(count * sizeof *expected);
    if (!expected)
        return gt_error_set(error, "no memory for the reference");
    expect(expected);
    int result = reference_check_all(
        words, count,
        [&](const uint32_t *got, uint64_t at) {
            return got[at] == expected[at]
                       ? 0
                       : gt_error_set(error, difference, (unsigned long long)at, got[at], expected[at]);
        },
        error);
    free(expected);
    return result;
}

inline int compare_words(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Check random words (fill_words()) that have been sorted. */
inline int verify_sorted(const uint32_t *words, uint64_t count, uint64_t seed, struct gt_error *error)
{
    return verify_words(
        words, count,
        [&](uint32_t *expected) {
            for (uint64_t i = 0; i < count; i++)
                expected[i] = (uint32_t)random_bits(seed, i);
            qsort(expected, count, sizeof *expected, compare_words);
        },
        "word %llu is %u instead of %u", error);
}

}

#endif
