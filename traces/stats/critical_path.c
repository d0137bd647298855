/* The critical path of a stored run: which kernels, copies and calls its stretches belong to. */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "sim/workload/critical_path.h"
#include "traces/stats/internal.h"

struct part_key { /* of a part, while the walk lasts */
    char *text;   /* the kind as one character, then the name */
    uint32_t part;
    UT_hash_handle hh;
};

struct walk {
    struct gt_stats_work *work;
    struct gt_query *op_query, *call_query;
    uint32_t *call_before; /* by call: the one before it on its thread, or GT_NONE */
    size_t calls;
    struct part_key *parts;
    size_t part_room;
    uint32_t op_part, call_part; /* of the operation and the call read last: the path goes through what it reads */
};

/* The part of that kind and name in stats->path; made where it is new. */
static uint32_t part_of(struct walk *walk, enum gt_path_kind kind, const char *name)
{
    struct gt_stats *stats = walk->work->stats;
    size_t bytes = strlen(name) + 2;
    char short_text[256], *text = bytes <= sizeof short_text ? short_text : gt_calloc(bytes, 1);
    struct part_key *key;

    text[0] = (char)('a' + (int)kind);
    memcpy(text + 1, name, bytes - 1);
    HASH_FIND(hh, walk->parts, text, bytes, key);
    if (key == NULL) {
        gt_array_grow(stats->path, stats->path_count, walk->part_room);
        key = gt_calloc(1, sizeof *key);
        key->text = strdup(text);
        key->part = (uint32_t)stats->path_count;
        HASH_ADD_KEYPTR(hh, walk->parts, key->text, bytes, key);
        stats->path[stats->path_count++] = (struct gt_stats_path_part){ .kind = kind, .name = strdup(name) };
    }
    if (text != short_text)
        free(text);
    return key->part;
}

static uint32_t index_column(struct gt_query *query, int column)
{
    int64_t value = gt_query_integer(query, column);

    return gt_query_absent(query, column) || value < 0 || value >= GT_NONE ? GT_NONE : (uint32_t)value;
}

/* The row of a number, as ?3: 1 found, 0 not, -1. */
static int look_up(struct gt_query *query, uint32_t number, struct gt_error *error)
{
    gt_query_rewind(query);
    gt_query_bind(query, 3, number);
    return gt_query_next(query, error);
}

/* The part that an operation's running time belongs to. */
static uint32_t op_part(struct walk *walk, struct gt_query *query)
{
    const char *kind = gt_query_string(query, 6);
    const char *direction = gt_query_string(query, 8);
    uint32_t kernel = index_column(query, 7);

    if (kind != NULL && strcmp(kind, gt_op_kind_names[GT_OP_COPY]) == 0)
        return part_of(walk, GT_PATH_COPY, direction != NULL ? direction : "");
    if (kind != NULL && strcmp(kind, gt_op_kind_names[GT_OP_MEMSET]) == 0)
        return part_of(walk, GT_PATH_MEMSET, "");
    if (kind != NULL && strcmp(kind, gt_op_kind_names[GT_OP_HOST_FUNCTION]) == 0)
        return part_of(walk, GT_PATH_HOST_FUNCTION, "");
    return part_of(walk, GT_PATH_KERNEL, kernel < walk->work->kernels ? walk->work->kernel_names[kernel] : "");
}

static int read_op(void *context, gt_op_index number, struct gt_path_op *op, struct gt_error *error)
{
    struct walk *walk = context;
    struct gt_query *query = walk->op_query;
    int result = look_up(query, number, error);

    if (result != 1)
        return result;
    if (gt_query_span(query, 1, "operation", number, &op->start_ps, &op->end_ps, error) != 0)
        return -1;
    op->op = number;
    op->submit_ps = gt_query_absent(query, 0) ? GT_TIME_NONE : (gt_time_ps)gt_query_integer(query, 0);
    op->cause_call = index_column(query, 3);
    op->cause_op = index_column(query, 4);
    op->call = index_column(query, 5);
    walk->op_part = op_part(walk, query);
    return 1;
}

