/* Is a workload what the simulator relies on? Every index, range and order. */
#include "sim/workload/allocations.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "sim/workload/program.h"
#include "sim/workload/task_check.h"
#include "sim/workload/workload.h"

#include <stdlib.h>

/* What a call must say for the simulator to play it, but where its target is unknown. */
static const struct need {
    bool stream, event, buffer;
} needs[GT_CALL_KINDS] = {
    [GT_CALL_STREAM_SYNC] = { .stream = true },
    [GT_CALL_STREAM_QUERY] = { .stream = true },
    [GT_CALL_EVENT_RECORD] = { .stream = true, .event = true },
    [GT_CALL_EVENT_WAIT] = { .stream = true, .event = true },
    [GT_CALL_EVENT_QUERY] = { .event = true },
    [GT_CALL_EVENT_SYNC] = { .event = true },
    [GT_CALL_ALLOC] = { .buffer = true },
    [GT_CALL_FREE] = { .buffer = true },
    [GT_CALL_RECORD_STREAM] = { .stream = true, .buffer = true },
};

static bool index_fits(uint32_t index, uint32_t count)
{
    return index == GT_NONE || index < count;
}

static bool time_fits(gt_time_ps time)
{
    return time == GT_TIME_NONE || time <= GT_TIME_LIMIT_PS;
}

/* A measured stretch must end in time as well. */
static bool stretch_fits(gt_time_ps start_ps, gt_time_ps duration_ps)
{
    if (!time_fits(start_ps) || !time_fits(duration_ps))
        return false;
    return start_ps == GT_TIME_NONE || duration_ps == GT_TIME_NONE || time_fits(start_ps + duration_ps);
}

/* Put "line N: " before the error where the line is known. */
static int at_line(uint32_t line, struct gt_error *error)
{
    return line != 0 ? gt_error_prefix(error, "line %u: ", line) : -1;
}

static int check_cost(const struct gt_kernel *kernel, struct gt_error *error)
{
    if (!time_fits(kernel->duration_ps))
        return gt_error_set(error, "its duration is too long");
    switch (kernel->cost) {
    case GT_COST_NONE: return 0;
    case GT_COST_FIXED:
    case GT_COST_RANGE:
        if (kernel->block_min_ps > kernel->block_max_ps || kernel->block_max_ps > GT_TIME_LIMIT_PS)
            return gt_error_set(error, "its block time is too long, or a range that starts above its end");
        return 0;
    case GT_COST_LIST:
        if (kernel->block_list_length == 0 || kernel->block_list_ps == NULL)
            return gt_error_set(error, "its list of block times is empty");
        for (uint32_t i = 0; i < kernel->block_list_length; i++)
            if (kernel->block_list_ps[i] > GT_TIME_LIMIT_PS)
                return gt_error_set(error, "a block time of its list is too long");
        return 0;
    }
    return gt_error_set(error, "its cost is of no known kind");
}

static int check_phases(const struct gt_kernel *kernel, struct gt_error *error)
{
    gt_time_ps before_ps = 0;

    for (uint32_t i = 0; kernel->phase_end_ps != NULL && i <= kernel->grid_barriers; i++) {
        if (kernel->phase_end_ps[i] < before_ps || kernel->phase_end_ps[i] > GT_TIME_LIMIT_PS)
            return gt_error_set(error, "its phases are too long");
        before_ps = kernel->phase_end_ps[i];
    }
    return kernel->phase_end_ps != NULL && before_ps == 0 ? gt_error_set(error, "all its phases are 0") : 0;
}

