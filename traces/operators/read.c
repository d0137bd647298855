/* Lines of an operator graph, and what only the whole file can tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/lines.h"
#include "traces/operators/internal.h"
#include "traces/operators/operators.h"

enum { MOST_WORKERS_PER_SM = 64, MOST_BLOCK_THREADS = 1024 };

struct raw_header {
    const struct gt_json_token *name, *device, *times;
    uint32_t version, workers_per_sm, block_threads;
};
static const struct gt_field header_fields[] = {
    { "operator_graph", GT_FIELD_U32, offsetof(struct raw_header, version), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_header, name), NULL, 0 },
    { "device", GT_FIELD_TEXT, offsetof(struct raw_header, device), NULL, 0 },
    { "times", GT_FIELD_TEXT, offsetof(struct raw_header, times), NULL, 0 },
    { "workers_per_sm", GT_FIELD_U32, offsetof(struct raw_header, workers_per_sm), NULL, 0 },
    { "block", GT_FIELD_U32, offsetof(struct raw_header, block_threads), NULL, 0 },
};
static const struct gt_field_table header_table = GT_FIELD_TABLE("the header", header_fields);
enum { VERSION_GIVEN = 1 };

int gt_operators_fields(struct gt_operators_reader *reader, const struct gt_json_token *object,
                        const struct gt_field_table *table, void *into, uint64_t *given, struct gt_error *error)
{
    if (gt_fields_read(object, table, reader->line, into, given, &reader->unknown, error) != 0)
        return -1;
    if (reader->unknown.misspelt > 0)
        return gt_error_set(error, "%s", reader->unknown.first_misspelt);
    return 0;
}

static char *copy_text(const struct gt_json_token *text)
{
    return text != NULL && text->type == GT_JSON_STRING ? gt_strndup(text->text, text->length) : NULL;
}

int gt_operators_header(struct gt_operators_reader *reader, const struct gt_json_token *object,
                        struct gt_error *error)
{
    struct gt_operator_graph *graph = reader->graph;
    struct raw_header raw = { .workers_per_sm = graph->workers_per_sm, .block_threads = graph->block_threads };
    uint64_t given;

    if (gt_operators_fields(reader, object, &header_table, &raw, &given, error) != 0)
        return -1;
    if ((given & VERSION_GIVEN) == 0)
        return gt_error_set(error,
                            "not an operator graph: its first line is a header, {\"operator_graph\":%d}; "
                            "traces/GRAPH.md describes the rest",
                            GT_OPERATOR_GRAPH_VERSION);
    if (raw.version != GT_OPERATOR_GRAPH_VERSION)
        return gt_error_set(error, "an operator graph of version %u; this program reads version %d", raw.version,
                            GT_OPERATOR_GRAPH_VERSION);
    if (raw.workers_per_sm < 1 || raw.workers_per_sm > MOST_WORKERS_PER_SM)
        return gt_error_set(error, "\"workers_per_sm\" must be from 1 to %d", MOST_WORKERS_PER_SM);
    if (raw.block_threads < 1 || raw.block_threads > MOST_BLOCK_THREADS)
        return gt_error_set(error, "\"block\", the threads of a worker, must be from 1 to %d", MOST_BLOCK_THREADS);
    graph->workers_per_sm = raw.workers_per_sm;
    graph->block_threads = raw.block_threads;
    graph->name = copy_text(raw.name);
    graph->note = copy_text(raw.times);
    if (graph->device == NULL)
        graph->device = copy_text(raw.device);
    reader->header_read = true;
    return 0;
}

static int read_line(struct gt_operators_reader *reader, struct gt_json_line *json, const char *text, size_t length,
                     struct gt_error *error)
{
    const struct gt_json_token *object;

    if (gt_line_is_comment(text, length))
        return 0;
    object = gt_json_line_parse(json, text, length, error);
    if (object == NULL)
        return -1;
    reader->line = text;
    return reader->header_read ? gt_operators_line(reader, object, error)
                               : gt_operators_header(reader, object, error);
}

static int read_lines(struct gt_operators_reader *reader, struct gt_input *input, const char *path,
                      struct gt_error *error)
{
    struct gt_json_line *json = gt_json_line_new();
    struct gt_lines lines;
    size_t length;
    char *text;
    int status;

    gt_lines_open(&lines, input);
    while ((status = gt_lines_next(&lines, &text, &length, error)) == 1) {
        reader->line_number = lines.number < UINT32_MAX ? (uint32_t)lines.number : UINT32_MAX;
        status = read_line(reader, json, text, length, error);
        if (status != 0)
            break;
    }
    if (status != 0)
        gt_error_prefix(error, "%s:%llu: ", path, (unsigned long long)lines.number);
    gt_lines_close(&lines);
    gt_json_line_free(json);
    return status;
}

/* What is said of the whole graph begins with "line N: " where a line is to blame. */
static int finish(struct gt_operators_reader *reader, const char *path, struct gt_error *error)
{
    struct gt_error wrong;
    unsigned line;
    int behind = 0;

    if (!reader->header_read)
        return gt_error_set(error,
                            "%s: no operator graph in it: the file has no header line, {\"operator_graph\":%d}", path,
                            GT_OPERATOR_GRAPH_VERSION);
    if (gt_operators_link(reader, &wrong) == 0 && gt_operator_graph_finish(reader->graph, &wrong) == 0)
        return 0;
    if (sscanf(wrong.text, "line %u: %n", &line, &behind) == 1 && behind > 0)
        return gt_error_set(error, "%s:%u: %.900s", path, line, wrong.text + behind);
    return gt_error_set(error, "%s: %.900s", path, wrong.text);
}

static void close_reader(struct gt_operators_reader *reader)
{
    for (uint32_t i = 0; i < reader->after_count; i++)
        free(reader->afters[i].before);
    free(reader->afters);
    free(reader->unknown.text);
    gt_workload_free(reader->names.workload);
    gt_refs_free(reader->kinds);
    gt_refs_free(reader->operators);
    gt_refs_free(reader->buffers);
}

struct gt_operator_graph *gt_operators_read(const char *path, const char *device, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct gt_operators_reader reader = { .header_read = false };
    int status;

    if (input == NULL)
        return NULL;
    reader.graph = gt_operator_graph_new();
    reader.graph->device = gt_strdup(device);
    reader.names.workload = gt_workload_new();
    reader.kinds = gt_refs_new();
    reader.operators = gt_refs_new();
    reader.buffers = gt_refs_new();
    status = read_lines(&reader, input, path, error);
    if (status == 0)
        status = finish(&reader, path, error);
    close_reader(&reader);
    gt_input_close(input);
    if (status == 0)
        return reader.graph;
    gt_operator_graph_free(reader.graph);
    return NULL;
}
