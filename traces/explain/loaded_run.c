/* A run's rows into arrays. */
#include "traces/explain/loaded_run.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/workload/collective.h"
#include "traces/explain/host_time.h"
#include "traces/explain/loaded_ranges.h"
#include "traces/import/warnings.h"
#include "traces/names/short_name.h"
#include "traces/store/answers.h"
#include "traces/store/query.h"
#include "traces/store/run_rows.h"

/* The orders in which a loaded run is looked at. */

/* A run's operations and calls by their start. */

static int by_op_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_op *ops = user;
    gt_op_index left = *(const gt_op_index *)a, right = *(const gt_op_index *)b;

    if (ops[left].start_ps != ops[right].start_ps)
        return ops[left].start_ps < ops[right].start_ps ? -1 : 1;
    return (left > right) - (left < right);
}

static void order_ops(struct gt_loaded_run *t)
{
    gt_op_index *last = gt_realloc(NULL, t->stream_count + 1ull, sizeof *last);

    t->by_start = gt_calloc(t->op_count + 1ull, sizeof *t->by_start);
    for (uint32_t i = 0; i < t->op_count; i++)
        if (t->ops[i].there)
            t->by_start[t->started++] = i;
    qsort_r(t->by_start, t->started, sizeof *t->by_start, by_op_start, t->ops);
    memset(last, 0xff, (t->stream_count + 1ull) * sizeof *last); /* GT_NONE */
    for (uint32_t i = 0; i < t->started; i++) {
        struct gt_loaded_op *op = &t->ops[t->by_start[i]];

        op->before = last[op->stream];
        last[op->stream] = t->by_start[i];
    }
    free(last);
}

/* Host functions keep streams waiting, but are no work of the GPU. */
static void drop_host_functions(struct gt_loaded_run *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->started; i++)
        if (t->ops[t->by_start[i]].kind != GT_OP_HOST_FUNCTION)
            t->by_start[kept++] = t->by_start[i];
    t->started = kept;
    t->first_ps = kept > 0 ? t->ops[t->by_start[0]].start_ps : 0;
    for (uint32_t i = 0; i < kept; i++)
        if (t->ops[t->by_start[i]].end_ps > t->last_ps)
            t->last_ps = t->ops[t->by_start[i]].end_ps;
}

/* A thread's calls are numbered in the order in which it makes them. */
static void order_calls(struct gt_loaded_run *t)
{
    uint32_t *next;

    t->thread_first = gt_calloc(t->thread_count + 2ull, sizeof *t->thread_first);
    t->thread_calls = gt_calloc(t->call_count + 1ull, sizeof *t->thread_calls);
    for (uint32_t i = 0; i < t->call_count; i++)
        t->thread_first[t->calls[i].thread + 1] += t->calls[i].there;
    for (uint32_t i = 0; i < t->thread_count; i++)
        t->thread_first[i + 1] += t->thread_first[i];
    next = gt_calloc(t->thread_count + 1ull, sizeof *next);
    for (uint32_t i = 0; i < t->call_count; i++) {
        gt_thread_index thread = t->calls[i].thread;

        if (t->calls[i].there)
            t->thread_calls[t->thread_first[thread] + next[thread]++] = i;
    }
    free(next);
}

/* Once all rows are there: operations by start, the one before each in its stream, each thread's calls, the makespan. */
static void loaded_run_order(struct gt_loaded_run *run)
{
    order_ops(run);
    drop_host_functions(run);
    order_calls(run);
}

enum { PLACE_NAME = 60 };

static int add_stream(void *user, const struct gt_stream_row *row, struct gt_error *error)
{
    struct gt_loading_run *loading = user;
    struct gt_loaded_run *t = loading->t;
    struct gt_loaded_stream *stream;

    (void)error;
    gt_array_grow(t->streams, t->stream_count, loading->stream_room);
    stream = &t->streams[t->stream_count++];
    *stream = (struct gt_loaded_stream){
        .gpu = row->gpu,
        .flags = row->flags,
        .priority = row->priority,
        .name =
            row->name != NULL ? gt_format("stream %s", row->name) : gt_format("stream %" PRId64, (int64_t)row->id),
    };
    if (stream->gpu >= t->gpu_count)
        t->gpu_count = stream->gpu + 1;
    return 0;
}

