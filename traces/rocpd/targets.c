/* targets.c - which stream or event a call meant.
 *
 * rocpd_arg has the pointers that HIP's functions got, not the numbers of streams.  A launch and its kernel share a number
 * (rocpd_event.stack_id), and the kernel's row names its stream: so a pointer is the stream in which the operations of the
 * last launch that got it ran (a new stream may get the pointer of one that is gone).  An event is what its pointer meant
 * last: a wait is for the last record before it.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/rocpd/internal.h"

enum { CALL, NAME, VALUE, COLUMNS };
static const struct gt_db_column columns[COLUMNS] = {
    [CALL] = { "event_id", GT_DB_VALUE, GT_DB_ANY },
    [NAME] = { "name", GT_DB_TEXT, 0, 0 },
    [VALUE] = { "value", GT_DB_TEXT, 0, 0 },
};

static bool equals_either(const char *text, const char *one, const char *other)
{
    return strcmp(text, one) == 0 || strcmp(text, other) == 0;
}

/* "0x5581d8c0", or a decimal number. */
static bool read_pointer(const char *text, uint64_t *pointer)
{
    char *end;

    *pointer = strtoull(text, &end, 0);
    return end != text && (*end == '\0' || *end == ' ');
}

static int read_argument(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct rocpd *rocpd = user;
    const char *name = gt_db_row_text(rows, NAME), *value = gt_db_row_text(rows, VALUE);
    bool is_stream = name != NULL && equals_either(name, "stream", "hStream");
    bool is_event = name != NULL && equals_either(name, "event", "hEvent");
    struct rocpd_arguments *last;
    uint64_t pointer;

    (void)error;
    if ((!is_stream && !is_event) || value == NULL || !read_pointer(value, &pointer))
        return 0;
    last = rocpd->argument_count > 0 ? &rocpd->arguments[rocpd->argument_count - 1] : NULL;
    if (last == NULL || last->event_id != rows->value[CALL]) {
        gt_array_grow(rocpd->arguments, rocpd->argument_count, rocpd->argument_room);
        last = &rocpd->arguments[rocpd->argument_count++];
        *last = (struct rocpd_arguments){ .event_id = rows->value[CALL] };
    }
    if (is_stream) {
        last->stream = pointer;
        last->has_stream = true;
    } else {
        last->event = pointer;
        last->has_event = true;
    }
    return 0;
}

static int by_event_id(const void *left, const void *right)
{
    const struct rocpd_arguments *a = left, *b = right;

    GT_ORDER(a->event_id, b->event_id);
    return 0;
}

int rocpd_read_arguments(struct rocpd *rocpd, struct gt_error *error)
{
    rocpd->argument_count = 0; /* those of another set */
    if (rocpd_each_row(rocpd, "rocpd_arg", columns, COLUMNS, read_argument, error) != 0)
        return -1;
    if (rocpd->argument_count > 1)
        qsort(rocpd->arguments, rocpd->argument_count, sizeof *rocpd->arguments, by_event_id);
    return 0;
}

const struct rocpd_arguments *rocpd_arguments_of(const struct rocpd *rocpd, int64_t event_id)
{
    const struct rocpd_arguments key = { .event_id = event_id };

    return rocpd->argument_count == 0
               ? NULL
               : bsearch(&key, rocpd->arguments, rocpd->argument_count, sizeof key, by_event_id);
}

/* In which stream an operation of a call ran: by process and the number that both share. */
struct launch_stream {
    uint64_t process;
    uint32_t correlation, stream;
};

