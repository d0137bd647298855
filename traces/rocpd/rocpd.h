/* rocpd.h - databases of rocprofv3, the profiler of ROCm (rocprofiler-sdk's format "rocpd", schema 3). */
#ifndef GRIDTIDE_TRACES_ROCPD_ROCPD_H
#define GRIDTIDE_TRACES_ROCPD_ROCPD_H

#include "traces/import/importer.h"

extern const struct gt_importer gt_importer_rocpd;

#endif
