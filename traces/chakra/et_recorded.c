/* et_recorded.c - calls and operations as Gridtide wrote them, with the times that they were measured to take. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/chakra/et_build.h"
#include "traces/chakra/et_def.pb-c.h"
#include "traces/import/index_map.h"

enum { PS_PER_NS = 1000 };

static bool is_call(const struct gt_et_node *node)
{
    return node->call != UINT8_MAX && node->part == GT_ET_WHOLE;
}

static bool is_op(const struct gt_et_node *node)
{
    return node->operation != UINT8_MAX && (node->part == GT_ET_WHOLE || node->part == GT_ET_RECEIVE);
}

static bool has_times(const struct gt_et_node *node)
{
    const uint64_t most_ns = GT_TIME_LIMIT_PS / PS_PER_NS / 2;

    return node->start_ns < most_ns && node->duration_ns < most_ns;
}

bool gt_et_is_recorded(const struct gt_et_file *file)
{
    bool any = false;

    for (uint32_t i = 0; i < file->count; i++) {
        const struct gt_et_node *node = &file->nodes[i];

        any |= is_call(node);
        if (is_op(node)) {
            if (!has_times(node) || !gt_et_is_untouched(node) || node->submitted_by == GT_NONE ||
                node->submitted_by > i || !is_call(&file->nodes[node->submitted_by]))
                return false;
        } else if (is_call(node)
                       ? !has_times(node)
                       : node->part == GT_ET_WHOLE && node->type != CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE) {
            return false;
        }
    }
    return any;
}

struct recording {
    struct gt_et_build *b;
    struct gt_index_map *threads, *events, *buffers;
    uint64_t *first; /* by node: its operations' nodes are ops[first[i] .. first[i + 1] - 1] */
    uint32_t *ops;
    gt_op_index *op_of_node;
    uint32_t *named_by; /* by node: the one whose edges named it last; GT_NONE */
};

/* Threads that stand for callers nobody saw are others than those of the same number. */
static gt_thread_index thread_of(struct recording *r, const struct gt_et_node *node)
{
    bool inferred = (node->call_flags & GT_CALL_INFERRED) != 0;
    uint64_t tid = node->tid != GT_ET_NONE ? node->tid : 0;
    gt_thread_index *thread = gt_index_map_at(&r->threads, (struct gt_index_key){ { tid, inferred } });

    if (*thread == GT_NONE) {
        *thread = gt_workload_add_thread(r->b->w);
        r->b->w->threads[*thread].process = inferred ? 0 : r->b->process;
        r->b->w->threads[*thread].id = tid;
    }
    return *thread;
}

static gt_event_index event_of(struct recording *r, uint64_t id)
{
    gt_event_index *event = gt_index_map_at(&r->events, (struct gt_index_key){ { id } });

    if (*event == GT_NONE) {
        *event = gt_workload_add_event(r->b->w);
        r->b->w->events[*event].id = id;
    }
    return *event;
}

static gt_buffer_index buffer_of(struct recording *r, const struct gt_et_node *node)
{
    struct gt_workload *w = r->b->w;
    gt_buffer_index *buffer = gt_index_map_at(&r->buffers, (struct gt_index_key){ { node->buffer } });
    char *name;

    if (*buffer != GT_NONE)
        return *buffer;
    *buffer = gt_workload_add_buffer(w);
    name = gt_format("buffer %" PRIu64, node->buffer);
    w->buffers[*buffer].name = gt_name(w, name, strlen(name));
    w->buffers[*buffer].bytes = node->buffer_bytes;
    w->buffers[*buffer].memory = node->memory != UINT8_MAX ? node->memory : GT_MEMORY_DEVICE;
    w->buffers[*buffer].gpu = gt_et_gpu(r->b, node->buffer_device);
    free(name);
    return *buffer;
}

/* Kinds that need more than a file holds only take their time; a launch has one operation, a graph's any number. */
static uint8_t kind_of(const struct gt_et_node *node, uint64_t ops)
{
    switch (node->call) {
    case GT_CALL_ALLOC:
    case GT_CALL_FREE:
    case GT_CALL_RECORD_STREAM: return node->buffer != GT_ET_NONE ? node->call : GT_CALL_OTHER;
    case GT_CALL_POLL: return GT_CALL_OTHER;
    case GT_CALL_GRAPH_LAUNCH: return node->call;
    default: break;
    }
    if (ops > 1)
        return GT_CALL_GRAPH_LAUNCH;
    if (ops == 0 && (node->call == GT_CALL_LAUNCH || node->call == GT_CALL_COPY || node->call == GT_CALL_MEMSET ||
                     node->call == GT_CALL_HOST_FUNCTION))
        return GT_CALL_OTHER;
    return node->call;
}