static int check_kernel(const struct gt_workload *workload, const struct gt_kernel *kernel, struct gt_error *error)
{
    if (!index_fits(kernel->name, gt_name_count(workload)) || !index_fits(kernel->runs, gt_name_count(workload)) ||
        !index_fits(kernel->arguments, gt_name_count(workload)))
        return gt_error_set(error, "its name, what it runs or its arguments are not among the names");
    if (kernel->arguments != GT_NONE && kernel->runs == GT_NONE)
        return gt_error_set(error, "it has arguments but does not say which kernel of the library it runs");
    for (int i = 0; i < 3; i++)
        if (kernel->grid[i] == 0 || kernel->block[i] == 0)
            return gt_error_set(error, "its grid or its block has a size of 0; every size is 1 at least");
    if (!gt_kernel_cluster_fits(kernel->grid, kernel->cluster))
        return gt_error_set(error,
                            "clusters of %u x %u x %u blocks: each side must divide the grid's, and a cluster has at "
                            "most %d blocks",
                            kernel->cluster[0], kernel->cluster[1], kernel->cluster[2], GT_MOST_CLUSTER_BLOCKS);
    if (gt_kernel_threads(kernel) > INT32_MAX)
        return gt_error_set(error, "its block has %llu threads, more than any GPU takes",
                            (unsigned long long)gt_kernel_threads(kernel));
    if (kernel->program != NULL && (gt_kernel_threads(kernel) + 31) / 32 != kernel->program->warps_per_block)
        return gt_error_set(error, "its program %.80s is for blocks of %u warps, and it has %llu threads a block",
                            kernel->program->key, kernel->program->warps_per_block,
                            (unsigned long long)gt_kernel_threads(kernel));
    if (kernel->early_pct > 100 || !time_fits(kernel->prologue_ps) || kernel->grid_barriers > GT_MOST_GRID_BARRIERS)
        return gt_error_set(error,
                            "\"trigger_pct\" is 0 to 100, \"prologue\" less than 53 days and \"grid_barriers\" %d at "
                            "most",
                            GT_MOST_GRID_BARRIERS);
    if (kernel->tasks != NULL && (kernel->grid_barriers > 0 || kernel->early_pct > 0 || kernel->prologue_ps > 0))
        return gt_error_set(error,
                            "workers of a task graph have no grid_barriers, trigger_pct or prologue: their tasks "
                            "wait for counters");
    return check_phases(kernel, error) == 0 ? check_cost(kernel, error) : -1;
}

static int check_buffers(const struct gt_workload *workload, struct gt_error *error)
{
    for (uint32_t i = 0; i < workload->buffer_count; i++) {
        const struct gt_buffer *buffer = &workload->buffers[i];

        if (buffer->name >= gt_name_count(workload) || buffer->gpu >= workload->gpu_count ||
            buffer->memory >= GT_MEMORIES)
            return gt_error_set(error, "buffer %u has a name, a GPU or a memory that is not there", i);
        if (buffer->bytes > INT64_MAX ||
            (buffer->address != GT_ADDRESS_NONE && buffer->bytes > UINT64_MAX - buffer->address))
            return gt_error_set(error, "buffer %.200s ends beyond the last address",
                                gt_name_text(workload, buffer->name));
    }
    return 0;
}

/* Graphs first, then what kernels ask of theirs. */
static int check_tasks(const struct gt_workload *workload, struct gt_error *error)
{
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        if (gt_task_graph_check(workload, workload->task_graphs[i], error) != 0)
            return -1;
    for (uint32_t i = 0; i < workload->kernel_count; i++)
        if (workload->kernels[i].tasks != NULL && gt_task_policy_check(workload, &workload->kernels[i], error) != 0)
            return -1;
    return 0;
}

