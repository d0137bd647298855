/* kernel_model.h - cycles of a workload's kernels from their machine code: the warp tier, launch by launch. */
#ifndef GRIDTIDE_SIM_WARP_KERNEL_MODEL_H
#define GRIDTIDE_SIM_WARP_KERNEL_MODEL_H

#include "sim/warp/launch.h"
#include "sim/workload/probe.h"

/* So many of them: see gt_competing_sms(). */
enum { GT_COMPETING = 4 };

/* One distinct launch: the same program, grid and memory behaviour are run once. */
struct gt_kernel_model_launch {
    gt_op_index op; /* the first operation that is it */
    struct gt_warp_launch launch;
    struct gt_warp_result result;        /* of use where `failure` is NULL */
    char *failure;                       /* why the warp tier could not run it */
    double (*wave_cycles)[GT_COMPETING]; /* by blocks, see gt_kernel_model_wave(); 0 not known yet, < 0 never */
};

struct gt_kernel_model {
    struct gt_kernel_model_launch *launches;
    uint32_t count;
    uint32_t *launch_of; /* by operation: in launches; GT_NONE: no kernel with a program */
    uint32_t op_count;
    uint32_t clock_mhz;       /* of the device */
    uint32_t sms;             /* of the device */
    struct gt_device *one_sm; /* the device with nothing beside one SM */
};

/* Has any kernel of the workload, launched or not, a program? */
bool gt_has_programs(const struct gt_workload *workload);

/* Run every kernel operation of `workload` that has a program on `device`, equal launches once; `profiled` is the
 * device that programs and profiles are of (often the same one); `full`: every
 * block of the SM that is run, where otherwise long grids are extrapolated from a part.  `probe` is
 * told the progress, in operations, and may refuse to go on (its other callbacks are not used; NULL: nobody).
 * A launch that cannot be run keeps the reason and does not stop the others.
 * NULL where the probe refused or there is no warp.policy of that name; else the caller's to free with
 * gt_kernel_model_free(), which takes NULL.  The workload must last as long. */
struct gt_kernel_model *gt_model_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                         const struct gt_device *profiled, bool full, const struct gt_probe *probe,
                                         struct gt_error *error);
void gt_kernel_model_free(struct gt_kernel_model *modelled);

/* The launch of an operation; NULL: none. */
const struct gt_kernel_model_launch *gt_kernel_model_launch(const struct gt_kernel_model *modelled, gt_op_index op);

/* The numbers of competing SMs that waves are run with: 1, then parts of all. */
double gt_competing_sms(const struct gt_kernel_model *modelled, int step);

/* Cycles of a wave of a launch's blocks, `residents` of them on an SM, where `competing` SMs (from 1 on; this
 * one counts as 1) ask of L2 and DRAM what this one does: from the blocks' start to their end; where the
 * launch has several waves, the mean of a few in a row.  The warp tier is run for some numbers of blocks (1,
 * 2, 4, ..., all) and of SMs, when they are first asked for, and what lies between is interpolated.  0 where
 * it cannot tell, or an SM does not hold so many. */
double gt_kernel_model_wave(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                            uint32_t residents, double competing);

#endif
