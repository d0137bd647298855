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

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/io/decimal.h"
#include "traces/kineto/kineto.h"
#include "traces/tasks/chrome_events.h"

enum { CHROME_CONFIDENCE = 50, NAME_SHOWN = 60 }; /* of the importer of Kineto, which takes other JSON for less */
static const uint64_t limit_cycles = UINT64_C(1) << 50;

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
    const struct gt_chrome_text *texts; /* of the event that is taken */
    char *kernel;                       /* NULL: no scope yet */
    uint64_t foreign;                   /* events that are no scopes */
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
static bool read_process(const struct gt_chrome_text *text, size_t *name_length, uint32_t *block)
{
    uint32_t sm;

    *name_length = text->length;
    return text->present && number_before(text->bytes, name_length, GT_SLICES_MOST_BLOCKS, block) &&
           word_before(text->bytes, name_length, " CTA") &&
           number_before(text->bytes, name_length, UINT32_MAX, &sm) && word_before(text->bytes, name_length, " Core");
}

/* "warp W (line L)" */
static bool read_thread(const struct gt_chrome_text *text, uint32_t *warp)
{
    static const char prefix[] = "warp ";
    size_t end = sizeof prefix - 1;

    if (!text->present || strncmp(text->bytes, prefix, end) != 0)
        return false;
    while (isdigit((unsigned char)text->bytes[end]))
        end++;
    return number_before(text->bytes, &end, UINT32_MAX, warp);
}

static int read_time(struct reader *reader, enum gt_chrome_field field, uint64_t *cycles)
{
    const struct gt_chrome_text *text = &reader->texts[field];

    if (!text->present)
        return gt_error_set(reader->error, "a scope has no number \"%s\"", gt_chrome_field_names[field]);
    if (gt_decimal_parse(text->bytes, text->length, 3, limit_cycles, cycles, reader->error) != 0)
        return gt_error_prefix(reader->error, "\"%s\" of a scope, %.40s, ", gt_chrome_field_names[field],
                               text->bytes);
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
    const struct gt_chrome_text *name = &reader->texts[GT_CHROME_NAME];
    uint64_t cycles;

    if (scope.block == GT_SLICES_MOST_BLOCKS)
        return gt_error_set(reader->error, "\"pid\" %.*s: the number of a block is below %d", NAME_SHOWN,
                            reader->texts[GT_CHROME_PROCESS].bytes, GT_SLICES_MOST_BLOCKS);
    if (!read_thread(&reader->texts[GT_CHROME_THREAD], &scope.warp))
        return gt_error_set(reader->error, "a scope's \"tid\" is not \"warp W (line L)\"");
    if (!name->present)
        return gt_error_set(reader->error, "a scope has no \"name\"");
    if (read_time(reader, GT_CHROME_START, &scope.start) != 0 || read_time(reader, GT_CHROME_DURATION, &cycles) != 0)
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
static int take_event(void *user, const struct gt_chrome_text *texts)
{
    struct reader *reader = user;
    struct scope scope = { 0 };
    size_t length;

    reader->texts = texts;
    if (!texts[GT_CHROME_PHASE].present || strcmp(texts[GT_CHROME_PHASE].bytes, "X") != 0)
        return 0;
    if (!read_process(&texts[GT_CHROME_PROCESS], &length, &scope.block) ||
        (texts[GT_CHROME_CATEGORY].present && strcmp(texts[GT_CHROME_CATEGORY].bytes, "flow") == 0)) {
        reader->foreign++;
        return 0;
    }
    if (check_kernel(reader, texts[GT_CHROME_PROCESS].bytes, length) != 0)
        return -1;
    return take_scope(reader, scope);
}

static int read_scopes(struct reader *reader, struct gt_input *input, const char *path)
{
    if (gt_chrome_events_read(input, path, take_event, reader, reader->error) != 0)
        return -1;
    if (reader->count > 0)
        return 0;
    return gt_error_set(
        reader->error,
        "%s: a Chrome trace without scopes of blocks (\"pid\":\"KERNEL CoreN CTAM\"), %llu other events; "
        "Triton's profiler records them with backend=\"instrumentation\", data=\"trace\"",
        path, (unsigned long long)reader->foreign);
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
           reader->scopes[end].kind == scope->kind && reader->scopes[end].warp == scope->warp)
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
    struct reader reader = { .slices = slices, .error = error };
    int status = read_scopes(&reader, input, path);

    if (reader.count > 1)
        qsort(reader.scopes, reader.count, sizeof *reader.scopes, by_warp);
    if (status == 0)
        status = check_launches(&reader, path) == 0 ? join_warps(&reader, path) : -1;
    gt_slice_kinds_free(&reader.kinds);
    free(reader.kernel);
    free(reader.scopes);
    return status;
}
