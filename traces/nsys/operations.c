/* operations.c - kernels, copies, memsets and whole graphs: one row, one operation. */
#include "traces/nsys/internal.h"

#include <stdio.h>
#include <string.h>

/* The first columns of every table of operations. */
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PROCESS, EXECUTABLE, OP_COLUMNS };
#define OP_COLUMN_ROWS                                                                                              \
    [START] = { "start", GT_DB_VALUE, GT_DB_TIME }, [END] = { "end", GT_DB_VALUE, GT_DB_TIME },                     \
    [DEVICE] = { "deviceId", GT_DB_VALUE, GT_NSYS_DEVICE }, [CONTEXT] = { "contextId", GT_DB_MAY_LACK, GT_DB_U32 }, \
    [STREAM] = { "streamId", GT_DB_VALUE, GT_DB_U32 },                                                              \
    [CORRELATION] = { "correlationId", GT_DB_MAY_LACK, GT_DB_U32 },                                                 \
    [PROCESS] = { "globalPid", GT_DB_MAY_LACK, GT_DB_ANY },                                                         \
    [EXECUTABLE] = { "graphExecId", GT_DB_MAY_LACK, GT_DB_U32 }
#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t or_zero(int64_t value)
{
    return value == GT_DB_NULL ? 0 : (uint32_t)value;
}

/* What every operation has; NULL with an error. */
static struct gt_import_op *add_op(struct gt_nsys *nsys, const struct gt_db_rows *rows, enum gt_op_kind kind,
                                   struct gt_error *error)
{
    const int64_t *value = rows->value;
    struct gt_import_op *op;
    uint64_t process = gt_nsys_process(value[PROCESS]);

    if (value[END] < value[START]) {
        gt_db_row_error(rows, error, "it ends at %lld, before its start at %lld", (long long)value[END],
                        (long long)value[START]);
        return NULL;
    }
    op = gt_import_add_op(&nsys->import);
    op->start_ns = value[START];
    op->end_ns = value[END];
    op->process = process;
    if (value[CORRELATION] != GT_DB_NULL)
        op->correlation = (uint64_t)value[CORRELATION];
    if (or_zero(value[EXECUTABLE]) != 0)
        op->executable = gt_import_executable(&nsys->import, or_zero(value[EXECUTABLE]));
    op->stream = gt_nsys_stream(nsys, process, value[DEVICE], value[CONTEXT], value[STREAM]);
    op->kind = kind;
    return op;
}

