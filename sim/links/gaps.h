/* gaps.h - gaps between operations of which one is on another GPU.
 *
 * Measured between two H200s, November 2026: from a kernel's end to one on the other GPU that waits for it by an event 4.5
 * us (on one GPU 1.8), between copies 6.0, from one to the other sort 10; what passes a wait for another GPU's event, long
 * recorded, comes 1.5 us later. A copy that its stream pulls from another GPU is asked of that one's engine and told of by
 * it: two pulls in a row are 10.5 us apart, two pushes 2.1.
 */
#ifndef GRIDTIDE_SIM_LINKS_GAPS_H
#define GRIDTIDE_SIM_LINKS_GAPS_H

#include "sim/machine/machine.h"

/* Are their streams on different GPUs?  `before` may be GT_NONE. */
bool gt_link_gap_crosses(const struct gt_machine *m, gt_op_index before, const struct gt_op *op);
/* From an operation's end to one on another GPU that waits for it by an event. */
gt_time_ps gt_link_event_gap_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op);
/* Added to any gap by copies that are pulled, before and behind it. */
gt_time_ps gt_link_pull_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op);
/* Are both copies between GPUs?  Then link.gap_us is what lies between them in a stream. */
bool gt_link_gap_between_copies(const struct gt_machine *m, gt_op_index before, const struct gt_op *op);

/* The stream has passed a wait for an event of that stream. */
void gt_link_wait_passed(struct gt_machine *m, gt_stream_index stream, gt_stream_index target);
/* Added to the gap behind the operation before it in its stream, since then. */
gt_time_ps gt_link_wait_ps(const struct gt_machine *m, gt_stream_index stream);

#endif
