/* validate_shrink.h - `gridtide validate --shrink`, and SIGINT and SIGTERM to a process that plays traces on a GPU. */
#ifndef GRIDTIDE_SIM_CMD_GPU_VALIDATE_SHRINK_H
#define GRIDTIDE_SIM_CMD_GPU_VALIDATE_SHRINK_H

#include <stdbool.h>

#include "sim/cmd/print/judged.h"
#include "validate/shrink_trace.h"

/* Seconds for one trace, and for all of them. */
enum { GT_SHRINK_TRACE_S = 5, GT_SHRINK_ALL_S = 120 };

/* A trace that was validated, in memory that the processes of a validation share. */
struct gt_shrink_row {
    uint32_t number; /* of the random trace */
    bool begun, written;
    struct gt_shrunk shrunk;
};

/* What all rows have in common. */
struct gt_shrink_time {
    double ends_s; /* by the monotonic clock; 0: nothing was begun */
    uint32_t begun;
    uint32_t last; /* row that was begun last */
};

struct gt_shrinker {
    const struct gt_judged *judged; /* by row */
    struct gt_shrink_row *rows;
    struct gt_shrink_time *time;
    uint32_t count;
    const char *store; /* the folder of what is written is named after it */
    /* The trace of a row, and how it is validated: `validation` and `device` are filled in, good until the next one. */
    struct gt_workload *(*read)(void *user, uint32_t row, struct gt_validation *validation, struct gt_device *device,
                                struct gt_error *error);
    bool (*stop)(void *user);
    void (*tell)(void *user, const char *what, uint32_t done, uint32_t total);
    void *user;
};

/* Shrink what is worth it, the worst first, until all are done, the time is over or somebody stops it.  Returns 0; 1
 * where the GPU is lost, and another process goes on; -1 with `error`. */
int gt_shrink_all(const struct gt_shrinker *shrinker, struct gt_error *error);

/* Table "shrunk", a row a trace that was written; and how many were left for want of time. The caller frees it. */
struct gt_table *gt_shrink_table(const struct gt_shrinker *shrinker);
uint32_t gt_shrink_left(const struct gt_shrinker *shrinker);

/* The folder that smallest traces go to: V-shrunk beside a store V.db. Malloced. */
char *gt_shrink_folder(const char *store);

/* From now on the first two are only noted, for work to end with what it has; the third, or 10 seconds without
 * gt_interrupts_over(), ends the process: a GPU that waits for what never comes is given up. */
void gt_interrupts_catch(void);
/* Was there one? */
bool gt_interrupted(void);
/* Nothing waits for a GPU any more: what is left takes the time that it takes. */
void gt_interrupts_over(void);

#endif
