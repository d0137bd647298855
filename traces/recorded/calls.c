/* calls.c - calls in the order of their times: what each was, and which stream, event and memory it meant. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/import/index_map.h"
#include "traces/recorded/internal.h"

/* What each of the recorder's kinds is to a trace. */
static const uint8_t kinds[GT_DID_KINDS] = {
    [GT_DID_OTHER] = GT_CALL_OTHER,
    [GT_DID_LAUNCH] = GT_CALL_LAUNCH,
    [GT_DID_COPY] = GT_CALL_COPY,
    [GT_DID_MEMSET] = GT_CALL_MEMSET,
    [GT_DID_HOST_FUNCTION] = GT_CALL_HOST_FUNCTION,
    [GT_DID_GRAPH_LAUNCH] = GT_CALL_GRAPH_LAUNCH,
    [GT_DID_STREAM_CREATE] = GT_CALL_STREAM_CREATE,
    [GT_DID_STREAM_DESTROY] = GT_CALL_OTHER,
    [GT_DID_STREAM_SYNC] = GT_CALL_STREAM_SYNC,
    [GT_DID_STREAM_QUERY] = GT_CALL_STREAM_QUERY,
    [GT_DID_EVENT_CREATE] = GT_CALL_EVENT_CREATE,
    [GT_DID_EVENT_DESTROY] = GT_CALL_OTHER,
    [GT_DID_EVENT_RECORD] = GT_CALL_EVENT_RECORD,
    [GT_DID_EVENT_WAIT] = GT_CALL_EVENT_WAIT,
    [GT_DID_EVENT_QUERY] = GT_CALL_EVENT_QUERY,
    [GT_DID_EVENT_SYNC] = GT_CALL_EVENT_SYNC,
    [GT_DID_DEVICE_SYNC] = GT_CALL_DEVICE_SYNC,
    [GT_DID_ALLOC] = GT_CALL_ALLOC,
    [GT_DID_FREE] = GT_CALL_FREE,
    [GT_DID_REGISTER] = GT_CALL_OTHER,
    [GT_DID_UNREGISTER] = GT_CALL_OTHER,
    [GT_DID_GRAPH_CHANGE] = GT_CALL_OTHER,
    [GT_DID_EVENT_SHARE] = GT_CALL_OTHER,
    [GT_DID_EVENT_OPEN] = GT_CALL_OTHER,
    [GT_DID_UNPLAYED] = GT_CALL_OTHER,
};
static const uint32_t CUDA_NOT_READY = 600; /* what a query of work that is not done returns */

static int compare_calls(const void *left, const void *right)
{
    const struct gt_record_call *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->end_ns, b->end_ns);
    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

static int compare_correlations(const void *left, const void *right)
{
    const struct gt_record_call *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

void gt_recorded_sort_calls(struct gt_recorded_process *process)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_CALL];

    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, compare_calls);
    process->by_correlation = gt_realloc(NULL, list->count, sizeof *process->by_correlation);
    memcpy(process->by_correlation, list->items, list->count * sizeof *list->items);
    qsort(process->by_correlation, list->count, sizeof *list->items, compare_correlations);
}

const struct gt_record_call *gt_recorded_find_call(const struct gt_recorded_process *process, uint32_t correlation)
{
    uint32_t low = 0, high = GT_RECORD_COUNT(process, GT_RECORDED_CALL);

    low = GT_LOWER_BOUND(middle, low, high, process->by_correlation[middle]->correlation < correlation);
    return low < GT_RECORD_COUNT(process, GT_RECORDED_CALL) &&
                   process->by_correlation[low]->correlation == correlation
               ? process->by_correlation[low]
               : NULL;
}

static bool is_of_event(uint32_t what)
{
    return what >= GT_DID_EVENT_RECORD && what <= GT_DID_EVENT_SYNC;
}

static bool is_shared(uint32_t what)
{
    return what == GT_DID_EVENT_SHARE || what == GT_DID_EVENT_OPEN;
}

static uint32_t add_event(struct gt_recorded *recorded, uint64_t handle)
{
    uint32_t event = gt_workload_add_event(recorded->import.workload);

    recorded->import.workload->events[event].id = handle;
    return event;
}

