/* Calibration of kernels at any size, without a GPU: the products that are drawn, the table made of their times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/io/device_file.h"
#include "traces/io/product_file.h"
#include "validate/calibrate/process.h"
#include "validate/calibrate/product_draw.h"
#include "validate/calibrate/product_table.h"

static void near(double value, double expected, double part)
{
    if (fabs(value - expected) > part * fabs(expected))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void products_are_drawn_alike_and_within_bounds(void **state)
{
    struct gt_chance one = gt_chance_of(1, "products", 0), other = gt_chance_of(1, "products", 0);
    struct gt_product_counts counts = { 0 };
    uint32_t kept = 0, drawn = 0;
    double elements = 1 << 24;

    (void)state;
    for (; !gt_product_counts_full(&counts, 10) && drawn < 100000; drawn++) {
        struct gt_product p = gt_product_draw(&one, elements), q = gt_product_draw(&other, elements);

        assert_memory_equal(&p, &q, sizeof p);
        assert_true(p.batch >= 1 && p.m >= 1 && p.n >= 1 && p.k >= 1);
        assert_true(p.batch * p.m * p.n <= elements && p.batch * p.m * p.k <= elements &&
                    p.batch * p.n * p.k <= elements);
        assert_true(p.batch * p.m * p.n * p.k < 6e11);
        assert_true(p.batch == 1 || p.form == GT_PRODUCT_TN_BATCHED || p.form == GT_PRODUCT_NN_BATCHED);
        kept += gt_product_count(&counts, &p, 10);
    }
    /* Three precisions, six forms: ten of each with rows of whole 16 bytes, five of each others. */
    assert_int_equal(kept, 3 * 6 * 15);
    assert_true(gt_product_counts_full(&counts, 10));
}

