/* The ranks of one job joined: clocks that are apart and drift, whose collectives belong together, what cannot be of one job. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/collective.h"
#include "tests/unit/imported.h"
#include "traces/ranks/ranks.h"

enum { MOST = 8 };

/* A rank's clock shows `at` as at * (1 + rate) + ahead. */
struct clock {
    double ahead_us, rate;
};

static struct gt_error error;
static uint64_t seed;

/* From 0 to 1, the same each time. */
static double drawn(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static gt_time_ps shown_ps(const struct clock *clock, double at_us)
{
    return (gt_time_ps)llround((at_us * (1 + clock->rate) + clock->ahead_us) * 1000) * 1000;
}

static void begin(struct gt_rank *rank, uint32_t number)
{
    struct gt_workload *w = gt_workload_new();
    char *path = gt_format("rank%u.json", number);
    gt_gpu_index gpu = gt_workload_add_gpu(w);
    gt_stream_index stream = gt_workload_add_stream(w);
    gt_thread_index thread = gt_workload_add_thread(w);

    memset(rank, 0, sizeof *rank);
    rank->workload = w;
    rank->notes.rank = number;
    w->path = path;
    w->gpus[gpu].id = 0;
    w->streams[stream].gpu = gpu;
    w->streams[stream].id = 20;
    w->threads[thread].process = 100 + number;
}

/* A part of a collective of `group` ("": the recording does not say), from `start_us` to `end_us` by a clock that is right. */
static void add(struct gt_rank *rank, const struct clock *clock, const char *group, uint32_t size, uint64_t sequence,
                double start_us, double end_us)
{
    static const char name[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    struct gt_workload *w = rank->workload;
    gt_call_index call = gt_workload_add_call(w);
    gt_op_index op = gt_workload_add_op(w);
    struct gt_collective_note *note = gt_collective_notes_add(&rank->notes, op, GT_ALL_REDUCE);
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 },
        .block = { 32, 1, 1 },
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .duration_ps = GT_TIME_NONE,
    };

    kernel.name = gt_name(w, name, sizeof name - 1);
    w->calls[call].kind = GT_CALL_LAUNCH;
    w->calls[call].stream = 0;
    w->calls[call].first_op = op;
    w->calls[call].ops = 1;
    w->calls[call].start_ps = shown_ps(clock, start_us - 5);
    w->calls[call].duration_ps = shown_ps(clock, start_us) - w->calls[call].start_ps;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].call = call;
    w->ops[op].stream = 0;
    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
    w->ops[op].start_ps = shown_ps(clock, start_us);
    w->ops[op].duration_ps = shown_ps(clock, end_us) - w->ops[op].start_ps;
    note->bytes = 1 << 20;
    note->sequence = sequence;
    note->group = group[0] != '\0' ? gt_name(w, group, strlen(group)) : GT_NONE;
    note->group_size = size;
}

static struct gt_workload *join(struct gt_rank *ranks, uint32_t count)
{
    struct gt_workload *w = gt_ranks_join(ranks, count, &error);

    if (w == NULL)
        fail_msg("%s", error.text);
    return w;
}

/* The end of the operation number `number` on that GPU; us. */
static double end_us(const struct gt_workload *w, gt_gpu_index gpu, uint32_t number)
{
    for (gt_op_index i = 0; i < w->op_count; i++)
        if (w->streams[w->ops[i].stream].gpu == gpu && number-- == 0)
            return (double)gt_op_measured_end(&w->ops[i]) / 1e6;
    fail();
    return 0;
}

/* No thread's call begins before the one before it is over: stretching a clock keeps what was in order. */
static void assert_in_order(const struct gt_workload *w)
{
    gt_time_ps last_ps[MOST] = { 0 };

    for (gt_call_index i = 0; i < w->call_count; i++) {
        assert_true(w->calls[i].start_ps >= last_ps[w->calls[i].thread]);
        last_ps[w->calls[i].thread] = gt_call_measured_end(&w->calls[i]);
    }
}

/* Two ranks with `count` collectives over `span_us`, each of which ends within `noise_us` on both, but for one in ten of
 * which one rank's end was recorded up to 300 us late.  How far those that are not odd end apart at most, once joined. */
