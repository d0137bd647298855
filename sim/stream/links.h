/* links.h - what holds up who would use a link: copies between GPUs stand in line, and the GPU reads its commands over the
 * host's link, which a copy in may hold.
 *
 * Between two GPUs there is a line for each direction.  A copy that its stream takes from another GPU, and any copy by way of the
 * host's memory, is done by a stream of the driver's own on the other GPU.  That one does them in the order in which they were asked for, so that a copy that still waits
 * for its own stream holds up all that were asked for after it, whatever streams these are in.  Seen on H200s (random traces of
 * two GPUs): of two such copies in different streams the later one never began before the earlier one had ended, though its
 * own stream was idle for 400 us; the other direction, and copies that are pushed, went on meanwhile (0 exceptions in 180
 * traces).
 *
 * By way of the host's memory those that are pushed have such a stream on the GPU that gets them, and those that are pulled one on
 * the other; a direction's pieces of both go through the same few buffers in turn, so that one that waits lets one of the
 * other kind pass where both are of two pieces at most (6 times in those traces; no larger one passed or was passed).
 *
 * What a copy waits for was asked for before it, so that a line never waits for itself. */
#ifndef GRIDTIDE_SIM_STREAM_LINKS_H
#define GRIDTIDE_SIM_STREAM_LINKS_H

#include "sim/machine/machine.h"

void gt_link_lines_build(struct gt_machine *m);
void gt_link_lines_free(struct gt_machine *m);

/* The command is asked for now: to the end of its line, if it is one of these copies. */
void gt_link_line_push(struct gt_machine *m, gt_command_index command);
/* From when on its line lets the operation start: GT_TIME_NONE while others are before it there; 0 where it is in none. */
gt_time_ps gt_link_line_due(const struct gt_machine *m, gt_command_index command);
/* Is it in a line of what streams take from another GPU over a link of its own? */
bool gt_link_line_pulls(const struct gt_machine *m, gt_command_index command);
/* Its copy is over: the next one's stream is told.  One that stood ready for its turn is to get into its engine's queue at once:
 * returns its stream, which is to go on before gt_link_line_handed_on(); else GT_NONE. */
gt_stream_index gt_link_line_leave(struct gt_machine *m, gt_command_index command);
void gt_link_line_handed_on(struct gt_machine *m, gt_command_index command);

/* By how much later so many reads, one after the other, are done that begin now: 0 where no copy in of pinned memory
 * runs, and no longer than that one goes on. */
gt_time_ps gt_link_reads_ps(const struct gt_machine *m, gt_gpu_index gpu, uint32_t reads);

/* The command becomes visible to the GPU now: the same for all that its operation takes to start.  Recorded times
 * have it already. */
gt_time_ps gt_link_command_ps(const struct gt_machine *m, gt_command_index command);

#endif
