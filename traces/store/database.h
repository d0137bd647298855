/* database.h - a connection to an SQLite file: the one place where statements are prepared and where what
 * SQLite says becomes an error. Only traces/store includes sqlite3.h; others ask with query.h. */
#ifndef GRIDTIDE_TRACES_STORE_DATABASE_H
#define GRIDTIDE_TRACES_STORE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

/* How much work a database may take, in steps of SQLite's virtual machine, and how much it has taken. */
struct gt_guard {
    struct sqlite3 *sqlite;
    uint64_t file_bytes;
    uint64_t steps;
};

/* Before anything is read of `sqlite`, a file of `file_bytes`: views and triggers in it are off, values and
 * statements are bounded, and queries end with SQLITE_INTERRUPT where they have taken more work than a file of
 * that size and what was written to it since account for. `guard` must outlive the connection. */
void gt_guard_database(struct gt_guard *guard, struct sqlite3 *sqlite, uint64_t file_bytes);
/* Whether that is why a query ended. */
bool gt_guard_stopped(const struct gt_guard *guard);

struct gt_database {
    struct sqlite3 *sqlite;
    char *path;            /* as the user knows it, for errors */
    const char *again;     /* what to do where it is damaged: "export it again" */
    struct gt_guard guard; /* of a file that somebody else may have made */
};

/* Files of other programs, guarded (database.h), never written to nor beside: the file of that name, or `image`,
 * which holds all `bytes` of one and must last as long. Close in either case. Return 0 or -1. */
int gt_database_open_file(struct gt_database *database, const char *path, uint64_t bytes, struct gt_error *error);
int gt_database_open_image(struct gt_database *database, const char *path, void *image, uint64_t bytes,
                           struct gt_error *error);
void gt_database_close(struct gt_database *database);

/* Statements without results. Returns 0 or -1. */
int gt_database_run(struct gt_database *database, const char *sql, struct gt_error *error);
/* Compile one statement; NULL with the reason. */
struct sqlite3_stmt *gt_database_prepare(struct gt_database *database, const char *sql, struct gt_error *error);

/* One view of the file, and one lock, for all queries until the end; true where there was none yet, which is to be
 * ended then. */
bool gt_database_begin_reading(struct gt_database *database);
void gt_database_end_reading(struct gt_database *database);

/* Fill `error` with "PATH: " and what SQLite says, and what to do. Returns -1. */
int gt_database_fail(struct gt_database *database, struct gt_error *error);
/* Put "PATH: " before an error about a row that does not begin so yet. Returns -1. */
int gt_database_name_error(const struct gt_database *database, struct gt_error *error);

#endif
