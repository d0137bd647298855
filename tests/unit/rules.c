/* The rules of the scheduler, each switched off in turn, on the traces that validate/recordings/random-2026.db.zst holds the
 * real runs of: somebody notices, and nearly all who notice have counted it. */
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
#include "validate/random/draw.h"

/* The first ones, and two in which a kernel needs what spare-carveout leaves to it, which is rare. */
enum { FIRST = 210, SEED = 2026 };
static const uint32_t further[] = { 375, 445 };
enum { TRACES = FIRST + sizeof further / sizeof further[0] };

static struct gt_workload *traces[TRACES];
static struct gt_device device;
static struct gt_summary whole[TRACES];
static gt_time_ps makespan_ps[TRACES];
static struct gt_error error;

struct span {
    gt_time_ps start_ps, end_ps;
};

static int note_op(void *user, const struct gt_op_record *record, struct gt_error *why)
{
    struct span *span = user;

    (void)why;
    span->start_ps = record->start_ps < span->start_ps ? record->start_ps : span->start_ps;
    span->end_ps = record->end_ps > span->end_ps ? record->end_ps : span->end_ps;
    return 0;
}

static gt_time_ps simulate(uint32_t trace, const struct gt_device *on, struct gt_summary *summary)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct span span = { .start_ps = GT_TIME_NONE };
    const struct gt_probe probe = { .user = &span, .op = note_op };

    if (gt_simulate(traces[trace], on, &options, &probe, summary, &error) != 0)
        fail_msg("%s", error.text);
    return span.end_ps - span.start_ps;
}

static int draw_all(void **state)
{
    struct gt_draws draws;

    (void)state;
    if (gt_device_load("h200", &device, &error) != 0 || gt_draws_of(&draws, NULL, SEED, &error) != 0)
        return -1;
    for (uint32_t i = 0; i < TRACES; i++) {
        char *text = gt_draw_text(&draws, i < FIRST ? i : further[i - FIRST]);

        traces[i] = gt_draw_read(text, &error);
        free(text);
        if (traces[i] == NULL)
            return -1;
        makespan_ps[i] = simulate(i, &device, &whole[i]);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++)
        gt_workload_free(traces[i]);
    return 0;
}

/* The device without the rule. */
static struct gt_device without(const struct gt_rule *rule)
{
    struct gt_device less = device;
    char *settings = gt_strdup(rule->off), *rest = settings, *setting;

    while ((setting = strsep(&rest, " ")) != NULL) {
        char *value = strchr(setting, '=');

        assert_non_null(value);
        *value = '\0';
        if (gt_device_set(&less, setting, value + 1, &error) != 0)
            fail_msg("rule %s: %s", rule->name, error.text);
    }
    free(settings);
    assert_int_equal(gt_device_check(&less, &error), 0);
    return less;
}

/* Rules that these traces cannot show: of recorded programs, of clusters, of kernels that meet or come early, of polls, of
 * collectives, of several processes, of more work at once than is drawn, and one that an H200 does not have unless CUPTI makes it. */
static bool is_unseen(const struct gt_rule *rule)
{
    static const char *const names[] = { "block-turns",
                                         "clusters",
                                         "launch-queue",
                                         "resident-grids",
                                         "within-alone",
                                         "cooperative",
                                         "grid-barrier",
                                         "programmatic",
                                         "poll",
                                         "collective",
                                         "lock",
                                         "link-share",
                                         "link-event-gap",
                                         "link-wait",
                                         "link-pull",
                                         "link-gap",
                                         "link-busy",
                                         "link-line",
                                         "sends-ahead",
                                         "collective-memory",
                                         "graph-executable",
                                         "code-load",
                                         "time-slice" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(rule->name, names[i]) == 0)
            return true;
    return false;
}

static void switched_off_each_is_noticed(void **state)
{
    (void)state;
    for (int rule = 0; rule < GT_RULES; rule++) {
        uint32_t fired = 0, noticed = 0, silent = 0;
        struct gt_device less;

        for (uint32_t i = 0; i < TRACES; i++)
            fired += whole[i].fired[rule] > 0;
        if (fired == 0 && !is_unseen(&gt_rules[rule]))
            fail_msg("rule %s fired in no trace", gt_rules[rule].name);
        if (fired == 0 || gt_rules[rule].off == NULL)
            continue;
        less = without(&gt_rules[rule]);
        for (uint32_t i = 0; i < TRACES; i++) {
            struct gt_summary summary;

            if (simulate(i, &less, &summary) == makespan_ps[i])
                continue;
            noticed++;
            silent += whole[i].fired[rule] == 0;
        }
        if (noticed == 0)
            fail_msg("nobody notices that rule %s is off", gt_rules[rule].name);
        if (silent > noticed / 10)
            fail_msg("%u of %u traces change without rule %s, which had not fired: it is not counted everywhere",
                     silent, noticed, gt_rules[rule].name);
        print_message("# %s: fired in %u, noticed by %u\n", gt_rules[rule].name, fired, noticed);
    }
}

/* One name, one sentence, one file each. */
static void each_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < GT_RULES; i++) {
        assert_in_range(strlen(gt_rules[i].name), 1, 40);
        assert_in_range(strlen(gt_rules[i].says), 1, 120);
        assert_non_null(strchr(gt_rules[i].file, '/'));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(gt_rules[i].name, gt_rules[j].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switched_off_each_is_noticed),
        cmocka_unit_test(each_is_told),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, draw_all, free_all);
}
