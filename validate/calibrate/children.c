/* children.c - what launches by blocks cost (CUDA dynamic parallelism): the call on the device, from there to the child's
 * start, between children, and from the last one's end to where the host's stream goes on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/children/child_tree.h"
#include "validate/calibrate/groups.h"

enum { MOST = 256, ROUNDS = 24, CALLS = 8, CROWD = 64 };

/* One grid of `blocks` blocks, each of which launches `count` grids of one block; or, where `depth` is more than 1, a
 * grid of one block that launches one which launches one. */
struct plan {
    uint32_t blocks, count, into, depth;
    double parent_us, at, child_us;
};

/* All on the device, one after the other. */
struct tables {
    struct gt_tree_grid grids[MOST + 2]; /* the last: what the host launches behind */
    struct gt_tree_launch launches[MOST];
    uint32_t launch_of_block[2 * MOST + 2]; /* of the first grid, or of each of a chain: launch i */
    uint64_t cycles[2];                     /* of the parent, of others */
    unsigned long long streams[MOST];
    struct gt_tree_launch_log log[MOST];
};

struct played {
    struct tables tables;
    uint32_t grids;
    struct gt_stay parent, next, child[MOST]; /* child i of launch i */
};

static struct tables *on_device(const struct gt_bench *bench)
{
    return bench->device[0];
}

static void set_grid(const struct gt_bench *bench, struct played *played, uint32_t number, uint32_t blocks,
                     uint32_t record, bool parent)
{
    played->tables.grids[number] = (struct gt_tree_grid){
        .grid = { blocks, 1, 1 },
        .block = { 32, 1, 1 },
        .block_cycles = on_device(bench)->cycles + !parent,
        .block_cycles_length = 1,
        .log = bench->log + record,
    };
}

static void fill(const struct gt_bench *bench, const struct plan *plan, struct played *played)
{
    struct tables *tables = &played->tables;
    bool chain = plan->depth > 1;
    uint32_t launches = chain ? plan->depth : plan->blocks * plan->count;

    memset(tables, 0, sizeof *tables);
    tables->cycles[0] = (uint64_t)(plan->parent_us * bench->mhz);
    tables->cycles[1] = (uint64_t)(plan->child_us * bench->mhz);
    played->grids = 1 + launches;
    set_grid(bench, played, 0, plan->blocks, 0, true);
    tables->grids[0].launch_of_block = launches > 0 ? on_device(bench)->launch_of_block : NULL;
    for (uint32_t i = 0; i < launches; i++) {
        tables->launches[i] = (struct gt_tree_launch){ plan->at, i + 1, plan->into, i % MOST };
        set_grid(bench, played, i + 1, 1, plan->blocks + i, chain);
        if (chain && i + 1 < launches)
            tables->grids[i + 1].launch_of_block = on_device(bench)->launch_of_block + 2 * (i + 1);
    }
    for (uint32_t i = 0; i <= 2 * MOST; i++)
        tables->launch_of_block[i] = chain ? i / 2 + i % 2 : i * plan->count;
    set_grid(bench, played, played->grids, 1, plan->blocks + launches, false);
}

/* All launches into one stream of the grid's: the numbers of streams are the launches' otherwise. */
static void share_stream(struct played *played)
{
    for (uint32_t i = 0; i + 1 < played->grids; i++)
        played->tables.launches[i].stream = 0;
}

static int play(struct gt_bench *bench, const struct plan *plan, struct played *played, bool one_stream)
{
    struct tables *device = on_device(bench);
    const struct gt_child_tree tree = { device->grids, device->launches, device->streams, device->log };
    uint32_t records;

    fill(bench, plan, played);
    if (one_stream)
        share_stream(played);
    records = plan->blocks + played->grids;
    GT_TRY(cudaMemcpy(device, &played->tables, sizeof *device, cudaMemcpyHostToDevice));
    GT_TRY(cudaMemset(bench->log, 0, records * sizeof *bench->log));
    GT_TRY(cudaDeviceSynchronize());
    GT_TRY(gt_child_tree_start(&tree, &played->tables.grids[0], 0, bench->streams[0]));
    GT_TRY(gt_child_tree_start(&tree, &played->tables.grids[played->grids], played->grids, bench->streams[0]));
    if (gt_bench_read(bench, records) != 0)
        return -1;
    GT_TRY(cudaMemcpy(played->tables.log, device->log, sizeof device->log, cudaMemcpyDeviceToHost));
    played->parent = gt_bench_span(bench, 0, plan->blocks);
    for (uint32_t i = 0; i + 1 < played->grids; i++)
        played->child[i] = gt_bench_span(bench, plan->blocks + i, 1);
    played->next = gt_bench_span(bench, plan->blocks + played->grids - 1, 1);
    return 0;
}

