/* The key table: ranges, exact reading and writing, near names, consistency. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/devices/device.h"

static struct gt_device device;
static struct gt_error error;

static int defaults(void **state)
{
    (void)state;
    gt_device_init(&device);
    error.text[0] = '\0';
    return 0;
}

static void refuses(const char *key, const char *value, const char *reason)
{
    struct gt_device before = device;

    assert_int_equal(gt_device_set(&device, key, value, &error), -1);
    if (strstr(error.text, reason) == NULL)
        fail_msg("%s=%s: '%s' does not say '%s'", key, value, error.text, reason);
    assert_memory_equal(&device, &before, sizeof device);
}

static void takes(const char *key, const char *value, const char *shown)
{
    static char text[GT_DEVICE_VALUE_BYTES];

    if (gt_device_set(&device, key, value, &error) != 0)
        fail_msg("%s", error.text);
    gt_device_get(&device, gt_device_find_key(key), text, sizeof text);
    assert_string_equal(text, shown);
}

static void defaults_make_sense_and_read_back(void **state)
{
    char text[GT_DEVICE_VALUE_BYTES];

    (void)state;
    assert_int_equal(gt_device_check(&device, &error), 0);
    for (size_t i = 0; i < gt_device_key_count; i++) {
        gt_device_get(&device, &gt_device_keys[i], text, sizeof text);
        assert_string_equal(text, gt_device_keys[i].fallback);
    }
}

static void every_row_is_documented_and_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];

        assert_non_null(strchr(key->key, '.'));
        assert_true(strlen(key->help) > 10 && strlen(key->unit) > 0 && key->low <= key->high);
        assert_ptr_equal(gt_device_find_key(key->key), key);
    }
}

/* Of each number: its two ends are taken, one beyond is not. */
static void ranges_hold_at_their_ends(void **state)
{
    char text[64];

    (void)state;
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];

        if (key->type == GT_KEY_TEXT || key->type == GT_KEY_U32_LIST)
            continue;
        gt_device_init(&device);
        snprintf(text, sizeof text, "%.15g", key->low);
        takes(key->key, text, text);
        snprintf(text, sizeof text, "%.0f", key->high);
        takes(key->key, text, text);
        snprintf(text, sizeof text, "%.0f", key->high + 1);
        refuses(key->key, text, "outside");
        if (key->low > 0)
            refuses(key->key, "0", "outside");
        else if (key->type == GT_KEY_I32)
            refuses(key->key, "-1001", "outside");
        else
            refuses(key->key, "-1", "is not");
    }
}

static void numbers_are_read_strictly(void **state)
{
    static const char *const junk[] = { "",    " 1",  "1 ", "1x", "+1",  "0x10", "1e3",
                                        "nan", "inf", "1.", ".5", "1,5", "--1",  "\xff" };

    (void)state;
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        refuses("chip.sms", junk[i], "whole number");
        refuses("latency.launch_us", junk[i], "decimal number");
        refuses("copy.d2d_gbps", junk[i], "decimal number");
        refuses("copy.pageable_stage_bytes", junk[i], "whole number");
    }
    refuses("chip.sms", "99999999999999999999999999", "1 to 1024 SMs");
    refuses("scheduling.priority_high", "1", "-1000 to 0");
}

static void times_are_exact_to_the_picosecond(void **state)
{
    (void)state;
    takes("latency.stream_gap_us", "1.600001", "1.600001");
    assert_int_equal(device.stream_gap_ps, 1600001);
    takes("latency.stream_gap_us", "1.60", "1.6");
    takes("scheduling.dispatch_ns", "0.08", "0.08");
    assert_int_equal(device.dispatch_ps, 80);
    takes("latency.launch_us", "1000000", "1000000");
    takes("latency.launch_us", "2.0000000000", "2");
    refuses("latency.launch_us", "0.0000001", "whole picoseconds");
    refuses("latency.launch_us", "1000000.000001", "outside 0 to 1000000 us");
}

static void rates_read_back_as_they_were(void **state)
{
    (void)state;
    takes("copy.d2d_gbps", "55.3", "55.3");
    takes("copy.d2d_gbps", "0.1", "0.1");
    takes("copy.d2d_gbps", "3.3333333333333335", "3.3333333333333335");
}

