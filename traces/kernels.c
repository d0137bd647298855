#include "traces/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/store_parts.h"

/* Most instructions of one kernel; a store may have been edited by hand. */
enum { MOST_INSTRUCTIONS = 1 << 20 };

static const char rows_sql[] =
    "SELECT l.op_no, l.kernel_no, l.launch, l.name, s.failure, m.duration_ps / 1e6,"
    " s.like_op, s.cycles, s.bound_cycles, s.launch_cycles, s.run_cycles, s.drain_cycles, s.warp_instructions,"
    " s.covered, s.l2_bytes_per_cycle, s.dram_bytes_per_cycle, s.issue_share, s.lsu_share, s.warps_mean,"
    " m.like_op, m.cycles, m.bound_cycles, m.launch_cycles, m.run_cycles, m.drain_cycles, m.warp_instructions,"
    " m.covered, m.l2_bytes_per_cycle, m.dram_bytes_per_cycle, m.issue_share, m.lsu_share, m.warps_mean"
    " FROM kernel_launch l"
    " LEFT JOIN run_kernel s ON s.run_id = ?1 AND s.op_no = l.op_no"
    " LEFT JOIN run_kernel m ON m.run_id = ?2 AND m.op_no = l.op_no"
    " WHERE l.trace_id = (SELECT trace_id FROM run WHERE run_id = ?3)"
    " AND (s.like_op IS NOT NULL OR m.like_op IS NOT NULL) ORDER BY l.op_no";

static double number(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL ? NAN : sqlite3_column_double(query, column);
}

static char *text(sqlite3_stmt *query, int column)
{
    const char *found = (const char *)sqlite3_column_text(query, column);

    return strdup(found != NULL ? found : "");
}

/* Columns from `column` on, in the order of rows_sql. Returns whether the run has the launch. */
static bool read_numbers(sqlite3_stmt *query, int column, struct gt_kernel_numbers *numbers)
{
    double *const places[] = {
        &numbers->cycles, &numbers->bound_cycles, &numbers->launch_cycles, &numbers->run_cycles,
        &numbers->drain_cycles, &numbers->warp_instructions, &numbers->covered, &numbers->l2_bytes_per_cycle,
        &numbers->dram_bytes_per_cycle, &numbers->issue_share, &numbers->lsu_share, &numbers->warps_mean,
    };

    numbers->like_op = (uint32_t)sqlite3_column_int64(query, column);
    for (int i = 0; i < (int)(sizeof places / sizeof places[0]); i++)
        *places[i] = number(query, column + 1 + i);
    return sqlite3_column_type(query, column) != SQLITE_NULL;
}

static void read_row(sqlite3_stmt *query, struct gt_kernels *kernels)
{
    struct gt_kernel_row *row;

    if ((kernels->count & (kernels->count - 1)) == 0)
        kernels->rows = gt_realloc(kernels->rows, kernels->count * 2ull + 1, sizeof *kernels->rows);
    row = &kernels->rows[kernels->count++];
    *row = (struct gt_kernel_row){
        .op = (uint32_t)sqlite3_column_int64(query, 0), .kernel = (uint32_t)sqlite3_column_int64(query, 1),
        .launch = (uint32_t)sqlite3_column_int64(query, 2), .name = text(query, 3),
        .measured_us = number(query, 5), .error_pct = NAN,
    };
    if (sqlite3_column_type(query, 4) != SQLITE_NULL)
        row->failure = text(query, 4);
    row->simulated = read_numbers(query, 6, &row->in_simulated);
    row->measured = read_numbers(query, 19, &row->in_measured);
}

/* Step through `query`, which ends here. Returns 0 or -1. */
static int each_row(struct gt_store *store, sqlite3_stmt *query, void (*each)(sqlite3_stmt *query, void *user),
                    void *user, struct gt_error *error)
{
    int code, result;

    if (query == NULL)
        return -1;
    while ((code = sqlite3_step(query)) == SQLITE_ROW)
        each(query, user);
    result = code == SQLITE_DONE ? 0 : gt_store_fail(store, error);
    sqlite3_finalize(query);
    return result;
}

static void take_row(sqlite3_stmt *query, void *user)
{
    read_row(query, user);
}

static void take_number(sqlite3_stmt *query, void *user)
{
    *(double *)user = number(query, 0);
}

int gt_kernels_load(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                    struct gt_kernels *kernels, struct gt_error *error)
{
    sqlite3_stmt *query;

    *kernels = (struct gt_kernels){ .error = { .model_us = NAN } };
    if (store->version < GT_STORE_VERSION)
        return 0;
    query = gt_store_prepare(store, rows_sql, error);
    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, simulated_run);
    sqlite3_bind_int64(query, 2, measured_run);
    sqlite3_bind_int64(query, 3, simulated_run != 0 ? simulated_run : measured_run);
    if (each_row(store, query, take_row, kernels, error) != 0)
        return -1;
    gt_kernels_judge(kernels);
    query = gt_store_prepare(store, "SELECT value FROM counter WHERE run_id = ? AND name = 'model_us'", error);
    if (query != NULL)
        sqlite3_bind_int64(query, 1, simulated_run);
    return each_row(store, query, take_number, &kernels->error.model_us, error);
}

