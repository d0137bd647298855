#include "validate/random/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/child_launches.h"
#include "sim/workload/program.h"
#include "validate/random/reduce_tasks.h"

/* A workload on its way: which parts are kept, and their numbers in the new one. */
struct reducing {
    const struct gt_workload *from;
    struct gt_workload *to;
    bool *calls, *ops, *edges, *streams; /* kept */
    bool *rules, *tasks;                 /* those of all kernels, of all task graphs, one after the other */
    bool *recorded;                      /* events that a call kept records */
    uint32_t *new_ops, *new_streams;     /* GT_NONE: not there */
    uint32_t *new_threads, *new_events, *new_kernels; /* GT_NONE: not there; they are added on first use */
    gt_op_index *seen;                                /* by operation: the one whose edges met it last */
};

/* What blocks launch follows from the rules of their kernels and is no part by itself. */
static bool is_node(const struct gt_workload *w, gt_op_index op)
{
    const struct gt_call *call = &w->calls[w->ops[op].call];

    return call->ops > 1 && gt_child_launch_of(w, call->first_op + 1) == NULL;
}

/* Tasks of the first `graphs` task graphs, launch rules of the first `kernels` kernels. */
static uint32_t tasks_before(const struct gt_workload *w, uint32_t graphs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graphs; i++)
        count += w->task_graphs[i]->task_count;
    return count;
}

static uint32_t rules_before(const struct gt_workload *w, uint32_t kernels)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < kernels; i++)
        count += w->kernels[i].launch_count;
    return count;
}

/* Streams that no call and no operation is about. */
static bool *unused_streams(const struct gt_workload *w)
{
    bool *unused = gt_calloc(w->stream_count, sizeof *unused);

    memset(unused, true, w->stream_count * sizeof *unused);
    for (uint32_t i = 0; i < w->call_count; i++)
        if (w->calls[i].stream != GT_NONE)
            unused[w->calls[i].stream] = false;
    for (uint32_t i = 0; i < w->op_count; i++)
        unused[w->ops[i].stream] = false;
    return unused;
}

static bool *nodes(const struct gt_workload *w)
{
    bool *are = gt_calloc(w->op_count, sizeof *are);

    for (uint32_t i = 0; i < w->op_count; i++)
        are[i] = is_node(w, i);
    return are;
}

static bool *all(uint32_t count)
{
    bool *are = gt_calloc(count, sizeof *are);

    memset(are, true, count * sizeof *are);
    return are;
}

/* Which elements of the array behind `what` can be left out, and how long that array is; the caller frees it. */
static bool *candidates(const struct gt_workload *w, enum gt_reducible what, uint32_t *length)
{
    switch (what) {
    case GT_REDUCE_NODES: *length = w->op_count; return nodes(w);
    case GT_REDUCE_EDGES: *length = w->after_count; return all(w->after_count);
    case GT_REDUCE_STREAMS: *length = w->stream_count; return unused_streams(w);
    case GT_REDUCE_RULES: *length = rules_before(w, w->kernel_count); return all(*length);
    case GT_REDUCE_TASKS: *length = tasks_before(w, w->task_graph_count); return all(*length);
    default: *length = w->call_count; return all(w->call_count);
    }
}

uint32_t gt_reduce_count(const struct gt_workload *workload, enum gt_reducible what)
{
    uint32_t length, count = 0;
    bool *can = candidates(workload, what, &length);

    for (uint32_t i = 0; i < length; i++)
        count += can[i];
    free(can);
    return count;
}

/* Take candidates first .. first + count - 1 out of `kept`. */
static void leave_out(const struct gt_workload *w, enum gt_reducible what, uint32_t first, uint32_t count, bool *kept)
{
    uint32_t length, number = 0;
    bool *can = candidates(w, what, &length);

    for (uint32_t i = 0; i < length; i++) {
        if (!can[i])
            continue;
        if (number >= first && number - first < count)
            kept[i] = false;
        number++;
    }
    free(can);
}

/* A call goes with its last operation, and a call about an event with the last record of that. */
static void leave_out_dependants(struct reducing *r)
{
    const struct gt_workload *w = r->from;
    bool *ever = gt_calloc(w->event_count, sizeof *ever);

    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        uint32_t left = 0;

        for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++)
            left += r->ops[j];
        if (call->ops > 0 && left == 0)
            r->calls[i] = false;
        if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE) {
            ever[call->event] = true;
            r->recorded[call->event] |= r->calls[i];
        }
    }
    for (uint32_t i = 0; i < w->call_count; i++) {
        gt_event_index event = w->calls[i].event;

        if (event != GT_NONE && ever[event] && !r->recorded[event])
            r->calls[i] = false;
    }
    free(ever);
}

static uint32_t name_in(struct reducing *r, uint32_t name)
{
    const char *text = gt_name_text(r->from, name);

    return name == GT_NONE ? GT_NONE : gt_name(r->to, text, strlen(text));
}

