/* The families of random traces. To add one: its function, its row. */
#include "validate/random/families.h"

#include <string.h>

enum { MANY_BLOCKS = 4096 };

/* Up to 8 streams mostly, at times more than there are connections, rarely more than 32. */
static uint32_t draw_stream_count(struct gt_chance *chance)
{
    switch (gt_chance_between(chance, 0, 11)) {
    case 0: return gt_chance_between(chance, 9, 16);
    case 1: return gt_chance_between(chance, 17, 40);
    default: return gt_chance_between(chance, 2, 8);
    }
}

/* Streams in turn, one after the other, or at random. */
static uint32_t next_stream(struct gt_script *script, uint32_t order, uint32_t launch, uint32_t launches)
{
    switch (order) {
    case 0: return launch % script->streams;
    case 1: return launch * script->streams / launches;
    default: return gt_script_any_stream(script);
    }
}

static void write_streams(struct gt_script *script)
{
    uint32_t launches, order;

    gt_script_streams(script, draw_stream_count(&script->chance), false);
    script->default_stream = gt_chance_in(&script->chance, 1, 4);
    gt_script_kernels(script, gt_chance_between(&script->chance, 1, 5), 120, MANY_BLOCKS);
    launches = gt_chance_between(&script->chance, script->streams, script->streams * 2 + 16);
    order = gt_chance_between(&script->chance, 0, 2);
    for (uint32_t launch = 0; launch < launches; launch++) {
        gt_script_launch(script, 0, next_stream(script, order, launch, launches));
        if (gt_chance_in(&script->chance, 1, 10))
            gt_script_host_work(script, 0);
        if (gt_chance_in(&script->chance, 1, 20))
            gt_script_sync(script, 0);
    }
}

static void write_events(struct gt_script *script)
{
    uint32_t steps;

    gt_script_streams(script, draw_stream_count(&script->chance), false);
    script->default_stream = gt_chance_in(&script->chance, 1, 6);
    gt_script_kernels(script, gt_chance_between(&script->chance, 1, 5), 100, MANY_BLOCKS / 2);
    steps = gt_chance_between(&script->chance, 10, 60);
    while (steps-- > 0) {
        uint32_t stream = gt_script_any_stream(script), what = gt_chance_between(&script->chance, 0, 19);

        if (what < 9)
            gt_script_launch(script, 0, stream);
        else if (what < 13)
            gt_script_record(script, 0, stream);
        else if (what < 18)
            gt_script_wait(script, 0, stream);
        else if (what < 19)
            gt_script_sync(script, 0);
        else
            gt_script_host_function(script, 0, stream);
    }
}

/* Something long and of little urgency first, the rest comes meanwhile. */
static void write_priorities(struct gt_script *script)
{
    uint32_t launches;

    gt_script_streams(script, gt_chance_between(&script->chance, 2, 8), true);
    gt_script_kernels(script, gt_chance_between(&script->chance, 2, 6), 100, MANY_BLOCKS);
    launches = gt_chance_between(&script->chance, 4, 30);
    while (launches-- > 0) {
        gt_script_launch(script, 0, gt_script_any_stream(script));
        if (gt_chance_in(&script->chance, 1, 4))
            gt_script_host_work(script, 0);
    }
}

static void write_copies(struct gt_script *script)
{
    uint32_t steps;

    gt_script_streams(script, gt_chance_between(&script->chance, 1, 6), false);
    script->default_stream = gt_chance_in(&script->chance, 1, 8);
    script->pageable = gt_chance_in(&script->chance, 1, 2);
    gt_script_kernels(script, gt_chance_between(&script->chance, 1, 4), 80, MANY_BLOCKS / 4);
    steps = gt_chance_between(&script->chance, 4, 30);
    while (steps-- > 0) {
        uint32_t stream = gt_script_any_stream(script), what = gt_chance_between(&script->chance, 0, 11);

        if (what < 6)
            gt_script_copy(script, 0, stream);
        else if (what < 9)
            gt_script_launch(script, 0, stream);
        else if (what < 10)
            gt_script_memset(script, 0, stream);
        else if (what < 11)
            gt_script_record(script, 0, stream);
        else
            gt_script_wait(script, 0, stream);
    }
}