static int check_definitions(const struct gt_workload *workload, struct gt_error *error)
{
    uint32_t names = gt_name_count(workload);

    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        const struct gt_kernel *kernel = &workload->kernels[i];

        if (check_kernel(workload, kernel, error) != 0 || gt_launch_rules_check(workload, i, error) != 0) {
            gt_error_prefix(error, "kernel %.200s: ", gt_name_text(workload, kernel->name));
            return at_line(kernel->line, error);
        }
    }
    if (workload->gpu_count > GT_MOST_GPUS)
        return gt_error_set(error, "it names %u GPUs; %u are the limit", workload->gpu_count, (unsigned)GT_MOST_GPUS);
    for (uint32_t i = 0; i < workload->gpu_count; i++)
        if (!index_fits(workload->gpus[i].name, names))
            return gt_error_set(error, "GPU %u: its name is not among the names", workload->gpus[i].id);
    for (uint32_t i = 0; i < workload->stream_count; i++)
        if (workload->streams[i].gpu >= workload->gpu_count || !index_fits(workload->streams[i].name, names))
            return gt_error_set(error, "stream %llu is on a GPU, or has a name, that is not there",
                                (unsigned long long)workload->streams[i].id);
    for (uint32_t i = 0; i < workload->thread_count; i++)
        if (!index_fits(workload->threads[i].name, names))
            return gt_error_set(error, "a thread's name is not among the names");
    for (uint32_t i = 0; i < workload->event_count; i++)
        if (!index_fits(workload->events[i].name, names))
            return gt_error_set(error, "an event's name is not among the names");
    return check_buffers(workload, error) != 0 ? -1 : check_tasks(workload, error);
}

static int check_op(const struct gt_workload *workload, uint32_t index, struct gt_error *error)
{
    const struct gt_op *op = &workload->ops[index];

    if (op->kind >= GT_OP_KINDS || op->direction >= GT_DIRECTIONS || op->memory >= GT_MEMORIES)
        return gt_error_set(error, "an operation's kind, direction or memory is not a known one");
    if (op->stream >= workload->stream_count)
        return gt_error_set(error, "a %s is in no stream", gt_op_kind_names[op->kind]);
    if (op->kind == GT_OP_KERNEL ? op->kernel >= workload->kernel_count : op->kernel != GT_NONE)
        return gt_error_set(error, "a %s must%s name a kernel", gt_op_kind_names[op->kind],
                            op->kind == GT_OP_KERNEL ? "" : " not");
    if (op->kind == GT_OP_KERNEL && workload->kernels[op->kernel].launch_count > 0 &&
        workload->calls[op->call].kind == GT_CALL_GRAPH_LAUNCH)
        return gt_error_set(error, "kernel %.200s launches kernels itself: as a graph's node that is not simulated",
                            gt_name_text(workload, workload->kernels[op->kernel].name));
    if (op->programmatic && op->kind != GT_OP_KERNEL)
        return gt_error_set(error, "a %s cannot be launched programmatically: kernels are",
                            gt_op_kind_names[op->kind]);
    if (op->has_priority && op->kind != GT_OP_KERNEL)
        return gt_error_set(error, "a %s has no priority of its own: kernels have", gt_op_kind_names[op->kind]);
    if (!index_fits(op->peer_gpu, workload->gpu_count))
        return gt_error_set(error, "an operation's other GPU is not among the GPUs");
    if (op->peer_gpu != GT_NONE && op->peer_gpu == workload->streams[op->stream].gpu)
        return gt_error_set(error, "an operation's other GPU is the one that its stream is on");
    if (op->bytes > INT64_MAX)
        return gt_error_set(error, "a %s of more than 2^63 bytes", gt_op_kind_names[op->kind]);
    if (!stretch_fits(op->start_ps, op->duration_ps))
        return gt_error_set(error, "an operation starts too late or lasts too long; 53 days are the limit");
    /* Of kernels the simulation says it, once it knows of programs; copies and memsets have a model. */
    if (op->kind == GT_OP_HOST_FUNCTION && op->duration_ps == GT_TIME_NONE)
        return gt_error_set(error, "nothing says how long a %s takes; give it a duration",
                            gt_op_kind_names[op->kind]);
    return 0;
}

