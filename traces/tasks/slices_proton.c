/* slices_proton.c - tasks of a persistent kernel out of a Chrome trace of Triton's profiler (proton), event by event.
 *
 * Format: triton-lang/triton, third_party/proton/common/lib/TraceDataIO/TraceWriter.cpp at 085a8a5, and recordings of Triton
 * 3.6.0.  An event ("ph" is "X") is a scope of a warp: "pid" is "KERNEL CoreN CTAM" with the SM N and the block M, "tid" is
 * "warp W (line L)", where scopes of a warp that overlap have different lines.  "ts" and "dur" are cycles of the SM's clock,
 * divided by 1,000 as if it had 1,000 MHz; but where a block's first scope begins is the time by the global timer at which
 * the block began.  All scopes of a block of a launch follow each other, so a block that comes again is of another launch.
 */
#include "traces/tasks/slices_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/io/decimal.h"
#include "traces/kineto/kineto.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    VALUE_MAX_BYTES = 16 * 1024 * 1024, /* yajl holds a text as a whole */
    MOST_DEPTH = 64,
    CHROME_CONFIDENCE = 50, /* of the importer of Kineto, which takes other JSON for less */
    NAME_SHOWN = 60
};
static const uint64_t limit_cycles = UINT64_C(1) << 50;

/* Of an event. */
enum field { PHASE, CATEGORY, NAME, PROCESS, THREAD, START, DURATION, FIELDS };
static const char *const field_names[FIELDS] = { "ph", "cat", "name", "pid", "tid", "ts", "dur" };
struct text {
    char *bytes; /* ends in NUL */
    size_t length, room;
    bool present;
};

/* A scope of a warp. */
struct scope {
    uint32_t block, kind, warp;
    uint32_t run; /* it is in this one of the parts of the file that have scopes of one block */
    uint64_t start, end;
};

struct reader {
    struct gt_task_slices *slices;
    struct gt_error *error;
    struct gt_slice_kinds *kinds;
    unsigned depth, list_depth; /* of containers; of the list of events, 0 outside */
    bool in_list, in_event;     /* the next value at depth 2 is that list; what follows is of an event */
    enum field field;
    struct text texts[FIELDS];
    char *kernel;     /* NULL: no scope yet */
    uint64_t foreign; /* events that are no scopes */
    uint64_t values;
    struct scope *scopes;
    uint32_t count, room, runs;
};

bool gt_slices_is_json(const unsigned char *head, size_t bytes)
{
    size_t at = 0;

    while (at < bytes && isspace(head[at]))
        at++;
    return at < bytes && (head[at] == '{' || head[at] == '[');
}

bool gt_slices_is_chrome(const unsigned char *head, size_t bytes)
{
    return gt_importer_kineto.sniff(head, bytes) > CHROME_CONFIDENCE;
}

/* The whole number in digits that ends at text[*end]; `*end` is where it begins then.  Too large ones become `most`. */
static bool number_before(const char *text, size_t *end, uint32_t most, uint32_t *number)
{
    size_t begin = *end;
    uint64_t value;

    while (begin > 0 && isdigit((unsigned char)text[begin - 1]))
        begin--;
    if (begin == *end)
        return false;
    *number = gt_decimal_read(text + begin, *end - begin, 0, &value) == GT_DECIMAL_READ && value < most
                  ? (uint32_t)value
                  : most;
    *end = begin;
    return true;
}

static bool word_before(const char *text, size_t *end, const char *word)
{
    size_t length = strlen(word);

    if (*end < length || memcmp(text + *end - length, word, length) != 0)
        return false;
    *end -= length;
    return true;
}

/* "KERNEL CoreN CTAM": the block M, and how long the kernel's name is. */
static bool read_process(const struct text *text, size_t *name_length, uint32_t *block)
{
    uint32_t sm;

    *name_length = text->length;
    return text->present && number_before(text->bytes, name_length, GT_SLICES_MOST_BLOCKS, block) &&
           word_before(text->bytes, name_length, " CTA") &&
           number_before(text->bytes, name_length, UINT32_MAX, &sm) && word_before(text->bytes, name_length, " Core");
}

/* "warp W (line L)" */
static bool read_thread(const struct text *text, uint32_t *warp)
{
    static const char prefix[] = "warp ";
    size_t end = sizeof prefix - 1;

    if (!text->present || strncmp(text->bytes, prefix, end) != 0)
        return false;
    while (isdigit((unsigned char)text->bytes[end]))
        end++;
    return number_before(text->bytes, &end, UINT32_MAX, warp);
}

