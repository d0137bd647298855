/* Times as text: exact to the picosecond, whatever their unit, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traces/io/decimal.h"

static void times_are_exact(void **state)
{
    /* clang-format off */
    static const struct { const char *text; int exponent; uint64_t ps; } good[] = {
        { "0", 12, 0 }, { "1", 0, 1 }, { "1.5", 3, 1500 }, { "0.001", 3, 1 }, { "1e3", 6, 1000000000 },
        { "100.0000000000000000000000", 6, 100000000 }, { "4458676983543.183", 3, 4458676983543183 },
        { "0.000000000001", 12, 1 }, { "12E-2", 3, 120 }, { "4611686018427387904", 0, GT_TIME_LIMIT_PS },
        { "0.0e99999", 0, 0 }, { "1000e-3", 0, 1 },
        /* Half a picosecond is rounded up, less is not, whatever comes behind. */
        { "1.5", 0, 2 }, { "2.5", 0, 3 }, { "0.5", 0, 1 }, { "0.49999999999999999999999999999", 0, 0 },
        { "0.0004", 3, 0 }, { "0.0005", 3, 1 }, { "9.99999", 3, 10000 }, { "15e-1", 0, 2 }, { "5e-1", 0, 1 },
        { "0.3333333333333333333333333333333333", 12, 333333333333 }, { "1e-99999999999", 12, 0 },
        { "4611686018427387904.4999", 0, GT_TIME_LIMIT_PS },
    };
    static const struct { const char *text; int exponent; const char *why; } bad[] = {
        { "-1", 3, "negative" }, { "-0.1", 0, "negative" }, { "4611686018427387904.5", 0, "too large" },
        { "4611686018427387905", 0, "too large" }, { "1e99999999999", 0, "too large" },
        { "99999999999999999999", 0, "too large" }, { "4611687", 12, "too large" },
    };
    /* clang-format on */
    struct gt_error error;
    uint64_t ps;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(
            gt_decimal_parse(good[i].text, strlen(good[i].text), good[i].exponent, GT_TIME_LIMIT_PS, &ps, &error), 0);
        assert_int_equal(ps, good[i].ps);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(
            gt_decimal_parse(bad[i].text, strlen(bad[i].text), bad[i].exponent, GT_TIME_LIMIT_PS, &ps, &error), -1);
        assert_non_null(strstr(error.text, bad[i].why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