/* What an operation reads and writes lies in its buffer. */
static int check_accesses(const struct gt_workload *workload, const struct gt_op *op, struct gt_error *error)
{
    if ((uint64_t)op->first_access + op->accesses > workload->access_count)
        return gt_error_set(error, "what an operation reads and writes is not among the accesses");
    for (uint32_t i = op->first_access; i < op->first_access + op->accesses; i++) {
        const struct gt_buffer_access *access = &workload->accesses[i];
        uint64_t end;

        if (!index_fits(access->buffer, workload->buffer_count) ||
            (access->buffer == GT_NONE && op->kind != GT_OP_COPY) ||
            __builtin_add_overflow(access->offset, access->bytes, &end))
            return gt_error_set(error, "an operation reads or writes a buffer that is not there");
        if (access->buffer != GT_NONE && workload->buffers[access->buffer].bytes != 0 &&
            end > workload->buffers[access->buffer].bytes)
            return gt_error_set(error, "a %s reads or writes buffer %.200s up to byte %llu, and it has %llu",
                                gt_op_kind_names[op->kind],
                                gt_name_text(workload, workload->buffers[access->buffer].name),
                                (unsigned long long)end, (unsigned long long)workload->buffers[access->buffer].bytes);
    }
    return 0;
}

/* The operations of a call are its own, and wait only for others of it and for earlier ones.  Whether
 * they wait in a circle the simulation tells. */
static int check_ops(const struct gt_workload *workload, uint32_t call_index, struct gt_error *error)
{
    const struct gt_call *call = &workload->calls[call_index];

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        const struct gt_op *op = &workload->ops[i];

        if (op->call != call_index)
            return gt_error_set(error, "an operation belongs to another call than the one that has it");
        if (check_op(workload, i, error) != 0 || check_accesses(workload, op, error) != 0)
            return -1;
        if ((uint64_t)op->first_after + op->afters > workload->after_count || op->inferred_afters > op->afters)
            return gt_error_set(error, "an operation's edges are not among the edges");
        for (uint32_t j = op->first_after; j < op->first_after + op->afters; j++)
            if (workload->afters[j] == i || workload->afters[j] >= call->first_op + call->ops)
                return gt_error_set(error, "an operation waits for itself or for one of a later call");
    }
    return 0;
}

static int check_call(const struct gt_workload *workload, const struct gt_call *call, struct gt_error *error)
{
    const char *kind;

    if (call->kind >= GT_CALL_KINDS)
        return gt_error_set(error, "a call is of no known kind");
    kind = gt_call_kind_names[call->kind];
    if (call->thread >= workload->thread_count)
        return gt_error_set(error, "a call of %s is made by no thread", kind);
    if (!index_fits(call->stream, workload->stream_count) || !index_fits(call->event, workload->event_count) ||
        !index_fits(call->buffer, workload->buffer_count) || !index_fits(call->name, gt_name_count(workload)) ||
        !index_fits(call->executable, gt_name_count(workload)))
        return gt_error_set(error, "a call of %s names a stream, an event, a buffer or a name that is not there",
                            kind);
    if (!(call->flags & GT_CALL_TARGET_UNKNOWN) && ((needs[call->kind].stream && call->stream == GT_NONE) ||
                                                    (needs[call->kind].event && call->event == GT_NONE)))
        return gt_error_set(error,
                            "a call of %s does not say on which stream or event; give it, or "
                            "say \"target_unknown\":true",
                            kind);
    if (needs[call->kind].buffer && call->buffer == GT_NONE)
        return gt_error_set(error, "a call of %s does not say which buffer", kind);
    if (call->kind == GT_CALL_POLL && call->stream == GT_NONE && call->event == GT_NONE)
        return gt_error_set(error, "a poll does not say which event or stream it asks for");
    if (!time_fits(call->piece_ps) || call->piece_ps == GT_TIME_NONE)
        return gt_error_set(error, "a piece of a poll's work lasts too long; 53 days are the limit");
    if (!time_fits(call->until_ps) || call->until_ps == GT_TIME_NONE)
        return gt_error_set(error, "a thread waits for too late a time; 53 days are the limit");
    if (!stretch_fits(call->start_ps, call->duration_ps))
        return gt_error_set(error, "a call of %s starts too late or lasts too long; 53 days are the limit", kind);
    if (call->kind == GT_CALL_HOST_WORK && call->duration_ps == GT_TIME_NONE)
        return gt_error_set(error, "a call of host_work does not say how long it lasts");
    return 0;
}

