/* A store's life: made under a temporary name, or opened and checked. */
#include "traces/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/io/output.h"
#include "traces/io/overwrite.h"
#include "traces/store/internal.h"
#include "traces/store/query.h"
#include "traces/store/schema_sql.h"

/* A new store is a file of its own until it is renamed: nothing to roll back to but memory,
 * one sync at the end.  Its rows' references come from this code, so SQLite need not check. */
static const char bulk_settings[] =
    "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA cache_size = -65536; PRAGMA foreign_keys = OFF;";
static const char shared_settings[] =
    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON;";
static const char reader_settings[] =
    "PRAGMA query_only = ON; PRAGMA cache_size = -65536; PRAGMA cell_size_check = ON;";

/* The tables that the schemas make. */
#define TABLES                                                                                                    \
    "'device', 'device_key', 'trace', 'warning', 'gpu', 'stream', 'thread', 'kernel', 'call', 'op', 'run',"       \
    " 'run_call', 'run_op', 'run_block', 'run_placement', 'run_bin', 'counter', 'comparison', 'metric',"          \
    " 'instruction', 'run_kernel', 'run_issue', 'run_stall', 'range', 'call_range', 'run_range'"                  \
    ", 'kernel_cluster', 'task_kind', 'task', 'kernel_tasks', 'run_task', 'trace_file', 'run_answer', "           \
    "'run_assumption', 'child_launch', 'run_poll', 'kernel_collective', 'sweep', 'sweep_option', 'sweep_trace', " \
    "'sweep_parameter', 'call_executable', 'op_peer', "                                                           \
    "'sweep_value', 'trace_source', 'plain_value', 'range_inputs', 'kernel_family', 'profiled_work'"

enum { BUSY_MS = 5000 };

int gt_store_fail(struct gt_store *store, struct gt_error *error)
{
    if (sqlite3_errcode(store->base.sqlite) == SQLITE_NOTADB)
        return gt_error_set(error,
                            "%s: not a Gridtide store: it is no SQLite database; make a store with 'gridtide run'",
                            store->base.path);
    return gt_database_fail(&store->base, error);
}

int gt_store_run(struct gt_store *store, const char *sql, struct gt_error *error)
{
    return gt_database_run(&store->base, sql, error);
}

sqlite3_stmt *gt_store_prepare(struct gt_store *store, const char *sql, struct gt_error *error)
{
    sqlite3_stmt *statement = gt_database_prepare(&store->base, sql, error);

    if (statement == NULL)
        gt_store_fail(store, error);
    return statement;
}

int gt_store_step(struct gt_store *store, sqlite3_stmt *statement, struct gt_error *error)
{
    if (sqlite3_step(statement) != SQLITE_DONE) {
        gt_store_fail(store, error);
        sqlite3_reset(statement);
        return -1;
    }
    sqlite3_reset(statement);
    return 0;
}

int gt_store_begin(struct gt_store *store, struct gt_error *error)
{
    return gt_store_run(store, "BEGIN IMMEDIATE", error);
}

int gt_store_finish(struct gt_store *store, int result, struct gt_error *error)
{
    if (result == 0 && gt_store_run(store, "COMMIT", error) == 0)
        return 0;
    gt_store_run(store, "ROLLBACK", NULL);
    return -1;
}

void gt_store_tell(struct gt_store *store, uint64_t done, uint64_t total)
{
    if (store->progress != NULL && done % 4096 == 0)
        store->progress(store->progress_user, done, total);
}

void gt_store_watch(struct gt_store *store, gt_store_progress *progress, void *user)
{
    store->progress = progress;
    store->progress_user = user;
}

void gt_store_bind_time(sqlite3_stmt *statement, int place, gt_time_ps time_ps)
{
    if (time_ps == GT_TIME_NONE)
        sqlite3_bind_null(statement, place);
    else
        sqlite3_bind_int64(statement, place, time_ps > INT64_MAX ? INT64_MAX : (int64_t)time_ps);
}

void gt_store_bind_real(sqlite3_stmt *statement, int place, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(statement, place, value);
    else
        sqlite3_bind_null(statement, place);
}

void gt_store_bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    if (text == NULL || text[0] == '\0')
        sqlite3_bind_null(statement, place);
    else
        sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

static void free_store(struct gt_store *store)
{
    gt_database_close(&store->base);
    free(store);
}

static struct gt_store *open_file(const char *path, const char *file, struct gt_error *error)
{
    struct gt_store *store = gt_calloc(1, sizeof *store);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX; /* one thread only */

