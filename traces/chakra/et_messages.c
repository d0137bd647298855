#include "traces/chakra/et_messages.h"

#include <inttypes.h>

enum { VARINT_BITS = 7, MOST_BITS = 63, STEP_BYTES = 1 << 16 };

/* One byte: 1, 0 at the end, -1. */
static int read_byte(struct gt_et_messages *m, uint8_t *byte, struct gt_error *error)
{
    ssize_t got = gt_input_read(m->input, byte, 1, error);

    m->next += got > 0;
    return (int)got;
}

/* 1, 0 where the file ends before it, -1. */
static int read_length(struct gt_et_messages *m, uint64_t *length, struct gt_error *error)
{
    uint8_t byte = 0x80;

    *length = 0;
    for (unsigned bits = 0; byte & 0x80; bits += VARINT_BITS) {
        int got = read_byte(m, &byte, error);

        if (got < 0 || (got == 0 && bits == 0))
            return got;
        if (got == 0)
            return gt_error_set(error, "byte %" PRIu64 ": the file ends within a message's length", m->at);
        if (bits + VARINT_BITS > MOST_BITS)
            return gt_error_set(error, "byte %" PRIu64 ": the length of a message is no number", m->at);
        *length |= (uint64_t)(byte & 0x7f) << bits;
    }
    return 1;
}

int gt_et_messages_next(struct gt_et_messages *m, struct gt_error *error)
{
    uint64_t length;
    int got;

    m->at = m->next;
    got = read_length(m, &length, error);
    if (got <= 0)
        return got;
    for (m->length = 0; m->length < length;) {
        size_t step = length - m->length < STEP_BYTES ? (size_t)(length - m->length) : STEP_BYTES;
        ssize_t more;

        if (m->length + step > m->room) {
            m->room = 2 * (m->length + step);
            m->bytes = gt_realloc(m->bytes, m->room, 1);
        }
        more = gt_input_read(m->input, m->bytes + m->length, step, error);
        if (more < 0)
            return -1;
        if (more == 0)
            return gt_error_set(error,
                                "byte %" PRIu64 ": a message of %" PRIu64 " bytes has %zu; is the file complete?",
                                m->at, length, m->length);
        m->length += (size_t)more;
        m->next += (uint64_t)more;
    }
    return 1;
}
