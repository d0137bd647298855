#include "traces/kineto/execution_trace.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/hash.h"
#include "sim/base/sort.h"
#include "traces/io/decimal.h"
#include "traces/io/input.h"
#include "traces/io/json_line.h"

/* Of longer lists PyTorch's observer writes one item more than this (kMaxNumElements), and no further ones. */
enum { CHUNK_BYTES = 1 << 16, MOST_OF_A_LIST = 4096 };
static const uint64_t most_bytes = UINT64_C(1) << 30;

struct text {
    char *bytes;
    size_t length, room;
};

static int read_all(struct text *text, const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    ssize_t got = 0;

    if (input == NULL)
        return -1;
    do {
        text->length += (size_t)got;
        while (text->room - text->length < CHUNK_BYTES)
            gt_array_grow(text->bytes, text->room, text->room);
        if (text->length > most_bytes) {
            gt_input_close(input);
            return gt_error_set(error, "%s: more than 1 GiB; record fewer steps with the observer", path);
        }
        got = gt_input_read(input, text->bytes + text->length, CHUNK_BYTES, error);
    } while (got > 0);
    gt_input_close(input);
    if (got == 0 && text->length == 0)
        return gt_error_set(error, "%s: not an execution trace: the file is empty", path);
    return got == 0 ? 0 : -1;
}

static const struct gt_json_token *end_of(const struct gt_json_token *token)
{
    return token + token->span;
}

/* The object's member of that name; NULL. */
static const struct gt_json_token *member(const struct gt_json_token *object, const char *name)
{
    if (object == NULL || object->type != GT_JSON_OBJECT)
        return NULL;
    for (const struct gt_json_token *key = object + 1; key < end_of(object); key = end_of(key + 1))
        if (key->length == strlen(name) && memcmp(key->text, name, key->length) == 0)
            return key + 1;
    return NULL;
}

static bool is_array(const struct gt_json_token *token)
{
    return token != NULL && token->type == GT_JSON_ARRAY;
}

/* A list beside another: its next item, which steps on; NULL at its end. */
static const struct gt_json_token *next_of(const struct gt_json_token *list, const struct gt_json_token **at)
{
    const struct gt_json_token *item = *at;

    if (!is_array(list) || item >= end_of(list))
        return NULL;
    *at = end_of(item);
    return item;
}

static bool number(const struct gt_json_token *token, uint64_t *value)
{
    return token != NULL && token->type == GT_JSON_NUMBER &&
           gt_decimal_parse(token->text, token->length, 0, INT64_MAX, value, NULL) == 0;
}

/* "cuda:0"; -1 of what is the host's, -2 of what is neither. */
static int64_t gpu_of(const struct gt_json_token *device)
{
    uint64_t gpu = 0;

    if (device->length >= 4 && memcmp(device->text, "cuda", 4) == 0) {
        if (device->length > 5 &&
            gt_decimal_parse(device->text + 5, device->length - 5, 0, UINT16_MAX, &gpu, NULL) != 0)
            return -2;
        return (int64_t)gpu;
    }
    return device->length >= 3 && memcmp(device->text, "cpu", 3) == 0 ? -1 : -2;
}

/* From the first element to the last one, by shape and strides; 0: they do not say. */
static uint64_t elements_of(const struct gt_json_token *shape, const struct gt_json_token *strides)
{
    const struct gt_json_token *at = is_array(shape) ? shape + 1 : NULL;
    const struct gt_json_token *stride_at = is_array(strides) ? strides + 1 : NULL;
    uint64_t elements = 1;

    if (at == NULL || stride_at == NULL)
        return 0;
    for (const struct gt_json_token *size = next_of(shape, &at); size != NULL; size = next_of(shape, &at)) {
        uint64_t count, stride, step;

        if (!number(size, &count) || !number(next_of(strides, &stride_at), &stride) || count == 0 ||
            __builtin_mul_overflow(count - 1, stride, &step) || __builtin_add_overflow(elements, step, &elements))
            return 0;
    }
    return elements;
}

/* [tensor, storage, offset, elements, bytes an element, device] */
static bool is_tensor(const struct gt_json_token *value)
{
    if (!is_array(value) || value->span != 7 || value[6].type != GT_JSON_STRING)
        return false;
    for (int i = 1; i < 6; i++)
        if (value[i].type != GT_JSON_NUMBER)
            return false;
    return true;
}

