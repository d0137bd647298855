/* explain_timeline.c - `gridtide explain RUN.db`: what limits the run, where the GPU idles and why, what did not overlap. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/report/breakdown_tables.h"
#include "sim/cmd/report/explain_parts.h"
#include "sim/cmd/report/predict.h"
#include "traces/explain/explain.h"
#include "traces/explain/limits.h"
#include "traces/explain/part.h"
#include "traces/explain/ranks.h"
#include "traces/import/warnings.h"
#include "traces/store/answers.h"

enum { TEXT_BYTES = 400, TABLES = 22 };

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

static size_t shown(size_t count, unsigned top)
{
    return count < top ? count : top;
}

/* `trust`: how far the makespan is to be trusted, where the store says it; NULL. */
static struct gt_table *limit_table(const struct gt_loaded_run *t, const struct gt_limits *limits, const char *trust)
{
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT },          { "bound_by", GT_COLUMN_TEXT }, { "bound_by_pct", GT_COLUMN_NUMBER },
        { "makespan_us", GT_COLUMN_TIME },    { "path_us", GT_COLUMN_TIME },  { "gpu_idle_us", GT_COLUMN_TIME },
        { "gpu_idle_pct", GT_COLUMN_NUMBER }, { "trust", GT_COLUMN_TEXT },
    };
    struct gt_table *table = gt_table_new("limit", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, t->trace);
    gt_table_text(table, limits->bound_by);
    gt_table_real(table, 100 * limits->bound_share, 1);
    gt_table_real(table, us(limits->makespan_ps), 3);
    gt_table_real(table, us(limits->path_ps), 3);
    gt_table_real(table, us(limits->idle_ps), 3);
    gt_table_real(table, limits->makespan_ps > 0 ? 100 * us(limits->idle_ps) / us(limits->makespan_ps) : NAN, 1);
    gt_table_text(table, trust);
    return table;
}

