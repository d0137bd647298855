/* guard.h - an SQLite file that a stranger may have made: nothing in it runs, and no reading of it goes on
 * for ever. */
#ifndef GRIDTIDE_TRACES_STORE_GUARD_H
#define GRIDTIDE_TRACES_STORE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

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

#endif
