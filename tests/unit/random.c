/* Random traces: the same anywhere, all of them fit to play, corners among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"
#include "traces/io/device_file.h"
#include "validate/random/chance.h"
#include "validate/random/draw.h"
#include "validate/random/kernel_list.h"

/* SplitMix64 from state 0: the first numbers of its authors' generator. */
static void numbers_are_the_published_ones(void **state)
{
    struct gt_chance chance = { 0 };

    (void)state;
    assert_int_equal(gt_chance_bits(&chance), UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(gt_chance_bits(&chance), UINT64_C(0x6e789e6aa1b965f4));
    assert_int_equal(gt_chance_bits(&chance), UINT64_C(0x06c45d188009454f));
}

static void ranges_hold(void **state)
{
    struct gt_chance chance = gt_chance_of(7, "ranges", 0);
    uint32_t seen[4] = { 0 };

    (void)state;
    for (int i = 0; i < 4000; i++) {
        uint32_t value = gt_chance_scale(&chance, 3, 1000);

        assert_in_range(value, 3, 1000);
        seen[gt_chance_between(&chance, 0, 3)]++;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(seen[i], 800, 1200);
    assert_int_equal(gt_chance_scale(&chance, 5, 5), 5);
    for (int i = 0; i < 100; i++)
        assert_in_range(gt_chance_between(&chance, UINT32_MAX - 1, UINT32_MAX), UINT32_MAX - 1, UINT32_MAX);
}

/* FNV-1a of the texts: what a seed draws may not change, for recordings hold what was played of it. */
static uint64_t hash_of(const struct gt_draws *draws, uint32_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < count; i++) {
        char *text = gt_draw_text(draws, i);

        for (const char *c = text; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        free(text);
    }
    return hash;
}

static void a_seed_draws_the_same_traces_anywhere(void **state)
{
    struct gt_draws all, some;
    struct gt_error error = { "" };
    char *in_turn, *alone;

    (void)state;
    assert_int_equal(gt_draws_of(&all, NULL, 1, &error), 0);
    assert_int_equal(hash_of(&all, 70), UINT64_C(0xfb0dd7b03208517f));
    assert_int_equal(gt_draws_of(&some, "copies", 1, &error), 0);
    in_turn = gt_draw_text(&all, 3 + 7 * 2);
    alone = gt_draw_text(&some, 2);
    assert_string_equal(in_turn, alone);
    free(in_turn);
    free(alone);
}

/* What came later is drawn where it is asked for, and leaves the others alone. */
static void families_by_name_draw_the_same_too(void **state)
{
    static const struct {
        const char *family;
        uint64_t hash;
    } expected[] = {
        { "tasks", UINT64_C(0xdc78f9fd8240f6f7) },
        { "children", UINT64_C(0x44272916cf1e6bb3) },
        { "meetings", UINT64_C(0x44f52291552e9256) },
        { "gpus", UINT64_C(0xeb397fd522f77785) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct gt_draws draws;
        struct gt_error error = { "" };

        assert_int_equal(gt_draws_of(&draws, expected[i].family, 1, &error), 0);
        assert_int_equal(hash_of(&draws, 20), expected[i].hash);
    }
}

/* Each kernel alone, then all in their order, in the other, and the later ones behind the first. */
static void groups_are_drawn_of_a_list(void **state)
{
    static const char path[] = "random-kernels.jsonl";
    static const char *const orders[] = { "0", "1", "2", "012", "210", "0w12" };
    struct gt_kernel_list list;
    struct gt_draws draws;
    struct gt_error error = { "" };
    struct gt_workload *workload;
    FILE *file = fopen(path, "w");
    char *text, seen[32] = "";

    (void)state;
    fputs("{\"gridtide\":1,\"device\":\"h200\"}\n{\"kernel\":\"a\",\"block_us\":1}\n"
          "{\"kernel\":\"b\",\"id\":7,\"block_us\":2}\n{\"kernel\":\"c\",\"id\":\"a \\\"c\\\"\",\"block_us\":3}\n",
          file);
    fclose(file);
    assert_int_equal(gt_kernel_list_read(path, &list, &error), 0);
    remove(path);
    assert_int_equal(list.count, 3);
    assert_int_equal(gt_draws_of(&draws, "triples", 1, &error), 0);
    assert_true(gt_draws_need_list(&draws));
    draws.list = &list;
    text = gt_draw_text(&draws, 0);
    workload = gt_draw_read(text, &error);
    if (workload == NULL)
        fail_msg("%s\n%s", error.text, text);
    assert_int_equal(workload->kernel_count, 3);
    assert_int_equal(workload->op_count, 12);
    for (uint32_t i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];
        char what = 'w'; /* host work */

        if (call->ops > 0)
            what = (char)('0' + workload->ops[call->first_op].kernel);
        else if (call->kind != GT_CALL_HOST_WORK)
            what = ' ';
        seen[strlen(seen)] = what;
    }
    for (uint32_t i = 0, at = 0; i < sizeof orders / sizeof *orders; at += (uint32_t)strlen(orders[i]) + 1, i++)
        assert_memory_equal(seen + at, orders[i], strlen(orders[i]));
    gt_workload_free(workload);
    free(text);
    gt_kernel_list_free(&list);
}

static void a_list_needs_three_kernels(void **state)
{
    static const char path[] = "random-few.jsonl";
    struct gt_kernel_list list;
    struct gt_error error = { "" };
    FILE *file = fopen(path, "w");

    (void)state;
    fputs("{\"gridtide\":1,\"device\":\"h200\"}\n{\"kernel\":\"a\",\"block_us\":1}\n{\"call\":\"launch\",\"kernel\":"
          "\"a\"}\n",
          file);
    fclose(file);
    assert_int_equal(gt_kernel_list_read(path, &list, &error), -1);
    assert_non_null(strstr(error.text, "defines 1 kernels"));
    remove(path);
}

static void simulate_all(const char *families, uint32_t count)
{
    struct gt_draws draws;
    struct gt_error error = { "" };
    struct gt_device device;

    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(gt_draws_of(&draws, families, 20261122, &error), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct gt_options options = GT_OPTIONS_DEFAULT;
        struct gt_probe probe = { 0 };
        struct gt_summary summary;
        char *text = gt_draw_text(&draws, i);
        struct gt_workload *workload = gt_draw_read(text, &error);

        if (workload == NULL || gt_simulate(workload, &device, &options, &probe, &summary, &error) != 0)
            fail_msg("%s\n%s", error.text, text);
        assert_in_range(summary.end_ps, 1, UINT64_C(200) * 1000 * 1000 * 1000);
        gt_workload_free(workload);
        free(text);
    }
}

static void every_trace_can_be_simulated_to_its_end(void **state)
{
    (void)state;
    simulate_all(NULL, 350);
    simulate_all("tasks,children,meetings", 240);
    simulate_all("gpus", 120);
}

/* Each family draws all that it is about. */
static void corners_are_drawn(void **state)
{
    static const struct {
        const char *family, *text;
    } expected[] = {
        { "tasks", "\"policy\":\"shared\"" },
        { "tasks", "\"policy\":\"static\"" },
        { "tasks", "\"policy\":\"mixed\"" },
        { "tasks", "\"policy\":\"ready\"" },
        { "tasks", "\"policy\":\"steal\"" },
        { "tasks", "\"makes\"" },
        { "children", "\"into\":\"stream\"" },
        { "children", "\"into\":\"fire_and_forget\"" },
        { "children", "\"into\":\"tail\"" },
        { "children", "\"depth\":3" },
        { "meetings", "\"cooperative\":true" },
        { "meetings", "\"programmatic\":true" },
        { "meetings", "\"call\":\"poll\"" },
        { "meetings", "\"trigger_pct\"" },
        { "meetings", "\"grid_barriers\":40" },
        { "gpus", "\"from_peer\":true" },
        { "gpus", "\"peers\":[]" },
        { "gpus", "\"lock\":\"gil\"" },
        { "gpus", "\"call\":\"event_wait\"" },
        { "gpus", "\"direction\":\"p2p\",\"bytes\":4," },
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct gt_draws draws;
        struct gt_error error = { "" };
        uint32_t seen = 0;

        assert_int_equal(gt_draws_of(&draws, expected[i].family, 1, &error), 0);
        for (uint32_t number = 0; number < 100; number++) {
            char *text = gt_draw_text(&draws, number);

            seen += strstr(text, expected[i].text) != NULL;
            free(text);
        }
        if (seen < 3)
            fail_msg("%s in %u of 100 %s", expected[i].text, seen, expected[i].family);
    }
}

static void families_are_named(void **state)
{
    struct gt_draws draws;
    struct gt_error error = { "" };

    (void)state;
    assert_int_equal(gt_draws_of(&draws, "graphs,threads", 3, &error), 0);
    assert_int_equal(draws.family_count, 2);
    assert_int_equal(gt_draws_of(&draws, "graphs,thread", 3, &error), -1);
    assert_non_null(strstr(error.text, "no family 'thread'"));
    assert_non_null(strstr(error.text, "mixed"));
    assert_non_null(strstr(error.text, "meetings"));
    assert_int_equal(gt_draws_of(&draws, "", 3, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_published_ones),
        cmocka_unit_test(ranges_hold),
        cmocka_unit_test(a_seed_draws_the_same_traces_anywhere),
        cmocka_unit_test(families_by_name_draw_the_same_too),
        cmocka_unit_test(groups_are_drawn_of_a_list),
        cmocka_unit_test(a_list_needs_three_kernels),
        cmocka_unit_test(corners_are_drawn),
        cmocka_unit_test(every_trace_can_be_simulated_to_its_end),
        cmocka_unit_test(families_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
