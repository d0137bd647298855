/* finish.c - from a profile's joined rows to a workload: order, kinds, times. */
#include "sim/base/sort.h"
#include "sim/workload/ranges.h"
#include "traces/import/internal.h"

#include <stdlib.h>
#include <string.h>

#include "traces/io/data_path.h"

static int compare_starts(const void *left, const void *right, void *user)
{
    const struct gt_import_finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->thread, b->thread);
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

/* The calls kept, by start; a thread's own order stays. */
static void order_calls(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t nested = finish->keyed; /* calls added since are none */
    uint32_t *order = gt_import_sorted(finish, import->call_count, compare_starts);

    finish->kept = 0;
    for (uint32_t i = 0; i < import->call_count; i++) {
        if (order[i] >= nested || finish->into[order[i]] == GT_NONE)
            order[finish->kept++] = order[i];
    }
    finish->order = order;
}

/* Operations grouped by call; those of one call by start. */
static void order_ops(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t *next = gt_calloc(import->call_count + 1ull, sizeof *next);

    finish->first_op = next;
    finish->op_order = gt_realloc(NULL, import->op_count + 1ull, sizeof *finish->op_order);
    for (uint32_t i = 0; i < import->op_count; i++)
        next[import->ops[i].call + 1]++;
    for (uint32_t i = 0; i < import->call_count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < import->op_count; i++)
        finish->op_order[next[import->ops[i].call]++] = i;
    memmove(next + 1, next, import->call_count * sizeof *next); /* each was moved on to the one behind it */
    next[0] = 0;
    for (uint32_t i = 0; i < import->call_count; i++) {
        uint32_t ops = finish->first_op[i + 1] - finish->first_op[i];

        if (ops > 1)
            qsort_r(&finish->op_order[finish->first_op[i]], ops, sizeof *finish->op_order, gt_import_compare_ops,
                    finish);
    }
}

/* What a kind of call must name, and how its lack is counted. */
static const struct target_rule {
    bool stream, event;
    const char *warning;
} target_rules[GT_CALL_KINDS] = {
    [GT_CALL_STREAM_SYNC] = { true, false, "stream-syncs-unknown" },
    [GT_CALL_STREAM_QUERY] = { true, false, "stream-queries-unknown" },
    [GT_CALL_EVENT_RECORD] = { true, true, "event-records-unknown" },
    [GT_CALL_EVENT_WAIT] = { true, true, "event-waits-unknown" },
    [GT_CALL_EVENT_QUERY] = { false, true, "event-queries-unknown" },
    [GT_CALL_EVENT_SYNC] = { false, true, "event-syncs-unknown" },
};

static bool asks_for_operations(uint8_t kind)
{
    return kind == GT_CALL_LAUNCH || kind == GT_CALL_GRAPH_LAUNCH || kind == GT_CALL_COPY || kind == GT_CALL_MEMSET ||
           kind == GT_CALL_HOST_FUNCTION;
}

/* The kind that fits a call's operations. */
static enum gt_call_kind fitting_kind(const struct gt_import_finish *finish, uint32_t number, uint32_t ops)
{
    const struct gt_import *import = finish->import;
    uint8_t kind = import->calls[number].kind;

    if (ops == 0)
        return asks_for_operations(kind) ? GT_CALL_OTHER : kind;
    if (ops > 1 || kind == GT_CALL_GRAPH_LAUNCH)
        return GT_CALL_GRAPH_LAUNCH;
    return gt_call_kind_of_op[import->ops[finish->op_order[finish->first_op[number]]].kind];
}

/* The stream of a call's operations.  A graph's branches run in streams that CUDA makes for them, later than the one that it
 * is launched into, so that this has the lowest number; which branch begins first differs from launch to launch. */
