#include "traces/explain/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/devices/occupancy.h"
#include "traces/explain/host_time.h"

const char *const gt_why_names[GT_WHYS] = {
    [GT_WHY_HOST_WORK] = "host-work",
    [GT_WHY_DATA_LOADING] = "data-loading",
    [GT_WHY_HOST_CALL] = "host-call",
    [GT_WHY_HOST_BLOCKED] = "host-blocked",
    [GT_WHY_LAUNCH] = "launch",
    [GT_WHY_STREAM] = "stream",
    [GT_WHY_DEFAULT_STREAM] = "default-stream",
    [GT_WHY_CODE_LOAD] = "code-load",
    [GT_WHY_EVENT] = "event",
    [GT_WHY_GRAPH] = "graph-edge",
    [GT_WHY_CONNECTION] = "queue",
    [GT_WHY_COPY_ENGINE] = "engine",
    [GT_WHY_SM_ROOM] = "resource",
};
const char *const gt_why_helps[GT_WHYS] = {
    [GT_WHY_HOST_WORK] = "launch earlier, or launch many operations with one call: a CUDA graph",
    [GT_WHY_DATA_LOADING] = "load the next batch while the GPU works: worker processes, prefetching, pinned memory",
    [GT_WHY_HOST_CALL] = "move the call out of the loop, or call it from another thread",
    [GT_WHY_HOST_BLOCKED] = "synchronise less often, or later: keep results on the GPU until they are needed",
    [GT_WHY_LAUNCH] = "launch ahead of the GPU, or launch many operations with one call, a CUDA graph",
    [GT_WHY_STREAM] = "operations in one stream run in order: put independent work in other streams",
    [GT_WHY_DEFAULT_STREAM] = "the NULL stream and blocking streams wait for each other: create streams with "
                              "cudaStreamNonBlocking, or compile with --default-stream per-thread",
    [GT_WHY_CODE_LOAD] = "the first launch of a kernel loads its code, and waits until the GPU has finished its "
                         "work: set CUDA_MODULE_LOADING=EAGER, or launch each kernel once before",
    [GT_WHY_EVENT] = "the program requires this order with an event",
    [GT_WHY_GRAPH] = "the graph requires this order with an edge",
    [GT_WHY_CONNECTION] = "streams share a connection (hardware queue) to the GPU: set CUDA_DEVICE_MAX_CONNECTIONS "
                          "up to 32, use fewer streams, or launch breadth first",
    [GT_WHY_COPY_ENGINE] = "each direction has one copy engine, which runs one copy at a time",
    [GT_WHY_SM_ROOM] = "the SMs are full: use smaller grids or blocks; blocks of a high-priority stream start first",
};
const char *const gt_why_changes[GT_WHYS] = {
    [GT_WHY_HOST_WORK] = "graph", [GT_WHY_HOST_CALL] = "graph",  [GT_WHY_HOST_BLOCKED] = "no-readback",
    [GT_WHY_LAUNCH] = "graph",    [GT_WHY_STREAM] = "streams=4", [GT_WHY_CONNECTION] = "connections=32",
};

enum { PLACE_BYTES = 160 };

enum gt_wait gt_last_wait(const struct gt_loaded_op *op)
{
    for (int wait = GT_WAITS - 1; wait > GT_WAIT_HOST; wait--)
        if (op->wait_ps[wait] > 0)
            return (enum gt_wait)wait;
    return GT_WAIT_HOST;
}

static gt_time_ps later(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a : b;
}

static gt_time_ps earlier(gt_time_ps a, gt_time_ps b)
{
    return a < b ? a : b;
}

static uint64_t lacks(uint64_t have, uint64_t held, uint64_t need)
{
    return held + need > have;
}

