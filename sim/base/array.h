/* array.h - arrays that grow. */
#ifndef GRIDTIDE_SIM_BASE_ARRAY_H
#define GRIDTIDE_SIM_BASE_ARRAY_H

#include <stdint.h>

#include "sim/base/error.h"

/* Room for one more element of `array`, which holds `count` and has room for `room`: an unsigned variable, whose
 * type says how many there may be.  An input that has more ends the program as one that is too large for memory
 * does. */
#define gt_array_grow(array, count, room)                                                \
    do {                                                                                 \
        if ((count) >= (room)) {                                                         \
            (room) = (__typeof__(room))gt_array_next_room((room), (__typeof__(room))-1); \
            (array) = gt_realloc((array), (room), sizeof *(array));                      \
        }                                                                                \
    } while (0)

/* The room after `room`, half as much again, so that growing takes linear time in total; less than `most`, which
 * stands for "none" among indexes. */
uint64_t gt_array_next_room(uint64_t room, uint64_t most);

#endif
