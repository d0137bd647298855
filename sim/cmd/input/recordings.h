/* recordings.h - profiles as the commands read them: one, or those of all ranks of a job. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_RECORDINGS_H
#define GRIDTIDE_SIM_CMD_INPUT_RECORDINGS_H

#include <stdbool.h>

#include "traces/importers.h"

struct gt_recordings {
    const char *format; /* as typed; NULL: each file's first bytes decide */
    const char *const *paths;
    uint32_t count;
    const char *keep;            /* as in gt_import_options */
    const char *execution_trace; /* as in gt_import_options; of a single recording */
    bool warm_caches;
    bool quiet; /* no progress */
};

/* Read them and make one workload of them, in which kernels of collectives belong together (traces/ranks).  *importer is
 * the first file's; NULL where there is none for it, as of an unknown format.  NULL with the reason. */
struct gt_workload *gt_recordings_read(const struct gt_recordings *recordings, const struct gt_importer **importer,
                                       struct gt_error *error);

#endif