const char *gt_lacking(const struct gt_loaded_run *t, gt_kernel_index holder, gt_kernel_index waiter)
{
    const struct gt_device *device = &t->device;
    const struct gt_kernel *full = &t->kernels[holder].shape;
    struct gt_occupancy held, wants;
    uint64_t blocks = gt_kernel_blocks(full), each;

    if (gt_occupancy_of(device, full, &held, NULL) != 0 ||
        gt_occupancy_of(device, &t->kernels[waiter].shape, &wants, NULL) != 0)
        return NULL;
    each = (blocks + device->sms - 1) / device->sms;
    each = each < held.blocks_per_sm ? each : held.blocks_per_sm;
    if (lacks(device->threads_per_sm, each * held.need.threads, wants.need.threads))
        return "threads";
    if (lacks(device->warps_per_sm, each * held.need.warps, wants.need.warps))
        return "warps";
    if (lacks(device->registers_per_sm, each * held.need.registers, wants.need.registers))
        return "registers";
    if (lacks(device->shared_bytes_per_sm, each * held.need.shared_bytes, wants.need.shared_bytes))
        return "shared memory";
    if (lacks(device->blocks_per_sm, each, 1))
        return "block slots";
    if (held.need.sets_bytes > 0 && each * held.need.shared_bytes + wants.need.shared_bytes > held.need.sets_bytes)
        return "shared-memory carveout";
    return NULL;
}

uint32_t gt_free_sms(const struct gt_loaded_run *t, gt_kernel_index kernel)
{
    uint64_t blocks = gt_kernel_blocks(&t->kernels[kernel].shape);

    return blocks < t->device.sms ? (uint32_t)(t->device.sms - blocks) : 0;
}

static void name_op(const struct gt_loaded_run *t, struct gt_hold *hold, const char *how, uint32_t op)
{
    char place[PLACE_BYTES];

    hold->op = op;
    if (op == GT_NONE) {
        snprintf(hold->holder, sizeof hold->holder, "%s", how);
        return;
    }
    gt_loaded_op_place(t, op, place, sizeof place);
    snprintf(hold->holder, sizeof hold->holder, "%.70s: %s", how, place);
}

/* The thread's calls from the one that is the last to begin before `time_ps`. */
static uint32_t call_at(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, t->thread_first[thread], t->thread_first[thread + 1],
                                  t->calls[t->thread_calls[middle]].start_ps <= time_ps);
    return low > t->thread_first[thread] ? low - 1 : low;
}

/* What a thread did in a stretch: time by reason, and the call that took the most of it. */
struct host_use {
    gt_time_ps ps[GT_WHY_LAUNCH + 1];
    gt_time_ps most_ps[GT_WHY_LAUNCH + 1];
    uint32_t call[GT_WHY_LAUNCH + 1];
};

static void use(struct host_use *uses, enum gt_why why, gt_time_ps ps, uint32_t call)
{
    uses->ps[why] += ps;
    if (ps > uses->most_ps[why] || uses->call[why] == GT_NONE) {
        uses->most_ps[why] = ps;
        uses->call[why] = call;
    }
}

/* Long stretches are looked at only so far: thousands of calls say no more. */
enum { CALLS_LOOKED = 4096 };

/* What a thread did between its calls. */
static enum gt_why own_work(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps from_ps,
                            gt_time_ps to_ps)
{
    uint32_t range = gt_host_range_of(t, thread, from_ps, to_ps);

    return range != GT_NONE && t->ranges[range].loader ? GT_WHY_DATA_LOADING : GT_WHY_HOST_WORK;
}

static void look_at_thread(const struct gt_loaded_run *t, uint32_t asking, gt_time_ps from_ps, gt_time_ps to_ps,
                           struct host_use *uses)
{
    gt_thread_index thread = t->calls[asking].thread;
    gt_time_ps at_ps = from_ps;
    uint32_t last = t->thread_first[thread + 1], looked = 0;