static uint32_t stream_of_ops(const struct gt_import_finish *finish, uint32_t number, uint32_t ops)
{
    const struct gt_stream *streams = finish->import->workload->streams;
    const uint32_t *order = &finish->op_order[finish->first_op[number]];
    uint32_t stream = finish->import->ops[order[0]].stream;

    for (uint32_t i = 1; i < ops; i++) {
        uint32_t other = finish->import->ops[order[i]].stream;

        if (streams[other].id < streams[stream].id)
            stream = other;
    }
    return stream;
}

/* Settle what a call is: its kind, and whether what it means is known. */
static void settle(struct gt_import_finish *finish, uint32_t number, struct gt_call *call)
{
    struct gt_workload *workload = finish->import->workload;
    uint8_t asked = finish->import->calls[number].kind;
    const struct target_rule *rule;

    call->kind = fitting_kind(finish, number, call->ops);
    if (call->kind != GT_CALL_COPY)
        call->flags &= ~GT_CALL_SYNCHRONOUS;
    if (call->kind != GT_CALL_LAUNCH && call->kind != GT_CALL_GRAPH_LAUNCH)
        call->flags &= ~GT_CALL_LOADS;
    if (call->ops > 0) {
        call->stream = stream_of_ops(finish, number, call->ops);
        call->event = GT_NONE;
    } else if (call->kind == GT_CALL_OTHER) {
        call->stream = call->event = GT_NONE;
        gt_import_warn(workload, "calls-without-operation", asks_for_operations(asked));
    }
    gt_import_warn(workload, "graph-edges-unknown",
                   call->kind == GT_CALL_GRAPH_LAUNCH && call->ops > 1 && !finish->import->calls[number].edges_known);
    rule = &target_rules[call->kind];
    if ((rule->stream && call->stream == GT_NONE) || (rule->event && call->event == GT_NONE)) {
        call->flags |= GT_CALL_TARGET_UNKNOWN;
        gt_import_warn(workload, rule->warning, 1);
    }
}

static bool loads_data(const struct gt_import *import, const struct gt_import_range *range)
{
    return gt_is_data_loader(gt_name_text(import->workload, range->name));
}

/* The last range before `first` in which any thread of that process loads data: the first call may be of PyTorch's thread that
 * pins memory.  NULL: there is none. */
static const struct gt_import_range *last_loading(const struct gt_import *import, uint64_t process, int64_t first)
{
    const struct gt_import_range *last = NULL;

    for (uint32_t i = 0; i < import->range_count; i++) {
        const struct gt_import_range *range = &import->ranges[i];

        if (range->start_ns < first && (last == NULL || range->start_ns > last->start_ns) &&
            import->range_threads[range->thread].shown_process == process && loads_data(import, range))
            last = range;
    }
    return last;
}

/* The start of the step, or of the loader's range, that a range lies in, or its own. */
static int64_t outer_start(const struct gt_import *import, const struct gt_import_range *range)
{
    int64_t start_ns = range->start_ns;

    for (uint32_t i = 0; i < import->range_count; i++) {
        const struct gt_import_range *outer = &import->ranges[i];

        if (outer->thread == range->thread && outer->start_ns < start_ns && outer->end_ns > range->start_ns &&
            (outer->kind == GT_RANGE_STEP || loads_data(import, outer)))
            start_ns = outer->start_ns;
    }
    return start_ns;
}

/* A loop loads its first batch before its first call: that time is part of the run, or its first step would do without. */
static int64_t before_loading(const struct gt_import *import, const struct gt_import_call *call, int64_t first)
{
    const struct gt_import_range *loading =
        call == NULL ? NULL : last_loading(import, import->workload->threads[call->thread].process, first);

    return loading == NULL ? first : outer_start(import, loading);
}

static bool is_too_long(int64_t first, int64_t last)
{
    return last > first && (uint64_t)last - (uint64_t)first > GT_TIME_LIMIT_PS / 1000;
}

