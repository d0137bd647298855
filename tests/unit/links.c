/* Which link lies between which GPUs: the text of link.pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/devices/links.h"

static struct gt_device device;
static struct gt_error error;

static int defaults(void **state)
{
    (void)state;
    gt_device_init(&device);
    device.p2p = (struct gt_copy_cost){ 1, 100 };
    device.link_pcie = (struct gt_copy_cost){ 2, 20 };
    device.link_host = (struct gt_copy_cost){ 3, 10 };
    return 0;
}

static void pairs(const char *text)
{
    if (gt_device_set(&device, "link.pairs", text, &error) != 0 || gt_device_check(&device, &error) != 0)
        fail_msg("%s", error.text);
}

static void expect(uint32_t from, uint32_t to, enum gt_link_kind kind, double gbps)
{
    struct gt_link link = gt_link_between(&device, from, to);

    assert_int_equal(link.kind, kind);
    assert_float_equal(link.cost.gbps, gbps, 0);
    assert_int_equal(link.cost.latency_ps, kind + 1);
}

static void one_word_holds_for_all(void **state)
{
    (void)state;
    expect(0, 1, GT_LINK_NVLINK, 100);
    pairs("pcie");
    expect(7, 3, GT_LINK_PCIE, 20);
    pairs("host");
    expect(255, 0, GT_LINK_HOST, 10);
}

static void pairs_differ_by_direction(void **state)
{
    (void)state;
    pairs("nvlink 0-2=pcie,1>3=host:12.5  10>0=nvlink:50");
    expect(0, 1, GT_LINK_NVLINK, 100);
    expect(0, 2, GT_LINK_PCIE, 20);
    expect(2, 0, GT_LINK_PCIE, 20);
    expect(1, 3, GT_LINK_HOST, 12.5);
    expect(3, 1, GT_LINK_NVLINK, 100);
    expect(10, 0, GT_LINK_NVLINK, 50);
    expect(0, 10, GT_LINK_NVLINK, 100);
}

static void the_last_word_counts(void **state)
{
    (void)state;
    pairs("host 0-1=pcie:30 0>1=nvlink");
    expect(0, 1, GT_LINK_NVLINK, 100);
    expect(1, 0, GT_LINK_PCIE, 30);
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const char *const junk[] = {
        " ",
        "nv",
        "nvlinks",
        "nvlink:3",
        " nvlink",
        "nvlink 0",
        "nvlink 0-",
        "nvlink 0-1",
        "nvlink 0-1=",
        "nvlink 0-1=usb",
        "nvlink 0=1=pcie",
        "nvlink 1-1=pcie",
        "nvlink -1=x",
        "nvlink 0-1=pcie:",
        "nvlink 0-1=pcie:0",
        "nvlink 0-1=pcie:1.2.3",
        "nvlink 0-1=pcie:.5",
        "nvlink 0-1=pcie:1e3",
        "nvlink 0-1=pcie:99999999",
        "nvlink 0-1=pcie;0-2=pcie",
        "nvlink 0-1=pcie:5x",
        "nvlink 0-1234=pcie",
        "nvlink 0-1=pcie:1111111111111111111",
    };

    (void)state;
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        defaults(NULL);
        if (gt_device_set(&device, "link.pairs", junk[i], &error) == 0 && gt_device_check(&device, &error) == 0)
            fail_msg("'%s' was taken", junk[i]);
        assert_non_null(strstr(error.text, "link.pairs"));
    }
}

/* A written text, and its prefixes: read or refused, and asked for either way. */
static void any_prefix_is_safe(void **state)
{
    static const char text[] = "nvlink 0-2=pcie 1>3=host:12.5 200>199=nvlink:450";
    char part[sizeof text];

    (void)state;
    for (size_t length = 1; length < sizeof text; length++) {
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        assert_int_equal(gt_device_set(&device, "link.pairs", part, &error), 0);
        if (gt_device_check(&device, &error) == 0)
            assert_true(gt_link_between(&device, 0, 2).cost.gbps > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_word_holds_for_all, defaults),
        cmocka_unit_test_setup(pairs_differ_by_direction, defaults),
        cmocka_unit_test_setup(the_last_word_counts, defaults),
        cmocka_unit_test_setup(what_makes_no_sense_is_refused, defaults),
        cmocka_unit_test_setup(any_prefix_is_safe, defaults),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
