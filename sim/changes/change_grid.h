/* change_grid.h - the grid of changes that a sweep goes through: each of a parameter's values with each of the others'. */
#ifndef GRIDTIDE_SIM_CHANGES_CHANGE_GRID_H
#define GRIDTIDE_SIM_CHANGES_CHANGE_GRID_H

#include "sim/changes/changes.h"

enum { GT_GRID_PARAMETERS_MAX = 16, GT_GRID_VALUES_MAX = 1000 };
/* Points of a sweep, over all of its traces. */
enum { GT_SWEEP_POINTS_MAX = 1000000 };

struct gt_grid_value {
    char *text;              /* as typed: "4", "off" */
    char *spec;              /* "streams=4"; NULL: the change is not made */
    struct gt_change change; /* where it is; lends spec */
};
struct gt_grid_parameter {
    char *name; /* "streams"; a second one of that name is "streams#2" */
    struct gt_grid_value *values;
    uint32_t count;
};
struct gt_change_grid {
    struct gt_grid_parameter parameters[GT_GRID_PARAMETERS_MAX];
    uint32_t count;
    uint64_t points; /* 1 of none */
};
#define GT_GRID_EMPTY \
    {                 \
        .points = 1   \
    }

/* One more parameter: "NAME=VALUE,VALUE", as changes.h has them; commas within brackets divide nothing.  A change that
 * needs no value has "on" and "off", which is not to make it, and both where `over` is its name alone.  Returns 0; -1
 * with what is wrong with it.  Either way gt_change_grid_free() ends the grid. */
int gt_change_grid_add(struct gt_change_grid *grid, const char *over, struct gt_error *error);
void gt_change_grid_free(struct gt_change_grid *grid);

/* The changes of a point into changes[]: the last parameter's value changes with every point, the first one's least.
 * Returns how many there are. */
uint32_t gt_change_grid_at(const struct gt_change_grid *grid, uint64_t point,
                           struct gt_change changes[GT_GRID_PARAMETERS_MAX]);

#endif
