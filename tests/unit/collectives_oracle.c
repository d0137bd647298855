/* Random programs of several GPUs with collectives and messages against an oracle that knows nothing of the simulator: each
 * operation starts when its launch and the one before it in its stream allow, each instance ends its time after its last
 * part has started, and this is worked out over and over until nothing changes.  What has no time then never ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"
#include "sim/workload/collective.h"
#include "traces/io/device_file.h"

enum { CASES = 400, MOST_RANKS = 4, STREAMS = 2, GROUPS = 2, MOST_OPS = 80 };
static const gt_time_ps us = 1000000;

/* xorshift64*: any sequence will do, so long as it is always the same. */
static uint64_t state_of_chance;
static uint32_t draw(uint32_t below)
{
    state_of_chance ^= state_of_chance >> 12;
    state_of_chance ^= state_of_chance << 25;
    state_of_chance ^= state_of_chance >> 27;
    return (uint32_t)((state_of_chance * UINT64_C(2685821657736338717)) >> 33) % below;
}

static void launch(struct gt_workload *w, uint32_t kernel, uint32_t stream, gt_time_ps duration_ps)
{
    uint32_t call = gt_workload_add_call(w), op = gt_workload_add_op(w);

    w->calls[call].kind = GT_CALL_LAUNCH;
    w->calls[call].stream = w->ops[op].stream = stream;
    w->calls[call].ops = 1;
    w->ops[op].call = call;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = kernel;
    w->ops[op].duration_ps = duration_ps;
}

static uint32_t kernel_of(struct gt_workload *w, const struct gt_collective *collective)
{
    struct gt_kernel kernel = { .name = gt_name(w, "k", 1),
                                .grid = { 1, 1, 1 },
                                .block = { 1, 1, 1 },
                                .runs = GT_NONE,
                                .arguments = GT_NONE,
                                .duration_ps = GT_TIME_NONE };

    if (collective != NULL)
        kernel.collective = *collective;
    return gt_workload_kernel(w, &kernel);
}

static void add_plain(struct gt_workload *w, uint32_t ranks)
{
    launch(w, kernel_of(w, NULL), draw(ranks) * STREAMS + draw(STREAMS), (1 + draw(30)) * us);
}

static void add_message(struct gt_workload *w, uint32_t ranks)
{
    uint32_t from = draw(ranks), to = (from + 1 + draw(ranks - 1)) % ranks;
    struct gt_collective send = gt_collective_of(GT_SEND_RECV, 0, 64), get = send;

    send.to = to;
    get.from = from;
    if (draw(3) == 0) { /* both ways at once */
        send.from = to;
        get.to = from;
    }
    launch(w, kernel_of(w, &send), from * STREAMS + draw(STREAMS), (1 + draw(20)) * us);
    launch(w, kernel_of(w, &get), to * STREAMS + draw(STREAMS), (1 + draw(20)) * us);
}

/* Its parts in the order of the ranks; of the last one now and then one never comes. */
static void add_collective(struct gt_workload *w, uint32_t ranks, uint32_t kind, bool last)
{
    struct gt_collective collective = gt_collective_of(kind, draw(w->group_count), 1024);
    const struct gt_group *group = &w->groups[collective.group];
    uint32_t stream = draw(STREAMS), missing = last && draw(4) == 0 ? draw(ranks) : ranks;

    for (uint32_t i = 0; i < group->size; i++)
        if (group->members[i] != missing)
            launch(w, kernel_of(w, &collective),
                   group->members[i] * STREAMS + (draw(8) == 0 ? draw(STREAMS) : stream), (1 + draw(20)) * us);
}

static struct gt_workload *draw_workload(uint64_t seed)
{
    struct gt_workload *w = gt_workload_new();
    uint32_t ranks, all[MOST_RANKS], steps;

    state_of_chance = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    ranks = 2 + draw(MOST_RANKS - 1);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < ranks; i++) {
        all[i] = gt_workload_add_gpu(w);
        w->gpus[i].id = i;
        for (uint32_t j = 0; j < STREAMS; j++) {
            uint32_t stream = gt_workload_add_stream(w);

            w->streams[stream].gpu = i;
            w->streams[stream].id = stream + 1;
            w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
        }
    }
    gt_workload_add_group(w, gt_name(w, "all", 3), all, ranks);
    if (ranks > 2)
        gt_workload_add_group(w, gt_name(w, "some", 4), all + 1, ranks - 1);
    steps = 2 + draw(10);
    for (uint32_t i = 0; i < steps && w->op_count + MOST_RANKS < MOST_OPS; i++) {
        uint32_t what = draw(5);

        if (what == 0)
            add_message(w, ranks);
        else if (what < 3)
            add_plain(w, ranks);
        else
            add_collective(w, ranks, draw(2) == 0 ? GT_ALL_REDUCE : GT_ALL_GATHER, i + 1 == steps);
    }
    return w;
}

