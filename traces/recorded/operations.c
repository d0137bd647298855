/* operations.c - kernels, copies and memsets, and the memory that they read and write as far as can be told. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

static int compare_ops(const void *left, const void *right)
{
    const struct gt_record_op *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->end_ns, b->end_ns);
    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->node, b->node);
    return 0;
}

/* What a launch gave its kernel, or a graph's node; NULL. */
static const struct gt_record_launch *find_launch(const struct gt_recorded_process *process,
                                                  const struct gt_recorded_giver *giver)
{
    uint32_t first;

    return gt_recorded_given(process, GT_RECORDED_LAUNCH, giver, &first) == 0
               ? NULL
               : GT_RECORDS(process, GT_RECORDED_LAUNCH)[first];
}

static uint32_t some(uint32_t size)
{
    return size == 0 || size > INT32_MAX ? 1 : size;
}

static uint32_t kernel_of(struct gt_recorded *recorded, struct gt_recorded_process *process,
                          const struct gt_record_op *op, const struct gt_record_launch *launch)
{
    struct gt_kernel kernel = {
        .name = gt_recorded_kernel_name(recorded, process, op->name),
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .grid = { some(op->grid[0]), some(op->grid[1]), some(op->grid[2]) },
        .block = { some(op->block[0]), some(op->block[1]), some(op->block[2]) },
        .registers_per_thread = op->registers,
        .static_shared_bytes = op->static_shared_bytes,
        .dynamic_shared_bytes = op->dynamic_shared_bytes,
        .duration_ps = GT_TIME_NONE,
        .cooperative = op->launch_type == 1 || (launch != NULL && launch->attributes & GT_RECORDED_COOPERATIVE),
    };

    gt_import_warn(recorded->import.workload, "launch-shapes-unknown",
                   op->grid[0] == 0 || op->grid[1] == 0 || op->grid[2] == 0 || op->block[0] == 0);
    if (gt_kernel_cluster_fits(kernel.grid, op->cluster))
        memcpy(kernel.cluster, op->cluster, sizeof kernel.cluster);
    return gt_workload_kernel(recorded->import.workload, &kernel);
}

/* What a function's name says of its parameters; NULL: nothing. */
static const struct gt_parameter_types *types_of(struct gt_recorded *recorded, struct gt_recorded_process *process,
                                                 uint32_t name)
{
    struct gt_parameter_types *types;

    if (gt_recorded_name(process, name) == GT_NONE)
        return NULL;
    if (process->types == NULL) {
        process->types = gt_calloc(process->name_count, sizeof *process->types);
        for (uint32_t i = 0; i < process->name_count; i++)
            process->types[i].count = UINT32_MAX;
    }
    types = &process->types[name];
    if (types->count == UINT32_MAX)
        gt_parameter_types_read(
            gt_name_text(recorded->import.workload, gt_recorded_kernel_name(recorded, process, name)), types);
    return types;
}

/* Kernels were given pointers: what their names call const they read, others they may write too.  A value in a
 * structure, or of a type that the name does not tell, may be no pointer, or one that is not used. */
static void give_pointer(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t op,
                         const struct gt_recorded_word *word, const struct gt_parameter_types *types,
                         uint64_t time_ns)
{
    const struct gt_recorded_memory *memory = gt_recorded_memory_at(process, word->value, time_ns);
    uint8_t type =
        types != NULL && word->parameter < types->count ? types->type[word->parameter] : GT_PARAMETER_OTHER;
    struct gt_buffer_access access = { .writes = false };

    if (memory == NULL)
        return;
    access.buffer = memory->buffer;
    access.possible = type == GT_PARAMETER_OTHER || word->offset != 0 || memory->pooled;
    access.offset = word->value - memory->address;
    access.bytes = access.offset == 0 ? 0 : memory->bytes - access.offset;
    gt_import_add_access(&recorded->import, op, &access);
    access.writes = true;
    if (type != GT_PARAMETER_CONST_POINTER)
        gt_import_add_access(&recorded->import, op, &access);
}

/* Does the kernel work in one other GPU's memory, and one way, for certain?  By the pointers that it was given, from access
 * `first` on; how many bytes it moves nobody says. */
