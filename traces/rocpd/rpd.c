/* rpd.c - databases of rocmProfileData (NAME.rpd): calls in rocpd_api, operations in rocpd_op, which call an operation is of in
 * rocpd_api_ops, what launches and copies were asked for in rocpd_kernelapi and rocpd_copyapi.
 *
 * Facts (github.com/ROCm/rocmProfileData): tables are rocpd_python/rocpd/schema_data/tableSchema.cmd at b87751c; times are in
 * nanoseconds, as utilitySchema.cmd's views divide them; the grid is in blocks but for the two functions below, a marker is
 * a call "UserMarker" with its text for arguments, records of events are left out: rpd_tracer/RoctracerDataSource.cpp at f10cd24.
 */
#include "traces/rocpd/rpd.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text.h"
#include "traces/import/blocking_streams.h"
#include "traces/import/builder.h"
#include "traces/import/cuda_api.h"
#include "traces/import/device.h"
#include "traces/tables/db.h"

struct rpd {
    struct gt_db db;
    struct gt_import import;
    int64_t *calls; /* their ids, sorted: a call's correlation is its place here */
    uint32_t call_count, call_room;
    uint64_t process; /* of the first call: of operations whose call is not known, too */
    bool hip;         /* some call is HIP's: the GPU is AMD's */
};

/* Other tools write SQLite, too: as rocpd.c. */
static int sniff(const unsigned char *head, size_t bytes)
{
    static const char magic[16] = "SQLite format 3", table[] = "rocpd_api_ops";

    if (bytes < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return 0;
    return memmem(head, bytes, table, sizeof table - 1) != NULL ? 95 : 0;
}

static int check_tables(struct rpd *rpd, struct gt_error *error)
{
    static const char *const tables[] = { "rocpd_string",  "rocpd_api",       "rocpd_op",
                                          "rocpd_api_ops", "rocpd_kernelapi", "rocpd_copyapi" };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        int there = gt_db_has_table(&rpd->db, tables[i], error);

        if (there == 0)
            return gt_error_set(error, "%s: the database has no table %s, which those of rocmProfileData have; %s",
                                rpd->db.path, tables[i], rpd->db.maker->advice);
        if (there < 0)
            return -1;
    }
    return 0;
}

/* Texts and numbers of a row: "" and 0 where it has none. */
static const char *text_of(struct gt_query *query, int column)
{
    return gt_query_is_text(query, column) ? gt_query_string(query, column) : "";
}

static int64_t number_of(struct gt_query *query, int column)
{
    return gt_query_is_integer(query, column) ? gt_query_integer(query, column) : 0;
}

static uint32_t size_of(struct gt_query *query, int column)
{
    int64_t size = number_of(query, column);

    return size < 1 || size > INT32_MAX ? 1 : (uint32_t)size;
}

/* Start and end are columns 1 and 2 of both tables. */
static int read_times(struct rpd *rpd, struct gt_query *query, const char *table, int64_t *start_ns, int64_t *end_ns,
                      struct gt_error *error)
{
    *start_ns = number_of(query, 1);
    *end_ns = number_of(query, 2);
    if (*start_ns >= 0 && *end_ns >= *start_ns)
        return 0;
    return gt_error_set(error, "%s: table %s, row %lld: it starts at %lld and ends at %lld", rpd->db.path, table,
                        (long long)number_of(query, 0), (long long)*start_ns, (long long)*end_ns);
}

enum { CALL_ID, CALL_START, CALL_END, CALL_PROCESS, CALL_THREAD, CALL_NAME, CALL_TEXT };
static const char calls_sql[] =
    "SELECT a.id, a.start, a.end, a.pid, a.tid, n.string, t.string FROM main.rocpd_api a "
    "LEFT JOIN main.rocpd_string n ON n.id = a.apiName_id LEFT JOIN main.%s t ON t.id = a.args_id ORDER BY a.id";

static void add_marker(struct rpd *rpd, struct gt_query *query, int64_t start_ns, int64_t end_ns)
{
    const char *text = text_of(query, CALL_TEXT);
    uint64_t process = (uint64_t)number_of(query, CALL_PROCESS);
    struct gt_import_range *range =
        gt_import_add_range(&rpd->import, gt_import_range_thread(&rpd->import, process, process,
                                                                 (uint64_t)number_of(query, CALL_THREAD)));

    range->start_ns = start_ns;
    range->end_ns = end_ns;
    range->name = gt_import_marker_name(&rpd->import, text, strlen(text), &range->kind);
}

