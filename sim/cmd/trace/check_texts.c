#include "sim/cmd/trace/check_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/cmd/print/json.h"
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
