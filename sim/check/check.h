/* check.h - stream order: do operations that touch the same memory, one of them writing, have an order?
 *
 * An access races with the last earlier one that it conflicts with and has no order to: a read with the last write; a
 * write with the reads since the last write, or where there are none with that write (the rule of torch.cuda._sanitizer,
 * but by bytes, not by pointers).  Earlier is what the workload asks for earlier; but what a collective's other ranks, asked
 * for later, have to be through with first, is earlier than what comes behind it (steps.h).  It is told once for the later operation and the buffer through which that one gets
 * there; who reads and writes the same bytes writes them.  So a workload whose accesses are known has no race told exactly
 * if every two conflicting operations have an order (order.h).
 *
 * Memory that is given back and given out again is the same memory: a free in a stream's order lets the next user come
 * after it, not after other streams that still use the buffer, unless they were recorded to (GT_CALL_RECORD_STREAM).
 */
#ifndef GRIDTIDE_SIM_CHECK_CHECK_H
#define GRIDTIDE_SIM_CHECK_CHECK_H

#include "sim/check/misuse.h"
#include "sim/workload/workload.h"

enum gt_race_kind { GT_RACE_READ_AFTER_WRITE, GT_RACE_WRITE_AFTER_READ, GT_RACE_WRITE_AFTER_WRITE, GT_RACE_KINDS };
extern const char *const gt_race_kind_names[GT_RACE_KINDS];

struct gt_race {
    gt_op_index first, second;    /* `first` is the earlier one, see above */
    gt_buffer_index first_buffer; /* through which they get to the memory; GT_NONE: by its address */
    gt_buffer_index buffer;
    uint64_t from, to;   /* bytes of `buffer` (or addresses) where they meet first; `to` is the first behind */
    uint8_t kind;        /* gt_race_kind */
    gt_call_index freed; /* the memory was given back in between, by this call, and out again; GT_NONE: it was not */
    bool unknown_wait;   /* a possible one: a wait of unknown target may be all that orders them */
};

struct gt_races {
    struct gt_race *races; /* by their second operation, in the order in which operations come */
    uint32_t count, room;
};

struct gt_check {
    struct gt_misuses misuses; /* of memory that is not there, or not any more */
    struct gt_races certain;
    struct gt_races
        possible; /* there are these besides if all is done that may be: memory that operations were given a
                               * pointer to, of which nobody knows whether they use it, and how much (may_read, may_write) */
    uint64_t operations, known; /* how many there are, and of how many it is known what they read and write */
    uint64_t unknown_waits;     /* waits of unknown target, which were taken to be for everything */
};

/* Look at a workload that gt_workload_check() let pass.  gt_check_free() ends the findings. */
void gt_check_run(struct gt_check *check, const struct gt_workload *workload);
void gt_check_free(struct gt_check *check);

/* Is it known what the operation reads and writes? */
bool gt_check_knows(const struct gt_workload *workload, gt_op_index op);
/* The share of the operations of which it is known, per cent; 100 of none. */
double gt_check_covered_pct(const struct gt_check *check);

#endif