/* The event that processes know by that mark: the one that is met first. */
static uint32_t event_shared(struct gt_recorded *recorded, const struct gt_record_call *call, uint32_t event)
{
    for (uint32_t i = 0; i < recorded->shared_count; i++)
        if (recorded->shared[i].mark == call->b)
            return recorded->shared[i].event;
    gt_array_grow(recorded->shared, recorded->shared_count, recorded->shared_room);
    recorded->shared[recorded->shared_count++] = (struct gt_recorded_shared){ call->b, event };
    return event;
}

/* An event is what its handle means from its creation on; `events` has what handles mean now. */
static uint32_t event_meant(struct gt_recorded *recorded, struct gt_index_map **events,
                            const struct gt_record_call *call)
{
    uint32_t *event = gt_index_map_at(events, (struct gt_index_key){ { call->a } });

    if (*event == GT_NONE || call->what == GT_DID_EVENT_CREATE)
        *event = add_event(recorded, call->a);
    if (is_shared(call->what))
        *event = event_shared(recorded, call, *event);
    return *event;
}

/* The memory that a call takes, or gives back. */
static uint32_t buffer_meant(const struct gt_recorded_process *process, const struct gt_record_call *call)
{
    const struct gt_recorded_memory *memory = gt_recorded_memory_at(process, call->a, call->start_ns);

    return memory == NULL || memory->address != call->a ? GT_NONE : memory->buffer;
}

/* What did not do what it says: it failed, or went into a graph. */
static bool does_nothing(const struct gt_record_call *call)
{
    bool query = call->what == GT_DID_STREAM_QUERY || call->what == GT_DID_EVENT_QUERY;

    return (call->result != 0 && !(query && (uint32_t)call->result == CUDA_NOT_READY)) ||
           call->head.flags & GT_RECORDED_CAPTURED || call->what >= GT_DID_KINDS;
}

static bool several_gpus(const struct gt_recorded *recorded, const struct gt_recorded_process *process)
{
    return recorded->process_count > 1 || GT_RECORD_COUNT(process, GT_RECORDED_CONTEXT) > 1;
}

static void set_meaning(struct gt_recorded *recorded, struct gt_recorded_process *process,
                        struct gt_index_map **events, const struct gt_record_call *record, uint32_t number)
{
    uint32_t stream = GT_NONE, event = GT_NONE, buffer = GT_NONE;
    struct gt_import_call *call;

    if (record->head.flags & GT_RECORDED_IN_STREAM)
        stream = gt_recorded_stream_meant(recorded, process, record);
    if (record->what == GT_DID_DEVICE_SYNC && several_gpus(recorded, process)) {
        struct gt_record_call current = *record; /* the GPU is that of the context */

        current.stream = GT_RECORDED_LEGACY_STREAM;
        stream = gt_recorded_stream_meant(recorded, process, &current);
    }
    if (record->what == GT_DID_STREAM_CREATE) {
        struct gt_record_call made = *record;

        made.stream = record->a;
        stream = gt_recorded_stream_meant(recorded, process, &made);
    }
    if (is_of_event(record->what) || record->what == GT_DID_EVENT_CREATE)
        event = event_meant(recorded, events, record);
    if (record->what == GT_DID_ALLOC || record->what == GT_DID_FREE)
        buffer = buffer_meant(process, record);
    call = &recorded->import.calls[number];
    call->stream = stream;
    call->event = event;
    call->buffer = buffer;
    if ((call->kind == GT_CALL_ALLOC || call->kind == GT_CALL_FREE) && buffer == GT_NONE)
        call->kind = GT_CALL_OTHER; /* of nothing, or of what was there before */
    if (call->kind == GT_CALL_STREAM_CREATE && stream == GT_NONE)
        call->kind = GT_CALL_OTHER;
    if (call->kind == GT_CALL_OTHER)
        call->stream = call->event = call->buffer = GT_NONE;
    if (call->kind != GT_CALL_GRAPH_LAUNCH)
        return;
    call->edges_known =
        gt_recorded_graph(process, record->a) != NULL && !gt_recorded_has_body(process, record->correlation);
    if (record->a != 0 && record->a <= UINT32_MAX) /* else CUPTI had no number for the handle */
        call->executable = gt_import_executable(&recorded->import, (uint32_t)record->a);
}

