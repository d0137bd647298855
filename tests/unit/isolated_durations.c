/* How often the recorded run is replayed to find what operations last without contention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/replay/isolated_durations.h"
#include "sim/workload/block_cost.h"

enum { OPERATIONS = 2 };

/* Two kernels of two streams, one beginning halfway through the other. */
static struct gt_workload *make_overlap(gt_time_ps duration_ps)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t stream = gt_workload_add_stream(w), call = gt_workload_add_call(w), op = gt_workload_add_op(w);

        w->calls[call].stream = w->ops[op].stream = stream;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].start_ps = i * duration_ps / 2;
        w->ops[op].duration_ps = duration_ps;
    }
    return w;
}

/* A player that gives each operation what it is told to last, times `slower`. */
struct playing {
    const struct gt_workload *workload;
    double slower;
    int plays;
    gt_time_ps shortest_ps; /* that anything was told to last */
    uint64_t too_short;
};

static int play(void *user, const struct gt_isolated *isolated, bool at_recorded, const struct gt_probe *probe,
                struct gt_error *error)
{
    struct playing *playing = user;

    playing->plays += !at_recorded;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        gt_time_ps own_ps = isolated->duration_ps[i];
        struct gt_op_record record = { .op = i };

        if (own_ps == GT_TIME_NONE)
            own_ps = playing->workload->ops[i].duration_ps;
        record.end_ps = (gt_time_ps)((double)own_ps * playing->slower);
        if (own_ps < playing->shortest_ps)
            playing->shortest_ps = own_ps;
        if (probe->op(probe->user, &record, error) != 0)
            return -1;
    }
    return 0;
}

static struct playing learn(gt_time_ps duration_ps, double slower)
{
    struct playing playing = { make_overlap(duration_ps), slower, 0, GT_TIME_NONE, 0 };
    struct gt_isolated isolated;

    gt_isolated_learn(&isolated, playing.workload, play, &playing);
    assert_non_null(isolated.duration_ps);
    playing.too_short = isolated.too_short;
    gt_isolated_free(&isolated);
    gt_workload_free((struct gt_workload *)playing.workload);
    return playing;
}

/* Kernels of 100 us. */
static int plays_at(double slower)
{
    return learn(100000000, slower).plays;
}

static void ends_where_the_recorded_durations_come_back(void **state)
{
    (void)state;
    assert_int_equal(plays_at(1), 1);
}

/* Played at half its time, an operation would have to be longer than recorded, which none gets: the next
 * replay would be the first again. */
static void ends_where_nothing_would_change(void **state)
{
    (void)state;
    assert_int_equal(plays_at(0.5), 1);
}

/* At five times its time it swings about the answer, 20 us, and does not come to rest: 100, 2 (the shortest
 * there is), 65, 2, ... */
static void ends_after_a_dozen_at_most(void **state)
{
    (void)state;
    assert_int_equal(plays_at(5), 12);
}

/* Of 2 us, played at twice their time: 1 us each would give them back, but an empty kernel takes 1.2. */
static void none_gets_shorter_than_an_empty_kernel(void **state)
{
    struct playing playing = learn(2000000, 2);

    (void)state;
    assert_int_equal(playing.shortest_ps, 1200000);
    assert_int_equal(playing.too_short, OPERATIONS);
}

/* Recorded at 0.8 us, it can be so short; and as nothing slows it down, nothing is amiss. */
static void a_kernel_recorded_shorter_stays_so(void **state)
{
    struct playing playing = learn(800000, 1);

    (void)state;
    assert_int_equal(playing.shortest_ps, 800000);
    assert_int_equal(playing.too_short, 0);
    playing = learn(800000, 2);
    assert_int_equal(playing.shortest_ps, 800000);
    assert_int_equal(playing.too_short, OPERATIONS);
}

/* The second kernel begins as soon as the first block of the first one has ended, after 60 us as recorded. */
static int play_in_turn(void *user, const struct gt_isolated *isolated, bool at_recorded,
                        const struct gt_probe *probe, struct gt_error *error)
{
    const double *early = isolated->ends.early_part;
    gt_time_ps gone_ps = 100000000 - (early == NULL ? 0 : (gt_time_ps)(early[0] * 100000000));
    struct gt_op_record first = { .op = 0, .end_ps = 100000000 };
    struct gt_op_record second = { .op = 1, .start_ps = gone_ps, .end_ps = gone_ps + 100000000 };

    (void)at_recorded;
    *(gt_time_ps *)user = gone_ps;
    second.wait_ps[GT_WAIT_RESOURCE] = 50000000;
    second.cause = GT_CAUSE_OP;
    return probe->op(probe->user, &first, error) != 0 ? -1 : probe->op(probe->user, &second, error);
}

