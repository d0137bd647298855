/* calls.c - what happens at a call's callback: its time, its arguments, one record. */
#include <stdatomic.h>
#include <string.h>

#include "validate/record/internal.h"

#define DOMAINS ((unsigned)CUPTI_CB_DOMAIN_SIZE)
enum { IDS = 2048, TIMED_ONE_IN = 64 };

static const struct gt_call_row *rows[DOMAINS][IDS];
static _Atomic uint32_t names[DOMAINS][IDS];
static _Atomic uint64_t call_count, timed_ns;
static _Atomic int captures; /* streams that are captured now */

static CUpti_SubscriberHandle told_to;
static _Atomic uint32_t switches; /* how often other calls became known than before */

/* A thread's calls: the outermost one is recorded. */
static _Thread_local struct {
    uint64_t start_ns;
    uint32_t depth, correlation;
    const struct gt_call_row *outer;
    uint32_t switches; /* when `depth` was counted: a call's end may never have been told since */
    bool own;
    uint32_t count;
} thread;

void gt_calls_own(bool own)
{
    thread.own = own;
}

void gt_calls_cost(uint64_t *calls, uint64_t *total_ns)
{
    *calls = atomic_load(&call_count);
    *total_ns = atomic_load(&timed_ns) * TIMED_ONE_IN;
}

static bool is_always_needed(const struct gt_call_row *row)
{
    return row->flags & (GT_ROW_DEFINES | GT_ROW_SWITCHES);
}

void gt_calls_enable(CUpti_SubscriberHandle subscriber)
{
    for (size_t i = 0; i < gt_call_row_count; i++) {
        const struct gt_call_row *row = &gt_call_rows[i];

        if (row->id < IDS)
            rows[row->domain][row->id] = row;
        if (is_always_needed(row))
            gt_api.cuptiEnableCallback(1, subscriber, row->domain, row->id);
    }
    told_to = subscriber;
}

void gt_calls_switch(bool on)
{
    atomic_fetch_add(&switches, 1);
    for (size_t i = 0; i < gt_call_row_count; i++) {
        const struct gt_call_row *row = &gt_call_rows[i];

        if (told_to != NULL && row->id < IDS && !is_always_needed(row))
            gt_api.cuptiEnableCallback(on, told_to, row->domain, row->id);
    }
}

static uint32_t name_of(const struct gt_call_row *row)
{
    _Atomic uint32_t *name = &names[row->domain][row->id];

    if (atomic_load_explicit(name, memory_order_relaxed) == 0) {
        const char *text = NULL;

        gt_api.cuptiGetCallbackName(row->domain, row->id, &text);
        atomic_store(name, gt_writer_name(text != NULL ? text : "unknown"));
    }
    return atomic_load_explicit(name, memory_order_relaxed);
}

/* The driver follows a stream's handle without a look: one that is destroyed, or that a call refused, ends the program. */
static bool is_captured(const struct gt_record_call *call)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    bool captured;

    if (atomic_load_explicit(&captures, memory_order_relaxed) <= 0 || gt_api.cuStreamIsCapturing == NULL ||
        call->result != 0 || call->what == GT_DID_STREAM_DESTROY || call->what == GT_DID_OTHER)
        return false;
    thread.own = true;
    captured = gt_api.cuStreamIsCapturing((CUstream)(uintptr_t)call->stream, &status) == CUDA_SUCCESS &&
               status != CU_STREAM_CAPTURE_STATUS_NONE;
    thread.own = false;
    return captured;
}

static void name_stream(const struct gt_call_row *row, const CUpti_CallbackData *data, struct gt_record_call *call)
{
    if (call->stream == 0)
        call->stream = row->flags & GT_ROW_PER_THREAD ? GT_RECORDED_PER_THREAD_STREAM : GT_RECORDED_LEGACY_STREAM;
    if (call->stream == GT_RECORDED_PER_THREAD_STREAM)
        gt_per_thread_stream_met(data->context, data->contextUid);
}

/* The number of the executable graph that is launched; 0: there is none, or the call refused the handle. */
static void number_graph(struct gt_record_call *call)
{
    uint32_t number = 0;

    if (call->result != 0 || call->a == 0 ||
        gt_api.cuptiGetGraphExecId((CUgraphExec)(uintptr_t)call->a, &number) != CUPTI_SUCCESS)
        number = 0;
    call->a = number;
}

/* What others have to know of it besides the record. */
static void learn(const struct gt_call_row *row, const CUpti_CallbackData *data, struct gt_record_call *call)
{
    if ((row->what == GT_DID_ALLOC || row->what == GT_DID_REGISTER) && !(call->a & GT_RECORDED_ARRAY))
        gt_function_memory(call->a, call->b);
    else if (row->what == GT_DID_GRAPH_LAUNCH || row->what == GT_DID_GRAPH_CHANGE)
        number_graph(call);
    else if (row->what == GT_DID_STREAM_CREATE && call->a != 0)
        gt_stream_made(data->context, (CUstream)(uintptr_t)call->a);
}

/* CUDA's error of a call that is over. */
static int32_t result_of(const CUpti_CallbackData *data)
{
    int32_t result = 0;

    if (data->functionReturnValue != NULL)
        memcpy(&result, data->functionReturnValue, sizeof result);
    return result;
}

