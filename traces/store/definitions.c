/* What was asked: the definitions of a device and of a trace, as rows. */
#include <string.h>

#include "sim/devices/kernel_bound.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "traces/store/row_source.h"

static int insert_keys(struct gt_store *store, int64_t device_id, const struct gt_device *device,
                       struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, "INSERT INTO device_key VALUES (?, ?, ?)", error);
    static char text[GT_DEVICE_VALUE_BYTES];
    int result = insert != NULL ? 0 : -1;

    for (size_t i = 0; i < gt_device_key_count && result == 0; i++) {
        gt_device_get(device, &gt_device_keys[i], text, sizeof text);
        sqlite3_bind_int64(insert, 1, device_id);
        sqlite3_bind_text(insert, 2, gt_device_keys[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, text, -1, SQLITE_STATIC);
        result = gt_store_step(store, insert, error);
    }
    sqlite3_finalize(insert);
    return result;
}

/* Returns the new id, or -1. */
static int64_t insert_device(struct gt_store *store, const struct gt_device *device, struct gt_error *error)
{
    static const char sql[] = "INSERT INTO device (name, sms, warps_per_sm, threads_per_sm)"
                              " VALUES (?, ?, ?, ?)";
    sqlite3_stmt *insert = gt_store_prepare(store, sql, error);
    int64_t id;
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_text(insert, 1, device->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, device->sms);
    sqlite3_bind_int64(insert, 3, device->warps_per_sm);
    sqlite3_bind_int64(insert, 4, device->threads_per_sm);
    result = gt_store_step(store, insert, error);
    id = sqlite3_last_insert_rowid(store->base.sqlite);
    sqlite3_finalize(insert);
    return result == 0 && insert_keys(store, id, device, error) == 0 ? id : -1;
}

int64_t gt_store_put_device(struct gt_store *store, const struct gt_device *device, struct gt_error *error)
{
    int64_t id;

    if (gt_store_begin(store, error) != 0)
        return -1;
    id = insert_device(store, device, error);
    return gt_store_finish(store, id < 0 ? -1 : 0, error) == 0 ? id : -1;
}

/* Each gives one value of a row of its table; column 0 is the trace. */
typedef void row_value(sqlite3_context *result, const void *workload, uint64_t row, int column);

static void warning_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_warning *warning = &((const struct gt_workload *)workload)->warnings[row];

    switch (column) {
    case 1: sqlite3_result_text(result, warning->kind, -1, SQLITE_STATIC); return;
    case 2: sqlite3_result_int64(result, (int64_t)warning->count); return;
    default: sqlite3_result_text(result, warning->text, -1, SQLITE_STATIC); return;
    }
}

static void gpu_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, w->gpus[row].id); return;
    default: gt_result_text(result, gt_name_text(w, w->gpus[row].name)); return;
    }
}

static void stream_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;
    const struct gt_stream *stream = &w->streams[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, stream->gpu); return;
    case 3: sqlite3_result_int64(result, stream->context); return;
    case 4: sqlite3_result_int64(result, (int64_t)stream->id); return;
    case 5: gt_result_text(result, gt_name_text(w, stream->name)); return;
    case 6: sqlite3_result_int64(result, stream->flags); return;
    default: sqlite3_result_int64(result, stream->priority); return;
    }
}

static void thread_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;
    const struct gt_thread *thread = &w->threads[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, (int64_t)thread->process); return;
    case 3: sqlite3_result_int64(result, (int64_t)thread->id); return;
    default: gt_result_text(result, gt_name_text(w, thread->name)); return;
    }
}

static void kernel_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;
    const struct gt_kernel *kernel = &w->kernels[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_text(result, gt_name_text(w, kernel->name), -1, SQLITE_STATIC); return;
    case 3:
    case 4:
    case 5: sqlite3_result_int64(result, kernel->grid[column - 3]); return;
    case 6:
    case 7:
    case 8: sqlite3_result_int64(result, kernel->block[column - 6]); return;
    case 9: sqlite3_result_int64(result, kernel->registers_per_thread); return;
    case 10: sqlite3_result_int64(result, kernel->static_shared_bytes); return;
    default: sqlite3_result_int64(result, kernel->dynamic_shared_bytes); return;
    }
}

static bool has_cluster(const void *workload, uint64_t row)
{
    return gt_kernel_cluster_blocks(&((const struct gt_workload *)workload)->kernels[row]) > 1;
}

static void cluster_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;

    sqlite3_result_int64(result, column == 1 ? (int64_t)row : w->kernels[row].cluster[column - 2]);
}

static void family_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;

    if (column == 1)
        sqlite3_result_int64(result, (int64_t)row);
    else
        sqlite3_result_text(result,
                            gt_kernel_family_names[gt_kernel_family_of(gt_name_text(w, w->kernels[row].name))], -1,
                            SQLITE_STATIC);
}

