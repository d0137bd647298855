#include "plots/data/suite_view.h"

#include <math.h>
#include <stdlib.h>

static void free_rows(struct gt_suite_view *suite)
{
    for (uint32_t i = 0; i < suite->count; i++)
        free(suite->rows[i].name);
    suite->count = 0;
}

static int by_trace(const void *left, const void *right)
{
    const struct gt_suite_row *a = left, *b = right;

    if (a->trace_id != b->trace_id)
        return a->trace_id < b->trace_id ? -1 : 1;
    return a->run > b->run ? -1 : a->run < b->run;
}

/* Put the newest run of each trace first, the others away. */
static void keep_newest(struct gt_suite_view *suite)
{
    uint32_t kept = 0;

    qsort(suite->rows, suite->count, sizeof *suite->rows, by_trace);
    for (uint32_t i = 0; i < suite->count; i++) {
        if (kept > 0 && suite->rows[kept - 1].trace_id == suite->rows[i].trace_id)
            free(suite->rows[i].name);
        else
            suite->rows[kept++] = suite->rows[i];
    }
    suite->count = kept;
}

static int list_runs(struct gt_suite_view *suite, struct gt_store *store, struct gt_error *error)
{
    uint32_t count;
    int64_t *runs;
    int result = gt_simulated_runs(store, &runs, &count, error);

    if (result != 0)
        return -1;
    suite->rows = gt_calloc(count + 1ull, sizeof *suite->rows);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct gt_run_trace trace;

        result = gt_store_run_trace(store, runs[i], &trace, error);
        if (result == 0 && trace.name != NULL)
            suite->rows[suite->count++] =
                (struct gt_suite_row){ .run = runs[i], .trace_id = trace.trace_id, .name = trace.name };
    }
    free(runs);
    keep_newest(suite);
    return result;
}

static int judge(struct gt_suite_view *suite, struct gt_store *store, struct gt_error *error)
{
    struct gt_verdict *verdicts = gt_calloc(suite->count + 1ull, sizeof *verdicts);
    uint32_t kept = 0;
    int result = 0;

    for (uint32_t i = 0; i < suite->count && result == 0; i++) {
        struct gt_suite_row *row = &suite->rows[i];

        result = gt_verdict_of(store, row->run, false, &row->verdict, error);
        if (result == 0 && row->verdict.comparison.makespan_measured_us > 0 &&
            row->verdict.comparison.makespan_simulated_us > 0) {
            verdicts[kept] = row->verdict;
            if (kept < i) {
                struct gt_suite_row other = suite->rows[kept];

                suite->rows[kept] = *row;
                *row = other;
            }
            kept++;
        }
    }
    for (uint32_t i = kept; i < suite->count; i++)
        free(suite->rows[i].name);
    suite->count = kept;
    if (result == 0 && kept > 1)
        result = gt_verdict_suite(store, verdicts, kept, &suite->sums, error);
    free(verdicts);
    return result;
}

static int by_error(const void *left, const void *right)
{
    const struct gt_suite_row *a = left, *b = right;
    double in_a = fabs(a->verdict.comparison.makespan_error_pct);
    double in_b = fabs(b->verdict.comparison.makespan_error_pct);

    if (in_a != in_b)
        return in_a > in_b ? -1 : 1;
    return (a->trace_id > b->trace_id) - (a->trace_id < b->trace_id);
}

int gt_suite_view_load(struct gt_suite_view *suite, struct gt_store *store, struct gt_error *error)
{
    *suite = (struct gt_suite_view){ .count = 0 };
    if (list_runs(suite, store, error) != 0)
        return -1;
    if (suite->count > 1 && judge(suite, store, error) != 0)
        return -1;
    if (suite->count < 2)
        free_rows(suite);
    else
        qsort(suite->rows, suite->count, sizeof *suite->rows, by_error);
    return 0;
}

void gt_suite_view_free(struct gt_suite_view *suite)
{
    free_rows(suite);
    free(suite->rows);
    suite->rows = NULL;
}
