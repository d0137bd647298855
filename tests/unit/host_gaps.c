/* The host's own work between its calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "validate/host_measure.h"

/* Calls of one thread: start, duration, and the work before each; it began at 100. */
static void the_hosts_own_work_lies_between_its_calls(void **state)
{
    static const struct {
        gt_time_ps start_ps, duration_ps, gap_ps;
    } calls[] = {
        { 130, 10, 30 },          { 150, 50, 10 }, { 160, 20, 0 }, /* inside the one before */
        { 210, 5, 10 },                           /* since that one's end, not since the inner one's */
        { 220, GT_TIME_NONE, 5 }, { 300, 10, 0 }, /* who can tell when the one before was over? */
        { GT_TIME_NONE, 10, 0 },  { 400, 0, 0 },   { 410, 1, 10 },
    };
    gt_time_ps at_ps = 100;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct gt_call call = { .start_ps = calls[i].start_ps, .duration_ps = calls[i].duration_ps };

        assert_int_equal(gt_host_gap_ps(&call, &at_ps), calls[i].gap_ps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hosts_own_work_lies_between_its_calls),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
