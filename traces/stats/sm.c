/* SMs: how long and how full each was, and all of them over time. */
#include <math.h>
#include <stdlib.h>

#include "traces/stats/internal.h"

/* What is summed while rows pass. */
struct sm_sums {
    double warp_ps; /* resident warps times picoseconds: may pass 64 bits */
    gt_time_ps busy_ps;
    uint64_t blocks;
};

/* When an SM had blocks. */
struct span {
    struct sm_sums *sums;
    gt_time_ps start_ps, end_ps;
};

struct sms {
    struct gt_stats_work *work;
    struct sm_sums *sums; /* by gpu_no, SM */
    uint64_t bin_ps;
    uint64_t first_bin, bins, group; /* of the makespan; `group` bins make an interval */
    double interval_warp_ps[GT_STATS_INTERVALS_MAX];
    bool *gpu_seen;
    bool dropped;       /* run_block does not hold all */
    struct span *spans; /* of run_block */
    size_t span_count, span_room;
};

static int read_counter(struct gt_stats_work *work, const char *name, uint64_t *value, struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT CAST(value AS INTEGER) FROM counter"
                                            " WHERE run_id = ?1 AND name = ?3",
                                            error);
    int result = -1;

    *value = 0;
    if (query != NULL) {
        gt_query_bind_text(query, 3, name);
        result = gt_query_next(query, error);
        if (result == 1)
            result = gt_query_number(query, 0, GT_TIME_LIMIT_PS, name, value, error);
    }
    gt_query_end(query);
    return result;
}

/* The sums of the SM named by columns 0 (gpu_no) and 1 (sm). */
static struct sm_sums *sums_of(struct sms *sms, struct gt_query *query, struct gt_error *error)
{
    uint32_t count = sms->work->stats->run.device.sms;
    uint64_t gpu, sm;

    if (count == 0 || sms->work->gpus == 0) {
        gt_error_set(error, "blocks on a device without SMs; the store is damaged");
        return NULL;
    }
    if (gt_query_number(query, 0, sms->work->gpus - 1, "gpu_no", &gpu, error) != 0 ||
        gt_query_number(query, 1, count - 1, "sm", &sm, error) != 0)
        return NULL;
    sms->gpu_seen[gpu] = true;
    return &sms->sums[gpu * count + sm];
}

static int add_bin(struct sms *sms, struct gt_query *query, struct gt_error *error)
{
    struct sm_sums *sums = sums_of(sms, query, error);
    uint64_t bin, warp_ps, block_ps;

    if (sums == NULL || gt_query_number(query, 2, GT_TIME_LIMIT_PS, "bin", &bin, error) != 0 ||
        gt_query_number(query, 3, INT64_MAX, "warp_ps", &warp_ps, error) != 0 ||
        gt_query_number(query, 4, INT64_MAX, "block_ps", &block_ps, error) != 0)
        return gt_error_prefix(error, "run_bin: ");
    if (!sms->work->selection.all && (bin < sms->first_bin || bin - sms->first_bin >= sms->bins))
        return 0;
    sums->warp_ps += (double)warp_ps;
    if (sms->dropped)
        sums->busy_ps = gt_time_add(sums->busy_ps, block_ps < sms->bin_ps ? block_ps : sms->bin_ps);
    if (bin >= sms->first_bin && bin - sms->first_bin < sms->bins)
        sms->interval_warp_ps[(bin - sms->first_bin) / sms->group] += (double)warp_ps;
    return 0;
}

static int add_blocks(struct sms *sms, struct gt_query *query, struct gt_error *error)
{
    struct sm_sums *sums;
    gt_time_ps start_ps, end_ps;
    uint64_t blocks;

    if (!gt_selection_has_op(&sms->work->selection, gt_query_integer(query, 5)))
        return 0;
    sums = sums_of(sms, query, error);
    if (sums == NULL ||
        gt_query_span(query, 2, "a block of operation", gt_query_integer(query, 5), &start_ps, &end_ps, error) != 0 ||
        gt_query_number(query, 4, UINT32_MAX, "blocks", &blocks, error) != 0)
        return gt_error_prefix(error, "run_block: ");
    if (sms->span_count == sms->span_room) {
        sms->span_room = sms->span_room == 0 ? 4096 : 2 * sms->span_room;
        sms->spans = gt_realloc(sms->spans, sms->span_room, sizeof *sms->spans);
    }
    sms->spans[sms->span_count++] = (struct span){ sums, start_ps, end_ps };
    sums->blocks = gt_time_add(sums->blocks, blocks);
    return 0;
}

static int by_sm_and_start(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->sums != b->sums)
        return a->sums < b->sums ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

/* How long each SM had blocks at all.  Sorted here: of the million rows that a store keeps at most, SQLite would
 * sort copies, at ten times the cost. */
static void add_busy_times(struct sms *sms)
{
    const struct sm_sums *sums = NULL;
    gt_time_ps until_ps = 0;

    if (sms->span_count > 0)
        qsort(sms->spans, sms->span_count, sizeof *sms->spans, by_sm_and_start);
    for (size_t i = 0; i < sms->span_count; i++) {
        const struct span *span = &sms->spans[i];

        if (span->sums != sums)
            until_ps = 0;
        sums = span->sums;
        if (span->end_ps <= until_ps)
            continue;
        span->sums->busy_ps += span->end_ps - (span->start_ps > until_ps ? span->start_ps : until_ps);
        until_ps = span->end_ps;
    }
}

