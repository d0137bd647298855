/* sqlite_database.h - databases like those of profilers, for tests: a script and what a test changes. */
#ifndef GRIDTIDE_TESTS_SQLITE_DATABASE_H
#define GRIDTIDE_TESTS_SQLITE_DATABASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "sim/base/error.h"

static char folder[] = "/tmp/gridtide-sqlite-test-XXXXXX";
static char path[96];
static struct gt_error error;

/* The database that tests/data/NAME.sql and then `more` make, at `path`. */
static void make(const char *name, const char *more)
{
    char script[512];
    char *text = calloc(1, 1 << 16), *message = NULL;
    sqlite3 *database;
    FILE *file;

    snprintf(script, sizeof script, "%s/tests/data/%s.sql", getenv("GRIDTIDE_SOURCE"), name);
    file = fopen(script, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    if (sqlite3_exec(database, text, NULL, NULL, &message) != SQLITE_OK ||
        (more != NULL && sqlite3_exec(database, more, NULL, NULL, &message) != SQLITE_OK))
        fail_msg("%s", message);
    sqlite3_close(database);
    free(text);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a ?b#%%.sqlite", folder); /* what means something in a URI */
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails where anything was written beside the file */
}

#endif