static int add_kernel(void *user, const char *name, const struct gt_kernel *shape, struct gt_error *error)
{
    struct gt_loading_run *loading = user;
    struct gt_loaded_run *t = loading->t;

    (void)error;
    gt_array_grow(t->kernels, t->kernel_count, loading->kernel_room);
    t->kernels[t->kernel_count++] = (struct gt_loaded_kernel){ .name = gt_strdup(name), .shape = *shape };
    return 0;
}

static int read_cluster(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t kernel = gt_loading_index(query, 0, loading->t->kernel_count);
    uint64_t side;

    for (int i = 0; i < 3 && kernel != GT_NONE; i++) {
        if (gt_query_number(query, 1 + i, GT_MOST_CLUSTER_BLOCKS, "cluster", &side, loading->error) != 0)
            return -1;
        loading->t->kernels[kernel].shape.cluster[i] = (uint32_t)side;
    }
    return 0;
}

/* Stores of older versions have no clusters. */
static int read_clusters(struct gt_loading_run *loading)
{
    int64_t tables = 0;

    if (gt_query_one(loading->database, "SELECT count(*) FROM sqlite_master WHERE name = 'kernel_cluster'", 0, 0,
                     &tables, loading->error) < 0)
        return -1;
    return tables == 0 ? 0
                       : gt_loading_rows(loading,
                                         "SELECT kernel_no, cluster_x, cluster_y, cluster_z FROM kernel_cluster"
                                         " WHERE trace_id = ?1 ORDER BY kernel_no",
                                         loading->t->trace_id, read_cluster);
}

static int read_collective(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t kernel = gt_loading_index(query, 0, loading->t->kernel_count);
    const char *kind = gt_query_string(query, 1);

    for (uint8_t i = GT_COLLECTIVE_NONE + 1; i < GT_COLLECTIVE_KINDS && kernel != GT_NONE && kind != NULL; i++)
        if (strcmp(kind, gt_collective_kind_names[i]) == 0)
            loading->t->kernels[kernel].shape.collective.kind = i;
    return 0;
}

/* Stores of older versions do not tell collectives. */
static int read_collectives(struct gt_loading_run *loading)
{
    int64_t tables = 0;

    if (gt_query_one(loading->database, "SELECT count(*) FROM sqlite_master WHERE name = 'kernel_collective'", 0, 0,
                     &tables, loading->error) < 0)
        return -1;
    return tables == 0
               ? 0
               : gt_loading_rows(
                     loading, "SELECT kernel_no, kind FROM kernel_collective WHERE trace_id = ?1 ORDER BY kernel_no",
                     loading->t->trace_id, read_collective);
}

static int read_thread(struct gt_loading_run *loading, struct gt_query *query)
{
    static const char kind[] = "thread ";
    struct gt_loaded_run *t = loading->t;
    const char *name = gt_query_string(query, 2);

    if (gt_loading_numbered(loading, query, t->thread_count, "thread") != 0)
        return -1;
    t->processes = gt_realloc(t->processes, t->thread_count + 1ull, sizeof *t->processes);
    t->processes[t->thread_count] = (uint64_t)gt_query_integer(query, 3);
    gt_array_grow(t->threads, t->thread_count, loading->thread_room);
    if (name == NULL)
        t->threads[t->thread_count++] = gt_format("%s%" PRId64, kind, gt_query_integer(query, 1));
    else /* profilers' names may say it themselves */
        t->threads[t->thread_count++] = gt_format("%s%s", strncmp(name, kind, strlen(kind)) == 0 ? "" : kind, name);
    return 0;
}

