#include "validate/player/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One trace's measured runs. */
struct gt_player {
    int64_t trace_id;
    uint32_t runs, next;
    int64_t *run_ids;
    char *options;
    char *names[GT_PLAY_COUNTERS];   /* of the counters of the repetition played last */
};

static struct gt_store *stored;

int gt_stored_open(const char *path, struct gt_error *error)
{
    stored = gt_store_open(path, false, error);
    return stored == NULL ? -1 : 0;
}

void gt_stored_close(void)
{
    gt_store_close(stored);
    stored = NULL;
}

static void broken(struct gt_error *error)
{
    sqlite3 *database = gt_store_database(stored);

    gt_error_set(error, "the store of measured runs, %s: %s; make it anew with gridtide validate on a GPU",
                 sqlite3_db_filename(database, "main"), sqlite3_errmsg(database));
}

static sqlite3_stmt *query(const char *sql, int64_t id, struct gt_error *error)
{
    sqlite3 *database = gt_store_database(stored);
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) {
        broken(error);
        return NULL;
    }
    if (id != 0)
        sqlite3_bind_int64(statement, 1, id);
    return statement;
}

/* The end of a query: 0 where it has come to its end. */
static int finish(sqlite3_stmt *statement, int step, struct gt_error *error)
{
    int result = step == SQLITE_DONE ? 0 : -1;

    if (result != 0 && error->text[0] == '\0')
        broken(error);
    sqlite3_finalize(statement);
    return result;
}

static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT d.name, d.sms, k.value, l.value FROM run r JOIN device d USING (device_id)"
              " JOIN device_key k ON k.device_id = d.device_id AND k.key = 'chip.compute_major'"
              " JOIN device_key l ON l.device_id = d.device_id AND l.key = 'chip.compute_minor'"
              " WHERE r.kind = 'measured' AND r.whole = 1 LIMIT 1",
              0, error);

    if (statement == NULL)
        return -1;
    if (sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return gt_error_set(error, "the store has no measured runs; name one that gridtide validate made");
    }
    *facts = (struct gt_gpu_facts){
        .sms = (uint32_t)sqlite3_column_int64(statement, 1),
        .compute_major = (uint32_t)sqlite3_column_int64(statement, 2),
        .compute_minor = (uint32_t)sqlite3_column_int64(statement, 3),
    };
    snprintf(facts->name, sizeof facts->name, "%s (as stored)",
             (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return 0;
}

static void close_player(struct gt_player *player)
{
    if (player == NULL)
        return;
    for (int i = 0; i < GT_PLAY_COUNTERS; i++)
        free(player->names[i]);
    free(player->run_ids);
    free(player->options);
    free(player);
}

static int find_runs(struct gt_player *player, const char *name, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT r.run_id, r.trace_id, r.options FROM run r JOIN trace t USING (trace_id)"
              " WHERE t.name = ?1 AND r.kind = 'measured' AND r.whole = 1"
              " ORDER BY r.trace_id DESC, r.repetition",
              0, error);
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        if (player->runs > 0 && sqlite3_column_int64(statement, 1) != player->trace_id)
            continue; /* of an earlier validation */
        player->trace_id = sqlite3_column_int64(statement, 1);
        if (player->runs == 0)
            player->options = strdup((const char *)sqlite3_column_text(statement, 2));
        player->run_ids = gt_realloc(player->run_ids, player->runs + 1ull, sizeof *player->run_ids);
        player->run_ids[player->runs++] = sqlite3_column_int64(statement, 0);
    }
    return finish(statement, step, error);
}

/* Is row `i` of a table about the same thing as `i` of the workload? */
typedef bool same_row(sqlite3_stmt *statement, const struct gt_workload *workload, uint32_t i);

static bool same_kernel(sqlite3_stmt *statement, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_kernel *kernel = &workload->kernels[i];
    const uint64_t shape[] = {
        kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
        kernel->block[2], kernel->registers_per_thread, kernel->static_shared_bytes,
        kernel->dynamic_shared_bytes,
    };
    bool same = true;

    for (int k = 0; k < (int)(sizeof shape / sizeof shape[0]); k++)
        same = same && sqlite3_column_int64(statement, 1 + k) == (int64_t)shape[k];
    return same;
}

static bool same_call(sqlite3_stmt *statement, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_call *call = &workload->calls[i];

    return sqlite3_column_int64(statement, 1) == call->thread
           && strcmp((const char *)sqlite3_column_text(statement, 2), gt_call_kind_names[call->kind]) == 0;
}