static void add_frame(struct reducing *r)
{
    const struct gt_workload *w = r->from;

    r->to->name = gt_strdup(w->name);
    r->to->path = gt_strdup(w->path);
    r->to->source = gt_strdup(w->source);
    r->to->device = gt_strdup(w->device);
    for (uint32_t i = 0; i < w->setting_count; i++)
        gt_workload_add_setting(r->to, w->settings[i].key, w->settings[i].value);
    for (uint32_t i = 0; i < w->gpu_count; i++) {
        gt_gpu_index gpu = gt_workload_add_gpu(r->to);

        r->to->gpus[gpu] = w->gpus[i];
        r->to->gpus[gpu].name = name_in(r, w->gpus[i].name);
    }
    for (uint32_t i = 0; i < w->stream_count; i++) {
        if (!r->streams[i])
            continue;
        r->new_streams[i] = gt_workload_add_stream(r->to);
        r->to->streams[r->new_streams[i]] = w->streams[i];
        r->to->streams[r->new_streams[i]].name = name_in(r, w->streams[i].name);
    }
}

static gt_thread_index thread_in(struct reducing *r, gt_thread_index thread)
{
    if (r->new_threads[thread] == GT_NONE) {
        r->new_threads[thread] = gt_workload_add_thread(r->to);
        r->to->threads[r->new_threads[thread]] = r->from->threads[thread];
        r->to->threads[r->new_threads[thread]].name = name_in(r, r->from->threads[thread].name);
        r->to->threads[r->new_threads[thread]].lock = name_in(r, r->from->threads[thread].lock);
    }
    return r->new_threads[thread];
}

static gt_event_index event_in(struct reducing *r, gt_event_index event)
{
    if (event == GT_NONE)
        return GT_NONE;
    if (r->new_events[event] == GT_NONE) {
        r->new_events[event] = gt_workload_add_event(r->to);
        r->to->events[r->new_events[event]] =
            (struct gt_event){ r->from->events[event].id, name_in(r, r->from->events[event].name) };
    }
    return r->new_events[event];
}

static uint32_t task_name_in(void *user, uint32_t name)
{
    return name_in(user, name);
}

/* A graph is added on first use, too. */
static const struct gt_task_graph *tasks_in(struct reducing *r, const struct gt_task_graph *graph)
{
    uint32_t name = name_in(r, graph->name);
    struct gt_task_graph *copy;

    for (uint32_t i = 0; i < r->to->task_graph_count; i++)
        if (r->to->task_graphs[i]->name == name)
            return r->to->task_graphs[i];
    copy = gt_task_graph_copy(graph, task_name_in, r);
    for (uint32_t i = 0; i < copy->kind_count; i++)
        copy->kinds[i].program = NULL;
    gt_reduce_tasks(copy, r->tasks + tasks_before(r->from, graph->number));
    gt_workload_add_task_graph(r->to, copy);
    return copy;
}

static gt_kernel_index kernel_in(struct reducing *r, gt_kernel_index kernel);

/* Of the kernel's launch rules those that are kept; the caller frees them. */
static struct gt_launch_rule *rules_in(struct reducing *r, gt_kernel_index kernel, uint32_t *kept)
{
    const struct gt_kernel *from = &r->from->kernels[kernel];
    struct gt_launch_rule *rules = gt_launch_rules_copy(from->launches, from->launch_count);
    const bool *keep = r->rules + rules_before(r->from, kernel);

    *kept = 0;
    for (uint32_t i = 0; i < from->launch_count; i++) {
        if (!keep[i]) {
            free(rules[i].block_list);
            continue;
        }
        rules[*kept] = rules[i];
        rules[*kept].kernel = kernel_in(r, rules[i].kernel);
        (*kept)++;
    }
    return rules;
}

/* Shared with the larger workload. */
static const struct gt_program *program_in(struct reducing *r, const struct gt_program *program)
{
    bool had = program == NULL;

    for (uint32_t i = 0; i < r->to->program_count; i++)
        had |= r->to->programs[i] == program;
    for (uint32_t i = 0; i < r->from->program_count && !had; i++) {
        if (r->from->programs[i] == program) {
            r->from->programs[i]->sharers++;
            gt_workload_add_program(r->to, r->from->programs[i]);
        }
    }
    return program;
}

static gt_kernel_index add_kernel(struct reducing *r, gt_kernel_index kernel)
{
    struct gt_kernel copy = r->from->kernels[kernel];
    gt_kernel_index added;

    copy.name = name_in(r, copy.name);
    copy.runs = name_in(r, copy.runs);
    copy.arguments = name_in(r, copy.arguments);
    copy.program = program_in(r, copy.program);
    if (copy.tasks != NULL) {
        copy.task_policy = name_in(r, copy.task_policy);
        copy.tasks = tasks_in(r, copy.tasks);
    }
    copy.launches = rules_in(r, kernel, &copy.launch_count);
    added = gt_workload_kernel(r->to, &copy);
    gt_launch_rules_free(copy.launches, copy.launch_count);
    return added;
}

