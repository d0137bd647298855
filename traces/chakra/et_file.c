#include "traces/chakra/et_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/chakra/et_attributes.h"
#include "traces/io/protobuf_fields.h"

enum { SURE = 90, PERHAPS = 40 };

struct reading {
    struct gt_et_file *file;
    struct gt_protobuf_fields messages;
    uint64_t *ids; /* of dependences, until all nodes are known: data_deps, then ctrl_deps of each node */
    uint64_t id_count, id_room;
    uint32_t *ctrl; /* by node: how many of its dependences are ctrl_deps */
    uint32_t ctrl_room;
};

/* A node's place, by its id. */
struct place {
    uint64_t id;
    uint32_t place;
};

static int by_id(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

static void add_ids(struct reading *r, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gt_array_grow(r->ids, r->id_count, r->id_room);
        r->ids[r->id_count++] = ids[i];
    }
}

static int add_node(struct reading *r, const ChakraProtoMsg__Node *message, struct gt_error *error)
{
    struct gt_et_file *file = r->file;
    uint32_t index = file->count;

    if (index > 0 && file->nodes[index - 1].id == message->id) /* else found at the end */
        return gt_error_set(error, "two nodes have the id %" PRIu64, message->id);
    if (message->n_data_deps >= GT_NONE || message->n_ctrl_deps >= GT_NONE - message->n_data_deps)
        return gt_error_set(error, "node %" PRIu64 " has too many dependences", message->id);
    gt_array_grow(file->nodes, file->count, file->room);
    gt_array_grow(r->ctrl, index, r->ctrl_room);
    file->nodes[file->count++] = gt_et_node_of(message, file->workload);
    file->nodes[index].first_dep = r->id_count;
    file->nodes[index].deps = (uint32_t)(message->n_data_deps + message->n_ctrl_deps);
    r->ctrl[index] = (uint32_t)message->n_ctrl_deps;
    add_ids(r, message->data_deps, message->n_data_deps);
    add_ids(r, message->ctrl_deps, message->n_ctrl_deps);
    return 0;
}

static int read_metadata(struct reading *r, struct gt_error *error)
{
    ChakraProtoMsg__GlobalMetadata *metadata;
    int got = gt_protobuf_fields_next_message(&r->messages, error);

    if (got == 0)
        return gt_error_set(error, "the file is empty");
    if (got < 0)
        return -1;
    metadata = chakra_proto_msg__global_metadata__unpack(NULL, r->messages.length, r->messages.bytes);
    if (metadata == NULL)
        return gt_error_set(error, "no Chakra execution trace: its first message is no GlobalMetadata");
    gt_et_metadata_of(metadata, r->file);
    chakra_proto_msg__global_metadata__free_unpacked(metadata, NULL);
    return 0;
}

static int read_nodes(struct reading *r, const struct gt_import_options *options, struct gt_error *error)
{
    int got;

    while ((got = gt_protobuf_fields_next_message(&r->messages, error)) > 0) {
        ChakraProtoMsg__Node *message = chakra_proto_msg__node__unpack(NULL, r->messages.length, r->messages.bytes);
        int status;

        if (message == NULL)
            return gt_error_set(error, "message %" PRIu32 " is no node of a Chakra execution trace",
                                r->file->count + 1);
        status = add_node(r, message, error);
        chakra_proto_msg__node__free_unpacked(message, NULL);
        if (status != 0)
            return -1;
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(r->messages.input),
                              gt_input_size(r->messages.input));
    }
    return got;
}

static struct place *find_place(const struct place *places, uint32_t count, uint64_t id)
{
    const struct place wanted = { id, 0 };

    return bsearch(&wanted, places, count, sizeof *places, by_id);
}

/* The dependences of one node as places: those on nodes that are not there are an error, or, of ctrl_deps, left out:
 * Chakra's converter removes nodes that others name as their parents. */
