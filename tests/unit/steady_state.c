/* Huge grids: waves that are passed over at once give what they give one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/both_ways.h"

/* Both ways; how many periods were passed over. */
static uint64_t compare(const char *text, const char *device_name, const char *key, const char *value)
{
    struct gt_device device;
    struct gt_error error = { "" };

    if (gt_device_load(device_name, &device, &error) != 0 ||
        (key != NULL && gt_device_set(&device, key, value, &error) != 0))
        fail_msg("%s", error.text);
    return compare_on(text, &device);
}

/* clang-format off */
static const char *const settings[][2] = {
    { NULL, NULL }, { "scheduling.placement", "round-robin" }, { "scheduling.placement", "first-fit" },
    { "scheduling.arbitration", "backfill" }, { "scheduling.retire_ns", "0" },
    { "scheduling.retire_ns", "70" },
};
/* clang-format on */
enum { SETTINGS = sizeof settings / sizeof settings[0] };
static const char *const costs[] = { "\"block_us\":10", "\"block_us\":0.05", "\"duration_us\":12345.678" };
enum { COSTS = sizeof costs / sizeof costs[0] };

/* A grid of blocks of 64 to 1024 threads alone: whole waves and a part of one. */
static void a_grid_alone_is_the_same(void **state)
{
    static const unsigned blocks[] = { 1000, 10007, 100000, 1000001 };
    uint64_t repeats = 0;
    char text[400];

    (void)state;
    for (int i = 0; i < 4 * COSTS * SETTINGS; i++) {
        const char *const *set = settings[i % SETTINGS];

        snprintf(text, sizeof text,
                 "{\"gridtide\":1}\n{\"kernel\":\"k\",\"grid\":%u,\"block\":%d,%s}\n"
                 "{\"call\":\"launch\",\"kernel\":\"k\"}\n{\"call\":\"launch\",\"kernel\":\"k\"}\n",
                 blocks[i / SETTINGS % 4], 64 << i % 5, costs[i / SETTINGS / 4]);
        repeats += compare(text, i % 2 == 0 ? "h200" : "toy", set[0], set[1]);
    }
    assert_true(repeats > 100000);
}

/* Kernels large and small on streams of several priorities, copies between, the host's own work. */
static void append_work(char *text, size_t bytes, uint64_t *random)
{
    static const unsigned sizes[] = { 1, 40, 500, 30000, 200000, 400000 };

    for (int i = 0; i < 4; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        snprintf(text + strlen(text), bytes - strlen(text),
                 "{\"stream\":\"s%d\",\"priority\":-%u}\n"
                 "{\"kernel\":\"k%d\",\"grid\":%u,\"block\":%u,%s}\n",
                 i, (unsigned)(*random >> 60) % 3, i, sizes[(*random >> 50) % 6], 32u << (*random >> 40) % 6,
                 costs[(*random >> 30) % COSTS]);
    }
    for (int i = 0; i < 8; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        snprintf(text + strlen(text), bytes - strlen(text),
                 "{\"call\":\"launch\",\"kernel\":\"k%u\",\"stream\":\"s%u\"}\n"
                 "{\"call\":\"copy\",\"direction\":\"h2d\",\"bytes\":%u,\"memory\":\"pinned\","
                 "\"stream\":\"s%u\"}\n"
                 "{\"call\":\"host_work\",\"duration_us\":%u}\n",
                 (unsigned)(*random >> 60) % 4, (unsigned)(*random >> 55) % 4, 1u << (*random >> 45) % 28,
                 (unsigned)(*random >> 35) % 4, 1u << (*random >> 25) % 12);
    }
}

static void grids_among_others_are_the_same(void **state)
{
    uint64_t random = 1, repeats = 0;

    (void)state;
    for (int i = 0; i < 30; i++) {
        char text[4000] = "{\"gridtide\":1}\n";

        append_work(text, sizeof text, &random);
        repeats += compare(text, i % 3 == 0 ? "toy" : "h200", settings[i % SETTINGS][0], settings[i % SETTINGS][1]);
    }
    assert_true(repeats > 1000);
}

/* As many blocks as CUDA lets a row of them be: one by one they would take minutes. */
static void the_largest_grid_takes_no_time(void **state)
{
    struct gt_workload *workload =
        read_text("{\"gridtide\":1}\n{\"kernel\":\"k\",\"grid\":2147483647,\"block\":64,\"block_us\":1}\n"
                  "{\"kernel\":\"c\",\"grid\":2147483646,\"block\":256,\"cluster\":2,\"block_us\":5}\n"
                  "{\"call\":\"launch\",\"kernel\":\"k\"}\n{\"call\":\"launch\",\"kernel\":\"c\"}\n");
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .user = NULL };
    struct gt_summary summary;
    struct gt_device device;
    struct gt_error error = { "" };

    (void)state;
    alarm(60);
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(gt_simulate(workload, &device, &options, &probe, &summary, &error), 0);
    assert_int_equal(summary.blocks, UINT64_C(2147483647) + 2147483646);
    alarm(0);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_alone_is_the_same),
        cmocka_unit_test(grids_among_others_are_the_same),
        cmocka_unit_test(the_largest_grid_takes_no_time),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
