/* serve_load.h - a load ready to be simulated: its tenants' traces read and joined. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_SERVE_LOAD_H
#define GRIDTIDE_SIM_CMD_SERVE_SERVE_LOAD_H

#include "sim/cmd/input/options.h"
#include "sim/cmd/print/terminal.h"
#include "sim/serve/requests.h"
#include "sim/simulate.h"
#include "traces/loads/load_file.h"
#include "traces/store/serve_rows.h"

/* A sharing that is found by right_size.h. */
#define GT_SHARE_RIGHT_SIZED "green:auto"

/* What stands in the file, and what is simulated. */
struct gt_serve_load {
    const struct gt_model_options *model;
    struct gt_load_file file;
    struct gt_load load;
    struct gt_device device;
    struct gt_sharing sharings[GT_LOAD_TENANTS_MAX]; /* by tenant */
    gt_time_ps *alone_op_ps[GT_LOAD_TENANTS_MAX];    /* by tenant: how long each operation of a request takes alone */
    struct gt_workload
        *whole[GT_LOAD_TENANTS_MAX]; /* by tenant: its request, and the same, before the policy divided kernels */
    gt_time_ps *whole_op_ps[GT_LOAD_TENANTS_MAX];
    const char *share, *policy; /* as said */
    char *sized;                /* right_size.h: the sharing found; NULL: none was asked for */
};

/* Read the load at `path`, its traces, and the device, which `model` may choose; simulate a request of each tenant alone.
 * `share`: instead of what the file says; NULL: that.  Returns 0, or -1 with the reason; either way
 * gt_serve_load_end() ends it. */
int gt_serve_load_begin(struct gt_serve_load *serve, const char *path, const struct gt_model_options *model,
                        const char *share, struct gt_error *error);
void gt_serve_load_end(struct gt_serve_load *serve);

/* The policy that `text` names; kernels are divided as it says.  Returns 0, or -1 with the reason. */
int gt_serve_set_policy(struct gt_serve_load *serve, const char *text, struct gt_error *error);

/* The rates of tenants that say their load, once their time alone is known. */
void gt_serve_set_rates(struct gt_serve_load *serve);

/* What is asked of a simulation of a load. */
struct gt_serve_asked {
    uint64_t seed;
    bool noise;            /* host calls differ from request to request */
    gt_request_sink *sink; /* is told requests */
    void *user;
    struct gt_progress *progress;
    struct gt_serve_rows *window; /* where the first operations go, for pictures; NULL: nowhere */
    bool first;                   /* the command's first: what the answer rests on is told */
};
int gt_serve_simulate(const struct gt_serve_load *serve, const struct gt_serve_asked *asked, struct gt_error *error);

/* The same of one tenant, with the sharing that it has and no others; the requests' tenant is 0. */
int gt_serve_simulate_one(const struct gt_serve_load *serve, uint32_t tenant, const struct gt_serve_asked *asked,
                          struct gt_error *error);

/* The same for as long as the load lasts, with a tenant that always has a next request. */
int gt_serve_saturate(struct gt_serve_load *serve, uint32_t tenant, const struct gt_serve_asked *asked,
                      struct gt_error *error);

#endif
