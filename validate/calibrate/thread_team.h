/* thread_team.h - threads that call CUDA as those of a program do when it is played: each warms up, then
 * all set off at one time.
 *
 * A call takes longer in a program than in a loop of nothing but that call, and longer still while other
 * threads are inside one.
 */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_THREAD_TEAM_H
#define GRIDTIDE_VALIDATE_CALIBRATE_THREAD_TEAM_H

#include "validate/calibrate/bench.h"

enum { GT_CREW_MOST = 4 };

/* What thread `number` does; first to warm up, as often as there is time for, then once more, which
 * counts. */
typedef cudaError_t gt_thread_team_part(void *user, uint32_t number, bool counts);

/* Let `threads` new threads play their part and wait for them and the GPU. Returns -1 with a CUDA error of
 * any of them, or where there are no more threads. */
int gt_thread_team_play(struct gt_bench *bench, uint32_t threads, gt_thread_team_part *part, void *user);

#endif