static double call_us(const struct played *played, uint32_t launch)
{
    return gt_bench_us(played->tables.log[launch].before_ns, played->tables.log[launch].after_ns);
}

/* From the launch, or from the parent's end for tail launches. */
static double latency_us(const struct played *played, uint32_t launch, uint32_t into)
{
    uint64_t from_ns = into == GT_TREE_TAIL ? played->parent.end_ns : played->tables.log[launch].after_ns;

    return gt_bench_us(from_ns, played->child[launch].start_ns);
}

static uint64_t last_end_ns(const struct played *played)
{
    uint64_t end_ns = played->parent.end_ns;

    for (uint32_t i = 0; i + 1 < played->grids; i++)
        end_ns = played->child[i].end_ns > end_ns ? played->child[i].end_ns : end_ns;
    return end_ns;
}

static const char *const names[] = { "the NULL stream", "a device stream", "fire and forget", "tail" };
static const char *const call_keys[] = { "device_launch.call_us", "device_launch.stream_call_us",
                                         "device_launch.fire_and_forget_call_us", "device_launch.tail_call_us" };
static const char *const latency_keys[] = { "device_launch.null_us", "device_launch.stream_us",
                                            "device_launch.fire_and_forget_us", "device_launch.tail_us" };

/* What else was found before. */
struct known {
    double plain_us; /* from a kernel's end to the next one's start, without children */
    double level_us; /* from the end of a grid's last child to that of the grid, where a block launched it */
    double gap_us, first_us[GT_TREE_TAIL + 1], call_us[GT_TREE_TAIL + 1];
};

/* Several launches in a row by one block: what the first takes, and the others. */
static int measure_calls(struct gt_bench *bench, struct played *played, struct known *known)
{
    double first[ROUNDS], later[ROUNDS * CALLS], between[ROUNDS * CALLS];

    for (uint32_t into = GT_TREE_NULL; into <= GT_TREE_TAIL; into++) {
        const struct plan plan = { 1, CALLS, into, 0, 60, 0.3, 10 };
        size_t count = 0;
        struct gt_bench_summary calls, firsts, gaps;

        for (int r = 0; r < ROUNDS; r++) {
            if (play(bench, &plan, played, true) != 0)
                return -1;
            first[r] = call_us(played, 0);
            for (uint32_t i = 1; i < CALLS; i++) {
                later[count] = call_us(played, i);
                between[count++] = gt_bench_us(played->child[i - 1].end_ns, played->child[i].start_ns);
            }
        }
        calls = gt_summarise(later, count);
        firsts = gt_summarise(first, ROUNDS);
        gaps = gt_summarise(between, count);
        known->first_us[into] = firsts.median - calls.median;
        known->call_us[into] = calls.median;
        gt_found(bench->found, call_keys[into], calls.median, calls,
                 "%s: launches 2 to %d of a block, the first %.2f", names[into], CALLS, firsts.median);
        if (into == GT_TREE_NULL) {
            gt_found(bench->found, "device_launch.first_us", fmax(0, known->first_us[into]), firsts,
                     "less than %.2f of those behind", calls.median);
            gt_found(bench->found, "device_launch.gap_us", gaps.median, gaps, "of %d kernels of 10 us in a row",
                     CALLS);
        } else if (into == GT_TREE_STREAM) {
            gt_found(bench->found, "device_launch.stream_create_us",
                     fmax(0, known->first_us[into] - known->first_us[GT_TREE_NULL]), firsts,
                     "the first launch into a stream made for it, less those behind and the first of a grid");
        }
        if (into == GT_TREE_TAIL)
            gt_found(bench->found, "device_launch.tail_next_us", gaps.median, gaps, "%d tail launches of a grid",
                     CALLS);
        gt_found_note(bench->found, "launches by blocks, %s: from one child's end to the next one's start %.2f us",
                      names[into], gaps.median);
    }
    return 0;
}

