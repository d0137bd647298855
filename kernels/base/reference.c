/* reference.c - comparing outputs with a CPU reference. */
#include "kernels/base/reference.h"

#include <math.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

static const uint64_t BUDGET_OPERATIONS = 20 * 1000 * 1000;
static const uint64_t FEWEST_SAMPLES = 256;

void *gt_reference_fetch(const void *device, size_t bytes, struct gt_error *error)
{
    void *host = malloc(bytes);
    if (!host) {
        gt_error_set(error, "no host memory for %zu bytes of output; check a smaller size", bytes);
        return NULL;
    }
    cudaError_t status = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess)
        return host;
    free(host);
    gt_error_set(error, "fetching the output: %s", cudaGetErrorString(status));
    return NULL;
}

struct gt_reference_sample gt_reference_sample(uint64_t total, uint64_t cost, uint64_t seed)
{
    uint64_t affordable = BUDGET_OPERATIONS / (cost ? cost : 1);
    if (affordable < FEWEST_SAMPLES)
        affordable = FEWEST_SAMPLES;
    return (struct gt_reference_sample){ total, total < affordable ? total : affordable, seed | 1 };
}

uint64_t gt_reference_place(const struct gt_reference_sample *sample, uint64_t i)
{
    if (sample->count == sample->total)
        return i;
    uint64_t bits = (i + 1) * sample->seed * UINT64_C(0x9e3779b97f4a7c15);
    return (bits ^ (bits >> 32)) % sample->total;
}

void gt_reference_add(struct gt_reference_norm *norm, double got, double expected)
{
    norm->difference += (got - expected) * (got - expected);
    norm->expected += expected * expected;
    norm->count++;
}

int gt_reference_verdict(const struct gt_reference_norm *norm, double tolerance, struct gt_error *error)
{
    double difference = sqrt(norm->difference), expected = sqrt(norm->expected);
    if (difference <= tolerance * expected) /* false also where the output is no number */
        return 0;
    return gt_error_set(error,
                        "the output differs from the reference by a norm of %g, which is %g of the"
                        " reference's %g over %llu values; at most %g of it is allowed",
                        difference, difference / expected, expected, (unsigned long long)norm->count, tolerance);
}
