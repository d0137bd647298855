/* priorities.c - priorities of streams, as profiles have them or lack them. */
#include <stdlib.h>

#include "sim/base/error.h"
#include "traces/import/builder.h"

int32_t gt_import_priority(struct gt_import *import, int64_t priority)
{
    gt_import_warn(import->workload, "priorities-clamped", priority < INT32_MIN || priority > INT32_MAX);
    return priority < INT32_MIN ? INT32_MIN : priority > INT32_MAX ? INT32_MAX : (int32_t)priority;
}

void gt_import_warn_priorities(struct gt_import *import)
{
    struct gt_workload *workload = import->workload;
    bool *seen = gt_calloc(workload->stream_count + 1ull, sizeof *seen);
    uint32_t *of_gpu = gt_calloc(workload->gpu_count + 1ull, sizeof *of_gpu), count = 0;

    for (uint32_t i = 0; i < import->op_count; i++) {
        uint32_t stream = import->ops[i].stream;

        if (import->ops[i].kind == GT_OP_KERNEL && !seen[stream]) {
            seen[stream] = true;
            of_gpu[workload->streams[stream].gpu]++;
        }
    }
    for (uint32_t gpu = 0; gpu < workload->gpu_count; gpu++)
        count += of_gpu[gpu] > 1 ? of_gpu[gpu] : 0;
    free(seen);
    free(of_gpu);
    gt_import_warn(workload, "priorities-unknown", count);
}
