#include "traces/store/guard.h"

#include <sqlite3.h>
#include <stddef.h>

/* Measured: a command that reads a whole store takes up to 2 steps for each of its bytes, an import of an nsys
 * file less. The rest is for what holds little. Writing a row takes some fifty. */
enum { STEPS_A_CALL = 10000, LEAST_STEPS = 20000000, STEPS_A_BYTE = 100, STEPS_A_ROW = 1000 };

static bool too_many(const struct gt_guard *guard)
{
    uint64_t written = (uint64_t)sqlite3_total_changes64(guard->sqlite);

    return guard->steps > LEAST_STEPS + STEPS_A_BYTE * guard->file_bytes + STEPS_A_ROW * written;
}

/* Non-zero ends the query. */
static int count_steps(void *user)
{
    struct gt_guard *guard = user;

    guard->steps += STEPS_A_CALL;
    return too_many(guard);
}

void gt_guard_database(struct gt_guard *guard, sqlite3 *sqlite, uint64_t file_bytes)
{
    /* clang-format off */
    static const struct { int option, on; } options[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
    };
    /* clang-format on */
    static const struct {
        int limit, most;
    } limits[] = {
        { SQLITE_LIMIT_LENGTH, 1 << 26 },     { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 16 }, { SQLITE_LIMIT_ATTACHED, 0 },         { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };

    *guard = (struct gt_guard){ .sqlite = sqlite, .file_bytes = file_bytes };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        sqlite3_db_config(sqlite, options[i].option, options[i].on, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(sqlite, limits[i].limit, limits[i].most);
    sqlite3_progress_handler(sqlite, STEPS_A_CALL, count_steps, guard);
}

bool gt_guard_stopped(const struct gt_guard *guard)
{
    return guard->sqlite != NULL && sqlite3_errcode(guard->sqlite) == SQLITE_INTERRUPT;
}