static int read_time(struct reader *reader, enum field field, uint64_t *cycles)
{
    const struct text *text = &reader->texts[field];

    if (!text->present)
        return gt_error_set(reader->error, "a scope has no number \"%s\"", field_names[field]);
    if (gt_decimal_parse(text->bytes, text->length, 3, limit_cycles, cycles, reader->error) != 0)
        return gt_error_prefix(reader->error, "\"%s\" of a scope, %.40s, ", field_names[field], text->bytes);
    return 0;
}

static int check_kernel(struct reader *reader, const char *name, size_t length)
{
    if (reader->kernel == NULL)
        reader->kernel = gt_strndup(name, length);
    if (strlen(reader->kernel) == length && memcmp(reader->kernel, name, length) == 0)
        return 0;
    return gt_error_set(reader->error,
                        "the trace has scopes of two kernels, %.*s and %.*s: record a launch of one of them",
                        NAME_SHOWN, reader->kernel, length < NAME_SHOWN ? (int)length : NAME_SHOWN, name);
}

static int take_scope(struct reader *reader, struct scope scope)
{
    const struct scope *last = reader->count > 0 ? &reader->scopes[reader->count - 1] : NULL;
    const struct text *name = &reader->texts[NAME];
    uint64_t cycles;

    if (scope.block == GT_SLICES_MOST_BLOCKS)
        return gt_error_set(reader->error, "\"pid\" %.*s: the number of a block is below %d", NAME_SHOWN,
                            reader->texts[PROCESS].bytes, GT_SLICES_MOST_BLOCKS);
    if (!read_thread(&reader->texts[THREAD], &scope.warp))
        return gt_error_set(reader->error, "a scope's \"tid\" is not \"warp W (line L)\"");
    if (!name->present)
        return gt_error_set(reader->error, "a scope has no \"name\"");
    if (read_time(reader, START, &scope.start) != 0 || read_time(reader, DURATION, &cycles) != 0)
        return -1;
    scope.end = scope.start + cycles;
    scope.kind = gt_slices_kind(reader->slices, &reader->kinds, name->bytes, name->length);
    reader->runs += last == NULL || last->block != scope.block;
    scope.run = reader->runs;
    gt_array_grow(reader->scopes, reader->count, reader->room);
    reader->scopes[reader->count++] = scope;
    return 0;
}

/* Newer versions connect warps by events of no duration, of the category "flow": these are no scopes. */
static int take_event(struct reader *reader)
{
    const struct text *texts = reader->texts;
    struct scope scope = { 0 };
    size_t length;

    if (!texts[PHASE].present || strcmp(texts[PHASE].bytes, "X") != 0)
        return 0;
    if (!read_process(&texts[PROCESS], &length, &scope.block) ||
        (texts[CATEGORY].present && strcmp(texts[CATEGORY].bytes, "flow") == 0)) {
        reader->foreign++;
        return 0;
    }
    if (check_kernel(reader, texts[PROCESS].bytes, length) != 0)
        return -1;
    return take_scope(reader, scope);
}

/* yajl's callbacks: 0 ends the reading, with the reason in reader->error. */
static int on_value(struct reader *reader)
{
    reader->values++;
    reader->in_list = false;
    return 1;
}

static bool in_field(const struct reader *reader)
{
    return reader->in_event && reader->depth == reader->list_depth + 1 && reader->field != FIELDS;
}

static int on_open(struct reader *reader, bool object)
{
    if (++reader->depth > MOST_DEPTH) {
        gt_error_set(reader->error, "containers are nested deeper than %d", MOST_DEPTH);
        return 0;
    }
    if (reader->list_depth == 0 && !object && (reader->depth == 1 || reader->in_list))
        reader->list_depth = reader->depth;
    else if (reader->list_depth > 0 && object && reader->depth == reader->list_depth + 1) {
        reader->in_event = true;
        for (int i = 0; i < FIELDS; i++)
            reader->texts[i].present = false;
    }
    reader->field = FIELDS;
    return on_value(reader);
}

static int on_close(void *user)
{
    struct reader *reader = user;

    if (reader->in_event && reader->depth == reader->list_depth + 1) {
        reader->in_event = false;
        if (take_event(reader) != 0)
            return 0;
    }
    if (reader->depth == reader->list_depth)
        reader->list_depth = 0;
    reader->depth--;
    return 1;
}