/* Few names stand for many calls: the last ones are looked at first. */
static uint32_t intern(struct gt_loading_run *loading, const char *name)
{
    enum { LOOKED = 64 };
    struct gt_loaded_run *t = loading->t;

    for (uint32_t i = t->name_count, looked = 0; i-- > 0 && looked < LOOKED; looked++)
        if (strcmp(t->names[i], name) == 0)
            return i;
    gt_array_grow(t->names, t->name_count, loading->name_room);
    t->names[t->name_count] = gt_strdup(name);
    return t->name_count++;
}

static int read_call(struct gt_loading_run *loading, struct gt_query *query)
{
    struct gt_loaded_run *t = loading->t;
    struct gt_loaded_call *call;
    const char *name = gt_query_string(query, 3), *kind = gt_query_string(query, 2);

    if (gt_loading_numbered(loading, query, t->call_count, "call") != 0)
        return -1;
    gt_array_grow(t->calls, t->call_count, loading->call_room);
    call = &t->calls[t->call_count++];
    *call = (struct gt_loaded_call){
        .thread = gt_loading_index(query, 1, t->thread_count),
        .kind = gt_loading_word(query, 2, gt_call_kind_names, GT_CALL_KINDS),
        .stream = gt_loading_index(query, 4, t->stream_count),
        .cause_op = GT_NONE,
        .range = GT_NONE,
    };
    call->name = intern(loading, name != NULL ? name : kind != NULL ? kind : "call");
    if (call->thread == GT_NONE)
        return gt_error_set(loading->error, "call %" PRIu32 " has no thread; the store is damaged",
                            t->call_count - 1);
    return 0;
}

static int read_op(struct gt_loading_run *loading, struct gt_query *query)
{
    struct gt_loaded_run *t = loading->t;
    struct gt_loaded_op *op;

    if (gt_loading_numbered(loading, query, t->op_count, "operation") != 0)
        return -1;
    gt_array_grow(t->ops, t->op_count, loading->op_room);
    op = &t->ops[t->op_count++];
    *op = (struct gt_loaded_op){
        .call = gt_loading_index(query, 1, t->call_count),
        .kind = gt_loading_word(query, 2, gt_op_kind_names, GT_OP_KINDS),
        .stream = gt_loading_index(query, 3, t->stream_count),
        .kernel = gt_loading_index(query, 4, t->kernel_count),
        .direction = gt_loading_word(query, 5, gt_direction_names, GT_DIRECTIONS),
        .memory = gt_loading_word(query, 6, gt_memory_names, GT_MEMORIES),
        .bytes = (uint64_t)gt_query_integer(query, 7),
        .cause_call = GT_NONE,
        .cause_op = GT_NONE,
        .before = GT_NONE,
    };
    if (op->stream != GT_NONE && op->call != GT_NONE && op->kind != GT_OP_KINDS &&
        (op->kernel != GT_NONE || op->kind != GT_OP_KERNEL))
        return 0;
    return gt_error_set(loading->error,
                        "operation %" PRIu32 " has no valid call, stream, kernel or kind; the store is damaged",
                        t->op_count - 1);
}

static int read_run_call(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t number = gt_loading_index(query, 0, loading->t->call_count);
    struct gt_loaded_call *call;

    if (number == GT_NONE)
        return gt_error_set(loading->error, "the run has a call that is missing in the trace; the store is damaged");
    call = &loading->t->calls[number];
    call->there = true;
    call->blocked_ps = (gt_time_ps)gt_query_integer(query, 3);
    call->cause_op = gt_loading_index(query, 4, loading->t->op_count);
    return gt_query_span(query, 1, "call", number, &call->start_ps, &call->end_ps, loading->error);
}

static int read_run_op(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t number = gt_loading_index(query, 0, loading->t->op_count);
    struct gt_loaded_op *op;

    if (number == GT_NONE)
        return gt_error_set(loading->error,
                            "the run has an operation that is missing in the trace; the store is damaged");
    op = &loading->t->ops[number];
    op->there = true;
    for (int i = 0; i < GT_WAITS && loading->t->simulated; i++)
        if (gt_query_number(query, 4 + i, GT_TIME_LIMIT_PS, "wait", &op->wait_ps[i], loading->error) != 0)
            return -1;
    op->cause_call = gt_loading_index(query, 4 + GT_WAITS, loading->t->call_count);
    op->cause_op = gt_loading_index(query, 5 + GT_WAITS, loading->t->op_count);
    op->submit_ps = (gt_time_ps)gt_query_integer(query, 3);
    return gt_query_span(query, 1, "operation", number, &op->start_ps, &op->end_ps, loading->error);
}

