/* Calibration without a GPU: what is made of samples, and the device file made of findings. */
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
#include "validate/calibrate/process.h"

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * fmax(1, fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void medians_and_quartiles(void **state)
{
    double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
    struct gt_bench_summary summary = gt_summarise(odd, 5);

    (void)state;
    near(summary.median, 3);
    near(summary.low, 2);
    near(summary.high, 4);
    assert_int_equal(summary.count, 5);
    summary = gt_summarise(even, 4);
    near(summary.median, 2.5);
    near(summary.low, 1.75);
    near(summary.high, 3.25);
    summary = gt_summarise(one, 1);
    near(summary.low, 7);
    near(summary.high, 7);
    assert_int_equal(gt_summarise(one, 0).count, 0);
}

/* 200 and 202 near, 260, 262 and 268 far: means 201 and 790 / 3, quartiles of each half. */
static void halves_keep_the_mean(void **state)
{
    double samples[] = { 262, 200, 268, 202, 260 };
    struct gt_bench_summary halves[2];

    (void)state;
    gt_summarise_halves(samples, 5, halves);
    near(halves[0].median, 201);
    near(halves[0].low, 200.5);
    near(halves[0].high, 201.5);
    near(halves[1].median, 790.0 / 3);
    near(halves[1].low, 261);
    near(halves[1].high, 265);
    assert_int_equal(halves[0].count + halves[1].count, 5);
}

/* 4 us + bytes at 50 GB/s is found exactly; one point off moves the fit by its weight only. */
static void lines_through_points(void **state)
{
    const double bytes[] = { 4096, 65536, 1 << 20, 1 << 26 };
    double us[4];
    struct gt_line line;

    (void)state;
    for (int i = 0; i < 4; i++)
        us[i] = 4 + bytes[i] / 50000;
    line = gt_fit_line(bytes, us, 4, true);
    near(line.base, 4);
    near(1 / (line.slope * 1000), 50);
    assert_true(line.worst < 1e-9);
    us[3] *= 1.1;
    line = gt_fit_line(bytes, us, 4, true);
    assert_true(line.worst > 0.01 && line.worst < 0.1);
    assert_true(fabs(line.base - 4) < 0.2);
    line = gt_fit_line(bytes, us, 4, false);
    assert_true(fabs(line.slope * bytes[3] + line.base - us[3]) < 0.01 * us[3]); /* the largest rules */
}

static void no_base_below_zero(void **state)
{
    const double x[] = { 1, 2, 3 }, y[] = { 1, 3, 5 };
    struct gt_line line = gt_fit_line(x, y, 3, false);

    (void)state;
    near(line.base, 0);
    near(line.slope, 22.0 / 14);
}

/* The host's clock stands at 1000 when the GPU's stands at 2^60, and gains 1 ns in 1000. */
static void clocks_are_tied(void **state)
{
    const uint64_t gpu_ns = UINT64_C(1) << 60;
    struct gt_clock_tie before = gt_clock_tie_of(900, gpu_ns, 1100), after;

    (void)state;
    assert_int_equal(before.residual_ns, 100);
    assert_int_equal(before.offset_ns, 1000 - (int64_t)gpu_ns);
    near(gt_clock_host_ns(&before, &before, gpu_ns + 5), 1005);
    after = gt_clock_tie_of(1000 + 1000000 + 1000 - 1, gpu_ns + 1000000, 1000 + 1000000 + 1000 + 1);
    near(gt_clock_host_ns(&before, &after, gpu_ns), 1000);
    near(gt_clock_host_ns(&before, &after, gpu_ns + 500000), 1000 + 500000 + 500);
    near(gt_clock_host_ns(&before, &after, gpu_ns + 1000000), 1000 + 1000000 + 1000);
}

static void the_most_at_once(void **state)
{
    const struct gt_stay stays[] = { { 0, 0, 10 }, { 0, 5, 15 }, { 1, 9, 20 }, { 1, 10, 30 }, { 0, 40, 50 } };

    (void)state;
    assert_int_equal(gt_most_at_once(stays, 5), 3); /* at 9: the fourth starts as the first ends */
    assert_int_equal(gt_most_at_once(stays, 1), 1);
    assert_int_equal(gt_most_at_once(stays, 0), 0);
}

/* SM 7 has two slots, freed at 10 and 12 and filled at 13 and 15; SM 3 has one. */
static void slots_are_filled_in_order(void **state)
{
    struct gt_stay stays[] = { { 7, 0, 10 }, { 3, 1, 5 }, { 7, 1, 12 }, { 3, 9, 20 }, { 7, 13, 30 }, { 7, 15, 40 } };
    double gaps[6];

    (void)state;
    assert_int_equal(gt_refill_gaps(stays, 6, gaps), 3);
    near(gaps[0], 4);
    near(gaps[1], 3);
    near(gaps[2], 3);
}

/* Four SMs, taken in the order 2, 0, 3, 1; in one launch of two blocks another pair was taken. */
static void order_of_sms(void **state)
{
    const uint32_t clean[] = { 2, 2, 2, 0, 0, 2, 2, 3, 0, 0, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0 };
    uint32_t odd[20], order[4];
    size_t alike;

    (void)state;
    assert_int_equal(gt_find_order(clean, 2, 4, order, &alike), 0);
    assert_memory_equal(order, ((uint32_t[]){ 2, 0, 3, 1 }), sizeof order);
    assert_int_equal(alike, 8);
    memcpy(odd, clean, sizeof odd);
    odd[3] = 3;
    assert_int_equal(gt_find_order(odd, 2, 4, order, &alike), 0);
    assert_int_equal(order[0], 2);
    assert_int_equal(order[3], 1);
    assert_true(alike >= 7);
    odd[3] = 4; /* no such SM */
    assert_int_equal(gt_find_order(odd, 2, 4, order, &alike), -1);
    odd[3] = 2; /* twice in one launch */
    assert_int_equal(gt_find_order(odd, 2, 4, order, &alike), -1);
}

static void sets_of_sms(void **state)
{
    const uint32_t pairs[][2] = { { 5, 1 }, { 1, 3 }, { 0, 2 }, { 3, 5 } };
    uint32_t sizes[7];
    size_t rest;

    (void)state;
    assert_int_equal(gt_find_sets(pairs, 4, 7, sizes, &rest), 2);
    assert_int_equal(sizes[0], 2); /* 0, 2 */
    assert_int_equal(sizes[1], 3); /* 1, 3, 5 */
    assert_int_equal(rest, 2);
    assert_int_equal(gt_find_sets(pairs, 0, 7, sizes, &rest), 0);
    assert_int_equal(rest, 7);
}

static char path[] = "/tmp/gridtide-calibrate-XXXXXX.ini";

static int make_path(void **state)
{
    (void)state;
    int file = mkstemps(path, 4);
    return file >= 0 ? close(file) : -1;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* What is written is read back: numbers rounded, lists broken over lines, sources above each. */
static void the_file_reads_back(void **state)
{
    const struct gt_bench_summary summary = { 3.6249, 3.5, 3.75, 400 };
    struct gt_calibration calibration;
    struct gt_device *device = gt_calloc(1, sizeof *device);
    struct gt_key_notes notes;
    struct gt_error error;
    char order[1024] = "", method[GT_FINDING_METHOD_BYTES];

    (void)state;
    gt_calibration_init(&calibration);
    snprintf(calibration.when, sizeof calibration.when, "2026-11-21, driver 580.159.04");
    snprintf(calibration.system, sizeof calibration.system, "CUDA 13.0");
    gt_found_text(&calibration, "chip.name", "Test GPU", "device properties");
    gt_found_text(&calibration, "chip.sms", "132", "device properties");
    for (int i = 0; i < 132; i++)
        snprintf(order + strlen(order), sizeof order - strlen(order), "%s%d", i > 0 ? "," : "", (i * 5 + 7) % 132);
    gt_found_text(&calibration, "chip.sm_order", order, "made up");
    memset(method, 'm', sizeof method - 1);
    method[sizeof method - 1] = '\0';
    gt_found(&calibration, "host.launch_call_us", summary.median, summary, "%s", method);
    gt_found(&calibration, "copy.duplex_gbps", 103.4567, (struct gt_bench_summary){ 0, 0, 0, 0 }, "sum");
    gt_found_known(&calibration, "block.registers_per_thread", "255", "vendor document: a book");
    gt_found_note(&calibration, "a note of %d words", 5);
    gt_not_found(&calibration, "copy.p2p_gbps", "no second GPU");
    if (gt_calibration_write(&calibration, path, &error) != 0 ||
        gt_device_load_notes(path, device, &notes, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(device->name, "Test GPU");
    assert_int_equal(device->launch_call_ps, 3625000);
    near(device->duplex_gbps, 103.5);
    assert_int_equal(device->sm_order_length, 132);
    for (uint32_t i = 0; i < 132; i++)
        assert_int_equal(device->sm_order[i], (i * 5 + 7) % 132);
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const char *key = gt_device_keys[i].key, *source = notes.keys[i];
        if (strcmp(key, "host.launch_call_us") == 0)
            assert_non_null(strstr(source, "driver 580.159.04: median 3.625, quartiles in 3.5 to 3.75, n 400; mmm"));
        if (strcmp(key, "copy.p2p_gbps") == 0)
            assert_string_equal(source, "default, not measured: no second GPU");
        if (strcmp(key, "block.registers_per_thread") == 0)
            assert_string_equal(source, "vendor document: a book");
        if (gt_device_keys[i].fallback[0] != '\0')
            assert_non_null(source);
    }
    assert_non_null(strstr(notes.file, "measured on an Test GPU"));
    gt_key_notes_free(&notes);
    gt_calibration_free(&calibration);
    free(device);
}

/* A folder of device files with one of "Known GPU"; its path is for the caller to free. */
static char *make_shipped(void)
{
    char *folder = strdup("/tmp/gridtide-calibrate-XXXXXX"), name[128];

    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/devices", folder);
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(name, sizeof name, "%s/devices/known.ini", folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs("; source: a file\n[chip]\nname = Known GPU\nsms = 4\n[copy]\n; source: vendor document: a link\n"
          "p2p_gbps = 400\n; source: old\nd2d_gbps = 1000\n",
          file);
    fclose(file);
    return folder;
}

static void remove_shipped(char *folder)
{
    char name[128];

    snprintf(name, sizeof name, "%s/devices/known.ini", folder);
    unlink(name);
    snprintf(name, sizeof name, "%s/devices", folder);
    rmdir(name);
    rmdir(folder);
    free(folder);
}

/* What was not measured stays as in the file that comes with Gridtide for that GPU, and for no other. */
static void what_is_not_found_stays(void **state)
{
    static const char *const names[] = { "Known GPU", "Other GPU" };
    struct gt_device *device = gt_calloc(1, sizeof *device);
    char *folder = make_shipped();

    (void)state;
    setenv("GRIDTIDE_DATA", folder, 1);
    for (int other = 0; other < 2; other++) {
        struct gt_calibration calibration;
        struct gt_key_notes notes;
        struct gt_error error;

        gt_calibration_init(&calibration);
        gt_found_text(&calibration, "chip.name", names[other], "device properties");
        gt_found(&calibration, "copy.d2d_gbps", 2000, (struct gt_bench_summary){ 0, 0, 0, 0 }, "new");
        gt_not_found(&calibration, "copy.p2p_gbps", "no second GPU");
        if (gt_calibration_write(&calibration, path, &error) != 0 ||
            gt_device_load_notes(path, device, &notes, &error) != 0)
            fail_msg("%s", error.text);
        near(device->d2d.gbps, 2000);
        near(device->p2p.gbps, other ? 25 : 400);
        assert_int_equal(device->sms, other ? 80 : 4);
        for (size_t i = 0; i < gt_device_key_count; i++)
            if (strcmp(gt_device_keys[i].key, "copy.p2p_gbps") == 0)
                assert_string_equal(notes.keys[i],
                                    other ? "default, not measured: no second GPU" : "vendor document: a link");
        gt_key_notes_free(&notes);
        gt_calibration_free(&calibration);
    }
    unsetenv("GRIDTIDE_DATA");
    remove_shipped(folder);
    free(device);
}

/* Findings sent through a pipe arrive as they were; three sets make one. */
static void processes_are_combined(void **state)
{
    static const double values[] = { 2.5, 1.5, 2.0 };
    const struct gt_calibration_options options = { .progress = NULL };
    struct gt_calibration sent, all[3], one;
    struct gt_error error;
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    for (int i = 0; i < 3; i++) {
        const struct gt_bench_summary summary = { values[i], values[i] - 0.25, values[i] + 0.25, 10 };

        gt_calibration_init(&sent);
        gt_calibration_init(&all[i]);
        snprintf(sent.when, sizeof sent.when, "today");
        snprintf(sent.system, sizeof sent.system, "CUDA 13.0");
        gt_found(&sent, "latency.launch_us", values[i], summary, "process\t%d", i);
        gt_found_text(&sent, "chip.gpc_sms", i == 2 ? "8,8" : "16", "clusters");
        gt_not_found(&sent, "copy.p2p_gbps", "no second GPU");
        gt_found_note(&sent, "note of %d", i);
        rewind(file);
        gt_calibration_send_progress(file, "limits", 1);
        gt_calibration_send(file, &sent, NULL);
        rewind(file);
        assert_int_equal(gt_calibration_receive(file, &all[i], &options, 0, 1, &error), 0);
        gt_calibration_free(&sent);
    }
    gt_calibration_combine(all, 3, &one);
    assert_string_equal(one.when, "today");
    assert_string_equal(gt_finding_of(&one, "latency.launch_us")->value, "2");
    assert_string_equal(gt_finding_of(&one, "latency.launch_us")->method, "process 2");
    near(gt_finding_of(&one, "latency.launch_us")->summary.median, 2);
    near(gt_finding_of(&one, "latency.launch_us")->summary.low, 1.25);
    near(gt_finding_of(&one, "latency.launch_us")->summary.high, 2.75);
    assert_int_equal(gt_finding_of(&one, "latency.launch_us")->summary.count, 30);
    assert_string_equal(gt_finding_of(&one, "chip.gpc_sms")->value, "16");
    assert_null(gt_finding_of(&one, "copy.p2p_gbps")->value);
    assert_string_equal(gt_finding_of(&one, "copy.p2p_gbps")->method, "no second GPU");
    assert_int_equal(one.note_count, 2);
    assert_string_equal(one.notes[0], "note of 0");
    assert_non_null(strstr(one.notes[1], "chip.gpc_sms"));
    gt_calibration_free(&one);
    for (int i = 0; i < 3; i++)
        gt_calibration_free(&all[i]);
    fclose(file);
}

static void what_ends_early_is_an_error(void **state)
{
    static const char *const texts[] = { "", "when\ttoday\nfinding\t1\n", "finding\t999999\t0\t1\t1\t1\t1\t5\tm\n",
                                         "error\tno GPU\n" };
    const struct gt_calibration_options options = { .progress = NULL };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct gt_calibration received;
        struct gt_error error;
        FILE *file = tmpfile();

        assert_non_null(file);
        fputs(texts[i], file);
        rewind(file);
        gt_calibration_init(&received);
        assert_int_equal(gt_calibration_receive(file, &received, &options, 0, 1, &error), -1);
        assert_non_null(strstr(error.text, i == 3 ? "no GPU" : "ended early"));
        gt_calibration_free(&received);
        fclose(file);
    }
}

/* A value that its key does not allow is not taken; what does not fit together is not written. */
static void nonsense_is_refused(void **state)
{
    const struct gt_bench_summary none = { 0, 0, 0, 0 };
    struct gt_calibration calibration;
    struct gt_error error;

    (void)state;
    gt_calibration_init(&calibration);
    gt_found(&calibration, "latency.launch_us", -1, none, "negative");
    assert_null(gt_finding_of(&calibration, "latency.launch_us")->value);
    assert_non_null(strstr(gt_finding_of(&calibration, "latency.launch_us")->method, "refused"));
    gt_found(&calibration, "latency.launch_us", NAN, none, "not a number");
    assert_null(gt_finding_of(&calibration, "latency.launch_us")->value);
    gt_found(&calibration, "copy.d2d_gbps", INFINITY, none, "endless");
    assert_null(gt_finding_of(&calibration, "copy.d2d_gbps")->value);
    gt_found_text(&calibration, "chip.sms", "4", "properties");
    gt_found_text(&calibration, "chip.sm_order", "0,1,2", "one is missing");
    assert_int_equal(gt_calibration_write(&calibration, path, &error), -1);
    assert_non_null(strstr(error.text, "what was measured makes no device"));
    gt_calibration_free(&calibration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_and_quartiles),
        cmocka_unit_test(halves_keep_the_mean),
        cmocka_unit_test(lines_through_points),
        cmocka_unit_test(no_base_below_zero),
        cmocka_unit_test(clocks_are_tied),
        cmocka_unit_test(the_most_at_once),
        cmocka_unit_test(slots_are_filled_in_order),
        cmocka_unit_test(order_of_sms),
        cmocka_unit_test(sets_of_sms),
        cmocka_unit_test(the_file_reads_back),
        cmocka_unit_test(what_is_not_found_stays),
        cmocka_unit_test(processes_are_combined),
        cmocka_unit_test(what_ends_early_is_an_error),
        cmocka_unit_test(nonsense_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