static int read_call(struct rpd *rpd, struct gt_query *query, struct gt_error *error)
{
    const char *name = text_of(query, CALL_NAME);
    bool hip = gt_begins(name, strlen(name), "hip");
    const struct gt_cuda_api *api;
    struct gt_import_call *call;
    int64_t start_ns, end_ns;

    if (rpd->call_count == 0)
        rpd->process = (uint64_t)number_of(query, CALL_PROCESS);
    gt_array_grow(rpd->calls, rpd->call_count, rpd->call_room);
    rpd->calls[rpd->call_count++] = number_of(query, CALL_ID);
    if (read_times(rpd, query, "rocpd_api", &start_ns, &end_ns, error) != 0)
        return -1;
    if (strcmp(name, "UserMarker") == 0 && *text_of(query, CALL_TEXT) != '\0')
        add_marker(rpd, query, start_ns, end_ns);
    if (!hip && !gt_begins(name, strlen(name), "cu"))
        return 0;
    rpd->hip |= hip;
    api = gt_cuda_api_find(name, strlen(name));
    call = gt_import_add_call(&rpd->import);
    call->start_ns = start_ns;
    call->end_ns = end_ns;
    call->process = (uint64_t)number_of(query, CALL_PROCESS);
    call->correlation = rpd->call_count - 1;
    call->thread =
        gt_import_thread(&rpd->import, call->process, call->process, (uint64_t)number_of(query, CALL_THREAD));
    call->name = gt_name(rpd->import.workload, name, strlen(name));
    call->kind = api == NULL ? GT_CALL_OTHER : (uint8_t)api->kind;
    call->flags = api == NULL ? 0 : (uint8_t)api->flags;
    return 0;
}

enum {
    OP_ID,
    OP_START,
    OP_END,
    OP_CALL,
    OP_PROCESS,
    OP_FUNCTION,
    OP_GPU,
    OP_KIND,
    OP_NAME,
    OP_STREAM,
    OP_GRID,
    OP_BLOCK = OP_GRID + 3,
    OP_SHARED = OP_BLOCK + 3,
    OP_BYTES
};
static const char ops_sql[] =
    "SELECT o.id, o.start, o.end, l.api_id, a.pid, f.string, o.gpuId, t.string, d.string, coalesce(k.stream, "
    "c.stream), "
    "k.gridX, k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ, k.groupSegmentSize, CAST(c.size AS "
    "INTEGER) "
    "FROM main.rocpd_op o LEFT JOIN main.rocpd_api_ops l ON l.op_id = o.id LEFT JOIN main.rocpd_api a ON a.id = "
    "l.api_id "
    "LEFT JOIN main.rocpd_string f ON f.id = a.apiName_id LEFT JOIN main.rocpd_string t ON t.id = o.opType_id "
    "LEFT JOIN main.rocpd_string d ON d.id = o.description_id LEFT JOIN main.rocpd_kernelapi k ON k.api_ptr_id = "
    "l.api_id "
    "LEFT JOIN main.rocpd_copyapi c ON c.api_ptr_id = l.api_id ORDER BY o.id";

