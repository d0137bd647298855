/* What `gridtide compare` says of runs: their names and numbers; and of a store of the validator. */
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/compare_parts.h"
#include "sim/cmd/json.h"

static const char names_sql[] =
    "SELECT t.name, d.name, r.options FROM run r JOIN trace t ON t.trace_id = r.trace_id"
    " JOIN device d ON d.device_id = r.device_id WHERE r.run_id = ?";
static const char warnings_sql[] =
    "SELECT w.kind, w.count, w.text FROM run r JOIN trace t ON t.trace_id = r.trace_id"
    " JOIN warning w ON w.trace_id = coalesce(t.base_trace_id, t.trace_id)"
    " WHERE r.run_id = ? ORDER BY w.kind";

int gt_subject_open(struct gt_store *store, const char *path, int64_t run, struct gt_subject *subject,
                    struct gt_error *error)
{
    sqlite3 *database = gt_store_database(store);

    if (sqlite3_prepare_v2(database, names_sql, -1, &subject->names, NULL) != SQLITE_OK
            || sqlite3_prepare_v2(database, warnings_sql, -1, &subject->warnings, NULL) != SQLITE_OK
            || sqlite3_bind_int64(subject->names, 1, run) != SQLITE_OK
            || sqlite3_bind_int64(subject->warnings, 1, run) != SQLITE_OK
            || sqlite3_step(subject->names) != SQLITE_ROW)
        return gt_error_set(error, "%s: %s", path, sqlite3_errmsg(database));
    return 0;
}

void gt_subject_close(struct gt_subject *subject)
{
    sqlite3_finalize(subject->names);
    sqlite3_finalize(subject->warnings);
}

