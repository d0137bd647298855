/* Ranges as rows: those of a trace, the calls in them, and where they lie in a run. */
#include "sim/workload/ranges.h"

#include <stdlib.h>

#include "traces/store/row_source.h"

/* What rows of a trace are made from. */
struct trace_rows {
    const struct gt_workload *workload;
    const gt_range_index *innermost; /* by call */
};

static gt_op_index first_op_of(const struct gt_workload *w, gt_call_index call)
{
    return call < w->call_count ? w->calls[call].first_op : w->op_count;
}

static void range_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_workload *w = ((const struct trace_rows *)user)->workload;
    const struct gt_range *range = &w->ranges[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_text(result, gt_range_kind_names[range->kind], -1, SQLITE_STATIC); return;
    case 3: sqlite3_result_text(result, gt_name_text(w, range->name), -1, SQLITE_STATIC); return;
    case 4: sqlite3_result_int64(result, range->thread); return;
    case 5: gt_result_index(result, range->parent); return;
    case 6: sqlite3_result_int(result, !(range->flags & GT_RANGE_UNNESTED)); return;
    case 7: gt_result_index(result, range->external == 0 ? GT_NONE : range->external); return;
    case 8: sqlite3_result_int64(result, range->first_call); return;
    case 9: sqlite3_result_int64(result, range->end_call); return;
    case 10: sqlite3_result_int64(result, first_op_of(w, range->first_call)); return;
    default: sqlite3_result_int64(result, first_op_of(w, range->end_call)); return;
    }
}

static bool has_inputs(const void *user, uint64_t row)
{
    return ((const struct trace_rows *)user)->workload->ranges[row].inputs != GT_NONE;
}

static void inputs_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_workload *w = ((const struct trace_rows *)user)->workload;

    if (column == 1)
        sqlite3_result_int64(result, (int64_t)row);
    else
        sqlite3_result_text(result, gt_name_text(w, w->ranges[row].inputs), -1, SQLITE_STATIC);
}

static bool holds_call(const void *user, uint64_t row)
{
    const struct trace_rows *rows = user;
    const struct gt_call *call = &rows->workload->calls[row];

    return call->correlation != 0 || call->external != 0 || rows->innermost[row] != GT_NONE;
}

static void call_range_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct trace_rows *rows = user;
    const struct gt_call *call = &rows->workload->calls[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: gt_result_index(result, rows->innermost[row]); return;
    case 3: gt_result_index(result, call->correlation == 0 ? GT_NONE : call->correlation); return;
    default: gt_result_index(result, call->external == 0 ? GT_NONE : call->external); return;
    }
}

int gt_store_ranges(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                    struct gt_error *error)
{
    gt_range_index *innermost = gt_ranges_innermost(workload);
    const struct trace_rows rows = { .workload = workload, .innermost = innermost };
    /* clang-format off */
    const struct gt_row_source ranges = {
        .table = "range", .columns = 12, .id = trace_id, .count = workload->range_count,
        .value = range_value, .user = &rows,
    };
    const struct gt_row_source inputs = {
        .table = "range_inputs", .columns = 3, .id = trace_id, .count = workload->range_count,
        .holds = has_inputs, .value = inputs_value, .user = &rows,
    };
    const struct gt_row_source calls = {
        .table = "call_range", .columns = 5, .id = trace_id, .count = workload->call_count,
        .holds = holds_call, .value = call_range_value, .user = &rows,
    };
    /* clang-format on */
    uint64_t done = 0, total = 2ull * workload->range_count + workload->call_count;
    int result = gt_store_insert(store, &ranges, &done, total, error);

    if (result == 0)
        result = gt_store_insert(store, &inputs, &done, total, error);
    if (result == 0)
        result = gt_store_insert(store, &calls, &done, total, error);
    free(innermost);
    return result;
}

/* The clock of a run: where what a thread did between its calls came to lie. */
struct clock {
    const struct gt_workload *workload;
    const struct gt_call_record *records; /* by call; .call GT_NONE: none */
    struct gt_thread_calls threads;
};

/* Has the call a place both in the trace and in the run? */
static bool is_mark(const struct clock *clock, gt_call_index call)
{
    return clock->records[call].call != GT_NONE &&
           gt_call_measured_end(&clock->workload->calls[call]) != GT_TIME_NONE;
}

/* A time that lay `part` of `whole` from one moment to the next lies as far between `from` and `to`. */
static gt_time_ps between(gt_time_ps from, gt_time_ps to, gt_time_ps part, gt_time_ps whole)
{
    if (whole == 0 || to <= from)
        return from;
    return from + (gt_time_ps)((double)(to - from) * ((double)part / (double)whole));
}

/* The last call of the thread that began at `time_ps` or before and is a mark, as a place of its calls, and the next
 * mark behind; both GT_NONE where there is none. */
