/* ncu.h - Nsight Compute reports: kernels with programs. */
#ifndef GRIDTIDE_TRACES_NCU_NCU_H
#define GRIDTIDE_TRACES_NCU_NCU_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_ncu;

#endif
