/* Kernels in cycles: into the store and out of it, and how errors are stated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include <math.h>

#include "sim/warp/kernel_model.h"
#include "traces/compare/kernel_cycles.h"
#include "traces/jsonl/trace.h"
#include "traces/store/schema_sql.h"

static char folder[64], path[96];
static struct gt_error error;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gridtide-kernels-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/run.db", folder);
    error.text[0] = '\0';
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* Errors of +10 %, -10 % and +40 % of 1000, 2000 and 4000 cycles; the first takes 4 us; one without a
 * measurement, like the first. */
static void errors_are_stated_over_launches_with_both(void **state)
{
    /* clang-format off */
    struct gt_kernel_row rows[] = {
        { .op = 0, .simulated = true, .measured_us = 4, .in_measured.cycles = 1000,
          .in_simulated = { .like_op = 0, .cycles = 1100, .warp_instructions = 50, .covered = 500 } },
        { .op = 1, .simulated = true, .measured_us = 5, .in_measured.cycles = 2000,
          .in_simulated = { .like_op = 1, .cycles = 1800, .warp_instructions = 70, .covered = 700 } },
        { .op = 2, .simulated = true, .measured_us = NAN, .in_measured.cycles = 4000,
          .in_simulated = { .like_op = 2, .cycles = 5600, .warp_instructions = 80, .covered = 800 } },
        { .op = 3, .simulated = true, .measured_us = NAN, .in_measured.cycles = NAN,
          .in_simulated = { .like_op = 0, .cycles = 1100, .warp_instructions = 50, .covered = 500 } },
    };
    /* clang-format on */
    struct gt_kernels kernels = { rows, 4, { .model_us = NAN } };

    (void)state;
    gt_kernels_verdict(&kernels);
    assert_int_equal(kernels.error.launches, 4);
    assert_int_equal(kernels.error.compared, 3);
    assert_float_equal(rows[1].error_pct, -10, 1e-9);
    assert_true(isnan(rows[3].error_pct));
    assert_float_equal(kernels.error.mape_pct, 20, 1e-9);
    assert_float_equal(kernels.error.median_pct, 10, 1e-9);
    assert_float_equal(kernels.error.worst_pct, 40, 1e-9);
    assert_int_equal(kernels.error.short_launches, 1);
    assert_float_equal(kernels.error.short_mape_pct, 10, 1e-9);
    assert_float_equal(kernels.error.long_mape_pct, 25, 1e-9);
    assert_float_equal(kernels.error.warp_instructions, 200, 1e-9);
    assert_float_equal(kernels.error.covered, 2500, 1e-9);
    /* Means 7000/3 and 8500/3; products sum up to 21.8e6/3, squares to 14e6/3 and 35.18e6/3. */
    assert_float_equal(kernels.error.pearson, 21.8 / sqrt(14 * 35.18), 1e-9);
}

static void nothing_to_compare_is_not_a_number(void **state)
{
    struct gt_kernels kernels = { .error = { .model_us = NAN } };

    (void)state;
    gt_kernels_verdict(&kernels);
    assert_true(isnan(kernels.error.mape_pct));
    assert_true(isnan(kernels.error.worst_pct));
    assert_true(isnan(kernels.error.pearson));
}

/* Two launches of a kernel with a program of two instructions, the first one profiled. */
static const char trace[] =
    "{\"gridtide\":1}\n"
    "{\"program\":\"p\",\"compute_capability\":90,\"warps\":4,\"warps_per_block\":1,\"registers\":16,"
    "\"sass\":[\"LDG.E R4, desc[UR4][R2.64]\",\"EXIT\"],\"control\":[1809,2037],\"executions\":[4,4],"
    "\"access\":[[0,\"global\",8,4,2]],\"samples\":[[0,\"long_scoreboard\",7],[1,\"selected\",1]]}\n"
    "{\"kernel\":\"k\",\"grid\":4,\"block\":32,\"registers\":16,\"program\":\"p\"}\n"
    "{\"call\":\"launch\",\"kernel\":\"k\",\"op_duration_us\":2,"
    "\"profile\":{\"cycles\":3000,\"warp_instructions\":8,\"l2_read_sectors\":300,"
    "\"dram_read_bytes\":6000}}\n"
    "{\"call\":\"launch\",\"kernel\":\"k\",\"op_duration_us\":2}\n";

static struct gt_workload *read_trace(void)
{
    FILE *out = fopen(path, "w");
    struct gt_workload *workload;