    for (uint32_t i = call_at(t, thread, from_ps); i < last && at_ps < to_ps && looked++ < CALLS_LOOKED; i++) {
        uint32_t number = t->thread_calls[i];
        const struct gt_loaded_call *call = &t->calls[number];
        gt_time_ps start_ps = later(call->start_ps, at_ps), end_ps = earlier(call->end_ps, to_ps);

        if (start_ps > at_ps)
            use(uses, own_work(t, thread, at_ps, earlier(start_ps, to_ps)), earlier(start_ps, to_ps) - at_ps, number);
        if (start_ps >= to_ps || number == asking) {
            at_ps = earlier(start_ps, to_ps);
            break;
        }
        if (end_ps > start_ps)
            use(uses,
                call->kind == GT_CALL_HOST_WORK                        ? GT_WHY_HOST_WORK
                : call->blocked_ps * 2 > call->end_ps - call->start_ps ? GT_WHY_HOST_BLOCKED
                                                                       : GT_WHY_HOST_CALL,
                end_ps - start_ps, number);
        at_ps = later(at_ps, end_ps);
    }
    if (at_ps < to_ps)
        use(uses, GT_WHY_LAUNCH, to_ps - at_ps, asking);
}

/* In which range the call is, or the thread was while it worked. */
static void say_within(const struct gt_loaded_run *t, enum gt_why why, uint32_t call, const struct gt_hold *hold,
                       char *within, size_t bytes)
{
    const struct gt_loaded_call *c = &t->calls[call];
    uint32_t range = c->range;

    if (why == GT_WHY_HOST_WORK || why == GT_WHY_DATA_LOADING)
        range = gt_host_range_of(t, c->thread, hold->from_ps, hold->to_ps);
    within[0] = '\0';
    if (range != GT_NONE)
        snprintf(within, bytes, ", in %.90s", t->ranges[range].name);
}

static void say_host(const struct gt_loaded_run *t, enum gt_why why, uint32_t call, struct gt_hold *hold)
{
    const struct gt_loaded_call *c = &t->calls[call];
    const char *name = t->names[c->name], *thread = t->threads[c->thread];
    char within[GT_HOLDER_BYTES / 2];

    say_within(t, why, call, hold, within, sizeof within);
    hold->op = GT_NONE;
    if (why == GT_WHY_HOST_BLOCKED) {
        char place[PLACE_BYTES] = "the GPU";

        if (c->cause_op != GT_NONE)
            gt_loaded_op_place(t, c->cause_op, place, sizeof place);
        hold->op = c->cause_op;
        snprintf(hold->holder, sizeof hold->holder, "%.40s on %.30s waited for %.140s", name, thread, place);
    } else if (why == GT_WHY_HOST_CALL) {
        snprintf(hold->holder, sizeof hold->holder, "%.60s on %.40s%s", name, thread, within);
    } else if (why == GT_WHY_LAUNCH) {
        snprintf(hold->holder, sizeof hold->holder, "%.50s on %.30s and its launch latency%s", name, thread, within);
    } else {
        snprintf(hold->holder, sizeof hold->holder, "host code of %.40s before %.50s%s", thread, name, within);
    }
}

static void why_host(const struct gt_loaded_run *t, gt_op_index op, struct gt_hold *hold)
{
    struct host_use uses = { .call = { GT_NONE, GT_NONE, GT_NONE, GT_NONE, GT_NONE } };
    uint32_t asking = t->ops[op].call;
    int most = GT_WHY_LAUNCH;

    look_at_thread(t, asking, hold->from_ps, hold->to_ps, &uses);
    for (int why = 0; why < GT_WHY_LAUNCH; why++)
        if (uses.ps[why] > uses.ps[most])
            most = why;
    hold->why = (enum gt_why)most;
    say_host(t, hold->why, uses.call[most] == GT_NONE ? asking : uses.call[most], hold);
}

