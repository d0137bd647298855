/* ranks.h - collectives of a simulated run: which rank comes last, and what it was held up by.
 *
 * The parts of a collective end at once: kernels of one name on several GPUs that end at the same picosecond.  A part of a
 * broadcast or of a message that ends alone counts, and nobody is known to have waited in it.  Where the store does not
 * tell collectives from other kernels (before version 9), only those that did not begin at the same are taken for one. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_RANKS_H
#define GRIDTIDE_TRACES_EXPLAIN_RANKS_H

#include "traces/explain/why.h"

/* How collectives fared on one GPU. */
struct gt_rank_waits {
    gt_gpu_index gpu;
    uint64_t collectives;  /* its parts of collectives */
    uint64_t last;         /* so many times it came last */
    gt_time_ps waited_ps;  /* its parts held their SMs while others had not come */
    gt_time_ps kept_ps;    /* others' waiting while it had not come, of those where it was last */
    gt_time_ps hidden_ps;  /* of the time of its parts, other kernels or copies ran on the GPU */
    gt_time_ps exposed_ps; /* nothing else did */
    gt_op_index worst;     /* its part that kept the others longest; GT_NONE: none */
    gt_time_ps worst_ps;   /* for so long, all of them together */
    uint32_t worst_others; /* so many */
    struct gt_hold hold;   /* what that one was held up by while others waited */
    gt_op_index busy;      /* that its GPU was busy with for longest meanwhile; GT_NONE: nothing */
    gt_time_ps busy_ps;    /* for so long */
};

/* A stretch of a rank's part of a collective. */
struct gt_rank_piece {
    gt_op_index part;
    gt_gpu_index gpu;
    gt_time_ps from_ps, to_ps;
    bool waiting; /* for the last rank; else the data moves */
    bool hidden;  /* other work of the GPU runs beside */
};
typedef void gt_rank_piece_fn(void *user, const struct gt_rank_piece *piece);

/* Tell all pieces, those of a part one after the other from its start to its end. */
void gt_rank_pieces(const struct gt_loaded_run *run, gt_rank_piece_fn *tell, void *user);

/* An instance for which ranks waited: who came last, and how long the others waited, all together. */
struct gt_rank_late {
    gt_gpu_index gpu;
    gt_time_ps came_ps, kept_ps;
};
typedef void gt_rank_late_fn(void *user, const struct gt_rank_late *late);
void gt_rank_lates(const struct gt_loaded_run *run, gt_rank_late_fn *tell, void *user);

/* Of each GPU with collectives, by gpu; malloced. */
struct gt_rank_waits *gt_rank_waits(const struct gt_loaded_run *run, size_t *count);

#endif
