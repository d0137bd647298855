/* A recorded run in stated form, simulated without any measured time, is the replay again: every shipped recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glob.h>

#include "sim/baseline/stated.h"
#include "sim/baseline/timeline.h"
#include "traces/importers.h"
#include "traces/io/device_file.h"

/* Of the span, and of starts as a part of it. */
static const double same_part = 0.001;

static struct gt_workload *read_trace(const char *path)
{
    struct gt_import_options options = { 0 };
    struct gt_error error;
    const struct gt_importer *importer = gt_importer_find(NULL, path, &options, &error);
    struct gt_workload *workload = importer == NULL ? NULL : importer->read(path, &options, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    gt_input_close(options.input);
    return workload;
}

static void play(struct gt_timeline *timeline, const struct gt_workload *workload, const struct gt_device *device,
                 const struct gt_learned *learned)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_error error;

    options.learned = learned;
    if (gt_timeline_play(timeline, workload, device, &options, NULL, &error) != 0)
        fail_msg("%s", error.text);
}

static bool states_nothing_measured(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->call_count; i++)
        if (w->calls[i].start_ps != GT_TIME_NONE)
            return false;
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].start_ps != GT_TIME_NONE)
            return false;
    return true;
}

static double distance_us(gt_time_ps left_ps, gt_time_ps right_ps)
{
    return (left_ps > right_ps ? (double)(left_ps - right_ps) : (double)(right_ps - left_ps)) / 1e6;
}

static void hold_against_replay(const char *path, const struct gt_device *device)
{
    struct gt_workload *recorded = read_trace(path);
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_timeline replay, again;
    struct gt_stated stated;
    double furthest_us = 0;

    gt_state(&stated, recorded, device, &options);
    assert_true(states_nothing_measured(stated.workload));
    play(&replay, recorded, device, NULL);
    play(&again, stated.workload, device, &stated.learned);
    for (uint32_t i = 0; i < recorded->op_count; i++) {
        double us = distance_us(replay.ops[i].start_ps, again.ops[i].start_ps);

        furthest_us = us > furthest_us ? us : furthest_us;
    }
    if (distance_us(replay.end_ps, again.end_ps) > same_part * gt_timeline_us(&replay) ||
        furthest_us > same_part * gt_timeline_us(&replay))
        fail_msg("%s: replay %.3f us, stated %.3f us, starts up to %.3f us apart", path, gt_timeline_us(&replay),
                 gt_timeline_us(&again), furthest_us);
    gt_timeline_free(&replay);
    gt_timeline_free(&again);
    gt_workload_free(stated.workload);
    gt_workload_free(recorded);
}

static void hold_all(const char *pattern)
{
    struct gt_device device;
    struct gt_error error;
    glob_t found;
    char *paths;

    if (gt_device_load("h200", &device, &error) != 0)
        fail_msg("%s", error.text);
    paths = gt_format("%s/%s", getenv("GRIDTIDE_SOURCE"), pattern);
    assert_int_equal(glob(paths, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        hold_against_replay(found.gl_pathv[i], &device);
    globfree(&found);
    free(paths);
}

/* Streams, events, graphs of PyTorch, default streams, copies out and in; typed ones, which state what they are. */
static void samples_in_stated_form_are_their_replay(void **state)
{
    (void)state;
    hold_all("traces/samples/*.json.gz");
    hold_all("traces/samples/*.jsonl");
}

/* Graphs with branches, several threads and streams, kernels whose blocks end apart, copies beside kernels. */
static void branches_in_stated_form_are_their_replay(void **state)
{
    (void)state;
    hold_all("traces/branches/*.json.gz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_in_stated_form_are_their_replay),
        cmocka_unit_test(branches_in_stated_form_are_their_replay),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
