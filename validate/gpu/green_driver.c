#include "validate/gpu/green_driver.h"

#include <cuda_runtime_api.h>

enum { CUDA_12_5 = 12050 };

struct gt_green_driver gt_green_driver;

int gt_green_driver_find(struct gt_error *error)
{
    /* clang-format off */
    const struct { const char *name; void **function; } all[] = {
        { "cuDeviceGetDevResource", (void **)&gt_green_driver.get_resource },
        { "cuDevSmResourceSplitByCount", (void **)&gt_green_driver.split },
        { "cuDevResourceGenerateDesc", (void **)&gt_green_driver.describe },
        { "cuGreenCtxCreate", (void **)&gt_green_driver.create },
        { "cuGreenCtxDestroy", (void **)&gt_green_driver.destroy },
        { "cuCtxFromGreenCtx", (void **)&gt_green_driver.as_context },
        { "cuGreenCtxStreamCreate", (void **)&gt_green_driver.create_stream },
        { "cuEventCreate", (void **)&gt_green_driver.create_event },
        { "cuCtxPushCurrent", (void **)&gt_green_driver.push },
        { "cuCtxPopCurrent", (void **)&gt_green_driver.pop },
    };
    /* clang-format on */
    enum cudaDriverEntryPointQueryResult found;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (cudaGetDriverEntryPointByVersion(all[i].name, all[i].function, CUDA_12_5, cudaEnableDefault, &found) !=
                cudaSuccess ||
            found != cudaDriverEntryPointSuccess)
            return gt_error_set(error, "the driver has no %s; green contexts need that of CUDA 12.5", all[i].name);
    return 0;
}
