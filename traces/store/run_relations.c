/* What a run is of, and which run it is a change of. */
#include <stdlib.h>
#include <string.h>

#include "traces/store/internal.h"

/* Run `query` of one number and read its row, if it has one, with `read`. Finalizes it. Returns 0 or -1. */
static int first_row(struct gt_store *store, sqlite3_stmt *query, int64_t run,
                     void (*read)(sqlite3_stmt *row, void *user), void *user, struct gt_error *error)
{
    int code;

    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, run);
    code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        read(query, user);
    else if (code != SQLITE_DONE)
        gt_store_fail(store, error);
    sqlite3_finalize(query);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

static void read_number(sqlite3_stmt *row, void *user)
{
    *(int64_t *)user = sqlite3_column_int64(row, 0);
}

int gt_store_find_baseline(struct gt_store *store, int64_t run, int64_t *baseline, struct gt_error *error)
{
    static const char sql[] =
        "SELECT b.run_id FROM run s JOIN trace t ON t.trace_id = s.trace_id"
        " JOIN run b ON b.trace_id = coalesce(t.base_trace_id, t.trace_id) AND b.kind = 'simulated'"
        "   AND b.whole = 1 AND b.run_id < s.run_id"
        "   AND (b.trace_id <> s.trace_id OR b.device_id <> s.device_id OR b.options <> s.options)"
        " WHERE s.run_id = ? AND s.kind = 'simulated' AND b.run_id " GT_RUN_SIMULATES_ALL
        " ORDER BY b.run_id LIMIT 1";

    static const char said[] = "SELECT CAST(value AS INTEGER) FROM counter WHERE run_id = ?"
                               " AND name = '" GT_COUNTER_WITHOUT_RUN "'";

    *baseline = 0;
    if (first_row(store, gt_store_prepare(store, said, error), run, read_number, baseline, error) != 0)
        return -1;
    if (*baseline != 0)
        return 0;
    return first_row(store, gt_store_prepare(store, sql, error), run, read_number, baseline, error);
}

static void read_trace(sqlite3_stmt *row, void *user)
{
    struct gt_run_trace *trace = user;
    const char *name = (const char *)sqlite3_column_text(row, 1);

    trace->trace_id = sqlite3_column_int64(row, 0);
    trace->name = strdup(name != NULL ? name : "");
}

int gt_store_run_trace(struct gt_store *store, int64_t run, struct gt_run_trace *trace, struct gt_error *error)
{
    static const char sql[] =
        "SELECT b.trace_id, b.name FROM run r JOIN trace t ON t.trace_id = r.trace_id"
        " JOIN trace b ON b.trace_id = coalesce(t.base_trace_id, t.trace_id) WHERE r.run_id = ?";

    *trace = (struct gt_run_trace){ 0, NULL };
    return first_row(store, gt_store_prepare(store, sql, error), run, read_trace, trace, error);
}
