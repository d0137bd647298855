/* supervise.h - work that a fault on the GPU may end, done in processes one after the other: a process
 * whose kernel has faulted cannot use the GPU any more (on an H200 not after cudaDeviceReset() either),
 * and a driver that crashes takes its process along.
 */
#ifndef GRIDTIDE_VALIDATE_GPU_SUPERVISE_H
#define GRIDTIDE_VALIDATE_GPU_SUPERVISE_H

#include "sim/base/error.h"

/* What work returns for another process to go on. */
enum { GT_GO_ON = 64 };

/* Call work(user, died_of) in a process of its own; once more in another, as often as it returns GT_GO_ON
 * (then with died_of 0) or the process dies of a signal (then with that signal's number). What the
 * processes tell each other they keep in shared memory; it is theirs to come to an end. SIGINT and SIGTERM
 * go to the one at work; dying of these is an end, and so is dying of SIGALRM, by which work that was told to
 * end gives up waiting for its GPU.
 * Returns what work returned in the end, 1 where a signal ended it, -1 with `error` where there is no new
 * process. The caller must not use CUDA. */
int gt_supervise(int (*work)(void *user, int died_of), void *user, struct gt_error *error);

#endif
