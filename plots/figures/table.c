/* The figures of a report, in the order in which they stand on a page.
 *
 * To add one:
 *   1. Write NAME.c here: `gt_prepare_fn gt_prepare_NAME;` and that function.  It reads gt_view (plots/data), writes
 *      data files into the work folder and numbers into drawing->parameters, and fills size and alternative text.
 *   2. Add its row below: name, template, title, pages, function, how to read it.
 *   If none of the templates draws it (cycles.gp and suite.gp draw points, stalls.gp bars in lanes), its own is
 *   plots/templates/NAME.gp, which finds everything of style.gp and the parameters set.  Then plots/local.mk (the sources, and
 *   dist_templates_DATA for a template), and a test in tests/cli/report.bats.
 */
#include "plots/figures/figure.h"

extern gt_prepare_fn gt_prepare_suite, gt_prepare_families, gt_prepare_cycles, gt_prepare_roofline, gt_prepare_stalls,
    gt_prepare_timeline, gt_prepare_sms, gt_prepare_warps, gt_prepare_copies, gt_prepare_errors, gt_prepare_placement,
    gt_prepare_workers, gt_prepare_ranks, gt_prepare_kernel_roofline;

enum { ONE_RUN = GT_PAGE_TIMELINE | GT_PAGE_CHANGE };

#define NO_RESIDENCY \
    "This run has no block residency: it has no kernels that were simulated block by block (--blocks off)."

const struct gt_figure gt_figures[] = {
    { .name = "suite",
      .template = "suite",
      .title = "All traces: simulated and measured makespans",
      .opens = GT_PAGE_SUITE,
      .prepare = gt_prepare_suite,
      .alone = "Makespan of each trace, against the median of its measured runs; both axes are logarithmic. On the "
               "line the simulation is exact, below it too short, above it too long." },
    { .name = "families",
      .template = "families",
      .title = "All traces: errors by family",
      .opens = GT_PAGE_SUITE,
      .prepare = gt_prepare_families,
      .alone = "Makespan error of every trace, (simulated − measured) / measured, by family (the part of the trace’s "
               "name before the slash). The axis is linear near 0 and logarithmic elsewhere; shaded: within 1%." },
    { .name = "cycles",
      .template = "cycles",
      .title = "Kernels in cycles",
      .opens = GT_PAGE_KERNELS,
      .follows = GT_PAGE_TIMELINE,
      .prepare = gt_prepare_cycles,
      .alone = "Cycles of each launch, simulated from its machine code and measured by the profiler; both axes are "
               "logarithmic. On the line the simulation is exact, below it too short, above it too long; the thin "
               "lines mark 10%." },
    { .name = "roofline",
      .template = "roofline",
      .title = "Kernels: roofline",
      .opens = GT_PAGE_KERNELS,
      .follows = ONE_RUN,
      .prepare = gt_prepare_roofline,
      .alone = "Each launch by its warp instructions per byte of DRAM traffic (horizontal) and per cycle of the "
               "whole GPU (vertical); both axes are logarithmic." },
    { .name = "stalls",
      .template = "stalls",
      .title = "Kernels: warp stall reasons",
      .opens = GT_PAGE_KERNELS,
      .follows = ONE_RUN,
      .prepare = gt_prepare_stalls,
      .alone = "The launches with the most simulated cycles, by launch number. ‘gridtide explain’ lists stalls by "
               "instruction." },
    { .name = "timeline",
      .template = "timeline",
      .title = "Timeline by stream",
      .opens = ONE_RUN | GT_PAGE_TRACE,
      .follows = GT_PAGE_KERNELS,
      .prepare = gt_prepare_timeline,
      .absent = "No operation ran." },
    { .name = "kernel-roofline",
      .template = "kernel-roofline",
      .title = "Roofline of the kernels",
      .opens = ONE_RUN | GT_PAGE_TRACE,
      .prepare = gt_prepare_kernel_roofline,
      .alone =
          "A dot is a kernel, its area its share of the kernels’ time: how many operations it does for each byte "
          "that it moves (horizontal), and how many a second (vertical); both axes are logarithmic." },
    { .name = "workers",
      .template = "workers",
      .title = "Workers and their tasks",
      .opens = ONE_RUN,
      .prepare = gt_prepare_workers,
      .alone = "A row is a worker: a block of a kernel that executes the tasks of a task graph. Colours are kinds of "
               "task, pale colours are waits; white is the time before the first and after the last task." },
    { .name = "ranks",
      .template = "ranks",
      .title = "Ranks over time",
      .opens = ONE_RUN,
      .prepare = gt_prepare_ranks,
      .alone = "A lane is a GPU: computation and copies above, its collectives below. Blue is hidden by other work "
               "of the GPU, orange is exposed; pale is waiting for the last rank, which a triangle marks." },
    { .name = "sms",
      .template = "sms",
      .title = "SM occupancy",
      .opens = ONE_RUN,
      .follows = GT_PAGE_KERNELS,
      .prepare = gt_prepare_sms,
      .alone = "A row is an SM: the darker, the more of its warp slots are occupied; white is idle. A ragged right "
               "edge of a dark patch is a tail wave: few blocks are left, most SMs are idle.",
      .absent = NO_RESIDENCY },
    { .name = "warps",
      .template = "warps",
      .title = "Resident warps over time",
      .opens = ONE_RUN,
      .follows = GT_PAGE_KERNELS,
      .prepare = gt_prepare_warps,
      .alone = "Resident warps on all SMs, as a share of the device’s warp slots. Registers, shared memory and block "
               "size of the kernels limit it.",
      .absent = NO_RESIDENCY },
    { .name = "copies",
      .template = "copies",
      .title = "Copy engines",
      .opens = ONE_RUN,
      .prepare = gt_prepare_copies,
      .alone = "Bandwidth of the copies in each direction.",
      .pair = "Bandwidth of the copies in each direction: %1$s upwards, %2$s downwards; where they agree, the halves "
              "are mirror images.",
      .absent = "No copy ran." },
    { .name = "errors",
      .template = "errors",
      .title = "Start errors",
      .opens = GT_PAGE_TIMELINE,
      .prepare = gt_prepare_errors,
      .absent = "The trace has no recorded times to compare with." },
    { .name = "placement",
      .template = "placement",
      .title = "Blocks by SM",
      .opens = GT_PAGE_TIMELINE,
      .prepare = gt_prepare_placement },
};
const unsigned gt_figure_count = sizeof gt_figures / sizeof gt_figures[0];
