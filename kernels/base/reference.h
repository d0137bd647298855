/* reference.h - comparing what a kernel left on the device with what the CPU works out.
 *
 * Floating-point outputs are compared by norm: |got - expected| / |expected| over all that is looked at,
 * the expected values in double precision. Where the whole reference would take too long, outputs are
 * sampled at random places. */
#ifndef GRIDTIDE_KERNELS_BASE_REFERENCE_H
#define GRIDTIDE_KERNELS_BASE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `bytes` of device memory in fresh host memory, the caller's to free(); NULL with an error. */
void *gt_reference_fetch(const void *device, size_t bytes, struct gt_error *error);

/* Which of `total` outputs to look at when each costs `cost` CPU operations: all, or as many as the
 * budget (some tens of millions of operations) allows, the i-th being gt_reference_place(). */
struct gt_reference_sample {
    uint64_t total, count, seed;
};
struct gt_reference_sample gt_reference_sample(uint64_t total, uint64_t cost, uint64_t seed);
uint64_t gt_reference_place(const struct gt_reference_sample *sample, uint64_t i);

struct gt_reference_norm {
    double difference, expected;
    uint64_t count;
};
void gt_reference_add(struct gt_reference_norm *norm, double got, double expected);
/* 0 when the norm of the difference is at most `tolerance` of the expected norm, and is a number at all;
 * else -1 with both. */
int gt_reference_verdict(const struct gt_reference_norm *norm, double tolerance, struct gt_error *error);

#ifdef __cplusplus
}

/* `count` values of an array on the device, as gt_reference_fetch(). */
template <typename T> inline T *reference_fetch(const T *device, uint64_t count, struct gt_error *error)
{
    return (T *)gt_reference_fetch(device, count * sizeof *device, error);
}

/* The places that `sample` has among `count` outputs on the device: check(got, place) of each, `got` being
 * all outputs, returns 0, or -1 with `error` filled, which is the end. */
template <typename T, typename CHECK>
inline int reference_check(const T *device, uint64_t count, struct gt_reference_sample sample, CHECK check,
                           struct gt_error *error)
{
    T *got = reference_fetch(device, count, error);
    int result = got ? 0 : -1;
    for (uint64_t i = 0; result == 0 && i < sample.count; i++)
        result = check(got, gt_reference_place(&sample, i));
    free(got);
    return result;
}

/* Every one of them. */
template <typename T, typename CHECK>
inline int reference_check_all(const T *device, uint64_t count, CHECK check, struct gt_error *error)
{
    const struct gt_reference_sample all = { count, count, 0 };
    return reference_check(device, count, all, check, error);
}

/* The places that `sample` has, by norm: add(&norm, got, place) adds what is compared there. */
template <typename T, typename ADD>
inline int reference_compare(const T *device, uint64_t count, struct gt_reference_sample sample, double tolerance,
                             ADD add, struct gt_error *error)
{
    struct gt_reference_norm norm = {};
    int result = reference_check(
        device, count, sample,
        [&](const T *got, uint64_t place) {
            add(&norm, got, place);
            return 0;
        },
        error);
    return result == 0 ? gt_reference_verdict(&norm, tolerance, error) : result;
}
#endif
#endif
