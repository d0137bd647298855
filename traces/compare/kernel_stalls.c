/* One kernel launch from inside: its machine code, where it issued and where warps waited. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/compare/internal.h"
#include "traces/stats/internal.h"
#include "traces/store/internal.h"

/* Most instructions of one kernel; a store may have been edited by hand. */
enum { MOST_INSTRUCTIONS = 1 << 20 };

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
    struct gt_kernel_stalls *inside = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, sqlite3_column_text(query, 2));

    if (inside->instructions == MOST_INSTRUCTIONS)
        return;
    if ((inside->instructions & (inside->instructions - 1)) == 0)
        inside->code = gt_realloc(inside->code, inside->instructions * 2ull + 1, sizeof *inside->code);
    inside->code[inside->instructions++] = (struct gt_code_row){
        .offset_bytes = (uint32_t)sqlite3_column_int64(query, 0), .text = gt_query_text(query, 1),
        .pipe = pipe < GT_PIPES ? (enum gt_pipe)pipe : GT_PIPE_NONE,
        .executions = gt_kernels_number(query, 3), .threads = gt_kernels_number(query, 4),
        .sectors = gt_kernels_number(query, 5), .sectors_ideal = gt_kernels_number(query, 6),
        .wavefronts = gt_kernels_number(query, 7), .wavefronts_ideal = gt_kernels_number(query, 8),
    };
}

static void take_issue(sqlite3_stmt *query, void *user)
{
    struct gt_kernel_stalls *inside = user;
    int pipe = find_name(gt_pipe_names, GT_PIPES, sqlite3_column_text(query, 0));

    if (pipe < GT_PIPES)
        inside->issued[pipe] = gt_kernels_number(query, 1);
}

/* Rows of run_stall on their way into one run's array. */
struct stalls { uint32_t instructions; double *amounts, *sum; };

static void take_stall(sqlite3_stmt *query, void *user)
{
    struct stalls *stalls = user;
    sqlite3_int64 instruction = sqlite3_column_int64(query, 0);
    int reason = find_name(gt_stall_names, GT_STALLS, sqlite3_column_text(query, 1));

    if (instruction < 0 || instruction >= stalls->instructions || reason == GT_STALLS
        || !(gt_kernels_number(query, 2) > 0))
        return;
    stalls->amounts[instruction * GT_STALLS + reason] = gt_kernels_number(query, 2);
    *stalls->sum += gt_kernels_number(query, 2);
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
    return gt_kernels_each(store, query, each, user, error);
}

static int load_stalls(struct gt_store *store, int64_t run, uint32_t op,
                       const struct gt_kernel_stalls *inside, double **amounts, double *sum,
                       struct gt_error *error)
{
    struct stalls stalls = { inside->instructions, NULL, sum };

    stalls.amounts = *amounts = gt_calloc((uint64_t)inside->instructions * GT_STALLS, sizeof *stalls.amounts);
    return look_up(store, "SELECT instruction_no, reason, amount FROM run_stall WHERE run_id = ?"
                   " AND op_no = ?", run, op, take_stall, &stalls, error);
}

static void take_reason(sqlite3_stmt *query, void *user)
{
    int reason = find_name(gt_stall_names, GT_STALLS, sqlite3_column_text(query, 0));

    if (reason < GT_STALLS && gt_kernels_number(query, 1) > 0)
        ((double *)user)[reason] = gt_kernels_number(query, 1);
}

int gt_kernel_reasons(struct gt_store *store, int64_t run, uint32_t like_op, double reasons[GT_STALLS],
                      struct gt_error *error)
{
    memset(reasons, 0, GT_STALLS * sizeof *reasons);
    return look_up(store, "SELECT reason, total(amount) FROM run_stall WHERE run_id = ? AND op_no = ?"
                   " GROUP BY reason", run, like_op, take_reason, reasons, error);
}

/* The device, and what the kernel takes of it. */
static int load_shape(struct gt_store *store, int64_t run, uint32_t kernel, struct gt_kernel_stalls *inside,
                      struct gt_error *error)
{
    struct gt_stats_work work = { .database = store->database, .stats = gt_calloc(1, sizeof *work.stats) };
    int result;

    work.stats->run.run_id = run;
    result = gt_stats_load(&work, error);
    if (result == 0 && kernel >= work.kernels)
        result = gt_error_set(error, "kernel %u is missing; the store is damaged", kernel);
    if (result == 0) {
        inside->device = work.stats->run.device;
        inside->shape = work.shapes[kernel];
        inside->fits = gt_kernel_threads(&inside->shape) > 0
                       && gt_occupancy_of(&inside->device, &inside->shape, &inside->occupancy, NULL) == 0;
    } else {
        gt_error_prefix(error, "%s: ", store->path);
    }
    gt_stats_free(work.stats);
    gt_stats_work_free(&work);
    return result;
}

int gt_kernel_load_stalls(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                          const struct gt_kernel_row *row, struct gt_kernel_stalls *inside,
                          struct gt_error *error)
{
    static const char code_sql[] =
        "SELECT offset_bytes, text, pipe, executions, threads, sectors, sectors_ideal, wavefronts,"
        " wavefronts_ideal FROM instruction WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?)"
        " AND kernel_no = ? ORDER BY instruction_no";
    int64_t run = simulated_run != 0 ? simulated_run : measured_run;

    *inside = (struct gt_kernel_stalls){ .fits = false };
    if (load_shape(store, run, row->kernel, inside, error) != 0
        || look_up(store, code_sql, run, row->kernel, take_code, inside, error) != 0)
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

void gt_kernel_stalls_free(struct gt_kernel_stalls *inside)
{
    for (uint32_t i = 0; i < inside->instructions; i++)
        free(inside->code[i].text);
    free(inside->code);
    free(inside->simulated);
    free(inside->measured);
}
