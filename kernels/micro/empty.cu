/* empty.cu - nothing, as fast as it can be done. */
#include "kernels/base/kernel.cuh"

namespace {

__global__ void empty(struct gt_block_log *log)
{
    log_begin(log);
    log_end(log);
}

const void *entry(const struct gt_gpu_launch *)
{
    return (const void *)empty;
}

cudaError_t launch_empty(const struct gt_gpu_launch *launch)
{
    return start(launch, empty, launch->log);
}

}

extern "C" const struct gt_library_kernel gt_kernel_empty = {
    .name = "empty",
    .help = "does nothing; there is nothing to check but its log",
    .restriction = nullptr,
    .parameters = nullptr,
    .parameter_count = 0,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry,
    .scratch_bytes = nullptr,
    .fill = nullptr,
    .launch = launch_empty,
    .verify = nullptr,
};