    store->base = (struct gt_database){ .path = gt_strdup(path), .again = "make it again with 'gridtide run'" };
    if (sqlite3_open_v2(file, &store->base.sqlite, flags, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(store->base.sqlite, BUSY_MS);
        sqlite3_db_config(store->base.sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        return store;
    }
    gt_store_fail(store, error);
    free_store(store);
    return NULL;
}

/* What cannot become a store is refused before the work, not after it. */
static int check_target(const char *path, struct gt_error *error)
{
    struct stat status;

    if (strcmp(path, "-") == 0)
        return gt_error_set(error, "-: a store cannot be written to standard output; give a file name with -o");
    if (path[0] == '\0')
        return gt_error_set(error, "the name of the store is empty; give a file name with -o");
    if (stat(path, &status) != 0)
        return 0;
    if (S_ISDIR(status.st_mode))
        return gt_error_set(error, "%s: is a directory; give a file name with -o", path);
    if (!S_ISREG(status.st_mode))
        return gt_error_set(error, "%s: is not a regular file; give another name with -o", path);
    return 0;
}

/* What each version of the store added to schema.sql: tables and columns, by the first version that has them. */
static const struct addition {
    int version;
    const char *sql;
} additions[] = {
    { GT_STORE_KERNELS, gt_schema_kernels_sql },
    { GT_STORE_WITH_RANGES, gt_schema_ranges_sql },
    { GT_STORE_WITH_TASKS, gt_schema_tasks_sql },
    { GT_STORE_WITH_ANSWERS, gt_schema_answers_sql },
    { GT_STORE_WITH_CHILDREN, gt_schema_children_sql },
    { GT_STORE_WITH_POLLS, gt_schema_polls_sql },
    { GT_STORE_WITH_COLLECTIVES, gt_schema_collectives_sql },
    { GT_STORE_WITH_EXECUTABLES, gt_schema_executables_sql },
    { GT_STORE_WITH_PEERS, gt_schema_peers_sql },
    { GT_STORE_WITH_SOURCES, gt_schema_files_sql },
    { GT_STORE_WITH_PLAIN, gt_schema_plain_sql },
    { GT_STORE_WITH_SHAPES, gt_schema_shapes_sql },
};

/* What a store of that version lacks; 0: schema.sql alone. */
static int add_schemas(struct gt_store *store, int version, struct gt_error *error)
{
    for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++)
        if (version < additions[i].version && gt_store_run(store, additions[i].sql, error) != 0)
            return -1;
    return 0;
}

struct gt_store *gt_store_create(const char *path, struct gt_error *error)
{
    struct gt_store *store;
    char *temporary;

    if (check_target(path, error) != 0)
        return NULL;
    temporary = gt_output_reserve(path, error);
    if (temporary == NULL)
        return NULL;
    store = open_file(path, temporary, error);
    if (store == NULL) {
        gt_output_discard(temporary);
        return NULL;
    }
    store->temporary = temporary;
    store->version = GT_STORE_VERSION;
    if (gt_store_run(store, bulk_settings, error) == 0 && gt_store_run(store, gt_schema_sql, error) == 0 &&
        add_schemas(store, 0, error) == 0)
        return store;
    gt_store_abandon(store);
    return NULL;
}

struct gt_store *gt_store_model(struct gt_error *error)
{
    static const char sweep_grid[] =
        "CREATE VIEW sweep_grid AS SELECT * FROM sweep"; /* a sweep's own has more columns */
    struct gt_store *store = open_file(":memory:", ":memory:", error);

