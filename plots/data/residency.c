#include "plots/data/residency.h"

#include <stdlib.h>
#include <string.h>

/* The width of a bin; 0: the run has none. */
static int read_bin_ps(const struct gt_view *view, int64_t *bin_ps, struct gt_error *error)
{
    sqlite3_stmt *query = gt_view_query(view, "SELECT CAST(value AS INTEGER) FROM counter"
                                        " WHERE run_id = ?1 AND name = 'bin_ps'", error);
    int result;

    *bin_ps = 0;
    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, view->subject->stats->run.run_id);
    result = gt_view_row(view, query, error);
    if (result == 1)
        *bin_ps = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return result < 0 ? -1 : 0;
}

/* The GPUs that have SMs in the run, in the order of the statistics. */
static void find_gpus(struct gt_residency *residency, const struct gt_stats *stats)
{
    residency->sms = stats->run.device.sms;
    residency->gpu_ids = gt_calloc(stats->sm_count + 1, sizeof *residency->gpu_ids);
    for (size_t i = 0; i < stats->sm_count; i++)
        if (residency->gpus == 0 || residency->gpu_ids[residency->gpus - 1] != stats->sms[i].gpu)
            residency->gpu_ids[residency->gpus++] = stats->sms[i].gpu;
}

/* Columns of whole bins, from the first operation's to the last one's. */
static void plan_columns(struct gt_residency *residency, const struct gt_side *side, int64_t bin_ps,
                         int64_t *first_bin, int64_t *group)
{
    const struct gt_stats_summary *summary = &side->stats->summary;
    int64_t last_bin = summary->end_ps == 0 ? 0 : (int64_t)((summary->end_ps - 1) / (uint64_t)bin_ps);

    *first_bin = (int64_t)(summary->start_ps / (uint64_t)bin_ps);
    *group = (last_bin - *first_bin) / GT_RESIDENCY_COLUMNS_MAX + 1;
    residency->columns = (size_t)((last_bin - *first_bin) / *group + 1);
    residency->column_ps = (uint64_t)*group * (uint64_t)bin_ps;
    residency->from_ps = *first_bin * bin_ps - side->origin_ps;
}

static int read_bins(struct gt_residency *residency, const struct gt_view *view, int64_t first_bin,
                     int64_t group, struct gt_error *error)
{
    const struct gt_stats *stats = view->subject->stats;
    double full_ps = (double)residency->column_ps * stats->run.device.warps_per_sm;
    sqlite3_stmt *query = gt_view_query(view,
                                        "SELECT g.id, b.sm, b.bin, b.warp_ps FROM run_bin b JOIN gpu g"
                                        " ON g.trace_id = ?2 AND g.gpu_no = b.gpu_no WHERE b.run_id = ?1",
                                        error);
    int result = -1;

    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, stats->run.run_id);
    sqlite3_bind_int64(query, 2, stats->run.trace_id);
    while ((result = gt_view_row(view, query, error)) == 1) {
        int64_t gpu_id = sqlite3_column_int64(query, 0), sm = sqlite3_column_int64(query, 1);
        int64_t bin = sqlite3_column_int64(query, 2);
        size_t gpu = 0, column;

        while (gpu < residency->gpus && residency->gpu_ids[gpu] != gpu_id)
            gpu++;
        if (gpu == residency->gpus || sm < 0 || (size_t)sm >= residency->sms || bin < first_bin)
            continue;
        column = (size_t)((bin - first_bin) / group);
        if (column < residency->columns)
            residency->share[(gpu * residency->sms + (size_t)sm) * residency->columns + column] +=
                (float)((double)sqlite3_column_int64(query, 3) / full_ps);
    }
    sqlite3_finalize(query);
    return result;
}

int gt_residency_load(struct gt_residency *residency, const struct gt_view *view, struct gt_error *error)
{
    const struct gt_stats *stats = view->subject->stats;
    int64_t bin_ps, first_bin, group;

    memset(residency, 0, sizeof *residency);
    if (read_bin_ps(view, &bin_ps, error) != 0)
        return -1;
    if (bin_ps <= 0 || stats->sm_count == 0 || stats->summary.makespan_ps == 0 || stats->run.device.sms == 0
        || stats->run.device.warps_per_sm == 0)
        return 0;
    find_gpus(residency, stats);
    plan_columns(residency, view->subject, bin_ps, &first_bin, &group);
    residency->share =
        gt_calloc(residency->gpus * residency->sms * residency->columns, sizeof *residency->share);
    if (read_bins(residency, view, first_bin, group, error) != 0) {
        gt_residency_free(residency);
        return -1;
    }
    return 1;
}

void gt_residency_free(struct gt_residency *residency)
{
    free(residency->gpu_ids);
    free(residency->share);
    memset(residency, 0, sizeof *residency);
}
