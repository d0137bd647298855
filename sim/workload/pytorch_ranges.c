#include "sim/workload/pytorch_ranges.h"

#include <string.h>

static bool begins(const struct gt_workload *w, const struct gt_range *range, const char *start)
{
    return strncmp(gt_name_text(w, range->name), start, strlen(start)) == 0;
}

bool gt_range_makes_gradient(const struct gt_workload *w, const struct gt_range *range)
{
    return range->gradient_bytes > 0 || strcmp(gt_name_text(w, range->name), "torch::autograd::AccumulateGrad") == 0;
}

bool gt_range_is_backward_node(const struct gt_workload *w, const struct gt_range *range)
{
    return begins(w, range, "autograd::engine::evaluate_function");
}

bool gt_range_is_optimiser_step(const struct gt_workload *w, const struct gt_range *range)
{
    return begins(w, range, "Optimizer.step#");
}

bool gt_ranges_are_compiled(const struct gt_workload *w)
{
    for (gt_range_index i = 0; i < w->range_count; i++)
        if (strstr(gt_name_text(w, w->ranges[i].name), "CompiledFunctionBackward") != NULL)
            return true;
    return false;
}
