#include "validate/surrogate.h"

#include <stdlib.h>
#include <string.h>

#include "sim/blockcost.h"
#include "sim/occupancy.h"

static const char spin[] = "spin";

/* A kernel of a program that ran once, rather than one that somebody made up. */
static bool recorded(const struct gt_workload *workload, const struct gt_op *op)
{
    return op->start_ps != GT_TIME_NONE
        || (workload->source != NULL && strcmp(workload->source, "gridtide") != 0);
}

static int refuse(const struct gt_workload *workload, const struct gt_op *op, struct gt_error *error,
                  const char *what)
{
    const struct gt_kernel *kernel = &workload->kernels[op->kernel];
    uint32_t line = kernel->line != 0 ? kernel->line : workload->calls[op->call].line;

    return gt_error_set(error, "%.300s:%u: kernel '%.200s': %s", workload->path != NULL ? workload->path : "trace",
                        line, gt_name_text(workload, kernel->name), what);
}

static void one_time(struct gt_part *part, gt_time_ps block_ps)
{
    part->block_ps = gt_calloc(1, sizeof *part->block_ps);
    part->block_ps[0] = block_ps;
    part->block_count = 1;
}

/* Alone, the grid runs in waves one after the other: each takes its share of the duration. */
static int invert(const struct gt_workload *workload, const struct gt_op *op, const struct gt_device *recorded_on,
                  struct gt_part *part, struct gt_error *error)
{
    const struct gt_kernel *kernel = &workload->kernels[op->kernel];
    gt_time_ps duration_ps = op->duration_ps != GT_TIME_NONE ? op->duration_ps : kernel->duration_ps;
    struct gt_occupancy occupancy;

    if (duration_ps == GT_TIME_NONE)
        return refuse(workload, op, error, "nothing says how long it takes");
    if (gt_occupancy_of(recorded_on, kernel, &occupancy, error) != 0)
        return refuse(workload, op, error, "it does not fit the device that it was recorded on");
    one_time(part, duration_ps / occupancy.waves);
    return 0;
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

int gt_part_of(const struct gt_workload *workload, uint32_t op_number, const struct gt_device *recorded_on,
               uint64_t seed, bool surrogates, struct gt_part *part, struct gt_error *error)
{
    const struct gt_op *op = &workload->ops[op_number];
    const struct gt_kernel *kernel = &workload->kernels[op->kernel];

    *part = (struct gt_part){ .library = spin };
    if (kernel->runs != GT_NONE) {
        part->library = gt_name_text(workload, kernel->runs);
        part->arguments = kernel->arguments != GT_NONE ? gt_name_text(workload, kernel->arguments) : NULL;
        if (strcmp(part->library, spin) != 0 || says_cycles(part->arguments))
            return 0;
    } else {
        part->surrogate = recorded(workload, op);
        if (part->surrogate && !surrogates)
            return refuse(workload, op, error, "its code is not at hand; --surrogates plays kernels that spin for "
                          "as long in its place");
    }
    if (kernel->cost == GT_COST_NONE)
        return invert(workload, op, recorded_on, part, error);
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
