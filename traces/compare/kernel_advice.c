/* What would help a kernel: rules over its numbers, each a sentence with the number that it rests on. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/compare/kernel_numbers.h"

/* From how much on something is worth saying, as shares. */
static const double saturated = 0.7, much = 0.5, some = 0.2, little = 0.1, wasteful = 1.25, few_threads = 0.75;

struct advice {
    struct gt_advice *items;
    size_t count;
};

/* A sentence about `topic`; `share` is what it rests on and is ordered by. */
static void say(struct advice *advice, const char *topic, double share, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void say(struct advice *advice, const char *topic, double share, const char *format, ...)
{
    va_list arguments;

    if (advice->count == GT_ADVICE_MOST)
        gt_bug("more advice than there are rules");
    advice->items[advice->count].topic = topic;
    advice->items[advice->count].pct = 100 * share;
    va_start(arguments, format);
    vsnprintf(advice->items[advice->count++].text, GT_ADVICE_BYTES, format, arguments);
    va_end(arguments);
}

/* Of warp cycles, or of the profiler's samples where nothing was simulated. */
static double stalled(const struct gt_explained *e, enum gt_stall reason)
{
    double share = isnan(e->simulated[reason]) ? e->measured[reason] : e->simulated[reason];

    return isnan(share) ? 0 : share;
}

static void advise_bytes(const struct gt_explained *e, struct advice *advice)
{
    const struct gt_kernel_numbers *numbers = e->numbers;

    if (e->dram_share > saturated)
        say(advice, "bytes", e->dram_share,
            "DRAM moves %.0f of at most %.0f bytes per cycle (%.0f %%): fewer bytes help (smaller types, fused "
            "kernels, reuse in L2), more warps do not",
            numbers->dram_bytes_per_cycle, e->dram_peak, 100 * e->dram_share);
    if (e->l2_share > saturated && !(e->dram_share > e->l2_share))
        say(advice, "bytes", e->l2_share,
            "L2 moves %.0f of %.0f bytes per cycle (%.0f %%): reuse in registers or shared memory helps",
            numbers->l2_bytes_per_cycle, e->l2_peak, 100 * e->l2_share);
}

/* The instruction that wastes most: passes of shared memory, or sectors; NULL: none does. */
static const struct gt_code_row *worst(const struct gt_explained *e, bool shared)
{
    const struct gt_code_row *found = NULL;
    double most = 0;

    for (uint32_t i = 0; i < e->inside->instructions; i++) {
        const struct gt_code_row *code = &e->inside->code[i];
        double ideal = shared ? code->wavefronts_ideal : code->sectors_ideal;
        double excess = code->executions * ((shared ? code->wavefronts : code->sectors) - ideal);

        if (ideal > 0 && excess > most) {
            most = excess;
            found = code;
        }
    }
    return found;
}

static void advise_access(const struct gt_explained *e, struct advice *advice)
{
    const struct gt_code_row *sectors = worst(e, false), *passes = worst(e, true);
    bool shared_waits = e->numbers->lsu_share > some || stalled(e, GT_STALL_MIO_THROTTLE) > little ||
                        stalled(e, GT_STALL_SHORT_SCOREBOARD) > little;

    if (sectors != NULL && e->sectors > wasteful * e->sectors_ideal)
        say(advice, "coalescing", 1 - e->sectors_ideal / e->sectors,
            "global accesses request %.2f times the sectors that they need; most at 0x%04x (%.30s): %.1f per warp "
            "instead of %.1f",
            e->sectors / e->sectors_ideal, sectors->offset_bytes, sectors->text, sectors->sectors,
            sectors->sectors_ideal);
    if (passes != NULL && e->wavefronts > wasteful * e->wavefronts_ideal && shared_waits)
        say(advice, "bank conflicts", 1 - e->wavefronts_ideal / e->wavefronts,
            "shared-memory accesses take %.2f times the wavefronts that they need; most at 0x%04x (%.30s): %.1f per "
            "warp instead of %.1f",
            e->wavefronts / e->wavefronts_ideal, passes->offset_bytes, passes->text, passes->wavefronts,
            passes->wavefronts_ideal);
    if (e->numbers->lsu_share > much)
        say(advice, "load/store unit", e->numbers->lsu_share,
            "the load/store unit is busy %.0f %% of the time: wider accesses, fewer wavefronts or reuse in registers "
            "help",
            100 * e->numbers->lsu_share);
}

static void advise_issue(const struct gt_explained *e, struct advice *advice)
{
    double waits = stalled(e, GT_STALL_MATH_PIPE);
    int busiest = 0;

    for (int pipe = 1; pipe < GT_PIPES; pipe++)
        if (e->pipe_busy[pipe] > e->pipe_busy[busiest])
            busiest = pipe;
    if (e->numbers->issue_share > much)
        say(advice, "issue", e->numbers->issue_share,
            "%.0f %% of the issue slots are used: fewer instructions help, more warps do not",
            100 * e->numbers->issue_share);
    if (e->pipe_busy[busiest] > much)
        say(advice, "pipe", e->pipe_busy[busiest],
            "pipe %s is busy %.0f %% of the time: fewer of its instructions help, or other pipes",
            gt_pipe_names[busiest], 100 * e->pipe_busy[busiest]);
    else if (waits > some)
        say(advice, "pipe", waits,
            "%.0f %% of warp time waits for a busy pipe: fewer instructions for that pipe help", 100 * waits);
}

static void advise_latency(const struct gt_explained *e, struct advice *advice)
{
    double loads = stalled(e, GT_STALL_LONG_SCOREBOARD), fixed = stalled(e, GT_STALL_WAIT);
    double barriers = stalled(e, GT_STALL_BARRIER), traffic = fmax(e->dram_share, e->l2_share);
    double warps = isnan(e->numbers->warps_mean) ? e->warps_most : e->numbers->warps_mean;

    if (loads > some && !(traffic > saturated))
        say(advice, "latency", loads,
            "%.0f %% of warp time waits for loads while DRAM moves %.0f %% of its peak: more loads in "
            "flight help (independent loads, cp.async, more warps: %.0f of %u are resident)",
            100 * loads, 100 * e->dram_share, warps, e->inside->device.warps_per_sm);
    if (fixed > some && !(e->numbers->issue_share > much))
        say(advice, "latency", fixed,
            "%.0f %% of warp time waits for results of arithmetic: more independent instructions per thread, or more "
            "warps, help",
            100 * fixed);
    if (barriers > little)
        say(advice, "barriers", barriers,
            "%.0f %% of warp time waits at barriers: smaller blocks, more blocks per SM or fewer barriers help",
            100 * barriers);
}

/* Registers a thread with which one more block would fit. */
static double registers_for_more(const struct gt_explained *e)
{
    const struct gt_device *device = &e->inside->device;
    double warps = e->inside->occupancy.need.warps * (e->inside->occupancy.blocks_per_sm + 1.0);
    double of_warp = floor((double)device->registers_per_sm / warps / fmax(1, device->register_unit_per_warp)) *
                     fmax(1, device->register_unit_per_warp);

    return floor(of_warp / device->warp_threads);
}

static void advise_occupancy(const struct gt_explained *e, struct advice *advice)
{
    const struct gt_device *device = &e->inside->device;
    const struct gt_occupancy *occupancy = &e->inside->occupancy;
    double waits = stalled(e, GT_STALL_LONG_SCOREBOARD) + stalled(e, GT_STALL_SHORT_SCOREBOARD) +
                   stalled(e, GT_STALL_WAIT) + stalled(e, GT_STALL_BARRIER);
    double idle = 1 - e->warps_most / device->warps_per_sm;

    if (!e->inside->fits)
        return;
    if (e->waves < 1)
        say(advice, "grid", 1 - e->waves,
            "the grid fills %.0f %% of the block slots (%u per SM): the GPU can run more blocks at once",
            100 * e->waves, occupancy->blocks_per_sm);
    if (waits < some || idle < much || e->waves < 1)
        return;
    if (strcmp(occupancy->limiter, "registers") == 0)
        say(advice, "occupancy", idle,
            "%.0f of %u warps fit on an SM, limited by registers (%u per thread): with %.0f per thread one more "
            "block fits",
            e->warps_most, device->warps_per_sm, e->inside->shape.registers_per_thread, registers_for_more(e));
    else
        say(advice, "occupancy", idle, "%.0f of %u warps fit on an SM, limited by %s", e->warps_most,
            device->warps_per_sm, occupancy->limiter);
}

static void advise_grid(const struct gt_explained *e, struct advice *advice)
{
    const struct gt_kernel_numbers *numbers = e->numbers;
    double ends_cycles = numbers->launch_cycles + numbers->drain_cycles, ends = ends_cycles / numbers->cycles;
    double last = e->waves - floor(e->waves), tail = (1 - last) / ceil(e->waves);
    uint32_t lanes = e->inside->device.warp_threads;

    if (ends > little)
        say(advice, "launch", ends,
            "launch and drain of the grid are %.0f of %.0f cycles: more work per launch helps", ends_cycles,
            numbers->cycles);
    if (e->waves > 1 && last > 0 && tail > little)
        say(advice, "tail", tail,
            "the last of %.2f waves fills %.0f %% of the device: other block sizes, or a grid of whole "
            "waves, could save up to %.0f %%",
            e->waves, 100 * last, 100 * tail);
    if (e->threads < few_threads * lanes)
        say(advice, "divergence", 1 - e->threads / lanes,
            "a warp instruction has %.1f of %u threads active on average: less divergence, or fewer idle lanes, help",
            e->threads, lanes);
}

static int by_share(const void *left, const void *right)
{
    const struct gt_advice *a = left, *b = right;

    return (a->pct < b->pct) - (a->pct > b->pct);
}

size_t gt_kernel_advise(const struct gt_explained *explained, struct gt_advice *items)
{
    static void (*const rules[])(const struct gt_explained *explained, struct advice *advice) = {
        advise_bytes, advise_access, advise_issue, advise_latency, advise_occupancy, advise_grid,
    };
    struct advice advice = { .items = items };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        rules[i](explained, &advice);
    qsort(items, advice.count, sizeof *items, by_share);
    return advice.count;
}
