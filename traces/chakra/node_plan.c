#include "traces/chakra/node_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/dependences.h"
#include "sim/workload/collective.h"
#include "sim/workload/processes.h"

enum { PS_PER_US = 1000000 };

/* The last node of a thread, and when that ended by the recording. */
struct thread {
    uint32_t last; /* GT_NONE: none yet */
    uint64_t end_us;
};

struct planning {
    struct gt_node_plan *plan;
    struct gt_dependences dependences;
    struct thread *threads;
    uint32_t *node_of_op; /* GT_NONE: none yet */
    struct gt_planned_rank *rank;
};

static uint64_t to_us(gt_time_ps time_ps)
{
    return (time_ps + PS_PER_US / 2) / PS_PER_US;
}

static uint64_t op_end_us(const struct gt_workload *w, gt_op_index op)
{
    return to_us(gt_op_measured_end(&w->ops[op]));
}

static uint32_t rank_of_op(const struct gt_node_plan *plan, gt_op_index op)
{
    return plan->rank_of_thread[plan->w->calls[plan->w->ops[op].call].thread];
}

static uint32_t find_rank(struct gt_node_plan *plan, gt_thread_index process)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->ranks[i].process == process)
            return i;
    plan->ranks = gt_realloc(plan->ranks, plan->count + 1ull, sizeof *plan->ranks);
    plan->ranks[plan->count] = (struct gt_planned_rank){ .process = process };
    return plan->count++;
}

/* Threads that stand for callers nobody saw are of process 0: they go with the first process there is. */
static void find_ranks(struct gt_node_plan *plan)
{
    const struct gt_workload *w = plan->w;
    gt_thread_index *processes = gt_thread_processes(w), first = 0;
    bool *calls; /* by thread: does it make any? */

    for (gt_thread_index i = w->thread_count; i-- > 0;)
        if (w->threads[i].process != 0)
            first = processes[i];
    calls = gt_calloc(w->thread_count + 1ull, sizeof *calls);
    for (gt_call_index i = 0; i < w->call_count; i++)
        calls[w->calls[i].thread] = true;
    plan->rank_of_thread = gt_calloc(w->thread_count + 1ull, sizeof *plan->rank_of_thread);
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        if (calls[i])
            plan->rank_of_thread[i] = find_rank(plan, w->threads[i].process != 0 ? processes[i] : first);
    free(calls);
    free(processes);
    plan->rank_of_gpu = gt_calloc(w->gpu_count + 1ull, sizeof *plan->rank_of_gpu);
    for (gt_op_index i = w->op_count; i-- > 0;)
        plan->rank_of_gpu[w->streams[w->ops[i].stream].gpu] = rank_of_op(plan, i);
}

static uint32_t add(struct planning *p, enum gt_planned_kind kind, uint32_t what, uint64_t start_us)
{
    struct gt_planned_rank *rank = p->rank;

    gt_array_grow(rank->nodes, rank->count, rank->room);
    rank->nodes[rank->count] = (struct gt_planned_node){
        .start_us = start_us, .first_dep = p->plan->dep_count, .call = GT_NONE, .what = what, .kind = (uint8_t)kind
    };
    return rank->count++;
}

/* The node added last comes after `node`. */
static void come_after(struct planning *p, uint32_t node)
{
    struct gt_node_plan *plan = p->plan;

    if (node == GT_NONE)
        return;
    gt_array_grow(plan->deps, plan->dep_count, plan->dep_room);
    plan->deps[plan->dep_count++] = node;
    p->rank->nodes[p->rank->count - 1].deps++;
}

/* The node added last ends then; it becomes the thread's last. */
static void end_on_thread(struct planning *p, struct thread *thread, uint64_t end_us)
{
    struct gt_planned_node *node = &p->rank->nodes[p->rank->count - 1];

    node->duration_us = end_us > node->start_us ? end_us - node->start_us : 0;
    thread->last = p->rank->count - 1;
    thread->end_us = end_us;
}

