/* inquiry.h - a trace that what-ifs are asked of, with the device, framework and kernels that the answers are for. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_INQUIRY_H
#define GRIDTIDE_SIM_CMD_INPUT_INQUIRY_H

#include "sim/cmd/input/options.h"
#include "sim/cmd/input/run_input.h"
#include "sim/whatif/whatif.h"

struct gt_inquiry {
    struct gt_workload *workload;
    struct gt_device device;
    struct gt_framework framework;
    struct gt_kernel_model *modelled; /* NULL: no kernel has a program */
    struct gt_whatif_host host;
    char *name; /* the trace's own, or its file's */
};

/* Read the trace at `path`, with the programs that its kernels take from `model`'s profiles, which have been read, and how
 * long these say that kernels last.  `independent`: patterns, NULL-ended, which must last.  Returns 0; -1 with the reason.
 * Either way gt_inquiry_free() ends it. */
int gt_inquiry_begin(struct gt_inquiry *inquiry, const char *path, const struct gt_model_options *model,
                     const char *const *independent, bool quiet, struct gt_error *error);
void gt_inquiry_free(struct gt_inquiry *inquiry);

/* What is asked about; it lasts as long as the inquiry. */
struct gt_whatif_subject gt_inquiry_subject(const struct gt_inquiry *inquiry, const struct gt_model_options *model,
                                            bool bars);

#endif
