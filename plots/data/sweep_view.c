#include "plots/data/sweep_view.h"

#include <math.h>
#include <stdlib.h>

static int note(void *user, const struct gt_sweep_row *row, struct gt_error *error)
{
    struct gt_sweep_view *view = user;
    uint64_t *best = &view->best[row->point / gt_sweep_grid_points(&view->plan)];

    (void)error;
    view->done++;
    view->refused += row->refusal != NULL && row->refusal[0] != '\0';
    view->change_pct[row->point] = row->change_pct;
    view->step_us[row->point] = row->step_us;
    free(view->trust[row->point]);
    view->trust[row->point] = gt_strdup(row->trust);
    if (isfinite(row->step_us) && (*best == UINT64_MAX || row->step_us < view->step_us[*best]))
        *best = row->point;
    return 0;
}

int gt_sweep_view_load(struct gt_sweep_view *view, struct gt_store *store, struct gt_error *error)
{
    *view = (struct gt_sweep_view){ .points = 0 };
    if (gt_sweep_plan_read(store, &view->plan, error) != 0)
        return -1;
    view->points = gt_sweep_points(&view->plan);
    view->change_pct = gt_calloc(view->points, sizeof *view->change_pct);
    view->step_us = gt_calloc(view->points, sizeof *view->step_us);
    view->trust = gt_calloc(view->points, sizeof *view->trust);
    view->best = gt_calloc(view->plan.trace_count, sizeof *view->best);
    for (uint64_t i = 0; i < view->points; i++)
        view->change_pct[i] = view->step_us[i] = NAN;
    for (uint32_t i = 0; i < view->plan.trace_count; i++)
        view->best[i] = UINT64_MAX;
    return gt_sweep_each(store, &view->plan, note, view, error);
}

void gt_sweep_view_free(struct gt_sweep_view *view)
{
    for (uint64_t i = 0; view->trust != NULL && i < view->points; i++)
        free(view->trust[i]);
    free(view->trust);
    free(view->change_pct);
    free(view->step_us);
    free(view->best);
    gt_sweep_plan_free(&view->plan);
}

const char *gt_sweep_view_trace(const struct gt_sweep_view *view, uint32_t trace)
{
    const struct gt_sweep_trace *row = &view->plan.traces[trace];

    return row->name != NULL ? row->name : row->file;
}

double gt_sweep_view_least(const struct gt_sweep_view *view, uint32_t trace, uint32_t parameter, uint32_t value,
                           uint32_t other, uint32_t other_value)
{
    uint64_t grid = gt_sweep_grid_points(&view->plan);
    double least = NAN;

    for (uint64_t i = trace * grid; i < (trace + 1) * grid; i++)
        if (gt_sweep_value(&view->plan, i, parameter) == value &&
            (other == parameter || gt_sweep_value(&view->plan, i, other) == other_value))
            least = fmin(least, view->change_pct[i]); /* of a number and NAN it is the number */
    return least;
}