static void add_tensor(struct et *et, const struct gt_json_token *value, uint64_t hull, bool writes, bool output)
{
    struct et_tensor tensor = { .gpu = gpu_of(&value[6]), .writes = writes, .output = output };
    uint64_t offset, elements, bytes;

    if (tensor.gpu < -1 || !number(&value[2], &tensor.storage) || !number(&value[3], &offset) ||
        !number(&value[4], &elements) || !number(&value[5], &bytes) || elements == 0 || bytes == 0)
        return;
    tensor.open = hull == 0 && elements > 1;
    tensor.element_bytes = bytes;
    if (hull == 0)
        hull = elements;
    if (__builtin_mul_overflow(offset, bytes, &tensor.from) || __builtin_mul_overflow(hull, bytes, &tensor.to) ||
        __builtin_add_overflow(tensor.from, tensor.to, &tensor.to) || tensor.to > INT64_MAX)
        return;
    gt_array_grow(et->tensors, et->tensor_count, et->tensor_room);
    et->tensors[et->tensor_count++] = tensor;
}

/* A tensor, or those of a list. */
static void add_value(struct et *et, const struct gt_json_token *value, const struct gt_json_token *shape,
                      const struct gt_json_token *strides, bool writes, bool output)
{
    const struct gt_json_token *at = value + 1, *shape_at = is_array(shape) ? shape + 1 : NULL;
    const struct gt_json_token *stride_at = is_array(strides) ? strides + 1 : NULL;

    if (is_tensor(value)) {
        add_tensor(et, value, elements_of(shape, strides), writes, output);
        return;
    }
    for (const struct gt_json_token *item = next_of(value, &at); item != NULL; item = next_of(value, &at))
        add_value(et, item, next_of(shape, &shape_at), next_of(strides, &stride_at), writes, output);
}

struct schema {
    const char *text;
    size_t length;
    int mean; /* it changes this argument and the next one, which it does not say; -1: it does not */
};

/* Inputs, or outputs, of a node: what they are, their shapes and strides.  Nodes of schema 1.0.1 are flat. */
struct side {
    const struct gt_json_token *values, *shapes, *strides;
};

static struct side side_of(const struct gt_json_token *node, bool output)
{
    const struct gt_json_token *side = member(node, output ? "outputs" : "inputs");

    if (is_array(side))
        return (struct side){ side, member(node, output ? "output_shapes" : "input_shapes"), NULL };
    return (struct side){ member(side, "values"), member(side, "shapes"), member(side, "strides") };
}

/* Batch norms change means and variances that they are given, two arguments from `mean` on, if argument `training` is true (-1: in
 * any case), and their schemas do not say it (aten/src/ATen/native/native_functions.yaml). */
struct statistics {
    const char *name;
    int mean, training;
};

static int changed_mean(const struct gt_json_token *name, const struct gt_json_token *values)
{
    static const struct statistics operators[] = {
        { "aten::batch_norm", 3, 5 },
        { "aten::_batch_norm_impl_index", 3, 5 },
        { "aten::native_batch_norm", 3, 5 },
        { "aten::cudnn_batch_norm", 3, 5 },
        { "aten::miopen_batch_norm", 3, 5 },
        { "aten::batch_norm_gather_stats", 3, -1 },
        { "aten::batch_norm_gather_stats_with_counts", 3, -1 },
        { "aten::batch_norm_update_stats", 1, -1 },
    };
    const struct gt_json_token *at = is_array(values) ? values + 1 : NULL, *training = NULL;
    const struct statistics *found = NULL;

    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (name->length == strlen(operators[i].name) && memcmp(name->text, operators[i].name, name->length) == 0)
            found = &operators[i];
    if (found == NULL || found->training < 0)
        return found != NULL ? found->mean : -1;
    for (int i = 0; i <= found->training && at != NULL; i++)
        training = next_of(values, &at);
    return training != NULL && training->type == GT_JSON_TRUE ? found->mean : -1;
}

/* Of long lists the observer writes the beginning. */
static bool is_cut(const struct gt_json_token *value)
{
    const struct gt_json_token *at = value + 1;
    uint32_t items = 0;

    while (!is_tensor(value) && next_of(value, &at) != NULL)
        items++;
    return items > MOST_OF_A_LIST;
}

