/* One launch in numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/report/explain_parts.h"
#include "traces/compare/verdict.h"
#include "traces/names/demangle.h"
#include "traces/names/short_name.h"

/* A number of the launch and its like in the profile. */
struct line {
    const char *name;
    double value;
    int decimals;
};

static struct gt_table *launch_table(const struct gt_explained *e)
{
    const struct gt_kernel_numbers *s = &e->row->in_simulated, *m = &e->row->in_measured;
    const struct gt_kernel *shape = &e->inside->shape;
    /* clang-format off */
    const struct line lines[] = {
        { "measured_cycles", m->cycles, 0 }, { "measured_us", e->row->measured_us, 3 },
        { "simulated_cycles", s->cycles, 0 }, { "bound_cycles", s->bound_cycles, 0 },
        { "error_pct", e->row->error_pct, 1 },
        { "launch_cycles", s->launch_cycles, 0 }, { "run_cycles", s->run_cycles, 0 },
        { "drain_cycles", s->drain_cycles, 0 },
        { "blocks", (double)gt_kernel_blocks(shape), 0 },
        { "threads_per_block", (double)gt_kernel_threads(shape), 0 },
        { "registers", shape->registers_per_thread, 0 },
        { "shared_bytes", (double)shape->static_shared_bytes + shape->dynamic_shared_bytes, 0 },
        { "waves", e->waves, 2 }, { "warps_per_sm_most", e->warps_most, 0 },
        { "warps_per_sm_mean", s->warps_mean, 1 },
        { "warp_instructions", isnan(s->covered) ? m->covered : s->covered, 0 },
        { "warp_instructions_simulated", s->warp_instructions, 0 },
        { "threads_per_instruction", e->threads, 1 },
        { "issue_pct", 100 * s->issue_share, 1 }, { "lsu_pct", 100 * s->lsu_share, 1 },
        { "l2_bytes_per_cycle", s->l2_bytes_per_cycle, 1 },
        { "l2_bytes_per_cycle_measured", m->l2_bytes_per_cycle, 1 }, { "l2_pct", 100 * e->l2_share, 1 },
        { "dram_bytes_per_cycle", s->dram_bytes_per_cycle, 1 },
        { "dram_bytes_per_cycle_measured", m->dram_bytes_per_cycle, 1 },
        { "dram_pct", 100 * e->dram_share, 1 },
    };
    /* clang-format on */
    enum { LINES = sizeof lines / sizeof lines[0] };
    static struct gt_column columns[LINES + 2] = {
        { "kernel", GT_COLUMN_NAME },
        { "launch", GT_COLUMN_NUMBER },
    };
    struct gt_table *table;

    for (int i = 0; i < LINES; i++)
        columns[i + 2] = (struct gt_column){ lines[i].name, GT_COLUMN_NUMBER };
    table = gt_table_new("launch", columns, LINES + 2);
    gt_table_single(table);
    gt_table_text(table, e->row->name);
    gt_table_integer(table, e->row->launch);
    for (int i = 0; i < LINES; i++)
        gt_table_real(table, lines[i].value, lines[i].decimals);
    return table;
}

