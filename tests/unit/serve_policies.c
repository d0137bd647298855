/* Dispatch policies, asked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/serve/policy.h"

enum { CRITICAL, OTHER };
static struct gt_tenant tenants[] = {
    [CRITICAL] = { .critical = true, .alone_ps = 1000000 }, [OTHER] = { .alone_ps = 500 }
};
static struct gt_load load = { .tenants = tenants, .tenant_count = 2 };
static const double parameters[GT_NAMED_PARAMETERS] = { 66, 2.5 }; /* SMs; % of 1000000 ps: 25000 */

static bool orion(struct gt_policy_view view, struct gt_policy_kernel kernel)
{
    view.load = &load;
    view.parameters = parameters;
    kernel.tenant = OTHER;
    return gt_policy_orion_launch(&view, &kernel);
}

static void orion_lets_what_complements_a_critical_kernel(void **state)
{
    const struct gt_policy_kernel computes = { .sms = 66, .profiled = true, .duration_ps = 20000 },
                                  moves = { .sms = 66, .profiled = true, .memory_bound = true, .duration_ps = 20000 },
                                  large = { .sms = 67, .profiled = true, .memory_bound = true },
                                  unknown = { .sms = 1 };
    const struct gt_policy_view beside = { .critical_kernels = 1, .latest_critical = computes };

    (void)state;
    assert_true(orion(beside, moves));
    assert_false(orion(beside, computes));
    assert_false(orion(beside, large));
    assert_false(orion(beside, unknown));
    assert_true(orion((struct gt_policy_view){ 0 }, large));
    assert_true(gt_policy_orion_launch(&(struct gt_policy_view){ .load = &load, .parameters = parameters },
                                       &(struct gt_policy_kernel){ .tenant = CRITICAL }));
}

static void orion_limits_what_is_outstanding(void **state)
{
    const struct gt_policy_kernel kernel = { .duration_ps = 20000 };

    (void)state;
    assert_true(orion((struct gt_policy_view){ .best_effort_kernels = 1, .best_effort_ps = 5000 }, kernel));
    assert_false(orion((struct gt_policy_view){ .best_effort_kernels = 1, .best_effort_ps = 5001 }, kernel));
    assert_true(orion((struct gt_policy_view){ .best_effort_ps = 99999 }, kernel)); /* one is always let through */
}

static void a_gate_is_shut_while_critical_requests_are_there(void **state)
{
    const struct gt_policy_kernel other = { .tenant = OTHER }, critical = { .tenant = CRITICAL };

    (void)state;
    assert_true(gt_policy_gate_launch(&(struct gt_policy_view){ .load = &load }, &other));
    assert_false(gt_policy_gate_launch(&(struct gt_policy_view){ .load = &load, .critical = 1 }, &other));
    assert_false(gt_policy_gate_launch(&(struct gt_policy_view){ .load = &load, .best_effort_kernels = 1 }, &other));
    assert_true(gt_policy_gate_launch(&(struct gt_policy_view){ .load = &load, .critical = 1 }, &critical));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orion_lets_what_complements_a_critical_kernel),
        cmocka_unit_test(orion_limits_what_is_outstanding),
        cmocka_unit_test(a_gate_is_shut_while_critical_requests_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
