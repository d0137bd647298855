/* protobuf_fields.c - fields of protobuf's wire format: a tag, which is a number and a type, a length, and as many bytes;
 * messages of files of many: a length and as many bytes. */
#include "traces/io/protobuf_fields.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_DELIMITED = 2, CHUNK_BYTES = 1024 * 1024 };
/* More than a protobuf message may have. */
#define FIELD_MAX_BYTES INT32_MAX

size_t gt_protobuf_varint(const unsigned char *bytes, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length && i < GT_PROTOBUF_VARINT_BYTES; i++) {
        *value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80)
            return i + 1;
    }
    return 0;
}

/* Up to `bytes` bytes of the file: as gt_input_read(), which small reads would keep busy. */
static ssize_t take(struct gt_protobuf_fields *fields, void *buffer, size_t bytes, struct gt_error *error)
{
    size_t there;

    if (fields->ahead_at == fields->ahead_end) {
        ssize_t got = gt_input_read(fields->input, fields->ahead, sizeof fields->ahead, error);

        if (got <= 0)
            return got;
        fields->ahead_at = 0;
        fields->ahead_end = (size_t)got;
    }
    there = fields->ahead_end - fields->ahead_at;
    if (bytes > there)
        bytes = there;
    memcpy(buffer, fields->ahead + fields->ahead_at, bytes);
    fields->ahead_at += bytes;
    return (ssize_t)bytes;
}

void gt_protobuf_fields_begin(struct gt_protobuf_fields *fields, struct gt_input *input)
{
    memset(fields, 0, offsetof(struct gt_protobuf_fields, ahead));
    fields->input = input;
}

void gt_protobuf_fields_end(struct gt_protobuf_fields *fields)
{
    free(fields->bytes);
    fields->bytes = NULL;
}

/* A number of the file: 1; 0 at its end; -1. */
static int next_varint(struct gt_protobuf_fields *fields, uint64_t *value, struct gt_error *error)
{
    unsigned char bytes[GT_PROTOBUF_VARINT_BYTES];
    size_t length = 0;

    do {
        ssize_t got = take(fields, bytes + length, 1, error);

        if (got < 0)
            return -1;
        if (got == 0)
            return length == 0 ? 0 : gt_error_set(error, "the file ends within a number");
    } while (bytes[length++] >= 0x80 && length < GT_PROTOBUF_VARINT_BYTES);
    fields->offset += length;
    return gt_protobuf_varint(bytes, length, value) != 0 ? 1 : gt_error_set(error, "a number has no end");
}

/* Memory grows with what is there, not with what is promised. */
static int read_value(struct gt_protobuf_fields *fields, uint64_t length, struct gt_error *error)
{
    size_t had = 0;

    if (length > FIELD_MAX_BYTES)
        return gt_error_set(error, "a field of %llu bytes; the file is damaged, or of another format",
                            (unsigned long long)length);
    while (had < length) {
        size_t wanted = length - had < CHUNK_BYTES ? (size_t)length - had : CHUNK_BYTES;
        ssize_t got;

        if (had + wanted > fields->room) {
            fields->room = had + wanted + fields->room / 2;
            fields->bytes = gt_realloc(fields->bytes, fields->room, 1);
        }
        got = take(fields, fields->bytes + had, wanted, error);
        if (got < 0)
            return -1;
        if (got == 0)
            return gt_error_set(error, "the file ends after %zu of a field's %llu bytes; copy it again", had,
                                (unsigned long long)length);
        had += (size_t)got;
    }
    fields->length = (size_t)length;
    fields->offset += length;
    return 0;
}

int gt_protobuf_fields_next(struct gt_protobuf_fields *fields, struct gt_error *error)
{
    uint64_t tag, length;
    int status;

    fields->field_at = fields->offset;
    status = next_varint(fields, &tag, error);
    if (status != 1)
        return status;
    if ((tag & 7) != LENGTH_DELIMITED || tag >> 3 == 0 || tag >> 3 > INT32_MAX)
        return gt_error_set(error, "no field with a length begins here; the file is damaged, or of another format");
    fields->number = (unsigned)(tag >> 3);
    status = next_varint(fields, &length, error);
    if (status != 1)
        return status == 0 ? gt_error_set(error, "the file ends within a field") : -1;
    return read_value(fields, length, error) == 0 ? 1 : -1;
}

int gt_protobuf_fields_next_message(struct gt_protobuf_fields *fields, struct gt_error *error)
{
    uint64_t length;
    int status;

    fields->field_at = fields->offset;
    status = next_varint(fields, &length, error);
    if (status != 1)
        return status;
    fields->number = 0;
    return read_value(fields, length, error) == 0 ? 1 : -1;
}

int gt_protobuf_fields_fail(const struct gt_protobuf_fields *fields, const char *path, struct gt_error *error)
{
    if (!gt_error_names(error, path))
        gt_error_prefix(error, "%s: byte %llu: ", path, (unsigned long long)fields->field_at);
    return -1;
}
