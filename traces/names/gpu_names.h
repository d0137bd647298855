/* gpu_names.h - which device file goes with the GPU name that a profiler wrote down. */
#ifndef GRIDTIDE_TRACES_NAMES_GPU_NAMES_H
#define GRIDTIDE_TRACES_NAMES_GPU_NAMES_H

/* "NVIDIA H200" or "A100-SXM4-80GB" gives "h200" or "a100"; NULL for GPUs without a device file. */
const char *gt_gpu_device_file(const char *name);

#endif
