/* requests.h - requests that arrive while a machine runs: each worker of a tenant makes the calls of its request again and
 * again.
 *
 * A worker has threads and streams of its own.  It takes its tenant's next request when the one before is done: all its
 * calls have returned and all its operations have ended.  The dispatch policy may hold back a request that has arrived,
 * and a kernel that its stream lets go.
 */
#ifndef GRIDTIDE_SIM_SERVE_REQUESTS_H
#define GRIDTIDE_SIM_SERVE_REQUESTS_H

#include "sim/machine/machine.h"
#include "sim/serve/load.h"

/* Where a request's time went, beside what it takes alone.  Of operations in several streams the parts are added up. */
enum gt_request_part {
    GT_PART_QUEUED, /* arrived, behind others of its tenant, or held by the policy before it began */
    GT_PART_HELD,   /* kernels held by the policy */
    GT_PART_WAITED, /* operations that could have run, but SMs, copy engines or queues were others' */
    GT_PART_SLOWED, /* operations took longer than alone: SMs, memory and links shared, other processes' turns */
    GT_PARTS
};
extern const char *const gt_request_part_names[GT_PARTS];

struct gt_request_record {
    uint32_t tenant, worker; /* worker: of all */
    uint64_t number;         /* of its tenant's, from 0, in order of arrival */
    gt_time_ps arrival_ps, begin_ps, end_ps;
    gt_time_ps part_ps[GT_PARTS];
    uint32_t blocker; /* the tenant whose operations it waited for longest; GT_NONE: nobody's */
};

/* Told each request when it is done.  -1 stops the run, with `error` filled. */
typedef int gt_request_sink(void *user, const struct gt_request_record *record, struct gt_error *error);

struct gt_requests;

/* For one run of `joined`: the requests' workloads of all workers, tenant by tenant, in one.  `alone_ps`: how long each of its
 * operations takes alone, lent; NULL: not known. */
struct gt_requests *gt_requests_new(const struct gt_load *load, const struct gt_workload *joined,
                                    const gt_time_ps *alone_ps, gt_request_sink *sink, void *user);
void gt_requests_free(struct gt_requests *requests);

/* The probe to run it with; it hands on to `next` what it is told. */
const struct gt_probe *gt_requests_probe(struct gt_requests *requests, const struct gt_probe *next);

/* The machine is built and begins. */
void gt_requests_begin(struct gt_machine *m);
/* GT_HANDLE_REQUEST. */
int gt_requests_handler(void *machine, uint32_t subject, uint64_t stamp, struct gt_error *error);
/* In place of gt_kernel_start(): launched now, or once the policy lets it. */
void gt_requests_kernel_start(struct gt_machine *m, gt_command_index command);

#endif