static int measure_latency(struct gt_bench *bench, struct played *played, const struct known *known)
{
    double latency[ROUNDS], end[ROUNDS];

    for (uint32_t into = GT_TREE_NULL; into <= GT_TREE_TAIL; into++) {
        const struct plan plan = { 1, 1, into, 0, 60, 0.3, into == GT_TREE_TAIL ? 10 : 80 };
        struct gt_bench_summary latencies, ends;

        for (int r = 0; r < ROUNDS; r++) {
            if (play(bench, &plan, played, true) != 0)
                return -1;
            latency[r] = latency_us(played, 0, into);
            end[r] = gt_bench_us(last_end_ns(played), played->next.start_ns) - known->plain_us;
        }
        latencies = gt_summarise(latency, ROUNDS);
        ends = gt_summarise(end, ROUNDS);
        gt_found(bench->found, latency_keys[into], fmax(0, latencies.median), latencies,
                 "%s: one launch in a block's 60 us", names[into]);
        if (into == GT_TREE_NULL)
            gt_found(bench->found, "device_launch.host_us", fmax(0, ends.median - known->level_us), ends,
                     "from a child's end to the next kernel, less %.2f without children and %.2f a level",
                     known->plain_us, known->level_us);
        if (into == GT_TREE_TAIL)
            gt_found(bench->found, "device_launch.tail_host_us", fmax(0, ends.median), ends,
                     "from a tail launch's end to the next kernel, less %.2f without children", known->plain_us);
    }
    return 0;
}

