/* operations.c - events of a GPU's plane: kernels, copies, memsets and whole graphs, by the details that they have. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/xplane/internal.h"

/* CUPTI's number of the first context's NULL stream. */
enum { NULL_STREAM = 7 };

/* The context as text, "$$1": XLA writes it so that no tool adds it up. */
static uint32_t context_of(const struct xplane_event *event)
{
    const struct xplane_value *context = &event->values[XPLANE_CONTEXT];
    const char *text = context->text;

    if (text == NULL)
        return (uint32_t)context->number;
    return (uint32_t)strtoul(text + strspn(text, "$"), NULL, 10);
}

static struct gt_import_op *add_op(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event,
                                   enum gt_op_kind kind)
{
    struct gt_workload *workload = xplane->import.workload;
    uint32_t streams = workload->stream_count;
    struct gt_import_op *op = gt_import_add_op(&xplane->import);

    op->start_ns = event->start_ns;
    op->end_ns = event->end_ns;
    op->correlation = xplane_correlation(event);
    op->stream = gt_import_stream(&xplane->import, 0, gpu, context_of(event), (uint64_t)event->line);
    if (op->stream == streams) /* XLA's and TensorFlow's streams are all created non-blocking */
        workload->streams[op->stream].flags =
            event->line == NULL_STREAM ? GT_STREAM_LEGACY_DEFAULT : GT_STREAM_NON_BLOCKING;
    op->kind = kind;
    return op;
}

/* "8,1,1", or "8x1x1"; 1 for what is missing, counted. */
static void read_sizes(struct xplane *xplane, const char *text, uint32_t sizes[3])
{
    for (int i = 0; i < 3; i++) {
        char *end = (char *)text;
        unsigned long size = text != NULL ? strtoul(text, &end, 10) : 0;

        gt_import_warn(xplane->import.workload, "launch-shapes-unknown", size == 0 || size > INT32_MAX);
        sizes[i] = size == 0 || size > INT32_MAX ? 1 : (uint32_t)size;
        text = end != NULL && end != text && (*end == ',' || *end == 'x') ? end + 1 : NULL;
    }
}

static uint32_t read_count(const char *details, const char *key)
{
    const char *text = xplane_detail(details, key);
    unsigned long count = text != NULL ? strtoul(text, NULL, 10) : 0;

    return count > UINT32_MAX ? 0 : (uint32_t)count;
}

/* Remember whose kernel the call launched, for xplane_add_operators(). */
static void note_operator(struct xplane *xplane, const struct xplane_event *event)
{
    const char *name = event->values[XPLANE_HLO_OP].text;

    if (name == NULL || *name == '\0' || xplane_correlation(event) == GT_NO_CORRELATION)
        return;
    gt_array_grow(xplane->operators, xplane->operator_count, xplane->operator_room);
    xplane->operators[xplane->operator_count++] = (struct xplane_operator){
        xplane_correlation(event),
        gt_name(xplane->import.workload, name, strlen(name)),
    };
}

/* "regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1 block:256,1,1 occ_pct:100" */
static void take_kernel(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event, const char *details)
{
    struct gt_kernel kernel = { .runs = GT_NONE, .arguments = GT_NONE, .duration_ps = GT_TIME_NONE };
    enum gt_collective_kind collective = gt_collective_of_kernel(event->name);
    struct gt_import_op *op;

    kernel.name = gt_name(xplane->import.workload, event->name, strlen(event->name));
    kernel.registers_per_thread = read_count(details, "regs");
    kernel.static_shared_bytes = read_count(details, "static_shared");
    kernel.dynamic_shared_bytes = read_count(details, "dynamic_shared");
    read_sizes(xplane, xplane_detail(details, "grid"), kernel.grid);
    read_sizes(xplane, xplane_detail(details, "block"), kernel.block);
    op = add_op(xplane, gpu, event, GT_OP_KERNEL);
    op->kernel = gt_workload_kernel(xplane->import.workload, &kernel);
    if (collective != GT_COLLECTIVE_NONE)
        gt_collective_notes_add(&xplane->import.collectives, xplane->import.op_count - 1, collective);
    note_operator(xplane, event);
}

