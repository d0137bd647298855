/* protobuf_fields.h - the fields of a protobuf message that is a whole file, or the messages of a file of many, one at a time.
 *
 * Traces of Perfetto and spaces of XPlane are one message of many parts, each a field of its own with a length before it
 * (protobuf.dev/programming-guides/encoding): so no more than one part need be in memory.  Chakra's execution traces are
 * many messages, each with its length before it and no tag.  A part has at most 2^31 - 1 bytes, as protobuf has it.
 */
#ifndef GRIDTIDE_TRACES_IO_PROTOBUF_FIELDS_H
#define GRIDTIDE_TRACES_IO_PROTOBUF_FIELDS_H

#include "traces/io/input.h"

enum { GT_PROTOBUF_VARINT_BYTES = 10 };

struct gt_protobuf_fields {
    struct gt_input *input; /* lent */
    uint64_t field_at;      /* the byte at which the field at hand begins */
    uint64_t offset;
    unsigned number; /* the field's; 0: a message's */
    uint8_t *bytes;  /* its value, good until the next */
    size_t length, room;
    size_t ahead_at, ahead_end; /* of the bytes read ahead */
    unsigned char ahead[16384];
};

/* The number at the beginning of `bytes`: how many of them it takes; 0: it is cut off or too long. */
size_t gt_protobuf_varint(const unsigned char *bytes, size_t length, uint64_t *value);

void gt_protobuf_fields_begin(struct gt_protobuf_fields *fields, struct gt_input *input);
/* The next field, which must have a length: 1; 0 at the end of the file; -1 with the reason.  What the input says names the
 * file itself; all else does not. */
int gt_protobuf_fields_next(struct gt_protobuf_fields *fields, struct gt_error *error);
/* The next message, which has its length before it: as gt_protobuf_fields_next(). */
int gt_protobuf_fields_next_message(struct gt_protobuf_fields *fields, struct gt_error *error);
void gt_protobuf_fields_end(struct gt_protobuf_fields *fields);
/* Put "PATH: byte N: " before an error of or about the field at hand, unless it names the file.  Returns -1. */
int gt_protobuf_fields_fail(const struct gt_protobuf_fields *fields, const char *path, struct gt_error *error);

#endif