/* Is the operation one of this rank's, and does its node stand already? */
static bool is_there(const struct planning *p, gt_op_index op)
{
    return p->node_of_op[op] != GT_NONE && &p->plan->ranks[rank_of_op(p->plan, op)] == p->rank;
}

/* The node added last, of a call, comes after all that the call waited for; returns when that had ended. */
static uint64_t wait_for(struct planning *p, gt_call_index call, uint64_t end_us)
{
    const struct gt_dependence_list *list = &p->dependences.calls;
    const struct gt_workload *w = p->plan->w;
    uint64_t waited_us = 0;

    for (uint64_t i = list->first[call]; i < list->first[call + 1]; i++) {
        uint64_t op_us = op_end_us(w, list->list[i]);

        if (!is_there(p, list->list[i]) || op_us > end_us) /* what had not ended was not waited for */
            continue;
        come_after(p, p->node_of_op[list->list[i]]);
        waited_us = op_us > waited_us ? op_us : waited_us;
    }
    return waited_us;
}

/* From when on a thread waits in a call, what it comes after being known: the node added last. */
static void begin_behind(struct planning *p, uint64_t waited_us)
{
    struct gt_planned_node *node = &p->rank->nodes[p->rank->count - 1];

    if (waited_us > node->start_us)
        node->start_us = waited_us;
}

static void add_host_work(struct planning *p, struct thread *thread, gt_call_index call, uint64_t start_us)
{
    uint32_t last = thread->last;

    if (start_us <= thread->end_us)
        return;
    add(p, GT_NODE_HOST_WORK, call, thread->end_us);
    come_after(p, last);
    end_on_thread(p, thread, start_us);
}

/* The nodes that an operation comes behind, behind those of its call; returns when the last of them had ended. */
static uint64_t come_after_all(struct planning *p, gt_op_index op, uint32_t call, uint64_t called_us)
{
    const struct gt_dependence_list *list = &p->dependences.ops;
    uint64_t ready_us = called_us;

    come_after(p, call);
    for (uint64_t i = list->first[op]; i < list->first[op + 1]; i++) {
        uint64_t end_us = op_end_us(p->plan->w, list->list[i]);

        if (!is_there(p, list->list[i]))
            continue;
        come_after(p, p->node_of_op[list->list[i]]);
        ready_us = end_us > ready_us ? end_us : ready_us;
    }
    return ready_us;
}

static void add_op(struct planning *p, gt_op_index op, uint32_t call, uint64_t called_us)
{
    const struct gt_workload *w = p->plan->w;
    const struct gt_kernel *kernel = gt_collective_kernel(w, op);
    uint64_t start_us = to_us(w->ops[op].start_ps), ready_us;
    uint32_t gap = add(p, GT_NODE_GAP, op, 0), node = gap;

    ready_us = come_after_all(p, op, call, called_us);
    p->rank->overlapping += ready_us > start_us;
    p->rank->nodes[gap].call = call;
    if (ready_us < start_us) {
        p->rank->nodes[gap].start_us = ready_us;
        p->rank->nodes[gap].duration_us = start_us - ready_us;
        node = add(p, GT_NODE_OP, op, start_us);
        come_after_all(p, op, call, called_us);
        come_after(p, gap);
    }
    p->rank->nodes[node].kind = GT_NODE_OP;
    p->rank->nodes[node].start_us = start_us;
    p->rank->nodes[node].duration_us = op_end_us(w, op) - start_us;
    p->rank->nodes[node].call = call;
    p->node_of_op[op] = node;
    if (kernel == NULL || kernel->collective.kind != GT_SEND_RECV || kernel->collective.to == GT_NONE ||
        kernel->collective.from == GT_NONE)
        return;
    gap = node;
    node = add(p, GT_NODE_RECEIVE, op, start_us);
    p->rank->nodes[node].duration_us = p->rank->nodes[gap].duration_us;
    p->rank->nodes[node].deps = p->rank->nodes[gap].deps;
    p->rank->nodes[node].first_dep = p->rank->nodes[gap].first_dep;
    p->rank->nodes[node].call = call;
}

