#include "traces/chakra/et_order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/shapes/roofline.h"
#include "traces/chakra/et_def.pb-c.h"

enum { PS_PER_US = 1000000, PS_PER_NS = 1000, NS_PER_US = 1000 };

bool gt_et_communicates(const struct gt_et_node *node)
{
    return node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE ||
           node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE ||
           node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE;
}

bool gt_et_is_memory(const struct gt_et_node *node)
{
    return node->type == CHAKRA_PROTO_MSG__NODE_TYPE__MEM_LOAD_NODE ||
           node->type == CHAKRA_PROTO_MSG__NODE_TYPE__MEM_STORE_NODE;
}

bool gt_et_on_host(const struct gt_et_node *node)
{
    switch (node->type) {
    case CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE:
    case CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE:
    case CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE: return false;
    case CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE:
    case CHAKRA_PROTO_MSG__NODE_TYPE__MEM_LOAD_NODE:
    case CHAKRA_PROTO_MSG__NODE_TYPE__MEM_STORE_NODE: return node->on_cpu;
    default: return true;
    }
}

bool gt_et_is_untouched(const struct gt_et_node *node)
{
    uint64_t us = node->duration_us, ns = node->duration_ns;

    return ns != GT_ET_NONE && ns / NS_PER_US <= us + 1 && us <= ns / NS_PER_US + 1;
}

/* The microseconds as they are, or to the nanosecond where Gridtide wrote them and nobody changed them since; a call's
 * nanoseconds are those of the whole call. */
static gt_time_ps stated_ps(const struct gt_et_node *node)
{
    uint64_t us = node->duration_us, ns = node->duration_ns;

    if (node->call == UINT8_MAX && gt_et_is_untouched(node))
        return ns < GT_TIME_LIMIT_PS / PS_PER_NS ? ns * PS_PER_NS : GT_TIME_LIMIT_PS;
    return us < GT_TIME_LIMIT_PS / PS_PER_US ? us * PS_PER_US : GT_TIME_LIMIT_PS;
}

/* 1 ns at least. */
static gt_time_ps us_to_ps(double us)
{
    if (us > (double)GT_TIME_LIMIT_PS / PS_PER_US)
        return GT_TIME_LIMIT_PS;
    return us * PS_PER_US < PS_PER_NS ? PS_PER_NS : (gt_time_ps)(us * PS_PER_US);
}

/* At the peak of the tensor cores with 16-bit numbers, or of DRAM. */
static gt_time_ps roofline_ps(const struct gt_et_node *node, const struct gt_device *device)
{
    double flops_us = (double)node->num_ops / gt_roof_flops_per_us(GT_PRECISION_HALF, device);
    double bytes_us = (double)node->tensor_size / gt_roof_dram_bytes_per_us(device);

    return us_to_ps(flops_us > bytes_us ? flops_us : bytes_us);
}

/* Bytes over one link: for the order of nodes, and for communication of which no other rank is known. */
static gt_time_ps link_ps(const struct gt_et_node *node, const struct gt_device *device)
{
    uint64_t bytes = gt_et_is_memory(node) ? node->tensor_size : node->comm_size;

    return us_to_ps((double)bytes / (device->p2p.gbps > 0 ? device->p2p.gbps * 1e3 : 1e5));
}

static void find_one(struct gt_et_times *times, const struct gt_et_file *file, uint32_t i,
                     const struct gt_device *device)
{
    const struct gt_et_node *node = &file->nodes[i];

    times->duration_ps[i] = stated_ps(node);
    times->stated[i] = times->duration_ps[i] > 0 || gt_et_on_host(node) || node->operation != UINT8_MAX;
    if (times->stated[i] || node->part == GT_ET_GAP)
        return;
    if (gt_et_communicates(node) || gt_et_is_memory(node)) {
        times->duration_ps[i] = link_ps(node, device);
    } else if (node->num_ops > 0 || node->tensor_size > 0) {
        times->duration_ps[i] = roofline_ps(node, device);
        times->estimated++;
    } else {
        times->duration_ps[i] = PS_PER_NS;
        times->empty++;
    }
}

struct gt_et_times gt_et_times_find(const struct gt_et_file *file, const struct gt_device *device)
{
    struct gt_et_times times = {
        .duration_ps = gt_calloc(file->count, sizeof *times.duration_ps),
        .stated = gt_calloc(file->count, sizeof *times.stated),
    };

