/* calls.c - runtime and driver calls, and which stream or event they meant. */
#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/nsys/internal.h"

#include <stdlib.h>

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))
/* CUPTI's "not applicable" for streams and events. */
#define NOT_APPLICABLE UINT32_MAX

enum { START, END, THREAD, CORRELATION, NAME, CALL_COLUMNS };
static const struct gt_db_column call_columns[CALL_COLUMNS] = {
    [START] = { "start", GT_DB_VALUE, GT_DB_TIME },
    [END] = { "end", GT_DB_COLUMN, GT_DB_TIME },
    [THREAD] = { "globalTid", GT_DB_VALUE, GT_DB_ANY },
    [CORRELATION] = { "correlationId", GT_DB_MAY_LACK, GT_DB_U32 },
    [NAME] = { "nameId", GT_DB_COLUMN, GT_DB_ANY },
};
static const struct gt_db_table call_table = { "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, CALL_COLUMNS };

static int read_call(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    struct gt_workload *workload = nsys->import.workload;
    const int64_t *value = rows->value;
    uint64_t process = gt_nsys_process(value[THREAD]);
    const struct gt_cuda_api *api;
    struct gt_import_call *call;
    uint32_t name;

    if (gt_nsys_api_name(nsys, value[NAME], &name, &api, error) != 0)
        return -1;
    if (name == GT_NONE)
        gt_import_warn(workload, "call-names-missing", 1);
    call = gt_import_add_call(&nsys->import);
    call->start_ns = value[START];
    call->end_ns = value[END];
    if (value[END] < value[START]) { /* NULL is less than any */
        call->end_ns = value[START];
        gt_import_warn(workload, "calls-without-end", 1);
    }
    call->process = process;
    if (value[CORRELATION] != GT_DB_NULL)
        call->correlation = (uint64_t)value[CORRELATION];
    call->thread =
        gt_import_thread(&nsys->import, process, gt_nsys_shown_process(process), (uint64_t)value[THREAD] & 0xffffff);
    call->name = name;
    if (api != NULL) {
        call->kind = api->kind;
        call->flags = (uint8_t)api->flags;
    }
    return 0;
}

int gt_nsys_read_calls(struct gt_nsys *nsys, struct gt_error *error)
{
    return gt_db_each_row(&nsys->db, &call_table, read_call, nsys, error);
}

/* The first columns of event records and of synchronisations. */
enum {
    DEVICE,
    CONTEXT,
    STREAM,
    MEANT_BY,
    PROCESS,
    EVENT,
    SYNC_ID,
    RECORD_COLUMNS,
    TYPE = RECORD_COLUMNS,
    SYNC_COLUMNS
};
#define RECORD_COLUMN_ROWS                                                                                           \
    [DEVICE] = { "deviceId", GT_DB_MAY_LACK, GT_DB_U32 }, [CONTEXT] = { "contextId", GT_DB_MAY_LACK, GT_DB_U32 },    \
    [STREAM] = { "streamId", GT_DB_MAY_LACK, GT_DB_U32 }, [MEANT_BY] = { "correlationId", GT_DB_COLUMN, GT_DB_U32 }, \
    [PROCESS] = { "globalPid", GT_DB_MAY_LACK, GT_DB_ANY }, [EVENT] = { "eventId", GT_DB_MAY_LACK, GT_DB_ANY },      \
    [SYNC_ID] = { "eventSyncId", GT_DB_MAY_LACK, GT_DB_ANY }

static const struct gt_db_column record_columns[RECORD_COLUMNS] = { RECORD_COLUMN_ROWS };
static const struct gt_db_table record_table = {
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    record_columns,
    RECORD_COLUMNS,
};
static const struct gt_db_column sync_columns[SYNC_COLUMNS] = {
    RECORD_COLUMN_ROWS,
    [TYPE] = { "syncType", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table sync_table = {
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    sync_columns,
    SYNC_COLUMNS,
};

/* The call that a row explains, and the stream it meant. */
static struct gt_import_target *add_target(struct gt_nsys *nsys, const int64_t *value)
{
    uint64_t process = gt_nsys_process(value[PROCESS]);
    uint32_t stream = gt_nsys_stream_meant(nsys, process, value[DEVICE], value[CONTEXT], value[STREAM]);
    struct gt_import_target *target = gt_import_add_target(&nsys->import);

    target->process = process;
    if (value[MEANT_BY] != GT_DB_NULL)
        target->correlation = (uint64_t)value[MEANT_BY];
    target->stream = stream;
    return target;
}

static bool means_something(int64_t id)
{
    return id != GT_DB_NULL && id != NOT_APPLICABLE && id != -1;
}

static int read_record(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    struct gt_workload *workload = nsys->import.workload;
    const int64_t *value = rows->value;
    struct gt_import_target *target;
    struct gt_nsys_record *record;

    (void)error;
    target = add_target(nsys, value);
    target->event = gt_workload_add_event(workload);
    workload->events[target->event].id = means_something(value[EVENT]) ? (uint64_t)value[EVENT] : 0;
    gt_array_grow(nsys->records, nsys->record_count, nsys->record_room);
    record = &nsys->records[nsys->record_count++];
    record->process = target->process;
    record->event_id = value[EVENT];
    record->sync_id = value[SYNC_ID];
    record->correlation = target->correlation;
    record->event = target->event;
    return 0;
}

static int compare_sync_ids(const void *left, const void *right)
{
    const struct gt_nsys_record *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->sync_id, b->sync_id);
    GT_ORDER(a->event, b->event);
    return 0;
}

static int compare_event_ids(const void *left, const void *right)
{
    const struct gt_nsys_record *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->event_id, b->event_id);
    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->event, b->event);
    return 0;
}