static int on_open_object(void *user)
{
    return on_open(user, true);
}

static int on_open_list(void *user)
{
    return on_open(user, false);
}

static int on_key(void *user, const unsigned char *text, size_t length)
{
    static const char list[] = "traceEvents";
    struct reader *reader = user;

    reader->in_list = reader->depth == 1 && length == sizeof list - 1 && memcmp(text, list, length) == 0;
    reader->field = FIELDS;
    for (int i = 0; i < FIELDS && reader->field == FIELDS; i++)
        if (strlen(field_names[i]) == length && memcmp(field_names[i], text, length) == 0)
            reader->field = (enum field)i;
    return 1;
}

/* A value of the event's field; names end at a NUL. */
static int keep(struct reader *reader, const char *bytes, size_t length)
{
    struct text *text = &reader->texts[reader->field];

    length = strnlen(bytes, length);
    if (length >= text->room) {
        text->room = 2 * length + 16;
        text->bytes = gt_realloc(text->bytes, text->room, 1);
    }
    memcpy(text->bytes, bytes, length);
    text->bytes[length] = '\0';
    text->length = length;
    text->present = true;
    return on_value(reader);
}

static int on_string(void *user, const unsigned char *text, size_t length)
{
    struct reader *reader = user;

    return in_field(reader) && reader->field < START ? keep(reader, (const char *)text, length) : on_value(reader);
}

static int on_number(void *user, const char *text, size_t length)
{
    struct reader *reader = user;

    return in_field(reader) && reader->field >= START ? keep(reader, text, length) : on_value(reader);
}

static int on_null(void *user)
{
    return on_value(user);
}

static int on_boolean(void *user, int value)
{
    (void)value;
    return on_value(user);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_open_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_close,
    .yajl_start_array = on_open_list,
    .yajl_end_array = on_close,
};

