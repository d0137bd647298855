/* host_measure.h - play a few traces to learn what the host's calls cost in this process. */
#ifndef GRIDTIDE_VALIDATE_HOST_MEASURE_H
#define GRIDTIDE_VALIDATE_HOST_MEASURE_H

#include "validate/host_costs.h"
#include "validate/validate.h"

/* So many traces, random ones of all families in turn but for one of staged copies, are played for it, in five seconds: fewer have too few memsets and
 * host functions. */
enum { GT_HOST_TRACES = 70 };

/* Play them, once after a warm-up, into `costs`. `told` is told done of GT_HOST_TRACES after each; `stop` asked
 * before each: true ends it with what there is. Returns 0, or -1 with what failed on the GPU. */
int gt_host_measure(const struct gt_players *players, struct gt_host_costs *costs, bool (*stop)(void *user),
                    void (*told)(void *user, uint32_t done), void *user, struct gt_error *error);

#endif
