/* A store whose pages lead in circles, all but endlessly: reading it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "traces/compare/verdict.h"
#include "traces/store/store.h"

enum { LEVELS = 12, PAGE_BYTES = 4096, CHILDREN = 500 };

static void put(unsigned char *at, uint32_t value, int bytes)
{
    for (int i = bytes; i-- > 0; value >>= 8)
        at[i] = (unsigned char)value;
}

/* A page of a table's inside (file format, 1.6) with one child, many times over: cells of the child's number
 * and a key of one byte. */
static void make_page(unsigned char page[PAGE_BYTES], uint32_t child)
{
    memset(page, 0, PAGE_BYTES);
    page[0] = 5;
    put(page + 3, CHILDREN, 2);
    put(page + 5, PAGE_BYTES - 5 * CHILDREN, 2);
    put(page + 8, child, 4);
    for (int i = 0; i < CHILDREN; i++) {
        unsigned char *cell = page + PAGE_BYTES - 5 * (i + 1);

        put(cell, child, 4);
        cell[4] = 1;
        put(page + 12 + 2 * i, (uint32_t)(cell - page), 2);
    }
}

static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *database;
    sqlite3_stmt *query;
    int64_t value;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(database);
    return value;
}

/* The root of table run moves to a new last page; above it stand LEVELS pages, the first in its place. */
static void make_endless(const char *path)
{
    uint32_t pages = (uint32_t)ask(path, "PRAGMA page_count"), new_pages = pages + LEVELS;
    long root = (long)ask(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'run'");
    unsigned char page[PAGE_BYTES], leaf[PAGE_BYTES], header[4];
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    assert_int_equal(ask(path, "PRAGMA page_size"), PAGE_BYTES);
    fseek(file, (root - 1) * PAGE_BYTES, SEEK_SET);
    assert_int_equal(fread(leaf, PAGE_BYTES, 1, file), 1);
    make_page(page, pages + 1);
    fseek(file, (root - 1) * PAGE_BYTES, SEEK_SET);
    fwrite(page, PAGE_BYTES, 1, file);
    fseek(file, (long)pages * PAGE_BYTES, SEEK_SET);
    for (uint32_t i = 1; i < LEVELS; i++) {
        make_page(page, pages + i + 1);
        fwrite(page, PAGE_BYTES, 1, file);
    }
    fwrite(leaf, PAGE_BYTES, 1, file);
    put(header, new_pages, 4);
    fseek(file, 28, SEEK_SET);
    fwrite(header, 4, 1, file);
    assert_int_equal(fclose(file), 0);
}

static void test_pages_in_circles(void **state)
{
    char path[] = "/tmp/gridtide-endless-XXXXXX";
    struct gt_error error = { "" };
    struct gt_store *store;
    int64_t simulated, measured;
    sqlite3 *database;

    (void)state;
    close(mkstemp(path));
    store = gt_store_create(path, &error);
    assert_non_null(store);
    assert_int_equal(gt_store_commit(store, &error), 0);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database,
                                  "INSERT INTO trace (trace_id, name) VALUES (1, 't');"
                                  "INSERT INTO run VALUES (1, 1, 1, 'measured', '', 0, 1)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(database);
    make_endless(path);
    store = gt_store_open(path, false, &error);
    assert_non_null(store);
    assert_int_equal(gt_verdict_find_runs(store, &simulated, &measured, &error), -1);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "far more work than possible for its size"));
    gt_store_close(store);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pages_in_circles) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
