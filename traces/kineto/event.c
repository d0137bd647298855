/* event.c - what one event of a Kineto profile means to a workload. */
#include "sim/base/array.h"
#include "sim/base/text.h"
#include "traces/kineto/internal.h"

#include <string.h>

#include "traces/import/cuda_api.h"

/* CUPTI's number for the NULL stream of every context. */
enum { NULL_STREAM = 7 };

static int64_t number_or(const struct kineto_event *event, enum kineto_field field, int64_t otherwise)
{
    return kineto_has(event, field) ? event->number[field] : otherwise;
}

static int check_range(int64_t value, const char *what, struct gt_error *error)
{
    if (value < 0 || value > UINT32_MAX - 1)
        return gt_error_set(error, "%s %lld is out of range", what, (long long)value);
    return 0;
}

int kineto_span(struct kineto *kineto, int64_t *start_ns, int64_t *end_ns, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    int64_t duration = number_or(event, KINETO_DUR, -1);

    if (!kineto_has(event, KINETO_TS))
        return gt_error_set(error, "'%.*s' has no numeric start time (ts)", (int)event->name.length,
                            event->name.length > 0 ? event->name.bytes : "");
    if (duration < 0) {
        gt_import_warn(kineto->import.workload, "durations-unreadable", 1);
        duration = 0;
    }
    *start_ns = event->number[KINETO_TS];
    if (__builtin_add_overflow(*start_ns, duration, end_ns))
        return gt_error_set(error, "'%.*s' ends after the largest possible time", (int)event->name.length,
                            event->name.length > 0 ? event->name.bytes : "");
    return 0;
}

/* CUPTI counts from 1. */
static uint32_t correlation(const struct kineto_event *event)
{
    int64_t number = number_or(event, KINETO_CORRELATION, 0);

    return number > 0 && number < GT_NO_CORRELATION ? (uint32_t)number : GT_NO_CORRELATION;
}

/* CUPTI writes "no stream" as -1, and as its unsigned twins. */
static bool is_stream(int64_t number)
{
    return number >= 0 && number != UINT32_MAX;
}

static uint32_t find_stream(struct kineto *kineto, int64_t device, int64_t context, int64_t number)
{
    uint32_t streams = kineto->import.workload->stream_count;
    uint32_t stream = gt_import_stream(&kineto->import, 0, (uint32_t)device, (uint32_t)context, (uint64_t)number);

    /* PyTorch's own streams are all created non-blocking, and so are those of its libraries. */
    if (stream == streams)
        kineto->import.workload->streams[stream].flags =
            number == NULL_STREAM ? GT_STREAM_LEGACY_DEFAULT : GT_STREAM_NON_BLOCKING;
    return stream;
}

/* Device and context of an event; a P2P copy has them under other names. */
static int find_place(const struct kineto_event *event, int64_t *device, int64_t *context, struct gt_error *error)
{
    *device = number_or(event, KINETO_DEVICE, number_or(event, KINETO_IN_DEVICE, number_or(event, KINETO_PID, 0)));
    *context = number_or(event, KINETO_CONTEXT, number_or(event, KINETO_IN_CONTEXT, 0));
    if (check_range(*device, "device", error) != 0 || check_range(*context, "context", error) != 0)
        return -1;
    return 0;
}

/* An operation with all but what is special to its kind; NULL with what is wrong. */
static struct gt_import_op *add_op(struct kineto *kineto, enum gt_op_kind kind, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    int64_t stream = number_or(event, KINETO_STREAM, number_or(event, KINETO_TID, 0));
    int64_t start_ns, end_ns, device, context;
    struct gt_import_op *op;
    uint32_t index;

    if (kineto_span(kineto, &start_ns, &end_ns, error) != 0 || find_place(event, &device, &context, error) != 0)
        return NULL;
    index = find_stream(kineto, device, context, stream < 0 ? (uint32_t)stream : stream);
    if (kineto_has(event, KINETO_PRIORITY)) {
        kineto->has_priorities = true;
        kineto->import.workload->streams[index].priority =
            gt_import_priority(&kineto->import, event->number[KINETO_PRIORITY]);
    }
    op = gt_import_add_op(&kineto->import);
    op->start_ns = start_ns;
    op->end_ns = end_ns;
    op->correlation = correlation(event);
    op->stream = index;
    op->kind = (uint8_t)kind;
    op->call = kineto->import.call_count; /* until the join: how far the file had come */
    return op;
}

