/* What `gridtide compare` says of runs: their names and numbers; and of a store of the validator. */
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/print/json.h"
#include "sim/cmd/report/compare_parts.h"

static int add_warning(void *user, const struct gt_warning_row *row, struct gt_error *error)
{
    struct gt_subject *subject = user;

    (void)error;
    subject->warnings = gt_realloc(subject->warnings, subject->warning_count + 1, sizeof *subject->warnings);
    subject->warnings[subject->warning_count++] =
        (struct gt_warning_row){ gt_strdup(row->kind), gt_strdup(row->text), row->count };
    return 0;
}

int gt_subject_open(struct gt_store *store, int64_t run, struct gt_subject *subject, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);

    *subject = (struct gt_subject){ .warnings = NULL };
    if (gt_run_head(database, run, &subject->names, error) != 0)
        return -1;
    return gt_run_warnings(database, run, add_warning, subject, error);
}

void gt_subject_close(struct gt_subject *subject)
{
    gt_run_head_free(&subject->names);
    for (size_t i = 0; i < subject->warning_count; i++) {
        free((char *)subject->warnings[i].kind);
        free((char *)subject->warnings[i].text);
    }
    free(subject->warnings);
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

static void json_warnings(yajl_gen json, const struct gt_subject *subject)
{
    gt_json_text(json, "warnings");
    yajl_gen_array_open(json);
    for (size_t i = 0; i < subject->warning_count; i++) {
        yajl_gen_map_open(json);
        gt_json_text(json, "kind");
        gt_json_text(json, subject->warnings[i].kind);
        gt_json_text(json, "count");
        gt_json_integer(json, subject->warnings[i].count);
        gt_json_text(json, "text");
        gt_json_text(json, subject->warnings[i].text);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

void gt_subject_json(yajl_gen json, const struct gt_subject *subject, const struct gt_comparison *comparison)
{
    gt_json_text(json, "trace");
    gt_json_text(json, subject->names.trace);
    gt_json_text(json, "device");
    gt_json_text(json, subject->names.device);
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
    json_warnings(json, subject);
}

/* What only several measured runs can tell. */
static void json_judgement(yajl_gen json, const struct gt_judged *judged)
{
    const struct gt_repeats *repeats = &judged->verdict.repeats;

    json_count(json, "repetitions", repeats->count);
    json_number(json, "makespan_error_gpu_pct", gt_verdict_value(&judged->verdict, "makespan_error_gpu_pct"));
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

static int print_json(struct gt_store *store, const struct gt_judged *judged, uint32_t count, struct gt_error *error)
{
    yajl_gen json = gt_json_new();
    int result = 0;

    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct gt_subject subject = { .warnings = NULL };

        result = gt_subject_open(store, judged[i].verdict.simulated_run, &subject, error);
        if (result == 0) {
            yajl_gen_map_open(json);
            gt_subject_json(json, &subject, &judged[i].verdict.comparison);
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

static int print_tables(struct gt_store *store, const struct gt_judged *judged, uint32_t count, enum gt_format format,
                        struct gt_error *error)
{
    struct gt_verdict *verdicts = gt_calloc(count, sizeof *verdicts);
    struct gt_suite suite;
    int result;

    for (uint32_t i = 0; i < count; i++)
        verdicts[i] = judged[i].verdict;
    result = gt_verdict_suite(store, verdicts, count, &suite, error);
    free(verdicts);
    if (result != 0)
        return -1;
    if (format == GT_FORMAT_CSV || gt_tables_chosen()) {
        gt_judged_print_all(stdout, format, judged, count, &suite, NULL, 0);
        return 0;
    }
    gt_judged_print_heading(stdout);
    for (uint32_t i = 0; i < count; i++)
        gt_judged_print(stdout, &judged[i]);
    gt_judged_print_summary(stdout, &suite);
    return 0;
}

static int judge(struct gt_store *store, int64_t run, struct gt_judged *judged, struct gt_error *error)
{
    struct gt_subject subject = { .warnings = NULL };
    int result = gt_verdict_of(store, run, false, &judged->verdict, error);

    if (result == 0)
        result = gt_subject_open(store, run, &subject, error);
    if (result == 0) {
        judged->name = gt_strdup(subject.names.trace);
        judged->surrogates = strstr(subject.names.options, "kernels=surrogates") != NULL;
    }
    gt_subject_close(&subject);
    return result;
}

int gt_compare_many(struct gt_store *store, const int64_t *runs, uint32_t count, enum gt_format format,
                    struct gt_error *error)
{
    struct gt_judged *judged = gt_calloc(count, sizeof *judged);
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++)
        result = judge(store, runs[i], &judged[i], error);
    if (result == 0)
        result = format == GT_FORMAT_JSON && !gt_tables_chosen() ? print_json(store, judged, count, error)
                                                                 : print_tables(store, judged, count, format, error);
    for (uint32_t i = 0; i < count; i++)
        free(judged[i].name);
    free(judged);
    return result;
}