void gt_kernels_free(struct gt_kernels *kernels)
{
    for (uint32_t i = 0; i < kernels->count; i++) {
        free(kernels->rows[i].name);
        free(kernels->rows[i].failure);
    }
    free(kernels->rows);
}

/* The place of a name in a table of them; `count` where it is not there. */
static int find_name(const char *const *names, int count, const unsigned char *name)
{
    int i = 0;

    while (i < count && (name == NULL || strcmp(names[i], (const char *)name) != 0))
        i++;
    return i;
}

static void take_code(sqlite3_stmt *query, void *user)
{
    struct gt_kernel_inside *inside = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, sqlite3_column_text(query, 2));

    if (inside->instructions == MOST_INSTRUCTIONS)
        return;
    if ((inside->instructions & (inside->instructions - 1)) == 0)
        inside->code = gt_realloc(inside->code, inside->instructions * 2ull + 1, sizeof *inside->code);
    inside->code[inside->instructions++] = (struct gt_code_row){
        .offset_bytes = (uint32_t)sqlite3_column_int64(query, 0), .text = text(query, 1),
        .pipe = pipe < GT_PIPES ? (enum gt_pipe)pipe : GT_PIPE_NONE, .executions = number(query, 3),
        .threads = number(query, 4), .sectors = number(query, 5), .sectors_ideal = number(query, 6),
        .wavefronts = number(query, 7), .wavefronts_ideal = number(query, 8),
    };
}

static void take_issue(sqlite3_stmt *query, void *user)
{
    struct gt_kernel_inside *inside = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, sqlite3_column_text(query, 0));

    if (pipe < GT_PIPES)
        inside->issued[pipe] = number(query, 1);
}

/* Rows of run_stall on their way into one run's array. */
struct stalls { uint32_t instructions; double *amounts, *sum; };

static void take_stall(sqlite3_stmt *query, void *user)
{
    struct stalls *stalls = user;
    sqlite3_int64 instruction = sqlite3_column_int64(query, 0);
    int reason = find_name(gt_stall_names, GT_STALLS, sqlite3_column_text(query, 1));

    if (instruction < 0 || instruction >= stalls->instructions || reason == GT_STALLS)
        return;
    stalls->amounts[instruction * GT_STALLS + reason] = number(query, 2);
    *stalls->sum += number(query, 2);
}

/* A query of two numbers, with what takes its rows. */
static int look_up(struct gt_store *store, const char *sql, int64_t first, uint32_t second,
                   void (*each)(sqlite3_stmt *query, void *user), void *user, struct gt_error *error)
{
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);

    if (query != NULL) {
        sqlite3_bind_int64(query, 1, first);
        sqlite3_bind_int64(query, 2, second);
    }
    return each_row(store, query, each, user, error);
}

static int load_stalls(struct gt_store *store, int64_t run, uint32_t op, const struct gt_kernel_inside *inside,
                       double **amounts, double *sum, struct gt_error *error)
{
    struct stalls stalls = { inside->instructions, NULL, sum };

    stalls.amounts = *amounts = gt_calloc((uint64_t)inside->instructions * GT_STALLS, sizeof *stalls.amounts);
    return look_up(store, "SELECT instruction_no, reason, amount FROM run_stall WHERE run_id = ? AND op_no = ?",
                   run, op, take_stall, &stalls, error);
}

int gt_kernel_look_inside(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                          const struct gt_kernel_row *row, struct gt_kernel_inside *inside,
                          struct gt_error *error)
{
    static const char code_sql[] =
        "SELECT offset_bytes, text, pipe, executions, threads, sectors, sectors_ideal, wavefronts,"
        " wavefronts_ideal FROM instruction WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?)"
        " AND kernel_no = ? ORDER BY instruction_no";
    int64_t run = simulated_run != 0 ? simulated_run : measured_run;

    *inside = (struct gt_kernel_inside){ 0 };
    if (look_up(store, code_sql, run, row->kernel, take_code, inside, error) != 0)
        return -1;
    if (look_up(store, "SELECT pipe, warp_instructions FROM run_issue WHERE run_id = ? AND op_no = ?",
                simulated_run, row->in_simulated.like_op, take_issue, inside, error) != 0)
        return -1;
    if (load_stalls(store, simulated_run, row->in_simulated.like_op, inside, &inside->simulated,
                    &inside->simulated_sum, error) != 0)
        return -1;
    return load_stalls(store, measured_run, row->in_measured.like_op, inside, &inside->measured,
                       &inside->measured_sum, error);
}

void gt_kernel_inside_free(struct gt_kernel_inside *inside)
{
    for (uint32_t i = 0; i < inside->instructions; i++)
        free(inside->code[i].text);
    free(inside->code);
    free(inside->simulated);
    free(inside->measured);
}
