/* profiled_work.h - the work of a launch that a profiler counted. */
#ifndef GRIDTIDE_SIM_SHAPES_PROFILED_WORK_H
#define GRIDTIDE_SIM_SHAPES_PROFILED_WORK_H

#include "sim/shapes/work.h"
#include "sim/workload/program.h"

/* Operations of its instructions, those of tensor cores or, where they are more, FP32's: of the kind with the most.  Bytes that went
 * between DRAM and L2.  False: neither was counted, or its products are of 8 bits or fewer, or of 64. */
bool gt_profiled_work(const struct gt_program *program, const struct gt_profile *profile, struct gt_work *work);

#endif
