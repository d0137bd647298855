#include "sim/serve/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/gpu/grid.h"
#include "sim/machine/durations.h"
#include "sim/serve/serving.h"

const char *const gt_request_part_names[GT_PARTS] = { "queued", "held", "waited", "slowed" };

static uint32_t threads_of(const struct gt_tenant *tenant)
{
    return tenant->request->thread_count;
}

/* Do its requests come to an end by themselves? */
static bool is_open(const struct gt_tenant *tenant)
{
    return tenant->arrivals.kind != GT_ARRIVALS_CLOSED || tenant->arrivals.most > 0;
}

/* The threads of the joined workload stand worker by worker, tenant by tenant. */
static void find_workers(struct gt_requests *r)
{
    gt_thread_index thread = 0;

    for (uint32_t t = 0; t < r->load->tenant_count; t++)
        r->worker_count += r->load->tenants[t].workers;
    r->workers = gt_calloc(r->worker_count, sizeof *r->workers);
    r->worker_of = gt_calloc(r->workload->thread_count, sizeof *r->worker_of);
    for (uint32_t t = 0, w = 0; t < r->load->tenant_count; t++) {
        const struct gt_tenant *tenant = &r->load->tenants[t];

        for (uint32_t i = 0; i < tenant->workers; i++, w++) {
            r->workers[w].tenant = t;
            r->workers[w].first_thread = thread;
            r->workers[w].threads = threads_of(tenant);
            r->workers[w].blocked_ps = gt_calloc(r->load->tenant_count, sizeof *r->workers[w].blocked_ps);
            for (uint32_t j = 0; j < threads_of(tenant); j++)
                r->worker_of[thread++] = w;
            r->open_left += is_open(tenant);
        }
    }
}

static void find_work(struct gt_requests *r)
{
    const struct gt_workload *w = r->workload;
    uint32_t *at;

    r->last_call = gt_calloc(w->thread_count, sizeof *r->last_call);
    memset(r->last_call, 0xff, w->thread_count * sizeof *r->last_call); /* GT_NONE */
    for (gt_call_index i = 0; i < w->call_count; i++)
        r->last_call[w->calls[i].thread] = i;
    for (gt_op_index i = 0; i < w->op_count; i++)
        r->workers[r->worker_of[w->calls[w->ops[i].call].thread]].ops++;
    r->first_op = gt_calloc(r->worker_count + 1ull, sizeof *r->first_op);
    for (uint32_t i = 0; i < r->worker_count; i++)
        r->first_op[i + 1] = r->first_op[i] + r->workers[i].ops;
    r->ops_list = gt_calloc(w->op_count, sizeof *r->ops_list);
    at = gt_calloc(r->worker_count, sizeof *at);
    for (gt_op_index i = 0; i < w->op_count; i++) {
        uint32_t worker = r->worker_of[w->calls[w->ops[i].call].thread];

        r->ops_list[r->first_op[worker] + at[worker]++] = i;
    }
    free(at);
}

struct gt_requests *gt_requests_new(const struct gt_load *load, const struct gt_workload *joined,
                                    const gt_time_ps *alone_ps, gt_request_sink *sink, void *user)
{
    struct gt_requests *r = gt_calloc(1, sizeof *r);

    r->load = load;
    r->workload = joined;
    r->alone_ps = alone_ps;
    r->sink = sink;
    r->user = user;
    r->view = (struct gt_policy_view){ .load = load, .parameters = load->parameters, .earliest_ps = GT_TIME_NONE };
    find_workers(r);
    find_work(r);
    r->arrivals = gt_calloc(load->tenant_count, sizeof *r->arrivals);
    r->numbers = gt_calloc(load->tenant_count, sizeof *r->numbers);
    r->launched = gt_calloc(joined->op_count, sizeof *r->launched);
    r->commands = gt_calloc(joined->op_count, sizeof *r->commands);
    r->op_held_ps = gt_calloc(joined->op_count, sizeof *r->op_held_ps);
    return r;
}

void gt_requests_free(struct gt_requests *r)
{
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < r->worker_count; i++)
        free(r->workers[i].blocked_ps);
    free(r->workers);
    free(r->worker_of);
    free(r->arrivals);
    free(r->numbers);
    free(r->last_call);
    free(r->ops_list);
    free(r->first_op);
    free(r->launched);
    free(r->commands);
    free(r->op_held_ps);
    free(r->held);
    free(r);
}

