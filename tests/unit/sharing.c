/* How processes share a GPU, as texts; SMs of partitions; events that are taken out of the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/heap.h"
#include "sim/gpu/sm_partitions.h"
#include "sim/workload/sharing.h"
#include "traces/io/device_file.h"

static struct gt_error error;

static void texts_are_read_and_written(void **state)
{
    static const char *const good[] = { "sliced",  "mps",       "mps:1",  "mps:100",
                                        "green:1", "green:132", "mig:1g", "mig:7g" };
    static const char *const bad[] = {
        "",       "slice",  "sliced:1",  "mps:",      "mps:0",  "mps:101",           "mps:5%",
        "green",  "green:", "green:0",   "MPS",       "mps:-1", "green:99999999999", "mig",
        "mig:5g", "mig:3",  "mig:3g.gb", "mig:3g.40", "mig:8g"
    };
    struct gt_sharing sharing;
    char text[GT_SHARING_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(gt_sharing_parse(good[i], strlen(good[i]), &sharing, &error), 0);
        gt_sharing_text(&sharing, text);
        assert_string_equal(text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (gt_sharing_parse(bad[i], strlen(bad[i]), &sharing, &error) != -1)
            fail_msg("'%s' was read", bad[i]);
}

static void a_text_serves_several_processes(void **state)
{
    struct gt_sharing sharings[3];

    (void)state;
    assert_int_equal(gt_sharing_parse_all("mps:50,25,100", sharings, 3, &error), 0);
    assert_int_equal(sharings[1].percent, 25);
    assert_int_equal(gt_sharing_parse_all("green:8", sharings, 3, &error), 0);
    assert_int_equal(sharings[2].green_sms, 8);
    assert_int_equal(gt_sharing_parse_all("sliced", sharings, 3, &error), 0);
    assert_int_equal(sharings[2].how, GT_SHARE_SLICED);
    assert_int_equal(gt_sharing_parse_all("mps:50,25", sharings, 3, &error), -1);
    assert_int_equal(gt_sharing_parse_all("mps:50,25,", sharings, 3, &error), -1);
    assert_int_equal(gt_sharing_parse_all("mps:,,", sharings, 3, &error), -1);
}

/* Measured on an H200 by `sharing sms` and `sharing green` (validate/scripts/sharing.cu). */
static void an_h200_gives_so_many_sms(void **state)
{
    static const uint8_t percents[][2] = { { 1, 8 },   { 5, 8 },    { 8, 10 },   { 10, 12 },  { 15, 18 },
                                           { 20, 26 }, { 25, 32 },  { 35, 46 },  { 50, 66 },  { 70, 92 },
                                           { 75, 98 }, { 90, 118 }, { 99, 130 }, { 100, 132 } };
    static const uint8_t greens[][2] = { { 1, 8 }, { 8, 8 }, { 10, 16 }, { 20, 24 }, { 100, 104 }, { 130, 132 } };
    struct gt_device device;

    (void)state;
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        struct gt_sharing sharing = { .how = GT_SHARE_MPS, .percent = percents[i][0] };

        assert_int_equal(gt_sharing_sms(&device, &sharing), percents[i][1]);
    }
    for (size_t i = 0; i < sizeof greens / sizeof *greens; i++) {
        struct gt_sharing sharing = { .how = GT_SHARE_GREEN, .green_sms = greens[i][0] };

        assert_int_equal(gt_sharing_sms(&device, &sharing), greens[i][1]);
    }
}

static bool is_odd(void *user, const struct gt_heap_event *event)
{
    *(uint32_t *)user += event->subject % 2;
    return event->subject % 2 == 1;
}

static void events_are_taken_out(void **state)
{
    struct gt_heap heap = { 0 };
    uint32_t taken = 0;

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        gt_heap_push(&heap, (struct gt_heap_event){ .time_ps = i * 37 % 100, .order = i, .subject = i * 37 % 100 });
    gt_heap_take(&heap, is_odd, &taken);
    assert_int_equal(taken, 50);
    assert_int_equal(heap.count, 50);
    for (uint32_t i = 0; i < 100; i += 2)
        assert_int_equal(gt_heap_pop(&heap).subject, i);
    gt_heap_take(&heap, is_odd, &taken);
    assert_int_equal(heap.count, 0);
    gt_heap_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_and_written),
        cmocka_unit_test(a_text_serves_several_processes),
        cmocka_unit_test(an_h200_gives_so_many_sms),
        cmocka_unit_test(events_are_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
