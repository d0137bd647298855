/* collectives.h - what a profile says of kernels of collectives (NCCL), before it is known whose belong together.
 *
 * A profile of one process has one rank's part of each.  An importer notes them as it meets their kernels; whoever has the
 * profiles of all ranks joins them (traces/ranks).  A note that nobody joins leaves an ordinary kernel.
 */
#ifndef GRIDTIDE_TRACES_IMPORT_COLLECTIVES_H
#define GRIDTIDE_TRACES_IMPORT_COLLECTIVES_H

#include "sim/workload/workload.h"

#define GT_SEQUENCE_NONE UINT64_MAX

struct gt_collective_note {
    uint32_t op;         /* gathered operation, from gt_import_finish() on the workload's */
    uint8_t kind;        /* gt_collective_kind */
    uint64_t bytes;      /* the larger of what a rank gives and gets; 0: not recorded */
    uint64_t sequence;   /* the so many-th of its group; GT_SEQUENCE_NONE: not recorded */
    uint32_t group;      /* in names: what tells the group from others; GT_NONE: not recorded */
    uint32_t group_size; /* ranks; 0: not recorded */
    uint32_t datatype;   /* in names; GT_NONE: not recorded */
    uint32_t to, from;   /* ranks of the job: of a message, whom it goes to or comes from; else GT_NONE */
    uint64_t tag;        /* of a message: both ends have the same */
    /* How long it is taken to last where nothing was measured and nobody joins it; GT_TIME_NONE. */
    gt_time_ps alone_ps;
    bool no_shape; /* its kernel's grid and block are not recorded: as NCCL would take them */
};

struct gt_collective_notes {
    struct gt_collective_note *notes; /* from gt_import_finish() on by operation of the workload, rising */
    uint32_t count, room;
    int64_t origin_ns; /* the workload's time 0 on a clock that all processes of a host share (since 1970) */
    bool has_origin;   /* is that known? */
    uint32_t rank;     /* of the process among those of the job; GT_NONE: not recorded */
    uint32_t ranks;    /* of the job; 0: not recorded */
};

/* The kind of collective that a kernel of NCCL does, by the kernel's name (GT_COLLECTIVE_NONE: it does none, or the name
 * does not tell), and by the name that PyTorch gives it ("allreduce", "_allgather_base"). */
enum gt_collective_kind gt_collective_of_kernel(const char *name);
enum gt_collective_kind gt_collective_of_name(const char *name, size_t length);

/* A type of elements by PyTorch's name ("Float", "c10::BFloat16", "long int"): bytes each, 0 where it is not known, and its
 * usual name ("float32") into *usual. */
uint32_t gt_datatype_bytes(const char *name, size_t length, const char **usual);

/* Append one of which nothing is known but `op` and `kind`; the pointer is good until the next. */
struct gt_collective_note *gt_collective_notes_add(struct gt_collective_notes *notes, uint32_t op,
                                                   enum gt_collective_kind kind);
void gt_collective_notes_free(struct gt_collective_notes *notes);

#endif
