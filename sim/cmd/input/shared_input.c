#include "sim/cmd/input/shared_input.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/run_input.h"
#include "traces/ranks/ranks.h"

static struct gt_workload *read_one(const char *path, const char *share, bool quiet, struct gt_error *error)
{
    struct gt_workload *workload = gt_run_read(path, quiet, error);
    struct gt_sharing sharing;

    if (workload == NULL || share == NULL)
        return workload;
    if (gt_sharing_parse(share, strlen(share), &sharing, error) != 0) {
        gt_error_prefix(error, "--share ");
        gt_workload_free(workload);
        return NULL;
    }
    for (gt_thread_index i = 0; i < workload->thread_count; i++)
        workload->threads[i].sharing = sharing;
    return workload;
}

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

struct gt_workload *gt_shared_read(const char *const *paths, uint32_t count, const char *share, bool quiet,
                                   struct gt_error *error)
{
    struct gt_workload *workloads[GT_SHARED_TRACES_MAX], *joined = NULL;
    struct gt_sharing sharings[GT_SHARED_TRACES_MAX];
    uint32_t read = 0;

    if (count == 1)
        return read_one(paths[0], share, quiet, error);
    if (gt_sharing_parse_all(share, sharings, count, error) != 0) {
        gt_error_prefix(error, "--share ");
        return NULL;
    }
    while (read < count && (workloads[read] = gt_run_read(paths[read], true, error)) != NULL)
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
