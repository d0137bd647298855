/* cuBLAS where configure has not found its headers: whoever needs it is told so. */
#include "validate/gpu/cublas.h"

int gt_cublas_open(struct gt_error *error)
{
    return gt_error_set(error, "built without cuBLAS: install its headers (libcublas-dev) and configure again");
}

void gt_cublas_close(void)
{
}

const char *gt_cublas_version(void)
{
    return "";
}

int gt_cublas_multiply(const struct gt_product *product, const struct gt_cublas_matrices *matrices,
                       cudaStream_t stream, struct gt_error *error)
{
    (void)product;
    (void)matrices;
    (void)stream;
    return gt_cublas_open(error);
}
