#include "traces/store/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Why the system refused what SQLite asked for last. */
static int last_errno(struct gt_database *database)
{
    int number = 0;

    sqlite3_file_control(database->sqlite, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

int gt_database_fail(struct gt_database *database, struct gt_error *error)
{
    int code = sqlite3_errcode(database->sqlite);
    const char *path = database->path, *text = sqlite3_errmsg(database->sqlite);

    if (code == SQLITE_FULL)
        return gt_error_set(error, "%s: cannot write: the disk is full; free space or write elsewhere", path);
    if ((code & 0xff) == SQLITE_IOERR && last_errno(database) == EFBIG)
        return gt_error_set(error, "%s: cannot write: the file size limit is exceeded (ulimit -f); raise the limit",
                            path);
    if ((code & 0xff) == SQLITE_IOERR)
        return gt_error_set(error, "%s: cannot read or write: %s (is the disk full?)", path, text);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return gt_error_set(error, "%s: damaged (%s); %s", path, text, database->again);
    if (gt_guard_stopped(&database->guard))
        return gt_error_set(error, "%s: damaged: reading it takes far more work than possible for its size; %s", path,
                            database->again);
    if (code == SQLITE_ERROR) /* of statements that fit every store: a table or a column is not there */
        return gt_error_set(error, "%s: %s; %s", path, text, database->again);
    return gt_error_set(error, "%s: %s", path, text);
}

int gt_database_name_error(const struct gt_database *database, struct gt_error *error)
{
    if (gt_error_names(error, database->path))
        return -1;
    return gt_error_prefix(error, "%s: ", database->path);
}

int gt_database_run(struct gt_database *database, const char *sql, struct gt_error *error)
{
    return sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : gt_database_fail(database, error);
}

struct sqlite3_stmt *gt_database_prepare(struct gt_database *database, const char *sql, struct gt_error *error)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    gt_database_fail(database, error);
    return NULL;
}

bool gt_database_begin_reading(struct gt_database *database)
{
    return sqlite3_get_autocommit(database->sqlite) != 0 &&
           sqlite3_exec(database->sqlite, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
}

void gt_database_end_reading(struct gt_database *database)
{
    sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

static const char foreign_settings[] = "PRAGMA cell_size_check = ON; PRAGMA query_only = ON";

/* "file:PATH?immutable=1" with what means something in a URI escaped; malloced. */
static char *immutable_uri(const char *path)
{
    static const char hex[] = "0123456789abcdef";
    char *uri = gt_realloc(NULL, strlen(path) + 16, 3);
    char *end = stpcpy(uri, path[0] == '/' ? "file://" : "file:");

    for (; *path != '\0'; path++) {
        if (strchr("?#%", *path) != NULL) {
            *end++ = '%';
            *end++ = hex[(unsigned char)*path >> 4];
            *end++ = hex[*path & 15];
        } else {
            *end++ = *path;
        }
    }
    strcpy(end, "?immutable=1&mode=ro");
    return uri;
}

static int guard_foreign(struct gt_database *database, uint64_t bytes, int status, struct gt_error *error)
{
    if (status != SQLITE_OK)
        return gt_database_fail(database, error);
    gt_guard_database(&database->guard, database->sqlite, bytes);
    sqlite3_exec(database->sqlite, foreign_settings, NULL, NULL, NULL); /* a broken file fails when read */
    return 0;
}

int gt_database_open_file(struct gt_database *database, const char *path, uint64_t bytes, struct gt_error *error)
{
    char *uri = immutable_uri(path);
    int status;

    *database = (struct gt_database){ .path = gt_strdup(path), .again = "export it again" };
    status = sqlite3_open_v2(uri, &database->sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(uri);
    return guard_foreign(database, bytes, status, error);
}

int gt_database_open_image(struct gt_database *database, const char *path, void *image, uint64_t bytes,
                           struct gt_error *error)
{
    int status;

    *database = (struct gt_database){ .path = gt_strdup(path), .again = "export it again" };
    status = sqlite3_open_v2(":memory:", &database->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_deserialize(database->sqlite, "main", image, (sqlite3_int64)bytes, (sqlite3_int64)bytes,
                                     SQLITE_DESERIALIZE_READONLY);
    return guard_foreign(database, bytes, status, error);
}

void gt_database_close(struct gt_database *database)
{
    sqlite3_close(database->sqlite);
    free(database->path);
    *database = (struct gt_database){ .sqlite = NULL };
}

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
