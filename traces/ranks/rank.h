/* rank.h - what was read of one process of a job. */
#ifndef GRIDTIDE_TRACES_RANKS_RANK_H
#define GRIDTIDE_TRACES_RANKS_RANK_H

#include "traces/import/collectives.h"

enum { GT_MOST_RANKS = 256 }; /* read at once: a GPU each at least, of GT_MOST_GPUS */

struct gt_rank {
    struct gt_workload *workload;
    struct gt_collective_notes notes; /* of its operations; empty where the format has none */
};

#endif
