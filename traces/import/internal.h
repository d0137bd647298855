/* internal.h - the state of gt_import_finish(); for import_*.c only. */
#ifndef GRIDTIDE_TRACES_IMPORT_INTERNAL_H
#define GRIDTIDE_TRACES_IMPORT_INTERNAL_H

#include "traces/import/builder.h"

struct gt_import_finish {
    struct gt_import *import;
    uint32_t *by_key; /* calls by (process, correlation), the outermost of equals first */
    uint32_t keyed;
    uint32_t *into;  /* the call that a call lies within; GT_NONE: it is kept */
    uint32_t *order; /* the calls kept, in the workload's order */
    uint32_t kept;
    uint32_t *op_order; /* operations grouped by call, in that order */
    uint32_t *first_op; /* of each gathered call, in op_order; the next one's is its end */
    int64_t origin_ns;
    uint32_t *
        range_threads; /* the workload's thread of each of import->range_threads; GT_NONE: it has no range; NULL: none has */
};

extern const enum gt_call_kind gt_call_kind_of_op[GT_OP_KINDS];

/* Indexes 0..count-1 in the order of `compare`, which sees two indexes and `finish`; malloced. */
uint32_t *gt_import_sorted(struct gt_import_finish *finish, uint32_t count,
                           int (*compare)(const void *, const void *, void *));
/* Two operations' indexes, by start. */
int gt_import_compare_ops(const void *left, const void *right, void *finish);

/* Two calls' indexes, by thread and start, the outer of two first. */
int gt_import_compare_within_threads(const void *left, const void *right, void *finish);

/* infer_calls.c: calls of the operations that have none, by threads[stream]; operations that are joined have theirs by now, and nested
 * calls are dropped. */
void gt_import_infer_calls(struct gt_import_finish *finish, uint32_t *threads);

/* join.c: targets to calls, nested calls into the outer ones, every operation to a call. */
void gt_import_join(struct gt_import_finish *finish);

/* join.c: edges and accesses, as the workload's operations are written one behind the other. */
struct gt_import_relations {
    uint32_t *place;       /* by gathered operation: its number in the workload */
    uint32_t edge, access; /* the next ones */
};
/* Sorts the gathered ones; finish->order and op_order are done. */
void gt_import_relations_begin(struct gt_import_relations *relations, struct gt_import_finish *finish);
/* Those of `op`, the last one added to the workload. */
void gt_import_relations_write(struct gt_import_relations *relations, struct gt_import *import, uint32_t op);
void gt_import_relations_end(struct gt_import_relations *relations);

/* builder.c: the gathered ranges into the workload, whose calls are all there; frees the gathered ones. */
void gt_import_write_ranges(struct gt_import_finish *finish);

/* allocations.c: the gathered allocations into the workload, whose ranges are all there; frees the gathered ones. */
void gt_import_write_allocations(struct gt_import_finish *finish);

#endif
