/* together.h - players in several processes that play at the same time: they set off together. */
#ifndef GRIDTIDE_VALIDATE_PLAYER_TOGETHER_H
#define GRIDTIDE_VALIDATE_PLAYER_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

/* In memory that the processes share. */
struct gt_together;

/* For so many players, which are forked afterwards.  NULL: there is no memory. */
struct gt_together *gt_together_new(uint32_t players);
void gt_together_free(struct gt_together *together); /* NULL allowed */

/* When all have come here: when their threads set off, `ahead_ns` after the last has come, by gt_clock_ns().  A process ends here
 * where another one has failed. */
uint64_t gt_together_origin_ns(struct gt_together *together, uint64_t ahead_ns);
/* All have come here.  NULL: there is nobody to wait for. */
void gt_together_meet(struct gt_together *together);

/* What must be done while no other player uses the GPU: measuring clocks.  `together` NULL: nobody else plays. */
void gt_together_take_turn(struct gt_together *together);
void gt_together_end_turn(struct gt_together *together);

/* This player cannot go on: nobody waits for it. */
void gt_together_fail(struct gt_together *together);
bool gt_together_failed(const struct gt_together *together);

#endif
