#include "sim/cmd/input/shared_input.h"

#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "traces/ranks/ranks.h"

/* What the joined workload is called: the names of all, in their order. */
static void name_all(struct gt_workload *joined, struct gt_workload *const *workloads, uint32_t count)
{
    char *name = gt_strdup("");

    for (uint32_t i = 0; i < count; i++) {
        const char *own = workloads[i]->name != NULL ? workloads[i]->name : "";
        char *longer = gt_format("%s%s%s", name, i > 0 ? " + " : "", own);

        free(name);
        name = longer;
    }
    free(joined->name);
    joined->name = name;
}

/* One trace: all of its processes share alike. */
static struct gt_workload *read_one(const char *path, const struct gt_sharing *sharing, bool quiet,
                                    struct gt_error *error)
{
    struct gt_workload *workload = gt_run_read_work(path, quiet, error);

    for (gt_thread_index i = 0; workload != NULL && sharing != NULL && i < workload->thread_count; i++)
        workload->threads[i].sharing = *sharing;
    return workload;
}

static struct gt_workload *read_all(const char *const *paths, uint32_t count, const struct gt_sharing *sharings,
                                    bool quiet, struct gt_error *error)
{
    struct gt_workload *workloads[GT_SHARED_TRACES_MAX], *joined = NULL;
    uint32_t read = 0;

    while (read < count && (workloads[read] = gt_run_read_work(paths[read], true, error)) != NULL)
        read++;
    if (read == count)
        joined = gt_programs_join(workloads, sharings, count, error);
    if (joined != NULL) {
        name_all(joined, workloads, count);
        if (!quiet)
            gt_print_warnings(joined);
    }
    for (uint32_t i = 0; i < read; i++)
        gt_workload_free(workloads[i]);
    return joined;
}

struct gt_workload *gt_shared_read(const char *const *paths, uint32_t count, const char *share, bool quiet,
                                   struct gt_error *error)
{
    struct gt_sharing sharings[GT_SHARED_TRACES_MAX];

    if (share != NULL && gt_sharing_parse_all(share, sharings, count, error) != 0) {
        gt_error_prefix(error, "--share ");
        return NULL;
    }
    return count == 1 ? read_one(paths[0], share != NULL ? sharings : NULL, quiet, error)
                      : read_all(paths, count, sharings, quiet, error);
}

void gt_shared_warn(struct gt_workload *workload, bool quiet)
{
    uint64_t without = 0;

    for (gt_op_index i = 0; i < workload->op_count; i++)
        without +=
            workload->ops[i].kind == GT_OP_KERNEL && workload->kernels[workload->ops[i].kernel].program == NULL;
    gt_run_warn_of_found(workload, "programs-apart", without, quiet);
}

void gt_shared_warn_of_mig(struct gt_workload *workload, bool quiet)
{
    uint64_t processes = 0;

    for (gt_thread_index i = 0; i < workload->thread_count; i++)
        processes += workload->threads[i].sharing.how == GT_SHARE_MIG;
    gt_run_warn_of_found(workload, "mig-documented", processes, quiet);
}