static int read_work(struct gt_loading_run *loading, struct gt_query *query)
{
    struct gt_loaded_run *t = loading->t;
    uint32_t op = gt_loading_index(query, 0, t->op_count);
    uint8_t precision = gt_loading_word(query, 1, gt_precision_names, GT_PRECISIONS);
    double flops = gt_query_real(query, 2), bytes = gt_query_real(query, 3);

    if (op == GT_NONE || precision == GT_PRECISIONS || !(flops >= 0 && flops <= DBL_MAX) ||
        !(bytes >= 0 && bytes <= DBL_MAX))
        return gt_error_set(loading->error,
                            "profiled_work has a row that is of no launch or no number; the store is damaged");
    if (t->profiled == NULL)
        t->profiled = gt_calloc(t->op_count, sizeof *t->profiled);
    t->profiled[op] = (struct gt_work){ .precision = (enum gt_precision)precision, .flops = flops, .bytes = bytes };
    return 0;
}

/* Stores of older versions do not have it. */
static int read_profiled_work(struct gt_loading_run *loading)
{
    int64_t tables = 0;

    if (gt_query_one(loading->database, "SELECT count(*) FROM sqlite_master WHERE name = 'profiled_work'", 0, 0,
                     &tables, loading->error) < 0)
        return -1;
    return tables == 0
               ? 0
               : gt_loading_rows(loading,
                                 "SELECT op_no, precision, flops, dram_bytes FROM profiled_work WHERE trace_id = ?1",
                                 loading->t->trace_id, read_work);
}

static int load_rows(struct gt_loading_run *loading)
{
    struct gt_loaded_run *t = loading->t;

    if (gt_stored_device(loading->database, t->run_id, &t->device, loading->error) != 0 ||
        gt_trace_streams(loading->database, t->trace_id, add_stream, loading, loading->error) != 0 ||
        gt_trace_kernels(loading->database, t->trace_id, add_kernel, loading, loading->error) != 0 ||
        read_clusters(loading) != 0 || read_collectives(loading) != 0 ||
        gt_loading_rows(loading,
                        "SELECT thread_no, id, name, process FROM thread WHERE trace_id = ?1 ORDER BY thread_no",
                        t->trace_id, read_thread) != 0 ||
        gt_loading_rows(loading,
                        "SELECT call_no, thread_no, kind, name, stream_no FROM call WHERE trace_id = ?1"
                        " ORDER BY call_no",
                        t->trace_id, read_call) != 0 ||
        gt_loading_ranges(loading) != 0 ||
        gt_loading_rows(loading,
                        "SELECT op_no, call_no, kind, stream_no, kernel_no, direction, memory, bytes FROM op"
                        " WHERE trace_id = ?1 ORDER BY op_no",
                        t->trace_id, read_op) != 0 ||
        read_profiled_work(loading) != 0 ||
        gt_loading_rows(loading,
                        "SELECT call_no, start_ps, end_ps, blocked_ps, cause_op FROM run_call WHERE run_id = ?1"
                        " ORDER BY call_no",
                        t->run_id, read_run_call) != 0 ||
        gt_loading_rows(loading,
                        "SELECT op_no, start_ps, end_ps, submit_ps, wait_host_ps, wait_stream_ps, wait_event_ps,"
                        " wait_queue_ps, wait_engine_ps, wait_resource_ps, cause_call, cause_op FROM run_op"
                        " WHERE run_id = ?1 ORDER BY op_no",
                        t->run_id, read_run_op) != 0)
        return -1;
    loaded_run_order(t);
    gt_host_time_find(t);
    return 0;
}