static int read_call(void *context, gt_call_index number, struct gt_path_call *call, struct gt_error *error)
{
    struct walk *walk = context;
    struct gt_query *query = walk->call_query;
    int result = look_up(query, number, error);
    const char *kind, *name;

    if (result != 1)
        return result;
    if (gt_query_span(query, 0, "call", number, &call->start_ps, &call->end_ps, error) != 0 ||
        gt_query_number(query, 2, GT_TIME_LIMIT_PS, "blocked_ps", &call->blocked_ps, error) != 0)
        return -1;
    call->call = number;
    call->cause_op = index_column(query, 3);
    kind = gt_query_string(query, 4);
    name = gt_query_string(query, 5);
    if (kind != NULL && strcmp(kind, gt_call_kind_names[GT_CALL_HOST_WORK]) == 0)
        walk->call_part = part_of(walk, GT_PATH_HOST_WORK, "");
    else
        walk->call_part = part_of(walk, GT_PATH_API, name != NULL ? name : kind != NULL ? kind : "");
    return 1;
}

static uint32_t stretch_part(struct walk *walk, enum gt_stretch_kind kind)
{
    switch (kind) {
    case GT_STRETCH_OP: return walk->op_part;
    case GT_STRETCH_GAP: return part_of(walk, GT_PATH_GAP, "");
    case GT_STRETCH_LAUNCH: return part_of(walk, GT_PATH_LAUNCH, "");
    case GT_STRETCH_CALL:
    case GT_STRETCH_RETURN: return walk->call_part;
    case GT_STRETCH_HOST: return part_of(walk, GT_PATH_HOST_WORK, "");
    default: return part_of(walk, GT_PATH_UNKNOWN, "");
    }
}

static int tell(void *context, const struct gt_stretch *stretch, struct gt_error *error)
{
    struct walk *walk = context;
    struct gt_stats *stats = walk->work->stats;
    uint32_t part = stretch_part(walk, stretch->kind);
    struct gt_stats_path_part *sums = &stats->path[part];

    sums->segments++;
    sums->total_ps += stretch->to_ps - stretch->from_ps;
    stats->path_segments++;
    return gt_path_file_add(stats->path_file, stretch->from_ps, part, stretch->op, stretch->call, error);
}

/* One 4-byte number a call is all that the walk keeps in memory of the trace. */
static int load_threads(struct walk *walk, struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(walk->work,
                                            "SELECT call_no, thread_no FROM call WHERE trace_id = ?2"
                                            " ORDER BY call_no",
                                            error);
    uint32_t *last = NULL; /* by thread */
    size_t room = 0, threads = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        uint64_t thread;

        if ((size_t)gt_query_integer(query, 0) != walk->calls ||
            gt_query_number(query, 1, walk->calls + UINT16_MAX, "thread_no", &thread, error) != 0) {
            result = gt_error_set(error, "call %zu is missing or has no thread; the store is damaged", walk->calls);
            break;
        }
        gt_array_grow(walk->call_before, walk->calls, room);
        if (thread >= threads) {
            last = gt_realloc(last, thread + 1, sizeof *last);
            while (threads <= thread)
                last[threads++] = GT_NONE;
        }
        walk->call_before[walk->calls] = last[thread];
        last[thread] = (uint32_t)walk->calls++;
    }
    free(last);
    gt_query_end(query);
    return result;
}

