/* explain.h - a timeline explained: idle gaps, kernels and copies that did not overlap, calls that blocked, what stands
 * out; of the whole run, or of the part that gt_part_take() chose.  Lists are the caller's to free; times are picoseconds. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_EXPLAIN_H
#define GRIDTIDE_TRACES_EXPLAIN_EXPLAIN_H

#include "traces/explain/breakdown.h"
#include "traces/explain/why.h"
#include "traces/stats/stats.h"

/* A stretch in which a GPU ran nothing, between two operations. */
struct gt_gap {
    gt_gpu_index gpu;
    gt_time_ps from_ps, to_ps;
    gt_op_index before, after;
    struct gt_hold hold; /* of most of it */
};
/* Every gap of at least `least_ps`, longest first. */
struct gt_gap *gt_gaps(const struct gt_loaded_run *run, gt_time_ps least_ps, size_t *count);

/* Kernels of one name that waited while kernels of another ran: where they could have run beside them. */
struct gt_pair {
    gt_kernel_index first, second; /* one of those that go by these names */
    enum gt_why why;
    uint64_t times;
    gt_time_ps lost_ps;  /* in which both could have run, summed up */
    gt_op_index example; /* of the second, where most was lost */
    const char *lacking; /* of an SM, with the first alone on it; NULL: there was room */
    uint32_t free_sms;   /* that the first leaves */
    struct gt_hold hold; /* of the example */
};
/* Pairs of one stream are among them only where the second would have found room; most lost first. */
struct gt_pair *gt_pairs(const struct gt_loaded_run *run, size_t *count);

/* Copies over the link that ran while no kernel did, by direction, memory and reason. */
enum gt_copy_why {
    GT_COPY_PAGEABLE,       /* its call kept the host: pageable memory */
    GT_COPY_SYNCHRONOUS,    /* its call kept the host: the form that waits */
    GT_COPY_DEFAULT_STREAM, /* it is in the legacy default stream */
    GT_COPY_ENGINE,         /* it waited for another copy */
    GT_COPY_ONE_STREAM,     /* the GPU's work is all in one stream */
    GT_COPY_SAME_STREAM,    /* what could have run stood before or behind it in its stream */
    GT_COPY_ALONE,          /* nothing else had been asked for */
    GT_COPY_WHYS
};
extern const char *const gt_copy_why_names[GT_COPY_WHYS];
extern const char *const gt_copy_why_helps[GT_COPY_WHYS];
struct gt_bare_copies {
    uint8_t direction, memory;
    enum gt_copy_why why;
    uint64_t times, bytes;
    gt_time_ps bare_ps; /* in which no kernel ran */
    gt_op_index example;
};
struct gt_bare_copies *gt_bare_copies(const struct gt_loaded_run *run, const struct gt_breakdown *breakdown,
                                      size_t *count);

/* Calls that kept their thread waiting for the GPU, by function and reason; most time first. */
enum gt_block_why {
    GT_BLOCK_SYNC,        /* they synchronise */
    GT_BLOCK_PAGEABLE,    /* a copy of pageable memory */
    GT_BLOCK_SYNCHRONOUS, /* a copy whose form waits */
    GT_BLOCK_QUEUE,       /* so much had been asked for that the stream's queue was full */
    GT_BLOCK_WHYS
};
extern const char *const gt_block_why_names[GT_BLOCK_WHYS];
struct gt_blocked_calls {
    uint32_t name;
    enum gt_block_why why;
    uint64_t times;
    gt_time_ps blocked_ps;
    uint32_t example; /* the call that was blocked for longest */
};
struct gt_blocked_calls *gt_blocked_calls(const struct gt_loaded_run *run, size_t *count);

/* What stands out: one sentence each, with the time that it is about, and what may help. */
struct gt_finding {
    const char *kind; /* a short hyphenated word */
    gt_time_ps about_ps;
    char text[480];
    const char *help;   /* "" : nothing known */
    const char *change; /* for `gridtide whatif --change`; NULL: none */
    int time_kind;      /* the part of the breakdown that it is about (gt_time_kind); -1: none, and it is only worth
                         * telling where the change gains something */
};
/* `tasks`: what statistics say of the run's (or the part's) launches whose blocks did tasks, `task_count` of them. */
struct gt_finding *gt_findings(const struct gt_loaded_run *run, const struct gt_breakdown *breakdown,
                               const struct gt_stats_task_kernel *tasks, size_t task_count, size_t *count);

#endif
