/* collective.h - kernels of which each of several GPUs launches one, and which move data among them (NCCL).
 *
 * A group (communicator) has members, a GPU each: a member's place among them is its rank.  A kernel whose
 * `collective.kind` is not GT_COLLECTIVE_NONE is a rank's part of a collective.  Nothing but the trace's order says which
 * parts belong together: the n-th collective of a group that a rank launches belongs to the n-th of every other rank,
 * whatever thread or stream it is from.  Messages (send_recv) are counted for themselves, a count for each pair of
 * ranks and direction.  That is how NCCL has it (NCCL User Guide, "Collective Operations", "Point-to-point
 * communication").
 *
 * What belongs together must be the same kind, of the same size; gt_workload_check() says where it is not.  A rank that
 * never comes is no mistake of the trace's: the simulation then ends in a deadlock that says who waits for whom.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_COLLECTIVE_H
#define GRIDTIDE_SIM_WORKLOAD_COLLECTIVE_H

#include "sim/workload/group.h"
#include "sim/workload/workload.h"

/* As they stand in traces: "all_reduce", "ring", "ll128"; "none" and "any" for 0. */
extern const char *const gt_collective_kind_names[GT_COLLECTIVE_KINDS];
extern const char *const gt_algorithm_names[GT_ALGORITHMS];
extern const char *const gt_protocol_names[GT_PROTOCOLS];

enum { GT_MOST_GROUPS = 4096 }; /* of one workload; their members are GPUs, GT_MOST_GPUS at most */

/* A rank's part: of a collective, or of one message.  An operation has one, or two where it sends and gets at once. */
struct gt_collective_part {
    uint32_t op;
    uint32_t group, rank;
    uint32_t from, to; /* of a message: the ranks; else GT_NONE */
    uint32_t sequence; /* the rank's so many-th collective of the group, or message from `from` to `to`; from 0 */
    uint32_t instance; /* one number for the parts that belong together, from 0 on */
};
struct gt_collective_parts {
    struct gt_collective_part *parts; /* by op, rising */
    uint32_t count, room;
    uint32_t instances; /* how many there are */
};

/* A part with nobody and nothing stated but its kind: what to start from. */
struct gt_collective gt_collective_of(enum gt_collective_kind kind, uint32_t group, uint64_t bytes);

/* Add a group of `size` GPUs (copied); returns its index. */
uint32_t gt_workload_add_group(struct gt_workload *workload, uint32_t name, const uint32_t *gpus, uint32_t size);
/* The rank that a GPU is in a group; GT_NONE where it is no member. */
uint32_t gt_group_rank(const struct gt_group *group, uint32_t gpu);

/* The kernel of operation `op` where that is a part of a collective, else NULL. */
const struct gt_kernel *gt_collective_kernel(const struct gt_workload *workload, uint32_t op);

/* All parts of the workload, whose groups and kernels have been checked; ended by gt_collective_parts_free(). */
struct gt_collective_parts gt_collective_parts(const struct gt_workload *workload);
void gt_collective_parts_free(struct gt_collective_parts *parts);
/* The parts of an operation: parts[*first] and on; 0 where it has none. */
uint32_t gt_collective_parts_of(const struct gt_collective_parts *parts, uint32_t op, uint32_t *first);
/* How many ranks must come to the instance that a part is of. */
uint32_t gt_collective_part_ranks(const struct gt_workload *workload, const struct gt_collective_part *part);

/* Has a group members, each once, on GPUs that are there?  0, or -1 with what is wrong.  Part of gt_collectives_check(). */
int gt_group_check(const struct gt_workload *workload, const struct gt_group *group, struct gt_error *error);
/* Are groups, and what kernels and operations say of them, what the simulator relies on?  0, or -1 with what is wrong,
 * "line N: " before it where the line is known.  Part of gt_workload_check(). */
int gt_collectives_check(const struct gt_workload *workload, struct gt_error *error);

#endif
