/* serve_result.h - what became of the requests of a load. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_SERVE_RESULT_H
#define GRIDTIDE_SIM_CMD_SERVE_SERVE_RESULT_H

#include "sim/cmd/serve/serve_load.h"
#include "sim/serve/requests.h"

/* Why a request was late: the largest part of its time, or its own work. */
enum { GT_CAUSE_OWN = GT_PARTS, GT_CAUSES };

struct gt_late_cause {
    uint8_t cause;   /* gt_request_part, or GT_CAUSE_OWN */
    uint8_t blocker; /* the tenant that it waited for; UINT8_MAX: none */
};

struct gt_tenant_result {
    uint64_t count, room;             /* of requests, without those of the warm-up */
    gt_time_ps *latency_ps;           /* of each, in the order in which they were done */
    struct gt_late_cause *cause;      /* of each */
    double *sorted_us;                /* latencies, rising: gt_serve_result_finish() */
    double part_ps[GT_PARTS], run_ps; /* sums; run: from begin to end */
    gt_time_ps first_ps, last_ps;     /* the first arrival, the last end */
    uint64_t late;                    /* beyond the deadline */
};

struct gt_serve_result {
    const struct gt_serve_load *serve;
    struct gt_tenant_result tenants[GT_LOAD_TENANTS_MAX];
};

/* Takes a request: gt_request_sink with a gt_serve_result. */
int gt_serve_result_take(void *user, const struct gt_request_record *record, struct gt_error *error);
/* All have been taken. */
void gt_serve_result_finish(struct gt_serve_result *result);
void gt_serve_result_free(struct gt_serve_result *result);

/* The latency that `percent` of the requests do not exceed (the nearest rank); NAN of none. */
double gt_serve_percentile_us(const struct gt_tenant_result *tenant, unsigned percent);
/* Requests a second: done, from the first arrival to the last end; of those only that were in time. */
double gt_serve_rate(const struct gt_tenant_result *tenant, uint64_t requests);

/* Is a request late: beyond the deadline, or where the tenant has none, beyond the 99th percentile? */
bool gt_serve_is_late(const struct gt_tenant *tenant, const struct gt_tenant_result *result, gt_time_ps latency_ps);

#endif