static int by_call(const void *left, const void *right)
{
    const struct launch_stream *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

/* Of all operations, by_call(); malloced. */
static struct launch_stream *list_launches(const struct gt_import *import)
{
    struct launch_stream *launches = gt_calloc(import->op_count + 1ull, sizeof *launches);

    for (uint32_t i = 0; i < import->op_count; i++)
        launches[i] =
            (struct launch_stream){ import->ops[i].process, import->ops[i].correlation, import->ops[i].stream };
    if (import->op_count > 1)
        qsort(launches, import->op_count, sizeof *launches, by_call);
    return launches;
}

/* The stream of the call that got this pointer; NULL: it got none, or has no operation. */
static const struct launch_stream *launch_of(const struct gt_import *import, const struct launch_stream *launches,
                                             const struct rocpd_mark *mark)
{
    const struct launch_stream key = { mark->process, (uint32_t)import->calls[mark->call].correlation, 0 };

    if (!mark->arguments.has_stream || key.correlation == GT_NO_CORRELATION || import->op_count == 0)
        return NULL;
    return bsearch(&key, launches, import->op_count, sizeof key, by_call);
}

static int by_time(const void *left, const void *right)
{
    const struct rocpd_mark *a = left, *b = right;

    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->call, b->call);
    return 0;
}

/* What a pointer of a process means: a stream, or the event that its last record made. */
static struct gt_index_key key_of(const struct rocpd_mark *mark, uint64_t pointer)
{
    return (struct gt_index_key){ { mark->process, pointer } };
}

/* What each pointer meant first, which holds before its first launch, too. */
static struct gt_index_map *learn_streams(struct rocpd *rocpd, const struct launch_stream *launches)
{
    struct gt_index_map *streams = NULL;

    for (size_t i = 0; i < rocpd->mark_count; i++) {
        const struct rocpd_mark *mark = &rocpd->marks[i];
        const struct launch_stream *launch = launch_of(&rocpd->import, launches, mark);

        if (launch != NULL && gt_index_map_find(streams, key_of(mark, mark->arguments.stream)) == NULL)
            *gt_index_map_at(&streams, key_of(mark, mark->arguments.stream)) = launch->stream;
    }
    return streams;
}

/* `launch`: of this call, which renews what its pointer means; NULL. */
static uint32_t stream_of(struct rocpd *rocpd, struct gt_index_map *streams, const struct launch_stream *launch,
                          const struct rocpd_mark *mark)
{
    uint32_t *known = NULL;

    if (mark->arguments.has_stream)
        known = gt_index_map_find(streams, key_of(mark, mark->arguments.stream));
    if (known != NULL && launch != NULL)
        *known = launch->stream;
    if (known != NULL)
        return *known;
    /* hipStream_t 0 is the default stream. */
    return mark->arguments.has_stream && mark->arguments.stream == 0 ? rocpd_known_stream(rocpd, mark->process, 0)
                                                                     : GT_NONE;
}

static uint32_t event_of(struct rocpd *rocpd, struct gt_index_map **events, const struct rocpd_mark *mark,
                         bool is_record)
{
    uint32_t *known;

    if (!mark->arguments.has_event)
        return GT_NONE;
    if (is_record) {
        struct gt_workload *workload = rocpd->import.workload;
        uint32_t event = gt_workload_add_event(workload);

        workload->events[event].id = mark->arguments.event;
        *gt_index_map_at(events, key_of(mark, mark->arguments.event)) = event;
        return event;
    }
    known = gt_index_map_find(*events, key_of(mark, mark->arguments.event));
    return known != NULL ? *known : GT_NONE;
}

void rocpd_resolve_targets(struct rocpd *rocpd)
{
    struct launch_stream *launches = list_launches(&rocpd->import);
    struct gt_index_map *streams, *events = NULL;

    if (rocpd->mark_count > 1)
        qsort(rocpd->marks, rocpd->mark_count, sizeof *rocpd->marks, by_time);
    streams = learn_streams(rocpd, launches);
    for (size_t i = 0; i < rocpd->mark_count; i++) {
        const struct rocpd_mark *mark = &rocpd->marks[i];
        struct gt_import_call *call = &rocpd->import.calls[mark->call];

        call->stream = stream_of(rocpd, streams, launch_of(&rocpd->import, launches, mark), mark);
        call->event = event_of(rocpd, &events, mark, call->kind == GT_CALL_EVENT_RECORD);
    }
    gt_index_map_free(streams);
    gt_index_map_free(events);
    free(launches);
}