static void write_graphs(struct gt_script *script)
{
    uint32_t graphs = gt_chance_between(&script->chance, 1, 4);

    gt_script_streams(script, gt_chance_between(&script->chance, 1, 3), false);
    gt_script_kernels(script, gt_chance_between(&script->chance, 1, 5), 60, 1024);
    while (graphs-- > 0) {
        gt_script_graph(script, 0, gt_script_any_stream(script), 40);
        if (gt_chance_in(&script->chance, 1, 3))
            gt_script_launch(script, 0, gt_script_any_stream(script));
        if (gt_chance_in(&script->chance, 1, 4))
            gt_script_sync(script, 0);
    }
}

/* Each thread has streams of its own: whose call comes first is then nobody's secret. */
static void write_threads(struct gt_script *script)
{
    uint32_t each = gt_chance_between(&script->chance, 1, 3), steps;

    script->threads = gt_chance_between(&script->chance, 2, GT_SCRIPT_THREADS);
    gt_script_streams(script, script->threads * each, false);
    gt_script_kernels(script, gt_chance_between(&script->chance, 1, 4), 80, 1024);
    steps = gt_chance_between(&script->chance, 10, 50);
    while (steps-- > 0) {
        uint32_t thread = gt_chance_between(&script->chance, 0, script->threads - 1);
        uint32_t stream = thread * each + gt_chance_between(&script->chance, 0, each - 1);

        if (gt_chance_in(&script->chance, 1, 4))
            gt_script_host_work(script, thread);
        else if (gt_chance_in(&script->chance, 1, 10))
            gt_script_copy(script, thread, stream);
        else
            gt_script_launch(script, thread, stream);
    }
}

/* How each process shares: "sliced", or with a number as "mps:40"; SMs of green contexts come in steps and are 120 in all at most. */
static void write_shares(struct gt_script *script, const char *share, bool numbered)
{
    enum { STEP = 8, SMS = 120 };
    bool green = strcmp(share, "green") == 0;
    uint32_t left = SMS / STEP, steps;

    for (uint32_t thread = 0; thread < script->threads; thread++) {
        fprintf(script->out, "{\"thread\":\"t%u\",\"process\":%u,\"share\":\"%s", thread, thread + 1, share);
        if (green) {
            steps = gt_chance_between(&script->chance, 1, left - (script->threads - 1 - thread));
            left -= steps;
            fprintf(script->out, ":%u", steps * STEP - gt_chance_between(&script->chance, 0, STEP - 1));
        } else if (numbered) {
            fprintf(script->out, ":%u", gt_chance_between(&script->chance, 1, 10) * 10);
        }
        fputs("\"}\n", script->out);
    }
}

/* Two to four processes, a thread each, that share the GPU; with work for some turns of time slices. */
static void write_processes(struct gt_script *script, const char *share, bool numbered)
{
    enum { WORK_US = 12000, LONGEST_US = 700 };
    uint32_t each = gt_chance_between(&script->chance, 1, 3), steps;

    script->threads = gt_chance_between(&script->chance, 2, GT_SCRIPT_THREADS);
    script->left_us = WORK_US;
    write_shares(script, share, numbered);
    gt_script_streams(script, script->threads * each, false);
    gt_script_kernels(script, gt_chance_between(&script->chance, 2, 6), LONGEST_US, 1024);
    steps = gt_chance_between(&script->chance, 15, 60);
    while (steps-- > 0) {
        uint32_t thread = gt_chance_between(&script->chance, 0, script->threads - 1);
        uint32_t stream = thread * each + gt_chance_between(&script->chance, 0, each - 1);

        if (gt_chance_in(&script->chance, 1, 5))
            gt_script_host_work(script, thread);
        else if (gt_chance_in(&script->chance, 1, 10))
            gt_script_copy(script, thread, stream);
        else
            gt_script_launch(script, thread, stream);
    }
}

static void write_sliced(struct gt_script *script)
{
    write_processes(script, "sliced", false);
}

static void write_mps(struct gt_script *script)
{
    write_processes(script, "mps", false);
}

static void write_percent(struct gt_script *script)
{
    write_processes(script, "mps", true);
}

static void write_green(struct gt_script *script)
{
    write_processes(script, "green", true);
}

/* Two to four tenants, each of which serves requests that arrive whether or not the one before is done: some kernels, at times a copy, and
 * a wait for them; in one process, or in processes that share in one of the ways. */
