/* golden_cost.h - costs of kernels as the warp tier would give them, stated by a golden scenario:
 *
 *   // cost KERNEL CYCLES WAVE[,WAVE...] [WHAT=NUMBER ...]
 *
 * Launches of KERNEL take CYCLES alone (launch and drain none); 1, 2, ... of its blocks on one SM take WAVE
 * cycles, or, with WAVE as A:B, A where no other SM competes and B where all do.  WHAT may be a resource
 * (issue, lsu, pipe, l2, dram, atomic): alone it is busy for that part of the time; issue_run_length: instructions in a row;
 * waits, pipe_waits, send_waits: the part of their time that warps wait for memory, for the pipe, to send to memory; row:
 * cycles that a warp waits to send an atomic; uneven: times the mean work of the SM with most; latency: cycles of a read;
 * writes: their part of DRAM's traffic; at_once: blocks that an SM works at at a time; reads: how many times it reads
 * from L2 what it has from DRAM, of which it has 3,200 bytes.  A launch with a cost is played by it.
 */
#ifndef GRIDTIDE_TESTS_UNIT_GOLDEN_COST_H
#define GRIDTIDE_TESTS_UNIT_GOLDEN_COST_H

#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/simulate.h"

enum { MOST_COSTS = 8, MOST_WAVES = 8 };

static struct golden_costs {
    struct golden_cost {
        struct gt_memory_use use;
        char kernel[32], resources[128];
        double cycles, waves[MOST_WAVES + 1][2];
        bool launched; /* the trace has its kernel */
    } cost[MOST_COSTS];
    int count;
} golden_costs;

/* What stands behind `name`; 0: it is not there. */
static double number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at != NULL ? atof(at + strlen(name)) : 0;
}

