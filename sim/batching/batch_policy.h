/* batch_policy.h - what an inference engine puts into its next pass.
 *
 * A policy of one's own is one function in policy_NAME.c or policies.c, and a row of the table in policies.c.
 */
#ifndef GRIDTIDE_SIM_BATCHING_BATCH_POLICY_H
#define GRIDTIDE_SIM_BATCHING_BATCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/named_table.h"

/* What a policy sees before a pass. */
struct gt_batch_view {
    uint32_t running; /* sequences that are past prefill */
    bool may_admit;   /* the first request that waits would fit: a free sequence, and KV memory for its tokens */
    bool prefilling;  /* a prompt is under way */
    bool decoded;     /* a running sequence has decoded */
    uint32_t since_prefill;   /* passes of decoding since the last prefill */
    const double *parameters; /* of the policy */
};

#define GT_WHOLE_PROMPT UINT32_MAX

struct gt_batch_policy {
    struct gt_named named;
    /* How many tokens of a prompt go into the next pass, if one is under way or may be admitted; 0: none. */
    uint32_t (*tokens)(const struct gt_batch_view *view);
    bool beside;     /* sequences decode in the same pass as a prompt; else a pass is of either kind */
    bool keeps_done; /* sequences that are done stay in the batch, as padding, until all are */
    int sms_parameter; /* prefill runs on so many SMs, as this parameter says, and decoding on the others, at the same time; -1: in
                        * turn, on all */
};

extern const struct gt_batch_policy gt_batch_policies[];
extern const size_t gt_batch_policy_count;

/* The policy that `text` names, "NAME" or "NAME PARAMETER=NUMBER ...", and its numbers into parameters[GT_NAMED_PARAMETERS].  NULL with the
 * reason. */
const struct gt_batch_policy *gt_batch_policy_find(const char *text, double *parameters, struct gt_error *error);

#endif