static int by_id(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static uint32_t correlation_of(const struct rpd *rpd, struct gt_query *query)
{
    int64_t id = number_of(query, OP_CALL);
    const int64_t *found = NULL;

    if (gt_query_is_integer(query, OP_CALL) && rpd->call_count > 0)
        found = bsearch(&id, rpd->calls, rpd->call_count, sizeof id, by_id);
    return found == NULL ? GT_NO_CORRELATION : (uint32_t)(found - rpd->calls);
}

/* Streams have no numbers here: the pointer that the call got is one, 0 the default stream.  An operation without a call, or of
 * a call without a stream, is in that one. */
static uint32_t stream_of(struct rpd *rpd, struct gt_query *query, uint64_t process)
{
    uint64_t pointer = strtoull(text_of(query, OP_STREAM), NULL, 0);
    uint32_t stream =
        gt_import_stream(&rpd->import, process, (uint32_t)(number_of(query, OP_GPU) & 65535), 0, pointer);

    rpd->import.workload->streams[stream].flags = pointer == 0 ? GT_STREAM_LEGACY_DEFAULT : GT_STREAM_NON_BLOCKING;
    return stream;
}

static uint32_t kernel_of(struct rpd *rpd, struct gt_query *query)
{
    static const char *const of_threads[] = { "hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel" };
    struct gt_kernel kernel = { .runs = GT_NONE, .arguments = GT_NONE, .duration_ps = GT_TIME_NONE };
    const char *name = text_of(query, OP_NAME), *function = text_of(query, OP_FUNCTION);
    bool threads = strcmp(function, of_threads[0]) == 0 || strcmp(function, of_threads[1]) == 0;
    int64_t shared = number_of(query, OP_SHARED);

    gt_import_warn(rpd->import.workload, "names-missing", *name == '\0');
    gt_import_warn(rpd->import.workload, "launch-shapes-unknown", !gt_query_is_integer(query, OP_GRID));
    name = *name == '\0' ? "unnamed" : name;
    kernel.name = gt_name(rpd->import.workload, name, strlen(name));
    for (int i = 0; i < 3; i++) {
        kernel.block[i] = size_of(query, OP_BLOCK + i);
        kernel.grid[i] = size_of(query, OP_GRID + i);
        if (threads)
            kernel.grid[i] = (kernel.grid[i] - 1) / kernel.block[i] + 1;
    }
    kernel.static_shared_bytes = shared < 0 || shared > INT32_MAX ? 0 : (uint32_t)shared;
    return gt_workload_kernel(rpd->import.workload, &kernel);
}

static const struct {
    const char *begin; /* of an operation's type */
    enum gt_op_kind kind;
    enum gt_direction direction;
} types[] = {
    { "Kernel", GT_OP_KERNEL, GT_D2D },         { "CopyHostToDevice", GT_OP_COPY, GT_H2D },
    { "CopyDeviceToHost", GT_OP_COPY, GT_D2H }, { "Copy", GT_OP_COPY, GT_D2D },
    { "Fill", GT_OP_MEMSET, GT_D2D },
};

static void add_op(struct rpd *rpd, struct gt_query *query, size_t type, int64_t start_ns, int64_t end_ns)
{
    bool known = gt_query_is_integer(query, OP_PROCESS);
    uint64_t process = known ? (uint64_t)number_of(query, OP_PROCESS) : rpd->process;
    struct gt_import_op *op = gt_import_add_op(&rpd->import);
    int64_t bytes = number_of(query, OP_BYTES);

    op->start_ns = start_ns;
    op->end_ns = end_ns;
    op->process = process;
    op->correlation = correlation_of(rpd, query);
    op->stream = stream_of(rpd, query, process);
    op->kind = types[type].kind;
    if (op->kind == GT_OP_KERNEL) {
        op->kernel = kernel_of(rpd, query);
        return;
    }
    op->memory = types[type].direction == GT_D2D ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN;
    if (op->kind == GT_OP_COPY) {
        op->direction = types[type].direction;
        op->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    }
}

/* Barriers and what is not known take no part. */
static int read_op(struct rpd *rpd, struct gt_query *query, struct gt_error *error)
{
    const char *type = text_of(query, OP_KIND);
    int64_t start_ns, end_ns;

    if (read_times(rpd, query, "rocpd_op", &start_ns, &end_ns, error) != 0)
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (gt_begins(type, strlen(type), types[i].begin)) {
            add_op(rpd, query, i, start_ns, end_ns);
            break;
        }
    return 0;
}

/* Each row of a statement, but for those with the id of the row before: of two calls of an operation the first is its call. */
static int read_rows(struct rpd *rpd, const char *table, const char *sql,
                     int (*row)(struct rpd *rpd, struct gt_query *query, struct gt_error *error),
                     struct gt_error *error)
{
    struct gt_query *query = gt_db_query(&rpd->db, table, sql, error);
    int64_t before = INT64_MIN;
    int status;

    if (query == NULL)
        return -1;
    while ((status = gt_query_next(query, error)) == 1) {
        if (number_of(query, 0) != before && row(rpd, query, error) != 0) {
            status = -1;
            break;
        }
        before = number_of(query, 0);
    }
    gt_query_end(query);
    return status;
}

/* Newer files have a table of their own for arguments (rpd_tracer/UStringTable.cpp at 0fd24b2). */
static int read_calls(struct rpd *rpd, struct gt_error *error)
{
    int apart = gt_db_has_table(&rpd->db, "rocpd_ustring", error), status;
    char *sql;

    if (apart < 0)
        return -1;
    sql = gt_format(calls_sql, apart == 1 ? "rocpd_ustring" : "rocpd_string");
    status = read_rows(rpd, "rocpd_api", sql, read_call, error);
    free(sql);
    return status;
}

static struct gt_workload *finish(struct rpd *rpd, const char *path, struct gt_error *error)
{
    struct gt_workload *workload = rpd->import.workload;

    gt_import_device_unknown(workload);
    gt_import_warn(workload, GT_WARNING_UNMODELLED, rpd->hip);
    gt_import_warn(workload, "no-gpu-work", rpd->import.op_count == 0);
    gt_import_warn_priorities(&rpd->import);
    workload = gt_import_finish(&rpd->import, path, error);
    if (workload != NULL)
        gt_import_find_blocking(workload, 0);
    return workload;
}

static struct gt_workload *read_rpd(const char *path, const struct gt_import_options *options, struct gt_error *error)
{
    static const struct gt_db_maker maker = {
        .file = "a database of rocmProfileData",
        .advice = "record with 'runTracer.sh -o trace.rpd PROGRAM', or with 'rocprofv3 --output-format rocpd'",
    };
    struct rpd rpd = { 0 };
    struct gt_workload *workload = NULL;

    if (gt_db_open(&rpd.db, path, &maker, options, error) != 0)
        return NULL;
    gt_import_begin(&rpd.import, "rpd");
    if (check_tables(&rpd, error) == 0 && read_calls(&rpd, error) == 0 &&
        read_rows(&rpd, "rocpd_op", ops_sql, read_op, error) == 0)
        workload = finish(&rpd, path, error);
    free(rpd.calls);
    gt_db_close(&rpd.db);
    gt_import_free(&rpd.import);
    return workload;
}

const struct gt_importer gt_importer_rpd = {
    .name = "rpd",
    .help = "a database of rocmProfileData (ROCm; NAME.rpd)",
    .sniff = sniff,
    .read = read_rpd,
};