/* From the first call or operation on, to the last operation or, without any, the last call. */
static int find_ends(const struct walk *walk, struct gt_path_run *run, struct gt_error *error)
{
    const struct gt_stats *stats = walk->work->stats;
    struct gt_query *query = gt_stats_query(walk->work,
                                            "SELECT min(start_ps), (SELECT call_no FROM run_call"
                                            " WHERE run_id = ?1 ORDER BY end_ps DESC, call_no DESC LIMIT 1)"
                                            " FROM run_call WHERE run_id = ?1",
                                            error);
    bool calls = query != NULL && gt_query_next(query, error) == 1 && !gt_query_absent(query, 0);
    int result = query == NULL ? -1 : 0;

    run->last_call = calls ? index_column(query, 1) : GT_NONE;
    run->last_op = stats->summary.operations > 0 ? walk->work->last_op : GT_NONE;
    if (calls && gt_query_number(query, 0, GT_TIME_LIMIT_PS, "start_ps", &run->origin_ps, error) != 0)
        result = -1;
    if (run->last_op != GT_NONE && (!calls || stats->summary.start_ps < run->origin_ps))
        run->origin_ps = stats->summary.start_ps;
    gt_query_end(query);
    return result;
}

static int walk_back(struct walk *walk, struct gt_error *error)
{
    struct gt_stats *stats = walk->work->stats;
    struct gt_path_run run = {
        .context = walk,
        .op = read_op,
        .call = read_call,
        .tell = tell,
        .call_before = walk->call_before,
        .operations = stats->summary.operations,
        .calls = walk->calls,
    };

    if (find_ends(walk, &run, error) != 0)
        return -1;
    stats->path_start_ps = run.origin_ps;
    return gt_critical_path(&run, &stats->path_end_ps, error);
}

/* Whether the run says what let things happen: a measured one does not. */
static int has_causes(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_query *query;
    int result;

    if (work->stats->run.simulated)
        return 1;
    query = gt_stats_query(work,
                           "SELECT 1 FROM run_op WHERE run_id = ?1"
                           " AND (cause_call IS NOT NULL OR cause_op IS NOT NULL) LIMIT 1",
                           error);
    result = query == NULL ? -1 : gt_query_next(query, error);
    gt_query_end(query);
    return result;
}

static int open_queries(struct walk *walk, struct gt_error *error)
{
    walk->op_query =
        gt_stats_query(walk->work,
                       "SELECT r.submit_ps, r.start_ps, r.end_ps, r.cause_call, r.cause_op, o.call_no, o.kind,"
                       " o.kernel_no, o.direction FROM run_op r JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no"
                       " WHERE r.run_id = ?1 AND r.op_no = ?3",
                       error);
    walk->call_query = gt_stats_query(walk->work,
                                      "SELECT r.start_ps, r.end_ps, r.blocked_ps, r.cause_op, c.kind, c.name"
                                      " FROM run_call r JOIN call c ON c.trace_id = ?2 AND c.call_no = r.call_no"
                                      " WHERE r.run_id = ?1 AND r.call_no = ?3",
                                      error);
    return walk->op_query == NULL || walk->call_query == NULL ? -1 : 0;
}

static void close_walk(struct walk *walk)
{
    struct part_key *key, *next;

    HASH_ITER(hh, walk->parts, key, next)
    {
        HASH_DEL(walk->parts, key);
        free(key->text);
        free(key);
    }
    gt_query_end(walk->op_query);
    gt_query_end(walk->call_query);
    free(walk->call_before);
}

int gt_stats_walk(struct gt_stats_work *work, struct gt_error *error)
{
    struct walk walk = { .work = work };
    int known = has_causes(work, error), result = known < 0 ? -1 : 0;

    if (known == 0)
        gt_stats_note(work->stats, "critical_path",
                      "unknown: the run does not record what each operation waited for");
    if (known == 1) {
        work->stats->path_file = gt_path_file_new(error);
        if (work->stats->path_file == NULL || load_threads(&walk, error) != 0 || open_queries(&walk, error) != 0 ||
            walk_back(&walk, error) != 0)
            result = -1;
        else
            result = gt_path_file_finish(work->stats, error);
    }
    close_walk(&walk);
    return result;
}