static void set_kernel_peer(struct gt_recorded *recorded, uint32_t index, uint32_t first)
{
    const struct gt_workload *workload = recorded->import.workload;
    struct gt_import_op *op = &recorded->import.ops[index];
    uint32_t own = workload->streams[op->stream].gpu, peer = GT_NONE, pointers = 0, written = 0;

    for (uint32_t i = first; i < recorded->import.access_count; i++) {
        const struct gt_buffer_access *access = &recorded->import.accesses[i].access;
        const struct gt_buffer *buffer = &workload->buffers[access->buffer];

        if (access->possible || buffer->memory != GT_MEMORY_DEVICE || buffer->gpu == own)
            continue;
        if (peer != GT_NONE && peer != buffer->gpu)
            return;
        peer = buffer->gpu;
        pointers += !access->writes;
        written += access->writes;
    }
    if (written > 0 && written < pointers)
        return;
    op->peer_gpu = peer;
    op->from_peer = peer != GT_NONE && written == 0;
}

static void add_accesses(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t index,
                         const struct gt_record_op *op, const struct gt_record_launch *launch)
{
    const struct gt_record_call *call = gt_recorded_find_call(process, op->correlation);
    uint64_t time_ns = call != NULL ? call->start_ns : op->start_ns;
    uint32_t first = recorded->import.access_count;

    for (uint32_t i = 0; launch != NULL && i < launch->count; i++)
        give_pointer(recorded, process, index, &launch->words[i], types_of(recorded, process, op->name), time_ns);
    set_kernel_peer(recorded, index, first);
}

static uint32_t gpu_of(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t gpu)
{
    uint32_t id = gt_recorded_gpu_id(recorded, process, gpu);

    return gt_import_gpu(&recorded->import, id > UINT16_MAX ? UINT16_MAX : id);
}

/* CUPTI tells of a copy between GPUs where its engine is, in a stream of the driver's own: the program put it into another,
 * maybe of the other GPU. */
static uint32_t stream_of(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                          const struct gt_record_op *record)
{
    uint32_t stream = gt_recorded_stream(recorded, process, record->gpu, record->context, record->stream);
    const struct gt_record_call *call = gt_recorded_find_call(process, record->correlation);
    uint32_t meant = GT_NONE, gpu;

    if (record->kind == GT_OP_COPY && record->direction == GT_P2P && record->node == 0 && call != NULL &&
        call->head.flags & GT_RECORDED_IN_STREAM)
        meant = gt_recorded_stream_meant(recorded, process, call);
    if (meant == GT_NONE)
        return stream;
    gpu = recorded->import.workload->streams[meant].gpu;
    return gpu == gpu_of(recorded, process, record->gpu) || gpu == gpu_of(recorded, process, record->peer_gpu)
               ? meant
               : stream;
}

/* The other GPU than its stream's. */
static void set_peer(struct gt_recorded *recorded, const struct gt_recorded_process *process, struct gt_import_op *op,
                     const struct gt_record_op *record)
{
    uint32_t own = recorded->import.workload->streams[op->stream].gpu, one, other;

    if (record->peer_gpu > UINT16_MAX || record->gpu > UINT16_MAX)
        return;
    one = gpu_of(recorded, process, record->gpu);
    other = gpu_of(recorded, process, record->peer_gpu);
    op->peer_gpu = one == own ? other : one;
    op->from_peer = op->peer_gpu == gpu_of(recorded, process, record->source_gpu);
}

static void set_copy(struct gt_recorded *recorded, const struct gt_recorded_process *process, struct gt_import_op *op,
                     const struct gt_record_op *record)
{
    op->bytes = record->bytes;
    if (record->kind == GT_OP_MEMSET) {
        op->memory = record->destination < GT_MEMORIES ? (uint8_t)record->destination : GT_MEMORY_UNKNOWN;
        return;
    }
    gt_import_warn(recorded->import.workload, "copy-kinds-unknown", record->direction >= GT_DIRECTIONS);
    op->direction = record->direction < GT_DIRECTIONS ? (uint8_t)record->direction : GT_D2D;
    op->memory = (uint8_t)(op->direction == GT_D2H ? record->destination : record->source);
    if (op->memory >= GT_MEMORIES)
        op->memory = GT_MEMORY_UNKNOWN;
    if (op->direction == GT_P2P || op->direction == GT_D2D)
        op->memory = GT_MEMORY_DEVICE;
    if (op->direction == GT_P2P)
        set_peer(recorded, process, op, record);
}

