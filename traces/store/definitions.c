/* What was asked: the definitions of a device and of a trace, as rows. */
#include <string.h>

#include "traces/store/internal.h"

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
    id = sqlite3_last_insert_rowid(store->database);
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

/* Each binds row `i` of its table from place 2 on; place 1 is the trace. */
typedef void bind_row(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i);

static void bind_warning(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_warning *warning = &workload->warnings[i];

    sqlite3_bind_text(insert, 2, warning->kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, (int64_t)warning->count);
    sqlite3_bind_text(insert, 4, warning->text, -1, SQLITE_STATIC);
}

static void bind_gpu(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_int64(insert, 3, workload->gpus[i].id);
    gt_store_bind_text(insert, 4, gt_name_text(workload, workload->gpus[i].name));
}

static void bind_stream(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_stream *stream = &workload->streams[i];

    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_int64(insert, 3, stream->gpu);
    sqlite3_bind_int64(insert, 4, stream->context);
    sqlite3_bind_int64(insert, 5, (int64_t)stream->id);
    gt_store_bind_text(insert, 6, gt_name_text(workload, stream->name));
    sqlite3_bind_int64(insert, 7, stream->flags);
    sqlite3_bind_int64(insert, 8, stream->priority);
}

static void bind_thread(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_thread *thread = &workload->threads[i];

    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_int64(insert, 3, (int64_t)thread->process);
    sqlite3_bind_int64(insert, 4, (int64_t)thread->id);
    gt_store_bind_text(insert, 5, gt_name_text(workload, thread->name));
}

static void bind_kernel(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_kernel *kernel = &workload->kernels[i];

    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_text(insert, 3, gt_name_text(workload, kernel->name), -1, SQLITE_STATIC);
    for (int axis = 0; axis < 3; axis++) {
        sqlite3_bind_int64(insert, 4 + axis, kernel->grid[axis]);
        sqlite3_bind_int64(insert, 7 + axis, kernel->block[axis]);
    }
    sqlite3_bind_int64(insert, 10, kernel->registers_per_thread);
    sqlite3_bind_int64(insert, 11, kernel->static_shared_bytes);
    sqlite3_bind_int64(insert, 12, kernel->dynamic_shared_bytes);
}

static void bind_call(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_call *call = &workload->calls[i];

    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_int64(insert, 3, call->thread);
    sqlite3_bind_text(insert, 4, gt_call_kind_names[call->kind], -1, SQLITE_STATIC);
    gt_store_bind_text(insert, 5, gt_name_text(workload, call->name));
    gt_store_bind_index(insert, 6, call->stream);
}

static void bind_op(sqlite3_stmt *insert, const struct gt_workload *workload, uint32_t i)
{
    const struct gt_op *op = &workload->ops[i];
    bool copy = op->kind == GT_OP_COPY, moves = copy || op->kind == GT_OP_MEMSET;

    sqlite3_bind_int64(insert, 2, i);
    sqlite3_bind_int64(insert, 3, op->call);
    sqlite3_bind_text(insert, 4, gt_op_kind_names[op->kind], -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 5, op->stream);
    gt_store_bind_index(insert, 6, op->kernel);
    gt_store_bind_text(insert, 7, copy ? gt_direction_names[op->direction] : NULL);
    gt_store_bind_text(insert, 8, moves ? gt_memory_names[op->memory] : NULL);
    if (moves)
        sqlite3_bind_int64(insert, 9, op->bytes > INT64_MAX ? INT64_MAX : (int64_t)op->bytes);
    else
        sqlite3_bind_null(insert, 9);
}

static const struct definition {
    const char *insert;
    size_t count_offset;      /* of the number of rows, in struct gt_workload */
    bind_row *bind;
} definitions[] = {
    { "INSERT INTO warning VALUES (?, ?, ?, ?)", offsetof(struct gt_workload, warning_count), bind_warning },
    { "INSERT INTO gpu VALUES (?, ?, ?, ?)", offsetof(struct gt_workload, gpu_count), bind_gpu },
    { "INSERT INTO stream VALUES (?, ?, ?, ?, ?, ?, ?, ?)", offsetof(struct gt_workload, stream_count),
      bind_stream },
    { "INSERT INTO thread VALUES (?, ?, ?, ?, ?)", offsetof(struct gt_workload, thread_count), bind_thread },
    { "INSERT INTO kernel VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      offsetof(struct gt_workload, kernel_count), bind_kernel },
    { "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?)", offsetof(struct gt_workload, call_count), bind_call },
    { "INSERT INTO op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", offsetof(struct gt_workload, op_count), bind_op },
};
enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

static uint32_t row_count(const struct definition *definition, const struct gt_workload *workload)
{
    uint32_t count;

    memcpy(&count, (const char *)workload + definition->count_offset, sizeof count);
    return count;
}

static int insert_rows(struct gt_store *store, const struct definition *definition, int64_t trace_id,
                       const struct gt_workload *workload, uint64_t *done, uint64_t total,
                       struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, definition->insert, error);
    uint32_t count = row_count(definition, workload);
    int result = insert != NULL ? 0 : -1;

    if (insert != NULL)
        sqlite3_bind_int64(insert, 1, trace_id);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        definition->bind(insert, workload, i);
        result = gt_store_step(store, insert, error);
        gt_store_tell(store, (*done)++, total);
    }
    sqlite3_finalize(insert);
    return result;
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
    id = sqlite3_last_insert_rowid(store->database);
    sqlite3_finalize(insert);
    for (int i = 0; i < DEFINITIONS; i++)
        total += row_count(&definitions[i], workload);
    for (int i = 0; i < DEFINITIONS && result == 0; i++)
        result = insert_rows(store, &definitions[i], id, workload, &done, total, error);
    if (result == 0)
        result = gt_store_instructions(store, id, workload, error);
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
