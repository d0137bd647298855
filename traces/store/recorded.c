#include "traces/store/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/device.h"
#include "traces/store/placement.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

int gt_recorded_gpu(struct gt_database *database, struct gt_recorded_gpu *gpu, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT d.name, d.sms, k.value, l.value FROM run r JOIN device d USING (device_id)"
                     " JOIN device_key k ON k.device_id = d.device_id AND k.key = 'chip.compute_major'"
                     " JOIN device_key l ON l.device_id = d.device_id AND l.key = 'chip.compute_minor'"
                     " WHERE r.kind = 'measured' AND r.whole = 1 LIMIT 1",
                     error);
    int row;

    if (query == NULL)
        return -1;
    row = gt_query_next(query, error);
    if (row == 1) {
        *gpu = (struct gt_recorded_gpu){
            .sms = (uint32_t)gt_query_integer(query, 1),
            .compute_major = (uint32_t)gt_query_integer(query, 2),
            .compute_minor = (uint32_t)gt_query_integer(query, 3),
        };
        snprintf(gpu->name, sizeof gpu->name, "%s", gt_query_string(query, 0));
    }
    gt_query_end(query);
    return row;
}

int gt_recorded_find(struct gt_database *database, const char *trace, struct gt_recorded *recorded,
                     struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        database,
        "SELECT r.run_id, r.trace_id, r.options FROM run r JOIN trace t USING (trace_id)"
        " WHERE t.name = ?1 AND r.kind = 'measured' AND r.whole = 1 ORDER BY r.trace_id DESC, r.repetition",
        error);
    int row;

    *recorded = (struct gt_recorded){ .count = 0 };
    if (query == NULL)
        return -1;
    gt_query_bind_text(query, 1, trace);
    while ((row = gt_query_next(query, error)) == 1) {
        if (recorded->count > 0 && gt_query_integer(query, 1) != recorded->trace_id)
            continue; /* of an earlier validation */
        recorded->trace_id = gt_query_integer(query, 1);
        if (recorded->count == 0)
            recorded->options = gt_query_text(query, 2);
        recorded->run_ids = gt_realloc(recorded->run_ids, recorded->count + 1ull, sizeof *recorded->run_ids);
        recorded->run_ids[recorded->count++] = gt_query_integer(query, 0);
    }
    gt_query_end(query);
    return row;
}

void gt_recorded_free(struct gt_recorded *recorded)
{
    free(recorded->run_ids);
    free(recorded->options);
}

/* Is row `i` of a table about the same thing as `i` of the workload? */
typedef bool same_row(struct gt_query *row, const struct gt_workload *workload, uint32_t i);

static bool same_kernel(struct gt_query *row, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_kernel *kernel = &workload->kernels[i];
    /* clang-format off */
    const uint64_t shape[] = {
        kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
        kernel->block[2], kernel->registers_per_thread, kernel->static_shared_bytes,
        kernel->dynamic_shared_bytes,
    };
    /* clang-format on */
    bool same = true;

    for (int k = 0; k < (int)(sizeof shape / sizeof shape[0]); k++)
        same = same && gt_query_integer(row, 1 + k) == (int64_t)shape[k];
    return same;
}

static bool same_call(struct gt_query *row, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_call *call = &workload->calls[i];

    return gt_query_integer(row, 1) == call->thread &&
           strcmp(gt_query_string(row, 2), gt_call_kind_names[call->kind]) == 0;
}

static bool same_op(struct gt_query *row, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_op *op = &workload->ops[i];

    return gt_query_integer(row, 1) == op->call && gt_query_integer(row, 2) == op->stream &&
           gt_query_integer(row, 3) == (op->kernel == GT_NONE ? -1 : (int64_t)op->kernel) &&
           (op->kind == GT_OP_KERNEL || gt_query_integer(row, 4) == (int64_t)op->bytes) &&
           strcmp(gt_query_string(row, 5), gt_op_kind_names[op->kind]) == 0;
}

/* The next operation from `op` on that works in another GPU's memory; GT_NONE: there is none. */
static gt_op_index next_with_peer(const struct gt_workload *workload, gt_op_index op)
{
    while (op < workload->op_count && workload->ops[op].peer_gpu == GT_NONE)
        op++;
    return op < workload->op_count ? op : GT_NONE;
}

