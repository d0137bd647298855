/* departure.h - where a replay first departs from what was recorded. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_DEPARTURE_H
#define GRIDTIDE_TRACES_EXPLAIN_DEPARTURE_H

#include "traces/explain/why.h"

/* The first operation, as recorded, whose start or length is off by more than 1 % of the recorded makespan, and 2 us.
 * Each run's times are from the first start among the operations that both have. */
struct gt_departure {
    gt_op_index op;
    bool in_length;                       /* it starts in time, and takes longer or shorter; else its start is off */
    gt_time_ps recorded_ps, simulated_ps; /* of its start; its length */
    gt_time_ps at_ps;                     /* its recorded start */
    char place[GT_HOLDER_BYTES];          /* its name and stream */
    struct gt_hold hold;                  /* what it waited for most in the replay, since the operation before it */
};

/* Of a simulated run against a measured one of the same operations.  1: found; 0: none is off by so much; -1 with the
 * reason. */
int gt_departure_find(struct gt_database *database, int64_t simulated_run, int64_t measured_run,
                      struct gt_departure *departure, struct gt_error *error);

#endif
