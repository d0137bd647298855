/* both_ways.h - a typed trace simulated block by block, and with waves that are alike passed over at once. */
#ifndef GRIDTIDE_TESTS_UNIT_BOTH_WAYS_H
#define GRIDTIDE_TESTS_UNIT_BOTH_WAYS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/simulate.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"

/* What a run told, in order: any record that is other, or elsewhere, gives another number. */
struct told {
    uint64_t hash, repeats;
    struct gt_summary summary;
};

static void hash_one(struct told *told, uint64_t value)
{
    told->hash = (told->hash ^ value) * UINT64_C(0x100000001b3);
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    (void)error;
    hash_one(user, record->op);
    hash_one(user, record->start_ps);
    hash_one(user, record->end_ps);
    hash_one(user, record->cause_index);
    for (int wait = 0; wait < GT_WAITS; wait++)
        hash_one(user, record->wait_ps[wait]);
    return 0;
}

static int take_blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    (void)error;
    hash_one(user, record->op);
    hash_one(user, record->sm);
    hash_one(user, record->blocks);
    hash_one(user, record->first_block);
    hash_one(user, record->start_ps);
    hash_one(user, record->end_ps);
    return 0;
}

static int take_repeat(void *user, const struct gt_repeat_record *record, struct gt_error *error)
{
    ((struct told *)user)->repeats += record->times;
    for (uint64_t i = 1; i <= record->times; i++) {
        for (uint32_t j = 0; j < record->block_records; j++) {
            struct gt_block_record one = record->blocks[j];

            one.start_ps += i * record->period_ps;
            one.end_ps += i * record->period_ps;
            one.first_block += i * record->period_blocks;
            take_blocks(user, &one, error);
        }
    }
    return 0;
}

static struct told run(const struct gt_workload *workload, const struct gt_device *device, bool at_once)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct told told = { .hash = 1 };
    struct gt_probe probe = {
        .user = &told, .op = take_op, .blocks = take_blocks, .repeat = at_once ? take_repeat : NULL
    };
    struct gt_error error = { "" };

    if (gt_simulate(workload, device, &options, &probe, &told.summary, &error) != 0)
        fail_msg("%s", error.text);
    return told;
}

static struct gt_workload *read_text(const char *text)
{
    char path[] = "/tmp/gridtide-waves-XXXXXX.jsonl";
    int fd = mkstemps(path, 6);
    struct gt_workload *workload;
    struct gt_error error = { "" };

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    workload = gt_trace_read(path, NULL, &error);
    unlink(path);
    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

/* Both ways, which must tell the same; how many periods were passed over. */
static uint64_t compare_on(const char *text, const struct gt_device *device)
{
    struct gt_workload *workload = read_text(text);
    struct told slow = run(workload, device, false), quick = run(workload, device, true);

    if (slow.hash != quick.hash || slow.summary.events != quick.summary.events ||
        slow.summary.blocks != quick.summary.blocks || slow.summary.end_ps != quick.summary.end_ps ||
        memcmp(slow.summary.fired, quick.summary.fired, sizeof slow.summary.fired) != 0)
        fail_msg("not the same on %s: %s", device->name, text);
    assert_int_equal(slow.repeats, 0);
    gt_workload_free(workload);
    return quick.repeats;
}

#endif