/* Do the operations read and write the same of other GPUs' memory, as far as the store says?  1, 0, or -1. */
static int same_peers(struct gt_database *database, int64_t trace_id, const struct gt_workload *workload,
                      struct gt_error *error)
{
    gt_op_index op = next_with_peer(workload, 0);
    struct gt_query *query;
    int64_t version = 0;
    bool all = true;
    int row = 0;

    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_PEERS)
        return 1;
    query = gt_query_new(
        database, "SELECT op_no, gpu_no, from_peer, bytes FROM op_peer WHERE trace_id = ?1 ORDER BY op_no", error);
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, trace_id);
    while (all && (row = gt_query_next(query, error)) == 1) {
        const struct gt_op *o = op == GT_NONE ? NULL : &workload->ops[op];

        all = o != NULL && gt_query_integer(query, 0) == op && gt_query_integer(query, 1) == o->peer_gpu &&
              gt_query_integer(query, 2) == o->from_peer && gt_query_integer(query, 3) == (int64_t)o->bytes;
        op = all ? next_with_peer(workload, op + 1) : op;
    }
    gt_query_end(query);
    return row < 0 ? -1 : all && op == GT_NONE;
}

/* Has the trace `count` rows, numbered from 0 on in the first column, each the same?  1, 0, or -1. */
static int same_rows(struct gt_database *database, int64_t trace_id, const char *sql, same_row *same,
                     const struct gt_workload *workload, uint32_t count, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    uint32_t rows = 0;
    bool all = true;
    int row = 0;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, trace_id);
    while (all && (row = gt_query_next(query, error)) == 1) {
        all = rows < count && gt_query_integer(query, 0) == rows && same(query, workload, rows);
        rows++;
    }
    gt_query_end(query);
    return row < 0 ? -1 : all && rows == count;
}

int gt_recorded_is_of(struct gt_database *database, const struct gt_recorded *recorded,
                      const struct gt_workload *workload, struct gt_error *error)
{
    /* clang-format off */
    const struct { const char *sql; same_row *same; uint32_t count; } tables[] = {
        { "SELECT kernel_no, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers,"
          " static_shared_bytes, dynamic_shared_bytes FROM kernel WHERE trace_id = ?1 ORDER BY kernel_no",
          same_kernel, workload->kernel_count },
        { "SELECT call_no, thread_no, kind FROM call WHERE trace_id = ?1 ORDER BY call_no",
          same_call, workload->call_count },
        { "SELECT op_no, call_no, stream_no, coalesce(kernel_no, -1), coalesce(bytes, 0), kind FROM op"
          " WHERE trace_id = ?1 ORDER BY op_no", same_op, workload->op_count },
    };
    /* clang-format on */
    int same = 1;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && same == 1; i++)
        same =
            same_rows(database, recorded->trace_id, tables[i].sql, tables[i].same, workload, tables[i].count, error);
    return same == 1 ? same_peers(database, recorded->trace_id, workload, error) : same;
}

static gt_time_ps column_ps(struct gt_query *query, int column)
{
    return (gt_time_ps)gt_query_integer(query, column);
}

static int send_calls(struct gt_database *database, int64_t run, const struct gt_probe *probe, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT call_no, start_ps, end_ps, blocked_ps FROM run_call WHERE run_id = ?1"
                     " ORDER BY call_no",
                     error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run);
    while ((row = gt_query_next(query, error)) == 1) {
        /* clang-format off */
        struct gt_call_record record = {
            .call = (uint32_t)gt_query_integer(query, 0), .start_ps = column_ps(query, 1),
            .end_ps = column_ps(query, 2), .blocked_ps = column_ps(query, 3), .cause_op = GT_NONE,
        };
        /* clang-format on */

        if (probe->call != NULL && probe->call(probe->user, &record, error) != 0)
            break;
    }
    gt_query_end(query);
    return row == 0 ? 0 : -1;
}

