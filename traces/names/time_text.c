#include "traces/names/time_text.h"

#include <math.h>
#include <stdio.h>

struct gt_time_text gt_time_said(double ps)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = { { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
    const int largest = sizeof units / sizeof units[0] - 1;
    struct gt_time_text text;
    double size = fabs(ps), number;
    int unit = 0;

    if (!isfinite(ps))
        return (struct gt_time_text){ "-" };
    if (size == 0)
        return (struct gt_time_text){ "0" };
    while (unit < largest && size / units[unit].ps >= 999.5)
        unit++;
    number = size / units[unit].ps;
    snprintf(text.s, sizeof text.s, "%s%.*f %s", ps < 0 ? "-" : "",
             number >= 99.95   ? 0
             : number >= 9.995 ? 1
                               : 2,
             number, units[unit].name);
    return text;
}
