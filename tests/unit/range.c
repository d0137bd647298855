/* The range of a prediction: what the host's noise and the simulator's own error come to, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sim/range.h"
#include "traces/io/device_file.h"
#include "validate/random/draw.h"

/* Two launches of 1 us each, kernels of 1 us: from the first one's start to the second one's end 2 us. */
static const char text[] = "{\"gridtide\":1,\"name\":\"two\",\"device\":\"toy\"}\n"
                           "{\"kernel\":\"k\",\"grid\":1,\"block\":32,\"block_us\":1}\n"
                           "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"s\"}\n"
                           "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"t\"}\n";

static int see(void **state)
{
    struct gt_error error;

    *state = gt_draw_read(text, &error);
    return *state == NULL ? -1 : 0;
}

static int leave(void **state)
{
    gt_workload_free(*state);
    return 0;
}

static struct gt_device device_with(const char *key, const char *value)
{
    struct gt_device device;
    struct gt_error error;

    assert_int_equal(gt_device_load("toy", &device, &error), 0);
    assert_int_equal(gt_device_set(&device, key, value, &error), 0);
    return device;
}

static struct gt_makespan_range range_of(const struct gt_workload *workload, const struct gt_device *device,
                                         uint64_t seed)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    const struct gt_summary usual = { .events = 10 };
    struct gt_makespan_range range;
    struct gt_error error;

    options.seed = seed;
    if (gt_range_of(workload, device, &options, &usual, &range, &error) != 0)
        fail_msg("%s", error.text);
    return range;
}

/* Draws 1, 2, 19 and 20 of 20 lie 1.959964 and 1.439531 deviations below and above the median: calls take exp(-0.2 *
 * 1.959964) = 0.675709, 0.749833, 1.333630 and 1.479926 us. The range goes from between the first two to between the
 * last two, with the kernel's 1 us 1.712771 to 2.406778. */
static void a_run_is_slower_as_a_whole(void **state)
{
    const struct gt_device device = device_with("host.noise_run_pct", "20");
    const struct gt_makespan_range range = range_of(*state, &device, 1);

    assert_int_equal(range.draws, 20);
    assert_float_equal(range.low_us, 1.712771, 2e-5);
    assert_float_equal(range.high_us, 2.406778, 2e-5);
}

/* Between what 2.5 and 7.5 % lie below: 0.05 and 0.15 to the power of 0.1, 0.741134 and 0.827189; of 2 us, and the same above,
 * one over these. */
static void the_simulator_has_its_own_error(void **state)
{
    const struct gt_device device = device_with("scheduling.error_pct", "10");
    const struct gt_makespan_range range = range_of(*state, &device, 1);

    assert_float_equal(range.low_us, 1.568323, 2e-5);
    assert_float_equal(range.high_us, 2.558197, 2e-5);
}

static void a_seed_draws_one_range(void **state)
{
    const struct gt_device device = device_with("host.noise_call_pct", "20");
    const struct gt_makespan_range first = range_of(*state, &device, 1), again = range_of(*state, &device, 1),
                                   other = range_of(*state, &device, 2);

    assert_memory_equal(&first, &again, sizeof first);
    assert_true(first.low_us < 2 && first.high_us > 2);
    assert_true(first.low_us != other.low_us);
}

/* An interruption of 1 ms in the mean, a thousand of them a millisecond: 63 % of calls of 1 us have one. */
static void calls_are_interrupted(void **state)
{
    struct gt_device device = device_with("host.interrupts_per_ms", "1000");
    struct gt_makespan_range range;

    device.interrupt_ps = 1000000000;
    range = range_of(*state, &device, 1);
    assert_true(range.low_us == 2);
    assert_true(range.high_us > 500 && range.high_us < 10000);
}

static void without_noise_there_is_one_makespan(void **state)
{
    struct gt_device device = device_with("host.noise_run_pct", "0");
    const struct gt_makespan_range range = range_of(*state, &device, 1);

    assert_float_equal(range.low_us, 2, 1e-9);
    assert_float_equal(range.high_us, 2, 1e-9);
}

static void recorded_calls_keep_their_times(void **state)
{
    const struct gt_device device = device_with("host.noise_run_pct", "20");
    struct gt_workload *workload = *state;

    workload->calls[1].duration_ps = 1000000;
    assert_int_equal(range_of(workload, &device, 1).draws, 0);
    workload->calls[1].duration_ps = GT_TIME_NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_slower_as_a_whole),
        cmocka_unit_test(the_simulator_has_its_own_error),
        cmocka_unit_test(a_seed_draws_one_range),
        cmocka_unit_test(calls_are_interrupted),
        cmocka_unit_test(without_noise_there_is_one_makespan),
        cmocka_unit_test(recorded_calls_keep_their_times),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, see, leave);
}
