/* join.c - what only the whole profile tells: whose an operation was, what a wait waited for. */
#include "sim/base/sort.h"
#include "traces/kineto/internal.h"

#include <stdlib.h>
#include <string.h>

/* Operations carry no process number.  Where calls of several processes are in one file, an
 * operation belongs to the process that has a call of its correlation; where more than one has, to
 * the one whose call is nearest in the file, since merged profiles stand one behind the other. */
struct owners {
    struct kineto *kineto;
    uint32_t *calls; /* by correlation, then as in the file */
    uint32_t call_count;
    uint64_t *of_stream; /* the process that was first to use a stream as it was read */
    uint32_t streams;
};

static int compare_calls(const void *left, const void *right, void *user)
{
    const struct gt_import_call *calls = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    GT_ORDER(calls[a].correlation, calls[b].correlation);
    GT_ORDER(a, b);
    return 0;
}

static void sort_calls(struct owners *owners)
{
    struct gt_import *import = &owners->kineto->import;

    owners->call_count = import->call_count;
    owners->calls = gt_realloc(NULL, import->call_count + 1ull, sizeof *owners->calls);
    for (uint32_t i = 0; i < import->call_count; i++)
        owners->calls[i] = i;
    qsort_r(owners->calls, import->call_count, sizeof *owners->calls, compare_calls, import->calls);
}

/* The process of a correlation's call nearest to `position`; KINETO_NO_PROCESS where there is none. */
static uint64_t nearest_process(const struct owners *owners, uint32_t correlation, uint32_t position)
{
    const struct gt_import_call *calls = owners->kineto->import.calls;
    uint32_t low = 0, high = owners->call_count;
    bool after, before;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t call = owners->calls[middle];

        if (calls[call].correlation < correlation || (calls[call].correlation == correlation && call < position))
            low = middle + 1;
        else
            high = middle;
    }
    after = low < owners->call_count && calls[owners->calls[low]].correlation == correlation;
    before = low > 0 && calls[owners->calls[low - 1]].correlation == correlation;
    if (after && before && position - owners->calls[low - 1] <= owners->calls[low] - position)
        after = false;
    return after    ? calls[owners->calls[low]].process
           : before ? calls[owners->calls[low - 1]].process
                    : KINETO_NO_PROCESS;
}

/* The stream of that number which belongs to `process`: the one read, or one of its own. */
static uint32_t own_stream(struct owners *owners, uint32_t stream, uint64_t process)
{
    struct gt_import *import = &owners->kineto->import;
    struct gt_stream copy;
    uint32_t own;

    if (stream == GT_NONE)
        return GT_NONE;
    if (owners->of_stream[stream] == KINETO_NO_PROCESS)
        owners->of_stream[stream] = process;
    if (owners->of_stream[stream] == process)
        return stream;
    copy = import->workload->streams[stream];
    own = gt_import_stream(import, process, import->workload->gpus[copy.gpu].id, copy.context, copy.id);
    import->workload->streams[own].flags = copy.flags;
    import->workload->streams[own].priority = copy.priority;
    return own;
}

static void own_op(struct owners *owners, struct gt_import_op *op, uint64_t process)
{
    op->process = process;
    op->stream = own_stream(owners, op->stream, process);
}

static void give_owners(struct owners *owners)
{
    struct gt_import *import = &owners->kineto->import;

    for (uint32_t i = 0; i < import->op_count; i++) {
        struct gt_import_op *op = &import->ops[i];

        op->process = nearest_process(owners, op->correlation, op->call);
        if (op->process != KINETO_NO_PROCESS)
            own_op(owners, op, op->process);
    }
    for (uint32_t i = 0; i < import->op_count; i++) { /* now that streams have owners */
        struct gt_import_op *op = &import->ops[i];

        if (op->process == KINETO_NO_PROCESS)
            op->process = owners->of_stream[op->stream] != KINETO_NO_PROCESS ? owners->of_stream[op->stream]
                                                                             : import->calls[0].process;
    }
    for (uint32_t i = 0; i < owners->kineto->mark_count; i++) {
        struct kineto_mark *mark = &owners->kineto->marks[i];

        mark->process = nearest_process(owners, mark->correlation, mark->calls_before);
        if (mark->process == KINETO_NO_PROCESS)
            continue;
        mark->stream = own_stream(owners, mark->stream, mark->process);
        mark->record_stream = own_stream(owners, mark->record_stream, mark->process);
    }
}

static void join_processes(struct kineto *kineto)
{
    struct gt_import *import = &kineto->import;
    uint64_t process = import->call_count > 0 ? import->calls[0].process : 0;
    struct owners owners = { .kineto = kineto, .streams = import->workload->stream_count };

    if (!kineto->several_processes) {
        for (uint32_t i = 0; i < import->op_count; i++)
            import->ops[i].process = process;
        for (uint32_t i = 0; i < kineto->mark_count; i++)
            kineto->marks[i].process = process;
        return;
    }
    owners.of_stream = gt_realloc(NULL, owners.streams + 1ull, sizeof *owners.of_stream);
    memset(owners.of_stream, 0xff, owners.streams * sizeof *owners.of_stream);
    sort_calls(&owners);
    give_owners(&owners);
    free(owners.calls);
    free(owners.of_stream);
}

