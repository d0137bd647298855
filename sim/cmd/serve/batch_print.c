#include "sim/cmd/serve/batch_print.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/base/text.h"

/* What users wait for: sorted, rising. */
enum { TTFT, TPOT, LATENCY, METRICS };
static const char *const metric_names[METRICS] = { "ttft", "tpot", "latency" };

struct latencies {
    double *us[METRICS];
    uint64_t count[METRICS];
    uint64_t good; /* requests that meet the goals */
};

static double tpot_us(const struct gt_token_request *request, const struct gt_token_record *record)
{
    return request->output_tokens > 1
               ? (double)(record->end_ps - record->first_ps) / 1e6 / (request->output_tokens - 1)
               : NAN;
}

static bool is_good(const struct gt_engine_file *file, double ttft, double tpot)
{
    return !(ttft > file->ttft_us) && !(tpot > file->tpot_us);
}

static struct latencies latencies_of(const struct gt_batch_result *result)
{
    struct latencies l = { .good = 0 };

    for (int m = 0; m < METRICS; m++)
        l.us[m] = gt_calloc(result->count + 1ull, sizeof **l.us);
    for (uint64_t i = result->file->warm_up; i < result->count; i++) {
        const struct gt_token_request *request = &result->requests[i];
        const struct gt_token_record *record = &result->records[i];
        double ttft = (double)(record->first_ps - request->arrival_ps) / 1e6, tpot = tpot_us(request, record);

        l.us[TTFT][l.count[TTFT]++] = ttft;
        if (!isnan(tpot))
            l.us[TPOT][l.count[TPOT]++] = tpot;
        l.us[LATENCY][l.count[LATENCY]++] = (double)(record->end_ps - request->arrival_ps) / 1e6;
        l.good += is_good(result->file, ttft, tpot);
    }
    for (int m = 0; m < METRICS; m++)
        qsort(l.us[m], l.count[m], sizeof **l.us, gt_by_double);
    return l;
}

static void free_latencies(struct latencies *l)
{
    for (int m = 0; m < METRICS; m++)
        free(l->us[m]);
}

static double seconds_of(const struct gt_batch_result *result)
{
    return result->count > 0 && result->summary->end_ps > result->requests[0].arrival_ps
               ? (double)(result->summary->end_ps - result->requests[0].arrival_ps) / 1e12
               : NAN;
}

static double mean_sequences(const struct gt_batch_summary *summary)
{
    return summary->decode_ps > 0 ? summary->sequence_ps / (double)summary->decode_ps : NAN;
}

static bool has_goals(const struct gt_engine_file *file)
{
    return !isnan(file->ttft_us) || !isnan(file->tpot_us);
}

static struct gt_table *engine_table(const struct gt_batch_result *result, const struct latencies *l)
{
    static const struct gt_column columns[] = {
        { "engine", GT_COLUMN_TEXT },           { "policy", GT_COLUMN_TEXT },
        { "requests", GT_COLUMN_NUMBER },       { "requests_per_s", GT_COLUMN_NUMBER },
        { "good_pct", GT_COLUMN_NUMBER },       { "output_tokens_per_s", GT_COLUMN_NUMBER },
        { "passes", GT_COLUMN_NUMBER },         { "busy_pct", GT_COLUMN_NUMBER },
        { "mean_sequences", GT_COLUMN_NUMBER }, { "most_kv_tokens", GT_COLUMN_NUMBER },
        { "kv_pct", GT_COLUMN_NUMBER },         { "evictions", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("engine", columns, sizeof columns / sizeof *columns);
    const struct gt_batch_summary *summary = result->summary;
    double seconds = seconds_of(result);

    gt_table_single(table);
    gt_table_text(table, result->file->name);
    gt_table_text(table, result->policy);
    gt_table_integer(table, (int64_t)l->count[TTFT]);
    gt_table_real(table, result->count / seconds, 2);
    gt_table_real(
        table, has_goals(result->file) && l->count[TTFT] > 0 ? 100.0 * (double)l->good / (double)l->count[TTFT] : NAN,
        1);
    gt_table_real(table, (double)summary->output_tokens / seconds, 1);
    gt_table_integer(table, (int64_t)(summary->passes[GT_LANE_DECODE] + summary->passes[GT_LANE_PREFILL]));
    gt_table_real(table, 100 * (double)summary->busy_ps[GT_LANE_DECODE] / 1e12 / seconds, 1);
    gt_table_real(table, mean_sequences(summary), 1);
    gt_table_integer(table, (int64_t)summary->most_kv_tokens);
    gt_table_real(table,
                  result->engine->kv_tokens == UINT64_MAX
                      ? NAN
                      : 100 * (double)summary->most_kv_tokens / (double)result->engine->kv_tokens,
                  1);
    gt_table_integer(table, (int64_t)summary->evictions);
    return table;
}

static double mean(const double *values, uint64_t count)
{
    double sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)count : NAN;
}

static struct gt_table *latency_table(const struct latencies *l)
{
    static const struct gt_column columns[] = {
        { "latency", GT_COLUMN_TEXT }, { "mean_us", GT_COLUMN_TIME }, { "p50_us", GT_COLUMN_TIME },
        { "p90_us", GT_COLUMN_TIME },  { "p99_us", GT_COLUMN_TIME },  { "max_us", GT_COLUMN_TIME },
    };
    static const unsigned percents[] = { 50, 90, 99, 100 };
    struct gt_table *table = gt_table_new("latency", columns, sizeof columns / sizeof *columns);

