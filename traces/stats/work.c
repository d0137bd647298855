/* What the parts of the statistics share while they are computed. */
#include <stdlib.h>

#include "traces/stats/internal.h"

const char *const gt_path_kind_names[GT_PATH_KINDS] = {
    [GT_PATH_KERNEL] = "kernel",         [GT_PATH_COPY] = "copy",
    [GT_PATH_MEMSET] = "memset",         [GT_PATH_HOST_FUNCTION] = "host function",
    [GT_PATH_LAUNCH] = "launch latency", [GT_PATH_GAP] = "gap",
    [GT_PATH_API] = "host API",          [GT_PATH_HOST_WORK] = "host work",
    [GT_PATH_UNKNOWN] = "unknown",
};

void gt_stats_note(struct gt_stats *stats, const char *section, const char *text)
{
    if (stats->note_count == GT_STATS_NOTES_MAX)
        gt_bug("more notes than there are reasons for");
    stats->notes[stats->note_count++] = (struct gt_stats_note){ section, text };
}

void gt_stats_work_free(struct gt_stats_work *work)
{
    for (size_t i = 0; i < work->kernels; i++)
        free(work->kernel_names[i]);
    free(work->kernel_names);
    free(work->shapes);
    free(work->gpu_ids);
    gt_selection_free(&work->selection);
}

struct gt_query *gt_stats_query(struct gt_stats_work *work, const char *sql, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(work->database, sql, error);

    if (query != NULL) {
        gt_query_bind(query, 1, work->stats->run.run_id);
        gt_query_bind(query, 2, work->stats->run.trace_id);
    }
    return query;
}
