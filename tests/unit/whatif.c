/* What answers must keep to whatever the trace is: relations between a run and the same with a change, on typed traces drawn
 * at random; what a step is; what bounds a run; what is left without a profiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/rewrite/repeats.h"
#include "sim/whatif/whatif.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/names/demangle.h"

enum { US = 1000000, TRACES = 60, MOST_CALLS = 40 };

static struct gt_framework framework;
static const struct gt_whatif_host host = { .load_device = gt_device_load,
                                            .framework = &framework,
                                            .fit_kernel = gt_name_fit };

/* A workload of one thread and one stream, to be filled. */
static struct gt_workload *begin(void)
{
    struct gt_workload *w = gt_workload_new();
    gt_stream_index stream;

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    stream = gt_workload_add_stream(w);
    w->streams[stream].name = GT_NONE;
    w->streams[stream].id = 7;
    w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
    return w;
}

static gt_op_index add(struct gt_workload *w, enum gt_call_kind call_kind, enum gt_op_kind kind)
{
    gt_call_index call = gt_workload_add_call(w);
    gt_op_index op = gt_workload_add_op(w);

    w->calls[call].kind = (uint8_t)call_kind;
    w->calls[call].stream = 0;
    w->calls[call].ops = 1;
    w->ops[op].call = call;
    w->ops[op].stream = 0;
    w->ops[op].kind = (uint8_t)kind;
    return op;
}

static void launch(struct gt_workload *w, const char *name, uint32_t blocks, uint64_t us)
{
    struct gt_kernel kernel = {
        .name = gt_name(w, name, strlen(name)),
        .grid = { blocks, 1, 1 },
        .block = { 256, 1, 1 },
        .cluster = { 1, 1, 1 },
        .registers_per_thread = 32,
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
    };
    gt_op_index op = add(w, GT_CALL_LAUNCH, GT_OP_KERNEL);

    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
    w->ops[op].duration_ps = us * US;
}

static void copy(struct gt_workload *w, enum gt_direction direction, uint64_t bytes)
{
    gt_op_index op = add(w, GT_CALL_COPY, GT_OP_COPY);

    w->ops[op].direction = (uint8_t)direction;
    w->ops[op].memory = GT_MEMORY_PINNED;
    w->ops[op].bytes = bytes;
}

static void call(struct gt_workload *w, enum gt_call_kind kind, gt_time_ps duration_ps)
{
    gt_call_index index = gt_workload_add_call(w);

    w->calls[index].kind = (uint8_t)kind;
    w->calls[index].stream = kind == GT_CALL_STREAM_SYNC ? 0 : GT_NONE;
    w->calls[index].duration_ps = duration_ps;
}

/* What one change makes of the workload, in us; the baseline into *baseline_us. */
static double predict(const struct gt_workload *w, const char *spec, double *baseline_us, struct gt_answer *answer)
{
    struct gt_whatif whatif;
    struct gt_change change;
    struct gt_device device;
    struct gt_error error;
    struct gt_whatif_subject subject = {
        .workload = w, .device = &device, .host = &host, .options = GT_OPTIONS_DEFAULT
    };

    if (gt_device_load("h200", &device, &error) != 0 || gt_framework_load(NULL, &framework, &error) != 0 ||
        gt_whatif_begin(&whatif, &subject, &error) != 0 || gt_change_parse(spec, &change, &error) != 0 ||
        gt_whatif_answer(&whatif, &change, 1, NULL, answer, &error) != 0)
        fail_msg("%s: %s", spec, error.text);
    *baseline_us = whatif.facts.baseline_us;
    gt_whatif_free(&whatif);
    return answer->predicted_us;
}

