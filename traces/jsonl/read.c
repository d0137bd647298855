/* Reading a trace: lines, what each is, and what only the whole file can tell. */
#include "traces/jsonl/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"
#include "traces/import/warnings.h"
#include "traces/io/lines.h"
#include "traces/jsonl/task_lines.h"
#include "traces/jsonl/trace.h"

enum { LINES_A_PROGRESS = 4096 };

/* A call speaks of kernels, streams, events and threads, a range of threads, a stream of GPUs: so in this order. */
const struct gt_jsonl_line gt_jsonl_lines[] = {
    { "call", gt_jsonl_call },
    { "task_graph", gt_jsonl_task_graph },
    { "tasks_of", gt_jsonl_tasks_of },
    { "gridtide", gt_jsonl_header },
    { "kernel", gt_jsonl_kernel },
    { "stream", gt_jsonl_stream },
    { "event", gt_jsonl_event },
    { "range", gt_jsonl_range },
    { "thread", gt_jsonl_thread },
    { "buffer", gt_jsonl_buffer },
    { "gpu", gt_jsonl_gpu },
    { "program", gt_jsonl_program },
    { "group", gt_jsonl_group },
    { "allocations", gt_jsonl_allocations },
    { NULL, NULL },
};

static bool has_key(const struct gt_json_token *object, const char *name)
{
    size_t length = strlen(name);

    for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span)
        if (key->length == length && memcmp(key->text, name, length) == 0)
            return true;
    return false;
}

static int read_object(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    const struct gt_jsonl_line *line = gt_jsonl_lines;

    if (!jsonl->header_read && !has_key(object, "gridtide"))
        return gt_error_set(error,
                            "not a Gridtide trace: its first line is a header, {\"gridtide\":%d}; "
                            "use 'gridtide import' for traces of other tools",
                            GT_TRACE_VERSION);
    while (line->key != NULL && !has_key(object, line->key))
        line++;
    if (line->key == NULL)
        return gt_error_set(
            error,
            "unknown kind of line: a line has one of \"call\", \"kernel\", \"stream\", \"event\", \"thread\", "
            "\"gpu\", \"program\", \"buffer\", \"range\", \"task_graph\", \"tasks_of\", \"group\", \"allocations\"");
    return line->read(jsonl, object, error);
}

static int read_line(struct gt_jsonl *jsonl, struct gt_json_line *json, const char *text, size_t length,
                     struct gt_error *error)
{
    const struct gt_json_token *object;

    if (gt_line_is_comment(text, length))
        return 0;
    object = gt_json_line_parse(json, text, length, error);
    if (object == NULL)
        return jsonl->header_read ? -1 : gt_error_prefix(error, "not the header of a Gridtide trace: ");
    jsonl->line = text;
    return read_object(jsonl, object, error);
}

static int read_lines(struct gt_jsonl *jsonl, struct gt_lines *lines, const char *path,
                      const struct gt_import_options *options, struct gt_error *error)
{
    struct gt_json_line *json = gt_json_line_new();
    size_t length;
    char *text;
    int status;

    while ((status = gt_lines_next(lines, &text, &length, error)) == 1) {
        jsonl->line_number = lines->number < UINT32_MAX ? (uint32_t)lines->number : UINT32_MAX;
        jsonl->read_bytes += length + 1;
        status = read_line(jsonl, json, text, length, error);
        if (status != 0)
            break;
        if (jsonl->unknown.misspelt > 0 && jsonl->misspelt_line == 0)
            jsonl->misspelt_line = lines->number;
        if (options != NULL && options->progress != NULL && lines->number % LINES_A_PROGRESS == 0)
            options->progress(options->progress_user, gt_input_consumed(lines->input), gt_input_size(lines->input));
    }
    gt_json_line_free(json);
    if (status != 0)
        return gt_error_prefix(error, "%s:%llu: ", path, (unsigned long long)lines->number);
    if (!jsonl->header_read)
        return gt_error_set(error,
                            "%s:%llu: contains no trace: the file ends without a header line, {\"gridtide\":%d}",
                            path, (unsigned long long)lines->number + 1, GT_TRACE_VERSION);
    return 0;
}

