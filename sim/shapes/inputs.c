#include "sim/shapes/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"

static void read_all(struct gt_all_inputs *all)
{
    const struct gt_workload *w = all->workload;

    all->names = gt_name_count(w);
    all->of_name = gt_calloc(all->names + 1ull, sizeof *all->of_name);
    for (uint32_t i = 0; i < w->range_count; i++) {
        uint32_t name = w->ranges[i].inputs;

        if (name == GT_NONE)
            continue;
        all->known++;
        if (all->of_name[name] != NULL)
            continue;
        all->of_name[name] = gt_calloc(1, sizeof **all->of_name);
        all->of_name[name]->count = gt_tensors_read(gt_name_text(w, name), all->of_name[name]->tensors);
    }
}

void gt_all_inputs_find(struct gt_all_inputs *all, const struct gt_workload *workload)
{
    *all = (struct gt_all_inputs){ .workload = workload };
    read_all(all);
    all->operator_of = gt_ranges_innermost(workload);
    for (uint32_t i = 0; i < workload->call_count; i++) {
        gt_range_index range = all->operator_of[i];

        while (range != GT_NONE && workload->ranges[range].inputs == GT_NONE)
            range = workload->ranges[range].parent;
        all->operator_of[i] = range;
    }
}

void gt_all_inputs_free(struct gt_all_inputs *all)
{
    for (uint32_t i = 0; i < all->names; i++)
        free(all->of_name[i]);
    free(all->of_name);
    free(all->operator_of);
}

const struct gt_inputs *gt_inputs_of(const struct gt_all_inputs *all, gt_range_index range)
{
    uint32_t name = range == GT_NONE ? GT_NONE : all->workload->ranges[range].inputs;

    return name == GT_NONE ? NULL : all->of_name[name];
}

const char *gt_operator_name(const struct gt_workload *workload, gt_range_index range)
{
    const char *name = gt_name_text(workload, workload->ranges[range].name);

    return strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
}
