/* stats_golden.h - the golden store (tests/data/stats-golden.sql) in memory, for the tests of statistics. */
#ifndef GRIDTIDE_TESTS_UNIT_STATS_GOLDEN_H
#define GRIDTIDE_TESTS_UNIT_STATS_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "traces/stats/stats.h"
#include "traces/store/schema_sql.h"

#define US UINT64_C(1000000)

static void run_sql(sqlite3 *database, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
}

static char *read_data(const char *name)
{
    char path[4096], *text = calloc(1, 65536);
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/%s", getenv("GRIDTIDE_SOURCE"), name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(text, 1, 65535, file), 1, 65534);
    fclose(file);
    return text;
}

static int open_golden(void **state)
{
    sqlite3 *database;
    char *data = read_data("stats-golden.sql");

    sqlite3_open(":memory:", &database);
    run_sql(database, gt_schema_sql);
    run_sql(database, data);
    free(data);
    *state = database;
    return 0;
}

static int close_golden(void **state)
{
    return sqlite3_close(*state); /* fails if a statement was left open */
}

/* Statistics of run 1 after a change to the golden store. */
/* The connection as the program has it. */
static struct gt_database *wrap(sqlite3 *database)
{
    static struct gt_database wrapped;
    static char path[] = "golden.db";

    wrapped = (struct gt_database){ .sqlite = database, .path = path, .again = "make it again" };
    return &wrapped;
}

static struct gt_stats *compute(sqlite3 *database, const char *change)
{
    struct gt_error error = { "" };
    struct gt_stats *stats;

    run_sql(database, change);
    stats = gt_stats_compute(wrap(database), 1, NULL, &error);
    if (stats == NULL)
        fail_msg("%s", error.text);
    return stats;
}

#define GOLDEN(test) cmocka_unit_test_setup_teardown(test, open_golden, close_golden)

#endif
