#include "plots/figures/labels.h"

#include <math.h>

bool gt_labels_place(struct gt_labels *labels, double across, double up)
{
    if (labels->count == GT_LABELS_MOST)
        return false;
    for (unsigned i = 0; i < labels->count; i++)
        if (fabs(log(labels->across[i] / across)) < log(labels->apart_across) &&
            fabs(log(labels->up[i] / up)) < log(labels->apart_up))
            return false;
    labels->across[labels->count] = across;
    labels->up[labels->count++] = up;
    return true;
}