static void write_call(const struct gt_call_row *row, const CUpti_CallbackData *data, uint64_t end_ns)
{
    struct gt_record_call call = { .start_ns = thread.start_ns, .end_ns = end_ns };
    struct gt_record_call *record;

    call.result = result_of(data);
    call.thread = gt_writer_thread();
    call.correlation = data->correlationId;
    call.context = data->contextUid;
    call.what = row->what;
    call.name = name_of(row);
    if (row->read != NULL && data->functionParams != NULL)
        row->read(data->functionParams, &call);
    if (data->context != NULL)
        gt_context_met(data->context, data->contextUid);
    if (row->flags & GT_ROW_STREAM) {
        call.head.flags |= GT_RECORDED_IN_STREAM;
        name_stream(row, data, &call);
        if (is_captured(&call))
            call.head.flags |= GT_RECORDED_CAPTURED;
    }
    if (row->flags & GT_ROW_SYNCHRONOUS)
        call.head.flags |= GT_RECORDED_SYNCHRONOUS;
    learn(row, data, &call);
    record = gt_writer_begin(GT_RECORDED_CALL, sizeof *record);
    if (record == NULL)
        return;
    call.head = (struct gt_record_head){ 0, GT_RECORDED_CALL, call.head.flags };
    memcpy(record, &call, sizeof call);
    gt_writer_end(record);
}

/* Which graph an instantiation made, of which. */
static void look_at_graph(const CUpti_CallbackData *data, const struct gt_call_row *row)
{
    /* All of these functions have these two in front. */
    const struct {
        CUgraphExec *executable;
        CUgraph graph;
        union {
            unsigned long long flags;
            const unsigned long long *first_of_parameters; /* which flags are too */
        };
    } *made = data->functionParams;
    const char *name = data->functionName;

    if (row->what != GT_DID_OTHER || name == NULL || strstr(name, "GraphInstantiate") == NULL || made == NULL ||
        result_of(data) != 0 || made->executable == NULL)
        return;
    gt_graph_made(*made->executable, made->graph,
                  strstr(name, "WithParams") == NULL ? made->flags : *made->first_of_parameters, data->correlationId);
}

static void look_at_rest(const CUpti_CallbackData *data, const struct gt_call_row *row)
{
    const char *name = data->functionName;

    if (row->what != GT_DID_OTHER || name == NULL)
        return;
    look_at_graph(data, row);
    if (strstr(name, "BeginCapture") != NULL)
        atomic_fetch_add(&captures, 1);
    else if (strstr(name, "EndCapture") != NULL && atomic_load(&captures) > 0)
        atomic_fetch_sub(&captures, 1);
    else if (strstr(name, "ProfilerStart") != NULL)
        gt_control_profiler(true);
    else if (strstr(name, "ProfilerStop") != NULL)
        gt_control_profiler(false);
}

static void enter(const CUpti_CallbackData *data, const struct gt_call_row *row)
{
    uint32_t now = atomic_load_explicit(&switches, memory_order_relaxed);

    if (thread.switches != now) {
        thread.switches = now;
        thread.depth = 0;
    }
    if (thread.depth++ > 0)
        return;
    thread.correlation = data->correlationId;
    thread.outer = row;
    thread.start_ns = gt_writer_now_ns();
}

/* What the driver's functions say best, whether the program calls them or the runtime does.  Of one that failed nothing is
 * read: its arguments may be what it failed for. */
static void look_at_driver(const CUpti_CallbackData *data, const struct gt_call_row *row)
{
    struct gt_recorded_giver giver = { .correlation = thread.correlation };
    struct gt_launch_view view;

    if (result_of(data) != 0)
        return;
    if (row->what == GT_DID_LAUNCH) {
        if (gt_recording() && gt_launch_look(row->id, data->functionParams, &view))
            gt_function_record(&view, &giver);
    } else if (row->what == GT_DID_GRAPH_CHANGE) {
        thread.own = true;
        gt_graph_changed(row->id, data->functionParams, thread.correlation);
        thread.own = false;
    } else if (thread.outer->flags & GT_ROW_PIECES && gt_recording() &&
               (row->what == GT_DID_COPY || row->what == GT_DID_MEMSET))
        gt_pieces_record(row, data->functionParams, thread.correlation);
}

static void leave(const CUpti_CallbackData *data, const struct gt_call_row *row)
{
    uint64_t end_ns = gt_writer_now_ns();

    if (thread.depth > 0 && !is_always_needed(row) &&
        thread.switches != atomic_load_explicit(&switches, memory_order_relaxed))
        thread.depth = 0; /* counted for another call, whose end was not told */
    if (thread.depth == 0)
        return; /* it began before recording */
    thread.depth--;
    if (row->domain == CUPTI_CB_DOMAIN_DRIVER_API && data->functionParams != NULL)
        look_at_driver(data, row);
    if (thread.depth > 0) /* CUPTI gives the inner call the outer one's number */
        return;
    if (gt_recording() || row->flags & GT_ROW_DEFINES)
        write_call(row, data, end_ns);
    thread.own = true; /* what follows may call CUDA */
    look_at_rest(data, row);
    thread.own = false;
    atomic_fetch_add_explicit(&call_count, 1, memory_order_relaxed);
    if (++thread.count % TIMED_ONE_IN == 0)
        atomic_fetch_add_explicit(&timed_ns, gt_writer_now_ns() - end_ns, memory_order_relaxed);
}

void CUPTIAPI gt_calls_take(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    const CUpti_CallbackData *call = data;
    const struct gt_call_row *row;

    (void)user;
    if (thread.own || !gt_writer_is_open())
        return;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
            gt_graph_cloned(((const CUpti_ResourceData *)data)->resourceDescriptor);
        else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED)
            gt_graph_joined(((const CUpti_ResourceData *)data)->resourceDescriptor);
        return;
    }
    row = (unsigned)domain < DOMAINS && id < IDS ? rows[domain][id] : NULL;
    if (row == NULL)
        return;
    if (call->callbackSite == CUPTI_API_ENTER)
        enter(call, row);
    else
        leave(call, row);
}