static void an_early_start_tells_how_far_apart_blocks_end(void **state)
{
    struct gt_workload *w = make_overlap(100000000);
    struct gt_kernel kernel = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    struct gt_isolated isolated;
    gt_time_ps gone_ps;

    (void)state;
    w->ops[0].kernel = w->ops[1].kernel = gt_workload_kernel(w, &kernel);
    w->ops[1].start_ps = 60000000;
    gt_isolated_learn(&isolated, w, play_in_turn, &gone_ps);
    assert_true(isolated.ends.early_part[0] > 0.395 && isolated.ends.early_part[0] < 0.405);
    assert_true(gone_ps > 59500000 && gone_ps < 60500000);
    gt_isolated_free(&isolated);
    gt_workload_free(w);
}

/* Three streams: a kernel that lasts 100 us ran alone in the first; then in each of the other two the same kernel ran for
 * 170 and for 240 us, beside the other.  Without the one that ran `alone` only these two. */
static struct gt_workload *make_alike(bool alone)
{
    static const gt_time_ps starts_us[] = { 0, 200, 200 }, last_us[] = { 100, 170, 240 };
    struct gt_workload *w = gt_workload_new();
    struct gt_kernel kernel = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = alone ? 0 : 1; i < 3; i++) {
        uint32_t stream = gt_workload_add_stream(w), call = gt_workload_add_call(w), op = gt_workload_add_op(w);

        w->calls[call].stream = w->ops[op].stream = stream;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].kernel = gt_workload_kernel(w, &kernel);
        w->ops[op].start_ps = starts_us[i] * 1000000;
        w->ops[op].duration_ps = last_us[i] * 1000000;
    }
    return w;
}

/* Beside others each takes as long again as it does alone, as these have it. */
static int play_twice_as_long(void *user, const struct gt_isolated *isolated, bool at_recorded,
                              const struct gt_probe *probe, struct gt_error *error)
{
    const struct gt_workload *w = user;

    (void)at_recorded;
    for (gt_op_index i = 0; i < w->op_count; i++) {
        gt_time_ps own_ps = isolated->duration_ps[i];
        struct gt_op_record record = { .op = i };

        record.end_ps = own_ps == GT_TIME_NONE ? w->ops[i].duration_ps : 2 * own_ps;
        if (probe->op(probe->user, &record, error) != 0)
            return -1;
    }
    return 0;
}

static void the_same_work_lasts_what_it_lasted_alone(void **state)
{
    struct gt_workload *w = make_alike(true);
    struct gt_isolated isolated;

    (void)state;
    gt_isolated_learn_equivalent(&isolated, w, play_twice_as_long, w);
    assert_true(isolated.duration_ps[0] == GT_TIME_NONE); /* as recorded */
    assert_int_equal(isolated.duration_ps[1], 100000000);
    assert_int_equal(isolated.duration_ps[2], 100000000);
    gt_isolated_free(&isolated);
    gt_workload_free(w);
}

/* Of 170 and 240 us it can be no more than 170 alone; 85 give the faster one back. */
static void the_same_work_lasts_equally_long_if_it_never_ran_alone(void **state)
{
    struct gt_workload *w = make_alike(false);
    struct gt_isolated isolated;

    (void)state;
    gt_isolated_learn_equivalent(&isolated, w, play_twice_as_long, w);
    assert_int_equal(isolated.duration_ps[0], isolated.duration_ps[1]);
    assert_true(isolated.duration_ps[0] > 80000000 && isolated.duration_ps[0] < 125000000);
    gt_isolated_free(&isolated);
    gt_workload_free(w);
}

/* Four blocks, the last two of them in the last wave. */
static void blocks_of_the_last_wave_end_evenly_spread(void **state)
{
    (void)state;
    assert_int_equal(gt_block_early_ps(1000, 0, 2), 0);
    assert_int_equal(gt_block_early_ps(1000, 1, 2), 0);
    assert_int_equal(gt_block_early_ps(1000, 2, 2), 0);
    assert_int_equal(gt_block_early_ps(1000, 3, 2), 618);
    assert_int_equal(gt_block_early_ps(1000, 4, 2), 236); /* 1236 less a whole range */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_where_the_recorded_durations_come_back),
        cmocka_unit_test(ends_where_nothing_would_change),
        cmocka_unit_test(the_same_work_lasts_what_it_lasted_alone),
        cmocka_unit_test(the_same_work_lasts_equally_long_if_it_never_ran_alone),
        cmocka_unit_test(ends_after_a_dozen_at_most),
        cmocka_unit_test(none_gets_shorter_than_an_empty_kernel),
        cmocka_unit_test(a_kernel_recorded_shorter_stays_so),
        cmocka_unit_test(an_early_start_tells_how_far_apart_blocks_end),
        cmocka_unit_test(blocks_of_the_last_wave_end_evenly_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