static void why_room(const struct gt_loaded_run *t, gt_op_index op, uint32_t cause, struct gt_hold *hold)
{
    const struct gt_loaded_op *waiter = &t->ops[op];
    const char *lacking = NULL;
    char how[GT_HOLDER_BYTES / 2];

    if (cause != GT_NONE && waiter->kind == GT_OP_KERNEL && t->ops[cause].kind == GT_OP_KERNEL)
        lacking = gt_lacking(t, t->ops[cause].kernel, waiter->kernel);
    snprintf(how, sizeof how, lacking != NULL ? "not enough %s beside" : "waiting for", lacking);
    hold->why = GT_WHY_SM_ROOM;
    name_op(t, hold, how, cause);
}

/* The legacy default stream's rules are of operations in it, or behind such; what else holds streams up is code that is loaded. */
static bool is_by_default(const struct gt_loaded_run *t, const struct gt_loaded_op *op, uint32_t cause)
{
    return (t->streams[op->stream].flags | t->streams[t->ops[cause].stream].flags) & GT_STREAM_LEGACY_DEFAULT;
}

/* One kind of wait: who held it.  The run tells who of the last one. */
static void why_wait(const struct gt_loaded_run *t, gt_op_index index, enum gt_wait wait, struct gt_hold *hold)
{
    const struct gt_loaded_op *op = &t->ops[index];
    uint32_t cause = gt_last_wait(op) == wait ? op->cause_op : GT_NONE;
    bool elsewhere = cause != GT_NONE && t->ops[cause].stream != op->stream;

    switch (wait) {
    case GT_WAIT_STREAM:
        hold->why = !elsewhere                    ? GT_WHY_STREAM
                    : is_by_default(t, op, cause) ? GT_WHY_DEFAULT_STREAM
                                                  : GT_WHY_CODE_LOAD;
        name_op(t, hold,
                hold->why == GT_WHY_STREAM           ? "previous operation of the stream"
                : hold->why == GT_WHY_DEFAULT_STREAM ? "default-stream synchronisation with"
                                                     : "code load after",
                elsewhere ? cause : op->before);
        return;
    case GT_WAIT_EVENT:
        hold->why = cause != GT_NONE && t->ops[cause].call == op->call ? GT_WHY_GRAPH : GT_WHY_EVENT;
        name_op(t, hold,
                hold->why == GT_WHY_GRAPH ? "after"
                : cause == GT_NONE        ? "event"
                                          : "event recorded after",
                cause);
        return;
    case GT_WAIT_QUEUE:
        hold->why = GT_WHY_CONNECTION;
        name_op(t, hold, elsewhere ? "connection shared with" : "limit of resident grids, behind", cause);
        return;
    case GT_WAIT_ENGINE:
        hold->why = GT_WHY_COPY_ENGINE;
        name_op(t, hold, "copy engine busy with", cause);
        return;
    case GT_WAIT_RESOURCE: why_room(t, index, cause, hold); return;
    default: why_host(t, index, hold); return;
    }
}

void gt_why(const struct gt_loaded_run *t, gt_op_index index, gt_time_ps from_ps, gt_time_ps to_ps,
            struct gt_hold *hold)
{
    const struct gt_loaded_op *op = &t->ops[index];
    gt_time_ps at_ps = op->start_ps, most_ps = 0;
    enum gt_wait most = GT_WAIT_HOST;

    *hold = (struct gt_hold){ .from_ps = from_ps, .to_ps = to_ps, .op = GT_NONE };
    /* The parts follow one another in the order of gt_wait and end when it starts. */
    for (int wait = GT_WAITS - 1; wait >= 0; wait--) {
        gt_time_ps begin_ps = op->wait_ps[wait] < at_ps ? at_ps - op->wait_ps[wait] : 0;
        gt_time_ps low_ps = later(begin_ps, from_ps), high_ps = earlier(at_ps, to_ps);

        if (high_ps > low_ps && high_ps - low_ps > most_ps) {
            most_ps = high_ps - low_ps;
            most = (enum gt_wait)wait;
            hold->from_ps = low_ps;
            hold->to_ps = high_ps;
        }
        at_ps = begin_ps;
    }
    why_wait(t, index, most, hold);
}
