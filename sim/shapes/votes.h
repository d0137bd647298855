/* votes.h - which size occurs most. */
#ifndef GRIDTIDE_SIM_SHAPES_VOTES_H
#define GRIDTIDE_SIM_SHAPES_VOTES_H

#include <stdint.h>

struct gt_votes { /* empty: all 0 */
    struct {
        uint64_t size;
        uint32_t count;
    } * candidates;
    uint32_t count, room;
};

void gt_vote(struct gt_votes *votes, uint64_t size);

/* The size with the most votes, of several the first; 0: nobody voted.  Ends it. */
uint64_t gt_votes_end(struct gt_votes *votes);

#endif