const char *gt_subject_text(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

static void json_count(yajl_gen json, const char *key, uint64_t count)
{
    gt_json_text(json, key);
    gt_json_integer(json, (int64_t)count);
}

static void json_number(yajl_gen json, const char *key, double value)
{
    gt_json_text(json, key);
    gt_json_real(json, value);
}

static void json_spread(yajl_gen json, const char *key, const struct gt_spread *spread)
{
    gt_json_text(json, key);
    yajl_gen_map_open(json);
    json_number(json, "median", spread->median);
    json_number(json, "p95", spread->p95);
    json_number(json, "max", spread->max);
    yajl_gen_map_close(json);
}

static void json_warnings(yajl_gen json, sqlite3_stmt *warnings)
{
    gt_json_text(json, "warnings");
    yajl_gen_array_open(json);
    while (sqlite3_step(warnings) == SQLITE_ROW) {
        yajl_gen_map_open(json);
        gt_json_text(json, "kind");
        gt_json_text(json, gt_subject_text(warnings, 0));
        gt_json_text(json, "count");
        gt_json_integer(json, sqlite3_column_int64(warnings, 1));
        gt_json_text(json, "text");
        gt_json_text(json, gt_subject_text(warnings, 2));
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

void gt_subject_json(yajl_gen json, const struct gt_subject *subject, const struct gt_comparison *comparison)
{
    gt_json_text(json, "trace");
    gt_json_text(json, gt_subject_text(subject->names, 0));
    gt_json_text(json, "device");
    gt_json_text(json, gt_subject_text(subject->names, 1));
    gt_json_text(json, "operations");
    yajl_gen_map_open(json);
    json_count(json, "kernel", comparison->kernels);
    json_count(json, "copy", comparison->copies);
    json_count(json, "memset", comparison->memsets);
    yajl_gen_map_close(json);
    gt_json_text(json, "makespan_us");
    yajl_gen_map_open(json);
    json_number(json, "measured", comparison->makespan_measured_us);
    json_number(json, "simulated", comparison->makespan_simulated_us);
    json_number(json, "error_pct", comparison->makespan_error_pct);
    yajl_gen_map_close(json);
    json_spread(json, "start_error_us", &comparison->start_error_us);
    json_spread(json, "start_error_pct_of_makespan", &comparison->start_error_pct);
    json_count(json, "unmatched", comparison->unmatched);
    json_warnings(json, subject->warnings);
}

/* What only several measured runs can tell. */
static void json_judgement(yajl_gen json, const struct gt_judged *judged)
{
    const struct gt_repeats *repeats = &judged->judgement.repeats;

    json_count(json, "repetitions", repeats->count);
    json_number(json, "makespan_spread_pct", repeats->spread_pct);
    gt_json_text(json, "placement_pct");
    yajl_gen_map_open(json);
    json_number(json, "simulated", repeats->placement_pct);
    json_number(json, "floor", repeats->placement_floor_pct);
    yajl_gen_map_close(json);
    gt_json_text(json, "order");
    yajl_gen_map_open(json);
    json_number(json, "wrong", repeats->order.wrong);
    json_number(json, "pairs", repeats->order.pairs);
    yajl_gen_map_close(json);
    gt_json_text(json, "kernels");
    gt_json_text(json, judged->surrogates ? "surrogates" : "library");
    gt_json_text(json, "verdict");
    gt_json_text(json, gt_judged_verdict(judged));
}

static int print_json(struct gt_store *store, const char *path, const struct gt_judged *judged,
                      uint32_t count, struct gt_error *error)
{
    yajl_gen json = gt_json_new();
    int result = 0;

    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct gt_subject subject = { NULL, NULL };

        result = gt_subject_open(store, path, judged[i].judgement.simulated_run, &subject, error);
        if (result == 0) {
            yajl_gen_map_open(json);
            gt_subject_json(json, &subject, &judged[i].judgement.comparison);
            json_judgement(json, &judged[i]);
            yajl_gen_map_close(json);
        }
        gt_subject_close(&subject);
    }
    yajl_gen_array_close(json);
    if (result == 0)
        gt_json_finish(json, stdout);
    else
        yajl_gen_free(json);
    return result;
}

static int print_tables(struct gt_store *store, const struct gt_judged *judged, uint32_t count,
                        enum gt_format format, struct gt_error *error)
{
    struct gt_verdict *judgements = gt_calloc(count, sizeof *judgements);
    struct gt_suite suite;
    int result;

    for (uint32_t i = 0; i < count; i++)
        judgements[i] = judged[i].judgement;
    result = gt_verdict_suite(store, judgements, count, &suite, error);
    free(judgements);
    if (result != 0)
        return -1;
    if (format == GT_FORMAT_CSV) {
        gt_judged_print_all(stdout, format, judged, count, &suite);
        return 0;
    }
    gt_judged_print_heading(stdout);
    for (uint32_t i = 0; i < count; i++)
        gt_judged_print(stdout, &judged[i]);
    gt_judged_print_summary(stdout, &suite);
    return 0;
}

static int judge(struct gt_store *store, const char *path, int64_t run, struct gt_judged *judged,
                 struct gt_error *error)
{
    struct gt_subject subject = { NULL, NULL };
    int result = gt_verdict_of(store, run, false, &judged->judgement, error);

    if (result == 0)
        result = gt_subject_open(store, path, run, &subject, error);
    if (result == 0) {
        judged->name = gt_strdup(gt_subject_text(subject.names, 0));
        judged->surrogates = strstr(gt_subject_text(subject.names, 2), "kernels=surrogates") != NULL;
    }
    gt_subject_close(&subject);
    return result;
}

int gt_compare_many(struct gt_store *store, const char *path, const int64_t *runs, uint32_t count,
                    enum gt_format format, struct gt_error *error)
{
    struct gt_judged *judged = gt_calloc(count, sizeof *judged);
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++)
        result = judge(store, path, runs[i], &judged[i], error);
    if (result == 0)
        result = format == GT_FORMAT_JSON ? print_json(store, path, judged, count, error)
                                          : print_tables(store, judged, count, format, error);
    for (uint32_t i = 0; i < count; i++)
        free(judged[i].name);
    free(judged);
    return result;
}