static int compare_by_event(const void *left, const void *right)
{
    const struct kineto_mark *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->event, b->event);
    GT_ORDER(a->correlation, b->correlation); /* the order of the calls: CUPTI counts them */
    GT_ORDER(a->is_record, b->is_record);
    GT_ORDER(a->stream, b->stream);
    return 0;
}

static int compare_by_record(const void *left, const void *right)
{
    const struct kineto_mark *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->record, b->record);
    GT_ORDER(b->is_record, a->is_record); /* the record itself knows its stream best */
    return compare_by_event(left, right);
}

/* Newer profiles do not say which record a wait waited for, but the event, and the event's records. */
static void find_records(struct kineto *kineto)
{
    const struct kineto_mark *record = NULL;

    if (kineto->mark_count > 0)
        qsort(kineto->marks, kineto->mark_count, sizeof *kineto->marks, compare_by_event);
    for (uint32_t i = 0; i < kineto->mark_count; i++) {
        struct kineto_mark *mark = &kineto->marks[i];

        if (mark->is_record)
            record = mark;
        else if (mark->record == KINETO_NOTHING && mark->event != KINETO_NOTHING && record != NULL &&
                 record->process == mark->process && record->event == mark->event) {
            mark->record = record->correlation;
            mark->record_stream = record->stream;
        }
    }
}

static void add_target(struct gt_import *import, uint64_t process, uint32_t correlation, uint32_t stream,
                       uint32_t event)
{
    struct gt_import_target *target = gt_import_add_target(import);

    target->process = process;
    target->correlation = correlation;
    target->stream = stream;
    target->event = event;
}

/* cudaDeviceSynchronize() waits for the current device: any of its streams says which that is.  Of one device, or where processes
 * have streams each, nobody needs to know. */
static uint32_t any_stream(const struct kineto *kineto, const struct kineto_mark *mark)
{
    const struct gt_workload *w = kineto->import.workload;

    for (uint32_t i = 0; i < w->stream_count && w->gpu_count > 1 && !kineto->several_processes; i++)
        if (w->gpus[w->streams[i].gpu].id == mark->device)
            return i;
    return GT_NONE;
}

/* One event a record, so that a wait means exactly the record that it waited for. */
static void give_targets(struct kineto *kineto)
{
    struct gt_import *import = &kineto->import;
    uint32_t event = GT_NONE;

    if (kineto->mark_count > 0)
        qsort(kineto->marks, kineto->mark_count, sizeof *kineto->marks, compare_by_record);
    for (uint32_t i = 0; i < kineto->mark_count; i++) {
        const struct kineto_mark *mark = &kineto->marks[i];
        bool same = i > 0 && mark[-1].process == mark->process && mark[-1].record == mark->record;

        if (mark->process == KINETO_NO_PROCESS)
            continue;
        if (mark->record == KINETO_NOTHING) {
            add_target(import, mark->process, mark->correlation,
                       mark->stream != GT_NONE ? mark->stream : any_stream(kineto, mark), GT_NONE);
            continue;
        }
        if (!same) {
            event = gt_workload_add_event(import->workload);
            import->workload->events[event].id = mark->record;
        }
        add_target(import, mark->process, mark->record, mark->record_stream, event);
        if (!mark->is_record)
            add_target(import, mark->process, mark->correlation, mark->stream, event);
    }
    free(kineto->marks);
    kineto->marks = NULL;
    kineto->mark_count = kineto->mark_room = 0;
}

static int compare_thread_names(const void *left, const void *right)
{
    const struct kineto_thread_name *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->id, b->id);
    return 0;
}

static void name_threads(struct kineto *kineto)
{
    struct gt_workload *workload = kineto->import.workload;

    if (kineto->thread_name_count == 0)
        return;
    qsort(kineto->thread_names, kineto->thread_name_count, sizeof *kineto->thread_names, compare_thread_names);
    for (uint32_t i = 0; i < workload->thread_count; i++) {
        struct gt_thread *thread = &workload->threads[i];
        const struct kineto_thread_name key = { .process = thread->process, .id = thread->id };
        const struct kineto_thread_name *name =
            bsearch(&key, kineto->thread_names, kineto->thread_name_count, sizeof key, compare_thread_names);

        if (name != NULL)
            thread->name = gt_name(workload, name->text, strlen(name->text));
    }
}

void kineto_join(struct kineto *kineto)
{
    join_processes(kineto);
    find_records(kineto);
    give_targets(kineto);
    name_threads(kineto);
    kineto_give_announced(kineto);
    gt_import_warn(kineto->import.workload, "no-gpu-work", kineto->import.op_count == 0);
    gt_import_warn(kineto->import.workload, GT_WARNING_UNMODELLED, kineto->has_hip);
    if (!kineto->has_priorities)
        gt_import_warn_priorities(&kineto->import);
}
