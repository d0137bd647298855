/* arrivals.h - when requests arrive.
 *
 * Arrivals do not wait for completions (an open loop), except closed ones: there the next request comes when the one before
 * is done.  Times come one after the other, so that a million of them take no memory.
 */
#ifndef GRIDTIDE_SIM_SERVE_ARRIVALS_H
#define GRIDTIDE_SIM_SERVE_ARRIVALS_H

#include "sim/workload/workload.h"

enum gt_arrivals_kind {
    GT_ARRIVALS_POISSON,  /* times between arrivals are exponentially distributed */
    GT_ARRIVALS_BURSTY,   /* bursts arrive so; how many requests a burst has is geometrically distributed */
    GT_ARRIVALS_PERIODIC, /* equally far apart */
    GT_ARRIVALS_CLOSED,   /* the next one when the one before is done */
    GT_ARRIVALS_FILE,     /* at the times of a file */
    GT_ARRIVALS_KINDS
};
extern const char *const gt_arrivals_names[GT_ARRIVALS_KINDS];

struct gt_arrivals {
    enum gt_arrivals_kind kind;
    double per_s; /* requests, in the mean: POISSON, BURSTY, PERIODIC */
    double burst; /* requests of a burst, in the mean: BURSTY */
    uint64_t seed;
    const gt_time_ps *times_ps; /* FILE: rising */
    uint64_t time_count;
    uint64_t most;       /* requests; 0: as many as there are */
    bool ends_in_time;   /* CLOSED: at until_ps, whatever others have to come */
    gt_time_ps until_ps; /* none arrives from then on; CLOSED: as long as any other tenant has some to come, too */
};

/* Where one has got to. */
struct gt_arrivals_at {
    uint64_t number; /* of requests that have arrived */
    uint64_t drawn;  /* random numbers so far */
    uint64_t burst_left;
    double at_ps; /* the latest arrival */
};

/* The next arrival into *time_ps; of CLOSED ones `now_ps`, when the one before is done.  False: there is none. */
bool gt_arrivals_next(const struct gt_arrivals *arrivals, struct gt_arrivals_at *at, gt_time_ps now_ps,
                      gt_time_ps *time_ps);

#endif