struct times {
    gt_time_ps start_ps[MOST_OPS], end_ps[MOST_OPS];
};

/* When the instance of a part ends; GT_TIME_NONE: not yet known. */
static gt_time_ps meeting_end(const struct gt_workload *w, const struct gt_collective_parts *parts,
                              const struct gt_collective_part *part, const struct times *times)
{
    gt_time_ps last_ps = 0, least_ps = GT_TIME_NONE;
    uint32_t there = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct gt_collective_part *other = &parts->parts[i];

        if (other->instance != part->instance)
            continue;
        there++;
        if (w->ops[other->op].duration_ps < least_ps)
            least_ps = w->ops[other->op].duration_ps;
        if (times->start_ps[other->op] == GT_TIME_NONE)
            return GT_TIME_NONE;
        if (times->start_ps[other->op] > last_ps)
            last_ps = times->start_ps[other->op];
    }
    return there < gt_collective_part_ranks(w, part) ? GT_TIME_NONE : last_ps + least_ps;
}

static gt_time_ps end_of(const struct gt_workload *w, const struct gt_collective_parts *parts, uint32_t op,
                         const struct times *times)
{
    uint32_t first, count = gt_collective_parts_of(parts, op, &first);
    gt_time_ps end_ps = 0;

    if (count == 0)
        return times->start_ps[op] == GT_TIME_NONE ? GT_TIME_NONE : times->start_ps[op] + w->ops[op].duration_ps;
    for (uint32_t i = first; i < first + count; i++) {
        gt_time_ps ps = meeting_end(w, parts, &parts->parts[i], times);

        end_ps = ps > end_ps ? ps : end_ps;
    }
    return end_ps;
}

/* True: all ends are known. */
static bool work_out(const struct gt_workload *w, struct times *times)
{
    struct gt_collective_parts parts = gt_collective_parts(w);
    bool changed = true, whole = true;

    memset(times, 0xff, sizeof *times);
    while (changed) {
        changed = false;
        for (uint32_t op = 0; op < w->op_count; op++) {
            gt_time_ps start_ps = (op + 1) * us, end_ps;

            for (uint32_t before = 0; before < op && start_ps != GT_TIME_NONE; before++)
                if (w->ops[before].stream == w->ops[op].stream && times->end_ps[before] > start_ps)
                    start_ps = times->end_ps[before];
            changed = changed || start_ps != times->start_ps[op];
            times->start_ps[op] = start_ps;
            end_ps = end_of(w, &parts, op, times);
            changed = changed || end_ps != times->end_ps[op];
            times->end_ps[op] = end_ps;
        }
    }
    for (uint32_t op = 0; op < w->op_count; op++)
        whole = whole && times->end_ps[op] != GT_TIME_NONE;
    gt_collective_parts_free(&parts);
    return whole;
}

static int note(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct times *times = user;

    (void)error;
    times->start_ps[record->op] = record->start_ps;
    times->end_ps[record->op] = record->end_ps;
    return 0;
}

static void as_worked_out(void **state)
{
    struct gt_device device;
    struct gt_error error = { "" };
    uint32_t deadlocks = 0;

    (void)state;
    assert_int_equal(gt_device_load("toy", &device, &error), 0);
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct gt_workload *w = draw_workload(seed);
        struct gt_options options = GT_OPTIONS_DEFAULT;
        struct times want, got;
        struct gt_probe probe = { .user = &got, .op = note };
        struct gt_summary summary;
        bool whole;
        int status;

        if (gt_workload_check(w, &error) != 0)
            fail_msg("seed %u: %s", (unsigned)seed, error.text);
        whole = work_out(w, &want);
        options.blocks = seed % 2 == 0;
        memset(&got, 0xff, sizeof got);
        status = gt_simulate(w, &device, &options, &probe, &summary, &error);
        if (status != 0 &&
            (whole || strstr(error.text, "deadlock") == NULL || strstr(error.text, " waits for") == NULL))
            fail_msg("seed %u: %s", (unsigned)seed, error.text);
        if (status == 0 && !whole)
            fail_msg("seed %u ends, and should not", (unsigned)seed);
        deadlocks += status != 0;
        for (uint32_t op = 0; op < w->op_count; op++)
            if (got.end_ps[op] != want.end_ps[op] ||
                (got.end_ps[op] != GT_TIME_NONE && got.start_ps[op] != want.start_ps[op]))
                fail_msg("seed %u, operation %u: %.3f to %.3f us, worked out %.3f to %.3f", (unsigned)seed, op,
                         (double)got.start_ps[op] / 1e6, (double)got.end_ps[op] / 1e6,
                         (double)want.start_ps[op] / 1e6, (double)want.end_ps[op] / 1e6);
        gt_workload_free(w);
    }
    print_message("# %u of %u cases are deadlocks\n", deadlocks, (unsigned)CASES);
    assert_in_range(deadlocks, CASES / 50, CASES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_worked_out) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
