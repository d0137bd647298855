/* write.c - a plan's ranks as files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/chakra/chakra.h"
#include "traces/chakra/node_message.h"
#include "traces/io/output.h"

enum { MOST_VARINT_BYTES = 10 };

/* What messages are put together in. */
struct buffer {
    uint8_t *bytes;
    size_t room;
};

static size_t put_varint(uint8_t *at, uint64_t value)
{
    size_t bytes = 0;

    for (; value >= 0x80; value >>= 7)
        at[bytes++] = (uint8_t)(value | 0x80);
    at[bytes++] = (uint8_t)value;
    return bytes;
}

/* The message with its length before it. */
static int write_message(struct gt_output *output, const ProtobufCMessage *message, struct buffer *buffer,
                         struct gt_error *error)
{
    size_t bytes = protobuf_c_message_get_packed_size(message), length;

    if (bytes + MOST_VARINT_BYTES > buffer->room) {
        buffer->room = 2 * (bytes + MOST_VARINT_BYTES);
        buffer->bytes = gt_realloc(buffer->bytes, buffer->room, 1);
    }
    length = put_varint(buffer->bytes, bytes);
    protobuf_c_message_pack(message, buffer->bytes + length);
    return gt_output_write(output, buffer->bytes, length + bytes, error);
}

/* What a file says of itself.  Numbers: operations that began before what they come behind had ended, which they cannot in the
 * graph; waits whose target was not recorded, and which measured times alone tell. */
static int write_metadata(struct gt_output *output, const struct gt_node_plan *plan, uint32_t rank,
                          struct buffer *buffer, struct gt_error *error)
{
    enum { TEXTS = 4, NUMBERS = 3 };
    ChakraProtoMsg__AttributeProto attributes[TEXTS + NUMBERS], *list[TEXTS + NUMBERS];
    ChakraProtoMsg__GlobalMetadata metadata;
    char *name = gt_utf8_clean(plan->w->name != NULL ? plan->w->name : "");
    char *device = gt_utf8_clean(plan->w->device != NULL ? plan->w->device : "");
    const char *const names[] = { "schema", "producer", "trace", "device", "rank", "overlapping", "unknown_waits" };
    const char *const texts[TEXTS] = { "1.1.1-chakra.0.0.4", "gridtide", name, device };
    const uint64_t numbers[NUMBERS] = { rank, plan->ranks[rank].overlapping, plan->unknown_waits };
    int status;

    chakra_proto_msg__global_metadata__init(&metadata);
    metadata.version = (char *)"0.0.4";
    for (int i = 0; i < TEXTS + NUMBERS; i++) {
        list[i] = &attributes[i];
        chakra_proto_msg__attribute_proto__init(&attributes[i]);
        attributes[i].name = (char *)names[i];
        attributes[i].value_case = i < TEXTS ? CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL
                                             : CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL;
        if (i < TEXTS)
            attributes[i].string_val = (char *)texts[i];
        else
            attributes[i].int64_val = (int64_t)numbers[i - TEXTS];
    }
    metadata.attr = list;
    metadata.n_attr = TEXTS + NUMBERS;
    status = write_message(output, &metadata.base, buffer, error);
    free(name);
    free(device);
    return status;
}

static int write_rank(struct gt_output *output, const struct gt_node_plan *plan, uint32_t rank,
                      struct gt_error *error)
{
    struct gt_node_message *message = gt_calloc(1, sizeof *message);
    struct buffer buffer = { NULL, 0 };
    int status = write_metadata(output, plan, rank, &buffer, error);

    for (uint32_t i = 0; i < plan->ranks[rank].count && status == 0; i++) {
        gt_node_message_make(message, plan, rank, i);
        status = write_message(output, &message->node.base, &buffer, error);
    }
    gt_node_message_free(message);
    free(message);
    free(buffer.bytes);
    return status;
}

/* Of one rank a name that ends in .et, compressed or not, is the file's own. */
static char *name_of(const char *path, uint32_t rank, uint32_t ranks)
{
    static const char *const endings[] = { ".et", ".et.gz", ".et.zst" };
    size_t length = strlen(path);

    if (strcmp(path, "-") == 0)
        return gt_strdup(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (gt_ends(path, length, endings[i]))
            return ranks == 1
                       ? gt_strdup(path)
                       : gt_format("%.*s.%" PRIu32 "%s", (int)(length - strlen(endings[i])), path, rank, endings[i]);
    return gt_format("%s.%" PRIu32 ".et", path, rank);
}

/* All of them are whole, and on the disk, before the first gets its name. */
static int write_ranks(const struct gt_node_plan *plan, const char *path, struct gt_error *error)
{
    struct gt_output **outputs = gt_calloc(plan->count, sizeof *outputs);
    int status = 0;

    for (uint32_t i = 0; i < plan->count && status == 0; i++) {
        char *name = name_of(path, i, plan->count);

        outputs[i] = gt_output_open(name, error);
        free(name);
        status = outputs[i] == NULL ? -1 : write_rank(outputs[i], plan, i, error);
        if (status == 0)
            status = gt_output_finish(outputs[i], error);
    }
    for (uint32_t i = 0; i < plan->count; i++)
        if (status == 0)
            status = gt_output_commit(outputs[i], error);
        else
            gt_output_abandon(outputs[i]);
    free(outputs);
    return status;
}

int gt_chakra_write(const struct gt_workload *workload, const char *path, struct gt_error *error)
{
    struct gt_node_plan plan;
    int status = gt_node_plan_make(&plan, workload, error);

    if (status == 0 && plan.count > 1 && strcmp(path, "-") == 0)
        status =
            gt_error_set(error, "the trace has %" PRIu32 " ranks, a file each; name them with -o PREFIX", plan.count);
    if (status == 0)
        status = write_ranks(&plan, path, error);
    gt_node_plan_free(&plan);
    return status;
}
