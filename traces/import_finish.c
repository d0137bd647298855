/* import_finish.c - from a profile's gathered rows to a workload: join, nest, order. */
#include "traces/import_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finish {
    struct gt_import *import;
    uint32_t *by_key;           /* calls by (process, correlation), the outermost of equals first */
    uint32_t keyed;
    uint32_t *into;             /* the call that a call lies within; GT_NONE: it is kept */
    uint32_t *order;            /* the calls kept, in the workload's order */
    uint32_t kept;
    uint32_t *op_order;         /* operations grouped by call, in that order */
    uint32_t *first_op;         /* of each gathered call, in op_order; the next one's is its end */
    int64_t origin_ns;
};

/* Indexes 0..count-1 in the order of `compare`, which sees two indexes and `finish`. */
static uint32_t *sorted_indexes(struct finish *finish, uint32_t count,
                                int (*compare)(const void *, const void *, void *))
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);
    bool sorted = true;

    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = i;
        if (i > 0 && sorted)
            sorted = compare(&indexes[i - 1], &indexes[i], finish) <= 0;
    }
    if (!sorted)
        qsort_r(indexes, count, sizeof *indexes, compare, finish);
    return indexes;
}

#define ORDER(a, b) do { if ((a) != (b)) return (a) < (b) ? -1 : 1; } while (0)

