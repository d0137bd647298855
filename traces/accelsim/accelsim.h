/* accelsim.h - Accel-Sim traces: a list of kernels and copies, and a file of executed instructions a kernel. */
#ifndef GRIDTIDE_TRACES_ACCELSIM_ACCELSIM_H
#define GRIDTIDE_TRACES_ACCELSIM_ACCELSIM_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_accelsim;

/* Write the launches of kernels that have programs, and the copies to the GPU, as the folder `path`, which must not exist:
 * kernelslist.g and a file a kernel, tracer version 6.  Addresses, and which threads are active, are made up from the means
 * of the programs (places.c).  -1 with the reason, and no folder. */
int gt_accelsim_write(const struct gt_workload *workload, const char *path, struct gt_error *error);

#endif