/* By its file, rather than by its name. */
static int find_file(struct gt_loaded_run *t, struct gt_database *database, struct gt_error *error)
{
    char *path;

    if (gt_store_find_trace_file(database, t->trace_id, &path, error) != 0)
        return -1;
    if (path == NULL)
        return 0;
    free(t->asked);
    t->asked = path;
    return 0;
}

static int find_model(struct gt_loaded_run *t, struct gt_database *database, struct gt_error *error)
{
    int64_t count = 0;
    int status =
        gt_query_one(database, "SELECT 1 FROM warning WHERE trace_id = ?1 AND kind = '" GT_WARNING_UNMODELLED "'",
                     t->trace_id, 0, &count, error);

    t->gpu_unmodelled = status == 1;
    return status < 0 ? -1 : 0;
}

struct gt_loaded_run *gt_loaded_run_load(struct gt_database *database, int64_t run_id, struct gt_error *error)
{
    struct gt_loaded_run *t = gt_calloc(1, sizeof *t);
    struct gt_loading_run loading = { .t = t, .database = database, .error = error };
    struct gt_run_head head;
    int result = gt_run_head(database, run_id, &head, error);

    t->run_id = run_id;
    t->part.all = true;
    if (result == 0) {
        t->trace_id = head.trace_id;
        t->options = head.options;
        t->trace = head.trace;
        t->simulated = head.simulated;
        t->asked = head.base;
        result = find_file(t, database, error) == 0 && find_model(t, database, error) == 0 ? load_rows(&loading) : -1;
        free(head.device);
    }
    if (result == 0)
        return t;
    gt_loaded_run_free(t);
    return NULL;
}

void gt_loaded_run_free(struct gt_loaded_run *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->stream_count; i++)
        free(t->streams[i].name);
    for (uint32_t i = 0; i < t->kernel_count; i++)
        free(t->kernels[i].name);
    for (uint32_t i = 0; i < t->thread_count; i++)
        free(t->threads[i]);
    for (uint32_t i = 0; i < t->name_count; i++)
        free(t->names[i]);
    for (uint32_t i = 0; i < t->range_count; i++) {
        free(t->ranges[i].name);
        free(t->ranges[i].inputs);
    }
    free(t->ranges);
    free(t->trace);
    free(t->options);
    free(t->asked);
    free(t->ops);
    free(t->calls);
    free(t->streams);
    free(t->kernels);
    free(t->threads);
    free(t->processes);
    free(t->marks);
    free(t->first_mark);
    free(t->names);
    free(t->profiled);
    free(t->by_start);
    free(t->thread_calls);
    free(t->thread_first);
    gt_selection_free(&t->part);
    free(t->part_calls);
    free(t);
}

void gt_loaded_op_name(const struct gt_loaded_run *t, gt_op_index index, char *text, size_t bytes)
{
    const struct gt_loaded_op *op = &t->ops[index];

    if (op->kind == GT_OP_KERNEL)
        snprintf(text, bytes, "%s", t->kernels[op->kernel].name);
    else if (op->kind == GT_OP_COPY)
        snprintf(text, bytes, "copy %s %s", op->direction < GT_DIRECTIONS ? gt_direction_names[op->direction] : "",
                 op->memory < GT_MEMORIES ? gt_memory_names[op->memory] : "");
    else
        snprintf(text, bytes, "%s", gt_op_kind_names[op->kind]);
}

void gt_loaded_op_place(const struct gt_loaded_run *t, gt_op_index index, char *text, size_t bytes)
{
    const struct gt_loaded_op *op = &t->ops[index];
    char name[PLACE_NAME + 8], *brief;

    if (op->kind == GT_OP_KERNEL) {
        brief = gt_short_name(t->kernels[op->kernel].name, PLACE_NAME);
        snprintf(text, bytes, "%s in %s", brief, t->streams[op->stream].name);
        free(brief);
        return;
    }
    gt_loaded_op_name(t, index, name, sizeof name);
    snprintf(text, bytes, "%s in %s", name, t->streams[op->stream].name);
}