static void find_marks(const struct clock *clock, gt_thread_index thread, gt_time_ps time_ps, uint32_t *before,
                       uint32_t *behind)
{
    const struct gt_call *calls = clock->workload->calls;
    uint32_t begin = clock->threads.first[thread], end = clock->threads.first[thread + 1], low = begin, high = end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        gt_time_ps start_ps = calls[clock->threads.calls[middle]].start_ps;

        if (start_ps != GT_TIME_NONE && start_ps <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    *before = *behind = GT_NONE;
    for (uint32_t i = low; i > begin && *before == GT_NONE; i--)
        if (is_mark(clock, clock->threads.calls[i - 1]))
            *before = clock->threads.calls[i - 1];
    for (uint32_t i = low; i < end && *behind == GT_NONE; i++)
        if (is_mark(clock, clock->threads.calls[i]))
            *behind = clock->threads.calls[i];
}

/* Where a moment of a thread came to lie: between the calls that it lay between, as far from them as it was. */
static gt_time_ps time_in_run(const struct clock *clock, gt_thread_index thread, gt_time_ps time_ps)
{
    const struct gt_call *calls = clock->workload->calls;
    const struct gt_call_record *records = clock->records;
    gt_time_ps end_ps;
    uint32_t before, behind;

    find_marks(clock, thread, time_ps, &before, &behind);
    if (before == GT_NONE && behind == GT_NONE)
        return time_ps;
    if (before == GT_NONE) {
        gt_time_ps lead_ps = calls[behind].start_ps - time_ps;

        return records[behind].start_ps > lead_ps ? records[behind].start_ps - lead_ps : 0;
    }
    end_ps = gt_call_measured_end(&calls[before]);
    if (time_ps <= end_ps)
        return between(records[before].start_ps, records[before].end_ps, time_ps - calls[before].start_ps,
                       calls[before].duration_ps);
    if (behind == GT_NONE)
        return records[before].end_ps + (time_ps - end_ps);
    return between(records[before].end_ps, records[behind].start_ps, time_ps - end_ps,
                   calls[behind].start_ps - end_ps);
}

/* A range without times: from its first call's start to its last one's end. False where it holds none of the run's. */
static bool find_by_calls(const struct clock *clock, const struct gt_range *range, gt_time_ps *start_ps,
                          gt_time_ps *end_ps)
{
    bool found = false;

    for (gt_call_index call = range->first_call; call < range->end_call; call++) {
        const struct gt_call_record *record = &clock->records[call];

        if (record->call == GT_NONE || !gt_range_has_call(clock->workload, range, call))
            continue;
        *start_ps = found && *start_ps < record->start_ps ? *start_ps : record->start_ps;
        *end_ps = found && *end_ps > record->end_ps ? *end_ps : record->end_ps;
        found = true;
    }
    return found;
}

/* Was the range measured, and are the calls that it holds? */
static bool goes_by_time(const struct gt_workload *w, const struct gt_range *range)
{
    if (!gt_range_is_measured(range))
        return false;
    return range->first_call == range->end_call || w->calls[range->first_call].start_ps != GT_TIME_NONE;
}

struct run_ranges {
    gt_time_ps *start_ps, *end_ps; /* by range; start GT_TIME_NONE: nobody knows */
};

static bool holds_range(const void *user, uint64_t row)
{
    return ((const struct run_ranges *)user)->start_ps[row] != GT_TIME_NONE;
}

static void run_range_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct run_ranges *ranges = user;

    if (column == 1)
        sqlite3_result_int64(result, (int64_t)row);
    else
        gt_result_time(result, column == 2 ? ranges->start_ps[row] : ranges->end_ps[row]);
}

static void place_ranges(const struct gt_workload *w, const struct gt_call_record *records, struct run_ranges *ranges)
{
    struct clock clock = { .workload = w, .records = records };

    gt_thread_calls_find(&clock.threads, w);
    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        ranges->start_ps[i] = ranges->end_ps[i] = GT_TIME_NONE;
        if (goes_by_time(w, range)) {
            ranges->start_ps[i] = time_in_run(&clock, range->thread, range->start_ps);
            ranges->end_ps[i] = time_in_run(&clock, range->thread, gt_range_measured_end(range));
        } else {
            find_by_calls(&clock, range, &ranges->start_ps[i], &ranges->end_ps[i]);
        }
    }
    gt_thread_calls_free(&clock.threads);
}

const struct gt_workload *gt_store_ranges_of(const struct gt_workload *workload, const struct gt_workload *recorded)
{
    bool same = recorded != NULL && recorded->call_count == workload->call_count &&
                recorded->range_count == workload->range_count;

    return same ? recorded : workload;
}

int gt_store_run_ranges(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                        const struct gt_call_record *records, struct gt_error *error)
{
    struct run_ranges ranges = {
        .start_ps = gt_realloc(NULL, workload->range_count, sizeof(gt_time_ps)),
        .end_ps = gt_realloc(NULL, workload->range_count, sizeof(gt_time_ps)),
    };
    /* clang-format off */
    const struct gt_row_source source = {
        .table = "run_range", .columns = 4, .id = run_id, .count = workload->range_count,
        .holds = holds_range, .value = run_range_value, .user = &ranges,
    };
    /* clang-format on */
    uint64_t done = 0;
    int result;

    place_ranges(workload, records, &ranges);
    result = gt_store_insert(store, &source, &done, workload->range_count, error);
    free(ranges.start_ps);
    free(ranges.end_ps);
    return result;
}
