#include "traces/compare/correlation.h"

#include <math.h>

void gt_correlation_add(struct gt_correlation *c, double x, double y)
{
    double dx = x - c->mean_x, dy = y - c->mean_y;

    c->count++;
    c->mean_x += dx / c->count;
    c->mean_y += dy / c->count;
    c->xx += dx * (x - c->mean_x);
    c->yy += dy * (y - c->mean_y);
    c->xy += dx * (y - c->mean_y);
}

double gt_correlation_r(const struct gt_correlation *c)
{
    return c->xx > 0 && c->yy > 0 ? c->xy / sqrt(c->xx * c->yy) : NAN;
}
