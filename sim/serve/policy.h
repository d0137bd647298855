/* policy.h - dispatch policies: whose request may begin, whose kernel may be launched.
 *
 * A policy is what a serving process does in front of the GPU: it holds requests or launches back.  What has been launched
 * the GPU schedules by itself.  A policy of one's own is one file with its functions and a row of the table in
 * policies.c.
 */
#ifndef GRIDTIDE_SIM_SERVE_POLICY_H
#define GRIDTIDE_SIM_SERVE_POLICY_H

#include "sim/serve/load.h"

/* A request that has arrived, and a kernel that its tenant wants to launch. */
struct gt_policy_request {
    uint32_t tenant;
    gt_time_ps arrival_ps;
};
struct gt_policy_kernel {
    uint32_t tenant;
    uint32_t sms;           /* that its blocks would take of an idle GPU */
    bool memory_bound;      /* it keeps memory busier than the SMs, by its profile; false: not, or not known */
    bool profiled;          /* that is known */
    gt_time_ps duration_ps; /* alone */
};

/* What is going on. */
struct gt_policy_view {
    const struct gt_load *load;
    const double *parameters; /* of the policy */
    uint32_t sms;             /* of the GPU */
    uint32_t serving;         /* requests that have begun and are not done */
    uint32_t critical; /* requests of critical tenants that have arrived and are not done, but for those behind others
                                * of their worker */
    gt_time_ps earliest_ps; /* arrival of the first of the requests that wait to begin; GT_TIME_NONE: none does */
    uint32_t best_effort_kernels, critical_kernels; /* launched and not ended */
    gt_time_ps best_effort_ps;                      /* what those of best-effort tenants take alone, all together */
    struct gt_policy_kernel latest_critical; /* the critical kernel launched last, while critical_kernels > 0 */
};

struct gt_serve_policy {
    struct gt_named named;
    /* NULL: always.  Asked again whenever a request begins or is done, or a kernel has ended. */
    bool (*may_begin)(const struct gt_policy_view *view, const struct gt_policy_request *request);
    bool first_only; /* where the first of the requests that wait may not begin, no other may */
    bool (*may_launch)(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel);
    bool priorities;     /* streams of critical tenants have the highest priority, those of others the lowest */
    int slice_parameter; /* kernels of best-effort tenants are launched in pieces of at most so many blocks as this
                          * parameter says; -1: whole */
    int reset_parameter; /* when a critical request comes, kernels of best-effort tenants are taken off the GPU after so many
                          * microseconds as this parameter says, and run anew later; -1: they run to their end */
};

extern const struct gt_serve_policy gt_serve_policies[];
extern const size_t gt_serve_policy_count;

/* The policy that `text` names, "NAME" or "NAME PARAMETER=NUMBER ...", into the load.  Returns 0, or -1 with the reason. */
int gt_serve_policy_find(struct gt_load *load, const char *text, struct gt_error *error);

bool gt_policy_fifo_begin(const struct gt_policy_view *view, const struct gt_policy_request *request);
bool gt_policy_gate_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel);
bool gt_policy_reset_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel);
bool gt_policy_orion_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel);

#endif
