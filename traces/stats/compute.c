/* A run's statistics, part after part. */
#include <stdlib.h>
#include <string.h>

#include "traces/stats/internal.h"
#include "traces/store/store.h"

/* The newest whole run of that kind in *run_id: 1, 0 where there is none, -1. */
static int newest_run(struct gt_database *database, const char *kind, int64_t *run_id, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database,
                                          "SELECT max(run_id) FROM run WHERE kind = ?1 AND whole = 1"
                                          " AND run_id " GT_RUN_SIMULATES_ALL,
                                          error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind_text(query, 1, kind);
    row = gt_query_next(query, error);
    if (row == 1 && gt_query_absent(query, 0))
        row = 0;
    if (row == 1)
        *run_id = gt_query_integer(query, 0);
    gt_query_end(query);
    return row;
}

int64_t gt_stats_find_run(struct gt_database *database, const char *kind, struct gt_error *error)
{
    const char *other = strcmp(kind, "simulated") == 0 ? "measured" : "simulated";
    int64_t run_id;
    int found = newest_run(database, kind, &run_id, error);

    if (found != 0)
        return found == 1 ? run_id : -1;
    found = newest_run(database, other, &run_id, error);
    if (found == 0)
        gt_error_set(error, "%s: contains no run", database->path);
    else if (found == 1)
        gt_error_set(error, "%s: contains no %s run, only a %s one", database->path, kind, other);
    return -1;
}

/* Stores of versions 2 and 3 have no ranges, those before 5 no tasks. */
static int compute_newer(struct gt_stats_work *work, struct gt_error *error)
{
    int64_t version = 0;

    if (gt_query_one(work->database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_RANGES)
        return 0;
    if (gt_stats_steps(work, error) != 0 || gt_stats_operators(work, error) != 0)
        return -1;
    if (version >= GT_STORE_WITH_TASKS && gt_stats_tasks(work, error) != 0)
        return -1;
    return version < GT_STORE_WITH_POLLS ? 0 : gt_stats_polls(work, error);
}

/* A part of a run has no path of its own: what it waited for may lie outside. */
static int walk(struct gt_stats_work *work, struct gt_error *error)
{
    if (work->selection.all)
        return gt_stats_walk(work, error);
    gt_stats_note(work->stats, "critical_path",
                  "available for whole runs only: operations of a part may wait for operations outside of it");
    return 0;
}

static int compute_parts(struct gt_stats_work *work, struct gt_error *error)
{
    if (gt_stats_load(work, error) != 0 || gt_stats_ops(work, error) != 0 || gt_stats_sms(work, error) != 0 ||
        walk(work, error) != 0 || compute_newer(work, error) != 0)
        return gt_database_name_error(work->database, error);
    return 0;
}

/* All in one read transaction, the caller's or its own: the path looks up millions of single
 * rows, and each would otherwise lock and unlock the file. */
struct gt_stats *gt_stats_compute(struct gt_database *database, int64_t run_id, const struct gt_filter *filter,
                                  struct gt_error *error)
{
    struct gt_stats *stats = gt_calloc(1, sizeof *stats);
    struct gt_stats_work work = { .database = database, .stats = stats };
    bool own_transaction = gt_database_begin_reading(database);

    stats->run.run_id = run_id;
    if (gt_selection_find(&work.selection, database, run_id, filter, error) != 0 ||
        compute_parts(&work, error) != 0) {
        gt_stats_free(stats);
        stats = NULL;
    }
    if (own_transaction)
        gt_database_end_reading(database);
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
    for (size_t i = 0; i < stats->step_count; i++)
        free(stats->steps[i].name);
    for (size_t i = 0; i < stats->operator_count; i++) {
        free(stats->operators[i].kind);
        free(stats->operators[i].name);
    }
    for (size_t i = 0; i < stats->task_kind_count; i++) {
        free(stats->task_kinds[i].graph);
        free(stats->task_kinds[i].name);
    }
    free(stats->task_kinds);
    free(stats->task_kernels);
    free(stats->steps);
    free(stats->operators);
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
