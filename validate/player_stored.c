#include "validate/player_stored.h"

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

static sqlite3_stmt *query(const char *sql, int64_t id, struct gt_error *error)
{
    sqlite3 *database = gt_store_database(stored);
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) {
        gt_error_set(error, "%s", sqlite3_errmsg(database));
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
        gt_error_set(error, "%s", sqlite3_errmsg(gt_store_database(stored)));
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

/* The same trace, as far as its operations tell. */
static int check_trace(const struct gt_player *player, const struct gt_workload *workload, const char *name,
                       struct gt_error *error)
{
    sqlite3_stmt *statement = query("SELECT kind, stream_no, coalesce(bytes, 0) FROM op WHERE trace_id = ?1"
                                    " ORDER BY op_no", player->trace_id, error);
    uint32_t count = 0;
    bool same = true;
    int step = SQLITE_DONE;

    if (statement == NULL)
        return -1;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct gt_op *op = &workload->ops[count];
        const char *kind = (const char *)sqlite3_column_text(statement, 0);

        same = same && count < workload->op_count && strcmp(kind, gt_op_kind_names[op->kind]) == 0
               && sqlite3_column_int64(statement, 1) == op->stream
               && sqlite3_column_int64(statement, 2) == (int64_t)op->bytes;
        count++;
    }
    if (finish(statement, step, error) != 0)
        return -1;
    if (!same || count != workload->op_count)
        return gt_error_set(error,
                            "the store has measured another trace of the name '%.200s'; validate it on a GPU",
                            name);
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

        record.blocks = (uint32_t)strtoul(at, &end, 10);
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
    if (send_calls(run, probe, error) != 0 || send_ops(run, probe, error) != 0
        || send_placements(run, probe, error) != 0)
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