int gt_nsys_read_records(struct gt_nsys *nsys, struct gt_error *error)
{
    return gt_db_each_row(&nsys->db, &record_table, read_record, nsys, error);
}

/* The last record that does not come after `key`; NULL when that is another event's. */
static const struct gt_nsys_record *last_record(const struct gt_nsys *nsys, const struct gt_nsys_record *key,
                                                int (*compare)(const void *, const void *))
{
    size_t low = GT_LOWER_BOUND(middle, 0, nsys->record_count, compare(&nsys->records[middle], key) <= 0);
    return low == 0 ? NULL : &nsys->records[low - 1];
}

/* What one pass over the synchronisations looks for. */
struct sync_reader {
    struct gt_nsys *nsys;
    struct gt_nsys_meanings types;
    bool by_event_id; /* records are sorted by event, for rows without eventSyncId */
};
enum { MEANS_STREAM = 1, MEANS_EVENT = 2 };
static const struct gt_nsys_meaning known_sync_types[] = {
    { 0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", MEANS_STREAM | MEANS_EVENT },
    { 1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", MEANS_EVENT },
    { 2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", MEANS_STREAM | MEANS_EVENT },
    { 3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", MEANS_STREAM },
    { 4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", 0 },
};

/* The event that a row means: that very record where eventSyncId says so, else the last record
 * of that event before (correlations count a process's calls). */
static uint32_t event_meant(const struct sync_reader *reader, const int64_t *value)
{
    struct gt_nsys_record key = {
        .process = gt_nsys_process(value[PROCESS]),
        .event_id = value[EVENT],
        .sync_id = value[SYNC_ID],
        .event = UINT32_MAX,
    };
    const struct gt_nsys_record *record;

    if (!reader->by_event_id) {
        record = last_record(reader->nsys, &key, compare_sync_ids);
        if (record == NULL || record->process != key.process || record->sync_id != key.sync_id)
            return GT_NONE;
        return record->event;
    }
    key.correlation = value[MEANT_BY] == GT_DB_NULL ? UINT64_MAX : (uint64_t)value[MEANT_BY];
    record = last_record(reader->nsys, &key, compare_event_ids);
    if (record == NULL || record->process != key.process || record->event_id != key.event_id)
        return GT_NONE;
    return record->event;
}

static bool has_sync_id(const int64_t *value)
{
    return means_something(value[SYNC_ID]) && value[SYNC_ID] != 0;
}

static int read_sync(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct sync_reader *reader = user;
    const int64_t *value = rows->value;
    int64_t type = value[TYPE];
    int means = type < 0 || type >= GT_NSYS_MEANINGS || reader->types.of[type] < 0 ? MEANS_STREAM | MEANS_EVENT
                                                                                   : reader->types.of[type];
    struct gt_import_target *target;

    (void)error;
    if (has_sync_id(value) == reader->by_event_id)
        return 0; /* the other pass's */
    target = add_target(reader->nsys, value);
    if (!(means & MEANS_STREAM))
        target->stream = GT_NONE;
    if ((means & MEANS_EVENT) && means_something(value[EVENT]))
        target->event = event_meant(reader, value);
    return 0;
}

int gt_nsys_read_syncs(struct gt_nsys *nsys, struct gt_error *error)
{
    struct sync_reader reader = { .nsys = nsys };

    if (gt_nsys_read_meanings(nsys, "ENUM_CUPTI_SYNC_TYPE", known_sync_types, SIZE(known_sync_types), &reader.types,
                              error) != 0)
        return -1;
    for (int pass = 0; pass < 2; pass++) {
        reader.by_event_id = pass == 1;
        if (nsys->record_count > 1)
            qsort(nsys->records, nsys->record_count, sizeof *nsys->records,
                  reader.by_event_id ? compare_event_ids : compare_sync_ids);
        if (gt_db_each_row(&nsys->db, &sync_table, read_sync, &reader, error) != 0)
            return -1;
    }
    return 0;
}
