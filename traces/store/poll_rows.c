/* What threads did while they polled, as rows of a run. */
#include "traces/store/row_source.h"

struct polls {
    const struct gt_workload *workload;
    const struct gt_call_record *records; /* by call */
};

static bool holds_poll(const void *user, uint64_t row)
{
    const struct polls *polls = user;

    return polls->records[row].call != GT_NONE && polls->workload->calls[row].kind == GT_CALL_POLL;
}

static void poll_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    sqlite3_result_int64(result, (int64_t)(column == 1 ? row : ((const struct polls *)user)->records[row].pieces));
}

int gt_store_run_polls(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                       const struct gt_call_record *records, struct gt_error *error)
{
    const struct polls polls = { workload, records };
    /* clang-format off */
    const struct gt_row_source source = {
        .table = "run_poll", .columns = 3, .id = run_id, .count = workload->call_count,
        .holds = holds_poll, .value = poll_value, .user = &polls,
    };
    /* clang-format on */
    uint64_t done = 0;

    return gt_store_insert(store, &source, &done, workload->call_count, error);
}