static int compare_keys(const void *left, const void *right, void *user)
{
    const struct finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    ORDER(a->process, b->process);
    ORDER(a->correlation, b->correlation);
    ORDER(a->start_ns, b->start_ns);
    ORDER(b->end_ns, a->end_ns);
    ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

static int compare_within_threads(const void *left, const void *right, void *user)
{
    const struct finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    ORDER(a->thread, b->thread);
    ORDER(a->start_ns, b->start_ns);
    ORDER(b->end_ns, a->end_ns);
    ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

static int compare_starts(const void *left, const void *right, void *user)
{
    const struct finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    ORDER(a->start_ns, b->start_ns);
    ORDER(a->thread, b->thread);
    ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

static int compare_ops(const void *left, const void *right, void *user)
{
    const struct finish *finish = user;
    const struct gt_import_op *a = &finish->import->ops[*(const uint32_t *)left];
    const struct gt_import_op *b = &finish->import->ops[*(const uint32_t *)right];

    ORDER(a->start_ns, b->start_ns);
    ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

/* The gathered call of a key, the outermost one; GT_NONE when there is none. */
static uint32_t find_call(const struct finish *finish, uint64_t process, uint64_t correlation)
{
    uint32_t low = 0, high = finish->keyed;

    if (correlation == GT_NO_CORRELATION)
        return GT_NONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_import_call *call = &finish->import->calls[finish->by_key[middle]];

        if (call->process < process || (call->process == process && call->correlation < correlation))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < finish->keyed) {
        const struct gt_import_call *call = &finish->import->calls[finish->by_key[low]];

        if (call->process == process && call->correlation == correlation)
            return finish->by_key[low];
    }
    return GT_NONE;
}

/* What the outer of two nested calls does not know itself, it learns from the inner one. */
static void learn(struct gt_import_call *call, uint32_t stream, uint32_t event)
{
    if (call->stream == GT_NONE)
        call->stream = stream;
    if (call->event == GT_NONE)
        call->event = event;
}

static void give_targets(struct finish *finish)
{
    struct gt_import *import = finish->import;

    for (uint32_t i = 0; i < import->target_count; i++) {
        const struct gt_import_target *target = &import->targets[i];
        uint32_t call = find_call(finish, target->process, target->correlation);

        if (call != GT_NONE)
            learn(&import->calls[call], target->stream, target->event);
    }
    free(import->targets);
    import->targets = NULL;
    import->target_count = import->target_room = 0;
}

static void drop_nested(struct finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t *order = sorted_indexes(finish, import->call_count, compare_within_threads);
    uint32_t outer = GT_NONE;
    uint64_t cut = 0;

    finish->into = gt_realloc(NULL, import->call_count + 1ull, sizeof *finish->into);
    for (uint32_t i = 0; i < import->call_count; i++) {
        struct gt_import_call *call = &import->calls[order[i]];
        struct gt_import_call *around = outer == GT_NONE ? NULL : &import->calls[outer];

        finish->into[order[i]] = GT_NONE;
        if (around != NULL && around->thread == call->thread && call->start_ns < around->end_ns) {
            if (call->end_ns <= around->end_ns) {
                finish->into[order[i]] = outer;
                if (around->kind == GT_CALL_OTHER) {
                    around->kind = call->kind;
                    around->flags |= call->flags;
                }
                learn(around, call->stream, call->event);
                continue;
            }
            around->end_ns = call->start_ns;
            cut++;
        }
        outer = order[i];
    }
    free(order);
    gt_workload_warn(import->workload, "overlapping-calls", cut,
                     "calls of one thread overlapped without being nested; the earlier one was cut");
}

/* A thread that stands for the missing callers of a stream's operations. */
static uint32_t pseudo_thread(struct gt_import *import, uint32_t *threads, uint32_t stream)
{
    struct gt_workload *workload = import->workload;

    if (threads[stream] == GT_NONE) {
        const struct gt_stream *of = &workload->streams[stream];
        char name[96];
        int length = snprintf(name, sizeof name, "unseen caller of gpu %u context %u stream %llu",
                              workload->gpus[of->gpu].id, of->context, (unsigned long long)of->id);
        uint32_t thread = gt_workload_add_thread(workload);

        workload->threads[thread].id = stream;
        workload->threads[thread].name = gt_name(workload, name, (size_t)length);
        threads[stream] = thread;
    }
    return threads[stream];
}

static const enum gt_call_kind call_kind_of_op[GT_OP_KINDS] = {
    [GT_OP_KERNEL] = GT_CALL_LAUNCH,
    [GT_OP_COPY] = GT_CALL_COPY,
    [GT_OP_MEMSET] = GT_CALL_MEMSET,
    [GT_OP_HOST_FUNCTION] = GT_CALL_HOST_FUNCTION,
};

/* Join every operation to its call, made up where there is none. */
static void give_calls(struct finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t streams = import->workload->stream_count;
    uint32_t *threads = gt_realloc(NULL, streams + 1ull, sizeof *threads);
    uint64_t inferred = 0;

    memset(threads, 0xff, streams * sizeof *threads);
    for (uint32_t i = 0; i < import->op_count; i++) {
        struct gt_import_op *op = &import->ops[i];
        uint32_t call = find_call(finish, op->process, op->correlation);

        if (call != GT_NONE && finish->into[call] != GT_NONE)
            call = finish->into[call];
        if (call == GT_NONE) {
            struct gt_import_call *added = gt_import_add_call(import);

            added->start_ns = added->end_ns = op->start_ns;
            added->thread = pseudo_thread(import, threads, op->stream);
            added->kind = call_kind_of_op[op->kind];
            added->flags = GT_CALL_INFERRED;
            call = import->call_count - 1;
            inferred++;
        }
        op->call = call;
    }
    free(threads);
    gt_workload_warn(import->workload, "calls-missing", inferred,
                     "operations without the call that asked for them; one was put at each one's start");
}

/* The calls kept, by start; a thread's own order stays. */
static void order_calls(struct finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t nested = finish->keyed;    /* calls added since are none */
    uint32_t *order = sorted_indexes(finish, import->call_count, compare_starts);

    finish->kept = 0;
    for (uint32_t i = 0; i < import->call_count; i++) {
        if (order[i] >= nested || finish->into[order[i]] == GT_NONE)
            order[finish->kept++] = order[i];
    }
    finish->order = order;
}

/* Operations grouped by call; those of one call by start. */
static void order_ops(struct finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t *next = gt_calloc(import->call_count + 1ull, sizeof *next);

    finish->op_order = gt_realloc(NULL, import->op_count + 1ull, sizeof *finish->op_order);
    for (uint32_t i = 0; i < import->op_count; i++)
        next[import->ops[i].call + 1]++;
    for (uint32_t i = 0; i < import->call_count; i++)
        next[i + 1] += next[i];
    finish->first_op = gt_realloc(NULL, import->call_count + 1ull, sizeof *next);
    memcpy(finish->first_op, next, (import->call_count + 1ull) * sizeof *next);
    for (uint32_t i = 0; i < import->op_count; i++)
        finish->op_order[next[import->ops[i].call]++] = i;
    free(next);
    for (uint32_t i = 0; i < import->call_count; i++) {
        uint32_t ops = finish->first_op[i + 1] - finish->first_op[i];

        if (ops > 1)
            qsort_r(&finish->op_order[finish->first_op[i]], ops, sizeof *finish->op_order, compare_ops, finish);
    }
}

/* What a kind of call must name, and how its lack is counted. */
static const struct target_rule {
    bool stream, event;
    const char *warning, *text;
} target_rules[GT_CALL_KINDS] = {
    [GT_CALL_STREAM_SYNC] = {true, false, "stream-syncs-unknown",
                             "stream synchronisations whose stream was not recorded"},
    [GT_CALL_STREAM_QUERY] = {true, false, "stream-queries-unknown",
                              "stream queries whose stream was not recorded"},
    [GT_CALL_EVENT_RECORD] = {true, true, "event-records-unknown",
                              "event records whose stream or event was not recorded"},
    [GT_CALL_EVENT_WAIT] = {true, true, "event-waits-unknown",
                            "stream waits whose stream or event was not recorded"},
    [GT_CALL_EVENT_QUERY] = {false, true, "event-queries-unknown",
                             "event queries whose event was not recorded"},
    [GT_CALL_EVENT_SYNC] = {false, true, "event-syncs-unknown",
                            "event synchronisations whose event was not recorded"},
};

static bool asks_for_operations(uint8_t kind)
{
    return kind == GT_CALL_LAUNCH || kind == GT_CALL_GRAPH_LAUNCH || kind == GT_CALL_COPY ||
           kind == GT_CALL_MEMSET || kind == GT_CALL_HOST_FUNCTION;
}

/* The kind that fits a call's operations. */
static enum gt_call_kind fitting_kind(const struct finish *finish, uint32_t number, uint32_t ops)
{
    const struct gt_import *import = finish->import;
    uint8_t kind = import->calls[number].kind;

    if (ops == 0)
        return asks_for_operations(kind) ? GT_CALL_OTHER : kind;
    if (ops > 1 || kind == GT_CALL_GRAPH_LAUNCH)
        return GT_CALL_GRAPH_LAUNCH;
    return call_kind_of_op[import->ops[finish->op_order[finish->first_op[number]]].kind];
}

/* Settle what a call is: its kind, and whether what it means is known. */
static void settle(struct finish *finish, uint32_t number, struct gt_call *call)
{
    struct gt_workload *workload = finish->import->workload;
    uint8_t asked = finish->import->calls[number].kind;
    const struct target_rule *rule;

    call->kind = fitting_kind(finish, number, call->ops);
    if (call->kind != GT_CALL_COPY)
        call->flags &= ~GT_CALL_SYNCHRONOUS;
    if (call->ops > 0) {
        call->stream = finish->import->ops[finish->op_order[finish->first_op[number]]].stream;
        call->event = GT_NONE;
    } else if (call->kind == GT_CALL_OTHER) {
        call->stream = call->event = GT_NONE;
        gt_workload_warn(workload, "calls-without-operation", asks_for_operations(asked),
                         "launches, copies, memsets or host functions of which the GPU's part was not "
                         "recorded (or was put into a graph); they only take host time");
    }
    rule = &target_rules[call->kind];
    if ((rule->stream && call->stream == GT_NONE) || (rule->event && call->event == GT_NONE)) {
        call->flags |= GT_CALL_TARGET_UNKNOWN;
        gt_workload_warn(workload, rule->warning, 1, rule->text);
    }
}

static int set_origin(struct finish *finish, const char *path, struct gt_error *error)
{
    const struct gt_import *import = finish->import;
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (uint32_t i = 0; i < import->call_count; i++) {
        first = import->calls[i].start_ns < first ? import->calls[i].start_ns : first;
        last = import->calls[i].end_ns > last ? import->calls[i].end_ns : last;
    }
    for (uint32_t i = 0; i < import->op_count; i++) {
        first = import->ops[i].start_ns < first ? import->ops[i].start_ns : first;
        last = import->ops[i].end_ns > last ? import->ops[i].end_ns : last;
    }
    finish->origin_ns = first;
    if (last > first && (uint64_t)last - (uint64_t)first > GT_TIME_LIMIT_PS / 1000)
        return gt_error_set(error, "%s: its times lie more than %llu days apart (%lld to %lld ns); "
                            "the file is damaged or mixes clocks", path,
                            (unsigned long long)(GT_TIME_LIMIT_PS / 1000000000000 / 86400),
                            (long long)first, (long long)last);
    return 0;
}

static gt_time_ps since_origin_ps(const struct finish *finish, int64_t time_ns)
{
    return ((uint64_t)time_ns - (uint64_t)finish->origin_ns) * 1000;
}

static void write_calls(struct finish *finish)
{
    struct gt_workload *workload = finish->import->workload;
    uint32_t first_op = 0;

    for (uint32_t i = 0; i < finish->kept; i++) {
        const struct gt_import_call *from = &finish->import->calls[finish->order[i]];
        uint32_t index = gt_workload_add_call(workload);    /* may move the calls */
        struct gt_call *call = &workload->calls[index];

        call->start_ps = since_origin_ps(finish, from->start_ns);
        call->duration_ps = since_origin_ps(finish, from->end_ns) - call->start_ps;
        call->thread = from->thread;
        call->name = from->name;
        call->stream = from->stream;
        call->event = from->event;
        call->flags = from->flags;
        call->first_op = first_op;
        call->ops = finish->first_op[finish->order[i] + 1] - finish->first_op[finish->order[i]];
        first_op += call->ops;
        settle(finish, finish->order[i], call);
    }
}

static void write_ops(struct finish *finish)
{
    struct gt_workload *workload = finish->import->workload;

    for (uint32_t i = 0; i < finish->kept; i++) {
        const uint32_t *next = &finish->op_order[finish->first_op[finish->order[i]]];

        for (uint32_t n = workload->calls[i].ops; n > 0; n--) {
            const struct gt_import_op *from = &finish->import->ops[*next++];
            uint32_t index = gt_workload_add_op(workload);
            struct gt_op *op = &workload->ops[index];

            op->start_ps = since_origin_ps(finish, from->start_ns);
            op->duration_ps = since_origin_ps(finish, from->end_ns) - op->start_ps;
            op->bytes = from->bytes;
            op->call = i;
            op->stream = from->stream;
            op->kernel = from->kernel;
            op->kind = from->kind;
            op->direction = from->direction;
            op->memory = from->memory;
            op->peer_gpu = from->peer_gpu;
        }
    }
}

struct gt_workload *gt_import_finish(struct gt_import *import, const char *path, struct gt_error *error)
{
    struct finish finish = { .import = import, .keyed = import->call_count };
    struct gt_workload *workload = NULL;

    if (set_origin(&finish, path, error) == 0) {
        finish.by_key = sorted_indexes(&finish, import->call_count, compare_keys);
        give_targets(&finish);
        drop_nested(&finish);
        give_calls(&finish);
        free(finish.by_key);
        order_calls(&finish);
        order_ops(&finish);
        write_calls(&finish);
        free(import->calls);        /* so that calls and operations are never all there twice */
        import->calls = NULL;
        import->call_count = import->call_room = 0;
        write_ops(&finish);
        free(finish.into);
        free(finish.order);
        free(finish.op_order);
        free(finish.first_op);
        if (gt_workload_check(import->workload, error) == 0) {
            workload = import->workload;
            workload->name = gt_import_stem(path);
            import->workload = NULL;
        } else {
            gt_error_prefix(error, "%s: ", path);
        }
    }
    return workload;
}
