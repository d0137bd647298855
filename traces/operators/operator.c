/* Kinds of operators, and operators. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/operators/internal.h"

enum { SHOWN = 100, MOST_BEFORE = UINT16_MAX };

struct raw_line {
    const struct gt_json_token *op, *kind, *implementations, *after, *buffer, *reads, *writes;
    uint64_t bytes;
};
static const struct gt_field line_fields[] = {
    { "operator", GT_FIELD_TEXT, offsetof(struct raw_line, op), NULL, 0 },
    { "kind", GT_FIELD_TEXT, offsetof(struct raw_line, kind), NULL, 0 },
    { "implementations", GT_FIELD_ARRAY, offsetof(struct raw_line, implementations), NULL, 0 },
    { "after", GT_FIELD_ARRAY, offsetof(struct raw_line, after), NULL, 0 },
    { "buffer", GT_FIELD_TEXT, offsetof(struct raw_line, buffer), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_line, bytes), NULL, 0 },
    { "reads", GT_FIELD_ARRAY, offsetof(struct raw_line, reads), NULL, 0 },
    { "writes", GT_FIELD_ARRAY, offsetof(struct raw_line, writes), NULL, 0 },
};
static const struct gt_field_table line_table = GT_FIELD_TABLE("a line", line_fields);

static bool is_text(const struct gt_json_token *token)
{
    return token != NULL && token->type == GT_JSON_STRING;
}

static int shown(const struct gt_json_token *text)
{
    return text->length < SHOWN ? (int)text->length : SHOWN;
}

static int read_implementations(struct gt_operators_reader *reader, const struct gt_json_token *list, uint32_t kind,
                                struct gt_error *error)
{
    if (list->span == 1)
        return gt_error_set(error, "\"implementations\" is an empty list; there must be one");
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span)
        if (gt_operators_implementation(reader, item, kind, error) != 0)
            return -1;
    return 0;
}

static int add_kind(struct gt_operators_reader *reader, const struct gt_json_token *name,
                    const struct gt_json_token *implementations, uint32_t *kind, struct gt_error *error)
{
    char *copy = gt_strndup(name->text, name->length);

    *kind = gt_operator_graph_add_kind(reader->graph, copy);
    free(copy);
    return read_implementations(reader, implementations, *kind, error);
}

static int read_kind(struct gt_operators_reader *reader, const struct raw_line *raw, struct gt_error *error)
{
    uint32_t line, kind;

    if (raw->implementations == NULL || raw->after != NULL)
        return gt_error_set(error,
                            "a kind has \"implementations\", and an operator of it is {\"operator\":\"NAME\","
                            "\"kind\":\"%.*s\"}",
                            shown(raw->kind), raw->kind->text);
    if (gt_refs_find(reader->kinds, raw->kind, &line) != GT_NONE)
        return gt_error_set(error, "kind '%.*s' was defined on line %u", shown(raw->kind), raw->kind->text, line);
    if (add_kind(reader, raw->kind, raw->implementations, &kind, error) != 0)
        return -1;
    gt_refs_add(reader->kinds, raw->kind, kind, reader->line_number);
    return 0;
}

static int find_kind(struct gt_operators_reader *reader, const struct raw_line *raw, uint32_t *kind,
                     struct gt_error *error)
{
    if ((raw->kind == NULL) == (raw->implementations == NULL))
        return gt_error_set(error, "an operator has either a \"kind\" or \"implementations\" of its own");
    if (raw->implementations != NULL)
        return add_kind(reader, raw->op, raw->implementations, kind, error);
    if (!is_text(raw->kind))
        return gt_error_set(error, "\"kind\" must be a name");
    *kind = gt_refs_find(reader->kinds, raw->kind, NULL);
    if (*kind == GT_NONE)
        return gt_error_set(error,
                            "there is no kind '%.*s' above; {\"kind\":...,\"implementations\":[...]} defines one",
                            shown(raw->kind), raw->kind->text);
    return 0;
}

static int read_after(struct gt_operators_reader *reader, const struct gt_json_token *list, gt_operator_index op,
                      struct gt_error *error)
{
    uint32_t count = 0;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        if (item->type != GT_JSON_STRING)
            return gt_error_set(error, "\"after\" lists operators by their names");
        if (++count > MOST_BEFORE)
            return gt_error_set(error, "an operator comes after %d others at most", MOST_BEFORE);
        gt_array_grow(reader->afters, reader->after_count, reader->after_room);
        reader->afters[reader->after_count].op = op;
        reader->afters[reader->after_count++].before = gt_strndup(item->text, item->length);
    }
    return 0;
}

/* The buffers of one list. */
static int read_accesses(struct gt_operators_reader *reader, const struct gt_json_token *list, gt_operator_index op,
                         bool writes, struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        uint32_t buffer = is_text(item) ? gt_refs_find(reader->buffers, item, NULL) : GT_NONE;

        if (buffer == GT_NONE)
            return gt_error_set(error,
                                "\"%s\" lists buffers by their names, and '%.*s' is none that is defined above: "
                                "{\"buffer\":\"NAME\",\"bytes\":...}",
                                writes ? "writes" : "reads", shown(item), item->text);
        gt_operator_graph_add_access(reader->graph, op, buffer, writes);
    }
    return 0;
}