/* Of a graph that was recorded as a whole only start and end are known. */
static void take_graph(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event)
{
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .runs = GT_NONE, .arguments = GT_NONE, .duration_ps = GT_TIME_NONE
    };
    const char *name = *event->name != '\0' ? event->name : "graph";
    struct gt_import_op *op = add_op(xplane, gpu, event, GT_OP_KERNEL);

    kernel.name = gt_name(xplane->import.workload, name, strlen(name));
    op->kernel = gt_workload_kernel(xplane->import.workload, &kernel);
    gt_import_warn(xplane->import.workload, "graph-nodes-hidden", 1);
}

static const struct {
    const char *name;
    enum gt_memory memory;
} memories[] = {
    { "pageable", GT_MEMORY_PAGEABLE }, { "pinned", GT_MEMORY_PINNED }, { "device_static", GT_MEMORY_DEVICE },
    { "device", GT_MEMORY_DEVICE },     { "array", GT_MEMORY_DEVICE },  { "managed_static", GT_MEMORY_MANAGED },
    { "managed", GT_MEMORY_MANAGED },
};

static enum gt_memory read_memory(const char *details, const char *key)
{
    const char *text = xplane_detail(details, key);

    for (size_t i = 0; text != NULL && i < sizeof memories / sizeof memories[0]; i++)
        if (strncmp(text, memories[i].name, strlen(memories[i].name)) == 0)
            return memories[i].memory;
    return GT_MEMORY_UNKNOWN;
}

static uint64_t read_bytes(struct xplane *xplane, const char *details, const char *key)
{
    const char *text = xplane_detail(details, key);

    gt_import_warn(xplane->import.workload, "sizes-unknown", text == NULL);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* From the event's name ("MemcpyH2D"); from the two memories where that does not say. */
static enum gt_direction direction_of(struct xplane *xplane, const char *name, enum gt_memory from, enum gt_memory to)
{
    static const struct {
        const char *name;
        enum gt_direction direction;
    } directions[] = { { "H2D", GT_H2D }, { "D2H", GT_D2H }, { "D2D", GT_D2D }, { "P2P", GT_P2P } };

    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        if (strstr(name, directions[i].name) != NULL)
            return directions[i].direction;
    gt_import_warn(xplane->import.workload, "copy-directions-unknown",
                   from == GT_MEMORY_UNKNOWN && to == GT_MEMORY_UNKNOWN);
    return gt_import_direction(from, to);
}

/* "kind_src:pinned kind_dst:device size:4096 dest:0 async:1" */
static void take_copy(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event, const char *details)
{
    enum gt_memory from = read_memory(details, "kind_src"), to = read_memory(details, "kind_dst");
    uint64_t bytes = read_bytes(xplane, details, "size");
    enum gt_direction direction = direction_of(xplane, event->name, from, to);
    struct gt_import_op *op = add_op(xplane, gpu, event, GT_OP_COPY);

    op->bytes = bytes;
    op->direction = (uint8_t)direction;
    op->memory = (uint8_t)(direction == GT_D2H ? to : from);
    if (direction == GT_P2P) {
        uint32_t peer = read_count(details, "dest");

        op->memory = GT_MEMORY_DEVICE;
        if (peer != gpu && peer <= 65535)
            op->peer_gpu = gt_import_gpu(&xplane->import, peer);
    }
}

static void take_memset(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event, const char *details)
{
    uint64_t bytes = read_bytes(xplane, details, "num_bytes");
    struct gt_import_op *op = add_op(xplane, gpu, event, GT_OP_MEMSET);

    op->bytes = bytes;
    op->memory = (uint8_t)read_memory(details, "kind");
}

void xplane_take_operation(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event)
{
    static const struct {
        enum xplane_stat details;
        void (*take)(struct xplane *, uint32_t, const struct xplane_event *, const char *);
    } sorts[] = {
        { XPLANE_KERNEL_DETAILS, take_kernel },
        { XPLANE_COPY_DETAILS, take_copy },
        { XPLANE_MEMSET_DETAILS, take_memset },
    };

    for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
        const char *details = event->values[sorts[i].details].text;

        if (details != NULL) {
            sorts[i].take(xplane, gpu, event, details);
            return;
        }
    }
    if (event->values[XPLANE_GRAPH_EXECUTABLE].there)
        take_graph(xplane, gpu, event);
}