/* Grid or block; 1 x 1 x 1, counted, where the profile has none. */
static int read_shape(struct kineto *kineto, const int64_t from[3], const char *what, uint32_t to[3],
                      struct gt_error *error)
{
    for (int i = 0; i < 3; i++) {
        if (from[i] == -1 || from[i] == 0) {
            gt_import_warn(kineto->import.workload, "launch-shapes-unknown", 1);
            to[i] = 1;
        } else if (from[i] < 0 || from[i] > INT32_MAX) {
            return gt_error_set(error, "%s %lld is out of range", what, (long long)from[i]);
        } else {
            to[i] = (uint32_t)from[i];
        }
    }
    return 0;
}

static int take_kernel(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    int64_t registers = number_or(event, KINETO_REGISTERS, 0);
    int64_t shared = number_or(event, KINETO_SHARED_BYTES, 0);
    int64_t occupancy = number_or(event, KINETO_OCCUPANCY, 0);
    /* clang-format off */
    struct gt_kernel kernel = {
        .cost = GT_COST_NONE, .duration_ps = GT_TIME_NONE, .runs = GT_NONE, .arguments = GT_NONE,
    };
    /* clang-format on */
    struct gt_import_op *op;

    if (read_shape(kineto, event->shape[0], "grid", kernel.grid, error) != 0 ||
        read_shape(kineto, event->shape[1], "block", kernel.block, error) != 0 ||
        check_range(registers, "registers per thread", error) != 0 ||
        check_range(shared, "shared memory", error) != 0)
        return -1;
    op = add_op(kineto, GT_OP_KERNEL, error);
    if (op == NULL)
        return -1;
    kernel.name =
        gt_name(kineto->import.workload, event->name.length > 0 ? event->name.bytes : "", event->name.length);
    kernel.registers_per_thread = (uint32_t)registers;
    kernel.dynamic_shared_bytes = (uint32_t)shared; /* static and dynamic: the profile has only the sum */
    kernel.recorded_occupancy_pct = occupancy > 0 && occupancy <= 100 ? (uint32_t)occupancy : 0;
    op->kernel = gt_workload_kernel(kineto->import.workload, &kernel);
    op->memory = GT_MEMORY_UNKNOWN;
    kineto_note_collective(kineto, kineto->import.op_count - 1, gt_name_text(kineto->import.workload, kernel.name));
    return 0;
}

/* "HtoD" and the like, behind "Memcpy "; arrays are device memory. */
static const struct {
    const char *name;
    enum gt_direction direction;
} directions[] = {
    { "HtoD", GT_H2D }, { "HtoA", GT_H2D }, { "DtoH", GT_D2H }, { "AtoH", GT_D2H }, { "DtoD", GT_D2D },
    { "DtoA", GT_D2D }, { "AtoD", GT_D2D }, { "AtoA", GT_D2D }, { "HtoH", GT_H2H }, { "PtoP", GT_P2P },
};

/* What stands on either side of "->". */
static const struct {
    const char *name;
    enum gt_memory memory;
} memories[] = {
    { "Pageable", GT_MEMORY_PAGEABLE }, { "Pinned", GT_MEMORY_PINNED },   { "Device", GT_MEMORY_DEVICE },
    { "Array", GT_MEMORY_DEVICE },      { "Managed", GT_MEMORY_MANAGED },
};

static enum gt_memory memory_at(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++)
        if (gt_begins(text, length, memories[i].name))
            return memories[i].memory;
    return GT_MEMORY_UNKNOWN;
}

