/* program.h - the fields of programs and profiles that reader and writer share. */
#ifndef GRIDTIDE_TRACES_JSONL_PROGRAM_H
#define GRIDTIDE_TRACES_JSONL_PROGRAM_H

#include <stddef.h>

#include "sim/workload/program.h"

/* The memory behaviour: rates from 0 to 1, left out where not known; counts, left out where 0. */
struct gt_use_field {
    const char *name;
    size_t offset;
};
enum { GT_USE_RATES = 8, GT_USE_COUNTS = 6 };
extern const struct gt_use_field gt_use_rates[GT_USE_RATES];   /* double */
extern const struct gt_use_field gt_use_counts[GT_USE_COUNTS]; /* uint64_t */

/* The means of a memory instruction in the order in which an entry of "access" has them, floats. */
enum { GT_ACCESS_MEANS = 6 };
extern const size_t gt_access_means[GT_ACCESS_MEANS];

#endif