/* Of a profile without calls and operations the first range begins its time; one that is too far away is left out later. */
static int64_t first_range(const struct gt_import *import)
{
    int64_t first = INT64_MAX;

    for (uint32_t i = 0; i < import->range_count; i++)
        first = import->ranges[i].start_ns < first ? import->ranges[i].start_ns : first;
    return first;
}

static int set_origin(struct gt_import_finish *finish, const char *path, struct gt_error *error)
{
    const struct gt_import *import = finish->import;
    const struct gt_import_call *call = NULL;
    int64_t first = INT64_MAX, last = INT64_MIN, loading;

    for (uint32_t i = 0; i < import->call_count; i++) {
        call = call == NULL || import->calls[i].start_ns < call->start_ns ? &import->calls[i] : call;
        last = import->calls[i].end_ns > last ? import->calls[i].end_ns : last;
    }
    first = call == NULL ? first : call->start_ns;
    for (uint32_t i = 0; i < import->op_count; i++) {
        first = import->ops[i].start_ns < first ? import->ops[i].start_ns : first;
        last = import->ops[i].end_ns > last ? import->ops[i].end_ns : last;
    }
    if (last == INT64_MIN)
        first = first_range(import);
    loading = before_loading(import, call, first);
    finish->origin_ns = is_too_long(loading, last) ? first : loading; /* a range alone spoils nothing */
    if (is_too_long(first, last))
        return gt_error_set(
            error, "%s: times are more than %llu days apart (%lld to %lld ns); the file is damaged or mixes clocks",
            path, (unsigned long long)(GT_TIME_LIMIT_PS / 1000000000000 / 86400), (long long)first, (long long)last);
    return 0;
}

static gt_time_ps since_origin_ps(const struct gt_import_finish *finish, int64_t time_ns)
{
    return ((uint64_t)time_ns - (uint64_t)finish->origin_ns) * 1000;
}

static void write_calls(struct gt_import_finish *finish)
{
    struct gt_workload *workload = finish->import->workload;
    uint32_t first_op = 0;

    /* Room at once: growing step by step leaves holes in the heap. */
    workload->call_room = finish->kept + 1;
    workload->calls = gt_realloc(workload->calls, workload->call_room, sizeof *workload->calls);
    for (uint32_t i = 0; i < finish->kept; i++) {
        const struct gt_import_call *from = &finish->import->calls[finish->order[i]];
        uint32_t index = gt_workload_add_call(workload); /* may move the calls */
        struct gt_call *to = &workload->calls[index];

        to->start_ps = since_origin_ps(finish, from->start_ns);
        to->duration_ps = since_origin_ps(finish, from->end_ns) - to->start_ps;
        to->thread = from->thread;
        to->name = from->name;
        to->stream = from->stream;
        to->event = from->event;
        to->buffer = from->buffer;
        to->flags = from->flags;
        GT_CALL_PLAIN(GT_PLAIN_COPY)
        to->correlation = from->correlation == GT_NO_CORRELATION ? 0 : from->correlation;
        to->first_op = first_op;
        to->ops = finish->first_op[finish->order[i] + 1] - finish->first_op[finish->order[i]];
        first_op += to->ops;
        settle(finish, finish->order[i], to);
        if (to->kind == GT_CALL_GRAPH_LAUNCH)
            to->executable = from->executable;
    }
}

/* The function that launched it says whether all of its blocks had to be resident at once. */
static uint32_t kernel_of(struct gt_workload *workload, const struct gt_call *call, uint32_t kernel)
{
    struct gt_kernel cooperative;

    if (kernel == GT_NONE || call->name == GT_NONE ||
        strstr(gt_name_text(workload, call->name), "LaunchCooperativeKernel") == NULL)
        return kernel;
    cooperative = workload->kernels[kernel];
    cooperative.cooperative = true;
    return gt_workload_kernel(workload, &cooperative);
}

static int compare_notes(const void *left, const void *right)
{
    const struct gt_collective_note *a = left, *b = right;

    GT_ORDER(a->op, b->op);
    return 0;
}