/* A thread makes one call after the other: `end_ps` is the end of its last measured one. */
static int check_order(const struct gt_call *call, gt_time_ps *end_ps, struct gt_error *error)
{
    if (call->start_ps == GT_TIME_NONE)
        return 0;
    if (call->start_ps < *end_ps)
        return gt_error_set(error,
                            "a call of %s starts at %.3f us, before the call before it of the same "
                            "thread ends, at %.3f us",
                            gt_call_kind_names[call->kind], (double)call->start_ps / 1e6, (double)*end_ps / 1e6);
    *end_ps = call->start_ps + (call->duration_ps == GT_TIME_NONE ? 0 : call->duration_ps);
    return 0;
}

/* As many edges as a call's operations can have: those stated, one in the order of a graph, one found from times. */
static uint64_t most_edges(const struct gt_workload *workload, const struct gt_call *call)
{
    uint64_t edges = 2ull * call->ops;

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        edges += workload->ops[i].afters;
    return edges;
}

static int check_calls(const struct gt_workload *workload, gt_time_ps *thread_end_ps, struct gt_error *error)
{
    uint64_t edges = 0;
    uint32_t next_op = 0;

    for (uint32_t i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        if (check_call(workload, call, error) != 0 || check_order(call, &thread_end_ps[call->thread], error) != 0)
            return at_line(call->line, error);
        if (call->first_op != next_op || call->ops > workload->op_count - next_op) {
            gt_error_set(error, "a call's operations are not the next ones");
            return at_line(call->line, error);
        }
        if (check_ops(workload, i, error) != 0)
            return at_line(call->line, error);
        next_op += call->ops;
        edges += most_edges(workload, call);
        if (edges >= GT_NONE) {
            gt_error_set(error, "up to here operations wait for more than 2^32 others; split the trace");
            return at_line(call->line, error);
        }
    }
    if (next_op != workload->op_count)
        return gt_error_set(error, "%u operations belong to no call", workload->op_count - next_op);
    return 0;
}

static int check_range(const struct gt_workload *workload, uint32_t index, struct gt_error *error)
{
    const struct gt_range *range = &workload->ranges[index];

    if (range->kind >= GT_RANGE_KINDS || range->name >= gt_name_count(workload) ||
        range->thread >= workload->thread_count)
        return gt_error_set(error, "a range is of no known kind, or has no name or no thread");
    if ((range->start_ps == GT_TIME_NONE) != (range->duration_ps == GT_TIME_NONE))
        return gt_error_set(error, "range %.200s has a start without a duration, or a duration without a start",
                            gt_name_text(workload, range->name));
    if (!stretch_fits(range->start_ps, range->duration_ps))
        return gt_error_set(error, "range %.200s starts too late or lasts too long; 53 days are the limit",
                            gt_name_text(workload, range->name));
    if (range->first_call > range->end_call || range->end_call > workload->call_count)
        return gt_error_set(error, "range %.200s holds calls that are not there",
                            gt_name_text(workload, range->name));
    if (range->parent != GT_NONE && range->parent >= index)
        return gt_error_set(error, "range %.200s is within one that comes behind it",
                            gt_name_text(workload, range->name));
    return 0;
}

static int check_ranges(const struct gt_workload *workload, struct gt_error *error)
{
    for (uint32_t i = 0; i < workload->range_count; i++)
        if (check_range(workload, i, error) != 0)
            return -1;
    return 0;
}

int gt_workload_check(const struct gt_workload *workload, struct gt_error *error)
{
    gt_time_ps *thread_end_ps;
    int result;

    if (check_definitions(workload, error) != 0)
        return -1;
    thread_end_ps = gt_calloc(workload->thread_count, sizeof *thread_end_ps);
    result = check_calls(workload, thread_end_ps, error);
    free(thread_end_ps);
    if (result == 0)
        result = gt_collectives_check(workload, error);
    if (result == 0)
        result = check_ranges(workload, error);
    return result == 0 ? gt_allocations_check(workload, error) : result;
}
