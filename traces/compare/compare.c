/* A simulated run against a measured one: the definitions stand in
 * gridtide-model(7), ERROR. */
#include "traces/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/store/query.h"

/* Rows of one run in order of operation. */
struct cursor {
    struct gt_query *rows; /* op_no, start_ps, end_ps */
    int64_t op, start_ps, end_ps;
    bool more;
};

/* From the first start to the last end of some operations of one run. */
struct span {
    int64_t first_ps, last_ps;
};
#define NO_SPAN              \
    {                        \
        INT64_MAX, INT64_MIN \
    }

/* The walk through a trace's operations with both runs' rows beside it. */
struct walk {
    struct gt_database *database;
    struct gt_error *error;
    struct gt_query *ops; /* op_no, kind */
    struct cursor simulated, measured;
    struct span simulated_span, measured_span, all_simulated_span;
    struct starts {
        int64_t simulated_ps, measured_ps;
    } * matched;
    uint64_t count, room;
    struct span *busy; /* simulated operations, one by one */
    uint64_t busy_count, busy_room;
};

static int advance(struct walk *walk, struct cursor *cursor)
{
    int row = gt_query_next(cursor->rows, walk->error);

    cursor->more = row == 1;
    if (!cursor->more)
        return row;
    cursor->op = gt_query_integer(cursor->rows, 0);
    cursor->start_ps = gt_query_integer(cursor->rows, 1);
    cursor->end_ps = gt_query_integer(cursor->rows, 2);
    if (cursor->start_ps < 0 || cursor->end_ps < cursor->start_ps)
        return gt_error_set(walk->error,
                            "%s: damaged: operation %lld has impossible times; "
                            "make it again with 'gridtide run'",
                            walk->database->path, (long long)cursor->op);
    return 0;
}

/* Move on to operation `op`. Returns 1 where the run has it, 0 where not, -1 on error. */
static int seek(struct walk *walk, struct cursor *cursor, int64_t op)
{
    while (cursor->more && cursor->op < op)
        if (advance(walk, cursor) != 0)
            return -1;
    return cursor->more && cursor->op == op;
}

static void extend(struct span *span, const struct cursor *cursor)
{
    if (cursor->start_ps < span->first_ps)
        span->first_ps = cursor->start_ps;
    if (cursor->end_ps > span->last_ps)
        span->last_ps = cursor->end_ps;
}

static double length_us(const struct span *span)
{
    return span->last_ps < span->first_ps ? NAN : ((double)span->last_ps - (double)span->first_ps) * 1e-6;
}

static void keep_busy(struct walk *walk)
{
    gt_array_grow(walk->busy, walk->busy_count, walk->busy_room);
    walk->busy[walk->busy_count++] = (struct span){ walk->simulated.start_ps, walk->simulated.end_ps };
}

static void keep_match(struct walk *walk, int64_t simulated_ps, int64_t measured_ps)
{
    gt_array_grow(walk->matched, walk->count, walk->room);
    walk->matched[walk->count++] = (struct starts){ simulated_ps, measured_ps };
}

