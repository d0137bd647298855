/* et_messages.h - the messages of a file, one at a time. */
#ifndef GRIDTIDE_TRACES_CHAKRA_ET_MESSAGES_H
#define GRIDTIDE_TRACES_CHAKRA_ET_MESSAGES_H

#include "traces/io/input.h"

struct gt_et_messages {
    struct gt_input *input;
    uint8_t *bytes; /* of the message read last */
    size_t length, room;
    uint64_t at; /* byte of the file that its length stands at */
    uint64_t next;
};

/* The next message: 1, 0 at the file's end, -1 with the reason: it is cut off, or its length is none.  Memory grows with
 * what is there, whatever its length says. */
int gt_et_messages_next(struct gt_et_messages *messages, struct gt_error *error);

#endif
