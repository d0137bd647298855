/* info.c - what a report says about its streams, contexts, threads and numbers' meanings. */
#include "sim/base/sort.h"
#include "traces/nsys/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* CUPTI's number of the first context's NULL stream. */
enum { USUAL_NULL_STREAM = 7 };

struct gt_nsys_context {
    UT_hash_handle hh;
    struct context_key {
        uint64_t process;
        int64_t context;
    } key;
    int64_t device;
};

struct gt_nsys_stream_info {
    uint64_t shown_process;
    int64_t context, stream;
    int32_t priority;
    uint32_t flags; /* gt_stream_flag */
};

/* Fill `meanings` from an ENUM_ table's names, or where there is none from the known numbers. */
int gt_nsys_read_meanings(struct gt_nsys *nsys, const char *table, const struct gt_nsys_meaning *known, size_t count,
                          struct gt_nsys_meanings *meanings, struct gt_error *error)
{
    int there = gt_db_has_table(&nsys->db, table, error), status;
    struct gt_query *rows;
    char sql[96];

    memset(meanings->of, -1, sizeof meanings->of);
    if (there == 0) {
        for (size_t i = 0; i < count; i++)
            meanings->of[known[i].number] = (int8_t)known[i].meaning;
    }
    if (there != 1)
        return there;
    snprintf(sql, sizeof sql, "SELECT id, name FROM main.%s", table);
    rows = gt_db_query(&nsys->db, table, sql, error);
    if (rows == NULL)
        return -1;
    while ((status = gt_query_next(rows, error)) == 1) {
        int64_t id = gt_query_integer(rows, 0);
        const char *name = gt_query_string(rows, 1);

        for (size_t i = 0; i < count && name != NULL && id >= 0 && id < GT_NSYS_MEANINGS; i++) {
            if (strcmp(name, known[i].name) == 0)
                meanings->of[id] = (int8_t)known[i].meaning;
        }
    }
    gt_query_end(rows);
    return status;
}