static double predict_us(const struct gt_workload *w, const char *spec, double *baseline_us)
{
    struct gt_answer answer;
    double us = predict(w, spec, baseline_us, &answer);

    gt_answer_free(&answer);
    return us;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Kernels of many sorts and copies in one stream, with some waits and host work. */
static struct gt_workload *draw_one_stream(uint64_t seed)
{
    static const char *const names[] = { "sgemm_128x64", "hgemm_16816_tensorop", "vectorized_elementwise_kernel",
                                         "reduce_kernel", "my_kernel" };
    struct gt_workload *w = begin();
    uint32_t calls = 3 + draw(&seed, MOST_CALLS);

    for (uint32_t i = 0; i < calls; i++) {
        switch (draw(&seed, 6)) {
        case 0: call(w, GT_CALL_HOST_WORK, draw(&seed, 50) * (gt_time_ps)US); break;
        case 1: call(w, GT_CALL_STREAM_SYNC, GT_TIME_NONE); break;
        case 2: copy(w, draw(&seed, 2) == 0 ? GT_H2D : GT_D2H, UINT64_C(1) << (4 + draw(&seed, 20))); break;
        default: launch(w, names[draw(&seed, 5)], 1 + draw(&seed, 2000), 2 + draw(&seed, 200)); break;
        }
    }
    call(w, GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
    return w;
}

/* Twice the bandwidth, of DRAM or of the link, never lengthens a trace of one stream; a lesser clock never shortens it. */
static void more_bandwidth_never_lengthens_one_stream(void **state)
{
    static const char *const faster[] = { "memory.dram_gbps=9628", "copy.h2d_pinned_gbps=110",
                                          "copy.d2h_pinned_gbps=110", "memory.l2_read_bytes_per_cycle=9400",
                                          "kernel=gemm*0.5" };

    (void)state;
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct gt_workload *w = draw_one_stream(seed);
        double baseline_us, slower_us;

        for (size_t i = 0; i < sizeof faster / sizeof faster[0]; i++) {
            struct gt_answer answer;
            bool has_gemm = false;

            for (uint32_t k = 0; k < w->kernel_count; k++)
                has_gemm = has_gemm || strstr(gt_name_text(w, w->kernels[k].name), "gemm") != NULL;
            if (!has_gemm && strncmp(faster[i], "kernel=", 7) == 0)
                continue;
            if (predict(w, faster[i], &baseline_us, &answer) > baseline_us * 1.0001)
                fail_msg("seed %d: %s takes %.3f us rather than %.3f", (int)seed, faster[i], answer.predicted_us,
                         baseline_us);
            gt_answer_free(&answer);
        }
        slower_us = predict_us(w, "chip.clock_mhz=990", &baseline_us);
        assert_true(slower_us >= baseline_us * 0.9999);
        gt_workload_free(w);
    }
}

/* 100 us of work before each kernel of 10 us: a GPU ten times as fast ends the last one 9 us earlier, and no more. */
static void a_host_bound_trace_gains_nothing_from_a_faster_gpu(void **state)
{
    struct gt_workload *w = begin();
    struct gt_answer answer;
    double baseline_us;

    (void)state;
    for (int i = 0; i < 20; i++) {
        call(w, GT_CALL_HOST_WORK, 100 * (gt_time_ps)US);
        launch(w, "sgemm_128x64", 528, 10);
    }
    predict(w, "chip.clock_mhz=19800", &baseline_us, &answer);
    assert_true(baseline_us > 2000 && baseline_us < 2150);
    assert_true(answer.predicted_us > baseline_us - 9 && answer.predicted_us <= baseline_us);
    assert_int_equal(answer.bound_by, GT_BOUND_BY_HOST);
    assert_true(answer.part[GT_BOUND_BY_HOST] > 0.9);
    gt_answer_free(&answer);
    gt_workload_free(w);
}

/* What bounds a run: kernels of 100 us, copies of 64 MiB (1.2 ms), launches in a row of 1 us kernels. */
static void the_critical_path_says_what_bounds(void **state)
{
    struct gt_workload *w[3] = { begin(), begin(), begin() };
    const enum gt_bound expected[3] = { GT_BOUND_BY_GPU, GT_BOUND_BY_COPY, GT_BOUND_BY_LAUNCH };

    (void)state;
    for (int i = 0; i < 10; i++) {
        launch(w[0], "sgemm_128x64", 528, 100);
        copy(w[1], GT_H2D, 64 << 20);
        for (int j = 0; j < 20; j++)
            launch(w[2], "my_kernel", 1, 1);
    }
    for (int i = 0; i < 3; i++) {
        struct gt_answer answer;
        double baseline_us, sum = 0;

        call(w[i], GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
        predict(w[i], "connections=8", &baseline_us, &answer);
        assert_int_equal(answer.bound_by, expected[i]);
        for (int j = 0; j < GT_BOUNDS_BY; j++)
            sum += answer.part[j];
        assert_true(sum > 0.999 && sum < 1.001);
        gt_answer_free(&answer);
        gt_workload_free(w[i]);
    }
}

/* Five rows of copy, two kernels and a wait, behind two calls that come once: a step is what a row takes. */
static void a_row_of_calls_that_repeats_is_a_step(void **state)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;
    struct gt_answer answer;
    double baseline_us;

    (void)state;
    launch(w, "warm_up", 1, 500);
    copy(w, GT_H2D, 100);
    for (int i = 0; i < 5; i++) {
        copy(w, GT_H2D, 1 << 20);
        launch(w, "sgemm_128x64", 528, 100);
        launch(w, "reduce_kernel", 528, 50);
        call(w, GT_CALL_STREAM_SYNC, GT_TIME_NONE);
    }
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.count, 5);
    assert_int_equal(repeats.first_call[0], 2);
    assert_int_equal(repeats.first_call[1] - repeats.first_call[0], 4);
    free(repeats.first_call);
    predict(w, "connections=8", &baseline_us, &answer);
    assert_true(answer.step_us > 170 && answer.step_us < 200); /* 150, 20 of copy, gaps and the host's turn */
    gt_answer_free(&answer);
    gt_workload_free(w);
}

/* Four steps of six layers that do the same, with `gap_us` or more of the host's own work between steps (0: as between layers), 2 to 5 us between layers. */
static struct gt_repeats repeats_of_layers(gt_time_ps gap_us)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;

    for (uint32_t i = 0; i < 24; i++) {
        launch(w, "sgemm_128x64", 528, 100);
        w->calls[w->call_count - 1].before_ps =
            (i % 6 == 0 && gap_us > 0 ? gap_us + i / 6 : 2 + (i * 2654435761u >> 30)) * US;
        launch(w, "reduce_kernel", 528, 50);
    }
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.first_call[1] - repeats.first_call[0], 2 * repeats.rows);
    free(repeats.first_call);
    gt_workload_free(w);
    return repeats;
}

