#include "traces/chakra/et_attributes.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/collective.h"

typedef ChakraProtoMsg__AttributeProto Attribute;

/* Readers and writers of the format disagree about an attribute's type, so that any number is taken; below 0 is none. */
static bool number_of(const Attribute *a, uint64_t *number)
{
    double real = -1;
    int64_t whole = -1;

    switch (a->value_case) {
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_DOUBLE_VAL: real = a->double_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FLOAT_VAL: real = a->float_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL: whole = a->int32_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL: whole = a->int64_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT32_VAL: whole = a->uint32_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL: whole = (int64_t)a->uint64_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SINT32_VAL: whole = a->sint32_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SINT64_VAL: whole = a->sint64_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FIXED32_VAL: whole = a->fixed32_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FIXED64_VAL: whole = (int64_t)a->fixed64_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SFIXED32_VAL: whole = a->sfixed32_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SFIXED64_VAL: whole = a->sfixed64_val; break;
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL: whole = a->bool_val; break;
    default: break;
    }
    if (real >= 0 && real < 9e18)
        whole = (int64_t)real;
    *number = (uint64_t)whole;
    return whole >= 0;
}

static const char *text_of(const Attribute *a)
{
    return a->value_case == CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL ? a->string_val : "";
}

/* The place of a text in a list of names; UINT8_MAX: it is none of them. */
static uint8_t place_of(const char *text, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return (uint8_t)i;
    return UINT8_MAX;
}

static uint8_t part_of(const char *text)
{
    static const char *const parts[] = { "", "gap", "return", "host_work", "receive" };
    uint8_t part = place_of(text, parts, sizeof parts / sizeof *parts);

    return part == UINT8_MAX ? GT_ET_WHOLE : part;
}

/* Collectives that Gridtide does not know by themselves are the nearest that move as much: a gather is a reduction's
 * way, a scatter a broadcast's, a barrier an all-reduce of nothing. */
static uint8_t collective_of(uint64_t comm_type)
{
    static const uint8_t kinds[] = {
        GT_ALL_REDUCE, GT_REDUCE,     GT_ALL_GATHER,     GT_REDUCE,         GT_BROADCAST,
        GT_BROADCAST,  GT_ALL_TO_ALL, GT_REDUCE_SCATTER, GT_REDUCE_SCATTER, GT_ALL_REDUCE
    };

    return comm_type < sizeof kinds ? kinds[comm_type] : GT_ALL_REDUCE;
}

static uint32_t small(uint64_t number)
{
    return number < GT_NONE ? (uint32_t)number : GT_NONE;
}

/* Attributes that are a number of 64 bits as it stands. */
static const struct {
    const char *name;
    size_t at;
} plain_numbers[] = {
    { "num_ops", offsetof(struct gt_et_node, num_ops) },
    { "tensor_size", offsetof(struct gt_et_node, tensor_size) },
    { "comm_size", offsetof(struct gt_et_node, comm_size) },
    { "stream", offsetof(struct gt_et_node, stream) },
    { "device", offsetof(struct gt_et_node, device) },
    { "context", offsetof(struct gt_et_node, context) },
    { "tid", offsetof(struct gt_et_node, tid) },
    { "event", offsetof(struct gt_et_node, event) },
    { "buffer", offsetof(struct gt_et_node, buffer) },
    { "buffer_bytes", offsetof(struct gt_et_node, buffer_bytes) },
    { "buffer_device", offsetof(struct gt_et_node, buffer_device) },
    { "comm_tag", offsetof(struct gt_et_node, sequence) },
    { "start_ns", offsetof(struct gt_et_node, start_ns) },
    { "duration_ns", offsetof(struct gt_et_node, duration_ns) },
};

/* Those of 32 bits. */
static const struct {
    const char *name;
    size_t at;
} small_numbers[] = {
    { "comm_src", offsetof(struct gt_et_node, src) },
    { "comm_dst", offsetof(struct gt_et_node, dst) },
    { "root", offsetof(struct gt_et_node, root) },
    { "registers", offsetof(struct gt_et_node, registers) },
    { "shared_bytes", offsetof(struct gt_et_node, shared_bytes) },
    { "dynamic_shared_bytes", offsetof(struct gt_et_node, dynamic_shared_bytes) },
};

static bool take_number(struct gt_et_node *node, const char *name, uint64_t number)
{
    for (size_t i = 0; i < sizeof plain_numbers / sizeof *plain_numbers; i++)
        if (strcmp(name, plain_numbers[i].name) == 0) {
            *(uint64_t *)((char *)node + plain_numbers[i].at) = number;
            return true;
        }
    for (size_t i = 0; i < sizeof small_numbers / sizeof *small_numbers; i++)
        if (strcmp(name, small_numbers[i].name) == 0) {
            *(uint32_t *)((char *)node + small_numbers[i].at) = small(number);
            return true;
        }
    return false;
}