static void add_call(struct gt_recorded *recorded, struct gt_recorded_process *process, struct gt_index_map **events,
                     const struct gt_record_call *record)
{
    struct gt_import_call *call = gt_import_add_call(&recorded->import);
    uint32_t number = recorded->import.call_count - 1;

    call->start_ns = (int64_t)record->start_ns;
    call->end_ns = (int64_t)record->end_ns;
    call->held_ps = gt_recorded_held_ns(process, record) * 1000;
    if (call->end_ns < call->start_ns) {
        call->end_ns = call->start_ns;
        gt_import_warn(recorded->import.workload, "calls-without-end", 1);
    }
    call->process = process->key;
    call->correlation = record->correlation;
    call->thread = gt_import_thread(&recorded->import, process->key, process->header->pid, record->thread);
    call = &recorded->import.calls[number];
    call->name = gt_recorded_call_name(recorded, process, record->name);
    call->kind = does_nothing(record) ? GT_CALL_OTHER : kinds[record->what];
    call->flags =
        call->kind == GT_CALL_COPY && record->head.flags & GT_RECORDED_SYNCHRONOUS ? GT_CALL_SYNCHRONOUS : 0;
    if (call->kind != GT_CALL_OTHER && gt_recorded_loads_code(process, record))
        call->flags |= GT_CALL_LOADS;
    gt_import_warn(recorded->import.workload, "graph-changes-unknown",
                   record->what == GT_DID_GRAPH_CHANGE && record->b != 0 && record->result == 0);
    gt_import_warn(recorded->import.workload, "waits-left-out",
                   record->what == GT_DID_UNPLAYED && record->result == 0);
    if (is_shared(record->what) && record->result == 0)
        event_meant(recorded, events, record);
    if (call->kind != GT_CALL_OTHER)
        set_meaning(recorded, process, events, record, number);
}

static int compare_switches(const void *left, const void *right)
{
    const struct gt_record_switch *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->time_ns, b->time_ns);
    return 0;
}

/* Was recording on then?  `at` is the switch that comes next, for times that rise.  What was called while it was off is told
 * because it made what others mean (streams, memory, events); it is no part of the run. */
static bool was_on(const struct gt_recorded_list *switches, uint32_t *at, uint64_t time_ns)
{
    const struct gt_record_switch *next;

    while (*at < switches->count && ((const struct gt_record_switch *)switches->items[*at])->time_ns <= time_ns)
        (*at)++;
    if (*at > 0)
        return ((const struct gt_record_switch *)switches->items[*at - 1])->on;
    next = switches->count > 0 ? switches->items[0] : NULL;
    return next == NULL || !next->on;
}

static void name_threads(struct gt_recorded *recorded, const struct gt_recorded_process *process)
{
    struct gt_workload *workload = recorded->import.workload;

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_THREAD); i++) {
        const struct gt_record_thread *record = GT_RECORDS(process, GT_RECORDED_THREAD)[i];

        for (uint32_t n = process->first_thread; n < workload->thread_count; n++)
            if (workload->threads[n].id == record->thread && record->length > 0 &&
                (workload->threads[n].name == GT_NONE || record->head.flags & GT_RECORDED_NAMED))
                workload->threads[n].name = gt_name(workload, record->text, record->length);
    }
}

void gt_recorded_add_calls(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_CALL];
    struct gt_recorded_list *switches = &process->lists[GT_RECORDED_SWITCH];
    struct gt_index_map *events = NULL;
    uint32_t next_switch = 0;

    if (switches->count > 0)
        qsort(switches->items, switches->count, sizeof *switches->items, compare_switches);
    process->first_thread = recorded->import.workload->thread_count;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_call *call = list->items[i];

        if (was_on(switches, &next_switch, call->start_ns))
            add_call(recorded, process, &events, call);
        else if (call->what == GT_DID_EVENT_CREATE && call->result == 0)
            event_meant(recorded, &events, call);
    }
    gt_index_map_free(events);
    name_threads(recorded, process);
}
