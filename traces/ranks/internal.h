/* internal.h - what the files of traces/ranks share. */
#ifndef GRIDTIDE_TRACES_RANKS_INTERNAL_H
#define GRIDTIDE_TRACES_RANKS_INTERNAL_H

#include <math.h>

#include "sim/workload/workload.h"
#include "traces/ranks/rank.h"

struct gt_rank_clock {
    double behind_ps; /* what is to be added to its time 0, */
    double rate;      /* and to each picosecond since, as a part of it: 1e-6 is a microsecond a second */
};

/* The time on the common clock, whole ns as profiles have them; never less for a later one. */
static inline gt_time_ps gt_rank_clock_time(const struct gt_rank_clock *clock, gt_time_ps time_ps)
{
    double moved_ns = floor((clock->behind_ps + clock->rate * (double)time_ps) / 1000);

    if (moved_ns >= 0)
        return time_ps + (gt_time_ps)moved_ns * 1000;
    return time_ps > (gt_time_ps)-moved_ns * 1000 ? time_ps - (gt_time_ps)-moved_ns * 1000 : 0;
}

/* A GPU that takes part in a group's collectives, and its notes, in their order. */
struct gt_rank_member {
    uint32_t rank, gpu; /* in the ranks given; in that rank's workload */
    uint32_t stream;    /* of a group without a name: the one that its collectives are in; else GT_NONE */
    uint32_t size;      /* ranks of its group, by its notes; 0: they do not say */
    uint32_t *notes;    /* indexes of the rank's notes */
    uint32_t count, room;
    uint32_t left_out; /* that are no longer among them, since not all members have their numbers */
    uint32_t bare;     /* notes before the first one that has a number; see match.c */
    uint32_t first;    /* the note that belongs to the group's first instance */
};

/* Those whose collectives belong together. */
struct gt_rank_group {
    const char *key; /* lent by the workload that named it first; "" where the recording does not tell groups apart */
    uint32_t size;   /* members that it has by the recordings; 0: they do not say */
    uint32_t instances; /* collectives that all members have, one after the other; 0: they cannot be joined */
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

/* Does a collective of that kind end everywhere at once?  Who gives, or gets, alone may be done before the others are. */
static inline bool gt_rank_ends_at_once(uint8_t kind)
{
    return kind != GT_BROADCAST && kind != GT_REDUCE && kind != GT_SEND_RECV;
}

/* A member's note number `i`. */
static inline const struct gt_collective_note *gt_rank_note_at(const struct gt_rank *ranks,
                                                               const struct gt_rank_member *member, uint32_t i)
{
    return &ranks[member->rank].notes.notes[member->notes[i]];
}

/* Does it say whom it sends to, or gets from?  Then it is none of a group's collectives, but a message between two ranks. */
static inline bool gt_rank_is_message(const struct gt_collective_note *note)
{
    return note->to != GT_NONE || note->from != GT_NONE;
}

/* How two members' collectives belong together: number i of the one is number i + later of the other. */
struct gt_rank_shift {
    int64_t later;
    double apart_ns;       /* the clocks, in the middle; where no clock tells, how many collectives are left out */
    double in_other_steps; /* the part of them that the two asked for in steps of other names */
    double jitter_ns; /* by how much more two ends lie apart than the ends before, in the middle: how well it fits */
};
/* shift.c: false where kinds and sizes say that they cannot belong together. */
bool gt_rank_shift_find(const struct gt_rank *ranks, const struct gt_rank_member *member,
                        const struct gt_rank_member *other, struct gt_rank_shift *shift);

/* unnamed.c: the group without a name, a member a stream, becomes those groups whose collectives end together. */
void gt_rank_groups_split(struct gt_rank_groups *groups, const struct gt_rank *ranks);

/* The note of a member in one of its group's instances, and its operation. */
static inline const struct gt_collective_note *gt_rank_note(const struct gt_rank *ranks,
                                                            const struct gt_rank_member *member, uint32_t instance)
{
    return &ranks[member->rank].notes.notes[member->notes[member->first + instance]];
}
static inline const struct gt_op *gt_rank_op(const struct gt_rank *ranks, const struct gt_rank_member *member,
                                             uint32_t instance)
{
    return &ranks[member->rank].workload->ops[gt_rank_note(ranks, member, instance)->op];
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
/* merge.c: all of them in one workload, each with GPUs of its own or (`same_gpus`) all on the same ones; places[i], which the caller
 * frees, are those of rank i.  NULL with the reason. */
struct gt_workload *gt_ranks_merge(const struct gt_rank *ranks, uint32_t count, const struct gt_rank_clock *clocks,
                                   bool same_gpus, struct gt_rank_places *places, struct gt_error *error);

/* messages.c: messages whose other end is there, too; how many kernels that are. */
uint64_t gt_ranks_join_messages(struct gt_workload *workload, const struct gt_rank *ranks, uint32_t count,
                                const struct gt_rank_places *places);

/* order.c: streams and events of calls that order a collective behind what was computed, where they are not known. */
void gt_ranks_order(struct gt_workload *workload);

#endif
