/* kernel=NAME*FACTOR, remove=NAME: kernels of a name last otherwise, or are not there. */
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/machine/durations.h"
#include "sim/rewrite/without.h"
#include "sim/workload/task_graph.h"

/* Which kernels of the workload are meant: those that the name fits best.  The caller frees it; NULL with an error
 * where there are none. */
static bool *find_kernels(const struct gt_scenario *scenario, const char *name, struct gt_error *error)
{
    const struct gt_workload *w = scenario->workload;
    int *how = gt_calloc(w->kernel_count + 1ull, sizeof *how), best = 0;
    bool *meant;

    for (uint32_t i = 0; i < w->kernel_count; i++) {
        how[i] = scenario->host->fit_kernel(gt_name_text(w, w->kernels[i].name), name);
        best = how[i] > best ? how[i] : best;
    }
    if (best == 0) {
        free(how);
        gt_error_set(error, "no kernel has this name or contains it; 'gridtide stats' of a run lists kernels");
        return NULL;
    }
    meant = gt_calloc(w->kernel_count + 1ull, sizeof *meant);
    for (uint32_t i = 0; i < w->kernel_count; i++)
        meant[i] = how[i] == best;
    free(how);
    return meant;
}

static bool is_meant(const struct gt_op *op, const bool *meant)
{
    return op->kind == GT_OP_KERNEL && meant[op->kernel];
}

static void count_launches(struct gt_scenario *scenario, const bool *meant, const char *what)
{
    uint64_t launches = 0, names = 0;

    for (uint32_t i = 0; i < scenario->workload->op_count; i++)
        launches += is_meant(&scenario->workload->ops[i], meant);
    for (uint32_t i = 0; i < scenario->workload->kernel_count; i++)
        names += meant[i];
    gt_scenario_assume(scenario, GT_TRUST_HIGH, "%llu launches of %llu %s by that name are %s",
                       (unsigned long long)launches, (unsigned long long)names, names == 1 ? "kernel" : "kernels",
                       what);
}

static gt_time_ps scaled(gt_time_ps time_ps, double factor)
{
    return time_ps == GT_TIME_NONE ? time_ps : gt_whole_ps((double)time_ps * factor);
}

/* Its tasks anew: the recording, and kernels that are not meant, keep theirs. */
static void scale_tasks(struct gt_workload *w, struct gt_kernel *kernel, double factor)
{
    struct gt_task_graph *graph = gt_task_graph_copy(kernel->tasks, NULL, NULL);

    gt_task_graph_scale(graph, factor);
    gt_workload_add_task_graph(w, graph);
    graph->number = kernel->tasks->number; /* the same times are drawn, then scaled */
    kernel->tasks = graph;
}

static void scale_kernel(struct gt_workload *w, struct gt_kernel *kernel, double factor)
{
    if (kernel->tasks != NULL)
        scale_tasks(w, kernel, factor);
    kernel->duration_ps = scaled(kernel->duration_ps, factor);
    kernel->block_min_ps = scaled(kernel->block_min_ps, factor);
    kernel->block_max_ps = scaled(kernel->block_max_ps, factor);
    kernel->prologue_ps = scaled(kernel->prologue_ps, factor);
    for (uint32_t i = 0; i < kernel->block_list_length; i++)
        kernel->block_list_ps[i] = scaled(kernel->block_list_ps[i], factor);
}

static int apply_factor(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const char *star = strrchr(argument, '*');
    struct gt_workload *w = scenario->workload;
    double factor;
    char *end, *name;
    bool *meant;

    if (star == NULL || star == argument || star[1] == '\0')
        return gt_error_set(error, "it takes NAME*FACTOR");
    factor = strtod(star + 1, &end);
    if (*end != '\0' || !(factor >= 0 && factor <= 1e6))
        return gt_error_set(error, "'%.40s' is no factor from 0 to 1000000", star + 1);
    name = gt_strndup(argument, (size_t)(star - argument));
    meant = find_kernels(scenario, name, error);
    free(name);
    if (meant == NULL)
        return -1;
    for (uint32_t i = 0; i < w->kernel_count; i++)
        if (meant[i])
            scale_kernel(w, &w->kernels[i], factor);
    for (uint32_t i = 0; i < w->op_count; i++)
        if (is_meant(&w->ops[i], meant))
            w->ops[i].duration_ps = scaled(w->ops[i].duration_ps, factor);
    count_launches(scenario, meant, "scaled; grid, block and resources stay");
    free(meant);
    return 0;
}

static int apply_remove(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const struct gt_workload *w = scenario->workload;
    bool *meant = find_kernels(scenario, argument, error), *gone;

    if (meant == NULL)
        return -1;
    count_launches(scenario, meant, "removed with their calls; the host's work around them stays");
    gone = gt_calloc(w->op_count + 1ull, sizeof *gone);
    for (gt_op_index i = 0; i < w->op_count; i++)
        gone[i] = is_meant(&w->ops[i], meant);
    gt_scenario_replace(scenario, gt_workload_without(w, gone));
    free(meant);
    free(gone);
    return 0;
}

const struct gt_change_kind gt_change_kernel = {
    .name = "kernel",
    .keeps_gpu = true,
    .argument = "NAME*FACTOR",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "scale kernels whose name is or contains NAME: FACTOR 0.5 halves their duration",
    .apply = apply_factor,
};
const struct gt_change_kind gt_change_remove = {
    .name = "remove",
    .keeps_gpu = true,
    .argument = "NAME",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "remove the kernels whose name is or contains NAME, with their launches",
    .apply = apply_remove,
};