    for (uint32_t i = 0; i < file->count; i++)
        find_one(&times, file, i, device);
    return times;
}

void gt_et_times_free(struct gt_et_times *times)
{
    free(times->duration_ps);
    free(times->stated);
}

struct ordering {
    const struct gt_et_file *file;
    uint64_t *first; /* by node: those that depend on it are after[first[i] .. first[i + 1] - 1] */
    uint32_t *after, *left;
    gt_time_ps *ready_ps;
    struct gt_heap ready;
    uint32_t too_late; /* a node that would end when no time can be told any more; GT_NONE */
};

static void begin(struct ordering *o)
{
    const struct gt_et_file *file = o->file;

    o->first = gt_calloc(file->count + 1ull, sizeof *o->first);
    o->after = gt_calloc(file->dep_count + 1, sizeof *o->after);
    o->left = gt_calloc(file->count, sizeof *o->left);
    o->ready_ps = gt_calloc(file->count, sizeof *o->ready_ps);
    for (uint64_t i = 0; i < file->dep_count; i++)
        o->first[file->deps[i]]++;
    for (uint32_t i = 0; i < file->count; i++)
        o->first[i + 1] += o->first[i];
    for (uint32_t i = file->count; i-- > 0;) {
        const struct gt_et_node *node = &file->nodes[i];

        o->left[i] = node->deps;
        for (uint32_t j = 0; j < node->deps; j++)
            o->after[--o->first[file->deps[node->first_dep + j]]] = i;
    }
}

static void push(struct ordering *o, uint32_t node)
{
    gt_heap_push(&o->ready, (struct gt_heap_event){
                                .time_ps = o->ready_ps[node], .order = o->file->nodes[node].id, .subject = node });
}

static gt_time_ps end_ps(const struct ordering *o, const struct gt_et_times *times, uint32_t node)
{
    gt_time_ps end = o->ready_ps[node] + times->duration_ps[node];

    return end < GT_TIME_LIMIT_PS ? end : GT_TIME_LIMIT_PS;
}

static uint32_t take_all(struct ordering *o, const struct gt_et_times *times, uint32_t *order)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < o->file->count; i++)
        if (o->left[i] == 0)
            push(o, i);
    while (o->ready.count > 0) {
        uint32_t node = gt_heap_pop(&o->ready).subject;
        gt_time_ps end = end_ps(o, times, node);

        if (end == GT_TIME_LIMIT_PS) {
            o->too_late = node;
            break;
        }
        order[taken++] = node;
        for (uint64_t i = o->first[node]; i < o->first[node + 1]; i++) {
            uint32_t after = o->after[i];

            o->ready_ps[after] = end > o->ready_ps[after] ? end : o->ready_ps[after];
            if (--o->left[after] == 0)
                push(o, after);
        }
    }
    return taken;
}

/* From a node that never became ready, back through others like it: the first that comes again is in a circle. */
static uint32_t find_circle(const struct ordering *o)
{
    bool *seen = gt_calloc(o->file->count, sizeof *seen);
    uint32_t at = 0;

    while (o->left[at] == 0)
        at++;
    while (!seen[at]) {
        const uint32_t *deps = &o->file->deps[o->file->nodes[at].first_dep];

        seen[at] = true;
        while (o->left[*deps] == 0)
            deps++;
        at = *deps;
    }
    free(seen);
    return at;
}

static void explain(const struct ordering *o, struct gt_error *error)
{
    const struct gt_et_node *nodes = o->file->nodes;

    if (o->too_late != GT_NONE)
        gt_error_set(error, "node %" PRIu64 " would end after more than 53 days, which is too long",
                     nodes[o->too_late].id);
    else
        gt_error_set(error, "node %" PRIu64 " depends on itself, through others or directly",
                     nodes[find_circle(o)].id);
}

uint32_t *gt_et_order(const struct gt_et_file *file, const struct gt_et_times *times, struct gt_error *error)
{
    struct ordering o = { .file = file, .too_late = GT_NONE };
    uint32_t *order = gt_calloc(file->count, sizeof *order), taken;

    begin(&o);
    taken = take_all(&o, times, order);
    if (taken < file->count) {
        explain(&o, error);
        free(order);
        order = NULL;
    }
    free(o.first);
    free(o.after);
    free(o.left);
    free(o.ready_ps);
    gt_heap_free(&o.ready);
    return order;
}