/* Where operations of the kind named are counted; NULL for those that are not the GPU's. */
static uint64_t *count_of(struct gt_comparison *comparison, const char *kind)
{
    /* clang-format off */
    const struct { enum gt_op_kind kind; uint64_t *count; } counts[] = {
        { GT_OP_KERNEL, &comparison->kernels },
        { GT_OP_COPY, &comparison->copies },
        { GT_OP_MEMSET, &comparison->memsets },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (kind != NULL && strcmp(kind, gt_op_kind_names[counts[i].kind]) == 0)
            return counts[i].count;
    return NULL;
}

static int match_op(struct walk *walk, int64_t op, struct gt_comparison *comparison)
{
    int simulated = seek(walk, &walk->simulated, op), measured = seek(walk, &walk->measured, op);

    if (simulated < 0 || measured < 0)
        return -1;
    if (simulated) {
        extend(&walk->all_simulated_span, &walk->simulated);
        keep_busy(walk);
    }
    if (!simulated || !measured) {
        comparison->unmatched++;
        return 0;
    }
    comparison->matched++;
    extend(&walk->simulated_span, &walk->simulated);
    extend(&walk->measured_span, &walk->measured);
    keep_match(walk, walk->simulated.start_ps, walk->measured.start_ps);
    return 0;
}

static int match_all(struct walk *walk, struct gt_comparison *comparison)
{
    int row;

    if (advance(walk, &walk->simulated) != 0 || advance(walk, &walk->measured) != 0)
        return -1;
    while ((row = gt_query_next(walk->ops, walk->error)) == 1) {
        uint64_t *count = count_of(comparison, gt_query_string(walk->ops, 1));

        if (count == NULL)
            continue;
        (*count)++;
        if (match_op(walk, gt_query_integer(walk->ops, 0), comparison) != 0)
            return -1;
    }
    return row;
}

static int begin_walk(struct walk *walk, int64_t simulated_run, int64_t measured_run)
{
    static const char run_ops[] = "SELECT op_no, start_ps, end_ps FROM run_op WHERE run_id = ? ORDER BY op_no";
    static const char trace_ops[] =
        "SELECT op_no, kind FROM op WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?)"
        " ORDER BY op_no";

    walk->ops = gt_query_new(walk->database, trace_ops, walk->error);
    walk->simulated.rows = gt_query_new(walk->database, run_ops, walk->error);
    walk->measured.rows = gt_query_new(walk->database, run_ops, walk->error);
    if (walk->ops == NULL || walk->simulated.rows == NULL || walk->measured.rows == NULL)
        return -1;
    gt_query_bind(walk->ops, 1, simulated_run);
    gt_query_bind(walk->simulated.rows, 1, simulated_run);
    gt_query_bind(walk->measured.rows, 1, measured_run);
    return 0;
}

static void end_walk(struct walk *walk)
{
    gt_query_end(walk->ops);
    gt_query_end(walk->simulated.rows);
    gt_query_end(walk->measured.rows);
    free(walk->matched);
    free(walk->busy);
}

static struct gt_spread start_errors_us(const struct walk *walk)
{
    double *errors_us = gt_realloc(NULL, walk->count, sizeof *errors_us);
    struct gt_spread spread;

    for (uint64_t i = 0; i < walk->count; i++) {
        int64_t simulated_ps = walk->matched[i].simulated_ps - walk->simulated_span.first_ps;
        int64_t measured_ps = walk->matched[i].measured_ps - walk->measured_span.first_ps;

        errors_us[i] = fabs((double)(simulated_ps - measured_ps)) * 1e-6;
    }
    qsort(errors_us, walk->count, sizeof *errors_us, gt_by_double);
    spread.median = gt_percentile(errors_us, walk->count, 50);
    spread.p95 = gt_percentile(errors_us, walk->count, 95);
    spread.max = errors_us[walk->count - 1];
    free(errors_us);
    return spread;
}

static double percent_of(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : NAN;
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return (a->first_ps > b->first_ps) - (a->first_ps < b->first_ps);
}

/* How long at least one simulated operation ran. */
static double busy_us(struct walk *walk)
{
    int64_t covered_ps = INT64_MIN;
    double busy_ps = 0;

    if (walk->busy_count > 0)
        qsort(walk->busy, walk->busy_count, sizeof *walk->busy, compare_spans);
    for (uint64_t i = 0; i < walk->busy_count; i++) {
        const struct span *span = &walk->busy[i];
        int64_t from_ps = span->first_ps > covered_ps ? span->first_ps : covered_ps;

        if (span->last_ps <= from_ps)
            continue;
        busy_ps += (double)(span->last_ps - from_ps);
        covered_ps = span->last_ps;
    }
    return busy_ps * 1e-6;
}

static void state_errors(const struct walk *walk, struct gt_comparison *comparison)
{
    const struct gt_spread *us = &comparison->start_error_us;

    if (walk->count == 0) {
        comparison->makespan_simulated_us = length_us(&walk->all_simulated_span);
        return;
    }
    comparison->makespan_measured_us = length_us(&walk->measured_span);
    comparison->makespan_simulated_us = length_us(&walk->simulated_span);
    comparison->makespan_error_pct = percent_of(comparison->makespan_simulated_us - comparison->makespan_measured_us,
                                                comparison->makespan_measured_us);
    comparison->start_error_us = start_errors_us(walk);
    comparison->start_error_pct = (struct gt_spread){
        .median = percent_of(us->median, comparison->makespan_measured_us),
        .p95 = percent_of(us->p95, comparison->makespan_measured_us),
        .max = percent_of(us->max, comparison->makespan_measured_us),
    };
}

int gt_compare(struct gt_store *store, int64_t simulated_run, int64_t measured_run, struct gt_comparison *comparison,
               struct gt_error *error)
{
    /* clang-format off */
    struct walk walk = {
        .database = gt_store_database(store), .error = error,
        .simulated_span = NO_SPAN, .measured_span = NO_SPAN, .all_simulated_span = NO_SPAN,
    };
    /* clang-format on */
    int result;

    *comparison = (struct gt_comparison){
        .makespan_measured_us = NAN,
        .makespan_simulated_us = NAN,
        .makespan_error_pct = NAN,
        .start_error_us = { NAN, NAN, NAN },
        .start_error_pct = { NAN, NAN, NAN },
        .busy_simulated_pct = NAN,
    };
    result = begin_walk(&walk, simulated_run, measured_run);
    if (result == 0)
        result = match_all(&walk, comparison);
    if (result == 0) {
        state_errors(&walk, comparison);
        comparison->busy_simulated_pct = percent_of(busy_us(&walk), length_us(&walk.all_simulated_span));
    }
    end_walk(&walk);
    return result;
}
