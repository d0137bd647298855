#include "sim/base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16 };

uint64_t gt_array_next_room(uint64_t room, uint64_t most)
{
    if (room >= most - 1) {
        fprintf(stderr,
                "gridtide: more than %" PRIu64 " of one kind (calls, operations, names); use a smaller "
                "trace\n",
                most - 1);
        exit(1);
    }
    if (room < FIRST_ROOM)
        return FIRST_ROOM;
    return room > (most - 1) / 3 * 2 ? most - 1 : room + room / 2;
}
