/* token_requests.h - requests of an inference engine: when they arrive, and how many tokens they have. */
#ifndef GRIDTIDE_SIM_BATCHING_TOKEN_REQUESTS_H
#define GRIDTIDE_SIM_BATCHING_TOKEN_REQUESTS_H

#include "sim/batching/batch_engine.h"
#include "sim/serve/arrivals.h"

/* Lengths are drawn from a lognormal distribution. */
struct gt_token_lengths {
    double mean;
    double spread; /* standard deviation of the logarithm; 0: all are as long */
    uint32_t most; /* longer ones are cut */
};

/* The requests that arrive, malloced, and their number, at most `most`; prompts and outputs have the given lengths, or those of
 * `prompts` and `outputs`, a number for each arrival of a file, where these are not NULL. */
struct gt_token_request *gt_token_requests_draw(const struct gt_arrivals *arrivals,
                                                const struct gt_token_lengths *prompt,
                                                const struct gt_token_lengths *output, const uint32_t *prompts,
                                                const uint32_t *outputs, uint32_t most, uint32_t *count);

#endif
