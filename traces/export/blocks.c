/* blocks.c - residency of a run: counters of blocks and warps, blocks on the tracks of SMs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "traces/export/internal.h"

enum { NAME_BYTES = 128, MOST_SLICES = 200000, MOST_SMS = 65536 };

/* Bins in order of time; a bin of nothing where there is none after one. */
static const char residency_sql[] =
    "WITH b AS (SELECT gpu_no, bin, sum(block_ps) AS blocks, sum(warp_ps) AS warps FROM run_bin"
    " WHERE run_id = ?1 GROUP BY gpu_no, bin), "
    "n AS (SELECT *, lead(bin) OVER (PARTITION BY gpu_no ORDER BY bin) AS next FROM b), "
    "v AS (SELECT gpu_no, bin, blocks, warps FROM n UNION ALL"
    " SELECT gpu_no, bin + 1, 0, 0 FROM n WHERE next IS NULL OR next > bin + 1) "
    "SELECT v.gpu_no, bin, blocks, warps, id, (SELECT CAST(value AS INTEGER) FROM counter"
    " WHERE run_id = ?1 AND counter.name = 'bin_ps') "
    "FROM v JOIN gpu g ON g.trace_id = ?2 AND g.gpu_no = v.gpu_no ORDER BY bin, v.gpu_no";

/* One of the two counters of a GPU: its track when it is new, its value in this bin. */
static int write_counter(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                         enum gt_export_group group, uint64_t gpu, uint64_t bin, uint64_t bin_ps, bool *written,
                         struct gt_error *error)
{
    bool blocks = group == GT_GROUP_BLOCKS;
    char prefix[NAME_BYTES / 2], name[NAME_BYTES];
    gt_export_gpu(export, gt_query_integer(query, 4), prefix, sizeof(prefix));
    snprintf(name, sizeof(name), "%sresident %s", prefix, blocks ? "blocks" : "warps");
    struct gt_perfetto_track track = gt_export_track(export, group, gpu, name);
    track.parent = gt_export_uuid(&export->run, GT_GROUP_RUN, 0);
    track.rank = (int)group;
    if (!*written && gt_perfetto_counter(export->output, &track, blocks ? "blocks" : "warps", error) != 0)
        return -1;
    *written = true;
    double value = gt_query_real(query, blocks ? 2 : 3) / (double)bin_ps;
    return gt_perfetto_value(sequence, track.uuid, bin * bin_ps, value, error);
}

/* Residency is known of all streams and kernels together. */
static bool is_shown(const struct gt_export *export, uint64_t start_ps, uint64_t bin_ps)
{
    return export->selection.by_time && start_ps + bin_ps > export->selection.from_ps &&
           start_ps < export->selection.to_ps;
}

static int write_bin(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                     bool written[GT_MOST_GPUS][2], struct gt_error *error)
{
    uint64_t gpu, bin, bin_ps;
    if (gt_query_number(query, 0, GT_MOST_GPUS - 1, "gpu_no", &gpu, error) != 0 ||
        gt_query_number(query, 5, GT_TIME_LIMIT_PS, "bin_ps", &bin_ps, error) != 0)
        return -1;
    if (bin_ps == 0)
        return gt_error_set(error, "bin_ps is 0; the store is damaged");
    if (gt_query_number(query, 1, GT_TIME_LIMIT_PS / bin_ps, "bin", &bin, error) != 0)
        return -1;
    if (!is_shown(export, bin * bin_ps, bin_ps))
        return 0;
    if (write_counter(export, sequence, query, GT_GROUP_BLOCKS, gpu, bin, bin_ps, &written[gpu][0], error) != 0)
        return -1;
    return write_counter(export, sequence, query, GT_GROUP_WARPS, gpu, bin, bin_ps, &written[gpu][1], error);
}