/* When the call's first operation started, within the call: until then the call is what they come behind. */
static uint64_t first_start_us(const struct gt_workload *w, const struct gt_call *call, uint64_t start_us,
                               uint64_t end_us)
{
    for (gt_op_index i = call->first_op; i < call->first_op + call->ops; i++) {
        uint64_t op_us = to_us(w->ops[i].start_ps);

        end_us = op_us < end_us ? op_us : end_us;
    }
    return end_us > start_us ? end_us : start_us;
}

static void add_call(struct planning *p, gt_call_index index)
{
    const struct gt_workload *w = p->plan->w;
    const struct gt_call *call = &w->calls[index];
    struct thread *thread = &p->threads[call->thread];
    uint64_t start_us = to_us(call->start_ps), end_us = to_us(gt_call_measured_end(call)), called_us;
    uint32_t node;

    p->rank = &p->plan->ranks[p->plan->rank_of_thread[call->thread]];
    add_host_work(p, thread, index, start_us);
    node = add(p, GT_NODE_CALL, index, start_us);
    come_after(p, thread->last);
    if (call->ops == 0) {
        begin_behind(p, wait_for(p, index, end_us));
        end_on_thread(p, thread, end_us);
        return;
    }
    called_us = first_start_us(w, call, start_us, end_us);
    end_on_thread(p, thread, called_us);
    for (gt_op_index i = call->first_op; i < call->first_op + call->ops; i++)
        add_op(p, i, node, called_us);
    if (called_us == end_us && p->dependences.calls.first[index] == p->dependences.calls.first[index + 1])
        return;
    add(p, GT_NODE_RETURN, index, called_us);
    come_after(p, node);
    begin_behind(p, wait_for(p, index, end_us));
    end_on_thread(p, thread, end_us);
}

static int check_times(const struct gt_workload *w, struct gt_error *error)
{
    const char *const advice = "a Chakra trace holds measured times, so name a recording";

    for (gt_op_index i = 0; i < w->op_count; i++)
        if (gt_op_measured_end(&w->ops[i]) == GT_TIME_NONE)
            return gt_error_set(error, "operation %" PRIu32 " has no measured times; %s", i, advice);
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (gt_call_measured_end(&w->calls[i]) == GT_TIME_NONE)
            return gt_error_set(error, "call %" PRIu32 " has no measured times; %s", i, advice);
    if (w->call_count == 0)
        return gt_error_set(error, "there are no calls; %s", advice);
    return 0;
}

int gt_node_plan_make(struct gt_node_plan *plan, const struct gt_workload *w, struct gt_error *error)
{
    struct planning p = { .plan = plan };

    *plan = (struct gt_node_plan){ .w = w };
    if (check_times(w, error) != 0)
        return -1;
    find_ranks(plan);
    plan->work = gt_kernel_work_find(w);
    gt_dependences_find(&p.dependences, w);
    plan->unknown_waits = p.dependences.unknown_waits;
    p.threads = gt_calloc(w->thread_count + 1ull, sizeof *p.threads);
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        p.threads[i].last = GT_NONE;
    p.node_of_op = gt_realloc(NULL, w->op_count + 1ull, sizeof *p.node_of_op);
    memset(p.node_of_op, 0xff, (w->op_count + 1ull) * sizeof *p.node_of_op); /* GT_NONE */
    for (uint32_t i = 0; i < plan->count && w->group_count > 0; i++) {
        p.rank = &plan->ranks[i];
        add(&p, GT_NODE_GROUPS, GT_NONE, 0);
    }
    for (gt_call_index i = 0; i < w->call_count; i++)
        add_call(&p, i);
    gt_dependences_free(&p.dependences);
    free(p.threads);
    free(p.node_of_op);
    return 0;
}

void gt_node_plan_free(struct gt_node_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++)
        free(plan->ranks[i].nodes);
    free(plan->ranks);
    free(plan->rank_of_thread);
    free(plan->rank_of_gpu);
    free(plan->work);
    free(plan->deps);
    *plan = (struct gt_node_plan){ .w = NULL };
}