static struct gt_table *pipes_table(const struct gt_explained *e)
{
    static const struct gt_column columns[] = {
        { "pipe", GT_COLUMN_TEXT },
        { "simulated_pct", GT_COLUMN_NUMBER },
        { "profiled_pct", GT_COLUMN_NUMBER },
        { "busy_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("pipes", columns, sizeof columns / sizeof columns[0]);
    double executed[GT_PIPES] = { 0 };

    for (uint32_t i = 0; i < e->inside->instructions; i++)
        executed[e->inside->code[i].pipe] += e->inside->code[i].executions;
    for (int pipe = 0; pipe < GT_PIPES; pipe++) {
        if (executed[pipe] == 0 && e->inside->issued[pipe] == 0)
            continue;
        gt_table_text(table, gt_pipe_names[pipe]);
        gt_table_real(table, e->issued > 0 ? 100 * e->inside->issued[pipe] / e->issued : NAN, 1);
        gt_table_real(table, e->executed > 0 ? 100 * executed[pipe] / e->executed : NAN, 1);
        gt_table_real(table, 100 * e->pipe_busy[pipe], 1);
    }
    return table;
}

/* The larger of two shares of which either may not be known. */
static double larger(double a, double b)
{
    return fmax(isnan(a) ? 0 : a, isnan(b) ? 0 : b);
}

/* A place where warps wait: an instruction and a reason, or a reason alone. */
struct place {
    uint32_t at;
    double weight;
};

static int by_weight(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static struct gt_table *stalls_table(const struct gt_explained *e)
{
    static const struct gt_column columns[] = {
        { "reason", GT_COLUMN_TEXT },
        { "simulated_pct", GT_COLUMN_NUMBER },
        { "profiled_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("stalls", columns, sizeof columns / sizeof columns[0]);
    struct place places[GT_STALLS];

    for (uint32_t i = 0; i < GT_STALLS; i++)
        places[i] = (struct place){ i, larger(e->simulated[i], e->measured[i]) };
    qsort(places, GT_STALLS, sizeof *places, by_weight);
    for (int i = 0; i < GT_STALLS && places[i].weight > 0; i++) {
        gt_table_text(table, gt_stall_names[places[i].at]);
        gt_table_real(table, 100 * e->simulated[places[i].at], 1);
        gt_table_real(table, 100 * e->measured[places[i].at], 1);
    }
    return table;
}

/* 0..1; NAN where nothing is known of any instruction. */
static double share_at(const double *amounts, double sum, uint32_t at)
{
    return sum > 0 ? amounts[at] / sum : NAN;
}

static struct gt_table *instructions_table(const struct gt_explained *e, unsigned top)
{
    static const struct gt_column columns[] = {
        { "offset", GT_COLUMN_TEXT },          { "reason", GT_COLUMN_TEXT },
        { "simulated_pct", GT_COLUMN_NUMBER }, { "profiled_pct", GT_COLUMN_NUMBER },
        { "executions", GT_COLUMN_NUMBER },    { "instruction", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("instructions", columns, sizeof columns / sizeof columns[0]);
    const struct gt_kernel_stalls *inside = e->inside;
    uint32_t count = 0, all = inside->instructions * GT_STALLS;
    struct place *places = gt_calloc(all, sizeof *places);

    for (uint32_t at = 0; at < all; at++) {
        double weight = larger(share_at(inside->simulated, inside->simulated_sum, at),
                               share_at(inside->measured, inside->measured_sum, at));

        if (at % GT_STALLS != GT_STALL_SELECTED && weight > 0)
            places[count++] = (struct place){ at, weight };
    }
    qsort(places, count, sizeof *places, by_weight);
    for (uint32_t i = 0; i < count && i < top; i++) {
        const struct gt_code_row *code = &inside->code[places[i].at / GT_STALLS];
        char offset[16];

        snprintf(offset, sizeof offset, "0x%04x", code->offset_bytes);
        gt_table_text(table, offset);
        gt_table_text(table, gt_stall_names[places[i].at % GT_STALLS]);
        gt_table_real(table, 100 * share_at(inside->simulated, inside->simulated_sum, places[i].at), 1);
        gt_table_real(table, 100 * share_at(inside->measured, inside->measured_sum, places[i].at), 1);
        gt_table_real(table, code->executions, 0);
        gt_table_text(table, code->text);
    }
    free(places);
    return table;
}

static struct gt_table *advice_table(const struct gt_explained *e)
{
    static const struct gt_column columns[] = {
        { "topic", GT_COLUMN_TEXT },
        { "pct", GT_COLUMN_NUMBER },
        { "advice", GT_COLUMN_TEXT },
    };
    struct gt_table *table = gt_table_new("advice", columns, sizeof columns / sizeof columns[0]);
    struct gt_advice advice[GT_ADVICE_MOST];
    size_t count = gt_kernel_advise(e, advice);

    for (size_t i = 0; i < count; i++) {
        gt_table_text(table, advice[i].topic);
        gt_table_real(table, advice[i].pct, 1);
        gt_table_text(table, advice[i].text);
    }
    return table;
}

size_t gt_explain_tables(const struct gt_explained *explained, unsigned top, struct gt_table **tables)
{
    size_t count = 0;

    tables[count++] = launch_table(explained);
    tables[count++] = pipes_table(explained);
    tables[count++] = stalls_table(explained);
    tables[count++] = instructions_table(explained, top);
    tables[count++] = advice_table(explained);
    return count;
}

/* `gridtide explain RUN.db KERNEL`: where the cycles of one kernel launch go. */

enum { NAMES_SHOWN = 10 };

static double cycles_of(const struct gt_kernel_row *row)
{
    return isnan(row->in_simulated.cycles) ? row->in_measured.cycles : row->in_simulated.cycles;
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* How well a launch fits what was asked for: 0 not at all. */
static int fit(const struct gt_kernel_row *row, const char *kernel)
{
    if (is_number(kernel))
        return row->launch == strtoull(kernel, NULL, 10);
    return gt_name_fit(row->name, kernel);
}

static void fail_none(const struct gt_kernels *kernels, const struct gt_explain_request *request,
                      struct gt_error *error)
{
    char names[700] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < kernels->count && i < NAMES_SHOWN && used < sizeof names; i++) {
        char *name = gt_short_name(kernels->rows[i].name, 50);

        used += (size_t)snprintf(names + used, sizeof names - used, "%s%" PRIu32 " %s", i > 0 ? ", " : "",
                                 kernels->rows[i].launch, name);
        free(name);
    }
    if (kernels->count == 0)
        gt_error_set(error, "%s: contains no kernel with cycles; import a profile of Nsight Compute and run that",
                     request->store);
    else
        gt_error_set(error, "%s: no launch or kernel '%.100s' has cycles; these have: %s%s", request->store,
                     request->kernel, names, kernels->count > NAMES_SHOWN ? ", ..." : "");
}

/* The launch meant; NULL with the reason. */
static const struct gt_kernel_row *choose(const struct gt_kernels *kernels, const struct gt_explain_request *request,
                                          struct gt_error *error)
{
    const struct gt_kernel_row *chosen = NULL;
    uint32_t fits = 0;
    int best = 1;

    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];
        int how = fit(row, request->kernel);

        if (how < best)
            continue;
        fits = how > best ? 1 : fits + 1;
        if (chosen == NULL || how > best || cycles_of(row) > cycles_of(chosen) || isnan(cycles_of(chosen)))
            chosen = row;
        best = how;
    }
    if (chosen == NULL)
        fail_none(kernels, request, error);
    else if (fits > 1)
        fprintf(stderr,
                "gridtide: %" PRIu32 " launches match '%s': showing launch %" PRIu32 ", which has the most "
                "cycles\n",
                fits, request->kernel, chosen->launch);
    return chosen;
}

static int explain_row(struct gt_store *store, int64_t simulated, int64_t measured, const struct gt_kernel_row *row,
                       const struct gt_explain_request *request, struct gt_error *error)
{
    struct gt_kernel_stalls inside;
    struct gt_explained explained;
    struct gt_table *tables[GT_EXPLAIN_TABLES];
    size_t count = 0;
    int result = gt_kernel_load_stalls(store, simulated, measured, row, &inside, error);

    if (result == 0) {
        gt_explain(row, &inside, &explained);
        count = gt_explain_tables(&explained, request->top, tables);
        gt_tables_print(stdout, request->format, tables, count);
    }
    while (count > 0)
        gt_table_free(tables[--count]);
    gt_kernel_stalls_free(&inside);
    return result;
}

/* Launches that are not in the part of the run asked for go behind the others.  How many are left, or -1. */
static int64_t leave_out(struct gt_store *store, int64_t run, const struct gt_filter *filter,
                         const struct gt_kernels *kernels, struct gt_error *error)
{
    struct gt_selection selection;
    int result = gt_selection_find(&selection, gt_store_database(store), run, filter, error);
    int64_t kept = 0;

    for (uint32_t i = 0; i < kernels->count && result == 0; i++) {
        struct gt_kernel_row row = kernels->rows[i];

        if (!gt_selection_has_op(&selection, row.op))
            continue;
        kernels->rows[i] = kernels->rows[kept];
        kernels->rows[kept++] = row;
    }
    gt_selection_free(&selection);
    return result < 0 ? -1 : kept;
}

int gt_explain_has_cycles(struct gt_store *store, struct gt_error *error)
{
    struct gt_kernels kernels = { .count = 0 };
    int64_t simulated, measured;
    int result = gt_verdict_find_runs(store, &simulated, &measured, error);

    if (result == 0)
        result = gt_kernels_load(store, simulated, measured, &kernels, error);
    if (result == 0)
        result = kernels.count > 0;
    gt_kernels_free(&kernels);
    return result;
}

int gt_explain_kernel(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error)
{
    struct gt_kernels kernels = { .count = 0 };
    const struct gt_kernel_row *row = NULL;
    struct gt_kernels part;
    int64_t simulated, measured, left = -1;
    int result = gt_verdict_find_runs(store, &simulated, &measured, error);

    if (result == 0)
        result = gt_kernels_load(store, simulated, measured, &kernels, error);
    part = kernels;
    if (result == 0)
        left = leave_out(store, simulated != 0 ? simulated : measured, &request->filter, &kernels, error);
    if (left >= 0) {
        part.count = (uint32_t)left;
        row = choose(&part, request, error);
    }
    if (row != NULL && row->failure != NULL)
        fprintf(stderr, "gridtide: it was not simulated in cycles: %s\n", row->failure);
    result = row != NULL ? explain_row(store, simulated, measured, row, request, error) : -1;
    gt_kernels_free(&kernels);
    return result;
}
