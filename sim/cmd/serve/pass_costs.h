/* pass_costs.h - what an engine's passes cost: recorded ones simulated, and others derived from them by changes of size. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_PASS_COSTS_H
#define GRIDTIDE_SIM_CMD_SERVE_PASS_COSTS_H

#include "sim/cmd/input/options.h"
#include "sim/rewrite/scenario.h"
#include "traces/loads/engine_file.h"

/* Sizes that the grids must reach. */
struct gt_pass_limits {
    uint32_t sequences, context, tokens, before;
};

/* How the costs came about. */
struct gt_pass_sources {
    uint32_t recorded, derived, interpolated; /* nodes */
    enum gt_trust trust;                      /* the lowest of the derived ones */
    char *refusal;       /* why the first node that is interpolated was not derived; NULL: none is */
    bool before_unknown; /* no recorded prefill has tokens before it */
};

/* A recorded pass, replayed, of which others are derived. */
struct gt_pass_template;

/* Read and replay the passes of `file`, on the device of `model`, else of the file.  NULL with the reason; freed by
 * gt_pass_templates_free(). */
struct gt_pass_template *gt_pass_templates_read(const struct gt_engine_file *file,
                                                const struct gt_model_options *model, struct gt_error *error);
void gt_pass_templates_free(struct gt_pass_template *templates, uint32_t count);

/* The GPU that they are for; lent. */
const struct gt_device *gt_pass_template_device(const struct gt_pass_template *templates);

/* The costs of passes up to these limits on so many SMs (0: all).  Returns 0, or -1 with the reason; either way
 * gt_pass_costs_free() ends both. */
int gt_pass_costs_find(const struct gt_engine_file *file, const struct gt_pass_template *templates,
                       const struct gt_pass_limits *limits, uint32_t sms, bool quiet, struct gt_pass_costs *costs,
                       struct gt_pass_sources *sources, struct gt_error *error);
void gt_pass_costs_free(struct gt_pass_costs *costs, struct gt_pass_sources *sources);

#endif