static int by_start(const void *left, const void *right)
{
    const struct gt_stay *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Blocks that launch all at once: how far apart their children start, what a call takes. */
static int measure_crowd_of(struct gt_bench *bench, struct played *played, const struct known *known, uint32_t into,
                            uint32_t blocks)
{
    const struct plan plan = { blocks, 1, into, 0, 60, 0.3, 20 };
    double apart[ROUNDS], calls[ROUNDS * MOST];
    struct gt_bench_summary spacing, call;
    size_t count = 0;

    for (int r = 0; r < ROUNDS; r++) {
        if (play(bench, &plan, played, false) != 0)
            return -1;
        for (uint32_t i = 0; i < blocks; i++)
            calls[count++] = call_us(played, i);
        qsort(played->child, blocks, sizeof played->child[0], by_start);
        apart[r] = gt_bench_us(played->child[0].start_ns, played->child[blocks - 1].start_ns) / (blocks - 1);
    }
    spacing = gt_summarise(apart, ROUNDS);
    call = gt_summarise(calls, count);
    if (blocks != CROWD) {
        gt_found_note(bench->found,
                      "launches by blocks, %s: %u blocks at once, a call %.2f us, kernels start %.3f us apart",
                      names[into], (unsigned)blocks, call.median, spacing.median);
        return 0;
    }
    if (into == GT_TREE_NULL)
        gt_found(bench->found, "device_launch.next_us", spacing.median, spacing,
                 "kernels of %d blocks that launch at once", CROWD);
    if (into == GT_TREE_FIRE_AND_FORGET)
        gt_found(bench->found, "device_launch.fire_and_forget_next_us", spacing.median, spacing,
                 "kernels of %d blocks that launch at once", CROWD);
    if (into == GT_TREE_FIRE_AND_FORGET || into == GT_TREE_TAIL)
        gt_found(bench->found,
                 into == GT_TREE_TAIL ? "device_launch.tail_contention_us" : "device_launch.contention_us",
                 fmax(0, (call.median - known->call_us[into]) * 2 / (CROWD - 1)), call,
                 "%d blocks at once, a call %.2f; one block %.2f", CROWD, call.median, known->call_us[into]);
    return 0;
}

static int measure_crowd(struct gt_bench *bench, struct played *played, const struct known *known)
{
    static const uint32_t crowds[] = { 8, CROWD, 128 },
                          intos[] = { GT_TREE_NULL, GT_TREE_FIRE_AND_FORGET, GT_TREE_TAIL };

    for (size_t i = 0; i < sizeof intos / sizeof intos[0]; i++)
        for (size_t c = 0; c < sizeof crowds / sizeof crowds[0]; c++)
            if (measure_crowd_of(bench, played, known, intos[i], crowds[c]) != 0)
                return -1;
    return 0;
}

/* By depth: each grid launches the next one at its end. */
static int measure_depth(struct gt_bench *bench, struct played *played)
{
    double step[3][ROUNDS];
    static const uint32_t at[3] = { 0, 3, 11 };

    for (uint32_t into = GT_TREE_NULL; into <= GT_TREE_TAIL; into++) {
        const struct plan plan = { 1, 1, into, 12, 10, 1, 10 };

        for (int r = 0; r < ROUNDS; r++) {
            if (play(bench, &plan, played, true) != 0)
                return -1;
            for (int i = 0; i < 3; i++)
                step[i][r] = gt_bench_us(at[i] == 0 ? played->parent.end_ns : played->child[at[i] - 1].end_ns,
                                         played->child[at[i]].start_ns);
        }
        gt_found_note(
            bench->found,
            "launches by blocks, %s: from a grid's end to the start of what it launched then, depth 1, 4, 12: "
            "%.2f, %.2f, %.2f us",
            names[into], gt_summarise(step[0], ROUNDS).median, gt_summarise(step[1], ROUNDS).median,
            gt_summarise(step[2], ROUNDS).median);
    }
    return 0;
}

/* Grids within each other that all wait for the innermost one end one after the other. */
static int measure_level(struct gt_bench *bench, struct played *played, struct known *known)
{
    double level[ROUNDS];
    struct gt_bench_summary summary;

    for (int r = 0; r < ROUNDS; r++) {
        uint64_t lag_ns[2];

        for (int deep = 0; deep < 2; deep++) {
            const struct plan plan = { 1, 1, GT_TREE_NULL, deep ? 12 : 2, 10, 1, 10 };

            if (play(bench, &plan, played, true) != 0)
                return -1;
            lag_ns[deep] = played->next.start_ns - last_end_ns(played);
        }
        level[r] = gt_bench_us(lag_ns[0], lag_ns[1]) / (12 - 2);
    }
    summary = gt_summarise(level, ROUNDS);
    known->level_us = summary.median;
    gt_found_note(bench->found, "launches by blocks: grids within each other end %.2f us one behind the other",
                  summary.median);
    return 0;
}

static int measure_plain(struct gt_bench *bench, struct played *played, double *gap_us)
{
    const struct plan plan = { .blocks = 1, .parent_us = 60, .child_us = 10 };
    double gaps[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        if (play(bench, &plan, played, true) != 0)
            return -1;
        gaps[r] = gt_bench_us(played->parent.end_ns, played->next.start_ns);
    }
    *gap_us = gt_summarise(gaps, ROUNDS).median;
    return 0;
}

int gt_calibrate_children(struct gt_bench *bench)
{
    struct played *played;
    struct known known = { 0 };
    int result;

    if (!gt_child_tree_built()) {
        gt_found_note(bench->found, "launches by blocks: this build has no CUDA device runtime");
        return 0;
    }
    played = gt_calloc(1, sizeof *played);
    result = measure_plain(bench, played, &known.plain_us);
    if (result == 0)
        result = measure_level(bench, played, &known);
    if (result == 0)
        result = measure_calls(bench, played, &known);
    if (result == 0)
        result = measure_latency(bench, played, &known);
    if (result == 0)
        result = measure_crowd(bench, played, &known);
    if (result == 0)
        result = measure_depth(bench, played);
    free(played);
    return result;
}
