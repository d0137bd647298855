/* What a run is of, and which run it is a change of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/options.h"
#include "sim/range.h"
#include "traces/store/internal.h"
#include "traces/store/store.h"

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

/* What a run was in the end, as counters. */

void gt_run_writer_summary(struct gt_run_writer *writer, const struct gt_summary *summary)
{
    char name[64];

    gt_run_writer_counter(writer, "operations", (double)summary->operations, NULL);
    gt_run_writer_counter(writer, "blocks", (double)summary->blocks, NULL);
    gt_run_writer_counter(writer, "events", (double)summary->events, NULL);
    gt_run_writer_counter(writer, "end_ps", (double)summary->end_ps, NULL);
    for (int i = 0; i < GT_RULES; i++) {
        if (summary->fired[i] == 0)
            continue;
        snprintf(name, sizeof name, "rule.%s", gt_rules[i].name);
        gt_run_writer_counter(writer, name, (double)summary->fired[i], NULL);
    }
}

void gt_run_writer_range(struct gt_run_writer *writer, const struct gt_makespan_range *range, struct gt_error *error)
{
    if (range->draws == 0)
        return;
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_LOW, range->low_us, error);
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_HIGH, range->high_us, error);
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_DRAWS, range->draws, error);
}

/* What a trace recorded, as the records of a run. */

/* One measured call or operation; sorted by end, then calls first, then by number. */
struct item {
    gt_time_ps end_ps;
    uint32_t index;
    bool op;
};

static bool measured(gt_time_ps start_ps, gt_time_ps duration_ps)
{
    return start_ps != GT_TIME_NONE && duration_ps != GT_TIME_NONE;
}

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    if (a->op != b->op)
        return a->op ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static uint64_t collect_ops(const struct gt_workload *workload, struct item *items)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];

        if (measured(op->start_ps, op->duration_ps))
            items[count++] = (struct item){ op->start_ps + op->duration_ps, i, true };
    }
    return count;
}

/* A call that an importer made up was not measured, whatever times it was given. */
static uint64_t collect_calls(const struct gt_workload *workload, struct item *items)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        if (measured(call->start_ps, call->duration_ps) && (call->flags & GT_CALL_INFERRED) == 0)
            items[count++] = (struct item){ call->start_ps + call->duration_ps, i, false };
    }
    return count;
}

static int send_op(const struct gt_workload *workload, const struct item *item, const struct gt_probe *probe,
                   struct gt_error *error)
{
    const struct gt_op *op = &workload->ops[item->index];
    /* clang-format off */
    struct gt_op_record record = {
        .op = item->index, .submit_ps = GT_TIME_NONE, .start_ps = op->start_ps, .end_ps = item->end_ps,
        .cause = GT_CAUSE_NONE, .cause_index = GT_NONE,
    };
    /* clang-format on */

    if (op->call != GT_NONE && (workload->calls[op->call].flags & GT_CALL_INFERRED) == 0)
        record.submit_ps = workload->calls[op->call].start_ps;
    return probe->op != NULL ? probe->op(probe->user, &record, error) : 0;
}

static int send_call(const struct gt_workload *workload, const struct item *item, const struct gt_probe *probe,
                     struct gt_error *error)
{
    struct gt_call_record record = {
        .call = item->index,
        .start_ps = workload->calls[item->index].start_ps,
        .end_ps = item->end_ps,
        .cause_op = GT_NONE,
    };

    return probe->call != NULL ? probe->call(probe->user, &record, error) : 0;
}

int64_t gt_measured_play(const struct gt_workload *workload, const struct gt_probe *probe, struct gt_error *error)
{
    struct item *items = gt_realloc(NULL, (uint64_t)workload->op_count + workload->call_count, sizeof *items);
    uint64_t ops = collect_ops(workload, items), count = ops;
    int result = 0;

    if (ops > 0)
        count += collect_calls(workload, items + ops);
    qsort(items, count, sizeof *items, compare_items);
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = (items[i].op ? send_op : send_call)(workload, &items[i], probe, error);
    free(items);
    return result == 0 ? (int64_t)ops : -1;
}