/* From "Memcpy HtoD (Pageable -> Device)". */
static void read_copy_name(struct kineto *kineto, struct gt_import_op *op)
{
    const struct kineto_text *name = &kineto->event.name;
    const char *text = name->length > 0 ? name->bytes : "";
    const char *open = memchr(text, '(', name->length);
    const char *arrow = memmem(text, name->length, "-> ", 3);
    enum gt_memory from = GT_MEMORY_UNKNOWN, to = GT_MEMORY_UNKNOWN;
    bool known = false;

    if (open != NULL)
        from = memory_at(open + 1, name->length - (size_t)(open + 1 - text));
    if (arrow != NULL)
        to = memory_at(arrow + 3, name->length - (size_t)(arrow + 3 - text));
    for (size_t i = 0; i < sizeof directions / sizeof directions[0] && !known; i++) {
        if (name->length > 7 && gt_begins(text + 7, name->length - 7, directions[i].name)) {
            op->direction = (uint8_t)directions[i].direction;
            known = true;
        }
    }
    if (!known) {
        op->direction = (uint8_t)gt_import_direction(from, to);
        gt_import_warn(kineto->import.workload, "copy-directions-unknown",
                       from == GT_MEMORY_UNKNOWN && to == GT_MEMORY_UNKNOWN);
    }
    op->memory = (uint8_t)(op->direction == GT_D2H ? to : from);
}

/* The other end of a copy between two devices. *is_source: the data comes from there. */
static uint32_t find_peer(struct kineto *kineto, bool *is_source)
{
    const struct kineto_event *event = &kineto->event;
    int64_t here = number_or(event, KINETO_IN_DEVICE, number_or(event, KINETO_DEVICE, -1));
    int64_t from = number_or(event, KINETO_FROM_DEVICE, -1), to = number_or(event, KINETO_TO_DEVICE, -1);
    int64_t peer = to != here ? to : from;

    if (peer < 0 || peer > UINT32_MAX - 1 || peer == here)
        return GT_NONE;
    *is_source = peer != to;
    return gt_import_gpu(&kineto->import, (uint32_t)peer);
}

static uint64_t read_bytes(struct kineto *kineto)
{
    int64_t bytes = number_or(&kineto->event, KINETO_BYTES, -1);

    gt_import_warn(kineto->import.workload, "sizes-unknown", bytes < 0);
    return bytes < 0 ? 0 : (uint64_t)bytes;
}

static int take_copy(struct kineto *kineto, struct gt_error *error)
{
    struct gt_import_op *op = add_op(kineto, GT_OP_COPY, error);

    if (op == NULL)
        return -1;
    op->bytes = read_bytes(kineto);
    read_copy_name(kineto, op);
    if (op->direction == GT_P2P) {
        op->peer_gpu = find_peer(kineto, &op->from_peer);
        op->memory = GT_MEMORY_DEVICE;
    }
    return 0;
}

/* "Memset (Device)". */
static int take_memset(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_text *name = &kineto->event.name;
    const char *open = name->length > 0 ? memchr(name->bytes, '(', name->length) : NULL;
    struct gt_import_op *op = add_op(kineto, GT_OP_MEMSET, error);

    if (op == NULL)
        return -1;
    op->bytes = read_bytes(kineto);
    op->memory = GT_MEMORY_DEVICE;
    if (open != NULL)
        op->memory = (uint8_t)memory_at(open + 1, name->length - (size_t)(open + 1 - name->bytes));
    return 0;
}

uint64_t kineto_thread_number(int64_t number)
{
    return number < 0 && number >= INT32_MIN ? (uint32_t)number : (uint64_t)number;
}

static int take_call(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    const char *name = event->name.length > 0 ? event->name.bytes : "";
    const struct gt_cuda_api *api = gt_cuda_api_find(name, event->name.length);
    uint64_t pid = kineto_thread_number(number_or(event, KINETO_PID, 0));
    uint64_t tid = kineto_thread_number(number_or(event, KINETO_TID, 0));
    int64_t start_ns, end_ns;
    struct gt_import_call *call;

    if (kineto_span(kineto, &start_ns, &end_ns, error) != 0)
        return -1;
    if (kineto->last_thread == GT_NONE || kineto->last_pid != pid || kineto->last_tid != tid) {
        kineto->several_processes |= kineto->last_thread != GT_NONE && kineto->last_pid != pid;
        kineto->last_thread = gt_import_thread(&kineto->import, pid, pid, tid);
        kineto->last_pid = pid;
        kineto->last_tid = tid;
    }
    call = gt_import_add_call(&kineto->import);
    call->start_ns = start_ns;
    call->end_ns = end_ns;
    call->process = pid;
    call->correlation = correlation(event);
    call->external = kineto_external(event);
    call->thread = kineto->last_thread;
    call->name = gt_name(kineto->import.workload, name, event->name.length);
    kineto->has_hip |= gt_begins(name, event->name.length, "hip");
    if (api != NULL) {
        call->kind = (uint8_t)api->kind;
        call->flags = (uint8_t)api->flags;
    }
    return 0;
}