void gt_requests_ask_soon(struct gt_requests *r)
{
    if (r->ask_again_due)
        return;
    r->ask_again_due = true;
    gt_engine_schedule(&r->m->engine, r->m->engine.now_ps, GT_PHASE_HOST, GT_HANDLE_REQUEST, GT_NONE,
                       GT_REQUEST_ASK_AGAIN);
}

/* The worker has no request to wait for any more. */
static void retire(struct gt_requests *r, struct gt_worker *worker)
{
    worker->state = GT_WORKER_IDLE;
    r->open_left -= is_open(&r->load->tenants[worker->tenant]);
}

/* Closed arrivals go on while others have requests to come, and as long as they are said to. */
static bool closed_is_over(const struct gt_requests *r, const struct gt_arrivals *arrivals)
{
    bool in_time = arrivals->until_ps != GT_TIME_NONE && r->m->engine.now_ps < arrivals->until_ps;

    return arrivals->kind == GT_ARRIVALS_CLOSED && !in_time &&
           (r->open_left == 0 || (arrivals->ends_in_time && arrivals->until_ps != GT_TIME_NONE));
}

/* Its tenant's next request is this worker's. */
static void take_next(struct gt_requests *r, uint32_t index)
{
    struct gt_worker *worker = &r->workers[index];
    const struct gt_arrivals *arrivals = &r->load->tenants[worker->tenant].arrivals;
    gt_time_ps now_ps = r->m->engine.now_ps, arrival_ps;

    if (closed_is_over(r, arrivals) ||
        !gt_arrivals_next(arrivals, &r->arrivals[worker->tenant], now_ps, &arrival_ps)) {
        retire(r, worker);
        return;
    }
    worker->state = GT_WORKER_EXPECTS;
    memset(&worker->request, 0, sizeof worker->request);
    worker->request.tenant = worker->tenant;
    worker->request.worker = index;
    worker->request.number = r->numbers[worker->tenant]++;
    worker->request.arrival_ps = arrival_ps;
    gt_engine_schedule(&r->m->engine, arrival_ps > now_ps ? arrival_ps : now_ps, GT_PHASE_HOST, GT_HANDLE_REQUEST,
                       index, GT_REQUEST_ARRIVES);
}

/* Its operations are as though nobody had asked for them. */
static void reset_ops(struct gt_requests *r, uint32_t index)
{
    struct gt_machine *m = r->m;

    for (uint32_t i = r->first_op[index]; i < r->first_op[index + 1]; i++) {
        gt_op_index op = r->ops_list[i];

        m->op_numbers[op] = 0;
        if (m->op_commands != NULL)
            m->op_commands[op] = GT_NONE;
        if (m->op_afters_left != NULL)
            m->op_afters_left[op] = m->replay.edges_in[op];
        r->op_held_ps[op] = 0;
    }
}

/* Seen on an H200: who has waited for a request for a while is slower at the first calls. */
static gt_time_ps idle_start_ps(const struct gt_requests *r, const struct gt_worker *worker)
{
    const struct gt_device *device = r->m->device;
    double idle_ps = (double)(r->m->engine.now_ps - worker->idle_from_ps);
    double slower_ps = device->idle_start_us_per_ms * idle_ps / 1e3;

    return gt_whole_ps(fmin(slower_ps, (double)device->idle_start_most_ps));
}

static void begin(struct gt_requests *r, uint32_t index)
{
    struct gt_worker *worker = &r->workers[index];
    struct gt_machine *m = r->m;
    gt_time_ps start_ps = m->engine.now_ps + idle_start_ps(r, worker);

    worker->state = GT_WORKER_SERVES;
    worker->request.begin_ps = m->engine.now_ps;
    worker->request.part_ps[GT_PART_QUEUED] = m->engine.now_ps - worker->request.arrival_ps;
    worker->threads_left = 0;
    worker->ops_left = worker->ops;
    worker->calls_end_ps = m->engine.now_ps;
    memset(worker->blocked_ps, 0, r->load->tenant_count * sizeof *worker->blocked_ps);
    reset_ops(r, index);
    r->view.serving++;
    if (r->options.noise_draw > 0)
        r->options.noise_draw = 1 + (uint32_t)(r->begun % (UINT32_MAX - 1));
    r->begun++;
    for (uint32_t i = 0; i < worker->threads; i++) {
        struct gt_thread_state *thread = &m->threads[worker->first_thread + i];

        if (thread->call_count == 0)
            continue;
        worker->threads_left++;
        thread->next = 0;
        thread->done = false;
        gt_engine_schedule(&m->engine, start_ps + m->workload->calls[thread->calls[0]].before_ps, GT_PHASE_HOST,
                           GT_HANDLE_THREAD, worker->first_thread + i, 0);
    }
}

