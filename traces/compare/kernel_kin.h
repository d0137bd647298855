/* kernel_kin.h - kernels that blocks launch, and which pairs of them are alike.
 *
 * Blocks that launch at one time do so in any order: which of them comes first is chance, and some of the pairs of their
 * kernels would seem to be in a certain order after two or three runs.  But pairs that differ only in the blocks that
 * launched them are alike: what is certain of one is so of all.
 */
#ifndef GRIDTIDE_TRACES_COMPARE_KERNEL_KIN_H
#define GRIDTIDE_TRACES_COMPARE_KERNEL_KIN_H

#include "traces/store/store.h"

struct gt_kin; /* of one trace's kernels */

/* What a trace knows of launches by blocks; *kin is NULL where there are none. Returns 0 (then gt_kin_free), or -1. */
int gt_kin_read(struct gt_store *store, int64_t simulated_run, struct gt_kin **kin, struct gt_error *error);
void gt_kin_free(struct gt_kin *kin); /* NULL is allowed */

/* What pairs like this one have shown so far, to be read and written: -1, 0, 1, or GT_KIN_NEW.  *swapped: seen from
 * the other side. NULL: there is none like it, for nothing tells the two kernels apart but chance. */
enum { GT_KIN_NEW = 2 };
signed char *gt_kin_of_pair(struct gt_kin *kin, int64_t left_op, int64_t right_op, bool *swapped);

#endif
