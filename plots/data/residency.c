#include "plots/data/residency.h"

#include <stdlib.h>
#include <string.h>

#include "traces/store/run_rows.h"

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

/* Bins on their way into columns. */
struct bins {
    struct gt_residency *residency;
    int64_t first_bin, group;
    double full_ps; /* of warps in one column */
};

static int add_bin(void *user, const struct gt_bin_row *row, struct gt_error *error)
{
    const struct bins *bins = user;
    struct gt_residency *residency = bins->residency;
    size_t gpu = 0, column;

    (void)error;
    while (gpu < residency->gpus && residency->gpu_ids[gpu] != row->gpu_id)
        gpu++;
    if (gpu == residency->gpus || row->sm < 0 || (size_t)row->sm >= residency->sms || row->bin < bins->first_bin)
        return 0;
    column = (size_t)((row->bin - bins->first_bin) / bins->group);
    if (column < residency->columns)
        residency->share[(gpu * residency->sms + (size_t)row->sm) * residency->columns + column] +=
            (float)((double)row->warp_ps / bins->full_ps);
    return 0;
}

int gt_residency_load(struct gt_residency *residency, const struct gt_view *view, struct gt_error *error)
{
    const struct gt_stats *stats = view->subject->stats;
    struct bins bins = { .residency = residency };
    int64_t bin_ps;

    memset(residency, 0, sizeof *residency);
    if (gt_run_bin_ps(view->database, stats->run.run_id, &bin_ps, error) != 0)
        return -1;
    if (bin_ps <= 0 || stats->sm_count == 0 || stats->summary.makespan_ps == 0 || stats->run.device.sms == 0 ||
        stats->run.device.warps_per_sm == 0)
        return 0;
    find_gpus(residency, stats);
    plan_columns(residency, view->subject, bin_ps, &bins.first_bin, &bins.group);
    bins.full_ps = (double)residency->column_ps * stats->run.device.warps_per_sm;
    residency->share = gt_calloc(residency->gpus * residency->sms * residency->columns, sizeof *residency->share);
    if (gt_run_bins(view->database, stats->run.run_id, add_bin, &bins, error) != 0) {
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
