/* run_input.h - what `gridtide run` starts from: a trace, whatever its format, and a device. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_RUN_INPUT_H
#define GRIDTIDE_SIM_CMD_INPUT_RUN_INPUT_H

#include <stdbool.h>

#include "sim/cmd/print/terminal.h"
#include "sim/devices/device.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/workload.h"

/* Read a gridtide trace, or import another program's on the fly (its warnings then go to standard
 * error). `quiet`: no progress, no warnings. NULL with the reason in `error`. */
struct gt_workload *gt_run_read(const char *path, bool quiet, struct gt_error *error);

/* The same; an error where it has ranges but no call, as a profile of a program that used no GPU. */
struct gt_workload *gt_run_read_work(const char *path, bool quiet, struct gt_error *error);

/* What an import could not tell, on standard error: a line a kind. */
void gt_print_warnings(const struct gt_workload *workload);

/* The device to play `workload` on: `name` (a device file's) where it is given; else the one the
 * trace names (with the settings of a hand-written trace over it); else one built from the trace's
 * own settings; else an H200. What was chosen for want of a file is said on standard error unless
 * `quiet`. Returns 0 or -1. */
int gt_run_device(const struct gt_workload *workload, const char *name, bool quiet, struct gt_device *device,
                  struct gt_error *error);

/* Is there a model of the GPU that it was recorded on?  Else only recorded durations say what that GPU does. */
bool gt_run_gpu_modelled(const struct gt_workload *workload);

/* Count the streams of a priority that `device` does not have, which the simulator takes for the nearest, as a
 * warning of the workload; it is told unless `quiet`. */
void gt_run_warn_of_priorities(struct gt_workload *workload, const struct gt_device *device, bool quiet);

/* Count what only a simulation finds, as one of the kinds of traces/import/warnings.h, and print it unless `quiet`.  The warning, or NULL
 * where there is none to count. */
const struct gt_warning *gt_run_warn_of_found(struct gt_workload *workload, const char *kind, uint64_t count,
                                              bool quiet);

/* The device that the trace's times are from, into `device`: the one it names or describes. Where it
 * does neither, `device` stays as it is. Returns 0 or -1. */
int gt_run_traced_device(const struct gt_workload *workload, struct gt_device *device, struct gt_error *error);

/* The workload's kernels that have programs on `device` (`profiled`, `full`: see gt_model_kernels); *wall_us is how long
 * that took.  NULL with the reason; else freed by gt_kernel_model_free(). */
struct gt_kernel_model *gt_run_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                       const struct gt_device *profiled, bool full, struct gt_progress *progress,
                                       double *wall_us, struct gt_error *error);

/* What could not be run, on standard error. */
void gt_run_kernels_warn(const struct gt_workload *workload, const struct gt_kernel_model *modelled);

/* Tasks of `workload`, called `name` in messages, that say no time take it from the table at `path` (NULL: there is none),
 * then from the programs of their kinds, run on `device`; what came of it is said unless `quiet`.  -1 where the table
 * cannot be read or has no kind of any task, or a program cannot be run. */
int gt_price_tasks(const char *path, struct gt_workload *workload, const struct gt_device *device, const char *name,
                   bool quiet, struct gt_error *error);

#endif