/* What yajl, or a callback, found wrong `at` bytes behind the start of the text. */
static int fail_at(yajl_handle yajl, yajl_status status, uint64_t at, const char *path, struct gt_error *error)
{
    unsigned char *text;

    if (status == yajl_status_client_canceled)
        return gt_error_prefix(error, "%s: byte %llu: ", path, (unsigned long long)at);
    text = yajl_get_error(yajl, 0, NULL, 0);
    gt_error_set(error, "%s: byte %llu: not JSON: %.*s", path, (unsigned long long)at,
                 (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(yajl, text);
    return -1;
}

static int read_text(struct reader *reader, yajl_handle yajl, struct gt_input *input, const char *path)
{
    unsigned char *bytes = gt_realloc(NULL, CHUNK_BYTES, 1);
    uint64_t offset = 0, values = 0, values_offset = 0;
    ssize_t got;
    int status = 0;

    while (status == 0 && (got = gt_input_read(input, bytes, CHUNK_BYTES, reader->error)) != 0) {
        yajl_status parsed = got > 0 ? yajl_parse(yajl, bytes, (size_t)got) : yajl_status_ok;

        if (got < 0)
            status = -1;
        else if (parsed != yajl_status_ok)
            status = fail_at(yajl, parsed, offset + yajl_get_bytes_consumed(yajl), path, reader->error);
        else if (reader->values == values && offset - values_offset > VALUE_MAX_BYTES)
            status = gt_error_set(reader->error, "%s: byte %llu: a value is longer than %d MiB", path,
                                  (unsigned long long)values_offset, VALUE_MAX_BYTES >> 20);
        offset += status == 0 ? (uint64_t)got : 0;
        if (reader->values != values)
            values_offset = offset;
        values = reader->values;
    }
    free(bytes);
    if (status == 0 && (yajl_complete_parse(yajl) != yajl_status_ok || reader->depth > 0))
        return gt_error_set(reader->error, "%s: byte %llu: the JSON text ends too early; is the file complete?", path,
                            (unsigned long long)offset);
    return status;
}

static int read_events(struct reader *reader, struct gt_input *input, const char *path)
{
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, reader);
    int status;

    if (yajl == NULL)
        gt_no_memory("the JSON parser");
    yajl_config(yajl, yajl_dont_validate_strings, 1);
    yajl_config(yajl, yajl_allow_multiple_values, 1); /* proton writes one text a stream where it records no scopes */
    status = read_text(reader, yajl, input, path);
    yajl_free(yajl);
    if (status == 0 && reader->count == 0)
        status =
            gt_error_set(reader->error,
                         "%s: a Chrome trace without scopes of blocks (\"pid\":\"KERNEL CoreN CTAM\"), %llu other "
                         "events; Triton's profiler records them with backend=\"instrumentation\", data=\"trace\"",
                         path, (unsigned long long)reader->foreign);
    return status;
}

static int by_warp(const void *left, const void *right)
{
    const struct scope *a = left, *b = right;

    GT_ORDER(a->block, b->block);
    GT_ORDER(a->kind, b->kind);
    GT_ORDER(a->warp, b->warp);
    GT_ORDER(a->start, b->start);
    GT_ORDER(a->end, b->end);
    return 0;
}

/* How many scopes from scopes[first] on are of one warp. */
static uint32_t scopes_of_warp(const struct reader *reader, uint32_t first)
{
    const struct scope *scope = &reader->scopes[first];
    uint32_t end = first + 1;

    while (end < reader->count && reader->scopes[end].block == scope->block &&
           reader->scopes[end].kind == scope->kind && reader->scopes[end].warp == scope->warp &&
           reader->scopes[end].run == scope->run)
        end++;
    return end - first;
}

static int check_warp(const struct reader *reader, const struct scope *scope, uint32_t count, uint32_t tasks,
                      const char *path)
{
    if (count == tasks)
        return 0;
    return gt_error_set(reader->error,
                        "%s: warps of block %u have different numbers of scopes \"%.*s\", %u and %u (warp %u): "
                        "which of them are of one task is not known",
                        path, scope->block, NAME_SHOWN, reader->slices->kinds[scope->kind], tasks, count,
                        scope->warp);
}

static void add_task(struct gt_task_slices *slices, const struct scope *scope)
{
    gt_array_grow(slices->slices, slices->count, slices->room);
    slices->slices[slices->count++] = (struct gt_task_slice){ scope->start, scope->end, scope->block, scope->kind };
}

static void widen_task(struct gt_task_slice *slice, const struct scope *scope)
{
    slice->start_ns = scope->start < slice->start_ns ? scope->start : slice->start_ns;
    slice->end_ns = scope->end > slice->end_ns ? scope->end : slice->end_ns;
}

/* Scopes are sorted: those of a block follow each other. */
static int check_launches(const struct reader *reader, const char *path)
{
    for (uint32_t i = 1; i < reader->count; i++) {
        const struct scope *scope = &reader->scopes[i];

        if (scope->block == scope[-1].block && scope->run != scope[-1].run)
            return gt_error_set(reader->error,
                                "%s: the trace has several launches of %.*s: block %u comes again; record one launch",
                                path, NAME_SHOWN, reader->kernel, scope->block);
    }
    return 0;
}

/* Task number k of a block and kind is made of scope number k of each of its warps. */
static int join_warps(struct reader *reader, const char *path)
{
    struct gt_task_slices *slices = reader->slices;
    uint32_t tasks = 0, count;

    for (uint32_t i = 0; i < reader->count; i += count) {
        const struct scope *scope = &reader->scopes[i];
        bool joins = i > 0 && scope[-1].block == scope->block && scope[-1].kind == scope->kind;

        count = scopes_of_warp(reader, i);
        if (joins && check_warp(reader, scope, count, tasks, path) != 0)
            return -1;
        tasks = count;
        for (uint32_t k = 0; k < count; k++)
            if (joins)
                widen_task(&slices->slices[slices->count - count + k], &scope[k]);
            else
                add_task(slices, &scope[k]);
    }
    return 0;
}

int gt_slices_read_proton(struct gt_task_slices *slices, struct gt_input *input, const char *path,
                          struct gt_error *error)
{
    struct reader reader = { .slices = slices, .error = error, .field = FIELDS };
    int status = read_events(&reader, input, path);

    if (reader.count > 1)
        qsort(reader.scopes, reader.count, sizeof *reader.scopes, by_warp);
    if (status == 0)
        status = check_launches(&reader, path) == 0 ? join_warps(&reader, path) : -1;
    for (int i = 0; i < FIELDS; i++)
        free(reader.texts[i].bytes);
    gt_slice_kinds_free(&reader.kinds);
    free(reader.kernel);
    free(reader.scopes);
    return status;
}
