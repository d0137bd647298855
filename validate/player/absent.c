/* The player of a build without the CUDA toolkit: says so. */
#include "validate/validate.h"

static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    (void)facts;
    return gt_error_set(error, "this gridtide was built without CUDA; build it where there is an nvcc, or with "
                               "configure --with-cuda=DIR");
}

const struct gt_players gt_cuda_players = { .find = find };
