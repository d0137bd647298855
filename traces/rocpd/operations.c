/* operations.c - rocpd_kernel_dispatch and rocpd_memory_copy: one row, one operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/rocpd/internal.h"

/* A stream of the workload; GT_NONE: there is none so far.  `gpu` is the profile's number; GT_NONE: of any GPU. */
static uint32_t look_up(const struct rocpd *rocpd, uint64_t process, int64_t number, uint32_t gpu)
{
    const uint32_t *stream =
        gt_index_map_find(rocpd->streams, (struct gt_index_key){ { process, (uint64_t)number, gpu } });

    return stream == NULL ? GT_NONE : *stream;
}

/* Streams are numbered within a process, but each GPU has a stream 0.  Where the GPU is not known (GT_NONE), it is any stream of
 * that number. */
static uint32_t find_stream(struct rocpd *rocpd, uint64_t process, int64_t number, uint32_t gpu)
{
    uint32_t known = gpu == GT_NONE ? 0 : gpu, stream = look_up(rocpd, process, number, gpu), *first;

    if (stream != GT_NONE)
        return stream;
    stream = gt_import_stream(&rocpd->import, process, known, 0, (uint64_t)number);
    /* Queues wait for each other only by events; so do streams, but for the default one. */
    rocpd->import.workload->streams[stream].flags =
        number == 0 && !rocpd->by_queue ? GT_STREAM_LEGACY_DEFAULT : GT_STREAM_NON_BLOCKING;
    *gt_index_map_at(&rocpd->streams, (struct gt_index_key){ { process, (uint64_t)number, known } }) = stream;
    first = gt_index_map_at(&rocpd->streams, (struct gt_index_key){ { process, (uint64_t)number, GT_NONE } });
    if (*first == GT_NONE)
        *first = stream;
    return stream;
}

uint32_t rocpd_known_stream(struct rocpd *rocpd, uint64_t process, int64_t stream)
{
    return look_up(rocpd, process, stream, GT_NONE);
}

/* The GPU whose stream a copy ran in: the table does not say it.  It is the target or the source, whichever has a stream of that
 * number; a copy between others may run in any stream but the default one. */
static uint32_t gpu_of_copy(const struct rocpd *rocpd, uint64_t process, int64_t number, uint32_t source,
                            uint32_t target)
{
    const struct gt_workload *workload = rocpd->import.workload;
    uint32_t found = GT_NONE;

    if (target != GT_NONE)
        found = look_up(rocpd, process, number, target);
    if (found == GT_NONE && source != GT_NONE)
        found = look_up(rocpd, process, number, source);
    if (found == GT_NONE && number != 0)
        found = look_up(rocpd, process, number, GT_NONE);
    if (found != GT_NONE)
        return workload->gpus[workload->streams[found].gpu].id;
    return target != GT_NONE ? target : source;
}

static int64_t stream_number(const struct rocpd *rocpd, const struct rocpd_place *place)
{
    int64_t number = rocpd->by_queue ? place->queue : place->stream;

    return number == GT_DB_NULL ? 0 : number;
}

/* What every operation has; NULL with an error. */
static struct gt_import_op *add_op(struct rocpd *rocpd, const struct gt_db_rows *rows,
                                   const struct rocpd_place *place, uint32_t gpu, enum gt_op_kind kind,
                                   struct gt_error *error)
{
    struct rocpd_event event;
    struct gt_import_op *op;

    if (rocpd_read_event(rocpd, rows->value[ROCPD_AT_EVENT], &event, NULL, error) != 0)
        return NULL;
    op = gt_import_add_op(&rocpd->import);
    op->start_ns = place->start_ns;
    op->end_ns = place->end_ns;
    op->process = place->process;
    op->correlation = event.correlation;
    op->stream = find_stream(rocpd, place->process, stream_number(rocpd, place), gpu);
    op->kind = kind;
    return op;
}

enum {
    KERNEL = ROCPD_PLACE_COLUMNS,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    THREADS_X,
    THREADS_Y,
    THREADS_Z,
    SHARED,
    KERNEL_COLUMNS
};
#define SIZES GT_DB_VALUE, 1, INT32_MAX
static const struct gt_db_column kernel_columns[KERNEL_COLUMNS] = {
    ROCPD_PLACE_ROWS,
    [KERNEL] = { "kernel_id", GT_DB_MAY_LACK, GT_DB_ANY },
    [BLOCK_X] = { "workgroup_size_x", SIZES },
    [BLOCK_Y] = { "workgroup_size_y", SIZES },
    [BLOCK_Z] = { "workgroup_size_z", SIZES },
    [THREADS_X] = { "grid_size_x", SIZES },
    [THREADS_Y] = { "grid_size_y", SIZES },
    [THREADS_Z] = { "grid_size_z", SIZES },
    [SHARED] = { "group_segment_size", GT_DB_MAY_LACK, GT_DB_U32 },
};

/* The last operation gathered is of that kernel: of RCCL only its name tells what it is a part of. */
static void note_collective(struct rocpd *rocpd, const char *name)
{
    enum gt_collective_kind kind = gt_collective_of_kernel(name);

    if (kind != GT_COLLECTIVE_NONE)
        gt_collective_notes_add(&rocpd->import.collectives, rocpd->import.op_count - 1, kind);
}

