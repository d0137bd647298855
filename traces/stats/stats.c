#include "traces/stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/stats/internal.h"

const char *const gt_path_kind_names[GT_PATH_KINDS] = {
    [GT_PATH_KERNEL] = "kernel", [GT_PATH_COPY] = "copy", [GT_PATH_MEMSET] = "memset",
    [GT_PATH_HOST_FUNCTION] = "host function", [GT_PATH_LAUNCH] = "launch latency", [GT_PATH_GAP] = "gap",
    [GT_PATH_API] = "host API", [GT_PATH_HOST_WORK] = "host work", [GT_PATH_UNKNOWN] = "unknown",
};

static int64_t newest_run(sqlite3 *database, const char *kind)
{
    sqlite3_stmt *query;
    int64_t run_id = -1;

    if (sqlite3_prepare_v2(database, "SELECT max(run_id) FROM run WHERE kind = ?1 AND whole = 1", -1,
                           &query, NULL) != SQLITE_OK)
        return -2;
    sqlite3_bind_text(query, 1, kind, -1, SQLITE_STATIC);
    if (sqlite3_step(query) == SQLITE_ROW && sqlite3_column_type(query, 0) != SQLITE_NULL)
        run_id = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return run_id;
}

int64_t gt_stats_find_run(sqlite3 *database, const char *kind, struct gt_error *error)
{
    const char *other = strcmp(kind, "simulated") == 0 ? "measured" : "simulated";
    const char *path = sqlite3_db_filename(database, "main");
    int64_t run_id = newest_run(database, kind);

    if (run_id >= 0)
        return run_id;
    if (run_id == -2)
        return gt_error_set(error, "%s: %s", path, sqlite3_errmsg(database));
    if (newest_run(database, other) >= 0)
        return gt_error_set(error, "%s: no %s run in it; there is a %s one", path, kind, other);
    return gt_error_set(error, "%s: no run in it", path);
}

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
}

static int compute_parts(struct gt_stats_work *work, struct gt_error *error)
{
    if (gt_stats_load(work, error) != 0 || gt_stats_ops(work, error) != 0
        || gt_stats_sms(work, error) != 0 || gt_stats_walk(work, error) != 0)
        return gt_error_prefix(error, "%s: ", sqlite3_db_filename(work->database, "main"));
    return 0;
}

/* All in one read transaction, the caller's or its own: the path looks up millions of single
 * rows, and each would otherwise lock and unlock the file. */
struct gt_stats *gt_stats_compute(sqlite3 *database, int64_t run_id, struct gt_error *error)
{
    struct gt_stats *stats = gt_calloc(1, sizeof *stats);
    struct gt_stats_work work = { .database = database, .stats = stats };
    bool own_transaction = sqlite3_get_autocommit(database) != 0;

    stats->run.run_id = run_id;
    if (own_transaction)
        sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
    if (compute_parts(&work, error) != 0) {
        gt_stats_free(stats);
        stats = NULL;
    }
    if (own_transaction)
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    gt_stats_work_free(&work);
    return stats;
}

void gt_stats_free(struct gt_stats *stats)
{
    if (stats == NULL)
        return;
    for (size_t i = 0; i < stats->stream_count; i++)
        free(stats->streams[i].name);
    for (size_t i = 0; i < stats->kernel_count; i++)
        free(stats->kernels[i].name);
    for (size_t i = 0; i < stats->path_count; i++)
        free(stats->path[i].name);
    free(stats->streams);
    free(stats->kernels);
    free(stats->copies);
    free(stats->sms);
    free(stats->intervals);
    free(stats->path);
    gt_path_file_free(stats->path_file);
    free(stats->run.trace);
    free(stats->run.options);
    free(stats);
}
