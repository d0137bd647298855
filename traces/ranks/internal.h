/* internal.h - what the files of traces/ranks share. */
#ifndef GRIDTIDE_TRACES_RANKS_INTERNAL_H
#define GRIDTIDE_TRACES_RANKS_INTERNAL_H

#include "traces/ranks/clock.h"
#include "traces/ranks/rank.h"

/* A GPU that takes part in a group's collectives, and its notes, in their order. */
struct gt_rank_member {
    uint32_t rank, gpu; /* in the ranks given; in that rank's workload */
    uint32_t *notes;    /* indexes of the rank's notes */
    uint32_t count, room;
    uint32_t bare;  /* notes before the first one that has a number; see match.c */
    uint32_t first; /* the note that belongs to the group's first meeting */
};

/* Those whose collectives belong together. */
struct gt_rank_group {
    const char *key; /* lent by the workload that named it first; "" where the recording does not tell groups apart */
    uint32_t size;   /* members that it has by the recordings; 0: they do not say */
    uint32_t meetings; /* collectives that all members have, one after the other; 0: they cannot be joined */
    struct gt_rank_member *members;
    uint32_t count, room;
};
struct gt_rank_groups {
    struct gt_rank_group *groups;
    uint32_t count, room;
};

/* match.c: the groups of all ranks, and what belongs together in each; gt_rank_groups_free() ends them. */
struct gt_rank_groups gt_ranks_match(const struct gt_rank *ranks, uint32_t count);
void gt_rank_groups_free(struct gt_rank_groups *groups);

/* The note of a member in one of its group's meetings, and its operation. */
static inline const struct gt_collective_note *gt_rank_note(const struct gt_rank *ranks,
                                                            const struct gt_rank_member *member, uint32_t meeting)
{
    return &ranks[member->rank].notes.notes[member->notes[member->first + meeting]];
}
static inline const struct gt_op *gt_rank_op(const struct gt_rank *ranks, const struct gt_rank_member *member,
                                             uint32_t meeting)
{
    return &ranks[member->rank].workload->ops[gt_rank_note(ranks, member, meeting)->op];
}

/* How many ranks' clocks could not be told, and how many run faster or slower than the first one's. */
struct gt_rank_aligned {
    uint32_t unknown, drifting;
};
/* align.c: into clocks[i], which are 0, how rank i's times are brought to a common clock, on which none is below 0 at its own 0. */
struct gt_rank_aligned gt_ranks_align(const struct gt_rank *ranks, uint32_t count,
                                      const struct gt_rank_groups *groups, struct gt_rank_clock *clocks);

/* check.c: can these be of one job?  0, or -1 with the files that cannot, and why. */
int gt_ranks_check(const struct gt_rank *ranks, uint32_t count, struct gt_error *error);
/* What of a job the recordings lack, into the warnings of the workload that they became. */
void gt_ranks_warn(struct gt_workload *workload, const struct gt_rank *ranks, uint32_t count,
                   const struct gt_rank_groups *groups);

/* What numbers of one rank's workload are in the merged one. */
struct gt_rank_places {
    gt_gpu_index *gpus;
    gt_op_index *ops;
};
/* merge.c: all of them in one workload; places[i], which the caller frees, are those of rank i.  NULL with the reason. */
struct gt_workload *gt_ranks_merge(const struct gt_rank *ranks, uint32_t count, const struct gt_rank_clock *clocks,
                                   struct gt_rank_places *places, struct gt_error *error);

/* order.c: streams and events of calls that order a collective behind what was computed, where they are not known. */
void gt_ranks_order(struct gt_workload *workload);

#endif