static int read_kernel(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct rocpd *rocpd = user;
    struct gt_kernel kernel = { .runs = GT_NONE, .arguments = GT_NONE, .duration_ps = GT_TIME_NONE };
    struct rocpd_place place;
    struct gt_import_op *op;
    const char *name;

    if (rocpd_read_place(rocpd, rows, &place, error) != 0 ||
        rocpd_kernel_name(rocpd, rows->value[KERNEL], &name, error) != 0)
        return -1;
    gt_import_warn(rocpd->import.workload, "names-missing", name == NULL);
    name = name == NULL ? "unnamed" : name;
    kernel.name = gt_name(rocpd->import.workload, name, strlen(name));
    for (int i = 0; i < 3; i++) { /* HSA's grid is in threads */
        int64_t threads = rows->value[THREADS_X + i], block = rows->value[BLOCK_X + i];

        kernel.block[i] = (uint32_t)block;
        kernel.grid[i] = (uint32_t)((threads + block - 1) / block);
    }
    if (rows->value[SHARED] != GT_DB_NULL)
        kernel.static_shared_bytes = (uint32_t)rows->value[SHARED];
    op = add_op(rocpd, rows, &place, rocpd_gpu(rocpd, place.agent), GT_OP_KERNEL, error);
    if (op == NULL)
        return -1;
    op->kernel = gt_workload_kernel(rocpd->import.workload, &kernel);
    note_collective(rocpd, name);
    return 0;
}

enum { COPY_NAME = ROCPD_PLACE_COLUMNS, TARGET, SOURCE, BYTES, COPY_COLUMNS };
static const struct gt_db_column copy_columns[COPY_COLUMNS] = {
    ROCPD_PLACE_ROWS,
    [COPY_NAME] = { "name_id", GT_DB_MAY_LACK, GT_DB_ANY },
    [TARGET] = { "dst_agent_id", GT_DB_MAY_LACK, GT_DB_ANY },
    [SOURCE] = { "src_agent_id", GT_DB_MAY_LACK, GT_DB_ANY },
    [BYTES] = { "size", GT_DB_VALUE, 0, INT64_MAX },
};

static const struct {
    const char *name;
    enum gt_direction direction;
} directions[] = {
    { "HOST_TO_DEVICE", GT_H2D },
    { "DEVICE_TO_HOST", GT_D2H },
    { "DEVICE_TO_DEVICE", GT_D2D },
    { "HOST_TO_HOST", GT_H2H },
};

/* From the copy's name ("MEMORY_COPY_HOST_TO_DEVICE"); from its two agents where that does not say. */
static enum gt_direction direction_of(struct rocpd *rocpd, const char *name, uint32_t source, uint32_t target)
{
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        if (name != NULL && strstr(name, directions[i].name) != NULL)
            return directions[i].direction;
    gt_import_warn(rocpd->import.workload, "copy-directions-unknown", source == GT_NONE && target == GT_NONE);
    if (source == GT_NONE)
        return target == GT_NONE ? GT_D2D : GT_H2D;
    return target == GT_NONE ? GT_D2H : GT_D2D;
}

static int read_copy(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct rocpd *rocpd = user;
    uint32_t source = rocpd_gpu(rocpd, rows->value[SOURCE]), target = rocpd_gpu(rocpd, rows->value[TARGET]);
    struct rocpd_place place;
    struct gt_import_op *op;
    const char *name;
    uint32_t gpu;

    if (rocpd_read_place(rocpd, rows, &place, error) != 0 ||
        rocpd_string(rocpd, rows->value[COPY_NAME], &name, error) != 0)
        return -1;
    gpu = gpu_of_copy(rocpd, place.process, stream_number(rocpd, &place), source, target);
    op = add_op(rocpd, rows, &place, gpu, GT_OP_COPY, error);
    if (op == NULL)
        return -1;
    op->bytes = (uint64_t)rows->value[BYTES];
    op->direction = direction_of(rocpd, name, source, target);
    op->memory = op->direction == GT_D2D ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN;
    if (op->direction != GT_D2D || source == GT_NONE || target == GT_NONE || source == target)
        return 0;
    gpu = rocpd->import.workload->gpus[rocpd->import.workload->streams[op->stream].gpu].id;
    op->direction = GT_P2P;
    op->from_peer = gpu == target;
    op->peer_gpu = gt_import_gpu(&rocpd->import, gpu == target ? source : target);
    return 0;
}

/* Before ROCm 7, and where no HIP stream was used, all is in stream 0; then queues tell what could run at once. */
static int choose_streams(struct rocpd *rocpd, struct gt_error *error)
{
    char sql[512];
    const char *suffix = rocpd->suffixes[rocpd->set];
    struct gt_query *query;
    int status;

    rocpd->by_queue = false;
    snprintf(sql, sizeof sql,
             "SELECT count(DISTINCT stream_id) < 2 AND count(DISTINCT queue_id) > 1 FROM "
             "main.\"rocpd_kernel_dispatch%s\"",
             suffix);
    query = gt_db_query(&rocpd->db, "rocpd_kernel_dispatch", sql, NULL);
    if (query == NULL) /* a schema of tracks, which have streams */
        return 0;
    status = gt_query_next(query, error);
    if (status == 1)
        rocpd->by_queue = gt_query_integer(query, 0) == 1;
    gt_query_end(query);
    return status < 0 ? -1 : 0;
}

int rocpd_read_operations(struct rocpd *rocpd, struct gt_error *error)
{
    if (choose_streams(rocpd, error) != 0 ||
        rocpd_each_row(rocpd, "rocpd_kernel_dispatch", kernel_columns, KERNEL_COLUMNS, read_kernel, error) != 0)
        return -1;
    return rocpd_each_row(rocpd, "rocpd_memory_copy", copy_columns, COPY_COLUMNS, read_copy, error);
}