static bool same_op(sqlite3_stmt *statement, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_op *op = &workload->ops[i];

    return sqlite3_column_int64(statement, 1) == op->call && sqlite3_column_int64(statement, 2) == op->stream
           && sqlite3_column_int64(statement, 3) == (op->kernel == GT_NONE ? -1 : (int64_t)op->kernel)
           && sqlite3_column_int64(statement, 4) == (int64_t)op->bytes
           && strcmp((const char *)sqlite3_column_text(statement, 5), gt_op_kind_names[op->kind]) == 0;
}

/* Has the trace `count` rows, numbered from 0 on in the first column, each the same?  1, 0, or -1. */
static int same_rows(const struct gt_player *player, const char *sql, same_row *same,
                     const struct gt_workload *workload, uint32_t count, struct gt_error *error)
{
    sqlite3_stmt *statement = query(sql, player->trace_id, error);
    uint32_t rows = 0;
    bool all = true;
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    while (all && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        all = rows < count && sqlite3_column_int64(statement, 0) == rows && same(statement, workload, rows);
        rows++;
    }
    if (finish(statement, all ? step : SQLITE_DONE, error) != 0)
        return -1;
    return all && rows == count;
}

/* The same trace, as far as the store tells: calls, operations, launch shapes; it keeps no costs. */
static int check_trace(const struct gt_player *player, const struct gt_workload *workload, const char *name,
                       struct gt_error *error)
{
    const struct { const char *sql; same_row *same; uint32_t count; } tables[] = {
        { "SELECT kernel_no, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers,"
          " static_shared_bytes, dynamic_shared_bytes FROM kernel WHERE trace_id = ?1 ORDER BY kernel_no",
          same_kernel, workload->kernel_count },
        { "SELECT call_no, thread_no, kind FROM call WHERE trace_id = ?1 ORDER BY call_no",
          same_call, workload->call_count },
        { "SELECT op_no, call_no, stream_no, coalesce(kernel_no, -1), coalesce(bytes, 0), kind FROM op"
          " WHERE trace_id = ?1 ORDER BY op_no", same_op, workload->op_count },
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        int same = same_rows(player, tables[i].sql, tables[i].same, workload, tables[i].count, error);

        if (same < 0)
            return -1;
        if (same == 0)
            return gt_error_set(error, "the store has measured another trace of the name '%.200s'; validate "
                                "it on a GPU", name);
    }
    return 0;
}

static struct gt_player *open_player(const struct gt_workload *workload,
                                     const struct gt_play_options *options, struct gt_error *error)
{
    const char *name = workload->name != NULL ? workload->name : "";
    struct gt_player *player = gt_calloc(1, sizeof *player);

    (void)options;
    if (find_runs(player, name, error) == 0) {
        if (player->runs == 0)
            gt_error_set(error, "the store has no measured run of '%.200s'; validate it on a GPU", name);
        else if (check_trace(player, workload, name, error) == 0)
            return player;
    }
    close_player(player);
    return NULL;
}

static gt_time_ps column_ps(sqlite3_stmt *statement, int column)
{
    return (gt_time_ps)sqlite3_column_int64(statement, column);
}

static int send_calls(int64_t run, const struct gt_probe *probe, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT call_no, start_ps, end_ps, blocked_ps FROM run_call WHERE run_id = ?1"
              " ORDER BY call_no",
              run, error);
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        struct gt_call_record record = {
            .call = (uint32_t)sqlite3_column_int64(statement, 0), .start_ps = column_ps(statement, 1),
            .end_ps = column_ps(statement, 2), .blocked_ps = column_ps(statement, 3), .cause_op = GT_NONE,
        };

        if (probe->call != NULL && probe->call(probe->user, &record, error) != 0)
            break;
    }
    return finish(statement, step, error);
}

static int send_ops(int64_t run, const struct gt_probe *probe, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT op_no, coalesce(submit_ps, start_ps), start_ps, end_ps FROM run_op"
              " WHERE run_id = ?1 ORDER BY end_ps, op_no",
              run, error);
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        struct gt_op_record record = {
            .op = (uint32_t)sqlite3_column_int64(statement, 0), .submit_ps = column_ps(statement, 1),
            .start_ps = column_ps(statement, 2), .end_ps = column_ps(statement, 3), .cause_index = GT_NONE,
        };

        if (probe->op != NULL && probe->op(probe->user, &record, error) != 0)
            break;
    }
    return finish(statement, step, error);
}

/* "[8,0,8]": blocks by SM. When each of them ran is not kept; they are given the kernel's time. */
static int send_placement(const char *blocks, struct gt_block_record record, const struct gt_probe *probe,
                          struct gt_error *error)
{
    const char *at = blocks + (blocks[0] == '[');

