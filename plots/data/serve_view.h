/* serve_view.h - requests of a load as pages draw them: latencies by run and tenant, the first operations. */
#ifndef GRIDTIDE_PLOTS_DATA_SERVE_VIEW_H
#define GRIDTIDE_PLOTS_DATA_SERVE_VIEW_H

#include "traces/store/store.h"

struct gt_serve_view_tenant {
    char *name;
    bool critical;
    double alone_us, deadline_us; /* NAN: none */
    double *latency_us;           /* rising */
    uint64_t count, late;
    double per_s;                                                /* done, from the first arrival to the last end */
    double queued_us, service_us, held_us, waited_us, slowed_us; /* means */
};
struct gt_serve_view_run {
    char *policy, *share, *device;
    double load; /* NAN: as in the file */
    struct gt_serve_view_tenant *tenants;
    uint32_t tenant_count;
};
struct gt_serve_view_operation {
    uint32_t tenant, lane;
    bool kernel;
    double start_us, end_us;
};
struct gt_serve_view_sms {
    uint32_t tenant, sms;
    double at_us;
};

struct gt_serve_view {
    struct gt_serve_view_run *runs; /* one for each policy and load */
    uint32_t run_count;
    struct gt_serve_view_operation *operations; /* of the first run, by start */
    uint32_t operation_count;
    struct gt_serve_view_sms *sms; /* by tenant, then time */
    uint32_t sms_count;
};

/* Returns 0 or -1; gt_serve_view_free() in either case. */
int gt_serve_view_load(struct gt_serve_view *view, struct gt_store *store, struct gt_error *error);
void gt_serve_view_free(struct gt_serve_view *view);

#endif
