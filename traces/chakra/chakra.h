/* chakra.h - execution traces of MLCommons Chakra (.et): one file a rank, read and written. */
#ifndef GRIDTIDE_TRACES_CHAKRA_CHAKRA_H
#define GRIDTIDE_TRACES_CHAKRA_CHAKRA_H

#include "traces/import/importer.h"

#define GT_CHAKRA_ENDING ".et"

extern const struct gt_importer gt_importer_chakra;

/* Write a recorded workload, a file for each process that it has threads of: `path` itself where there is one and the name
 * ends in .et (.et.gz and .et.zst compress), else PATH.RANK.et (of "job" or "job.et" job.0.et, job.1.et, ...), as ASTRA-sim reads them.  All files
 * are written, or none.  -1 with the reason: measured times are missing. */
int gt_chakra_write(const struct gt_workload *workload, const char *path, struct gt_error *error);

#endif
