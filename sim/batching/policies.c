/* The table of batching policies. */
#include "sim/batching/batch_policy.h"

/* A batch is collected while nothing has decoded yet. */
static uint32_t tokens_static(const struct gt_batch_view *view)
{
    return view->prefilling || !view->decoded ? GT_WHOLE_PROMPT : 0;
}

static uint32_t tokens_whole(const struct gt_batch_view *view)
{
    (void)view;
    return GT_WHOLE_PROMPT;
}

static uint32_t tokens_decode_first(const struct gt_batch_view *view)
{
    return view->running > 0 && view->since_prefill < view->parameters[0] ? 0 : GT_WHOLE_PROMPT;
}

static uint32_t tokens_chunked(const struct gt_batch_view *view)
{
    return view->parameters[0] > (double)view->running + 1 ? (uint32_t)view->parameters[0] - view->running : 1;
}

const struct gt_batch_policy gt_batch_policies[] = {
    { .named = { "continuous",
                 "a request joins the batch as soon as there is a free sequence and KV memory; prompts come first "
                 "(Orca, vLLM)",
                 { { 0 } } },
      .tokens = tokens_whole,
      .sms_parameter = -1 },
    { .named = { "chunked",
                 "continuous; a pass takes a part of a prompt beside the sequences that decode (Sarathi)",
                 { { "tokens", "tokens of a pass, at most, those of sequences that decode among them", 512, 1,
                     1e6 } } },
      .tokens = tokens_chunked,
      .beside = true,
      .sms_parameter = -1 },
    { .named = { "decode-first",
                 "continuous; a prompt waits until there were so many passes of decoding since the last one",
                 { { "passes", "passes of decoding between two prompts, at least", 8, 0, 1e6 } } },
      .tokens = tokens_decode_first,
      .sms_parameter = -1 },
    { .named = { "static",
                 "requests that wait make a batch, which runs until the last of them is done; then the next batch",
                 { { 0 } } },
      .tokens = tokens_static,
      .keeps_done = true,
      .sms_parameter = -1 },
    { .named = { "split",
                 "continuous; prompts run on SMs of their own, beside the sequences that decode on the others",
                 { { "sms", "SMs for prompts", 66, 1, 1e6 } } },
      .tokens = tokens_whole,
      .sms_parameter = 0 },
};
const size_t gt_batch_policy_count = sizeof gt_batch_policies / sizeof *gt_batch_policies;

const struct gt_batch_policy *gt_batch_policy_find(const char *text, double *parameters, struct gt_error *error)
{
    const struct gt_batch_policy *policy =
        gt_named_find(gt_batch_policies, gt_batch_policy_count, sizeof *gt_batch_policies, "policy", text, error);

    return policy != NULL && gt_named_parameters(&policy->named, "policy", text, parameters, error) == 0 ? policy
                                                                                                         : NULL;
}
