/* serving.h - the state of requests under way; inside sim/serve/ only. */
#ifndef GRIDTIDE_SIM_SERVE_SERVING_H
#define GRIDTIDE_SIM_SERVE_SERVING_H

#include "sim/serve/policy.h"
#include "sim/serve/requests.h"

/* Stamps of GT_HANDLE_REQUEST; the subject is a worker but where it says otherwise. */
enum {
    GT_REQUEST_ARRIVES,
    GT_REQUEST_MAY_BE_DONE,
    GT_REQUEST_ASK_AGAIN /* of nothing */,
    GT_REQUEST_LAUNCH /* a command */,
    GT_REQUEST_RESET /* of nothing */
};

enum gt_worker_state {
    GT_WORKER_IDLE,    /* no request is to come */
    GT_WORKER_EXPECTS, /* its next request has yet to arrive */
    GT_WORKER_WAITS,   /* a request has arrived, and the policy has not let it begin */
    GT_WORKER_SERVES
};

struct gt_worker {
    enum gt_worker_state state;
    uint32_t tenant;
    gt_thread_index first_thread, threads;
    uint32_t ops;                     /* of a request */
    uint32_t threads_left, ops_left;  /* of the request under way */
    gt_time_ps calls_end_ps;          /* of its calls so far */
    gt_time_ps idle_from_ps;          /* since then it waits for a request */
    struct gt_request_record request; /* under way */
    gt_time_ps *blocked_ps;           /* by tenant: operations of this request waited so long behind that one's */
};

/* A kernel that the policy holds back. */
struct gt_held_kernel {
    gt_command_index command;
    gt_time_ps since_ps;
};

struct gt_requests {
    const struct gt_load *load;
    const struct gt_workload *workload;
    const gt_time_ps *alone_ps; /* by operation */
    gt_request_sink *sink;
    void *user;
    struct gt_probe probe, next;
    struct gt_machine *m;
    struct gt_options options; /* the run's, with a draw of the host's noise for each request */
    struct gt_worker *workers;
    uint32_t worker_count, open_left; /* open_left: workers of tenants whose arrivals are not closed, not idle yet */
    uint32_t *worker_of;              /* by thread */
    struct gt_arrivals_at *arrivals;  /* by tenant */
    uint64_t *numbers;                /* by tenant: requests taken by workers */
    uint64_t begun;                   /* requests */
    gt_call_index *last_call;         /* by thread */
    uint32_t *ops_list;               /* operations, worker by worker */
    uint32_t *first_op;               /* by worker, in ops_list; and behind the last one */
    struct gt_policy_view view;
    struct gt_held_kernel *held; /* in the order in which their streams let them go */
    uint32_t held_count, held_room;
    gt_time_ps freed_ps;         /* the latest end of a best-effort kernel */
    gt_time_ps critical_from_ps; /* a critical request has been there since; while view.critical > 0 */
    bool *launched;              /* by operation: a kernel that counts in view.kernels, ... */
    gt_command_index *commands;  /* ... and which it is */
    gt_time_ps *op_held_ps;      /* by operation: in this request */
    bool ask_again_due;
};

/* dispatcher.c: after a change, let kernels go that the policy lets go now. */
void gt_dispatcher_ask_again(struct gt_requests *requests);
/* A kernel that was to be launched now is; or not, where a policy that resets kernels has a critical request. */
void gt_dispatcher_launch(struct gt_requests *requests, gt_command_index command);
/* Take best-effort kernels off the GPU, and hold them. */
void gt_dispatcher_reset(struct gt_requests *requests);
/* A kernel has ended. */
void gt_dispatcher_ended(struct gt_requests *requests, gt_op_index op);
/* An event asks the policy about everything that waits, as soon as what happens now is over. */
void gt_requests_ask_soon(struct gt_requests *requests);

#endif
