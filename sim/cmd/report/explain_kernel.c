/* explain_kernel.c - `gridtide explain RUN.db KERNEL`: where the cycles of one kernel launch go. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/report/explain_parts.h"
#include "traces/compare/verdict.h"
#include "traces/names/demangle.h"
#include "traces/names/short_name.h"

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