static int resolve(struct reading *r, uint32_t index, const struct place *places, struct gt_error *error)
{
    struct gt_et_file *file = r->file;
    struct gt_et_node *node = &file->nodes[index];
    uint64_t first = node->first_dep;
    uint32_t deps = node->deps, data = deps - r->ctrl[index];

    node->first_dep = file->dep_count;
    node->deps = 0;
    for (uint32_t i = 0; i < deps; i++) {
        const struct place *place = find_place(places, file->count, r->ids[first + i]);

        if (place == NULL && i < data)
            return gt_error_set(error, "node %" PRIu64 " depends on node %" PRIu64 ", which is not in the file",
                                node->id, r->ids[first + i]);
        file->lost_parents += place == NULL;
        if (place == NULL)
            continue;
        if (i >= data && node->submitted_by == GT_NONE)
            node->submitted_by = place->place;
        gt_array_grow(file->deps, file->dep_count, file->dep_room);
        file->deps[file->dep_count++] = place->place;
        node->deps++;
    }
    return 0;
}

static int resolve_all(struct reading *r, struct gt_error *error)
{
    struct gt_et_file *file = r->file;
    struct place *places = gt_calloc(file->count + 1ull, sizeof *places);
    int status = 0;

    for (uint32_t i = 0; i < file->count; i++)
        places[i] = (struct place){ file->nodes[i].id, i };
    qsort(places, file->count, sizeof *places, by_id);
    for (uint32_t i = 1; i < file->count && status == 0; i++)
        if (places[i].id == places[i - 1].id)
            status = gt_error_set(error, "two nodes have the id %" PRIu64, places[i].id);
    for (uint32_t i = 0; i < file->count && status == 0; i++)
        status = resolve(r, i, places, error);
    free(places);
    return status;
}

int gt_et_file_read(struct gt_et_file *file, const char *path, const struct gt_import_options *options,
                    struct gt_error *error)
{
    struct reading r = { .file = file };
    struct gt_input *input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    int status;

    if (input == NULL)
        return -1;
    file->rank = GT_NONE;
    gt_protobuf_fields_begin(&r.messages, input);
    if (read_metadata(&r, error) != 0 || read_nodes(&r, options, error) != 0)
        status = gt_protobuf_fields_fail(&r.messages, path, error);
    else if (file->count == 0)
        status = gt_error_set(error, "%.300s: there are no nodes", path);
    else if ((status = resolve_all(&r, error)) != 0)
        gt_error_prefix(error, "%.300s: ", path);
    gt_protobuf_fields_end(&r.messages);
    gt_input_close(input);
    free(r.ids);
    free(r.ctrl);
    return status;
}

void gt_et_file_free(struct gt_et_file *file)
{
    free(file->nodes);
    free(file->deps);
    free(file->device);
    free(file->name);
}

/* A varint below 2^28; false: there is none. */
static bool short_varint(const unsigned char *head, size_t bytes, size_t *at, size_t *value)
{
    uint64_t number;
    size_t length = gt_protobuf_varint(head + *at, bytes - *at, &number);

    *at += length;
    *value = (size_t)number;
    return length > 0 && number < 1 << 28;
}

/* Texts and attributes (fields 1 and 2) that fill the first message; then a node's first field. */
int gt_et_file_sniff(const unsigned char *head, size_t bytes)
{
    size_t at = 0, length, end, field;

    if (!short_varint(head, bytes, &at, &length) || length == 0)
        return 0;
    end = at + length;
    while (at < end) {
        if (at >= bytes || (head[at] != 0x0a && head[at] != 0x12))
            return 0;
        at++;
        if (!short_varint(head, bytes, &at, &field) || field > end - at)
            return 0;
        at += field;
        if (at >= bytes && at < end)
            return PERHAPS;
    }
    if (at >= bytes)
        return at == bytes || end > bytes ? PERHAPS : 0;
    if (!short_varint(head, bytes, &at, &length) || at >= bytes)
        return 0;
    return head[at] == 0x08 || head[at] == 0x12 || head[at] == 0x18 ? SURE : 0;
}