static void lists_take_numbers_and_ranges(void **state)
{
    (void)state;
    takes("chip.sms", "8", "8");
    takes("chip.sm_order", "4-7, 0,2 ,1,3", "4-7,0,2,1,3");
    assert_int_equal(device.sm_order_length, 8);
    assert_int_equal(device.sm_order[4], 0);
    assert_int_equal(gt_device_check(&device, &error), 0);
    takes("chip.sm_order", "", "");
    assert_int_equal(device.sm_order_length, 0);
    refuses("chip.sm_order", "0,1,", "whole numbers or ranges");
    refuses("chip.sm_order", "3-1", "outside");
    refuses("chip.sm_order", "0-99999999999", "outside");
    refuses("chip.sm_order", "0-1023,0", "more than 1024");
    refuses("chip.gpc_sms", "0", "outside");
}

/* As clusters on an H200 told: pairs in turn, GPC 0 is full after four, those of one TPC come last.  Behind all pairs,
 * which begin at even numbers so, comes what has no other. */
static void sms_are_dealt_to_gpcs_in_pairs(void **state)
{
    static const uint8_t of_pair[66] = {
        0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,  1,
        2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11,
    };
    uint8_t gpc[GT_DEVICE_MAX_SMS];

    (void)state;
    takes("chip.sms", "132", "132");
    takes("chip.gpc_sms", "8,16,16,16,16,16,18,18,2,2,2,2", "8,16,16,16,16,16,18,18,2,2,2,2");
    gt_device_assign_gpcs(&device, gpc);
    for (int sm = 0; sm < 132; sm++)
        assert_int_equal(gpc[sm], of_pair[sm / 2]);
    takes("chip.sms", "5", "5"); /* and the GPCs are not known any more */
    gt_device_assign_gpcs(&device, gpc);
    assert_int_equal(gpc[4], 0);
    takes("chip.gpc_sms", "3,2", "3,2");
    gt_device_assign_gpcs(&device, gpc);
    assert_memory_equal(gpc, ((const uint8_t[]){ 0, 0, 1, 1, 0 }), 5);
}

static void another_number_of_sms_forgets_their_order(void **state)
{
    (void)state;
    takes("chip.sms", "2", "2");
    takes("chip.sm_order", "1,0", "1,0");
    takes("chip.gpc_sms", "1,1", "1,1");
    takes("chip.sms", "2", "2");
    assert_int_equal(device.sm_order_length, 2);
    takes("chip.sms", "3", "3");
    assert_int_equal(device.sm_order_length, 0);
    assert_int_equal(device.gpcs, 0);
}

static void a_wrong_key_names_near_ones(void **state)
{
    (void)state;
    refuses("latnecy.launch_us", "1", "latency.launch_us");
    refuses("sms", "1", "chip.sms");
    refuses("copy.h2d_gbps", "1", "copy.h2d_pinned_gbps");
    refuses("qqq", "1", "--describe");
    refuses("", "1", "there is no device key");
    refuses("chip", "1", "there is no device key");
}

static void checks_across_keys(void **state)
{
    /* clang-format off */
    static const struct { const char *key, *value, *reason; } wrong[] = {
        { "block.threads", "2049", "fits no SM" }, { "sm.threads", "4096", "sm.warps" },
        { "block.shared_bytes", "166913", "sm.shared_bytes" }, { "chip.gpc_sms", "40,39", "sums up to 79" },
        { "chip.sm_order", "0-79", NULL }, { "chip.sm_order", "0-78", "79 of the 80" },
        { "chip.sm_order", "0-78,5", "twice" }, { "chip.sm_order", "1-80", "the last one is 79" },
        { "chip.small_cpc_sms", "4,80", "the last one is 79" }, { "chip.small_cpc_sms", "4-6,5", "twice" },
        { "sm.registers", "255", "no warp" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gt_device_init(&device);
        assert_int_equal(gt_device_set(&device, wrong[i].key, wrong[i].value, &error), 0);
        assert_int_equal(gt_device_check(&device, &error), wrong[i].reason != NULL ? -1 : 0);
        if (wrong[i].reason != NULL)
            assert_non_null(strstr(error.text, wrong[i].reason));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_make_sense_and_read_back, defaults),
        cmocka_unit_test_setup(every_row_is_documented_and_unique, defaults),
        cmocka_unit_test_setup(ranges_hold_at_their_ends, defaults),
        cmocka_unit_test_setup(numbers_are_read_strictly, defaults),
        cmocka_unit_test_setup(times_are_exact_to_the_picosecond, defaults),
        cmocka_unit_test_setup(rates_read_back_as_they_were, defaults),
        cmocka_unit_test_setup(lists_take_numbers_and_ranges, defaults),
        cmocka_unit_test_setup(sms_are_dealt_to_gpcs_in_pairs, defaults),
        cmocka_unit_test_setup(another_number_of_sms_forgets_their_order, defaults),
        cmocka_unit_test_setup(a_wrong_key_names_near_ones, defaults),
        cmocka_unit_test_setup(checks_across_keys, defaults),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
