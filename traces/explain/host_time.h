/* host_time.h - what host threads did over time: the innermost range that was open.
 *
 * Host time belongs to the innermost range open on its thread at that time: an operator, an annotation, an NVTX range,
 * a module.  Steps are no such ranges; neither are ranges that need not nest (nvtxRangeStart).  What no range covers is
 * "host code outside operators".  The host time of all ranges of a name is thus at most the sum of their lengths.
 */
#ifndef GRIDTIDE_TRACES_EXPLAIN_HOST_TIME_H
#define GRIDTIDE_TRACES_EXPLAIN_HOST_TIME_H

#include "traces/explain/loaded_run.h"

/* What host time is called that no range covers. */
extern const char gt_host_outside[];

/* Fill run->marks and run->first_mark from the ranges and their times. */
void gt_host_time_find(struct gt_loaded_run *run);

/* A stretch of host time with one activity. */
struct gt_host_piece {
    gt_time_ps from_ps, to_ps;
    gt_thread_index thread;
    uint32_t range; /* the innermost one open; GT_NONE: none */
    uint32_t call;  /* that the thread was in; GT_NONE: none */
};
typedef void gt_host_piece_fn(void *user, const struct gt_host_piece *piece);

/* Visit a stretch of time piece by piece, each with what `thread` did; where it was in no range and no call, with what
 * another thread of its process did (a thread that waits for loss.backward() does nothing that a trace shows); pieces of
 * other threads come in their own order.  Where no thread did anything the piece is `thread`'s, with no range and no call. */
void gt_host_pieces(const struct gt_loaded_run *run, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps,
                    gt_host_piece_fn *each, void *user);

/* The range that the longest piece of the stretch belongs to; GT_NONE: none. */
uint32_t gt_host_range_of(const struct gt_loaded_run *run, gt_thread_index thread, gt_time_ps from_ps,
                          gt_time_ps to_ps);

/* Of a range, or of none. */
const char *gt_host_range_name(const struct gt_loaded_run *run, uint32_t range);

#endif