    for (record.sm = 0; *at >= '0' && *at <= '9'; record.sm++) {
        char *end;
        unsigned long count = strtoul(at, &end, 10);

        if (record.sm >= GT_DEVICE_MAX_SMS || count > UINT32_MAX - record.first_block)
            return gt_error_set(error, "the placement of operation %" PRIu32 " in the store is damaged",
                                record.op);
        record.blocks = (uint32_t)count;
        if (record.blocks > 0 && probe->blocks(probe->user, &record, error) != 0)
            return -1;
        record.first_block += record.blocks;
        at = end + (*end == ',');
    }
    return 0;
}

static int send_placements(int64_t run, const struct gt_probe *probe, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT p.op_no, p.gpu_no, p.sm_blocks, o.start_ps, o.end_ps FROM run_placement p"
              " JOIN run_op o USING (run_id, op_no) WHERE p.run_id = ?1",
              run, error);
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct gt_block_record record = {
            .op = (uint32_t)sqlite3_column_int64(statement, 0),
            .gpu = (uint32_t)sqlite3_column_int64(statement, 1),
            .start_ps = column_ps(statement, 3), .end_ps = column_ps(statement, 4), .warps_per_block = 1,
        };

        if (probe->blocks != NULL
                && send_placement((const char *)sqlite3_column_text(statement, 2), record, probe, error) != 0)
            break;
    }
    return finish(statement, step, error);
}

static int copy_counters(struct gt_player *player, int64_t run, struct gt_play_result *result,
                         struct gt_error *error)
{
    sqlite3_stmt *statement = query("SELECT name, value FROM counter WHERE run_id = ?1 AND name <> 'bin_ps'"
                                    " AND name NOT LIKE 'blocks%' ORDER BY name", run, error);
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    result->counter_count = 0;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW && result->counter_count < GT_PLAY_COUNTERS) {
        uint32_t i = result->counter_count++;

        free(player->names[i]);
        player->names[i] = strdup((const char *)sqlite3_column_text(statement, 0));
        result->counters[i].name = player->names[i];
        result->counters[i].value = sqlite3_column_double(statement, 1);
    }
    return finish(statement, step == SQLITE_ROW ? SQLITE_DONE : step, error);
}

/* Rows of things that the trace has, at times that can be? The store may have been edited by hand. */
static int check_run(const struct gt_player *player, int64_t run, struct gt_error *error)
{
    sqlite3_stmt *statement =
        query("SELECT EXISTS (SELECT 1 FROM run_call WHERE run_id = ?1 AND (start_ps < 0 OR end_ps < start_ps"
              " OR typeof(start_ps) <> 'integer' OR typeof(end_ps) <> 'integer'"
              " OR call_no NOT IN (SELECT call_no FROM call WHERE trace_id = ?2)))"
              " OR EXISTS (SELECT 1 FROM run_op WHERE run_id = ?1 AND (start_ps < 0 OR end_ps < start_ps"
              " OR typeof(start_ps) <> 'integer' OR typeof(end_ps) <> 'integer'"
              " OR op_no NOT IN (SELECT op_no FROM op WHERE trace_id = ?2)))"
              " OR EXISTS (SELECT 1 FROM run_placement WHERE run_id = ?1"
              " AND gpu_no NOT IN (SELECT gpu_no FROM gpu WHERE trace_id = ?2))", run, error);
    bool damaged;
    int step;

    if (statement == NULL)
        return -1;
    sqlite3_bind_int64(statement, 2, player->trace_id);
    step = sqlite3_step(statement);
    damaged = step == SQLITE_ROW && sqlite3_column_int64(statement, 0) != 0;
    if (finish(statement, step == SQLITE_ROW ? SQLITE_DONE : step, error) != 0)
        return -1;
    return damaged ? gt_error_set(error, "measured run %" PRId64 " of the store is damaged", run) : 0;
}

static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    int64_t run;

    if (probe == NULL)
        return 0;
    if (player->next == player->runs)
        return gt_error_set(error,
                            "the store has %" PRIu32
                            " measured runs of it and no more; ask for fewer with --repeat",
                            player->runs);
    run = player->run_ids[player->next++];
    error->text[0] = '\0';
    if (check_run(player, run, error) != 0 || send_calls(run, probe, error) != 0
        || send_ops(run, probe, error) != 0 || send_placements(run, probe, error) != 0)
        return -1;
    return copy_counters(player, run, result, error);
}

static const char *describe(const struct gt_player *player)
{
    return player->options;
}

const struct gt_players gt_stored_players = {
    .find = find, .open = open_player, .play = play, .describe = describe, .close = close_player,
};