/* False where not all tensors were written down. */
static bool add_values(struct et *et, struct side side, const struct schema *schema, bool output)
{
    const struct gt_json_token *values = side.values, *shapes = side.shapes, *strides = side.strides;
    const struct gt_json_token *at, *shape_at, *stride_at;
    uint32_t place = 0;
    bool whole = true;

    if (!is_array(values))
        return true;
    at = values + 1;
    shape_at = is_array(shapes) ? shapes + 1 : NULL;
    stride_at = is_array(strides) ? strides + 1 : NULL;
    for (const struct gt_json_token *value = next_of(values, &at); value != NULL; value = next_of(values, &at)) {
        const struct gt_json_token *shape = next_of(shapes, &shape_at), *stride = next_of(strides, &stride_at);
        bool writes = output || et_schema_writes(schema->text, schema->length, place) ||
                      (schema->mean >= 0 && (place == (uint32_t)schema->mean || place == (uint32_t)schema->mean + 1));

        whole &= !is_cut(value);
        if (!output || et_schema_makes(schema->text, schema->length, place))
            add_value(et, value, shape, stride, writes, output);
        place++;
    }
    return whole;
}

/* The value of a node's attribute; NULL. */
static const struct gt_json_token *attribute(const struct gt_json_token *node, const char *name)
{
    const struct gt_json_token *attributes = member(node, "attrs"), *at;

    if (!is_array(attributes))
        return member(node, name);
    at = attributes + 1;
    for (const struct gt_json_token *item = next_of(attributes, &at); item != NULL; item = next_of(attributes, &at)) {
        const struct gt_json_token *key = member(item, "name");

        if (key != NULL && key->length == strlen(name) && memcmp(key->text, name, key->length) == 0)
            return member(item, "value");
    }
    return NULL;
}

static void add_node(struct et *et, const struct gt_json_token *object)
{
    static const char record_stream[] = "aten::record_stream";
    const struct gt_json_token *name = member(object, "name"), *text = attribute(object, "op_schema");
    struct et_node node = { .first = et->tensor_count };
    struct side inputs = side_of(object, false);
    struct schema schema = { "", 0, -1 };

    if (name == NULL || !number(attribute(object, "rf_id"), &node.function) || node.function == 0)
        return;
    if (text != NULL && text->type == GT_JSON_STRING && text->length > 0) {
        schema = (struct schema){ text->text, text->length, changed_mean(name, inputs.values) };
        node.known = true;
        node.in_one_stream = name->length < 6 || memcmp(name->text, "c10d::", 6) != 0;
    }
    node.name = gt_hash_bytes(GT_HASH_START, name->text, name->length);
    node.records_stream =
        name->length == sizeof record_stream - 1 && memcmp(name->text, record_stream, name->length) == 0;
    node.known &= add_values(et, inputs, &schema, false);
    node.known &= add_values(et, side_of(object, true), &schema, true);
    node.count = et->tensor_count - node.first;
    gt_array_grow(et->nodes, et->node_count, et->node_room);
    et->nodes[et->node_count++] = node;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct et_node *a = left, *b = right;

    GT_ORDER(a->function, b->function);
    GT_ORDER(a->first, b->first);
    return 0;
}

static int take_document(struct et *et, const struct gt_json_token *document, const char *path,
                         struct gt_error *error)
{
    const struct gt_json_token *nodes = member(document, "nodes"), *at;

    if (!is_array(nodes) || member(document, "schema") == NULL)
        return gt_error_set(
            error, "%s: \"schema\" or list \"nodes\" is missing; was it written by PyTorch's ExecutionTraceObserver?",
            path);
    if (!number(member(document, "pid"), &et->process))
        et->process = 0;
    at = nodes + 1;
    for (const struct gt_json_token *node = next_of(nodes, &at); node != NULL; node = next_of(nodes, &at))
        add_node(et, node);
    if (et->node_count > 0)
        qsort(et->nodes, et->node_count, sizeof *et->nodes, compare_nodes);
    return 0;
}

int et_read(struct et *et, const char *path, struct gt_error *error)
{
    struct gt_json_line *json = gt_json_line_new();
    struct text text = { .bytes = NULL };
    const struct gt_json_token *document;
    int result = -1;

    *et = (struct et){ .nodes = NULL };
    if (read_all(&text, path, error) == 0) {
        document = gt_json_line_parse(json, text.bytes, text.length, error);
        result = document != NULL ? take_document(et, document, path, error)
                                  : gt_error_prefix(error, "%s: not an execution trace: ", path);
    }
    free(text.bytes);
    gt_json_line_free(json);
    return result;
}

void et_free(struct et *et)
{
    free(et->nodes);
    free(et->tensors);
    *et = (struct et){ .nodes = NULL };
}

const struct et_node *et_find(const struct et *et, uint64_t function)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, et->node_count, et->nodes[middle].function < function);
    return low < et->node_count && et->nodes[low].function == function ? &et->nodes[low] : NULL;
}
