/* accelsim.h - Accel-Sim traces: a list of kernels and copies, and a file of executed instructions a kernel. */
#ifndef GRIDTIDE_TRACES_ACCELSIM_ACCELSIM_H
#define GRIDTIDE_TRACES_ACCELSIM_ACCELSIM_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_accelsim;

#endif