static void write_arrivals(struct gt_script *script)
{
    enum { WORK_US = 12000, LONGEST_US = 250, SPAN_US = 15000, REQUESTS = 20 };
    static const char *const shares[] = { "", "sliced", "mps", "green" };
    uint32_t share = gt_chance_between(&script->chance, 0, 3);

    script->threads = gt_chance_between(&script->chance, 2, GT_SCRIPT_THREADS);
    script->left_us = WORK_US;
    if (share > 0)
        write_shares(script, shares[share], share == 3);
    gt_script_streams(script, script->threads, false);
    gt_script_kernels(script, gt_chance_between(&script->chance, 2, 5), LONGEST_US, 1024);
    for (uint32_t thread = 0; thread < script->threads; thread++) {
        uint32_t gap_us = gt_chance_scale(&script->chance, 100, 3000), at_us = 0;

        for (uint32_t i = 0; i < REQUESTS && at_us < SPAN_US; i++) {
            gt_script_wait_until(script, thread, at_us);
            for (uint32_t kernels = gt_chance_between(&script->chance, 1, 4); kernels > 0; kernels--)
                gt_script_launch(script, thread, thread);
            if (gt_chance_in(&script->chance, 1, 5))
                gt_script_copy(script, thread, thread);
            gt_script_stream_sync(script, thread, thread);
            at_us += gt_chance_scale(&script->chance, gap_us / 8 + 1, 3 * gap_us);
        }
    }
}

static void write_mixed(struct gt_script *script)
{
    uint32_t steps;

    gt_script_streams(script, draw_stream_count(&script->chance), gt_chance_in(&script->chance, 1, 2));
    script->default_stream = gt_chance_in(&script->chance, 1, 6);
    script->pageable = gt_chance_in(&script->chance, 1, 4);
    gt_script_kernels(script, gt_chance_between(&script->chance, 2, 6), 80, MANY_BLOCKS / 2);
    steps = gt_chance_between(&script->chance, 10, 60);
    while (steps-- > 0) {
        uint32_t stream = gt_script_any_stream(script);

        switch (gt_chance_between(&script->chance, 0, 15)) {
        case 0: gt_script_copy(script, 0, stream); break;
        case 1: gt_script_memset(script, 0, stream); break;
        case 2:
        case 3: gt_script_record(script, 0, stream); break;
        case 4:
        case 5: gt_script_wait(script, 0, stream); break;
        case 6: gt_script_host_work(script, 0); break;
        case 7: gt_script_graph(script, 0, stream, 12); break;
        case 8: gt_script_host_function(script, 0, stream); break;
        case 9: gt_script_sync(script, 0); break;
        default: gt_script_launch(script, 0, stream); break;
        }
    }
}

const struct gt_family gt_families[] = {
    { "streams", "kernels of all shapes in 2 to 40 streams", write_streams, false, false, false },
    { "events", "records and waits between streams", write_events, false, false, false },
    { "priorities", "urgent kernels beside long ones", write_priorities, false, false, false },
    { "copies", "copies of all kinds and sizes beside kernels", write_copies, false, false, false },
    { "graphs", "graphs of chains, branches, layers and edges at random", write_graphs, false, false, false },
    { "threads", "two to four host threads with streams of their own", write_threads, false, false, false },
    { "mixed", "all of it", write_mixed, false, false, false },
    { "tasks", "task graphs in persistent kernels, by all policies", gt_script_write_tasks, true, false, false },
    { "children", "device-side launches, and what those launch", gt_script_write_children, true, false, false },
    { "grid-sync", "grid barriers, programmatic launches, polls", gt_script_write_grid_sync, true, false, false },
    { "meetings", "former name of grid-sync, in recordings", gt_script_write_grid_sync, true, false, false },
    { "gpus", "two GPUs, copies between them both ways, events across", gt_script_write_gpus, true, false, false },
    { "pairs", "two kernels of a list: alone, at once in both orders, one later", gt_script_write_pairs, true, true,
      false },
    { "triples", "three kernels of a list", gt_script_write_triples, true, true, false },
    { "sliced", "two to four processes in time slices", write_sliced, true, false, true },
    { "mps", "two to four MPS clients", write_mps, true, false, true },
    { "percent", "the same with percentages of the SMs", write_percent, true, false, true },
    { "arrivals", "tenants whose requests arrive at given times, in one process or several", write_arrivals, true,
      false, true },
    { "green", "two to four green contexts of some SMs each", write_green, true, false, true },
};
const size_t gt_family_count = sizeof gt_families / sizeof gt_families[0];

const struct gt_family *gt_family_find(const char *name, size_t length)
{
    for (size_t i = 0; i < gt_family_count; i++) {
        if (strlen(gt_families[i].name) == length && memcmp(gt_families[i].name, name, length) == 0)
            return &gt_families[i];
    }
    return NULL;
}