static double apart_us(uint32_t count, double span_us, double noise_us, struct clock other, uint64_t *drifting)
{
    const struct clock right = { 0, 0 };
    struct gt_rank ranks[2];
    struct gt_workload *w;
    bool *odd = calloc(count, sizeof *odd);
    double most = 0;

    begin(&ranks[0], 0);
    begin(&ranks[1], 1);
    for (uint32_t i = 0; i < count; i++) {
        double at_us = 1000 + span_us * (i + 0.2 * drawn()) / count;

        odd[i] = drawn() < 0.1;
        add(&ranks[0], &right, "world", 2, i, at_us, at_us + 50 + noise_us * drawn());
        add(&ranks[1], &other, "world", 2, i, at_us + 20 * drawn(),
            at_us + 50 + noise_us * drawn() + (odd[i] ? 300 * drawn() : 0));
    }
    w = join(ranks, 2);
    *drifting = warnings(w, "clocks-drift");
    assert_int_equal(warnings(w, "collectives-alone"), 0);
    assert_in_order(w);
    for (uint32_t i = 0; i < count; i++)
        if (!odd[i])
            most = fmax(most, fabs(end_us(w, 0, i) - end_us(w, 1, i)));
    free(odd);
    gt_workload_free(w);
    return most;
}

static void clocks_that_are_apart_are_brought_together(void **state)
{
    uint64_t drifting;

    (void)state;
    seed = 1;
    assert_true(apart_us(40, 1e5, 1, (struct clock){ 0, 0 }, &drifting) < 1.6);
    assert_int_equal(drifting, 0);
    assert_true(apart_us(40, 1e5, 1, (struct clock){ 5e6, 0 }, &drifting) < 1.6);
    assert_int_equal(drifting, 0);
    assert_true(apart_us(3, 1e4, 1, (struct clock){ 77.7, 0 }, &drifting) < 1.6);
    assert_int_equal(drifting, 0);
}

static void a_clock_that_runs_faster_is_told_from_one_that_is_ahead(void **state)
{
    uint64_t drifting;

    (void)state;
    seed = 2;
    assert_true(apart_us(200, 2e6, 1, (struct clock){ 1234.5, 20e-6 }, &drifting) < 2);
    assert_int_equal(drifting, 1);
    assert_true(apart_us(200, 2e6, 1, (struct clock){ 0, -8e-6 }, &drifting) < 2);
    assert_int_equal(drifting, 1);
    assert_true(apart_us(2000, 6e7, 2, (struct clock){ 9e6, 100e-6 }, &drifting) < 4);
    assert_int_equal(drifting, 1);
}

/* Whatever is drawn: ends agree about as well as they were recorded, and no clock is stretched that did not drift. */
static void drawn_clocks_agree(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        struct clock clock;
        double noise_us, span_us, apart;
        uint32_t count;
        uint64_t drifting;

        seed = 1000 + i;
        clock.ahead_us = 1e7 * drawn();
        clock.rate = drawn() < 0.4 ? 0 : 2e-4 * (drawn() - 0.5);
        noise_us = 2 * drawn();
        span_us = 1e4 * pow(10, 3 * drawn());
        count = 12 + (uint32_t)(300 * drawn());
        apart = apart_us(count, span_us, noise_us, clock, &drifting);
        /* what is left of a drift that is not told stays below the 2 us from which on it is looked for, and noise */
        if (apart > 3 + 3 * noise_us)
            fail_msg("draw %u: %.2f us apart, %u ends over %.0f us, rate %.1e, noise %.2f us", (unsigned)i, apart,
                     (unsigned)count, span_us, clock.rate, noise_us);
        if (clock.rate == 0)
            assert_int_equal(drifting, 0);
    }
}

