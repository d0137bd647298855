/* The critical path: from the last operation's end back through what let each thing happen.
 *
 * The walk holds a moment and what ran just before it: an operation or a host call.  An
 * operation's start was let by another's end or by a call; a blocked call's return by an
 * operation; otherwise a call follows the call before it on its thread.  Each step moves the
 * moment back and writes the stretch passed, so the stretches add up to the whole.
 */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "traces/stats/internal.h"

struct path_op {
    uint32_t op, call, cause_op, cause_call;
    gt_time_ps submit_ps, start_ps, end_ps; /* submit: GT_TIME_NONE where not known */
    uint32_t part;
};

struct path_call {
    uint32_t call, cause_op;
    gt_time_ps start_ps, end_ps, blocked_ps;
    uint32_t part;
};

struct part_key { /* of a part, while the walk lasts */
    char *text;   /* the kind as one character, then the name */
    uint32_t part;
    UT_hash_handle hh;
};

struct walk {
    struct gt_stats_work *work;
    struct gt_error *error;
    struct gt_query *op_query, *call_query;
    uint32_t *call_before; /* by call: the one before it on its thread, or GT_NONE */
    size_t calls;
    struct part_key *parts;
    size_t part_room;
    gt_time_ps origin_ps, now_ps;
    enum { AT_NOTHING, AT_OP, AT_CALL } at; /* what ran just before now */
    struct path_op op;
    struct path_call call;
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

/* The stretch from `from_ps` to now belongs to the part; now is `from_ps` afterwards. */
static int pass(struct walk *walk, gt_time_ps from_ps, uint32_t part, uint32_t op, uint32_t call)
{
    struct gt_stats *stats = walk->work->stats;
    struct gt_stats_path_part *sums = &stats->path[part];

    if (from_ps < walk->origin_ps)
        from_ps = walk->origin_ps;
    if (from_ps >= walk->now_ps)
        return 0;
    sums->segments++;
    sums->total_ps += walk->now_ps - from_ps;
    stats->path_segments++;
    walk->now_ps = from_ps;
    return gt_path_file_add(stats->path_file, from_ps, part, op, call, walk->error);
}

static uint32_t index_column(struct gt_query *query, int column)
{
    int64_t value = gt_query_integer(query, column);

    return gt_query_absent(query, column) || value < 0 || value >= GT_NONE ? GT_NONE : (uint32_t)value;
}

/* The row of a number, as ?3: 1 found, 0 not, -1. */
static int look_up(struct walk *walk, struct gt_query *query, uint32_t number)
{
    gt_query_rewind(query);
    gt_query_bind(query, 3, number);
    return number == GT_NONE ? 0 : gt_query_next(query, walk->error);
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

static int read_op(struct walk *walk, uint32_t number, struct path_op *op)
{
    struct gt_query *query = walk->op_query;
    int result = look_up(walk, query, number);

    if (result != 1)
        return result;
    if (gt_query_span(query, 1, "operation", number, &op->start_ps, &op->end_ps, walk->error) != 0)
        return -1;
    op->op = number;
    op->submit_ps = gt_query_absent(query, 0) ? GT_TIME_NONE : (gt_time_ps)gt_query_integer(query, 0);
    op->cause_call = index_column(query, 3);
    op->cause_op = index_column(query, 4);
    op->call = index_column(query, 5);
    op->part = op_part(walk, query);
    return 1;
}

static int read_call(struct walk *walk, uint32_t number, struct path_call *call)
{
    struct gt_query *query = walk->call_query;
    int result = look_up(walk, query, number);
    const char *kind, *name;

    if (result != 1)
        return result;
    if (gt_query_span(query, 0, "call", number, &call->start_ps, &call->end_ps, walk->error) != 0 ||
        gt_query_number(query, 2, GT_TIME_LIMIT_PS, "blocked_ps", &call->blocked_ps, walk->error) != 0)
        return -1;
    call->call = number;
    call->cause_op = index_column(query, 3);
    kind = gt_query_string(query, 4);
    name = gt_query_string(query, 5);
    if (kind != NULL && strcmp(kind, gt_call_kind_names[GT_CALL_HOST_WORK]) == 0)
        call->part = part_of(walk, GT_PATH_HOST_WORK, "");
    else
        call->part = part_of(walk, GT_PATH_API, name != NULL ? name : kind != NULL ? kind : "");
    return 1;
}

static gt_time_ps earlier(gt_time_ps a, gt_time_ps b)
{
    return a < b ? a : b;
}

/* When a call had asked for the operation: inside the call, and not after now. */
static gt_time_ps asked_at(const struct walk *walk, const struct path_op *op, const struct path_call *call)
{
    gt_time_ps asked_ps = call->end_ps;

    if (op->call == call->call && op->submit_ps != GT_TIME_NONE && op->submit_ps >= call->start_ps)
        asked_ps = earlier(op->submit_ps, call->end_ps);
    return earlier(asked_ps, walk->now_ps);
}

static int step_op(struct walk *walk)
{
    struct path_op op = walk->op, before;
    struct path_call call;
    int result;

    walk->at = AT_NOTHING;
    if (pass(walk, op.start_ps, op.part, op.op, GT_NONE) != 0)
        return -1;
    result = read_op(walk, op.cause_op, &before);
    if (result == 1) {
        walk->at = AT_OP;
        walk->op = before;
        return pass(walk, before.end_ps, part_of(walk, GT_PATH_GAP, ""), op.op, GT_NONE);
    }
    if (result == 0)
        result = read_call(walk, op.cause_call, &call);
    if (result != 1)
        return result;
    walk->at = AT_CALL;
    walk->call = call;
    return pass(walk, asked_at(walk, &op, &call), part_of(walk, GT_PATH_LAUNCH, ""), op.op, call.call);
}

/* Back to the call before on the same thread; before a thread's first call it was at its own work. */
static int step_thread(struct walk *walk)
{
    struct path_call before = { 0 };
    uint32_t own_work = part_of(walk, GT_PATH_HOST_WORK, ""), number = walk->call.call;
    int result = 0;

    walk->at = AT_NOTHING;
    while (result == 0 && number < walk->calls && (number = walk->call_before[number]) != GT_NONE)
        result = read_call(walk, number, &before);
    if (result < 0)
        return -1;
    if (result == 0)
        return pass(walk, walk->origin_ps, own_work, GT_NONE, GT_NONE);
    walk->at = AT_CALL;
    walk->call = before;
    return pass(walk, before.end_ps, own_work, GT_NONE, GT_NONE);
}

static int step_call(struct walk *walk)
{
    const struct path_call call = walk->call;
    struct path_op releaser;
    int result = call.blocked_ps > 0 ? read_op(walk, call.cause_op, &releaser) : 0;

    if (result < 0)
        return -1;
    if (result == 1 && releaser.end_ps >= call.start_ps && releaser.end_ps <= walk->now_ps) {
        walk->at = AT_OP;
        walk->op = releaser;
        return pass(walk, releaser.end_ps, call.part, GT_NONE, call.call);
    }
    if (pass(walk, call.start_ps, call.part, GT_NONE, call.call) != 0)
        return -1;
    return step_thread(walk);
}

/* The limit is of a damaged store, whose causes may run in a circle: a sound walk meets an
 * operation once, and a call once and once for each operation that it let start. */
static int walk_back(struct walk *walk)
{
    uint64_t steps_left = 2 * walk->work->stats->summary.operations + walk->calls + 1;

    while (walk->now_ps > walk->origin_ps && walk->at != AT_NOTHING && steps_left-- > 0)
        if ((walk->at == AT_OP ? step_op(walk) : step_call(walk)) != 0)
            return -1;
    if (walk->now_ps > walk->origin_ps)
        return pass(walk, walk->origin_ps, part_of(walk, GT_PATH_UNKNOWN, ""), GT_NONE, GT_NONE);
    return 0;
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
            result = gt_error_set(error, "call %zu is missing or of no thread; the store is damaged", walk->calls);
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

/* Where the walk begins and how far back it goes. 1: there is a path; 0: not; -1. */
static int find_ends(struct walk *walk)
{
    struct gt_stats *stats = walk->work->stats;
    struct gt_query *query = gt_stats_query(walk->work,
                                            "SELECT min(start_ps), (SELECT call_no FROM run_call"
                                            " WHERE run_id = ?1 ORDER BY end_ps DESC, call_no DESC LIMIT 1)"
                                            " FROM run_call WHERE run_id = ?1",
                                            walk->error);
    bool calls = query != NULL && gt_query_next(query, walk->error) == 1 && !gt_query_absent(query, 0);
    uint32_t last_call = calls ? index_column(query, 1) : GT_NONE;
    int result = query == NULL ? -1 : 0;

    if (calls && gt_query_number(query, 0, GT_TIME_LIMIT_PS, "start_ps", &walk->origin_ps, walk->error) != 0)
        result = -1;
    gt_query_end(query);
    if (result == 0 && stats->summary.operations > 0) {
        if (!calls || stats->summary.start_ps < walk->origin_ps)
            walk->origin_ps = stats->summary.start_ps;
        walk->at = AT_OP;
        result = read_op(walk, walk->work->last_op, &walk->op);
        walk->now_ps = walk->op.end_ps;
    } else if (result == 0 && calls) {
        walk->at = AT_CALL;
        result = read_call(walk, last_call, &walk->call);
        walk->now_ps = walk->call.end_ps;
    }
    stats->path_start_ps = walk->origin_ps;
    stats->path_end_ps = walk->now_ps;
    return result;
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

static int open_queries(struct walk *walk)
{
    walk->op_query =
        gt_stats_query(walk->work,
                       "SELECT r.submit_ps, r.start_ps, r.end_ps, r.cause_call, r.cause_op, o.call_no, o.kind,"
                       " o.kernel_no, o.direction FROM run_op r JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no"
                       " WHERE r.run_id = ?1 AND r.op_no = ?3",
                       walk->error);
    walk->call_query = gt_stats_query(walk->work,
                                      "SELECT r.start_ps, r.end_ps, r.blocked_ps, r.cause_op, c.kind, c.name"
                                      " FROM run_call r JOIN call c ON c.trace_id = ?2 AND c.call_no = r.call_no"
                                      " WHERE r.run_id = ?1 AND r.call_no = ?3",
                                      walk->error);
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
    struct walk walk = { .work = work, .error = error };
    int known = has_causes(work, error), result = known < 0 ? -1 : 0;

    if (known == 0)
        gt_stats_note(work->stats, "critical_path", "not known: the run does not say what let each thing start");
    if (known == 1) {
        work->stats->path_file = gt_path_file_new(error);
        if (work->stats->path_file == NULL || load_threads(&walk, error) != 0 || open_queries(&walk) != 0)
            result = -1;
        else if ((result = find_ends(&walk)) == 1)
            result = walk_back(&walk);
        if (result == 0)
            result = gt_path_file_finish(work->stats, error);
    }
    close_walk(&walk);
    return result;
}