static int each_row(struct sms *sms, const char *sql, int (*add)(struct sms *, struct gt_query *, struct gt_error *),
                    struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(sms->work, sql, error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        if (add(sms, query, error) != 0) {
            result = -1;
            break;
        }
    }
    gt_query_end(query);
    return result;
}

/* How the makespan's bins make at most GT_STATS_INTERVALS_MAX intervals of equal length. */
static void plan_intervals(struct sms *sms)
{
    const struct gt_stats_summary *summary = &sms->work->stats->summary;

    sms->group = 1;
    if (sms->bin_ps == 0 || summary->makespan_ps == 0)
        return;
    sms->first_bin = summary->start_ps / sms->bin_ps;
    sms->bins = (summary->end_ps - 1) / sms->bin_ps - sms->first_bin + 1;
    sms->group = (sms->bins + GT_STATS_INTERVALS_MAX - 1) / GT_STATS_INTERVALS_MAX;
}

static void finish_sms(struct sms *sms)
{
    struct gt_stats *stats = sms->work->stats;
    double makespan_ps = (double)stats->summary.makespan_ps;
    uint32_t count = stats->run.device.sms;

    stats->sms = gt_calloc(sms->work->gpus * count + 1, sizeof *stats->sms);
    for (size_t gpu = 0; gpu < sms->work->gpus; gpu++) {
        for (uint32_t sm = 0; sms->gpu_seen[gpu] && sm < count; sm++) {
            const struct sm_sums *sums = &sms->sums[gpu * count + sm];
            double warps = makespan_ps == 0 ? NAN : sums->warp_ps / makespan_ps;

            stats->sms[stats->sm_count++] = (struct gt_stats_sm){
                .gpu = sms->work->gpu_ids[gpu],
                .sm = sm,
                .busy_ps = sums->busy_ps,
                .mean_warps = warps,
                .occupancy = warps / stats->run.device.warps_per_sm,
                .blocks_known = !sms->dropped,
                .blocks = sms->dropped ? 0 : sums->blocks,
            };
        }
    }
    stats->sms_estimated = sms->dropped && stats->sm_count > 0;
    if (stats->sm_count == 0)
        gt_stats_note(stats, "sms", "unknown: the run has no blocks (a measured run, or --blocks off)");
    else if (sms->dropped)
        gt_stats_note(stats, "sms",
                      "busy times are upper bounds, computed from intervals: the run has too many blocks to "
                      "store each");
}

static void finish_intervals(struct sms *sms)
{
    struct gt_stats *stats = sms->work->stats;
    const struct gt_stats_summary *summary = &stats->summary;
    double warps_all = (double)stats->sm_count * stats->run.device.warps_per_sm;

    if (stats->sm_count == 0 || sms->bins == 0) {
        gt_stats_note(stats, "occupancy", "unknown: the run has no blocks");
        return;
    }
    stats->interval_count = (sms->bins + sms->group - 1) / sms->group;
    stats->intervals = gt_calloc(stats->interval_count, sizeof *stats->intervals);
    for (size_t i = 0; i < stats->interval_count; i++) {
        struct gt_stats_interval *out = &stats->intervals[i];

        out->from_ps = (sms->first_bin + i * sms->group) * sms->bin_ps;
        out->to_ps = out->from_ps + sms->group * sms->bin_ps;
        if (out->from_ps < summary->start_ps)
            out->from_ps = summary->start_ps;
        if (out->to_ps > summary->end_ps)
            out->to_ps = summary->end_ps;
        out->mean_warps = sms->interval_warp_ps[i] / (double)(out->to_ps - out->from_ps);
        out->occupancy = out->mean_warps / warps_all;
    }
}

/* What was resident is known of all operations together. */
static bool tells_apart(const struct gt_stats_work *work)
{
    if (work->selection.by_time)
        return false;
    gt_stats_note(work->stats, "sms", "not available with --stream or --kernel; omit these options");
    return true;
}

int gt_stats_sms(struct gt_stats_work *work, struct gt_error *error)
{
    struct sms sms = { .work = work };
    uint64_t dropped;
    int result = -1;

    if (tells_apart(work))
        return 0;
    sms.sums = gt_calloc(work->gpus * work->stats->run.device.sms + 1, sizeof *sms.sums);
    sms.gpu_seen = gt_calloc(work->gpus + 1, sizeof *sms.gpu_seen);
    if (read_counter(work, "bin_ps", &sms.bin_ps, error) == 0 &&
        read_counter(work, "blocks_dropped", &dropped, error) == 0) {
        sms.dropped = dropped > 0;
        plan_intervals(&sms);
        result = each_row(&sms,
                          "SELECT gpu_no, sm, bin, warp_ps, block_ps FROM run_bin WHERE run_id = ?1"
                          " ORDER BY gpu_no, sm, bin",
                          add_bin, error);
    }
    if (result == 0 && !sms.dropped)
        result = each_row(&sms,
                          "SELECT gpu_no, sm, start_ps, end_ps, blocks, op_no FROM run_block"
                          " WHERE run_id = ?1",
                          add_blocks, error);
    if (result == 0) {
        add_busy_times(&sms);
        finish_sms(&sms);
        finish_intervals(&sms);
    }
    free(sms.sums);
    free(sms.gpu_seen);
    free(sms.spans);
    return result;
}
