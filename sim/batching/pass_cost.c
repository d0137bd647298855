#include "sim/batching/pass_cost.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"

const char *const gt_pass_kind_names[GT_PASS_KINDS] = { "decode", "prefill" };

/* Where a value lies on an axis: between node `low` and the next one, at part `at` of the way (above 1: beyond the last). */
struct place {
    uint32_t low;
    double at;
};

static struct place place_of(const uint32_t *axis, uint32_t count, double value)
{
    struct place place = { 0, 0 };

    if (count < 2 || value <= axis[0])
        return place;
    while (place.low + 2 < count && value > axis[place.low + 1])
        place.low++;
    place.at = (value - axis[place.low]) / ((double)axis[place.low + 1] - axis[place.low]);
    return place;
}

/* Beyond the last node it grows or stays. */
static double between(double low, double high, double at)
{
    return at > 1 ? high + fmax(0, high - low) * (at - 1) : low + (high - low) * at;
}

static double along_depth(const struct gt_pass_grid *grid, const double *values, uint32_t size, struct place depth)
{
    const double *row = &values[(size_t)size * grid->depth_count];

    return depth.at == 0 ? row[depth.low] : between(row[depth.low], row[depth.low + 1], depth.at);
}

/* `values`: of the grid's nodes. */
static double look_up(const struct gt_pass_grid *grid, const double *values, double size, double depth)
{
    struct place by_size = place_of(grid->sizes, grid->size_count, size);
    struct place by_depth = place_of(grid->depths, grid->depth_count, depth);
    double low;

    if (grid->size_count == 0)
        return 0;
    low = along_depth(grid, values, by_size.low, by_depth);
    return by_size.at == 0 ? low : between(low, along_depth(grid, values, by_size.low + 1, by_depth), by_size.at);
}

static double cost_us(const struct gt_pass_grid *grid, double size, double depth)
{
    return look_up(grid, grid->us, size, depth);
}

gt_time_ps gt_pass_ps(const struct gt_pass_costs *costs, const struct gt_pass *pass)
{
    const struct gt_pass_grid *prefill = &costs->grids[GT_PASS_PREFILL], *decode = &costs->grids[GT_PASS_DECODE];
    double us;

    if (pass->tokens == 0)
        us = cost_us(decode, pass->sequences, pass->context);
    else if (pass->sequences == 0)
        us = cost_us(prefill, pass->tokens, pass->before);
    else
        us = cost_us(prefill, (double)pass->tokens + pass->sequences, pass->before) +
             fmax(0, cost_us(decode, pass->sequences, pass->context) - cost_us(prefill, pass->sequences, 0));
    return (gt_time_ps)(fmin(us + costs->between_us, (double)GT_TIME_LIMIT_PS / 1e6) * 1e6);
}

double gt_pass_products(const struct gt_pass_costs *costs, const struct gt_pass *pass)
{
    const struct gt_pass_grid *grid = &costs->grids[pass->tokens > 0 ? GT_PASS_PREFILL : GT_PASS_DECODE];
    double size = pass->tokens > 0 ? pass->tokens : pass->sequences;
    double depth = pass->tokens > 0 ? pass->before : pass->context;

    return grid->products == NULL ? 0 : fmin(1, look_up(grid, grid->products, size, depth));
}

uint32_t gt_pass_axis(uint32_t *values, uint32_t count)
{
    uint32_t kept = 0;

    qsort(values, count, sizeof *values, gt_by_u32);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

struct gt_pass_grid gt_pass_grid_new(uint32_t *sizes, uint32_t size_count, uint32_t *depths, uint32_t depth_count)
{
    size_t nodes = (size_t)size_count * depth_count;
    struct gt_pass_grid grid = { sizes, depths, size_count, depth_count, NULL, NULL };

    grid.us = gt_calloc(nodes + 1, sizeof *grid.us);
    grid.products = gt_calloc(nodes + 1, sizeof *grid.products);
    for (size_t i = 0; i < nodes; i++)
        grid.us[i] = NAN;
    return grid;
}

/* Of `count` nodes, `stride` apart, those that are NAN, by the known ones on either side, or by the two nearest. */
static uint32_t fill_line(const uint32_t *axis, uint32_t count, double *us, size_t stride, uint32_t least)
{
    uint32_t *known = gt_calloc(count + 1ull, sizeof *known), known_count = 0, filled = 0;

    for (uint32_t i = 0; i < count; i++)
        if (!isnan(us[i * stride]))
            known[known_count++] = i;
    for (uint32_t i = 0; i < count && known_count >= least; i++) {
        uint32_t low = 0;
        double at;

        if (!isnan(us[i * stride]))
            continue;
        filled++;
        while (low + 2 < known_count && axis[i] > axis[known[low + 1]])
            low++;
        if (known_count == 1 || axis[i] < axis[known[0]]) {
            us[i * stride] = us[known[0] * stride];
            continue;
        }
        at = ((double)axis[i] - axis[known[low]]) / ((double)axis[known[low + 1]] - axis[known[low]]);
        us[i * stride] = between(us[known[low] * stride], us[known[low + 1] * stride], at);
    }
    free(known);
    return filled;
}

uint32_t gt_pass_grid_fill(struct gt_pass_grid *grid)
{
    uint32_t filled = 0;

    for (uint32_t i = 0; i < grid->size_count; i++)
        filled += fill_line(grid->depths, grid->depth_count, &grid->us[(size_t)i * grid->depth_count], 1, 2);
    for (uint32_t i = 0; i < grid->depth_count; i++)
        filled += fill_line(grid->sizes, grid->size_count, &grid->us[i], grid->depth_count, 1);
    for (uint32_t i = 0; i < grid->size_count; i++) /* depths that nothing is known of */
        filled += fill_line(grid->depths, grid->depth_count, &grid->us[(size_t)i * grid->depth_count], 1, 1);
    return filled;
}

void gt_pass_grid_free(struct gt_pass_grid *grid)
{
    free(grid->sizes);
    free(grid->depths);
    free(grid->us);
    free(grid->products);
    *grid = (struct gt_pass_grid){ .us = NULL };
}