static bool is_collective(const void *workload, uint64_t row)
{
    return ((const struct gt_workload *)workload)->kernels[row].collective.kind != GT_COLLECTIVE_NONE;
}

static void collective_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;
    const struct gt_collective *collective = &w->kernels[row].collective;

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_text(result, gt_collective_kind_names[collective->kind], -1, SQLITE_STATIC); return;
    case 3: sqlite3_result_int64(result, (int64_t)collective->bytes); return;
    default: sqlite3_result_int64(result, w->groups[collective->group].size); return;
    }
}

static void call_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;
    const struct gt_call *call = &w->calls[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, call->thread); return;
    case 3: sqlite3_result_text(result, gt_call_kind_names[call->kind], -1, SQLITE_STATIC); return;
    case 4: gt_result_text(result, gt_name_text(w, call->name)); return;
    default: gt_result_index(result, call->stream); return;
    }
}

static bool has_executable(const void *workload, uint64_t row)
{
    const struct gt_call *call = &((const struct gt_workload *)workload)->calls[row];

    return call->kind == GT_CALL_GRAPH_LAUNCH && call->executable != GT_NONE;
}

static void executable_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_workload *w = workload;

    if (column == 1)
        sqlite3_result_int64(result, (int64_t)row);
    else
        sqlite3_result_text(result, gt_name_text(w, w->calls[row].executable), -1, SQLITE_STATIC);
}

static void op_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_op *op = &((const struct gt_workload *)workload)->ops[row];
    bool copy = op->kind == GT_OP_COPY, moves = copy || op->kind == GT_OP_MEMSET;

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, op->call); return;
    case 3: sqlite3_result_text(result, gt_op_kind_names[op->kind], -1, SQLITE_STATIC); return;
    case 4: sqlite3_result_int64(result, op->stream); return;
    case 5: gt_result_index(result, op->kernel); return;
    case 6: gt_result_text(result, copy ? gt_direction_names[op->direction] : NULL); return;
    case 7: gt_result_text(result, moves ? gt_memory_names[op->memory] : NULL); return;
    default:
        if (moves)
            sqlite3_result_int64(result, op->bytes > INT64_MAX ? INT64_MAX : (int64_t)op->bytes);
    }
}

static bool has_peer(const void *workload, uint64_t row)
{
    return ((const struct gt_workload *)workload)->ops[row].peer_gpu != GT_NONE;
}

static void peer_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_op *op = &((const struct gt_workload *)workload)->ops[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: sqlite3_result_int64(result, op->peer_gpu); return;
    case 3: sqlite3_result_int64(result, op->from_peer); return;
    default: sqlite3_result_int64(result, (int64_t)op->bytes);
    }
}

/* The first launch of the block by the rule that launch `row` is by: they stand together, and there may be a million. */
static uint64_t first_alike(const struct gt_child_launch *launches, uint64_t row)
{
    const struct gt_child_launch *launch = &launches[row];
    uint64_t first = row, step = 1;
    bool grows = true;

    while (step > 0) {
        const struct gt_child_launch *before = first >= step ? &launches[first - step] : NULL;

        if (before != NULL && before->parent == launch->parent && before->block == launch->block &&
            before->rule == launch->rule) {
            first -= step;
            step = grows ? step * 2 : step;
        } else {
            grows = false;
            step /= 2;
        }
    }
    return first;
}

static void child_value(sqlite3_context *result, const void *workload, uint64_t row, int column)
{
    const struct gt_child_launch *launches = ((const struct gt_workload *)workload)->child_launches;
    const struct gt_child_launch *launch = &launches[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, launch->op); return;
    case 2: sqlite3_result_int64(result, launch->parent); return;
    case 3: sqlite3_result_int64(result, (int64_t)launch->block); return;
    case 4: sqlite3_result_int64(result, launch->rule); return;
    default: sqlite3_result_int64(result, (int64_t)(row - first_alike(launches, row)));
    }
}