static void take_three(uint32_t three[3], const Attribute *a)
{
    const ChakraProtoMsg__Int64List *list = a->int64_list;

    if (a->value_case != CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_LIST || list->n_values != 3)
        return;
    for (int i = 0; i < 3; i++)
        three[i] = list->values[i] > 0 && list->values[i] <= INT32_MAX ? (uint32_t)list->values[i] : 1;
}

static uint32_t name_of(struct gt_workload *w, const char *text)
{
    return gt_name(w, text, strlen(text));
}

/* Some write a group as a number. */
static uint32_t number_name(struct gt_workload *w, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return name_of(w, text);
}

static void take_text(struct gt_et_node *node, const char *name, const char *text, struct gt_workload *w)
{
    if (strcmp(name, "group_name") == 0 || (strcmp(name, "pg_name") == 0 && node->group == GT_NONE))
        node->group = text[0] != '\0' ? name_of(w, text) : GT_NONE;
    else if (strcmp(name, "dtype") == 0 && text[0] != '\0')
        node->datatype = name_of(w, text);
    else if (strcmp(name, "part") == 0)
        node->part = part_of(text);
    else if (strcmp(name, "call") == 0)
        node->call = place_of(text, gt_call_kind_names, GT_CALL_KINDS);
    else if (strcmp(name, "operation") == 0)
        node->operation = place_of(text, gt_op_kind_names, GT_OP_KINDS);
    else if (strcmp(name, "direction") == 0)
        node->direction = place_of(text, gt_direction_names, GT_DIRECTIONS);
    else if (strcmp(name, "memory") == 0)
        node->memory = place_of(text, gt_memory_names, GT_MEMORIES);
}

static void take(struct gt_et_node *node, const Attribute *a, struct gt_workload *w)
{
    const char *name = a->name;
    uint64_t number = 0;
    bool is_number = number_of(a, &number);

    if (is_number && strcmp(name, "is_cpu_op") == 0)
        node->on_cpu = number != 0;
    else if (is_number && strcmp(name, "comm_type") == 0)
        node->collective = collective_of(number);
    else if (is_number && strcmp(name, "pg_name") == 0)
        node->group = number_name(w, number);
    else if (is_number && strcmp(name, "call_flags") == 0)
        node->call_flags = (uint8_t)(number & (GT_CALL_SYNCHRONOUS | GT_CALL_INFERRED | GT_CALL_TARGET_UNKNOWN));
    else if (is_number && strcmp(name, "stream_flags") == 0)
        node->stream_flags = (uint8_t)(number & 7);
    else if (strcmp(name, "stream_priority") == 0)
        node->priority = a->value_case == CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL ? a->int32_val : 0;
    else if (strcmp(name, "grid") == 0)
        take_three(node->grid, a);
    else if (strcmp(name, "block") == 0)
        take_three(node->block, a);
    else if (!is_number || !take_number(node, name, number))
        take_text(node, name, text_of(a), w);
}

struct gt_et_node gt_et_node_of(const ChakraProtoMsg__Node *message, struct gt_workload *w)
{
    struct gt_et_node node = {
        .id = message->id,
        .start_us = message->start_time_micros,
        .duration_us = message->duration_micros,
        .start_ns = GT_ET_NONE,
        .duration_ns = GT_ET_NONE,
        .stream = GT_ET_NONE,
        .device = GT_ET_NONE,
        .tid = GT_ET_NONE,
        .event = GT_ET_NONE,
        .buffer = GT_ET_NONE,
        .submitted_by = GT_NONE,
        .name = name_of(w, message->name),
        .group = GT_NONE,
        .datatype = GT_NONE,
        .src = GT_NONE,
        .dst = GT_NONE,
        .type = message->type >= 0 && message->type < UINT8_MAX ? (uint8_t)message->type : UINT8_MAX,
        .collective = GT_ALL_REDUCE,
        .call = UINT8_MAX,
        .operation = UINT8_MAX,
        .direction = UINT8_MAX,
        .memory = UINT8_MAX,
    };

    for (size_t i = 0; i < message->n_attr; i++)
        take(&node, message->attr[i], w);
    return node;
}

static void take_metadata(const Attribute *a, const char *name, char **text)
{
    if (strcmp(a->name, name) != 0 || text_of(a)[0] == '\0')
        return;
    free(*text);
    *text = gt_strdup(text_of(a));
}

void gt_et_metadata_of(const ChakraProtoMsg__GlobalMetadata *metadata, struct gt_et_file *file)
{
    for (size_t i = 0; i < metadata->n_attr; i++) {
        const Attribute *a = metadata->attr[i];
        uint64_t number;

        if (strcmp(a->name, "rank") == 0 && number_of(a, &number))
            file->rank = small(number);
        take_metadata(a, "device", &file->device);
        take_metadata(a, "trace", &file->name);
    }
}