    assert_non_null(out);
    fputs(trace, out);
    fclose(out);
    workload = gt_trace_read(path, NULL, &error);
    if (workload == NULL)
        fail_msg("%s", error.text);
    unlink(path);
    return workload;
}

/* What the warp tier could have said: the first launch ran, the second did not. */
static void fill_modelled(struct gt_kernel_model *modelled, struct gt_kernel_model_launch launches[2],
                          uint32_t launch_of[2], double *stalls, const struct gt_workload *workload)
{
    launches[0] = (struct gt_kernel_model_launch){ .op = 0,
                                                   .launch.program = workload->kernels[0].program,
                                                   .result = { .cycles = 3300,
                                                               .bound_cycles = 5,
                                                               .launch_cycles = 2500,
                                                               .run_cycles = 700,
                                                               .drain_cycles = 100,
                                                               .simulated = 2,
                                                               .covered = 8,
                                                               .issue_share = 0.25,
                                                               .lsu_share = 0.5,
                                                               .l2_bytes_per_cycle = 3,
                                                               .dram_bytes_per_cycle = 2,
                                                               .warps_mean = 1,
                                                               .stalls_by_instruction = stalls } };
    launches[0].result.issued[GT_PIPE_LSU] = 1;
    launches[0].result.issued[GT_PIPE_CBU] = 1;
    launches[1] = (struct gt_kernel_model_launch){ .op = 1, .failure = (char *)"no way" };
    stalls[GT_STALL_LONG_SCOREBOARD] = 600;
    stalls[GT_STALLS + GT_STALL_SELECTED] = 1;
    launch_of[0] = 0;
    launch_of[1] = 1;
    *modelled = (struct gt_kernel_model){
        .launches = launches, .count = 2, .launch_of = launch_of, .op_count = 2, .clock_mhz = 1000
    };
}

/* The two runs, stored; their numbers in *simulated and *measured. */
static struct gt_store *store_runs(const struct gt_workload *workload, int64_t *simulated, int64_t *measured)
{
    struct gt_store *store = gt_store_create(path, &error);
    double stalls[2 * GT_STALLS] = { 0 };
    struct gt_kernel_model_launch launches[2];
    struct gt_kernel_model modelled;
    struct gt_device device;
    struct gt_run_writer *writer;
    uint32_t launch_of[2];
    int64_t device_id, trace_id;

    assert_non_null(store);
    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, &error);
    trace_id = gt_store_put_trace(store, workload, "t", &error);
    assert_true(device_id > 0 && trace_id > 0);
    writer = gt_run_writer_begin(store, trace_id, device_id, "measured", "", 0, workload);
    gt_run_writer_keep_kernels(writer, NULL);
    *measured = gt_run_writer_end(writer, &error);
    fill_modelled(&modelled, launches, launch_of, stalls, workload);
    writer = gt_run_writer_begin(store, trace_id, device_id, "simulated", "", 0, workload);
    gt_run_writer_keep_kernels(writer, &modelled);
    gt_run_writer_counter(writer, "model_us", 2, &error);
    *simulated = gt_run_writer_end(writer, &error);
    assert_true(*measured > 0 && *simulated > 0);
    assert_int_equal(gt_store_commit(store, &error), 0);
    return gt_store_open(path, false, &error);
}

static void check_rows(const struct gt_kernels *kernels)
{
    const struct gt_kernel_row *row = &kernels->rows[0];

    assert_int_equal(kernels->count, 2);
    assert_string_equal(row->name, "k");
    assert_true(row->simulated && row->measured);
    assert_float_equal(row->in_measured.cycles, 3000, 0);
    assert_float_equal(row->in_measured.l2_bytes_per_cycle, 3.2, 1e-9);
    assert_float_equal(row->in_measured.dram_bytes_per_cycle, 2, 1e-9);
    assert_float_equal(row->in_simulated.cycles, 3300, 0);
    assert_float_equal(row->in_simulated.bound_cycles, 5, 0);
    assert_float_equal(row->in_simulated.lsu_share, 0.5, 0);
    assert_float_equal(row->measured_us, 2, 0);
    assert_float_equal(row->error_pct, 10, 1e-9);
    assert_int_equal(kernels->rows[1].launch, 1);
    assert_string_equal(kernels->rows[1].failure, "no way");
    assert_false(kernels->rows[1].measured);
    assert_true(isnan(kernels->rows[1].in_simulated.cycles));
    assert_float_equal(kernels->error.model_us, 2, 0);
}