/* Edges of a graph: what its nodes depend on among each other, each once. */
static int add_edges(struct recording *r, uint32_t node, gt_call_index call, struct gt_error *error)
{
    const struct gt_et_file *file = r->b->file;
    gt_op_index op = r->op_of_node[node];

    for (uint32_t i = 0; i < file->nodes[node].deps; i++) {
        uint32_t dep = file->deps[file->nodes[node].first_dep + i];
        gt_op_index before = r->op_of_node[dep];

        if (before == GT_NONE || r->b->w->ops[before].call != call || r->named_by[dep] == node)
            continue;
        if (r->b->w->ops[op].afters == UINT16_MAX)
            return gt_error_set(error, "node %" PRIu64 " depends on more than %d nodes of its graph",
                                file->nodes[node].id, UINT16_MAX);
        r->named_by[dep] = node;
        gt_workload_add_after(r->b->w, op, before);
    }
    return 0;
}

static int add_op(struct recording *r, uint32_t index, gt_call_index call, struct gt_error *error)
{
    const struct gt_et_node *node = &r->b->file->nodes[index];
    gt_op_index op = gt_et_add_op(r->b, index, call);

    r->b->w->ops[op].start_ps = node->start_ns * PS_PER_NS;
    r->b->w->ops[op].duration_ps = node->duration_ns * PS_PER_NS;
    r->op_of_node[index] = op;
    if (r->b->w->calls[call].kind == GT_CALL_GRAPH_LAUNCH)
        return add_edges(r, index, call, error);
    return 0;
}

static int add_call(struct recording *r, uint32_t index, struct gt_error *error)
{
    const struct gt_et_node *node = &r->b->file->nodes[index];
    uint64_t ops = r->first[index + 1] - r->first[index];
    gt_thread_index thread = thread_of(r, node);
    gt_stream_index stream = node->stream != GT_ET_NONE ? gt_et_stream(r->b, node) : GT_NONE;
    gt_event_index event = node->event != GT_ET_NONE ? event_of(r, node->event) : GT_NONE;
    gt_buffer_index buffer = node->buffer != GT_ET_NONE ? buffer_of(r, node) : GT_NONE;
    gt_call_index number = gt_workload_add_call(r->b->w);
    struct gt_call *call = &r->b->w->calls[number];

    call->start_ps = node->start_ns * PS_PER_NS;
    call->duration_ps = node->duration_ns * PS_PER_NS;
    call->thread = thread;
    call->kind = kind_of(node, ops);
    call->name = node->name;
    call->stream = stream;
    call->event = event;
    call->buffer = buffer;
    call->flags = node->call_flags;
    call->first_op = r->b->w->op_count;
    call->ops = (uint32_t)ops;
    for (uint64_t i = r->first[index]; i < r->first[index + 1]; i++)
        if (add_op(r, r->ops[i], number, error) != 0)
            return -1;
    return 0;
}

static void list_ops(struct recording *r)
{
    const struct gt_et_file *file = r->b->file;

    r->first = gt_calloc(file->count + 2ull, sizeof *r->first);
    r->ops = gt_calloc(file->count, sizeof *r->ops);
    for (uint32_t i = 0; i < file->count; i++)
        if (is_op(&file->nodes[i]))
            r->first[file->nodes[i].submitted_by]++;
    for (uint32_t i = 0; i < file->count; i++)
        r->first[i + 1] += r->first[i];
    for (uint32_t i = file->count; i-- > 0;)
        if (is_op(&file->nodes[i]))
            r->ops[--r->first[file->nodes[i].submitted_by]] = i;
}

/* The streams' own rules, which those of dependences alone have no need of. */
static void set_streams(struct recording *r)
{
    const struct gt_et_file *file = r->b->file;

    for (uint32_t i = 0; i < file->count; i++) {
        const struct gt_et_node *node = &file->nodes[i];

        if (node->stream == GT_ET_NONE || node->part != GT_ET_WHOLE || !(is_op(node) || is_call(node)))
            continue;
        r->b->w->streams[gt_et_stream(r->b, node)].flags = node->stream_flags;
        r->b->w->streams[gt_et_stream(r->b, node)].priority = node->priority;
    }
}

int gt_et_build_recorded(struct gt_et_build *build, struct gt_error *error)
{
    const struct gt_et_file *file = build->file;
    struct recording r = { .b = build };
    int status = 0;

    r.op_of_node = gt_realloc(NULL, file->count, sizeof *r.op_of_node);
    r.named_by = gt_realloc(NULL, file->count, sizeof *r.named_by);
    for (uint32_t i = 0; i < file->count; i++)
        r.op_of_node[i] = r.named_by[i] = GT_NONE;
    list_ops(&r);
    for (uint32_t i = 0; i < file->count && status == 0; i++)
        if (is_call(&file->nodes[i]))
            status = add_call(&r, i, error);
    set_streams(&r);
    gt_index_map_free(r.threads);
    gt_index_map_free(r.events);
    gt_index_map_free(r.buffers);
    free(r.first);
    free(r.ops);
    free(r.op_of_node);
    free(r.named_by);
    return status;
}
