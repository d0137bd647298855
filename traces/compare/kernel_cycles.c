#include "traces/compare/kernel_cycles.h"

#include <math.h>
#include <stdlib.h>

#include "traces/compare/internal.h"

static const char rows_sql[] =
    "SELECT l.op_no, l.kernel_no, l.launch, l.name, s.failure, m.duration_ps / 1e6,"
    " s.like_op, s.cycles, s.bound_cycles, s.launch_cycles, s.run_cycles, s.drain_cycles,"
    " s.warp_instructions, s.covered, s.l2_bytes_per_cycle, s.dram_bytes_per_cycle,"
    " s.issue_share, s.lsu_share, s.warps_mean,"
    " m.like_op, m.cycles, m.bound_cycles, m.launch_cycles, m.run_cycles, m.drain_cycles,"
    " m.warp_instructions, m.covered, m.l2_bytes_per_cycle, m.dram_bytes_per_cycle,"
    " m.issue_share, m.lsu_share, m.warps_mean"
    " FROM (SELECT o.trace_id, o.op_no, o.kernel_no, k.name, row_number() OVER (ORDER BY o.op_no) - 1 AS launch"
    "   FROM op o JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no"
    "   WHERE o.kind = 'kernel' AND o.trace_id = (SELECT trace_id FROM run WHERE run_id = ?3)) l"
    " LEFT JOIN run_kernel s ON s.run_id = ?1 AND s.op_no = l.op_no"
    " LEFT JOIN run_kernel m ON m.run_id = ?2 AND m.op_no = l.op_no"
    " WHERE s.like_op IS NOT NULL OR m.like_op IS NOT NULL ORDER BY l.op_no";

/* Columns from `column` on, in the order of rows_sql. Returns whether the run has the launch. */
static bool read_numbers(struct gt_query *query, int column, struct gt_kernel_numbers *numbers)
{
    double *const places[] = {
        &numbers->cycles,      &numbers->bound_cycles,       &numbers->launch_cycles,
        &numbers->run_cycles,  &numbers->drain_cycles,       &numbers->warp_instructions,
        &numbers->covered,     &numbers->l2_bytes_per_cycle, &numbers->dram_bytes_per_cycle,
        &numbers->issue_share, &numbers->lsu_share,          &numbers->warps_mean,
    };

    numbers->like_op = (uint32_t)gt_query_integer(query, column);
    for (int i = 0; i < (int)(sizeof places / sizeof places[0]); i++)
        *places[i] = gt_query_real(query, column + 1 + i);
    return !gt_query_absent(query, column);
}

static void read_row(struct gt_query *query, struct gt_kernels *kernels)
{
    struct gt_kernel_row *row;

    if ((kernels->count & (kernels->count - 1)) == 0)
        kernels->rows = gt_realloc(kernels->rows, kernels->count * 2ull + 1, sizeof *kernels->rows);
    row = &kernels->rows[kernels->count++];
    *row = (struct gt_kernel_row){
        .op = (uint32_t)gt_query_integer(query, 0),
        .kernel = (uint32_t)gt_query_integer(query, 1),
        .launch = (uint32_t)gt_query_integer(query, 2),
        .name = gt_query_text(query, 3),
        .measured_us = gt_query_real(query, 5),
        .error_pct = NAN,
    };
    if (!gt_query_absent(query, 4))
        row->failure = gt_query_text(query, 4);
    row->simulated = read_numbers(query, 6, &row->in_simulated);
    row->measured = read_numbers(query, 19, &row->in_measured);
}

int gt_kernels_each(struct gt_query *query, void (*each)(struct gt_query *query, void *user), void *user,
                    struct gt_error *error)
{
    int row;

    if (query == NULL)
        return -1;
    while ((row = gt_query_next(query, error)) == 1)
        each(query, user);
    gt_query_end(query);
    return row;
}

static void take_row(struct gt_query *query, void *user)
{
    read_row(query, user);
}

static void take_number(struct gt_query *query, void *user)
{
    *(double *)user = gt_query_real(query, 0);
}

/* Numbering launches takes a walk through all operations: not where no kernel has cycles.  1, 0, or -1. */
static int has_kernels(struct gt_store *store, int64_t simulated_run, int64_t measured_run, struct gt_error *error)
{
    struct gt_query *query;
    double found = 0;

    if (!gt_store_has_kernels(store))
        return 0;
    query = gt_query_new(gt_store_database(store),
                         "SELECT EXISTS (SELECT 1 FROM run_kernel WHERE run_id = ?)"
                         " OR EXISTS (SELECT 1 FROM run_kernel WHERE run_id = ?)",
                         error);
    if (query != NULL) {
        gt_query_bind(query, 1, simulated_run);
        gt_query_bind(query, 2, measured_run);
    }
    return gt_kernels_each(query, take_number, &found, error) != 0 ? -1 : found > 0;
}

int gt_kernels_load(struct gt_store *store, int64_t simulated_run, int64_t measured_run, struct gt_kernels *kernels,
                    struct gt_error *error)
{
    struct gt_query *query;
    int found;

    *kernels = (struct gt_kernels){ .error = { .model_us = NAN } };
    found = has_kernels(store, simulated_run, measured_run, error);
    if (found != 1)
        return found;
    query = gt_query_new(gt_store_database(store), rows_sql, error);
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, simulated_run);
    gt_query_bind(query, 2, measured_run);
    gt_query_bind(query, 3, simulated_run != 0 ? simulated_run : measured_run);
    if (gt_kernels_each(query, take_row, kernels, error) != 0)
        return -1;
    gt_kernels_verdict(kernels);
    query = gt_query_new(gt_store_database(store), "SELECT value FROM counter WHERE run_id = ? AND name = 'model_us'",
                         error);
    if (query != NULL)
        gt_query_bind(query, 1, simulated_run);
    return gt_kernels_each(query, take_number, &kernels->error.model_us, error);
}

void gt_kernels_free(struct gt_kernels *kernels)
{
    for (uint32_t i = 0; i < kernels->count; i++) {
        free(kernels->rows[i].name);
        free(kernels->rows[i].failure);
    }
    free(kernels->rows);
}
