#include "sim/shapes/votes.h"

#include <stdlib.h>

#include "sim/base/array.h"

void gt_vote(struct gt_votes *votes, uint64_t size)
{
    for (uint32_t i = 0; i < votes->count; i++) {
        if (votes->candidates[i].size == size) {
            votes->candidates[i].count++;
            return;
        }
    }
    gt_array_grow(votes->candidates, votes->count, votes->room);
    votes->candidates[votes->count].size = size;
    votes->candidates[votes->count++].count = 1;
}

uint64_t gt_votes_end(struct gt_votes *votes)
{
    uint64_t size = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < votes->count; i++) {
        if (votes->candidates[i].count > most) {
            most = votes->candidates[i].count;
            size = votes->candidates[i].size;
        }
    }
    free(votes->candidates);
    return size;
}
