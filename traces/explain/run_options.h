/* run_options.h - what a stored run was simulated with. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_RUN_OPTIONS_H
#define GRIDTIDE_TRACES_EXPLAIN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_run_options {
    uint64_t seed;
    bool bars;      /* --blocks=off */
    char other[80]; /* an option that is neither, "gaps=calibrated", or its beginning; "": there is none */
};

/* From a run's options as the store has them, "blocks=on seed=1"; what they do not say is as by default. */
struct gt_run_options gt_run_options_read(const char *text);

#endif
