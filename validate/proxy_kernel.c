#include "validate/proxy_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/workload/block_cost.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/task_graph.h"

static const char spin[] = "spin", phases[] = "spin_phases", executor[] = "executor";

/* A kernel of a program that ran once, rather than one that somebody made up. */
static bool recorded(const struct gt_workload *workload, const struct gt_op *op)
{
    return op->start_ps != GT_TIME_NONE || (workload->source != NULL && strcmp(workload->source, "gridtide") != 0);
}

static int refuse(const struct gt_workload *workload, const struct gt_op *op, struct gt_error *error,
                  const char *what)
{
    const struct gt_kernel *kernel = &workload->kernels[op->kernel];
    uint32_t line = kernel->line != 0 ? kernel->line : workload->calls[op->call].line;

    return gt_error_set(error, "%.300s:%u: kernel '%.200s': %.400s",
                        workload->path != NULL ? workload->path : "trace", line, gt_name_text(workload, kernel->name),
                        what);
}

/* Alone, the grid runs in waves one after the other: each takes its share of the duration, less what
 * passes until the first wave is out and until slots are filled again. */
static gt_time_ps share_of(gt_time_ps duration_ps, const struct gt_device *device, const struct gt_kernel *kernel,
                           const struct gt_occupancy *occupancy)
{
    uint64_t slots = (uint64_t)device->sms * occupancy->blocks_per_sm, blocks = gt_kernel_blocks(kernel);
    uint64_t first = blocks < slots ? blocks : slots;
    gt_time_ps lost_ps = (first - 1) * device->dispatch_ps + (occupancy->waves - 1) * device->refill_ps;

    return (duration_ps > lost_ps ? duration_ps - lost_ps : 0) / occupancy->waves;
}

static int stand_in(struct gt_workload *workload, uint32_t number, const struct gt_device *device,
                    struct gt_error *error)
{
    struct gt_op *op = &workload->ops[number];
    struct gt_kernel kernel = workload->kernels[op->kernel];
    gt_time_ps duration_ps = op->duration_ps != GT_TIME_NONE ? op->duration_ps : kernel.duration_ps;
    struct gt_occupancy occupancy;
    struct gt_error why;

    if (duration_ps == GT_TIME_NONE)
        return refuse(workload, op, error,
                      "it names no kernel of the library, and nothing says how long one "
                      "that spins in its place would");
    if (gt_occupancy_of(device, &kernel, &occupancy, &why) != 0)
        return refuse(workload, op, error, why.text);
    kernel.cost = GT_COST_FIXED;
    kernel.block_min_ps = kernel.block_max_ps = share_of(duration_ps, device, &kernel, &occupancy);
    kernel.duration_ps = GT_TIME_NONE;
    kernel.runs = gt_name(workload, spin, sizeof spin - 1);
    op->kernel = gt_workload_kernel(workload, &kernel);
    return 0;
}

int64_t gt_proxy_kernels_make(struct gt_workload *workload, const struct gt_device *device, bool allowed,
                              struct gt_error *error)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        bool foreign = recorded(workload, op);

        if (op->kind != GT_OP_KERNEL || workload->kernels[op->kernel].runs != GT_NONE ||
            workload->kernels[op->kernel].tasks != NULL ||
            workload->kernels[op->kernel].collective.kind != GT_COLLECTIVE_NONE)
            continue;
        if (foreign && !allowed)
            return refuse(workload, op, error,
                          "its code is not at hand; with --surrogates a kernel of the same shape "
                          "that spins for as long is played in its place");
        count += foreign;
        if (workload->kernels[op->kernel].cost == GT_COST_NONE && stand_in(workload, i, device, error) != 0)
            return -1;
    }
    return count;
}

bool *gt_proxy_kernels_in_trees(const struct gt_workload *workload)
{
    bool *in_trees = gt_calloc(workload->kernel_count + 1ull, sizeof *in_trees);

    for (uint32_t i = 0; i < workload->child_launch_count; i++) {
        in_trees[workload->ops[workload->child_launches[i].op].kernel] = true;
        in_trees[workload->ops[workload->child_launches[i].parent].kernel] = true;
    }
    return in_trees;
}