enum { STREAM, PROCESS, CONTEXT, PRIORITY, FLAG, STREAM_COLUMNS };
static const struct gt_db_column stream_columns[STREAM_COLUMNS] = {
    [STREAM] = { "streamId", GT_DB_VALUE, GT_DB_ANY },    [PROCESS] = { "processId", GT_DB_MAY_LACK, GT_DB_ANY },
    [CONTEXT] = { "contextId", GT_DB_COLUMN, GT_DB_ANY }, [PRIORITY] = { "priority", GT_DB_MAY_LACK, GT_DB_ANY },
    [FLAG] = { "flag", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table stream_table = {
    "TARGET_INFO_CUDA_STREAM",
    stream_columns,
    STREAM_COLUMNS,
};

static const struct gt_nsys_meaning known_stream_types[] = {
    { 0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", 0 },
    { 1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", 0 },
    { 2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", GT_STREAM_NON_BLOCKING },
    { 3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", GT_STREAM_LEGACY_DEFAULT },
    { 4, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_PER_THREAD", GT_STREAM_PER_THREAD_DEFAULT },
};

struct stream_reader {
    struct gt_nsys *nsys;
    struct gt_nsys_meanings types;
    size_t room;
};

/* Negative priorities come as unsigned 32-bit numbers. */
static int32_t read_priority(struct gt_nsys *nsys, int64_t value)
{
    if (value == GT_DB_NULL)
        return 0;
    return gt_import_priority(&nsys->import, value > INT32_MAX && value <= UINT32_MAX ? (int32_t)value : value);
}

static int read_stream(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct stream_reader *reader = user;
    struct gt_nsys *nsys = reader->nsys;
    const int64_t *value = rows->value;
    struct gt_nsys_stream_info *info;
    int64_t flag = value[FLAG];

    (void)error;
    if (nsys->stream_info_count == reader->room) {
        reader->room = reader->room == 0 ? 64 : reader->room + reader->room / 2;
        nsys->stream_infos = gt_realloc(nsys->stream_infos, reader->room, sizeof *nsys->stream_infos);
    }
    info = &nsys->stream_infos[nsys->stream_info_count++];
    info->shown_process = value[PROCESS] == GT_DB_NULL ? 0 : (uint64_t)value[PROCESS];
    info->context = value[CONTEXT];
    info->stream = value[STREAM];
    info->priority = read_priority(nsys, value[PRIORITY]);
    info->flags = 0;
    if (flag >= 0 && flag < GT_NSYS_MEANINGS && reader->types.of[flag] > 0)
        info->flags = (uint32_t)reader->types.of[flag];
    return 0;
}

static int compare_infos(const void *left, const void *right)
{
    const struct gt_nsys_stream_info *a = left, *b = right;

    GT_ORDER(a->shown_process, b->shown_process);
    GT_ORDER(a->context, b->context);
    GT_ORDER(a->stream, b->stream);
    GT_ORDER(a->flags, b->flags);
    GT_ORDER(a->priority, b->priority);
    return 0;
}

static struct gt_nsys_context *find_context(struct gt_nsys *nsys, uint64_t process, int64_t context)
{
    struct context_key key = { process, context };
    struct gt_nsys_context *found;

    HASH_FIND(hh, nsys->contexts, &key, sizeof key, found);
    return found;
}

int gt_nsys_read_streams(struct gt_nsys *nsys, struct gt_error *error)
{
    struct stream_reader reader = { .nsys = nsys };

    if (gt_nsys_read_meanings(nsys, "ENUM_CUPTI_STREAM_TYPE", known_stream_types,
                              sizeof known_stream_types / sizeof known_stream_types[0], &reader.types, error) != 0 ||
        gt_db_each_row(&nsys->db, &stream_table, read_stream, &reader, error) != 0)
        return -1;
    if (nsys->stream_info_count > 1)
        qsort(nsys->stream_infos, nsys->stream_info_count, sizeof *nsys->stream_infos, compare_infos);
    return 0;
}

void gt_nsys_info_free(struct gt_nsys *nsys)
{
    struct gt_nsys_context *context, *next;

    HASH_ITER(hh, nsys->contexts, context, next)
    {
        HASH_DEL(nsys->contexts, context);
        free(context);
    }
    free(nsys->stream_infos);
}

/* The first description that does not come before (process, context, stream); its index. */
static size_t first_info(const struct gt_nsys *nsys, uint64_t process, int64_t context, int64_t stream)
{
    struct gt_nsys_stream_info key = { process, context, stream, INT32_MIN, 0 };
    size_t low =
        GT_LOWER_BOUND(middle, 0, nsys->stream_info_count, compare_infos(&nsys->stream_infos[middle], &key) < 0);
    return low;
}

/* Flags and priority of a stream just added.  One that is not described is its context's NULL
 * stream when it has the usual number, or a lower one than all that are described: the NULL
 * stream is there before any other, and reports begun late leave it out. */
static void describe(struct gt_nsys *nsys, struct gt_stream *added, uint64_t process, int64_t context)
{
    uint64_t shown = gt_nsys_shown_process(process);
    const struct gt_nsys_stream_info *infos = nsys->stream_infos;
    size_t at = first_info(nsys, shown, context, (int64_t)added->id);
    size_t lowest = first_info(nsys, shown, context, INT64_MIN);

    if (at < nsys->stream_info_count && infos[at].shown_process == shown && infos[at].context == context) {
        if (infos[at].stream == (int64_t)added->id) {
            added->flags = infos[at].flags;
            added->priority = infos[at].priority;
            return;
        }
        if (at == lowest)
            added->flags = GT_STREAM_LEGACY_DEFAULT;
    }
    if (added->id == USUAL_NULL_STREAM)
        added->flags = GT_STREAM_LEGACY_DEFAULT;
}

uint32_t gt_nsys_stream(struct gt_nsys *nsys, uint64_t process, int64_t device, int64_t context, int64_t stream)
{
    struct gt_workload *workload = nsys->import.workload;
    uint32_t before = workload->stream_count, number;

    context = context == GT_DB_NULL ? 0 : context;
    number = gt_import_stream(&nsys->import, process, gt_nsys_gpu(nsys, process, device), (uint32_t)context,
                              (uint64_t)stream);
    if (number == before) {
        describe(nsys, &workload->streams[number], process, context);
        if (find_context(nsys, process, context) == NULL) {
            struct gt_nsys_context *added = gt_calloc(1, sizeof *added);

            added->key = (struct context_key){ process, context };
            added->device = device;
            HASH_ADD(hh, nsys->contexts, key, sizeof added->key, added);
        }
    }
    return number;
}

uint32_t gt_nsys_stream_meant(struct gt_nsys *nsys, uint64_t process, int64_t device, int64_t context, int64_t stream)
{
    const struct gt_nsys_context *of;

    if (stream == GT_DB_NULL || stream == UINT32_MAX || context == GT_DB_NULL || context == UINT32_MAX)
        return GT_NONE;
    of = find_context(nsys, process, context);
    if (of != NULL)
        device = of->device;
    if (device == GT_DB_NULL || device > 65535)
        return GT_NONE;
    return gt_nsys_stream(nsys, process, device, context, stream);
}

static const char thread_names_sql[] =
    "SELECT names.globalTid, strings.value FROM main.ThreadNames AS names "
    "JOIN main.StringIds AS strings ON strings.id = names.nameId ORDER BY names.priority, names.rowid";

static void name_thread(struct gt_workload *workload, int64_t global, const char *name)
{
    for (uint32_t i = 0; i < workload->thread_count; i++) {
        struct gt_thread *thread = &workload->threads[i];

        if (thread->id == ((uint64_t)global & 0xffffff) &&
            thread->process == gt_nsys_shown_process(gt_nsys_process(global)))
            thread->name = gt_name(workload, name, strlen(name));
    }
}

int gt_nsys_read_threads(struct gt_nsys *nsys, struct gt_error *error)
{
    struct gt_query *rows;
    int status, there = gt_db_has_table(&nsys->db, "ThreadNames", error);

    if (there != 1)
        return there;
    /* Names are a comfort: an older layout of the table is no error. */
    rows = gt_db_query(&nsys->db, "ThreadNames", thread_names_sql, NULL);
    if (rows == NULL)
        return 0;
    while ((status = gt_query_next(rows, error)) == 1) {
        const char *name = gt_query_string(rows, 1);

        if (name != NULL && *name != '\0' && gt_query_is_integer(rows, 0))
            name_thread(nsys->import.workload, gt_query_integer(rows, 0), name);
    }
    gt_query_end(rows);
    return status;
}