static void check_inside(const struct gt_kernel_stalls *inside)
{
    assert_int_equal(inside->instructions, 2);
    assert_string_equal(inside->code[1].text, "EXIT");
    assert_int_equal(inside->code[1].offset_bytes, 16);
    assert_int_equal(inside->code[0].pipe, GT_PIPE_LSU);
    assert_float_equal(inside->code[0].sectors, 8, 0);
    assert_float_equal(inside->code[0].sectors_ideal, 4, 0);
    assert_true(isnan(inside->code[1].sectors));
    assert_float_equal(inside->issued[GT_PIPE_CBU], 1, 0);
    assert_float_equal(inside->simulated[GT_STALL_LONG_SCOREBOARD], 600, 0);
    assert_float_equal(inside->simulated_sum, 601, 0);
    assert_float_equal(inside->measured[GT_STALLS + GT_STALL_SELECTED], 1, 0);
    assert_float_equal(inside->measured_sum, 8, 0);
    assert_true(inside->fits);
    assert_int_equal(inside->shape.registers_per_thread, 16);
}

static void what_goes_in_comes_out(void **state)
{
    struct gt_workload *workload = read_trace();
    struct gt_kernel_stalls inside;
    struct gt_kernels kernels;
    int64_t simulated, measured;
    struct gt_store *store = store_runs(workload, &simulated, &measured);

    (void)state;
    assert_non_null(store);
    assert_int_equal(gt_kernels_load(store, simulated, measured, &kernels, &error), 0);
    check_rows(&kernels);
    assert_int_equal(gt_kernel_load_stalls(store, simulated, measured, &kernels.rows[0], &inside, &error), 0);
    check_inside(&inside);
    gt_kernel_stalls_free(&inside);
    gt_kernels_free(&kernels);
    gt_store_close(store);
    gt_workload_free(workload);
}

/* A store as an older version made it becomes one of today's where runs are to be added. */
static void check_upgrade(const char *schema, const char *more)
{
    struct gt_store *store;
    sqlite3 *database;
    sqlite3_stmt *version;

    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, schema, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, more, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    store = gt_store_open(path, true, &error);
    assert_non_null(store);
    database = gt_store_database(store)->sqlite;
    assert_int_equal(sqlite3_exec(database, gt_schema_kernels_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_ranges_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_tasks_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_answers_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_children_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_polls_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(database, gt_schema_collectives_sql, NULL, NULL, NULL), SQLITE_ERROR);
    assert_int_equal(sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &version, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(version), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(version, 0), GT_STORE_WITH_COLLECTIVES);
    sqlite3_finalize(version);
    gt_store_close(store);
}

static void older_stores_have_none_and_are_brought_up_to_date(void **state)
{
    struct gt_kernels kernels;
    struct gt_store *store;
    sqlite3 *database;

    (void)state;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, gt_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    store = gt_store_open(path, false, &error);
    assert_non_null(store);
    assert_false(gt_store_has_ranges(store));
    assert_int_equal(gt_kernels_load(store, 1, 0, &kernels, &error), 0);
    assert_int_equal(kernels.count, 0);
    gt_kernels_free(&kernels);
    gt_store_close(store);
    check_upgrade(gt_schema_sql, "");
    check_upgrade(gt_schema_sql, gt_schema_kernels_sql);
}

/* Equal launches are run once; what cannot be run does not stop the others. */
static void equal_launches_are_run_once(void **state)
{
    struct gt_workload *workload = read_trace();
    struct gt_kernel_model *modelled;
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    assert_true(gt_has_programs(workload));
    workload->profile_count = 0; /* the same memory behaviour in both */
    modelled = gt_model_kernels(workload, &device, &device, false, NULL, &error);
    assert_non_null(modelled);
    assert_int_equal(modelled->count, 1);
    assert_ptr_equal(gt_kernel_model_launch(modelled, 0), gt_kernel_model_launch(modelled, 1));
    assert_null(gt_kernel_model_launch(modelled, 2));
    assert_null(modelled->launches[0].failure);
    assert_int_equal(modelled->launches[0].result.covered, 8);
    gt_kernel_model_free(modelled);
    device.registers_per_sm = 256; /* not a block fits */
    modelled = gt_model_kernels(workload, &device, &device, false, NULL, &error);
    assert_non_null(modelled);
    assert_non_null(strstr(gt_kernel_model_launch(modelled, 1)->failure, "registers"));
    gt_kernel_model_free(modelled);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_stated_over_launches_with_both),
        cmocka_unit_test(nothing_to_compare_is_not_a_number),
        cmocka_unit_test_setup_teardown(what_goes_in_comes_out, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(older_stores_have_none_and_are_brought_up_to_date, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(equal_launches_are_run_once, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
