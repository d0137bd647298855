/* collective_move.h - the data of collectives on its way (sim/gpu/collective_kernel.h says when it sets off).
 *
 * An instance's data moves in the time that it takes alone, slower while others take of the links or the memory that it goes
 * through.  Who only sends, the root of a broadcast say, need not wait for those who get: it fills buffers of theirs
 * (collective.ahead_kib), and is done when the last byte has left.  Those who get are done a little later; or, where they
 * come when all was sent, when they have fetched it.
 */
#ifndef GRIDTIDE_SIM_GPU_COLLECTIVE_MOVE_H
#define GRIDTIDE_SIM_GPU_COLLECTIVE_MOVE_H

#include "sim/collectives/cost.h"
#include "sim/machine/machine.h"
#include "sim/workload/collective.h"

/* Parts that belong together. */
struct gt_collective_instance {
    uint32_t first, count; /* of its parts, in gt_collectives.by_instance */
    uint32_t missing;      /* ranks that have not come */
    uint32_t sender;       /* the part that only sends; GT_NONE: each waits for another */
    bool planned, moving;
    struct gt_collective_plan plan;
    double left_ps; /* of plan.transfer_ps, once it has set off */
    double rate;    /* 1: as alone; the less of the two below */
    double link_rate;
    double link_gbps, memory_gbps;   /* that it takes alone of each link on its way, and of each GPU's memory */
    gt_time_ps updated_ps, moved_ps; /* GT_TIME_NONE: not yet */
    uint64_t stamp;
};

/* An operation that has come and waits for others. */
struct gt_collective_comer {
    gt_command_index command; /* GT_NONE: it has not come, or has gone on */
    gt_grid_index grid;       /* GT_NONE: a bar */
    uint64_t blocks;          /* on SMs */
    gt_time_ps come_ps;       /* when all of it was there */
};

struct gt_collectives {
    struct gt_collective_parts parts;
    struct gt_collective_instance *instances;
    uint32_t *by_instance;              /* parts, those of one instance together */
    struct gt_collective_comer *comers; /* by an operation's first part */
    uint32_t *moving, moving_count;     /* instances whose data is on its way, in the order in which it set off */
};

/* Does the part only send, so that it need not wait? */
bool gt_collective_only_sends(const struct gt_workload *workload, const struct gt_collective_part *part);

/* One more of its parts is there, and has been counted: its data sets off, or goes on, if it may. */
void gt_collective_set_off(struct gt_machine *m, uint32_t instance);
/* GT_HANDLE_COLLECTIVE: its data has moved, or as much as may before all have come. */
int gt_collective_handler(void *machine, uint32_t instance, uint64_t stamp, struct gt_error *error);
/* What is left of the links for an instance whose data is on its way: 1 is all that it takes alone. */
void gt_collective_set_link_rate(struct gt_machine *m, uint32_t instance, double rate);
/* GT_HANDLE_COLLECTIVE_MEMORY: kernels take another part of a GPU's memory than before. */
int gt_collective_memory_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error);
/* When a part of it is done; GT_TIME_NONE: that is not known. */
gt_time_ps gt_collective_part_end_ps(const struct gt_machine *m, uint32_t part);
/* The operation, if it has come, ends when all its parts are done, if that is known (collective_kernel.c). */
void gt_collective_go_on(struct gt_machine *m, gt_op_index op);

#endif
