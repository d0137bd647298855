#include "traces/store/answers.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "sim/base/error.h"
#include "traces/store/internal.h"
#include "traces/store/query.h"

static int put_numbers(struct gt_store *store, int64_t run_id, const struct gt_stored_answer *answer,
                       struct gt_error *error)
{
    sqlite3_stmt *insert =
        gt_store_prepare(store,
                         "INSERT INTO run_answer (run_id, change, trust, predicted_us, step_us, change_pct, bound_by,"
                         " bound_pct, low_us, high_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                         error);
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_int64(insert, 1, run_id);
    sqlite3_bind_text(insert, 2, answer->change, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, answer->trust, -1, SQLITE_STATIC);
    sqlite3_bind_double(insert, 4, answer->predicted_us);
    sqlite3_bind_double(insert, 5, answer->step_us);
    sqlite3_bind_double(insert, 6, answer->change_pct);
    sqlite3_bind_text(insert, 7, answer->bound_by, -1, SQLITE_STATIC);
    sqlite3_bind_double(insert, 8, answer->bound_pct);
    sqlite3_bind_double(insert, 9, answer->low_us);
    sqlite3_bind_double(insert, 10, answer->high_us);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result;
}

static int put_assumptions(struct gt_store *store, int64_t run_id, const struct gt_stored_answer *answer,
                           struct gt_error *error)
{
    sqlite3_stmt *insert =
        gt_store_prepare(store, "INSERT INTO run_assumption (run_id, assumption_no, text) VALUES (?, ?, ?)", error);
    int result = insert == NULL ? -1 : 0;

    for (uint32_t i = 0; i < answer->assumption_count && result == 0; i++) {
        sqlite3_bind_int64(insert, 1, run_id);
        sqlite3_bind_int64(insert, 2, i);
        sqlite3_bind_text(insert, 3, answer->assumptions[i], -1, SQLITE_STATIC);
        result = gt_store_step(store, insert, error);
    }
    sqlite3_finalize(insert);
    return result;
}

int gt_store_put_answer(struct gt_store *store, int64_t run_id, const struct gt_stored_answer *answer,
                        struct gt_error *error)
{
    int result;

    if (gt_store_begin(store, error) != 0)
        return -1;
    result = put_numbers(store, run_id, answer, error);
    if (result == 0)
        result = put_assumptions(store, run_id, answer, error);
    return gt_store_finish(store, result, error);
}

/* The text of a query's only row, if it has one, malloced in *text.  ?1 is `id`, ?2 `word`, if there is one.  Returns 0 or
 * -1. */
static int find_text(struct gt_database *database, const char *sql, int64_t id, const char *word, char **text,
                     struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, id);
    if (word != NULL)
        gt_query_bind_text(query, 2, word);
    row = gt_query_next(query, error);
    if (row == 1 && gt_query_string(query, 0) != NULL)
        *text = gt_query_text(query, 0);
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

/* Older stores have no answers. */
static int has_answers(struct gt_database *database, bool *has, struct gt_error *error)
{
    int64_t version = 0;

    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    *has = version >= GT_STORE_WITH_ANSWERS;
    return 0;
}

int gt_store_find_trust(struct gt_database *database, int64_t run_id, const char *extrapolated, char **trust,
                        struct gt_error *error)
{
    bool answers;

    *trust = NULL;
    if (has_answers(database, &answers, error) != 0)
        return -1;
    if (answers &&
        find_text(database, "SELECT trust FROM run_answer WHERE run_id = ?1", run_id, NULL, trust, error) != 0)
        return -1;
    if (*trust != NULL)
        return 0;
    return find_text(database,
                     "SELECT 'extrapolated' FROM run r JOIN warning w ON w.trace_id = r.trace_id"
                     " WHERE r.run_id = ?1 AND w.kind = ?2",
                     run_id, extrapolated, trust, error);
}

static int put_source(struct gt_store *store, int64_t trace_id, const char *path, struct gt_error *error)
{
    char *absolute = realpath(path, NULL);
    struct gt_file_sum sum;
    sqlite3_stmt *insert;
    int result = 0;

    if (absolute != NULL && gt_file_sum(absolute, &sum)) {
        insert = gt_store_prepare(
            store, "INSERT INTO trace_source (trace_id, path, bytes, crc32) VALUES (?, ?, ?, ?)", error);
        result = insert == NULL ? -1 : 0;
        if (insert != NULL) {
            sqlite3_bind_int64(insert, 1, trace_id);
            sqlite3_bind_text(insert, 2, absolute, -1, SQLITE_STATIC);
            sqlite3_bind_int64(insert, 3, (int64_t)sum.bytes);
            sqlite3_bind_int64(insert, 4, sum.crc32);
            result = gt_store_step(store, insert, error);
            sqlite3_finalize(insert);
        }
    }
    free(absolute);
    return result;
}

int gt_store_put_trace_file(struct gt_store *store, int64_t trace_id, const char *path, struct gt_error *error)
{
    sqlite3_stmt *insert;
    int result;

    if (strcmp(path, "-") == 0)
        return 0;
    insert = gt_store_prepare(store, "INSERT INTO trace_file (trace_id, path) VALUES (?, ?)", error);
    if (insert == NULL)
        return -1;
    sqlite3_bind_int64(insert, 1, trace_id);
    sqlite3_bind_text(insert, 2, path, -1, SQLITE_STATIC);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result == 0 ? put_source(store, trace_id, path, error) : -1;
}

/* Older stores do not say. */
int gt_store_find_trace_file(struct gt_database *database, int64_t trace_id, char **path, struct gt_error *error)
{
    bool answers;

    *path = NULL;
    if (has_answers(database, &answers, error) != 0)
        return -1;
    if (!answers)
        return 0;
    return find_text(database, "SELECT path FROM trace_file WHERE trace_id = ?1", trace_id, NULL, path, error);
}

int gt_store_find_trace_source(struct gt_database *database, int64_t trace_id, struct gt_trace_source *source,
                               struct gt_error *error)
{
    struct gt_query *query;
    int64_t version = 0;
    int row;

    *source = (struct gt_trace_source){ .path = NULL };
    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_SOURCES)
        return 0;
    query = gt_query_new(database, "SELECT path, bytes, crc32 FROM trace_source WHERE trace_id = ?1", error);
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, trace_id);
    row = gt_query_next(query, error);
    if (row == 1) {
        source->path = gt_query_text(query, 0);
        source->sum =
            (struct gt_file_sum){ (uint64_t)gt_query_integer(query, 1), (uint32_t)gt_query_integer(query, 2) };
    }
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

enum { CHUNK_BYTES = 1 << 16 };

bool gt_file_sum(const char *path, struct gt_file_sum *sum)
{
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    unsigned char *chunk;
    uLong crc = crc32(0, NULL, 0);
    size_t bytes;
    bool whole;

    if (file == NULL)
        return false;
    chunk = gt_calloc(CHUNK_BYTES, 1);
    *sum = (struct gt_file_sum){ .bytes = 0 };
    while ((bytes = fread(chunk, 1, CHUNK_BYTES, file)) > 0) {
        crc = crc32(crc, chunk, (uInt)bytes);
        sum->bytes += bytes;
    }
    whole = ferror(file) == 0;
    sum->crc32 = (uint32_t)crc;
    fclose(file);
    free(chunk);
    return whole;
}