static uint32_t number_or_nothing(const struct kineto_event *event, enum kineto_field field)
{
    int64_t number = number_or(event, field, -1);

    return number < 0 || number > KINETO_NOTHING ? KINETO_NOTHING : (uint32_t)number;
}

static bool is_context_sync(const struct kineto_event *event)
{
    static const char name[] = "Context Sync";

    return event->name.length == sizeof name - 1 && memcmp(event->name.bytes, name, sizeof name - 1) == 0;
}

/* cuda_sync and cuda_event: remembered until the calls that they belong to are all there. */
static int take_mark(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    bool is_record = event->category == KINETO_RECORD;
    int64_t stream = number_or(event, KINETO_STREAM, -1);
    int64_t record_stream = is_record ? stream : number_or(event, KINETO_WAIT_STREAM, -1);
    int64_t device, context;
    struct kineto_mark *mark;

    (void)error; /* they only add to what calls tell */
    if (correlation(event) == GT_NO_CORRELATION || find_place(event, &device, &context, NULL) != 0)
        return 0;
    gt_array_grow(kineto->marks, kineto->mark_count, kineto->mark_room);
    mark = &kineto->marks[kineto->mark_count++];
    mark->correlation = correlation(event);
    mark->event = number_or_nothing(event, is_record ? KINETO_EVENT : KINETO_WAIT_EVENT);
    mark->record = is_record ? mark->correlation : number_or_nothing(event, KINETO_WAIT_RECORD);
    mark->stream = is_stream(stream) ? find_stream(kineto, device, context, stream) : GT_NONE;
    mark->record_stream = GT_NONE;
    mark->device = is_context_sync(event) ? (uint32_t)device : KINETO_NOTHING;
    if (is_stream(record_stream))
        mark->record_stream = find_stream(kineto, device, context, record_stream);
    mark->calls_before = kineto->import.call_count;
    mark->is_record = is_record;
    return 0;
}

/* Names of threads: {"ph": "M", "name": "thread_name", "args": {"name": ...}}. */
static int take_metadata(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    struct kineto_thread_name *name;
    size_t length = event->arg_name.length;

    (void)error;
    if (event->name.length != 11 || memcmp(event->name.bytes, "thread_name", 11) != 0 || length == 0)
        return 0;
    gt_array_grow(kineto->thread_names, kineto->thread_name_count, kineto->thread_name_room);
    name = &kineto->thread_names[kineto->thread_name_count++];
    name->process = kineto_thread_number(number_or(event, KINETO_PID, 0));
    name->id = kineto_thread_number(number_or(event, KINETO_TID, 0));
    length = length < sizeof name->text - 1 ? length : sizeof name->text - 1;
    memcpy(name->text, event->arg_name.bytes, length);
    name->text[length] = '\0';
    return 0;
}

int kineto_take_event(struct kineto *kineto, struct gt_error *error)
{
    static int (*const take[])(struct kineto *, struct gt_error *) = {
        [KINETO_UNKNOWN] = NULL,
        [KINETO_KERNEL] = take_kernel,
        [KINETO_COPY] = take_copy,
        [KINETO_MEMSET] = take_memset,
        [KINETO_CALL] = take_call,
        [KINETO_SYNC] = take_mark,
        [KINETO_RECORD] = take_mark,
        [KINETO_METADATA] = take_metadata,
        [KINETO_NO_INTEREST] = NULL,
        [KINETO_OPERATOR] = kineto_take_range,
        [KINETO_ANNOTATION] = kineto_take_range,
        [KINETO_PYTHON] = kineto_take_range,
        [KINETO_INSTANT] = kineto_take_instant,
    };
    const struct kineto_event *event = &kineto->event;

    if (take[event->category] == NULL || (event->phase != 'X' && event->phase != 'M' && event->phase != 'i'))
        return 0;
    return take[event->category](kineto, error);
}
