/* labels.h - labels of points on logarithmic axes that do not lie on each other. */
#ifndef GRIDTIDE_PLOTS_FIGURES_LABELS_H
#define GRIDTIDE_PLOTS_FIGURES_LABELS_H

#include <stdbool.h>

enum { GT_LABELS_MOST = 64 };

struct gt_labels { /* those that were placed */
    double across[GT_LABELS_MOST], up[GT_LABELS_MOST];
    unsigned count;
    double apart_across, apart_up; /* as factors: so far is each from the others */
};

/* Is there space for one more label at the point?  Then it is placed. */
bool gt_labels_place(struct gt_labels *labels, double across, double up);

#endif
