#include "sim/cmd/trace/check_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/cmd/print/json.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

/* "line 12", or "call 3" of a trace that was imported. */
char *gt_check_place_text(const struct gt_workload *w, gt_call_index call)
{
    return w->calls[call].line != 0 ? gt_format("line %" PRIu32, w->calls[call].line)
                                    : gt_format("call %" PRIu32, call);
}

/* Has another GPU a legacy default stream, too? */
static bool defaults_elsewhere(const struct gt_workload *w, gt_gpu_index gpu)
{
    for (gt_stream_index i = 0; i < w->stream_count; i++)
        if (w->streams[i].flags & GT_STREAM_LEGACY_DEFAULT && w->streams[i].gpu != gpu)
            return true;
    return false;
}

/* Has another GPU a stream of that number, too? */
static bool number_elsewhere(const struct gt_workload *w, const struct gt_stream *stream)
{
    for (gt_stream_index i = 0; i < w->stream_count; i++)
        if (w->streams[i].id == stream->id && w->streams[i].gpu != stream->gpu && w->streams[i].name == GT_NONE)
            return true;
    return false;
}

char *gt_check_stream_text(const struct gt_workload *w, gt_stream_index index)
{
    const struct gt_stream *stream = &w->streams[index];

    if (stream->flags & GT_STREAM_LEGACY_DEFAULT && defaults_elsewhere(w, stream->gpu))
        return gt_format("default_stream_of_gpu_%" PRIu32, w->gpus[stream->gpu].id);
    if (stream->flags & GT_STREAM_LEGACY_DEFAULT)
        return gt_strdup("default_stream");
    if (stream->name != GT_NONE)
        return gt_strdup(gt_name_text(w, stream->name));
    if (number_elsewhere(w, stream))
        return gt_format("%" PRIu64 "_of_gpu_%" PRIu32, stream->id, w->gpus[stream->gpu].id);
    return gt_format("%" PRIu64, stream->id);
}

static char *op_name(const struct gt_workload *w, const struct gt_op *op)
{
    if (op->kind == GT_OP_KERNEL)
        return gt_short_name(gt_name_text(w, w->kernels[op->kernel].name), GT_SHORT_NAME_COLUMNS);
    if (op->kind == GT_OP_COPY)
        return gt_format("copy %s", gt_direction_names[op->direction]);
    return gt_strdup(gt_op_kind_names[op->kind]);
}

static bool in_graph(const struct gt_workload *w, gt_op_index op)
{
    return w->calls[w->ops[op].call].kind == GT_CALL_GRAPH_LAUNCH;
}

/* Whom others wait for: of a graph's nodes the stream that it was launched into, whatever it was recorded in. */
static gt_stream_index stream_of(const struct gt_workload *w, gt_op_index op)
{
    const struct gt_call *call = &w->calls[w->ops[op].call];

    return in_graph(w, op) && call->stream != GT_NONE ? call->stream : w->ops[op].stream;
}

static uint64_t process_of(const struct gt_workload *w, gt_op_index op)
{
    return w->threads[w->calls[w->ops[op].call].thread].process;
}

static bool other_processes(const struct gt_workload *w)
{
    for (gt_thread_index i = 1; i < w->thread_count; i++)
        if (w->threads[i].process != w->threads[0].process)
            return true;
    return false;
}

char *gt_check_op_text(const struct gt_workload *w, gt_op_index index)
{
    const struct gt_op *op = &w->ops[index];
    char *name = op_name(w, op), *place = gt_check_place_text(w, op->call),
         *stream = gt_check_stream_text(w, stream_of(w, index)), *text;
    char *process = other_processes(w) ? gt_format(", process %" PRIu64, process_of(w, index)) : gt_strdup("");

    if (in_graph(w, index))
        text = gt_format("%s (%s, node %" PRIu32 ", stream %s%s)", name, place, index - w->calls[op->call].first_op,
                         stream, process);
    else
        text = gt_format("%s (%s, stream %s%s)", name, place, stream, process);
    free(name);
    free(place);
    free(stream);
    free(process);
    return text;
}

char *gt_check_buffer_text(const struct gt_workload *w, const struct gt_race *race)
{
    if (race->buffer == GT_NONE)
        return gt_format("address 0x%" PRIx64, race->from);
    return gt_strdup(gt_name_text(w, w->buffers[race->buffer].name));
}

/* What the texts about a race are made of. */
struct parts {
    char *first, *second, *from, *to, *first_place, *second_place;
};

static struct parts parts_of(const struct gt_workload *w, const struct gt_race *race)
{
    const struct gt_op *first = &w->ops[race->first], *second = &w->ops[race->second];

