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
    all->operator_of = gt_realloc(NULL, workload->call_count + 1ull, sizeof *all->operator_of);
    for (gt_call_index i = 0; i < workload->call_count; i++)
        all->operator_of[i] = GT_NONE;
    for (gt_range_index i = 0; i < workload->range_count; i++) { /* outer ones come before those in them */
        const struct gt_range *range = &workload->ranges[i];

        for (gt_call_index call = range->first_call; range->inputs != GT_NONE && call < range->end_call; call++)
            if (gt_range_has_call(workload, range, call))
                all->operator_of[call] = i;
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

bool gt_inputs_are_matrices(const struct gt_inputs *inputs, int first, int sides)
{
    return first >= 0 && first + 1 < inputs->count && inputs->tensors[first].sides == sides &&
           inputs->tensors[first + 1].sides == sides;
}

const char *gt_operator_name(const struct gt_workload *workload, gt_range_index range)
{
    const char *name = gt_name_text(workload, workload->ranges[range].name);

    return strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
}