/* WAVE[,WAVE...] */
static bool read_waves(struct golden_cost *cost, const char *text)
{
    for (int residents = 1; residents <= MOST_WAVES; residents++) {
        char *end;

        cost->waves[residents][0] = cost->waves[residents][1] = strtod(text, &end);
        if (end != text && *end == ':') {
            text = end + 1;
            cost->waves[residents][1] = strtod(text, &end);
        }
        if (end == text || *end == '\0')
            return end != text;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

/* WHAT=NUMBER ... */
static bool known_resources(const char *text)
{
    static const char *const names[] = { "issue", "lsu",        "l2",         "dram",  "atomic",  "issue_run_length",
                                         "waits", "latency",    "writes",     "warps", "at_once", "reads",
                                         "pipe",  "pipe_waits", "send_waits", "row",   "uneven" };
    char name[32];
    double number;
    int used;

    for (; text[strspn(text, " \t\r\n")] != '\0'; text += used) {
        bool known = false;

        if (sscanf(text, " %31[^= ]=%lf%n", name, &number, &used) != 2)
            return false;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            known |= strcmp(names[i], name) == 0;
        if (!known)
            return false;
    }
    return true;
}

/* True where the line states a cost, which it then adds; there is room for MOST_COSTS. */
static bool golden_cost_line(const char *line)
{
    struct golden_cost *cost = &golden_costs.cost[golden_costs.count];
    char waves[128];

    if (golden_costs.count == MOST_COSTS)
        return false;
    memset(cost, 0, sizeof *cost);
    cost->resources[0] = ' '; /* each name stands behind one */
    if (sscanf(line, "// cost %31s %lf %127s %126[^\n]", cost->kernel, &cost->cycles, waves, cost->resources + 1) <
            3 ||
        !read_waves(cost, waves) || !known_resources(cost->resources))
        return false;
    cost->use.l2_read_sectors = (uint64_t)(100 * number_of(cost->resources, "reads="));
    cost->use.dram_write_bytes = (uint64_t)(3200 * number_of(cost->resources, "writes="));
    cost->use.dram_read_bytes = 3200 - cost->use.dram_write_bytes;
    golden_costs.count++;
    return true;
}

static void set_busy(double *busy, const char *text)
{
    /* clang-format off */
    static const struct { const char *name; enum gt_resource resource; } names[] = {
        { "issue=", GT_RESOURCE_ISSUE }, { "lsu=", GT_RESOURCE_LSU }, { "dram=", GT_RESOURCE_DRAM },
        { "l2=", GT_RESOURCE_L2_READ }, { "atomic=", GT_RESOURCE_ATOMIC },
        { " pipe=", (enum gt_resource)(GT_RESOURCE_PIPE + GT_PIPE_FMA) },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        busy[names[i].resource] = number_of(text, names[i].name);
}

static void set_waits(struct gt_kernel_model_launch *launch, const struct golden_cost *cost)
{
    static const struct {
        const char *name;
        enum gt_stall stall;
    } names[] = { { " waits=", GT_STALL_LONG_SCOREBOARD },
                  { " pipe_waits=", GT_STALL_MATH_PIPE },
                  { " send_waits=", GT_STALL_LG_THROTTLE } };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        launch->result.stalls[names[i].stall] =
            cost->cycles * launch->result.warps_mean * number_of(cost->resources, names[i].name);
}

/* In between, as the steps between them are interpolated. */
static double wave_at(const double *waves, double competing, double sms)
{
    return waves[0] + (sms > 1 ? (waves[1] - waves[0]) * (competing - 1) / (sms - 1) : 0);
}

/* What the warp tier would have said of the workload's launches; NULL without costs.  To be given to
 * gt_kernel_model_free(). */
static struct gt_kernel_model *golden_costs_of(const struct gt_workload *w, const struct gt_device *device)
{
    struct gt_kernel_model *modelled = calloc(1, sizeof *modelled);

    modelled->launches = calloc(w->op_count, sizeof *modelled->launches);
    modelled->launch_of = calloc(w->op_count, sizeof *modelled->launch_of);
    modelled->op_count = modelled->count = w->op_count;
    modelled->sms = device->sms;
    for (uint32_t op = 0; op < w->op_count; op++) {
        const struct gt_kernel *kernel = &w->kernels[w->ops[op].kernel];
        struct gt_kernel_model_launch *launch = &modelled->launches[op];
        struct gt_occupancy occupancy;

        modelled->launch_of[op] = GT_NONE;
        for (int i = 0; i < golden_costs.count && w->ops[op].kind == GT_OP_KERNEL; i++) {
            const struct golden_cost *cost = &golden_costs.cost[i];

            if (strcmp(gt_name_text(w, kernel->name), cost->kernel) != 0)
                continue;
            golden_costs.cost[i].launched = true;
            modelled->launch_of[op] = op;
            gt_occupancy_of(device, kernel, &occupancy, NULL);
            launch->launch.use = &cost->use;
            launch->launch.blocks = gt_kernel_blocks(kernel);
            launch->launch.blocks_per_sm = occupancy.blocks_per_sm;
            launch->result.cycles = launch->result.run_cycles = cost->cycles;
            launch->wave_cycles = calloc(MOST_WAVES + 1, sizeof *launch->wave_cycles);
            for (int n = 1; n <= MOST_WAVES; n++)
                for (int step = 0; step < GT_COMPETING; step++)
                    launch->wave_cycles[n][step] =
                        wave_at(cost->waves[n], gt_competing_sms(modelled, step), device->sms);
            set_busy(launch->result.busy, cost->resources);
            launch->result.issue_run_length = number_of(cost->resources, "issue_run_length=");
            launch->result.at_once = number_of(cost->resources, "at_once=");
            launch->result.read_latency = number_of(cost->resources, "latency=");
            launch->result.warps_mean = number_of(cost->resources, "warps=");
            if (!(launch->result.warps_mean > 0))
                launch->result.warps_mean = 1000; /* what one of so many waits for is nothing to the others */
            launch->result.atomic_row_cycles = number_of(cost->resources, " row=");
            launch->result.uneven = number_of(cost->resources, "uneven=");
            set_waits(launch, cost);
        }
    }
    return modelled;
}

#endif
