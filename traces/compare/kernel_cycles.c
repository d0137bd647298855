#include "traces/compare/kernel_cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/store/run_rows.h"

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

/* One kernel launch from inside: its machine code, where it issued and where warps waited. */

/* Most instructions of one kernel; a store may have been edited by hand. */
enum { MOST_INSTRUCTIONS = 1 << 20 };

/* The place of a name in a table of them; `count` where it is not there. */
static int find_name(const char *const *names, int count, const char *name)
{
    int i = 0;

    while (i < count && (name == NULL || strcmp(names[i], name) != 0))
        i++;
    return i;
}

static void take_code(struct gt_query *query, void *user)
{
    struct gt_kernel_stalls *stalls = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, gt_query_string(query, 2));

    if (stalls->instructions == MOST_INSTRUCTIONS)
        return;
    if ((stalls->instructions & (stalls->instructions - 1)) == 0)
        stalls->code = gt_realloc(stalls->code, stalls->instructions * 2ull + 1, sizeof *stalls->code);
    stalls->code[stalls->instructions++] = (struct gt_code_row){
        .offset_bytes = (uint32_t)gt_query_integer(query, 0),
        .text = gt_query_text(query, 1),
        .pipe = pipe < GT_PIPES ? (enum gt_pipe)pipe : GT_PIPE_NONE,
        .executions = gt_query_real(query, 3),
        .threads = gt_query_real(query, 4),
        .sectors = gt_query_real(query, 5),
        .sectors_ideal = gt_query_real(query, 6),
        .wavefronts = gt_query_real(query, 7),
        .wavefronts_ideal = gt_query_real(query, 8),
    };
}

static void take_issue(struct gt_query *query, void *user)
{
    struct gt_kernel_stalls *stalls = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, gt_query_string(query, 0));

    if (pipe < GT_PIPES)
        stalls->issued[pipe] = gt_query_real(query, 1);
}

/* Rows of run_stall on their way into one run's array. */
struct amounts {
    uint32_t instructions;
    double *by_reason, *sum;
};

static void take_amount(struct gt_query *query, void *user)
{
    struct amounts *amounts = user;
    int64_t instruction = gt_query_integer(query, 0);
    int reason = find_name(gt_stall_names, GT_STALLS, gt_query_string(query, 1));

    if (instruction < 0 || instruction >= amounts->instructions || reason == GT_STALLS ||
        !(gt_query_real(query, 2) > 0))
        return;
    amounts->by_reason[instruction * GT_STALLS + reason] = gt_query_real(query, 2);
    *amounts->sum += gt_query_real(query, 2);
}

/* A query of two numbers, with what takes its rows. */
static int look_up(struct gt_store *store, const char *sql, int64_t first, uint32_t second,
                   void (*each)(struct gt_query *query, void *user), void *user, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);

    if (query != NULL) {
        gt_query_bind(query, 1, first);
        gt_query_bind(query, 2, second);
    }
    return gt_kernels_each(query, each, user, error);
}

static int load_amounts(struct gt_store *store, int64_t run, uint32_t op, const struct gt_kernel_stalls *stalls,
                        double **by_reason, double *sum, struct gt_error *error)
{
    struct amounts amounts = { stalls->instructions, NULL, sum };

    amounts.by_reason = *by_reason = gt_calloc((uint64_t)stalls->instructions * GT_STALLS, sizeof **by_reason);
    return look_up(store,
                   "SELECT instruction_no, reason, amount FROM run_stall WHERE run_id = ?"
                   " AND op_no = ?",
                   run, op, take_amount, &amounts, error);
}

static void take_reason(struct gt_query *query, void *user)
{
    int reason = find_name(gt_stall_names, GT_STALLS, gt_query_string(query, 0));

    if (reason < GT_STALLS && gt_query_real(query, 1) > 0)
        ((double *)user)[reason] = gt_query_real(query, 1);
}

int gt_kernel_reasons(struct gt_store *store, int64_t run, uint32_t like_op, double reasons[GT_STALLS],
                      struct gt_error *error)
{
    memset(reasons, 0, GT_STALLS * sizeof *reasons);
    return look_up(store,
                   "SELECT reason, total(amount) FROM run_stall WHERE run_id = ? AND op_no = ?"
                   " GROUP BY reason",
                   run, like_op, take_reason, reasons, error);
}

/* The device, and what the kernel takes of it. */
static int load_shape(struct gt_store *store, int64_t run, uint32_t kernel, struct gt_kernel_stalls *stalls,
                      struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);

    if (gt_stored_device(database, run, &stalls->device, error) != 0 ||
        gt_run_kernel(database, run, kernel, &stalls->shape, error) != 0)
        return gt_database_name_error(database, error);
    stalls->fits = gt_kernel_threads(&stalls->shape) > 0 &&
                   gt_occupancy_of(&stalls->device, &stalls->shape, &stalls->occupancy, NULL) == 0;
    return 0;
}

int gt_kernel_load_stalls(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                          const struct gt_kernel_row *row, struct gt_kernel_stalls *stalls, struct gt_error *error)
{
    static const char code_sql[] =
        "SELECT offset_bytes, text, pipe, executions, threads, sectors, sectors_ideal, wavefronts,"
        " wavefronts_ideal FROM instruction WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?)"
        " AND kernel_no = ? ORDER BY instruction_no";
    int64_t run = simulated_run != 0 ? simulated_run : measured_run;

    *stalls = (struct gt_kernel_stalls){ .fits = false };
    if (load_shape(store, run, row->kernel, stalls, error) != 0 ||
        look_up(store, code_sql, run, row->kernel, take_code, stalls, error) != 0)
        return -1;
    if (look_up(store, "SELECT pipe, warp_instructions FROM run_issue WHERE run_id = ? AND op_no = ?", simulated_run,
                row->in_simulated.like_op, take_issue, stalls, error) != 0)
        return -1;
    if (load_amounts(store, simulated_run, row->in_simulated.like_op, stalls, &stalls->simulated,
                     &stalls->simulated_sum, error) != 0)
        return -1;
    return load_amounts(store, measured_run, row->in_measured.like_op, stalls, &stalls->measured,
                        &stalls->measured_sum, error);
}

void gt_kernel_stalls_free(struct gt_kernel_stalls *stalls)
{
    for (uint32_t i = 0; i < stalls->instructions; i++)
        free(stalls->code[i].text);
    free(stalls->code);
    free(stalls->simulated);
    free(stalls->measured);
}
