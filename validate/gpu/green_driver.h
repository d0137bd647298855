/* green_driver.h - the driver's functions for green contexts.  They come through the runtime: nothing is linked with libcuda. */
#ifndef GRIDTIDE_VALIDATE_GPU_GREEN_DRIVER_H
#define GRIDTIDE_VALIDATE_GPU_GREEN_DRIVER_H

#include <cuda.h>

#include "sim/base/error.h"

struct gt_green_driver { /* each as the driver's function that is named in green_driver.c */
    CUresult (*get_resource)(CUdevice, CUdevResource *, CUdevResourceType);
    CUresult (*split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned);
    CUresult (*describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
    CUresult (*create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
    CUresult (*destroy)(CUgreenCtx);
    CUresult (*as_context)(CUcontext *, CUgreenCtx);
    CUresult (*create_stream)(CUstream *, CUgreenCtx, unsigned, int);
    CUresult (*create_event)(CUevent *, unsigned);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
};
extern struct gt_green_driver gt_green_driver;

/* Fill it in.  -1 where the driver is older than that of CUDA 12.5. */
int gt_green_driver_find(struct gt_error *error);

#endif