/* The worker whose request waits to begin and arrived first, of those behind (after_ps, after) in the order of arrival; GT_NONE:
 * none. */
static uint32_t next_waiting(const struct gt_requests *r, gt_time_ps after_ps, int64_t after)
{
    uint32_t first = GT_NONE;

    for (uint32_t i = 0; i < r->worker_count; i++) {
        gt_time_ps arrival_ps = r->workers[i].request.arrival_ps;

        if (r->workers[i].state == GT_WORKER_WAITS &&
            (arrival_ps > after_ps || (arrival_ps == after_ps && (int64_t)i > after)) &&
            (first == GT_NONE || arrival_ps < r->workers[first].request.arrival_ps))
            first = i;
    }
    return first;
}

/* Let requests begin that the policy lets, in the order of arrival. */
static void ask_about_requests(struct gt_requests *r)
{
    uint32_t first = next_waiting(r, 0, -1), at = first;

    while (at != GT_NONE) {
        struct gt_worker *worker = &r->workers[at];
        struct gt_policy_request request = { worker->tenant, worker->request.arrival_ps };

        r->view.earliest_ps = first != GT_NONE ? r->workers[first].request.arrival_ps : GT_TIME_NONE;
        if (r->load->policy->may_begin == NULL || r->load->policy->may_begin(&r->view, &request)) {
            begin(r, at);
            if (at == first)
                first = next_waiting(r, 0, -1);
        } else if (r->load->policy->first_only) {
            return;
        }
        at = next_waiting(r, request.arrival_ps, at);
    }
}

static bool is_critical(const struct gt_requests *r, const struct gt_worker *worker)
{
    return r->load->tenants[worker->tenant].critical;
}

/* From a critical request's arrival until best-effort kernels are off the GPU. */
static gt_time_ps reset_ps(const struct gt_requests *r)
{
    return gt_whole_ps(r->load->parameters[r->load->policy->reset_parameter] * 1e6);
}

static void arrives(struct gt_requests *r, uint32_t index)
{
    struct gt_worker *worker = &r->workers[index];

    worker->state = GT_WORKER_WAITS;
    if (is_critical(r, worker) && r->view.critical++ == 0) {
        r->critical_from_ps = r->m->engine.now_ps;
        if (r->load->policy->reset_parameter >= 0)
            gt_engine_schedule(&r->m->engine, r->critical_from_ps + reset_ps(r), GT_PHASE_WAKE, GT_HANDLE_REQUEST, 0,
                               GT_REQUEST_RESET);
    }
    ask_about_requests(r);
}

static uint32_t worst_blocker(const struct gt_requests *r, const struct gt_worker *worker)
{
    uint32_t worst = GT_NONE;

    for (uint32_t i = 0; i < r->load->tenant_count; i++)
        if (worker->blocked_ps[i] > (worst == GT_NONE ? 0 : worker->blocked_ps[worst]))
            worst = i;
    return worst;
}

static int done(struct gt_requests *r, uint32_t index, struct gt_error *error)
{
    struct gt_worker *worker = &r->workers[index];

    worker->request.end_ps = worker->idle_from_ps = r->m->engine.now_ps;
    worker->request.blocker = worst_blocker(r, worker);
    r->view.serving--;
    r->view.critical -= is_critical(r, worker);
    if (r->sink != NULL && r->sink(r->user, &worker->request, error) != 0)
        return -1;
    take_next(r, index);
    gt_requests_ask_soon(r);
    return 0;
}

int gt_requests_handler(void *machine, uint32_t subject, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_requests *r = m->requests;

    switch (stamp) {
    case GT_REQUEST_ARRIVES: arrives(r, subject); break;
    case GT_REQUEST_MAY_BE_DONE:
        if (r->workers[subject].state == GT_WORKER_SERVES && r->workers[subject].threads_left == 0 &&
            r->workers[subject].ops_left == 0 && done(r, subject, error) != 0)
            return -1;
        break;
    case GT_REQUEST_ASK_AGAIN:
        r->ask_again_due = false;
        ask_about_requests(r);
        gt_dispatcher_ask_again(r);
        break;
    case GT_REQUEST_RESET:
        if (r->view.critical > 0 && m->engine.now_ps - r->critical_from_ps >= reset_ps(r))
            gt_dispatcher_reset(r);
        break;
    default: gt_dispatcher_launch(r, subject); break;
    }
    return m->failed ? -1 : 0;
}