    return (struct parts){ gt_check_op_text(w, race->first),
                           gt_check_op_text(w, race->second),
                           gt_check_stream_text(w, stream_of(w, race->first)),
                           gt_check_stream_text(w, stream_of(w, race->second)),
                           gt_check_place_text(w, first->call),
                           gt_check_place_text(w, second->call) };
}

static void free_parts(struct parts *parts)
{
    free(parts->first);
    free(parts->second);
    free(parts->from);
    free(parts->to);
    free(parts->first_place);
    free(parts->second_place);
}

static bool same_graph(const struct gt_workload *w, const struct gt_race *race)
{
    return w->ops[race->first].call == w->ops[race->second].call;
}

/* The memory went back while another stream than the one that gives it back still used it. */
static bool freed_too_early(const struct gt_workload *w, const struct gt_race *race)
{
    return race->freed != GT_NONE && w->calls[race->freed].stream != GT_NONE &&
           w->calls[race->freed].stream != stream_of(w, race->first);
}

char *gt_check_missing_text(const struct gt_workload *w, const struct gt_race *race)
{
    struct parts parts = parts_of(w, race);
    char *text, *place;

    if (same_graph(w, race)) {
        text = gt_format("no path of graph edges leads from %s to %s", parts.first, parts.second);
    } else if (race->freed != GT_NONE) {
        place = gt_check_place_text(w, race->freed);
        text = gt_format("the memory was freed at %s and allocated again; nothing makes stream %s wait until %s is "
                         "done",
                         place, parts.to, parts.first);
        free(place);
    } else {
        text = gt_format("nothing makes stream %s wait at %s until %s is done", parts.to, parts.second_place,
                         parts.first);
    }
    free_parts(&parts);
    return text;
}

static char *early_free_fix(const struct gt_workload *w, const struct gt_race *race, const struct parts *parts)
{
    char *place = gt_check_place_text(w, race->freed),
         *stream = gt_check_stream_text(w, w->calls[race->freed].stream), *text;
    char *buffer = race->first_buffer != GT_NONE ? gt_strdup(gt_name_text(w, w->buffers[race->first_buffer].name))
                                                 : gt_strdup("the buffer");

    if (w->calls[race->freed].stream == stream_of(w, race->second))
        text = gt_format("before it is freed at %s: %s.record_stream(%s), or %s.wait_stream(%s)", place, buffer,
                         parts->from, stream, parts->from);
    else /* what is given back in one stream and used in another again */
        text = gt_format("before it is freed at %s: %s.record_stream(%s), or both %s.wait_stream(%s) and, before "
                         "%s, "
                         "%s.wait_stream(%s)",
                         place, buffer, parts->from, stream, parts->from, parts->second_place, parts->to, stream);
    free(place);
    free(stream);
    free(buffer);
    return text;
}

char *gt_check_fix_text(const struct gt_workload *w, const struct gt_race *race)
{
    struct parts parts = parts_of(w, race);
    char *text;

    if (same_graph(w, race))
        text = gt_format("an edge of the graph at %s from node %" PRIu32 " to node %" PRIu32, parts.first_place,
                         race->first - w->calls[w->ops[race->first].call].first_op,
                         race->second - w->calls[w->ops[race->second].call].first_op);
    else if (freed_too_early(w, race))
        text = early_free_fix(w, race, &parts);
    else if (process_of(w, race->first) != process_of(w, race->second))
        text = gt_format("before %s: an event that both processes share (cudaIpcGetEventHandle), recorded in %s "
                         "after %s, that %s waits for",
                         parts.second_place, parts.from, parts.first_place, parts.to);
    else if (w->ops[race->first].call >
             w->ops[race->second].call) /* a rank's part of a collective, asked for too late */
        text =
            gt_format("submit %s, and the work of its rank before it, before %s, and between them %s.wait_stream(%s)",
                      parts.first_place, parts.second_place, parts.to, parts.from);
    else
        text = gt_format("before %s: %s.wait_stream(%s), or an event recorded in %s after %s that %s waits for",
                         parts.second_place, parts.to, parts.from, parts.from, parts.first_place, parts.to);
    free_parts(&parts);
    return text;
}

/* One in words; all are malloced. */
struct words {
    char *buffer, *first, *second, *fix;
};

static char *free_text(const struct gt_workload *w, gt_call_index call)
{
    char *place = gt_check_place_text(w, call), *stream, *text;

    if (w->calls[call].stream == GT_NONE) {
        text = gt_format("free (%s)", place);
    } else {
        stream = gt_check_stream_text(w, w->calls[call].stream);
        text = gt_format("free (%s, stream %s)", place, stream);
        free(stream);
    }
    free(place);
    return text;
}

