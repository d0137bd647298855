/* Traces taken out of a store again. */
#include "traces/store/internal.h"

#include <stdio.h>
#include <unistd.h>

/* Tables with rows of a run, and of a trace: those that refer to others first. */
static const char *const run_tables[] = {
    "run_poll",   "run_assumption", "run_answer", "run_task",      "run_range", "run_stall", "run_issue",
    "run_kernel", "counter",        "run_bin",    "run_placement", "run_block", "run_op",    "run_call",
};
static const char *const trace_tables[] = {
    "run",
    "plain_value",
    "range_inputs",
    "profiled_work",
    "kernel_family",
    "child_launch",
    "trace_source",
    "trace_file",
    "kernel_tasks",
    "task",
    "task_kind",
    "call_range",
    "range",
    "op_peer",
    "op",
    "call_executable",
    "call",
    "instruction",
    "kernel_cluster",
    "kernel_collective",
    "kernel",
    "thread",
    "stream",
    "gpu",
    "warning",
    "trace",
};
enum {
    RUN_TABLES = sizeof run_tables / sizeof run_tables[0],
    TRACE_TABLES = sizeof trace_tables / sizeof trace_tables[0]
};

#define UNMEASURED                                                                           \
    "(SELECT trace_id FROM trace t WHERE trace_id >= ?1 AND NOT EXISTS (SELECT 1 FROM run r" \
    " WHERE r.trace_id = t.trace_id AND r.kind = 'measured' AND r.whole = 1))"
#define UNMEASURED_RUNS "(SELECT run_id FROM run WHERE trace_id IN " UNMEASURED ")"

static int drop(struct gt_store *store, const char *sql, int64_t from_trace, struct gt_error *error)
{
    sqlite3_stmt *statement = gt_store_prepare(store, sql, error);
    int result;

    if (statement == NULL)
        return -1;
    sqlite3_bind_int64(statement, 1, from_trace);
    result = gt_store_step(store, statement, error);
    sqlite3_finalize(statement);
    return result;
}

static int drop_all(struct gt_store *store, int64_t from_trace, struct gt_error *error)
{
    int result = drop(store, "DELETE FROM comparison WHERE simulated_run_id IN " UNMEASURED_RUNS, from_trace, error);
    char sql[400];

    for (int i = 0; i < RUN_TABLES && result == 0; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id IN " UNMEASURED_RUNS, run_tables[i]);
        result = drop(store, sql, from_trace, error);
    }
    /* The runs go before the rest; without measured ones their trace is as much without as before. */
    for (int i = 0; i < TRACE_TABLES && result == 0; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE trace_id IN " UNMEASURED, trace_tables[i]);
        result = drop(store, sql, from_trace, error);
    }
    return result;
}

int gt_store_drop_unmeasured(struct gt_store *store, int64_t from_trace, struct gt_error *error)
{
    if (gt_store_begin(store, error) != 0)
        return -1;
    return gt_store_finish(store, drop_all(store, from_trace, error), error);
}

static int64_t number(struct gt_store *store, const char *sql, struct gt_error *error)
{
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    int64_t value = -1;

    if (query != NULL && sqlite3_step(query) == SQLITE_ROW)
        value = sqlite3_column_int64(query, 0);
    else if (query != NULL)
        gt_store_fail(store, error);
    sqlite3_finalize(query);
    return value;
}

int64_t gt_store_next_trace(struct gt_store *store, struct gt_error *error)
{
    return number(store, "SELECT coalesce(max(trace_id), 0) + 1 FROM trace", error);
}

int gt_store_close_or_remove(struct gt_store *store, struct gt_error *error)
{
    int64_t runs = number(store, "SELECT EXISTS (SELECT 1 FROM run)", error);
    int result = runs < 0 ? -1 : 0;

    if (runs == 0 && unlink(store->base.path) != 0)
        result = gt_error_set(error, "%s: contains no run and cannot be removed", store->base.path);
    gt_store_close(store);
    return result;
}