/* Those that its blocks launch come before it. */
static gt_kernel_index kernel_in(struct reducing *r, gt_kernel_index kernel)
{
    if (kernel == GT_NONE)
        return GT_NONE;
    if (r->new_kernels[kernel] == GT_NONE)
        r->new_kernels[kernel] = add_kernel(r, kernel);
    return r->new_kernels[kernel];
}

/* The edges into `op`, from operations that are kept: past those that are not, to what these came after.  Only those
 * to lower numbers, as they are drawn, so that this comes to an end. */
static void add_edges(struct reducing *r, gt_op_index op, gt_op_index of)
{
    const struct gt_workload *w = r->from;

    for (uint32_t i = w->ops[of].first_after; i < w->ops[of].first_after + w->ops[of].afters; i++) {
        gt_op_index before = w->afters[i];

        if (!r->edges[i] || before >= of || r->seen[before] == op)
            continue;
        r->seen[before] = op;
        if (r->new_ops[before] == GT_NONE)
            add_edges(r, op, before);
        else
            gt_workload_add_after(r->to, r->new_ops[op], r->new_ops[before]);
    }
}

/* What the blocks of an operation launch, anew: by the rules that are left. */
static void add_children(struct reducing *r, gt_op_index op)
{
    const struct gt_op *root = &r->to->ops[op];
    struct gt_error error;

    if (root->kind == GT_OP_KERNEL && r->to->kernels[root->kernel].launch_count > 0 &&
        gt_child_launches_expand(r->to, op, &error) != 0)
        gt_bug("fewer rules lead to more launches: %s", error.text);
}

static void add_op(struct reducing *r, gt_op_index op, gt_call_index call)
{
    gt_op_index added = gt_workload_add_op(r->to);
    uint32_t first_after = r->to->ops[added].first_after;
    struct gt_op copy = r->from->ops[op];

    copy.call = call;
    copy.stream = r->new_streams[copy.stream];
    copy.kernel = kernel_in(r, copy.kernel);
    copy.first_after = first_after;
    copy.afters = 0;
    r->to->ops[added] = copy;
    r->new_ops[op] = added;
    add_edges(r, op, op);
    add_children(r, added);
}

static void add_call(struct reducing *r, gt_call_index call)
{
    struct gt_call copy = r->from->calls[call];
    gt_call_index added = gt_workload_add_call(r->to);

    copy.thread = thread_in(r, copy.thread);
    copy.name = name_in(r, copy.name);
    copy.stream = copy.stream == GT_NONE ? GT_NONE : r->new_streams[copy.stream];
    copy.event = event_in(r, copy.event);
    copy.first_op = r->to->op_count;
    for (uint32_t i = 0; i < r->from->calls[call].ops; i++) {
        gt_op_index op = r->from->calls[call].first_op + i;

        if (r->ops[op] && gt_child_launch_of(r->from, op) == NULL)
            add_op(r, op, added);
    }
    copy.ops = r->to->op_count - copy.first_op;
    r->to->calls[added] = copy;
}

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_calloc(count, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static void free_all(struct reducing *r)
{
    free(r->calls);
    free(r->ops);
    free(r->edges);
    free(r->streams);
    free(r->rules);
    free(r->tasks);
    free(r->recorded);
    free(r->new_ops);
    free(r->new_streams);
    free(r->new_threads);
    free(r->new_events);
    free(r->new_kernels);
    free(r->seen);
}

struct gt_workload *gt_reduce(const struct gt_workload *workload, enum gt_reducible what, uint32_t first,
                              uint32_t count)
{
    const struct gt_workload *w = workload;
    struct reducing r = {
        .from = w,
        .to = gt_workload_new(),
        .calls = all(w->call_count),
        .ops = all(w->op_count),
        .edges = all(w->after_count),
        .streams = all(w->stream_count),
        .rules = all(rules_before(w, w->kernel_count)),
        .tasks = all(tasks_before(w, w->task_graph_count)),
        .recorded = gt_calloc(w->event_count, sizeof(bool)),
        .new_ops = nones(w->op_count),
        .new_streams = nones(w->stream_count),
        .new_threads = nones(w->thread_count),
        .new_events = nones(w->event_count),
        .new_kernels = nones(w->kernel_count),
        .seen = nones(w->op_count),
    };
    bool *const kept[GT_REDUCIBLES] = { r.calls, r.ops, r.edges, r.streams, r.rules, r.tasks };

    leave_out(w, what, first, count, kept[what]);
    leave_out_dependants(&r);
    add_frame(&r);
    for (uint32_t i = 0; i < w->call_count; i++)
        if (r.calls[i])
            add_call(&r, i);
    free_all(&r);
    return r.to;
}