static char *in_use_fix(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *place = gt_check_place_text(w, misuse->freed);
    char *by = gt_check_stream_text(w, w->calls[misuse->freed].stream);
    char *user = gt_check_stream_text(w, w->ops[misuse->op].stream);
    char *text =
        gt_format("before the free at %s: %s.wait_stream(%s), or free it in stream %s", place, by, user, user);

    free(place);
    free(by);
    free(user);
    return text;
}

static char *fix_text(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *place, *text;

    switch ((enum gt_misuse_kind)misuse->kind) {
    case GT_MISUSE_FREE_IN_USE: return in_use_fix(w, misuse);
    case GT_MISUSE_DOUBLE_FREE:
        place = gt_check_place_text(w, misuse->again);
        text = gt_format("no free at %s: nothing was allocated there since the last free", place);
        break;
    default:
        place = gt_check_place_text(w, misuse->freed);
        text = gt_format("free it after its last use, not at %s", place);
        break;
    }
    free(place);
    return text;
}

static struct words words_of(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *freed = free_text(w, misuse->freed);
    char *other = misuse->op != GT_NONE ? gt_check_op_text(w, misuse->op) : free_text(w, misuse->again);
    bool in_use = misuse->kind == GT_MISUSE_FREE_IN_USE;

    return (struct words){
        .buffer = gt_strdup(gt_name_text(w, w->buffers[misuse->buffer].name)),
        .first = in_use ? other : freed,
        .second = in_use ? freed : other,
        .fix = fix_text(w, misuse),
    };
}

static void free_words(struct words *words)
{
    free(words->buffer);
    free(words->first);
    free(words->second);
    free(words->fix);
}

static void print_line(const char *what, const char *text)
{
    char *clean = gt_clean_name(text);

    printf("%s%s\n", what, clean);
    free(clean);
}

static void print_misuse(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    struct words words = words_of(w, misuse);

    printf("\n%s of ", gt_misuse_kind_names[misuse->kind]);
    print_line("", words.buffer);
    print_line("  first   ", words.first);
    print_line("  second  ", words.second);
    print_line("  do      ", words.fix);
    free_words(&words);
}

uint32_t gt_check_certain_misuses(const struct gt_misuses *misuses)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < misuses->count; i++)
        count += misuses->list[i].certain;
    return count;
}

void gt_check_print_misuses(const struct gt_workload *w, const struct gt_misuses *misuses)
{
    uint32_t certain = gt_check_certain_misuses(misuses);

    for (uint32_t i = 0; i < misuses->count; i++)
        if (misuses->list[i].certain)
            print_misuse(w, &misuses->list[i]);
    if (misuses->count > certain)
        printf("\n%" PRIu32
               " stream-ordered free%s of a buffer that another stream may still use, not counted: an error with "
               "cudaFreeAsync, but not with an allocator that caches the memory; --format json lists them\n",
               misuses->count - certain, misuses->count - certain > 1 ? "s" : "");
}

static void put(yajl_gen json, const char *key, const char *text)
{
    gt_json_text(json, key);
    gt_json_text(json, text);
}

void gt_check_put_misuses(yajl_gen json, const struct gt_workload *w, const struct gt_misuses *misuses)
{
    gt_json_text(json, "misuses");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < misuses->count; i++) {
        struct words words = words_of(w, &misuses->list[i]);

        yajl_gen_map_open(json);
        put(json, "kind", gt_misuse_kind_names[misuses->list[i].kind]);
        put(json, "buffer", words.buffer);
        put(json, "first", words.first);
        put(json, "second", words.second);
        put(json, "fix", words.fix);
        gt_json_text(json, "certain");
        yajl_gen_bool(json, misuses->list[i].certain);
        yajl_gen_map_close(json);
        free_words(&words);
    }
    yajl_gen_array_close(json);
}

struct gt_table *gt_check_misuse_table(const struct gt_workload *w, const struct gt_misuses *misuses)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT }, { "buffer", GT_COLUMN_TEXT }, { "first", GT_COLUMN_TEXT }, { "second", GT_COLUMN_TEXT },
        { "fix", GT_COLUMN_WIDE }, { "certain", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("misuses", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < misuses->count; i++) {
        struct words words = words_of(w, &misuses->list[i]);

        gt_table_text(table, gt_misuse_kind_names[misuses->list[i].kind]);
        gt_table_text(table, words.buffer);
        gt_table_text(table, words.first);
        gt_table_text(table, words.second);
        gt_table_text(table, words.fix);
        gt_table_integer(table, misuses->list[i].certain);
        free_words(&words);
    }
    return table;
}