/* Notes know their operations by the workload's numbers: place[i] is that of gathered operation i. */
static void renumber_notes(struct gt_import_finish *finish, const uint32_t *place)
{
    struct gt_collective_notes *notes = &finish->import->collectives;

    for (uint32_t i = 0; i < notes->count; i++)
        notes->notes[i].op = place[notes->notes[i].op];
    if (notes->count > 0)
        qsort(notes->notes, notes->count, sizeof *notes->notes, compare_notes);
    notes->origin_ns += finish->origin_ns;
}

static void write_ops(struct gt_import_finish *finish)
{
    struct gt_workload *workload = finish->import->workload;
    struct gt_import_relations relations;

    workload->op_room = finish->import->op_count + 1;
    workload->ops = gt_realloc(workload->ops, workload->op_room, sizeof *workload->ops);
    gt_import_relations_begin(&relations, finish);
    for (uint32_t i = 0; i < finish->kept; i++) {
        const uint32_t *next = &finish->op_order[finish->first_op[finish->order[i]]];

        for (uint32_t n = workload->calls[i].ops; n > 0; n--) {
            const struct gt_import_op *from = &finish->import->ops[*next++];
            uint32_t index = gt_workload_add_op(workload);
            struct gt_op *to = &workload->ops[index];

            to->start_ps = since_origin_ps(finish, from->start_ns);
            to->duration_ps = since_origin_ps(finish, from->end_ns) - to->start_ps;
            to->bytes = from->bytes;
            to->call = i;
            to->stream = from->stream;
            to->kernel = kernel_of(workload, &workload->calls[i], from->kernel);
            to->kind = from->kind;
            to->direction = from->direction;
            to->memory = from->memory;
            to->peer_gpu = from->peer_gpu;
            GT_OP_PLAIN(GT_PLAIN_COPY)
            to->has_priority = from->has_priority;
            to->priority = from->priority;
            /* Of nested calls the inner one may have launched it: what operations carry counts. */
            if (index == workload->calls[i].first_op && from->correlation != GT_NO_CORRELATION)
                workload->calls[i].correlation = from->correlation;
            if (from->executable != GT_NONE && workload->calls[i].kind == GT_CALL_GRAPH_LAUNCH)
                workload->calls[i].executable = from->executable;
            gt_import_relations_write(&relations, finish->import, index);
        }
    }
    renumber_notes(finish, relations.place);
    gt_import_relations_end(&relations);
}

/* Hand the workload over when it holds. */
static struct gt_workload *checked(struct gt_import *import, const char *path, struct gt_error *error)
{
    struct gt_workload *workload = import->workload;

    if (gt_workload_check(workload, error) != 0) {
        gt_error_prefix(error, "%s: ", path);
        return NULL;
    }
    workload->name = gt_path_stem(path);
    workload->path = strdup(path);
    import->workload = NULL;
    return workload;
}

struct gt_workload *gt_import_finish(struct gt_import *import, const char *path, struct gt_error *error)
{
    struct gt_import_finish finish = { .import = import };
    struct gt_workload *workload = NULL;

    gt_import_join(&finish);
    if (set_origin(&finish, path, error) == 0) {
        order_calls(&finish);
        free(finish.into);
        finish.into = NULL;
        order_ops(&finish);
        write_calls(&finish);
        free(import->calls); /* so that nothing is there twice for longer than it must */
        import->calls = NULL;
        import->call_count = import->call_room = 0;
        write_ops(&finish);
        free(import->ops);
        import->ops = NULL;
        import->op_count = import->op_room = 0;
        gt_import_write_ranges(&finish);
        gt_import_write_allocations(&finish);
        workload = checked(import, path, error);
    }
    free(finish.into);
    free(finish.range_threads);
    free(finish.order);
    free(finish.op_order);
    free(finish.first_op);
    return workload;
}
