/* batch_engine.h - an inference engine that batches requests: which passes it makes, and when each request gets its tokens. */
#ifndef GRIDTIDE_SIM_BATCHING_BATCH_ENGINE_H
#define GRIDTIDE_SIM_BATCHING_BATCH_ENGINE_H

#include "sim/batching/batch_policy.h"
#include "sim/batching/pass_cost.h"

struct gt_token_request {
    gt_time_ps arrival_ps;
    uint32_t prompt_tokens, output_tokens; /* from 1 on */
};

/* Passes that run at the same time: one lane has all SMs, or prompts have a lane of their own. */
enum gt_batch_lane { GT_LANE_DECODE, GT_LANE_PREFILL, GT_LANES };

struct gt_batch_engine {
    const struct gt_batch_policy *policy;
    double parameters[GT_NAMED_PARAMETERS];
    uint32_t sequences; /* that decode at once, at most */
    uint64_t kv_tokens; /* of all sequences together, at most */
    uint32_t
        padding; /* the cache is read as far as the longest sequence of a pass reaches, in units of so many tokens; 0: each as far as
                         * it reaches itself (paged) */
    const struct gt_pass_costs *costs[GT_LANES]; /* of a policy without lanes [GT_LANE_DECODE] alone */
    /* A pass beside one of the other lane takes longer by this times the parts of both that are matrix products. */
    double beside[GT_LANES];
};

/* Where the time between a request's first and last token went. */
enum gt_token_part {
    GT_TOKEN_OWN,     /* decoding as it would take alone */
    GT_TOKEN_BATCH,   /* what other sequences of the batch add */
    GT_TOKEN_BESIDE,  /* what prompts in the same pass, or on the other SMs, add */
    GT_TOKEN_PREFILL, /* passes of others' prompts */
    GT_TOKEN_EVICTED, /* it lost its KV memory, waited and was prefilled again */
    GT_TOKEN_PARTS
};
extern const char *const gt_token_part_names[GT_TOKEN_PARTS];

struct gt_token_record {
    gt_time_ps admitted_ps, first_ps, end_ps; /* its prefill may begin; first and last token */
    gt_time_ps part_ps[GT_TOKEN_PARTS];
    uint32_t evictions;
};

struct gt_batch_summary {
    uint64_t passes[GT_LANES], output_tokens, evictions, most_kv_tokens;
    gt_time_ps busy_ps[GT_LANES], end_ps;
    double sequence_ps; /* sequences that decode, over the time of passes of decoding */
    gt_time_ps decode_ps;
};

/* Can KV memory hold each request?  -1 with the one that it cannot hold. */
int gt_batch_engine_check(const struct gt_batch_engine *engine, const struct gt_token_request *requests,
                          uint32_t count, struct gt_error *error);

/* Serve `count` requests, in the order of their arrival, into records[count].  `progress` (NULL: nobody) is told how many are done.
 * Returns 0; -1 with the reason: a request that KV memory cannot hold, or more time than can be simulated. */
int gt_batch_engine_run(const struct gt_batch_engine *engine, const struct gt_token_request *requests, uint32_t count,
                        void (*progress)(void *user, uint64_t done, uint64_t total), void *user,
                        struct gt_token_record *records, struct gt_batch_summary *summary, struct gt_error *error);

#endif
