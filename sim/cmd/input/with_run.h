/* with_run.h - what a command reads that explains a run: a store, or a trace, which is simulated first. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_WITH_RUN_H
#define GRIDTIDE_SIM_CMD_INPUT_WITH_RUN_H

#include "sim/cmd/input/common.h"

/* As gt_with_store(); where `path` is a file that is no store, it is taken for a trace: `gridtide run` simulates it, with
 * its defaults, into a store that is gone afterwards; `quiet`: without its progress, notes and warnings.  Returns an exit
 * status. */
int gt_with_run(const char *path, bool quiet, gt_store_work *work, const void *arguments);

#endif