    if (store == NULL)
        return NULL;
    if (gt_store_run(store, gt_schema_sql, error) == 0 && add_schemas(store, 0, error) == 0 &&
        gt_store_run(store, gt_schema_sweep_sql, error) == 0 && gt_store_run(store, sweep_grid, error) == 0 &&
        gt_store_run(store, gt_schema_serve_sql, error) == 0)
        return store;
    free_store(store);
    return NULL;
}

static int sync_file(const struct gt_store *store, struct gt_error *error)
{
    int fd = open(store->temporary, O_RDWR | O_CLOEXEC), result = 0;

    if (fd < 0 || fsync(fd) != 0)
        result = gt_error_set(error, "%s: cannot write: %s", store->base.path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return result;
}

/* A journal left by a killed writer of the file being replaced must not be played into the new one. */
static void remove_stale(const char *path)
{
    static const char *const endings[] = { "-journal", "-wal", "-shm" };
    char *name;

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (asprintf(&name, "%s%s", path, endings[i]) < 0)
            gt_bug("asprintf failed");
        unlink(name);
        free(name);
    }
}

int gt_store_commit(struct gt_store *store, struct gt_error *error)
{
    int result;

    if (sqlite3_close(store->base.sqlite) != SQLITE_OK)
        gt_bug("%s: a statement was left open", store->base.path);
    store->base.sqlite = NULL;
    result = sync_file(store, error);
    if (result == 0) {
        remove_stale(store->base.path);
        result = gt_output_rename(store->temporary, store->base.path, error);
    } else {
        gt_output_discard(store->temporary);
    }
    free_store(store);
    return result;
}

void gt_store_abandon(struct gt_store *store)
{
    char *temporary;

    if (store == NULL)
        return;
    temporary = store->temporary;
    free_store(store);
    gt_output_discard(temporary);
}

/* Both are what anybody wrote into the file's header, below 0 too. */
static int check_identity(struct gt_store *store, struct gt_error *error)
{
    int64_t application = 0, version = 0;

    if (gt_query_one(&store->base, "PRAGMA application_id", 0, 0, &application, error) < 0 ||
        gt_query_one(&store->base, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return gt_store_fail(store, error);
    if (application != GT_STORE_APPLICATION)
        return gt_error_set(error,
                            "%s: an SQLite database, but not a Gridtide store; make a store with 'gridtide run'",
                            store->base.path);
    if (version < GT_STORE_OLDEST || version > GT_STORE_VERSION)
        return gt_error_set(
            error,
            "%s: the store has version %lld, but this Gridtide reads version %d; make it again with 'gridtide run'",
            store->base.path, (long long)version, GT_STORE_VERSION);
    store->version = (int)version;
    return 0;
}

/* What the statements of this program rely on are tables, with rows of their own: no views, no virtual tables,
 * no computed columns. Views that are called as nothing here are the user's own business, and never read. */
static int check_tables(struct gt_store *store, struct gt_error *error)
{
    static const char sql[] =
        "SELECT s.name FROM main.sqlite_schema s WHERE s.name IN (" TABLES ")"
        " AND (s.type <> 'table' OR s.rootpage = 0"
        "   OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name, 'main') WHERE hidden <> 0)) LIMIT 1";
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    int code, result = 0;

    if (query == NULL)
        return -1;
    code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        result = gt_error_set(
            error,
            "%s: damaged: %s is not the table of that name in a Gridtide store; make it again with 'gridtide run'",
            store->base.path, (const char *)sqlite3_column_text(query, 0));
    else if (code != SQLITE_DONE)
        result = gt_store_fail(store, error);
    sqlite3_finalize(query);
    return result;
}

/* An older store that runs are to be added to becomes one of today's. */
static int upgrade(struct gt_store *store, struct gt_error *error)
{
    if (store->version == GT_STORE_VERSION)
        return 0;
    if (gt_store_begin(store, error) != 0 ||
        gt_store_finish(store, add_schemas(store, store->version, error), error) != 0)
        return -1;
    store->version = GT_STORE_VERSION;
    return 0;
}

/* SQLite would make what is missing and is vague about the rest. */
static int check_source(const char *path, struct gt_error *error)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return gt_error_set(error, "%s: %s; make it with 'gridtide run'", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return gt_error_set(error, "%s: is a directory, not a store", path);
    if (!S_ISREG(status.st_mode))
        return gt_error_set(error, "%s: is not a regular file, so not a store", path);
    if (access(path, R_OK) != 0)
        return gt_error_set(error, "%s: %s", path, strerror(errno));
    return 0;
}

static int guard_file(struct gt_store *store, struct gt_error *error)
{
    struct stat status;

    if (stat(store->base.path, &status) != 0)
        return gt_error_set(error, "%s: %s", store->base.path, strerror(errno));
    gt_guard_database(&store->base.guard, store->base.sqlite, (uint64_t)status.st_size);
    return 0;
}

struct gt_store *gt_store_open(const char *path, bool writable, struct gt_error *error)
{
    struct gt_store *store;

    if (check_source(path, error) != 0)
        return NULL;
    if ((writable ? gt_writing_is_safe(path, error) : gt_reading_begins_at(path, error)) != 0)
        return NULL;
    /* Readers too may have to play back the journal of a killed writer. */
    store = open_file(path, path, error);
    if (store == NULL)
        return NULL;
    if (guard_file(store, error) == 0 && check_identity(store, error) == 0 && check_tables(store, error) == 0 &&
        gt_store_run(store, writable ? shared_settings : reader_settings, error) == 0 &&
        (!writable || upgrade(store, error) == 0))
        return store;
    gt_store_close(store);
    return NULL;
}

void gt_store_close(struct gt_store *store)
{
    if (store != NULL)
        free_store(store);
}

struct gt_database *gt_store_database(struct gt_store *store)
{
    return &store->base;
}

bool gt_store_has_kernels(const struct gt_store *store)
{
    return store->version >= GT_STORE_KERNELS;
}

bool gt_store_has_ranges(const struct gt_store *store)
{
    return store->version >= GT_STORE_WITH_RANGES;
}

bool gt_store_has_tasks(const struct gt_store *store)
{
    return store->version >= GT_STORE_WITH_TASKS;
}

bool gt_store_has_polls(const struct gt_store *store)
{
    return store->version >= GT_STORE_WITH_POLLS;
}

bool gt_store_has_executables(const struct gt_store *store)
{
    return store->version >= GT_STORE_WITH_EXECUTABLES;
}