    for (int m = 0; m < METRICS; m++) {
        gt_table_text(table, metric_names[m]);
        gt_table_real(table, mean(l->us[m], l->count[m]), 1);
        for (int p = 0; p < 4; p++)
            gt_table_real(table, gt_percentile(l->us[m], l->count[m], percents[p]), 1);
    }
    return table;
}

/* Where the time between tokens goes: in the mean of a token, and of the slowest tenth of requests. */
static struct gt_table *token_table(const struct gt_batch_result *result, const struct latencies *l)
{
    static const struct gt_column columns[] = {
        { "between_tokens", GT_COLUMN_TEXT }, { "us", GT_COLUMN_TIME },
        { "pct", GT_COLUMN_NUMBER },          { "slowest_us", GT_COLUMN_TIME },
        { "slowest_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("tokens", columns, sizeof columns / sizeof *columns);
    double slow_us = gt_percentile(l->us[TPOT], l->count[TPOT], 90), sums[2][GT_TOKEN_PARTS] = { { 0 } };
    double tokens[2] = { 0 }, all[2] = { 0 };

    for (uint64_t i = result->file->warm_up; i < result->count; i++) {
        double us = tpot_us(&result->requests[i], &result->records[i]);

        for (int slow = 0; slow < 2 && !isnan(us); slow++) {
            if (slow == 1 && us < slow_us)
                continue;
            tokens[slow] += result->requests[i].output_tokens - 1;
            for (int part = 0; part < GT_TOKEN_PARTS; part++) {
                sums[slow][part] += (double)result->records[i].part_ps[part] / 1e6;
                all[slow] += (double)result->records[i].part_ps[part] / 1e6;
            }
        }
    }
    for (int part = 0; part < GT_TOKEN_PARTS; part++) {
        gt_table_text(table, gt_token_part_names[part]);
        for (int slow = 0; slow < 2; slow++) {
            gt_table_real(table, tokens[slow] > 0 ? sums[slow][part] / tokens[slow] : NAN, 1);
            gt_table_real(table, all[slow] > 0 ? 100 * sums[slow][part] / all[slow] : NAN, 1);
        }
    }
    return table;
}

static void add_assumption(struct gt_table *table, char *text)
{
    gt_table_text(table, text);
    free(text);
}

static struct gt_table *assumption_table(const struct gt_batch_basis *basis)
{
    const struct gt_pass_sources *sources = basis->sources;
    static const struct gt_column columns[] = { { "assumption", GT_COLUMN_WIDE } };
    struct gt_table *table = gt_table_new("assumptions", columns, 1);

    add_assumption(
        table, gt_format("Costs of passes: %u sizes are recorded ones, %u are derived from these by batch= and "
                         "seq= (trust %s), %u are interpolated",
                         sources->recorded, sources->derived, gt_trust_names[sources->trust], sources->interpolated));
    if (sources->interpolated > 0 && sources->refusal != NULL)
        add_assumption(table, gt_format("The first size that could not be derived: %s", sources->refusal));
    if (sources->before_unknown)
        gt_table_text(
            table,
            "No recorded prefill has tokens before it: prefill is taken to cost the same with any number of them");
    if (basis->beside)
        gt_table_text(
            table,
            "A pass of a prompt and of sequences costs what prefill of all its tokens costs, and by what decoding "
            "costs more than prefill of as many tokens");
    if (basis->divided)
        gt_table_text(
            table, "Matrix products on the two parts of the SMs slow each other down by the memory that they share "
                   "(sharing.products_part, fitted to passes of one model on an H200: trust low)");
    return table;
}

void gt_batch_print(const struct gt_batch_result *result, enum gt_format format)
{
    struct latencies l = latencies_of(result);
    struct gt_table *tables[] = { engine_table(result, &l), latency_table(&l), token_table(result, &l),
                                  assumption_table(&result->basis) };

    gt_tables_print(stdout, format, tables, 4);
    for (int i = 0; i < 4; i++)
        gt_table_free(tables[i]);
    free_latencies(&l);
}

void gt_batch_costs_print(const struct gt_pass_costs *costs, enum gt_format format)
{
    static const struct gt_column columns[GT_PASS_KINDS][4] = {
        { { "sequences", GT_COLUMN_NUMBER },
          { "context", GT_COLUMN_NUMBER },
          { "pass_us", GT_COLUMN_TIME },
          { "products_pct", GT_COLUMN_NUMBER } },
        { { "tokens", GT_COLUMN_NUMBER },
          { "before", GT_COLUMN_NUMBER },
          { "pass_us", GT_COLUMN_TIME },
          { "products_pct", GT_COLUMN_NUMBER } },
    };
    struct gt_table *tables[GT_PASS_KINDS];

    for (int kind = 0; kind < GT_PASS_KINDS; kind++) {
        const struct gt_pass_grid *grid = &costs->grids[kind];

        tables[kind] = gt_table_new(gt_pass_kind_names[kind], columns[kind], 4);
        for (uint32_t i = 0; i < grid->size_count * grid->depth_count; i++) {
            gt_table_integer(tables[kind], grid->sizes[i / grid->depth_count]);
            gt_table_integer(tables[kind], grid->depths[i % grid->depth_count]);
            gt_table_real(tables[kind], grid->us[i], 1);
            gt_table_real(tables[kind], 100 * grid->products[i], 1);
        }
    }
    gt_tables_print(stdout, format, tables, GT_PASS_KINDS);
    for (int kind = 0; kind < GT_PASS_KINDS; kind++)
        gt_table_free(tables[kind]);
}

struct gt_table *gt_batch_sweep_table(void)
{
    static const struct gt_column columns[] = {
        { "policy", GT_COLUMN_TEXT },         { "per_s", GT_COLUMN_NUMBER },
        { "requests", GT_COLUMN_NUMBER },     { "output_tokens_per_s", GT_COLUMN_NUMBER },
        { "ttft_p50_us", GT_COLUMN_TIME },    { "ttft_p99_us", GT_COLUMN_TIME },
        { "tpot_p50_us", GT_COLUMN_TIME },    { "tpot_p99_us", GT_COLUMN_TIME },
        { "latency_p50_us", GT_COLUMN_TIME }, { "latency_p99_us", GT_COLUMN_TIME },
        { "good_pct", GT_COLUMN_NUMBER },     { "evictions", GT_COLUMN_NUMBER },
    };

    return gt_table_new("sweep", columns, sizeof columns / sizeof *columns);
}

void gt_batch_sweep_add(struct gt_table *table, const struct gt_batch_result *result)
{
    struct latencies l = latencies_of(result);

    gt_table_text(table, result->policy);
    gt_table_real(table, result->per_s, 2);
    gt_table_integer(table, (int64_t)l.count[TTFT]);
    gt_table_real(table, (double)result->summary->output_tokens / seconds_of(result), 1);
    for (int m = 0; m < METRICS; m++) {
        gt_table_real(table, gt_percentile(l.us[m], l.count[m], 50), 1);
        gt_table_real(table, gt_percentile(l.us[m], l.count[m], 99), 1);
    }
    gt_table_real(table,
                  has_goals(result->file) && l.count[TTFT] > 0 ? 100.0 * (double)l.good / (double)l.count[TTFT] : NAN,
                  1);
    gt_table_integer(table, (int64_t)result->summary->evictions);
    free_latencies(&l);
}

void gt_batch_sweep_print(struct gt_table *table, const struct gt_batch_basis *basis, enum gt_format format)
{
    struct gt_table *tables[] = { table, assumption_table(basis) };

    gt_tables_print(stdout, format, tables, 2);
    gt_table_free(tables[1]);
}
