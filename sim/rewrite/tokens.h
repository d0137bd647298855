/* tokens.h - the calls of a thread that submit work as a sequence of tokens, and how many of them an iteration has. */
#ifndef GRIDTIDE_SIM_REWRITE_TOKENS_H
#define GRIDTIDE_SIM_REWRITE_TOKENS_H

#include "sim/workload/workload.h"

/* The tokens of one thread, and those that are the same, in order. */
struct gt_token_row {
    const struct gt_workload *w;
    gt_thread_index thread;
    gt_call_index *calls; /* by token: the call; one more: behind the thread's last */
    uint64_t *hashes;     /* by token: what it does */
    bool *waited; /* by token, one more: does the host wait for the GPU between the token before and this one? */
    gt_time_ps *gap_ps; /* by token: the host's own work since the token before */
    uint32_t *order;    /* tokens, those that are the same behind each other, rising */
    uint32_t count;
};

void gt_tokens_make(struct gt_token_row *row, const struct gt_workload *workload, gt_thread_index thread);
void gt_tokens_free(struct gt_token_row *row);
/* Does the host wait for the GPU in this call? */
bool gt_token_waits(const struct gt_workload *workload, gt_call_index call);
/* How many tokens from order[i] on are the same. */
uint32_t gt_tokens_same(const struct gt_token_row *row, uint32_t i);
/* Of so many tokens that are the same, so many are one iteration's. */
uint32_t gt_tokens_each(uint32_t same, uint32_t iterations);

/* So many iterations of so many tokens, and the part of the second half that is regular. */
struct gt_period {
    uint32_t iterations, period;
    double regular;
};
/* The most likely one; iterations 0: nothing repeats. */
struct gt_period gt_tokens_period(const struct gt_token_row *row);

#endif