/* Do its tasks more than spin: what their kinds name, or their bytes and operations? */
static bool works(const struct gt_task_graph *graph)
{
    for (uint32_t i = 0; i < graph->kind_count; i++)
        if (graph->kinds[i].runs != GT_NONE || graph->kinds[i].cost == GT_TASK_COST_NONE)
            return true;
    return false;
}

void gt_proxy_kernels_as_played(const struct gt_workload *workload, struct gt_workload *played)
{
    bool *in_trees = gt_proxy_kernels_in_trees(workload);

    *played = *workload;
    played->kernels = gt_calloc(workload->kernel_count + 1ull, sizeof *played->kernels);
    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        struct gt_kernel *kernel = &played->kernels[i];

        *kernel = workload->kernels[i];
        if (kernel->collective.kind != GT_COLLECTIVE_NONE)
            continue; /* NCCL's own */
        if (in_trees[i]) {
            kernel->registers_per_thread = GT_PROXY_TREE_REGISTERS;
        } else if (kernel->tasks != NULL) {
            uint32_t least = works(kernel->tasks) ? GT_PROXY_WORKS_REGISTERS_LEAST : GT_PROXY_TASKS_REGISTERS_LEAST;

            if (kernel->registers_per_thread < least)
                kernel->registers_per_thread = least;
        } else if ((kernel->runs == GT_NONE || strcmp(gt_name_text(workload, kernel->runs), spin) == 0) &&
                   kernel->registers_per_thread < GT_PROXY_REGISTERS_LEAST)
            kernel->registers_per_thread = GT_PROXY_REGISTERS_LEAST;
    }
    free(in_trees);
}

/* Do its blocks do more than spin: meet, wait for the kernel before, let the next one come? */
static bool meets(const struct gt_kernel *kernel, const struct gt_op *op)
{
    return kernel->grid_barriers > 0 || kernel->early_pct > 0 || op->programmatic;
}

static void one_time(struct gt_part *part, gt_time_ps block_ps)
{
    part->block_ps = gt_calloc(1, sizeof *part->block_ps);
    part->block_ps[0] = block_ps;
    part->block_count = 1;
}

/* Every block's own time, the number that the simulator draws. */
static int draw_all(const struct gt_workload *workload, uint32_t op, uint64_t seed, struct gt_part *part,
                    struct gt_error *error)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    uint64_t count = kernel->cost == GT_COST_LIST ? kernel->block_list_length : gt_kernel_blocks(kernel);

    if (count > GT_PART_BLOCKS_MAX)
        return refuse(workload, &workload->ops[op], error, "more blocks with a time each than can be played");
    part->block_ps = gt_calloc(count, sizeof *part->block_ps);
    part->block_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++)
        part->block_ps[i] = gt_block_cost_ps(kernel, seed, op, i);
    return 0;
}

static bool says_cycles(const char *arguments)
{
    return arguments != NULL && strstr(arguments, "\"cycles\":") != NULL;
}

int gt_part_of(const struct gt_workload *workload, uint32_t op_number, uint64_t seed, struct gt_part *part,
               struct gt_error *error)
{
    const struct gt_op *op = &workload->ops[op_number];
    const struct gt_kernel *kernel = &workload->kernels[op->kernel];

    *part = (struct gt_part){ .library = kernel->tasks != NULL ? executor : spin };
    if (kernel->tasks != NULL)
        return 0;
    if (kernel->runs != GT_NONE)
        part->library = gt_name_text(workload, kernel->runs);
    if (kernel->arguments != GT_NONE)
        part->arguments = gt_name_text(workload, kernel->arguments);
    if (strcmp(part->library, spin) != 0)
        return meets(kernel, op)
                   ? refuse(workload, op, error,
                            "\"grid_barriers\", \"trigger_pct\" and programmatic launches are played by spin "
                            "alone; leave \"runs\" out")
                   : 0;
    if (meets(kernel, op))
        part->library = phases;
    if (says_cycles(part->arguments))
        return 0;
    if (kernel->cost == GT_COST_NONE)
        return refuse(workload, op, error, "it runs spin but says neither \"cycles\" nor a block time");
    if (kernel->cost == GT_COST_FIXED) {
        one_time(part, kernel->block_min_ps);
        return 0;
    }
    return draw_all(workload, op_number, seed, part, error);
}

void gt_part_free(struct gt_part *part)
{
    free(part->block_ps);
    *part = (struct gt_part){ .library = NULL };
}