static int read_buffer(struct gt_operators_reader *reader, const struct raw_line *raw, struct gt_error *error)
{
    uint32_t line;
    char *name;

    if (!is_text(raw->buffer) || raw->bytes == 0)
        return gt_error_set(error, "a buffer has a name and \"bytes\"");
    if (gt_refs_find(reader->buffers, raw->buffer, &line) != GT_NONE)
        return gt_error_set(error, "buffer '%.*s' was defined on line %u", shown(raw->buffer), raw->buffer->text,
                            line);
    name = gt_strndup(raw->buffer->text, raw->buffer->length);
    gt_refs_add(reader->buffers, raw->buffer, gt_operator_graph_add_buffer(reader->graph, name, raw->bytes),
                reader->line_number);
    free(name);
    return 0;
}

static int read_operator(struct gt_operators_reader *reader, const struct raw_line *raw, struct gt_error *error)
{
    gt_operator_index op;
    uint32_t kind = 0, line;
    char *name;

    if (!is_text(raw->op))
        return gt_error_set(error, "\"operator\" must be a name");
    if (gt_refs_find(reader->operators, raw->op, &line) != GT_NONE)
        return gt_error_set(error, "operator '%.*s' was defined on line %u", shown(raw->op), raw->op->text, line);
    if (find_kind(reader, raw, &kind, error) != 0)
        return -1;
    name = gt_strndup(raw->op->text, raw->op->length);
    op = gt_operator_graph_add_operator(reader->graph, name, kind);
    free(name);
    reader->graph->operators[op].line = reader->line_number;
    gt_refs_add(reader->operators, raw->op, op, reader->line_number);
    if ((raw->reads != NULL && read_accesses(reader, raw->reads, op, false, error) != 0) ||
        (raw->writes != NULL && read_accesses(reader, raw->writes, op, true, error) != 0))
        return -1;
    return raw->after == NULL ? 0 : read_after(reader, raw->after, op, error);
}

int gt_operators_line(struct gt_operators_reader *reader, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_line raw = { 0 };
    uint64_t given;

    if (gt_operators_fields(reader, object, &line_table, &raw, &given, error) != 0)
        return -1;
    if (raw.op != NULL)
        return read_operator(reader, &raw, error);
    if (is_text(raw.kind))
        return read_kind(reader, &raw, error);
    if (raw.buffer != NULL)
        return read_buffer(reader, &raw, error);
    return gt_error_set(error, "nothing known: a line behind the header has \"operator\", \"kind\" or \"buffer\"");
}

static bool comes_after(const struct gt_operator_graph *graph, gt_operator_index op, gt_operator_index before)
{
    const struct gt_operator *this = &graph->operators[op];

    for (uint32_t i = 0; i < this->predecessors; i++)
        if (graph->predecessors[this->first_predecessor + i] == before)
            return true;
    return false;
}

int gt_operators_link(struct gt_operators_reader *reader, struct gt_error *error)
{
    for (uint32_t i = 0; i < reader->after_count; i++) {
        const struct gt_operators_after *after = &reader->afters[i];
        struct gt_json_token name = { .type = GT_JSON_STRING,
                                      .text = after->before,
                                      .length = (uint32_t)strlen(after->before) };
        gt_operator_index before = gt_refs_find(reader->operators, &name, NULL);

        if (before == GT_NONE)
            return gt_error_set(error, "line %u: there is no operator '%.200s' for '%.200s' to come after",
                                reader->graph->operators[after->op].line, after->before,
                                reader->graph->operators[after->op].name);
        if (!comes_after(reader->graph, after->op, before))
            gt_operator_graph_add_predecessor(reader->graph, after->op, before);
    }
    return 0;
}