void gt_requests_begin(struct gt_machine *m)
{
    struct gt_requests *r = m->requests;

    r->m = m;
    r->options = *m->options;
    m->options = &r->options;
    r->view.sms = m->device->sms;
    m->blocks_may_stop |= r->load->policy->reset_parameter >= 0;
    for (uint32_t i = 0; i < m->workload->thread_count; i++)
        m->threads[i].done = true; /* until a request begins */
    for (uint32_t i = 0; i < r->worker_count; i++)
        take_next(r, i);
}

static uint32_t tenant_of_op(const struct gt_requests *r, gt_op_index op)
{
    return r->workers[r->worker_of[r->workload->calls[r->workload->ops[op].call].thread]].tenant;
}

/* What an operation waited for and what it was slowed by. */
static void account(struct gt_requests *r, struct gt_worker *worker, const struct gt_op_record *record)
{
    gt_time_ps *part_ps = worker->request.part_ps, held_ps = r->op_held_ps[record->op];
    gt_time_ps waited_ps =
        record->wait_ps[GT_WAIT_RESOURCE] + record->wait_ps[GT_WAIT_ENGINE] + record->wait_ps[GT_WAIT_QUEUE];
    gt_time_ps took_ps = record->end_ps - record->start_ps;

    part_ps[GT_PART_HELD] += held_ps;
    waited_ps -= held_ps < waited_ps ? held_ps : waited_ps;
    if (record->cause == GT_CAUSE_OP && tenant_of_op(r, record->cause_index) == worker->tenant)
        waited_ps = 0; /* for its own */
    part_ps[GT_PART_WAITED] += waited_ps;
    if (r->alone_ps != NULL && took_ps > r->alone_ps[record->op])
        part_ps[GT_PART_SLOWED] += took_ps - r->alone_ps[record->op];
    if (record->cause == GT_CAUSE_OP)
        worker->blocked_ps[tenant_of_op(r, record->cause_index)] += waited_ps;
}

static void may_be_done(struct gt_requests *r, uint32_t index)
{
    struct gt_worker *worker = &r->workers[index];
    gt_time_ps now_ps = r->m->engine.now_ps;

    if (worker->threads_left == 0 && worker->ops_left == 0)
        gt_engine_schedule(&r->m->engine, worker->calls_end_ps > now_ps ? worker->calls_end_ps : now_ps,
                           GT_PHASE_HOST, GT_HANDLE_REQUEST, index, GT_REQUEST_MAY_BE_DONE);
}

static int op_ended(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct gt_requests *r = user;
    uint32_t index = r->worker_of[r->workload->calls[r->workload->ops[record->op].call].thread];
    struct gt_worker *worker = &r->workers[index];

    account(r, worker, record);
    worker->ops_left--;
    gt_dispatcher_ended(r, record->op);
    may_be_done(r, index);
    return r->next.op != NULL ? r->next.op(r->next.user, record, error) : 0;
}

static int call_ended(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct gt_requests *r = user;
    gt_thread_index thread = r->workload->calls[record->call].thread;
    struct gt_worker *worker = &r->workers[r->worker_of[thread]];

    if (record->call == r->last_call[thread]) {
        worker->threads_left--;
        if (record->end_ps > worker->calls_end_ps)
            worker->calls_end_ps = record->end_ps;
        may_be_done(r, r->worker_of[thread]);
    }
    return r->next.call != NULL ? r->next.call(r->next.user, record, error) : 0;
}

static int progress(void *user, uint64_t done_ops, uint64_t total, struct gt_error *error)
{
    struct gt_requests *r = user;

    return r->next.progress(r->next.user, done_ops, total, error);
}

static int blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    struct gt_requests *r = user;

    return r->next.blocks(r->next.user, record, error);
}

const struct gt_probe *gt_requests_probe(struct gt_requests *r, const struct gt_probe *next)
{
    r->next = *next;
    r->probe = (struct gt_probe){
        .user = r,
        .call = call_ended,
        .op = op_ended,
        .blocks = next->blocks != NULL ? blocks : NULL,
        .progress = next->progress != NULL ? progress : NULL,
    };
    return &r->probe;
}