/* Rank 2 shares collectives with rank 1 alone, whose clock is known by those with rank 0. */
static void clocks_are_passed_on_along_groups(void **state)
{
    const struct clock clocks[3] = { { 0, 0 }, { 400, 30e-6 }, { 90000, -50e-6 } };
    struct gt_rank ranks[3];
    struct gt_workload *w;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        begin(&ranks[i], i);
    for (uint32_t i = 0; i < 60; i++) {
        double at_us = 1000 + 20000 * i;

        add(&ranks[0], &clocks[0], "a", 2, i, at_us, at_us + 50);
        add(&ranks[1], &clocks[1], "a", 2, i, at_us + 9, at_us + 50.5);
        add(&ranks[1], &clocks[1], "b", 2, i, at_us + 100, at_us + 150);
        add(&ranks[2], &clocks[2], "b", 2, i, at_us + 90, at_us + 150.4);
    }
    w = join(ranks, 3);
    assert_int_equal(warnings(w, "clocks-drift"), 2);
    assert_int_equal(w->group_count, 2);
    for (uint32_t i = 0; i < 60; i++) {
        assert_true(fabs(end_us(w, 0, i) - end_us(w, 1, 2 * i)) < 1.5);
        assert_true(fabs(end_us(w, 1, 2 * i + 1) - end_us(w, 2, i)) < 1.5);
    }
    gt_workload_free(w);
}

/* Kernels whose launches came before the recording have no operator that says what they are; rank 1 has two more of them. */
static void what_was_asked_for_before_the_recording_is_of_its_streams_group(void **state)
{
    const struct clock right = { 0, 0 };

    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        struct gt_rank ranks[2];
        struct gt_workload *w;

        for (uint32_t r = 0; r < 2; r++) {
            begin(&ranks[r], r);
            for (uint32_t i = r == 0 ? 2 : 0; i < 12; i++)
                add(&ranks[r], &right, i < 5 ? "" : "world", i < 5 ? 0 : 2,
                    i < 5 || !numbered ? GT_SEQUENCE_NONE : 70 + i, 1000 * i + 10 * r, 1000 * i + 50);
        }
        w = join(ranks, 2);
        assert_int_equal(w->group_count, 1);
        assert_int_equal(warnings(w, "collectives-alone"), 2);
        gt_workload_free(w);
    }
}

static void files_that_are_not_of_one_job_are_refused_by_name(void **state)
{
    const struct clock right = { 0, 0 };
    struct gt_rank ranks[2];

    (void)state;
    for (uint32_t what = 0; what < 3; what++) {
        for (uint32_t r = 0; r < 2; r++) {
            begin(&ranks[r], r);
            add(&ranks[r], &right, "world", 2, 0, 1000, 1050);
            ranks[r].notes.has_origin = true;
        }
        if (what == 0)
            ranks[1].notes.rank = 0;
        else if (what == 1)
            ranks[0].notes.ranks = 2, ranks[1].notes.ranks = 8;
        else
            ranks[1].notes.origin_ns = INT64_MAX, ranks[0].notes.origin_ns = INT64_MIN;
        assert_null(gt_ranks_join(ranks, 2, &error));
        assert_non_null(strstr(error.text, "rank0.json"));
        assert_non_null(strstr(error.text, "rank1.json"));
    }
}

/* A job whose hosts' clocks are half an hour apart is one all the same; the ranks that are not given are counted. */
static void what_a_job_lacks_is_told(void **state)
{
    const struct clock right = { 0, 0 };
    struct gt_rank ranks[2];
    struct gt_workload *w;

    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        begin(&ranks[r], 2 * r);
        for (uint32_t i = 0; i < 5; i++)
            add(&ranks[r], &right, "world", 4, i, 1000 * i + 1000, 1000 * i + 1050);
        ranks[r].notes.has_origin = true;
        ranks[r].notes.origin_ns = INT64_C(1800000000000) * r;
    }
    w = join(ranks, 2);
    assert_int_equal(warnings(w, "ranks-missing"), 2);
    assert_int_equal(warnings(w, "collectives-alone"), 10);
    assert_int_equal(w->group_count, 0);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_are_apart_are_brought_together),
        cmocka_unit_test(a_clock_that_runs_faster_is_told_from_one_that_is_ahead),
        cmocka_unit_test(drawn_clocks_agree),
        cmocka_unit_test(clocks_are_passed_on_along_groups),
        cmocka_unit_test(what_was_asked_for_before_the_recording_is_of_its_streams_group),
        cmocka_unit_test(files_that_are_not_of_one_job_are_refused_by_name),
        cmocka_unit_test(what_a_job_lacks_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