enum {
    DEMANGLED = OP_COLUMNS,
    SHORT,
    MANGLED,
    REGISTERS,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    CLUSTER_X,
    CLUSTER_Y,
    CLUSTER_Z,
    LAUNCH_TYPE,
    KERNEL_COLUMNS
};
static const struct gt_db_column kernel_columns[KERNEL_COLUMNS] = {
    OP_COLUMN_ROWS,
    [DEMANGLED] = { "demangledName", GT_DB_MAY_LACK, GT_DB_ANY },
    [SHORT] = { "shortName", GT_DB_MAY_LACK, GT_DB_ANY },
    [MANGLED] = { "mangledName", GT_DB_MAY_LACK, GT_DB_ANY },
    [REGISTERS] = { "registersPerThread", GT_DB_MAY_LACK, GT_DB_U32 },
    [GRID_X] = { "gridX", GT_DB_VALUE, 1, INT32_MAX },
    [GRID_Y] = { "gridY", GT_DB_VALUE, 1, INT32_MAX },
    [GRID_Z] = { "gridZ", GT_DB_VALUE, 1, INT32_MAX },
    [BLOCK_X] = { "blockX", GT_DB_VALUE, 1, UINT32_MAX },
    [BLOCK_Y] = { "blockY", GT_DB_VALUE, 1, UINT32_MAX },
    [BLOCK_Z] = { "blockZ", GT_DB_VALUE, 1, UINT32_MAX },
    [STATIC_SHARED] = { "staticSharedMemory", GT_DB_MAY_LACK, GT_DB_U32 },
    [DYNAMIC_SHARED] = { "dynamicSharedMemory", GT_DB_MAY_LACK, GT_DB_U32 },
    [CLUSTER_X] = { "clusterX", GT_DB_MAY_LACK, GT_DB_U32 },
    [CLUSTER_Y] = { "clusterY", GT_DB_MAY_LACK, GT_DB_U32 },
    [CLUSTER_Z] = { "clusterZ", GT_DB_MAY_LACK, GT_DB_U32 },
    [LAUNCH_TYPE] = { "launchType", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table kernel_table = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    kernel_columns,
    KERNEL_COLUMNS,
};

static int kernel_name(struct gt_nsys *nsys, const struct gt_db_rows *rows, uint32_t *name, struct gt_error *error)
{
    static const int choice[] = { DEMANGLED, SHORT, MANGLED };

    *name = GT_NONE;
    for (size_t i = 0; i < SIZE(choice) && *name == GT_NONE; i++) {
        if (gt_nsys_name(nsys, rows->value[choice[i]], name, error) != 0)
            return -1;
    }
    if (*name == GT_NONE) {
        *name = gt_name(nsys->import.workload, "unnamed", 7);
        gt_import_warn(nsys->import.workload, "names-missing", 1);
    }
    return 0;
}

/* The last operation gathered is of that kernel.  Of a collective only the kernel's name tells; how many bytes it moved,
 * and in which group, does not stand in an export. */
static void note_collective(struct gt_nsys *nsys, uint32_t name)
{
    enum gt_collective_kind kind = gt_collective_of_kernel(gt_name_text(nsys->import.workload, name));

    if (kind != GT_COLLECTIVE_NONE)
        gt_collective_notes_add(&nsys->import.collectives, nsys->import.op_count - 1, kind);
}

/* As ENUM_CUDA_KERNEL_LAUNCH_TYPE has it: 1 regular, 2 cooperative, 3 on several devices.  Old exports have CUPTI's numbers,
 * of which 1 is cooperative, and do not say so: of those only the call's name tells (traces/import/finish.c). */
static bool is_cooperative(int64_t launch_type)
{
    return launch_type == 2 || launch_type == 3;
}

static int read_kernel(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    const int64_t *value = rows->value;
    struct gt_kernel kernel = {
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .grid = { (uint32_t)value[GRID_X], (uint32_t)value[GRID_Y], (uint32_t)value[GRID_Z] },
        .block = { (uint32_t)value[BLOCK_X], (uint32_t)value[BLOCK_Y], (uint32_t)value[BLOCK_Z] },
        .registers_per_thread = or_zero(value[REGISTERS]),
        .static_shared_bytes = or_zero(value[STATIC_SHARED]),
        .dynamic_shared_bytes = or_zero(value[DYNAMIC_SHARED]),
        .duration_ps = GT_TIME_NONE,
        .cooperative = is_cooperative(value[LAUNCH_TYPE]),
    };
    const uint32_t cluster[3] = { or_zero(value[CLUSTER_X]), or_zero(value[CLUSTER_Y]), or_zero(value[CLUSTER_Z]) };
    struct gt_import_op *op;

    if (gt_kernel_cluster_fits(kernel.grid, cluster))
        memcpy(kernel.cluster, cluster, sizeof kernel.cluster);
    if (kernel_name(nsys, rows, &kernel.name, error) != 0)
        return -1;
    op = add_op(nsys, rows, GT_OP_KERNEL, error);
    if (op == NULL)
        return -1;
    op->kernel = gt_workload_kernel(nsys->import.workload, &kernel);
    note_collective(nsys, kernel.name);
    return 0;
}

enum { GRAPH = OP_COLUMNS, GRAPH_COLUMNS };
static const struct gt_db_column graph_columns[GRAPH_COLUMNS] = {
    OP_COLUMN_ROWS,
    [GRAPH] = { "graphId", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table graph_table = {
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    graph_columns,
    GRAPH_COLUMNS,
};

/* Only the start and end of a whole graph were recorded: it stands as one kernel of one block. */
static int read_graph(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    struct gt_workload *workload = nsys->import.workload;
    int64_t id = rows->value[rows->value[GRAPH] != GT_DB_NULL ? GRAPH : EXECUTABLE];
    /* clang-format off */
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE, .arguments = GT_NONE,
    };
    /* clang-format on */
    struct gt_import_op *op = add_op(nsys, rows, GT_OP_KERNEL, error);
    char name[40];
    int length = snprintf(name, sizeof name, "graph %lld", id == GT_DB_NULL ? 0 : (long long)id);

    if (op == NULL)
        return -1;
    kernel.name = gt_name(workload, name, (size_t)length);
    op->kernel = gt_workload_kernel(workload, &kernel);
    gt_import_warn(workload, "graph-nodes-hidden", 1);
    return 0;
}

enum { BYTES = OP_COLUMNS, COPY_KIND, SOURCE_KIND, TARGET_KIND, SOURCE_DEVICE, TARGET_DEVICE, COPY_COLUMNS };
static const struct gt_db_column copy_columns[COPY_COLUMNS] = {
    OP_COLUMN_ROWS,
    [BYTES] = { "bytes", GT_DB_VALUE, 0, INT64_MAX },
    [COPY_KIND] = { "copyKind", GT_DB_VALUE, GT_DB_ANY },
    [SOURCE_KIND] = { "srcKind", GT_DB_MAY_LACK, GT_DB_ANY },
    [TARGET_KIND] = { "dstKind", GT_DB_MAY_LACK, GT_DB_ANY },
    [SOURCE_DEVICE] = { "srcDeviceId", GT_DB_MAY_LACK, GT_DB_U32 },
    [TARGET_DEVICE] = { "dstDeviceId", GT_DB_MAY_LACK, GT_DB_U32 },
};
static const struct gt_db_table copy_table = { "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, COPY_COLUMNS };

static const struct gt_nsys_meaning known_copy_kinds[] = {
    { 1, "CUDA_MEMCPY_KIND_HTOD", GT_H2D },      { 2, "CUDA_MEMCPY_KIND_DTOH", GT_D2H },
    { 3, "CUDA_MEMCPY_KIND_HTOA", GT_H2D },      { 4, "CUDA_MEMCPY_KIND_ATOH", GT_D2H },
    { 5, "CUDA_MEMCPY_KIND_ATOA", GT_D2D },      { 6, "CUDA_MEMCPY_KIND_ATOD", GT_D2D },
    { 7, "CUDA_MEMCPY_KIND_DTOA", GT_D2D },      { 8, "CUDA_MEMCPY_KIND_DTOD", GT_D2D },
    { 9, "CUDA_MEMCPY_KIND_HTOH", GT_H2H },      { 10, "CUDA_MEMCPY_KIND_PTOP", GT_P2P },
    { 11, "CUDA_MEMCPY_KIND_UVM_HTOD", GT_H2D }, { 12, "CUDA_MEMCPY_KIND_UVM_DTOH", GT_D2H },
    { 13, "CUDA_MEMCPY_KIND_UVM_DTOD", GT_D2D },
};
static const struct gt_nsys_meaning known_memory_kinds[] = {
    { 0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", GT_MEMORY_PAGEABLE },
    { 1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", GT_MEMORY_PINNED },
    { 2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", GT_MEMORY_DEVICE },
    { 3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", GT_MEMORY_DEVICE },
    { 4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", GT_MEMORY_MANAGED },
    { 5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", GT_MEMORY_DEVICE },
    { 6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", GT_MEMORY_MANAGED },
    { 7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", GT_MEMORY_UNKNOWN },
};

static int meaning(const struct gt_nsys_meanings *meanings, int64_t number, int otherwise)
{
    if (number < 0 || number >= GT_NSYS_MEANINGS || meanings->of[number] < 0)
        return otherwise;
    return meanings->of[number];
}

/* The device at the other end of a copy; GT_NONE where the row does not say, or it is the same. *from: it is the source. */
static uint32_t peer_gpu(struct gt_nsys *nsys, const struct gt_db_rows *rows, bool *from)
{
    static const int ends[] = { TARGET_DEVICE, SOURCE_DEVICE };

    for (size_t i = 0; i < SIZE(ends); i++) {
        int64_t device = rows->value[ends[i]];

        *from = ends[i] == SOURCE_DEVICE;
        if (device != GT_DB_NULL && device != rows->value[DEVICE] && device <= 65535)
            return gt_import_gpu(&nsys->import, gt_nsys_gpu(nsys, gt_nsys_process(rows->value[PROCESS]), device));
    }
    *from = false;
    return GT_NONE;
}

static int read_copy(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    enum gt_memory source = meaning(&nsys->memory_kinds, rows->value[SOURCE_KIND], GT_MEMORY_UNKNOWN);
    enum gt_memory target = meaning(&nsys->memory_kinds, rows->value[TARGET_KIND], GT_MEMORY_UNKNOWN);
    int direction = meaning(&nsys->copy_kinds, rows->value[COPY_KIND], -1);
    struct gt_import_op *op = add_op(nsys, rows, GT_OP_COPY, error);

    if (op == NULL)
        return -1;
    op->bytes = (uint64_t)rows->value[BYTES];
    gt_import_warn(nsys->import.workload, "copy-kinds-unknown", direction < 0);
    op->direction = direction >= 0 ? direction : (int)gt_import_direction(source, target);
    op->memory = op->direction == GT_D2H ? target : source;
    if (op->direction == GT_P2P || op->direction == GT_D2D) {
        op->memory = GT_MEMORY_DEVICE;
        op->peer_gpu = peer_gpu(nsys, rows, &op->from_peer);
        if (op->peer_gpu != GT_NONE)
            op->direction = GT_P2P;
    }
    return 0;
}

enum { SET_BYTES = OP_COLUMNS, MEMORY_KIND, MEMSET_COLUMNS };
static const struct gt_db_column memset_columns[MEMSET_COLUMNS] = {
    OP_COLUMN_ROWS,
    [SET_BYTES] = { "bytes", GT_DB_VALUE, 0, INT64_MAX },
    [MEMORY_KIND] = { "memKind", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table memset_table = {
    "CUPTI_ACTIVITY_KIND_MEMSET",
    memset_columns,
    MEMSET_COLUMNS,
};

static int read_memset(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    struct gt_import_op *op = add_op(nsys, rows, GT_OP_MEMSET, error);

    if (op == NULL)
        return -1;
    op->bytes = (uint64_t)rows->value[SET_BYTES];
    op->memory = meaning(&nsys->memory_kinds, rows->value[MEMORY_KIND], GT_MEMORY_UNKNOWN);
    return 0;
}

static const struct {
    const struct gt_db_table *table;
    int (*read)(void *user, const struct gt_db_rows *rows, struct gt_error *error);
} op_tables[] = {
    { &kernel_table, read_kernel },
    { &copy_table, read_copy },
    { &memset_table, read_memset },
    { &graph_table, read_graph },
};

int gt_nsys_read_ops(struct gt_nsys *nsys, struct gt_error *error)
{
    if (gt_nsys_read_meanings(nsys, "ENUM_CUDA_MEMCPY_OPER", known_copy_kinds, SIZE(known_copy_kinds),
                              &nsys->copy_kinds, error) != 0 ||
        gt_nsys_read_meanings(nsys, "ENUM_CUDA_MEM_KIND", known_memory_kinds, SIZE(known_memory_kinds),
                              &nsys->memory_kinds, error) != 0)
        return -1;
    for (size_t i = 0; i < SIZE(op_tables); i++) {
        if (gt_db_each_row(&nsys->db, op_tables[i].table, op_tables[i].read, nsys, error) != 0)
            return -1;
    }
    return 0;
}
