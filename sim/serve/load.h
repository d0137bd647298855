/* load.h - tenants that share a GPU, what each request of theirs does, and when requests arrive. */
#ifndef GRIDTIDE_SIM_SERVE_LOAD_H
#define GRIDTIDE_SIM_SERVE_LOAD_H

#include "sim/base/named_table.h"
#include "sim/serve/arrivals.h"

struct gt_serve_policy; /* sim/serve/policy.h */

enum { GT_LOAD_TENANTS_MAX = 64, GT_LOAD_WORKERS_MAX = 256 };

/* Of tenants whose latency matters, and of others. */
extern const char *const gt_tenant_class_names[2];

struct gt_tenant {
    char *name;
    bool critical;          /* its latency matters; else best-effort: its throughput does */
    gt_time_ps deadline_ps; /* of a request, from its arrival; GT_TIME_NONE: it has none */
    uint32_t workers;       /* so many of its requests are served at once, each with threads and streams of its own */
    struct gt_arrivals arrivals;
    struct gt_workload *request; /* what one request asks of the GPU, not as recorded but in stated form */
    gt_time_ps alone_ps;         /* of a request that nothing else is beside: gt_serve_alone() */
};

struct gt_load {
    struct gt_tenant *tenants;
    uint32_t tenant_count;
    bool one_process; /* all tenants are threads of one process, with streams of their own */
    const struct gt_serve_policy *policy;
    double parameters[GT_NAMED_PARAMETERS]; /* of the policy */
    uint64_t warm_up;                       /* the first requests of each tenant that are not counted */
};

#endif
