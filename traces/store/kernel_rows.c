/* Kernels from their machine code, as rows: what they are made of, and a run's cycles. */
#include <math.h>
#include <stdlib.h>

#include "sim/shapes/profiled_work.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/program.h"
#include "traces/store/internal.h"

enum { SECTOR_BYTES = 32 };

/* What is being written. */
struct rows {
    struct gt_store *store;
    sqlite3_stmt *insert;
    struct gt_error *error;
};

static int begin_rows(struct rows *rows, const char *sql, int64_t first)
{
    rows->insert = gt_store_prepare(rows->store, sql, rows->error);
    if (rows->insert == NULL)
        return -1;
    sqlite3_bind_int64(rows->insert, 1, first);
    return 0;
}

static int step(struct rows *rows)
{
    return gt_store_step(rows->store, rows->insert, rows->error);
}

static void bind_count(sqlite3_stmt *insert, int place, uint64_t count)
{
    sqlite3_bind_int64(insert, place, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static int write_instruction(struct rows *rows, const struct gt_program *program, uint32_t i)
{
    const struct gt_instruction *instruction = &program->instructions[i];

    sqlite3_bind_int64(rows->insert, 3, i);
    sqlite3_bind_int64(rows->insert, 4, instruction->offset_bytes);
    sqlite3_bind_text(rows->insert, 5, program->text + instruction->text, -1, SQLITE_STATIC);
    sqlite3_bind_text(rows->insert, 6, gt_pipe_names[instruction->pipe], -1, SQLITE_STATIC);
    bind_count(rows->insert, 7, instruction->executions);
    sqlite3_bind_double(rows->insert, 8, instruction->threads_on);
    for (int place = 9; place <= 12; place++)
        sqlite3_bind_null(rows->insert, place);
    if (instruction->memory != GT_NONE) {
        const struct gt_access *access = &program->memory[instruction->memory];

        sqlite3_bind_double(rows->insert, 9, access->sectors);
        sqlite3_bind_double(rows->insert, 10, access->sectors_ideal);
        sqlite3_bind_double(rows->insert, 11, access->wavefronts);
        sqlite3_bind_double(rows->insert, 12, access->wavefronts_ideal);
    }
    return step(rows);
}

int gt_store_instructions(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                          struct gt_error *error)
{
    struct rows rows = { .store = store, .error = error };
    int result;

    if (!gt_has_programs(workload))
        return 0;
    result = begin_rows(&rows, "INSERT INTO instruction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", trace_id);
    for (uint32_t k = 0; k < workload->kernel_count && result == 0; k++) {
        const struct gt_program *program = workload->kernels[k].program;

        if (program == NULL)
            continue;
        sqlite3_bind_int64(rows.insert, 2, k);
        for (uint32_t i = 0; i < program->instruction_count && result == 0; i++)
            result = write_instruction(&rows, program, i);
    }
    sqlite3_finalize(rows.insert);
    return result;
}

int gt_store_profiled_work(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                           struct gt_error *error)
{
    struct rows rows = { .store = store, .error = error };
    int result;

    if (workload->profile_count == 0)
        return 0;
    result = begin_rows(&rows, "INSERT INTO profiled_work VALUES (?, ?, ?, ?, ?)", trace_id);
    for (uint32_t i = 0; i < workload->profile_count && result == 0; i++) {
        const struct gt_profile *profile = &workload->profiles[i];
        struct gt_work work;

        if (!gt_profiled_work(workload->kernels[workload->ops[profile->op].kernel].program, profile, &work))
            continue;
        sqlite3_bind_int64(rows.insert, 2, profile->op);
        sqlite3_bind_text(rows.insert, 3, gt_precision_names[work.precision], -1, SQLITE_STATIC);
        sqlite3_bind_double(rows.insert, 4, work.flops);
        sqlite3_bind_double(rows.insert, 5, work.bytes);
        result = step(&rows);
    }
    sqlite3_finalize(rows.insert);
    return result;
}

static const char cycles_sql[] = "INSERT INTO run_kernel VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char stall_sql[] = "INSERT INTO run_stall VALUES (?, ?, ?, ?, ?)";

/* SQLite makes NULL of a NAN. */
static void bind_launch(sqlite3_stmt *insert, const struct gt_kernel_model_launch *launch, uint32_t clock_mhz)
{
    const struct gt_warp_result *result = &launch->result;

    sqlite3_bind_double(insert, 4, result->cycles);
    gt_store_bind_time(insert, 5, (gt_time_ps)(result->cycles * 1e6 / clock_mhz));
    sqlite3_bind_double(insert, 6, result->bound_cycles);
    sqlite3_bind_double(insert, 7, result->launch_cycles);
    sqlite3_bind_double(insert, 8, result->run_cycles);
    sqlite3_bind_double(insert, 9, result->drain_cycles);
    bind_count(insert, 10, result->simulated);
    bind_count(insert, 11, result->covered);
    sqlite3_bind_double(insert, 12, result->l2_bytes_per_cycle);
    sqlite3_bind_double(insert, 13, result->dram_bytes_per_cycle);
    sqlite3_bind_double(insert, 14, result->issue_share);
    sqlite3_bind_double(insert, 15, result->lsu_share);
    sqlite3_bind_double(insert, 16, result->warps_mean);
}

static int write_modelled(struct rows *rows, const struct gt_kernel_model *modelled)
{
    int result = 0;

    for (uint32_t op = 0; op < modelled->op_count && result == 0; op++) {
        const struct gt_kernel_model_launch *launch = gt_kernel_model_launch(modelled, op);

        if (launch == NULL)
            continue;
        sqlite3_bind_int64(rows->insert, 2, op);
        sqlite3_bind_int64(rows->insert, 3, launch->op);
        for (int place = 4; place <= 16; place++)
            sqlite3_bind_null(rows->insert, place);
        if (launch->failure == NULL)
            bind_launch(rows->insert, launch, modelled->clock_mhz);
        gt_store_bind_text(rows->insert, 17, launch->failure);
        result = step(rows);
    }
    return result;
}

static int write_issue(struct rows *rows, const struct gt_kernel_model *modelled)
{
    int result = 0;

    for (uint32_t i = 0; i < modelled->count && result == 0; i++) {
        const struct gt_kernel_model_launch *launch = &modelled->launches[i];

        sqlite3_bind_int64(rows->insert, 2, launch->op);
        for (int pipe = 0; pipe < GT_PIPES && result == 0; pipe++) {
            if (launch->failure != NULL || launch->result.issued[pipe] == 0)
                continue;
            sqlite3_bind_text(rows->insert, 3, gt_pipe_names[pipe], -1, SQLITE_STATIC);
            bind_count(rows->insert, 4, launch->result.issued[pipe]);
            result = step(rows);
        }
    }
    return result;
}

static int write_stall(struct rows *rows, uint32_t place, double amount)
{
    if (!(amount > 0))
        return 0;
    sqlite3_bind_int64(rows->insert, 3, place / GT_STALLS);
    sqlite3_bind_text(rows->insert, 4, gt_stall_names[place % GT_STALLS], -1, SQLITE_STATIC);
    sqlite3_bind_double(rows->insert, 5, amount);
    return step(rows);
}

static int write_stalls(struct rows *rows, const struct gt_kernel_model *modelled)
{
    int result = 0;

    for (uint32_t i = 0; i < modelled->count && result == 0; i++) {
        const struct gt_kernel_model_launch *launch = &modelled->launches[i];
        const double *amounts = launch->failure == NULL ? launch->result.stalls_by_instruction : NULL;

        sqlite3_bind_int64(rows->insert, 2, launch->op);
        for (uint32_t j = 0;
             amounts != NULL && j < launch->launch.program->instruction_count * GT_STALLS && result == 0; j++)
            result = write_stall(rows, j, amounts[j]);
    }
    return result;
}

static int write_simulated(struct rows *rows, int64_t run_id, const struct gt_kernel_model *modelled)
{
    const struct {
        const char *sql;
        int (*write)(struct rows *rows, const struct gt_kernel_model *modelled);
    } tables[] = {
        { cycles_sql, write_modelled },
        { "INSERT INTO run_issue VALUES (?, ?, ?, ?)", write_issue },
        { stall_sql, write_stalls },
    };
    int result = 0;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && result == 0; i++) {
        result = begin_rows(rows, tables[i].sql, run_id);
        if (result == 0)
            result = tables[i].write(rows, modelled);
        sqlite3_finalize(rows->insert);
    }
    return result;
}

/* Bytes of all its sectors a cycle; NAN where the profile has none. */
static double l2_bytes_per_cycle(const struct gt_profile *profile)
{
    double sectors = (double)profile->use.l2_read_sectors + (double)profile->use.l2_write_sectors +
                     (double)profile->use.l2_atomic_sectors;

    return sectors > 0 && profile->cycles > 0 ? sectors * SECTOR_BYTES / (double)profile->cycles : NAN;
}

static double dram_bytes_per_cycle(const struct gt_profile *profile)
{
    double bytes = (double)profile->use.dram_read_bytes + (double)profile->use.dram_write_bytes;

    if (profile->cycles == 0 || (bytes == 0 && isnan(l2_bytes_per_cycle(profile))))
        return NAN;
    return bytes / (double)profile->cycles;
}

/* The first profiled launch of each kernel, by kernel: samples are of a program, so they are its. */
static uint32_t *first_ops(const struct gt_workload *workload)
{
    uint32_t *first = gt_realloc(NULL, workload->kernel_count, sizeof *first);

    for (uint32_t k = 0; k < workload->kernel_count; k++)
        first[k] = GT_NONE;
    for (uint32_t i = workload->profile_count; i-- > 0;)
        first[workload->ops[workload->profiles[i].op].kernel] = workload->profiles[i].op;
    return first;
}

static int write_profiles(struct rows *rows, const struct gt_workload *workload, const uint32_t *first)
{
    int result = 0;

    for (uint32_t i = 0; i < workload->profile_count && result == 0; i++) {
        const struct gt_profile *profile = &workload->profiles[i];

        sqlite3_bind_int64(rows->insert, 2, profile->op);
        sqlite3_bind_int64(rows->insert, 3, first[workload->ops[profile->op].kernel]);
        sqlite3_bind_double(rows->insert, 4, profile->cycles > 0 ? (double)profile->cycles : NAN);
        gt_store_bind_time(rows->insert, 5, workload->ops[profile->op].duration_ps);
        bind_count(rows->insert, 11, profile->warp_instructions);
        sqlite3_bind_double(rows->insert, 12, l2_bytes_per_cycle(profile));
        sqlite3_bind_double(rows->insert, 13, dram_bytes_per_cycle(profile));
        result = step(rows);
    }
    return result;
}

static int write_samples(struct rows *rows, const struct gt_workload *workload, const uint32_t *first)
{
    int result = 0;

    for (uint32_t k = 0; k < workload->kernel_count && result == 0; k++) {
        const struct gt_program *program = workload->kernels[k].program;

        if (first[k] == GT_NONE || program == NULL || program->samples == NULL)
            continue;
        sqlite3_bind_int64(rows->insert, 2, first[k]);
        for (uint32_t j = 0; j < program->instruction_count * GT_STALLS && result == 0; j++)
            result = write_stall(rows, j, program->samples[j]);
    }
    return result;
}

static int write_measured(struct rows *rows, int64_t run_id, const struct gt_workload *workload)
{
    uint32_t *first = first_ops(workload);
    int result = begin_rows(rows, cycles_sql, run_id);

    if (result == 0)
        result = write_profiles(rows, workload, first);
    sqlite3_finalize(rows->insert);
    if (result == 0) {
        result = begin_rows(rows, stall_sql, run_id);
        if (result == 0)
            result = write_samples(rows, workload, first);
        sqlite3_finalize(rows->insert);
    }
    free(first);
    return result;
}

int gt_store_run_kernels(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                         const struct gt_kernel_model *modelled, struct gt_error *error)
{
    struct rows rows = { .store = store, .error = error };

    return modelled != NULL ? write_simulated(&rows, run_id, modelled) : write_measured(&rows, run_id, workload);
}