/* Halves have 8 in 16 bytes, others 4; NT's rows are as long as M and N, those of others as K and N. */
static void rows_of_16_bytes(void **state)
{
    static const struct {
        struct gt_product product;
        bool aligned;
    } rows[] = {
        { { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 3, 16, 24 }, true },
        { { GT_PRECISION_HALF, GT_PRODUCT_TN, 1, 3, 16, 28 }, false },
        { { GT_PRECISION_TF32, GT_PRODUCT_TN, 1, 3, 16, 28 }, true },
        { { GT_PRECISION_HALF, GT_PRODUCT_NT, 1, 3, 16, 24 }, false },
        { { GT_PRECISION_FP32, GT_PRODUCT_NT, 1, 4, 16, 3 }, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(gt_product_is_aligned(&rows[i].product), rows[i].aligned);
}

static const struct gt_product common = { GT_PRECISION_TF32, GT_PRODUCT_TN_BIAS, 1, 7, 1024, 4096 };
static const struct gt_product rare = { GT_PRECISION_HALF, GT_PRODUCT_NN_BATCHED, 96, 128, 64, 1000 };

/* What three processes send: all have one product, in 10, 12 and 11 us; the last one another, in 123.456 us. */
static void receive_three(struct gt_calibration *one)
{
    static const double us[] = { 10, 12, 11 };
    const struct gt_calibration_options options = { .progress = NULL };
    struct gt_calibration all[3];

    for (int i = 0; i < 3; i++) {
        struct gt_calibration sent;
        struct gt_error error;
        FILE *file = tmpfile();

        assert_non_null(file);
        gt_calibration_init(&sent);
        gt_calibration_init(&all[i]);
        gt_found_text(&sent, "chip.name", "Test GPU", "device properties");
        snprintf(sent.when, sizeof sent.when, "2026-11-28, driver 580.159.04");
        snprintf(sent.library, sizeof sent.library, "cuBLAS 13.1.0");
        gt_found_product(&sent, &(struct gt_product_point){ common, us[i] });
        if (i == 2)
            gt_found_product(&sent, &(struct gt_product_point){ rare, 123.456 });
        gt_calibration_send(file, &sent, NULL);
        rewind(file);
        assert_int_equal(gt_calibration_receive(file, &all[i], &options, 0, 1, &error), 0);
        gt_calibration_free(&sent);
        fclose(file);
    }
    gt_calibration_combine(all, 3, one);
    for (int i = 0; i < 3; i++)
        gt_calibration_free(&all[i]);
}

static void products_of_processes_are_one_table(void **state)
{
    struct gt_calibration one;

    (void)state;
    receive_three(&one);
    assert_int_equal(one.product_count, 2);
    assert_int_equal(one.products[0].product.precision, GT_PRECISION_HALF); /* sorted */
    near(one.products[0].us, 123.456, 1e-12);
    near(one.products[1].us, 11, 1e-12);
    assert_string_equal(one.library, "cuBLAS 13.1.0");
    assert_int_equal(one.products_apart.count, 1);
    near(one.products_apart.median, 2.0 / 11, 1e-12);
    gt_calibration_free(&one);
}

/* What a device file in that folder reads of its table. */
static void check_table(const char *folder)
{
    struct gt_device *device = calloc(1, sizeof *device);
    struct gt_product_sweep *sweep;
    struct gt_key_notes notes;
    struct gt_error error;
    char path[128], table[128];

    assert_non_null(device);
    snprintf(path, sizeof path, "%s/gpu.ini", folder);
    snprintf(table, sizeof table, "%s/gpu-products.csv.zst", folder);
    if (gt_device_load_notes(path, device, &notes, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(device->product.sweep, table);
    for (size_t i = 0; i < gt_device_key_count; i++)
        if (strcmp(gt_device_keys[i].key, "product.sweep") == 0)
            assert_non_null(
                strstr(notes.keys[i], "2 products of cuBLAS 13.1.0; 1 of them in several processes, 18.2 % apart"));
    if (gt_product_sweep_load(device, &sweep, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(sweep->count, 2);
    assert_memory_equal(&sweep->points[0].product, &rare, sizeof rare);
    assert_memory_equal(&sweep->points[1].product, &common, sizeof common);
    near(sweep->points[0].us, 123.5, 1e-12); /* four digits */
    near(sweep->points[1].us, 11, 1e-12);
    gt_product_sweep_free(sweep);
    gt_key_notes_free(&notes);
    free(device);
}

/* The table lies beside the device file, and is found there when both move. */
static void the_table_reads_back(void **state)
{
    char folder[] = "/tmp/gridtide-families-XXXXXX", moved[64], path[128];
    struct gt_calibration one;
    struct gt_error error;

    (void)state;
    assert_non_null(mkdtemp(folder));
    receive_three(&one);
    snprintf(path, sizeof path, "%s/gpu.ini", folder);
    if (gt_calibration_write(&one, path, &error) != 0)
        fail_msg("%s", error.text);
    gt_calibration_free(&one);
    check_table(folder);
    snprintf(moved, sizeof moved, "%s-moved", folder);
    assert_int_equal(rename(folder, moved), 0);
    check_table(moved);
    snprintf(path, sizeof path, "%s/gpu.ini", moved);
    unlink(path);
    snprintf(path, sizeof path, "%s/gpu-products.csv.zst", moved);
    unlink(path);
    assert_int_equal(rmdir(moved), 0);
}

/* No device file, no table: neither can be written. */
static void both_or_none(void **state)
{
    struct gt_calibration one;
    struct gt_error error;

    (void)state;
    receive_three(&one);
    gt_found_text(&one, "chip.sms", "4", "properties");
    gt_found_text(&one, "chip.sm_order", "0,1,2", "one is missing");
    assert_int_equal(gt_calibration_write(&one, "/tmp/gridtide-families.ini", &error), -1);
    assert_int_equal(access("/tmp/gridtide-families-products.csv.zst", F_OK), -1);
    assert_int_equal(gt_calibration_write(&one, "/nowhere/gpu.ini", &error), -1);
    gt_calibration_free(&one);
}

static void where_tables_go(void **state)
{
    static const char *const names[][3] = {
        { "h200.ini", "h200-products.csv.zst", "h200-products.csv.zst" },
        { "a.b/my.gpu.ini", "my.gpu-products.csv.zst", "a.b/my.gpu-products.csv.zst" },
        { "gpu", "gpu-products.csv.zst", "gpu-products.csv.zst" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int folder = 0; folder < 2; folder++) {
            char *name = gt_product_table_name(names[i][0], folder);

            assert_string_equal(name, names[i][1 + folder]);
            free(name);
        }
    assert_false(gt_product_table_is_possible("-"));
    assert_false(gt_product_table_is_possible("/dev/null"));
    assert_true(gt_product_table_is_possible("/tmp/gridtide-families-none.ini"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_drawn_alike_and_within_bounds),
        cmocka_unit_test(rows_of_16_bytes),
        cmocka_unit_test(products_of_processes_are_one_table),
        cmocka_unit_test(the_table_reads_back),
        cmocka_unit_test(both_or_none),
        cmocka_unit_test(where_tables_go),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