/* Fields that mean nothing but look as if they were meant to. */
static void warn_of_misspelt(struct gt_jsonl *jsonl, const char *path)
{
    char *text = NULL;

    if (jsonl->unknown.misspelt == 0)
        return;
    if (asprintf(&text, "%s:%llu: %s", path, (unsigned long long)jsonl->misspelt_line,
                 jsonl->unknown.first_misspelt) < 0)
        gt_bug("asprintf failed");
    gt_import_warn_text(jsonl->workload, GT_WARNING_MISSPELT, jsonl->unknown.misspelt, text);
    free(text);
}

/* What gt_workload_check says begins with "line N: " where it knows the line. */
static int check(const struct gt_workload *workload, const char *path, struct gt_error *error)
{
    struct gt_error wrong;
    unsigned line;
    int behind = 0;

    if (gt_workload_check(workload, &wrong) == 0)
        return 0;
    if (sscanf(wrong.text, "line %u: %n", &line, &behind) == 1 && behind > 0)
        return gt_error_set(error, "%s:%u: %.900s", path, line, wrong.text + behind);
    return gt_error_set(error, "%s: %.900s", path, wrong.text);
}

static void open_refs(struct gt_jsonl *jsonl)
{
    jsonl->defaults = gt_refs_new();
    jsonl->gpus = gt_refs_new();
    jsonl->streams = gt_refs_new();
    jsonl->threads = gt_refs_new();
    jsonl->events = gt_refs_new();
    jsonl->buffers = gt_refs_new();
    jsonl->kernels = gt_refs_new();
    jsonl->programs = gt_refs_new();
    jsonl->task_graphs = gt_refs_new();
    jsonl->groups = gt_refs_new();
}

static void close_refs(struct gt_jsonl *jsonl)
{
    gt_refs_free(jsonl->defaults);
    gt_refs_free(jsonl->gpus);
    gt_refs_free(jsonl->streams);
    gt_refs_free(jsonl->threads);
    gt_refs_free(jsonl->events);
    gt_refs_free(jsonl->buffers);
    gt_refs_free(jsonl->kernels);
    gt_refs_free(jsonl->programs);
    gt_refs_free(jsonl->task_graphs);
    gt_refs_free(jsonl->groups);
    gt_jsonl_free_task_graphs(jsonl);
}

struct gt_workload *gt_trace_read(const char *path, const struct gt_import_options *options, struct gt_error *error)
{
    struct gt_jsonl jsonl = { .workload = gt_workload_new() };
    struct gt_input *input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    struct gt_lines lines;
    int status = -1;

    if (input != NULL) {
        open_refs(&jsonl);
        gt_lines_open(&lines, input);
        status = read_lines(&jsonl, &lines, path, options, error);
        if (status == 0)
            status = gt_jsonl_finish_task_graphs(&jsonl, path, error);
        if (status == 0)
            gt_ranges_finish(jsonl.workload, jsonl.range_calls);
        if (status == 0)
            status = check(jsonl.workload, path, error);
        if (status == 0)
            warn_of_misspelt(&jsonl, path);
        gt_lines_close(&lines);
        close_refs(&jsonl);
        free(jsonl.unknown.text);
        free(jsonl.range_calls);
        gt_input_close(input);
    }
    jsonl.workload->path = strdup(path);
    if (status == 0)
        return jsonl.workload;
    gt_workload_free(jsonl.workload);
    return NULL;
}

int gt_trace_sniff(const unsigned char *head, size_t bytes)
{
    static const char key[] = "\"gridtide\"";
    const unsigned char *end = head + bytes, *object;

    while (head < end && gt_line_is_comment((const char *)head, (size_t)(end - head))) {
        head = memchr(head, '\n', (size_t)(end - head));
        if (head++ == NULL)
            return 0;
    }
    object = memchr(head, '{', (size_t)(end - head));
    if (object == NULL || strspn((const char *)head, " \t\r") != (size_t)(object - head))
        return 0;
    for (object++; object < end && (*object == ' ' || *object == '\t');)
        object++;
    return (size_t)(end - object) >= sizeof key - 1 && memcmp(object, key, sizeof key - 1) == 0 ? 100 : 0;
}