static const struct definition {
    const char *table;
    int columns;
    size_t count_offset; /* of the number of rows, in struct gt_workload */
    row_value *value;
    bool (*holds)(const void *workload, uint64_t row); /* NULL: all rows */
} definitions[] = {
    { "warning", 4, offsetof(struct gt_workload, warning_count), warning_value, NULL },
    { "gpu", 4, offsetof(struct gt_workload, gpu_count), gpu_value, NULL },
    { "stream", 8, offsetof(struct gt_workload, stream_count), stream_value, NULL },
    { "thread", 5, offsetof(struct gt_workload, thread_count), thread_value, NULL },
    { "kernel", 12, offsetof(struct gt_workload, kernel_count), kernel_value, NULL },
    { "kernel_cluster", 5, offsetof(struct gt_workload, kernel_count), cluster_value, has_cluster },
    { "kernel_collective", 5, offsetof(struct gt_workload, kernel_count), collective_value, is_collective },
    { "kernel_family", 3, offsetof(struct gt_workload, kernel_count), family_value, NULL },
    { "call", 6, offsetof(struct gt_workload, call_count), call_value, NULL },
    { "call_executable", 3, offsetof(struct gt_workload, call_count), executable_value, has_executable },
    { "op", 9, offsetof(struct gt_workload, op_count), op_value, NULL },
    { "op_peer", 5, offsetof(struct gt_workload, op_count), peer_value, has_peer },
    { "child_launch", 6, offsetof(struct gt_workload, child_launch_count), child_value, NULL },
};
enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

static uint32_t row_count(const struct definition *definition, const struct gt_workload *workload)
{
    uint32_t count;

    memcpy(&count, (const char *)workload + definition->count_offset, sizeof count);
    return count;
}

static int64_t insert_trace(struct gt_store *store, const struct gt_workload *workload, const char *name,
                            struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, "INSERT INTO trace (name, source) VALUES (?, ?)", error);
    uint64_t done = 0, total = 0;
    int64_t id;
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
    gt_store_bind_text(insert, 2, workload->source);
    result = gt_store_step(store, insert, error);
    id = sqlite3_last_insert_rowid(store->base.sqlite);
    sqlite3_finalize(insert);
    for (int i = 0; i < DEFINITIONS; i++)
        total += row_count(&definitions[i], workload);
    for (int i = 0; i < DEFINITIONS && result == 0; i++) {
        /* clang-format off */
        const struct gt_row_source source = {
            .table = definitions[i].table, .columns = definitions[i].columns, .id = id,
            .count = row_count(&definitions[i], workload), .value = definitions[i].value, .user = workload,
            .holds = definitions[i].holds,
        };
        /* clang-format on */

        result = gt_store_insert(store, &source, &done, total, error);
    }
    if (result == 0)
        result = gt_store_instructions(store, id, workload, error);
    if (result == 0)
        result = gt_store_profiled_work(store, id, workload, error);
    if (result == 0)
        result = gt_store_ranges(store, id, workload, error);
    if (result == 0)
        result = gt_store_tasks(store, id, workload, error);
    if (result == 0)
        result = gt_store_plain(store, id, workload, error);
    return result == 0 ? id : -1;
}

int64_t gt_store_put_trace(struct gt_store *store, const struct gt_workload *workload, const char *name,
                           struct gt_error *error)
{
    int64_t id;

    if (gt_store_begin(store, error) != 0)
        return -1;
    id = insert_trace(store, workload, name, error);
    return gt_store_finish(store, id < 0 ? -1 : 0, error) == 0 ? id : -1;
}

int gt_store_put_warning(struct gt_store *store, int64_t trace_id, const struct gt_warning *warning,
                         struct gt_error *error)
{
    static const char sql[] = "INSERT OR REPLACE INTO warning (trace_id, kind, count, text) VALUES (?, ?, ?, ?)";
    sqlite3_stmt *insert = gt_store_prepare(store, sql, error);
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_int64(insert, 1, trace_id);
    sqlite3_bind_text(insert, 2, warning->kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, (int64_t)warning->count);
    sqlite3_bind_text(insert, 4, warning->text, -1, SQLITE_STATIC);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result;
}

int gt_store_base(struct gt_store *store, int64_t trace_id, int64_t base_trace_id, struct gt_error *error)
{
    static const char sql[] = "UPDATE trace SET base_trace_id = ? WHERE trace_id = ?";
    sqlite3_stmt *update = gt_store_prepare(store, sql, error);
    int result;

    if (update == NULL)
        return -1;
    sqlite3_bind_int64(update, 1, base_trace_id);
    sqlite3_bind_int64(update, 2, trace_id);
    result = gt_store_step(store, update, error);
    sqlite3_finalize(update);
    return result;
}

int64_t gt_store_put_run(struct gt_store *store, int64_t trace_id, int64_t device_id, const char *kind,
                         const char *options, uint32_t repetition, bool whole, struct gt_error *error)
{
    static const char sql[] = "INSERT INTO run (trace_id, device_id, kind, options, repetition, whole)"
                              " VALUES (?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *insert = gt_store_prepare(store, sql, error);
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_int64(insert, 1, trace_id);
    sqlite3_bind_int64(insert, 2, device_id);
    sqlite3_bind_text(insert, 3, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, options, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 5, repetition);
    sqlite3_bind_int(insert, 6, whole);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result == 0 ? sqlite3_last_insert_rowid(store->base.sqlite) : -1;
}