static void layers_are_joined_to_steps_by_the_hosts_time(void **state)
{
    struct gt_repeats repeats = repeats_of_layers(20);

    (void)state;
    assert_int_equal(repeats.count, 4);
    assert_int_equal(repeats.rows, 6);
    repeats = repeats_of_layers(0); /* nothing tells steps from layers */
    assert_int_equal(repeats.count, 24);
    assert_int_equal(repeats.rows, 1);
}

/* cudaFree waits, and so ends a row as a synchronisation does. */
static void a_row_begins_behind_the_call_that_waits(void **state)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;

    (void)state;
    for (int step = 0; step < 4; step++) {
        launch(w, "sgemm_128x64", 528, 10);
        call(w, GT_CALL_FREE, GT_TIME_NONE);
        launch(w, "reduce_kernel", 528, 10);
    }
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.first_call[0], 2);
    assert_int_equal(repeats.count, 3);
    free(repeats.first_call);
    gt_workload_free(w);
}

/* A step is told by its rarest call, however many others come again within it; a profiler's waits at the end count for
 * nothing. */
static void the_outermost_row_is_found(void **state)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;

    (void)state;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 200; i++)
            launch(w, i % 7 == 3 ? "reduce_kernel" : "sgemm_128x64", 528, 10);
        call(w, GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
    }
    call(w, GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
    call(w, GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.count, 3);
    assert_int_equal(repeats.first_call[1] - repeats.first_call[0], 201);
    free(repeats.first_call);
    gt_workload_free(w);
}

/* Each step is a graph of its own, also where the host waits for none: four of two kernels, 150 us each. */
static void each_step_is_a_graph(void **state)
{
    struct gt_workload *w = begin();
    struct gt_answer answer;
    double baseline_us;
    uint32_t graphs = 0;

    (void)state;
    for (int i = 0; i < 4; i++) {
        launch(w, "sgemm_128x64", 528, 100);
        launch(w, "reduce_kernel", 528, 50);
    }
    call(w, GT_CALL_DEVICE_SYNC, GT_TIME_NONE);
    predict(w, "graph", &baseline_us, &answer);
    assert_true(answer.step_us > 150 && answer.step_us < 160);
    for (gt_call_index i = 0; i < answer.scenario.workload->call_count; i++)
        graphs += answer.scenario.workload->calls[i].kind == GT_CALL_GRAPH_LAUNCH;
    assert_int_equal(graphs, 4);
    gt_answer_free(&answer);
    gt_workload_free(w);
}

static void calls_that_differ_are_one_step(void **state)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;
    struct gt_steps steps;

    (void)state;
    for (int i = 0; i < 12; i++)
        launch(w, "sgemm_128x64", (uint32_t)(10 * i + 1), 10);
    assert_false(gt_repeats_find(&repeats, w));
    steps = gt_steps_find(w);
    assert_int_equal(steps.by, GT_STEPS_ONE);
    assert_int_equal(steps.count, 1);
    gt_workload_free(w);
}

/* The same recorded run, said to be a profiler's or nobody's: without the profiler's cost it is shorter, as its kernels are
 * not. */
static void what_the_profiler_cost_is_taken_off(void **state)
{
    struct gt_workload *w = begin();
    struct gt_answer answer;
    double typed_us, profiled_us;

    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        launch(w, "my_kernel", 1, 4);
        w->calls[i].start_ps = i * 40 * (gt_time_ps)US;
        w->calls[i].duration_ps = 6 * US;
        w->ops[i].start_ps = w->calls[i].start_ps + 8 * US;
    }
    w->source = gt_strdup("gridtide");
    predict_us(w, "connections=8", &typed_us);
    free(w->source);
    w->source = gt_strdup("kineto");
    predict(w, "connections=8", &profiled_us, &answer);
    assert_true(typed_us > 371 && typed_us < 373); /* 9 * 40, and the last one's 12 */
    assert_true(profiled_us < 0.8 * typed_us && profiled_us > 0.3 * typed_us);
    assert_true(answer.scenario.trust > GT_TRUST_HIGH);
    gt_answer_free(&answer);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_bandwidth_never_lengthens_one_stream),
        cmocka_unit_test(a_host_bound_trace_gains_nothing_from_a_faster_gpu),
        cmocka_unit_test(the_critical_path_says_what_bounds),
        cmocka_unit_test(a_row_of_calls_that_repeats_is_a_step),
        cmocka_unit_test(layers_are_joined_to_steps_by_the_hosts_time),
        cmocka_unit_test(the_outermost_row_is_found),
        cmocka_unit_test(a_row_begins_behind_the_call_that_waits),
        cmocka_unit_test(each_step_is_a_graph),
        cmocka_unit_test(calls_that_differ_are_one_step),
        cmocka_unit_test(what_the_profiler_cost_is_taken_off),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
