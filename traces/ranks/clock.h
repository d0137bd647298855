/* clock.h - a rank's clock against the one that all of a job are brought to: so far behind, and faster or slower. */
#ifndef GRIDTIDE_TRACES_RANKS_CLOCK_H
#define GRIDTIDE_TRACES_RANKS_CLOCK_H

#include <math.h>

#include "sim/workload/workload.h"

struct gt_rank_clock {
    double behind_ps; /* what is to be added to its time 0, */
    double rate;      /* and to each picosecond since, as a part of it: 1e-6 is a microsecond a second */
};

/* The time on the common clock, whole ns as profiles have them; never less for a later one. */
static inline gt_time_ps gt_rank_clock_time(const struct gt_rank_clock *clock, gt_time_ps time_ps)
{
    double moved_ns = floor((clock->behind_ps + clock->rate * (double)time_ps) / 1000);

    if (moved_ns >= 0)
        return time_ps + (gt_time_ps)moved_ns * 1000;
    return time_ps > (gt_time_ps)-moved_ns * 1000 ? time_ps - (gt_time_ps)-moved_ns * 1000 : 0;
}

#endif