static struct gt_table *causes_table(const struct gt_limits *limits)
{
    static const struct gt_column columns[] = {
        { "cause", GT_COLUMN_TEXT },
        { "path_us", GT_COLUMN_TIME },
        { "path_pct", GT_COLUMN_NUMBER },
        { "most_of_it", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("critical_path", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < limits->cause_count; i++) {
        const struct gt_limit_cause *cause = &limits->causes[i];

        gt_table_text(table, gt_path_kind_names[cause->kind]);
        gt_table_real(table, us(cause->path_ps), 3);
        gt_table_real(table, 100 * cause->share, 1);
        gt_table_text(table, cause->most[0] != '\0' ? cause->most : NULL);
    }
    return table;
}

/* Time of the critical path on behalf of steps, or operators. */
static struct gt_table *shares_table(const char *name, const char *what, const struct gt_limit_share *shares,
                                     size_t count, unsigned top)
{
    struct gt_column columns[] = {
        { "path_us", GT_COLUMN_TIME },   { "path_pct", GT_COLUMN_NUMBER }, { "host_us", GT_COLUMN_TIME },
        { "launch_us", GT_COLUMN_TIME }, { "gpu_us", GT_COLUMN_TIME },     { what, GT_COLUMN_NAME },
    };
    static struct gt_column kept[2][sizeof columns / sizeof columns[0]];
    struct gt_column *own = kept[strcmp(what, "step") == 0];
    struct gt_table *table;

    memcpy(own, columns, sizeof columns); /* it must outlive the table */
    table = gt_table_new(name, own, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < shown(count, top); i++) {
        gt_table_real(table, us(shares[i].path_ps), 3);
        gt_table_real(table, 100 * shares[i].share, 1);
        gt_table_real(table, us(shares[i].host_ps), 3);
        gt_table_real(table, us(shares[i].launch_ps), 3);
        gt_table_real(table, us(shares[i].path_ps - shares[i].host_ps - shares[i].launch_ps), 3);
        gt_table_text(table, shares[i].name);
    }
    return table;
}

static struct gt_table *gaps_table(const struct gt_loaded_run *t, const struct gt_gap *gaps, size_t count,
                                   unsigned top)
{
    static const struct gt_column columns[] = {
        { "gpu", GT_COLUMN_NUMBER },  { "from_us", GT_COLUMN_TIME },  { "gap_us", GT_COLUMN_TIME },
        { "cause", GT_COLUMN_TEXT },  { "cause_us", GT_COLUMN_TIME }, { "held_by", GT_COLUMN_WIDE },
        { "before", GT_COLUMN_WIDE }, { "after", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("gaps", columns, sizeof columns / sizeof columns[0]);
    char text[TEXT_BYTES];

    for (size_t i = 0; i < shown(count, top); i++) {
        gt_table_integer(table, gaps[i].gpu);
        gt_table_real(table, us(gaps[i].from_ps), 3);
        gt_table_real(table, us(gaps[i].to_ps - gaps[i].from_ps), 3);
        gt_table_text(table, gt_why_names[gaps[i].hold.why]);
        gt_table_real(table, us(gaps[i].hold.to_ps - gaps[i].hold.from_ps), 3);
        gt_table_text(table, gaps[i].hold.holder);
        gt_loaded_op_place(t, gaps[i].before, text, sizeof text);
        gt_table_text(table, text);
        gt_loaded_op_place(t, gaps[i].after, text, sizeof text);
        gt_table_text(table, text);
    }
    return table;
}

/* Would both kernels have had room? */
static void say_room(const struct gt_pair *pair, char *text, size_t bytes)
{
    if (pair->free_sms > 0)
        snprintf(text, bytes, "yes: the first leaves %" PRIu32 " SMs free", pair->free_sms);
    else if (pair->lacking == NULL)
        snprintf(text, bytes, "yes: beside the first's blocks");
    else
        snprintf(text, bytes, "no: no SM has free %s", pair->lacking);
}

static struct gt_table *pairs_table(const struct gt_loaded_run *t, const struct gt_pair *pairs, size_t count,
                                    unsigned top)
{
    static const struct gt_column columns[] = {
        { "lost_us", GT_COLUMN_TIME },    { "times", GT_COLUMN_NUMBER }, { "why", GT_COLUMN_TEXT },
        { "room", GT_COLUMN_TEXT },       { "held_by", GT_COLUMN_WIDE }, { "kernel", GT_COLUMN_WIDE },
        { "waited_for", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("pairs", columns, sizeof columns / sizeof columns[0]);
    char text[TEXT_BYTES];

    for (size_t i = 0; i < shown(count, top); i++) {
        const struct gt_pair *pair = &pairs[i];

        gt_table_real(table, us(pair->lost_ps), 3);
        gt_table_integer(table, (int64_t)pair->times);
        gt_table_text(table, gt_why_names[pair->why]);
        say_room(pair, text, sizeof text);
        gt_table_text(table, text);
        gt_table_text(table, pair->hold.holder[0] != '\0' ? pair->hold.holder : "previous operation of the stream");
        gt_loaded_op_place(t, pair->example, text, sizeof text);
        gt_table_text(table, text);
        gt_table_text(table, t->kernels[pair->first].name);
    }
    return table;
}

static struct gt_table *copies_table(const struct gt_loaded_run *t, const struct gt_bare_copies *copies, size_t count)
{
    static const struct gt_column columns[] = {
        { "direction", GT_COLUMN_TEXT }, { "memory", GT_COLUMN_TEXT },   { "copies", GT_COLUMN_NUMBER },
        { "bytes", GT_COLUMN_NUMBER },   { "alone_us", GT_COLUMN_TIME }, { "why", GT_COLUMN_TEXT },
        { "longest", GT_COLUMN_WIDE },   { "help", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("copies", columns, sizeof columns / sizeof columns[0]);
    char text[TEXT_BYTES];

    for (size_t i = 0; i < count; i++) {
        gt_table_text(table, gt_direction_names[copies[i].direction]);
        gt_table_text(table, copies[i].memory < GT_MEMORIES ? gt_memory_names[copies[i].memory] : NULL);
        gt_table_integer(table, (int64_t)copies[i].times);
        gt_table_integer(table, (int64_t)copies[i].bytes);
        gt_table_real(table, us(copies[i].bare_ps), 3);
        gt_table_text(table, gt_copy_why_names[copies[i].why]);
        gt_loaded_op_place(t, copies[i].example, text, sizeof text);
        gt_table_text(table, text);
        gt_table_text(table, gt_copy_why_helps[copies[i].why]);
    }
    return table;
}

static struct gt_table *blocked_table(const struct gt_loaded_run *t, const struct gt_blocked_calls *calls,
                                      size_t count, unsigned top)
{
    static const struct gt_column columns[] = {
        { "call", GT_COLUMN_TEXT },
        { "why", GT_COLUMN_TEXT },
        { "times", GT_COLUMN_NUMBER },
        { "blocked_us", GT_COLUMN_TIME },
        { "longest_waited_for", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("blocked_calls", columns, sizeof columns / sizeof columns[0]);
    char text[TEXT_BYTES];

    for (size_t i = 0; i < shown(count, top); i++) {
        uint32_t op = t->calls[calls[i].example].cause_op;

        gt_table_text(table, t->names[calls[i].name]);
        gt_table_text(table, gt_block_why_names[calls[i].why]);
        gt_table_integer(table, (int64_t)calls[i].times);
        gt_table_real(table, us(calls[i].blocked_ps), 3);
        if (op != GT_NONE)
            gt_loaded_op_place(t, op, text, sizeof text);
        gt_table_text(table, op != GT_NONE ? text : NULL);
    }
    return table;
}

/* Of the time of a GPU's collectives. */
static double hidden_pct(const struct gt_rank_waits *rank)
{
    gt_time_ps whole_ps = rank->hidden_ps + rank->exposed_ps;

    return whole_ps > 0 ? 100 * (double)rank->hidden_ps / (double)whole_ps : NAN;
}

static struct gt_table *ranks_table(const struct gt_loaded_run *t, const struct gt_rank_waits *ranks, size_t count)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "gpu", GT_COLUMN_NUMBER }, { "collectives", GT_COLUMN_NUMBER }, { "last", GT_COLUMN_NUMBER },
        { "waited_us", GT_COLUMN_TIME }, { "kept_others_us", GT_COLUMN_TIME }, { "hidden_us", GT_COLUMN_TIME },
        { "exposed_us", GT_COLUMN_TIME }, { "hidden_pct", GT_COLUMN_NUMBER }, { "held_up_by", GT_COLUMN_TEXT }, { "holder", GT_COLUMN_WIDE },
        { "gpu_ran", GT_COLUMN_WIDE },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("ranks", columns, sizeof columns / sizeof columns[0]);
    char text[TEXT_BYTES];

    for (size_t i = 0; i < count; i++) {
        gt_table_integer(table, ranks[i].gpu);
        gt_table_integer(table, (int64_t)ranks[i].collectives);
        gt_table_integer(table, (int64_t)ranks[i].last);
        gt_table_real(table, us(ranks[i].waited_ps), 3);
        gt_table_real(table, us(ranks[i].kept_ps), 3);
        gt_table_real(table, us(ranks[i].hidden_ps), 3);
        gt_table_real(table, us(ranks[i].exposed_ps), 3);
        gt_table_real(table, hidden_pct(&ranks[i]), 1);
        gt_table_text(table, ranks[i].worst != GT_NONE ? gt_why_names[ranks[i].hold.why] : NULL);
        gt_table_text(table,
                      ranks[i].worst != GT_NONE && ranks[i].hold.holder[0] != '\0' ? ranks[i].hold.holder : NULL);
        if (ranks[i].busy != GT_NONE)
            gt_loaded_op_place(t, ranks[i].busy, text, sizeof text);
        gt_table_text(table, ranks[i].busy != GT_NONE ? text : NULL);
    }
    return table;
}

static struct gt_table *findings_table(const struct gt_loaded_run *t, const struct gt_finding *findings, size_t count)
{
    static const struct gt_column columns[] = {
        { "finding", GT_COLUMN_TEXT }, { "about_us", GT_COLUMN_TIME }, { "what", GT_COLUMN_WIDE },
        { "help", GT_COLUMN_WIDE },    { "ask", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("findings", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < count; i++) {
        char *text = gt_finding_ask_text(t, &findings[i]);

        gt_table_text(table, findings[i].kind);
        gt_table_real(table, us(findings[i].about_ps), 3);
        gt_table_text(table, findings[i].text);
        gt_table_text(table, findings[i].help[0] != '\0' ? findings[i].help : NULL);
        gt_table_text(table, text);
        free(text);
    }
    return table;
}

static void print_tables(const struct gt_loaded_run *t, const struct gt_limits *limits, const char *trust,
                         const struct gt_overview *overview, const struct gt_explain_request *request)
{
    size_t gap_count, pair_count, copy_count, call_count, rank_count, count = 0;
    struct gt_gap *gaps = gt_gaps(t, request->least_gap_ps, &gap_count);
    struct gt_pair *pairs = gt_pairs(t, &pair_count);
    struct gt_bare_copies *copies = gt_bare_copies(t, NULL, &copy_count);
    struct gt_blocked_calls *calls = gt_blocked_calls(t, &call_count);
    struct gt_rank_waits *ranks = gt_rank_waits(t, &rank_count);
    struct gt_table *tables[TABLES];
    bool people = request->format == GT_FORMAT_TABLE && !gt_tables_chosen();

    if (!people)
        tables[count++] = gt_explain_overview_table(t, overview);
    tables[count++] = limit_table(t, limits, trust);
    count += gt_breakdown_tables(&overview->breakdown, request->format, request->top, &tables[count]);
    count += gt_launch_tables(t, request->format, request->top, &tables[count]);
    tables[count++] = causes_table(limits);
    tables[count++] = shares_table("steps", "step", limits->steps, limits->step_count, request->top);
    tables[count++] = shares_table("operators", "operator", limits->operators, limits->operator_count, request->top);
    tables[count++] = gt_explain_families_table(t);
    tables[count++] = gt_explain_kernels_table(t, request);
    tables[count++] = gaps_table(t, gaps, gap_count, request->top);
    tables[count++] = pairs_table(t, pairs, pair_count, request->top);
    tables[count++] = copies_table(t, copies, copy_count);
    tables[count++] = blocked_table(t, calls, call_count, request->top);
    if (t->gpu_count > 1)
        tables[count++] = ranks_table(t, ranks, rank_count);
    tables[count++] = findings_table(t, overview->all, overview->all_count);
    if (!people)
        tables[count++] = gt_explain_advised_table(t, overview);
    gt_tables_print(stdout, request->format, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
    free(gaps);
    free(pairs);
    free(copies);
    free(calls);
    free(ranks);
}

static int print(struct gt_store *store, const struct gt_loaded_run *t, const struct gt_limits *limits,
                 const struct gt_explain_request *request, struct gt_error *error)
{
    struct gt_predictor predictor = { .predict = NULL };
    struct gt_predicting *predicting = NULL;
    struct gt_overview overview;
    char *trust;

    if (gt_store_find_trust(gt_store_database(store), t->run_id, GT_WARNING_EXTRAPOLATED, &trust, error) != 0)
        return -1;
    if (!request->no_predict)
        predicting = gt_predicting_begin(store, t->run_id, request->quiet, &predictor, error);
    if (request->no_predict || predicting != NULL) {
        gt_overview_find(t, limits->task_kernels, limits->task_kernel_count, &predictor, &overview);
        bool people = request->format == GT_FORMAT_TABLE && !gt_tables_chosen();

        if (people)
            gt_explain_print_overview(stdout, t, &overview, trust, request);
        if (request->full || !people)
            print_tables(t, limits, trust, &overview, request);
        gt_overview_free(&overview);
    }
    gt_predicting_end(predicting);
    free(trust);
    return request->no_predict || predicting != NULL ? 0 : -1;
}

int gt_explain_timeline(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);
    int64_t run_id = gt_stats_find_run(database, "simulated", error);
    struct gt_loaded_run *t = run_id < 0 ? NULL : gt_loaded_run_load(database, run_id, error);
    struct gt_limits limits;
    int result = -1;

    if (t != NULL && gt_part_take(t, database, &request->filter, error) == 0)
        result = gt_filter_is_all(&request->filter) || !gt_part_is_empty(t)
                     ? gt_limits_find(database, t, &request->filter, &limits, error)
                     : gt_error_set(error, "%s: nothing ran on the GPU in this part of the run", request->store);
    if (result == 0) {
        result = print(store, t, &limits, request, error);
        gt_limits_free(&limits);
    }
    gt_loaded_run_free(t);
    return result;
}