/* Of a kernel: its launch's, else its stream's; in a graph its node's only where it was instantiated so. */
static int32_t priority_of(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                           const struct gt_record_op *record, uint32_t stream, const struct gt_record_launch *launch)
{
    const struct gt_record_call *call =
        record->node != 0 ? gt_recorded_find_call(process, record->correlation) : NULL;
    const struct gt_record_graph *graph =
        call != NULL && call->what == GT_DID_GRAPH_LAUNCH ? gt_recorded_graph(process, call->a) : NULL;
    uint32_t of = stream;

    if (launch != NULL && launch->attributes & GT_RECORDED_HAS_PRIORITY &&
        (record->node == 0 || (graph != NULL && graph->flags & GT_RECORDED_NODE_PRIORITIES)))
        return launch->priority;
    if (record->kind == GT_OP_KERNEL && graph != NULL)
        of = gt_recorded_stream_meant(recorded, process, call); /* that it was launched into */
    return recorded->import.workload->streams[of == GT_NONE ? stream : of].priority;
}

/* Its stream was made in another context than it ran in. */
static bool is_green(const struct gt_recorded_process *process, const struct gt_record_op *record)
{
    return record->stream < process->stream_context_count && process->stream_context[record->stream] != 0 &&
           process->stream_context[record->stream] != record->context + 1;
}

static void add_op(struct gt_recorded *recorded, struct gt_recorded_process *process,
                   const struct gt_record_op *record)
{
    struct gt_recorded_giver giver;
    bool known = gt_recorded_giver_of(process, record, &giver);
    const struct gt_record_launch *launch =
        record->kind == GT_OP_KERNEL && known ? find_launch(process, &giver) : NULL;
    uint32_t stream = stream_of(recorded, process, record);
    uint32_t kernel = record->kind == GT_OP_KERNEL ? kernel_of(recorded, process, record, launch) : GT_NONE;
    struct gt_import_op *op = gt_import_add_op(&recorded->import);

    op->start_ns = (int64_t)record->start_ns;
    op->end_ns = (int64_t)(record->end_ns < record->start_ns ? record->start_ns : record->end_ns);
    op->process = process->key;
    op->correlation = record->correlation;
    op->stream = stream;
    op->kernel = kernel;
    op->kind = (uint8_t)record->kind;
    op->programmatic = launch != NULL && launch->attributes & GT_RECORDED_PROGRAMMATIC && record->node == 0;
    if (record->kind != GT_OP_KERNEL)
        set_copy(recorded, process, op, record);
    op->priority = priority_of(recorded, process, record, stream, launch);
    op->has_priority = op->priority != recorded->import.workload->streams[stream].priority;
    gt_import_warn(recorded->import.workload, "green-contexts",
                   recorded->import.workload->streams[stream].green == 0 && is_green(process, record));
    gt_import_warn(recorded->import.workload, "graph-changes-unknown", !known);
    if (record->kind == GT_OP_KERNEL)
        add_accesses(recorded, process, recorded->import.op_count - 1, record, launch);
    else if (known)
        gt_recorded_add_pieces(recorded, process, recorded->import.op_count - 1, record, &giver);
}

static void sort(struct gt_recorded_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

void gt_recorded_add_ops(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    struct gt_recorded_list *ops = &process->lists[GT_RECORDED_OP];

    sort(ops, compare_ops);
    gt_recorded_sort_givers(process);
    process->first_op = recorded->import.op_count;
    for (uint32_t i = 0; i < ops->count; i++) {
        const struct gt_record_op *op = ops->items[i];

        if (op->kind == GT_OP_KERNEL || op->kind == GT_OP_COPY || op->kind == GT_OP_MEMSET)
            add_op(recorded, process, op);
        else
            ops->items[i] = NULL;
    }
}