int gt_export_residency(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    bool written[GT_MOST_GPUS][2] = { { false } };
    struct gt_query *query =
        gt_export_query(export->database, residency_sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_bin(export, sequence, query, written, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

/* How many blocks the run had in all; how many of them are stored one by one. */
static const char counts_sql[] =
    "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM counter WHERE run_id = ?1 AND name = 'blocks'), 0),"
    " coalesce((SELECT sum(blocks) FROM run_block WHERE run_id = ?1), 0)";

/* What is shown of SMs: blocks one by one, and from a time on warps by interval. */
struct sms {
    struct gt_export *export;
    uint64_t left;    /* blocks that may still be shown */
    bool all;         /* every block of the part that is shown can be */
    uint64_t from_ps; /* where warps begin: the last block's start */
};

/* The group of SM tracks; its name says so where not all blocks are shown. */
static int begin_sms(struct sms *sms, struct gt_error *error)
{
    char name[NAME_BYTES];
    uint64_t all, stored;
    struct gt_query *query = gt_export_query(sms->export->database, counts_sql, sms->export->run.run_id, 0, error);
    int status = query != NULL && gt_query_next(query, error) == 1 ? 0 : -1;
    if (status == 0 && (gt_query_number(query, 0, INT64_MAX, "blocks", &all, error) != 0 ||
                        gt_query_number(query, 1, INT64_MAX, "blocks", &stored, error) != 0))
        status = -1;
    gt_query_end(query);
    if (status != 0)
        return -1;
    sms->left = stored < MOST_SLICES ? stored : MOST_SLICES;
    sms->all = sms->left >= all && sms->left >= stored;
    if (!sms->all && sms->export->selection.all)
        snprintf(name, sizeof(name), "SMs (the first %" PRIu64 " of %" PRIu64 " blocks, then warps)", sms->left,
                 all > stored ? all : stored);
    else
        snprintf(name, sizeof(name), "SMs");
    return sms->left > 0 ? gt_export_group(sms->export, GT_GROUP_SMS, name, error) : 0;
}

/* Rows hold a block or more each. */
static const char blocks_sql[] =
    "SELECT b.op_no, b.start_ps, b.end_ps, b.gpu_no, g.id, b.sm, b.first_block, b.blocks, k.name "
    "FROM run_block b JOIN op o ON o.trace_id = ?2 AND o.op_no = b.op_no "
    "JOIN kernel k ON k.trace_id = ?2 AND k.kernel_no = o.kernel_no "
    "JOIN gpu g ON g.trace_id = ?2 AND g.gpu_no = b.gpu_no "
    "WHERE b.run_id = ?1 ORDER BY b.start_ps, b.op_no, b.first_block, b.sm";

/* The blocks of a row, each in a free slot of their SM. */
static int write_blocks(struct sms *sms, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                        struct gt_error *error)
{
    char prefix[NAME_BYTES / 2], name[NAME_BYTES];
    struct gt_perfetto_note notes[2];
    struct gt_perfetto_slice slice = { .notes = notes, .note_count = 2, .category = "block" };
    uint64_t op, gpu, sm, first, blocks;
    if (gt_export_number(query, 0, "op_no", &op, error) != 0 ||
        gt_query_span(query, 1, "block of operation", (int64_t)op, &slice.start_ps, &slice.end_ps, error) != 0 ||
        gt_query_number(query, 3, GT_MOST_GPUS - 1, "gpu_no", &gpu, error) != 0 ||
        gt_query_number(query, 5, MOST_SMS - 1, "sm", &sm, error) != 0 ||
        gt_query_number(query, 6, INT64_MAX, "first_block", &first, error) != 0 ||
        gt_query_number(query, 7, INT64_MAX, "blocks", &blocks, error) != 0)
        return -1;
    gt_export_gpu(sms->export, gt_query_integer(query, 4), prefix, sizeof(prefix));
    snprintf(name, sizeof(name), "%sSM %" PRIu64, prefix, sm);
    struct gt_perfetto_track track = gt_export_track(sms->export, GT_GROUP_SMS, gpu * MOST_SMS + sm, name);
    slice.name = gt_export_text(query, 8);
    notes[0] = (struct gt_perfetto_note){ "operation", NULL, op };
    sms->from_ps = slice.start_ps;
    for (uint64_t i = 0; i < blocks && sms->left > 0; i++, sms->left--) {
        notes[1] = (struct gt_perfetto_note){ "block", NULL, first + i };
        if (gt_perfetto_slice(sequence, &track, &slice, error) != 0)
            return -1;
    }
    return 0;
}

/* Warps of each SM by interval, from where no more blocks are shown: none where there are none after some. */
static const char warps_sql[] =
    "WITH n AS (SELECT *, lead(bin) OVER (PARTITION BY gpu_no, sm ORDER BY bin) AS next FROM run_bin"
    " WHERE run_id = ?1), "
    "v AS (SELECT gpu_no, sm, bin, warp_ps FROM n UNION ALL"
    " SELECT gpu_no, sm, bin + 1, 0 FROM n WHERE next IS NULL OR next > bin + 1) "
    "SELECT v.gpu_no, v.sm, v.bin, v.warp_ps, g.id, (SELECT CAST(value AS INTEGER) FROM counter"
    " WHERE run_id = ?1 AND counter.name = 'bin_ps') "
    "FROM v JOIN gpu g ON g.trace_id = ?2 AND g.gpu_no = v.gpu_no ORDER BY v.bin, v.gpu_no, v.sm";

/* Counters come behind the tracks of all SMs. */
enum { WARP_TRACKS = GT_MOST_GPUS * MOST_SMS };

static int write_warps(struct sms *sms, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                       uint8_t *written, struct gt_error *error)
{
    char prefix[NAME_BYTES / 2], name[NAME_BYTES];
    uint64_t gpu, sm, bin, bin_ps;
    if (gt_query_number(query, 0, GT_MOST_GPUS - 1, "gpu_no", &gpu, error) != 0 ||
        gt_query_number(query, 1, MOST_SMS - 1, "sm", &sm, error) != 0 ||
        gt_query_number(query, 5, GT_TIME_LIMIT_PS, "bin_ps", &bin_ps, error) != 0)
        return -1;
    if (bin_ps == 0)
        return gt_error_set(error, "bin_ps is 0; the store is damaged");
    if (gt_query_number(query, 2, GT_TIME_LIMIT_PS / bin_ps, "bin", &bin, error) != 0)
        return -1;
    if (bin * bin_ps < sms->from_ps || !is_shown(sms->export, bin * bin_ps, bin_ps))
        return 0;
    uint64_t index = gpu * MOST_SMS + sm;
    gt_export_gpu(sms->export, gt_query_integer(query, 4), prefix, sizeof(prefix));
    snprintf(name, sizeof(name), "%sSM %" PRIu64 " warps", prefix, sm);
    struct gt_perfetto_track track = gt_export_track(sms->export, GT_GROUP_SMS, WARP_TRACKS + index, name);
    track.rank = (int)index;
    if (!written[index] && (gt_export_group(sms->export, GT_GROUP_SMS, "SMs", error) != 0 ||
                            gt_perfetto_counter(sms->export->output, &track, "warps", error) != 0))
        return -1;
    written[index] = 1;
    return gt_perfetto_value(sequence, track.uuid, bin * bin_ps, gt_query_real(query, 3) / (double)bin_ps, error);
}

static int write_all_warps(struct sms *sms, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    uint8_t *written = gt_calloc(WARP_TRACKS, 1);
    struct gt_query *query =
        gt_export_query(sms->export->database, warps_sql, sms->export->run.run_id, sms->export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_warps(sms, sequence, query, written, error) != 0)
            row = -1;
    gt_query_end(query);
    free(written);
    return row;
}

int gt_export_blocks(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    struct sms sms = { .export = export };
    if (begin_sms(&sms, error) != 0)
        return -1;
    struct gt_query *query =
        gt_export_query(export->database, blocks_sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && sms.left > 0 && (row = gt_query_next(query, error)) > 0)
        if (gt_selection_has_op(&export->selection, gt_query_integer(query, 0)) &&
            write_blocks(&sms, sequence, query, error) != 0)
            row = -1;
    gt_query_end(query);
    if (row < 0)
        return -1;
    return sms.all ? 0 : write_all_warps(&sms, sequence, error);
}