static int send_ops(struct gt_database *database, int64_t run, const struct gt_probe *probe, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database,
                                          "SELECT op_no, coalesce(submit_ps, start_ps), start_ps, end_ps FROM run_op"
                                          " WHERE run_id = ?1 ORDER BY end_ps, op_no",
                                          error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run);
    while ((row = gt_query_next(query, error)) == 1) {
        /* clang-format off */
        struct gt_op_record record = {
            .op = (uint32_t)gt_query_integer(query, 0), .submit_ps = column_ps(query, 1),
            .start_ps = column_ps(query, 2), .end_ps = column_ps(query, 3), .cause_index = GT_NONE,
        };
        /* clang-format on */

        if (probe->op != NULL && probe->op(probe->user, &record, error) != 0)
            break;
    }
    gt_query_end(query);
    return row == 0 ? 0 : -1;
}

/* When each of the blocks ran is not kept; they are given the kernel's time. */
static int send_placement(void *user, const struct gt_placement_row *row, struct gt_error *error)
{
    const struct gt_probe *probe = user;
    struct gt_block_record record = {
        .op = row->op, .gpu = row->gpu, .start_ps = row->start_ps, .end_ps = row->end_ps, .warps_per_block = 1
    };

    for (record.sm = 0; record.sm < row->sms; record.sm++) {
        record.blocks = row->blocks[record.sm];
        if (record.blocks > UINT32_MAX - record.first_block)
            return gt_error_set(error, "the placement of operation %" PRIu32 " in the store is damaged", row->op);
        if (record.blocks > 0 && probe->blocks(probe->user, &record, error) != 0)
            return -1;
        record.first_block += record.blocks;
    }
    return 0;
}

/* Rows of things that the trace has, at times that can be? The store may have been edited by hand. */
static int check_run(struct gt_database *database, const struct gt_recorded *recorded, int64_t run,
                     struct gt_error *error)
{
    static const char sql[] =
        "SELECT EXISTS (SELECT 1 FROM run_call WHERE run_id = ?1 AND (start_ps < 0 OR end_ps < start_ps"
        " OR typeof(start_ps) <> 'integer' OR typeof(end_ps) <> 'integer'"
        " OR call_no NOT IN (SELECT call_no FROM call WHERE trace_id = ?2)))"
        " OR EXISTS (SELECT 1 FROM run_op WHERE run_id = ?1 AND (start_ps < 0 OR end_ps < start_ps"
        " OR typeof(start_ps) <> 'integer' OR typeof(end_ps) <> 'integer'"
        " OR op_no NOT IN (SELECT op_no FROM op WHERE trace_id = ?2)))"
        " OR EXISTS (SELECT 1 FROM run_placement WHERE run_id = ?1"
        " AND gpu_no NOT IN (SELECT gpu_no FROM gpu WHERE trace_id = ?2))";
    int64_t damaged = 0;

    if (gt_query_one(database, sql, run, recorded->trace_id, &damaged, error) < 0)
        return -1;
    return damaged ? gt_error_set(error, "measured run %" PRId64 " of the store is damaged", run) : 0;
}

int gt_recorded_play(struct gt_database *database, const struct gt_recorded *recorded, int64_t run_id,
                     const struct gt_probe *probe, struct gt_error *error)
{
    if (check_run(database, recorded, run_id, error) != 0 ||
        (probe->call != NULL && send_calls(database, run_id, probe, error) != 0) ||
        (probe->op != NULL && send_ops(database, run_id, probe, error) != 0))
        return -1;
    if (probe->blocks == NULL)
        return 0;
    return gt_placement_each(database, run_id, send_placement, (void *)probe, error);
}

int gt_recorded_counters(struct gt_database *database, int64_t run_id, gt_counter_fn *each, void *user,
                         struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        database,
        "SELECT name, value FROM counter WHERE run_id = ?1 AND name <> 'bin_ps' AND name NOT LIKE 'blocks%'"
        " ORDER BY name",
        error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    while ((row = gt_query_next(query, error)) == 1) {
        const char *name = gt_query_string(query, 0);

        if (each(user, name != NULL ? name : "", gt_query_real(query, 1)) != 0)
            break;
    }
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}
