/* progress.h - a line on standard error that says how far a long piece of work is.
 *
 * Shown only where standard error is a terminal and the work has taken over a
 * second; wiped at the end.  Nothing of it reaches files or pipes.
 */
#ifndef GRIDTIDE_SIM_CMD_PRINT_PROGRESS_H
#define GRIDTIDE_SIM_CMD_PRINT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"

struct gt_progress {
    const char *what; /* "reading", "simulating" */
    bool enabled, shown;
    double began_s, drawn_s;
};

/* Begin; `what` must outlive it; `quiet` shows nothing ever. */
void gt_progress_begin(struct gt_progress *progress, const char *what, bool quiet);
/* `done` of `total` (0: not known); cheap enough to call every few microseconds of work.
 * Fits gt_read_progress with a struct gt_progress as its user. */
void gt_progress_update(void *progress, uint64_t done, uint64_t total);
/* The same in the shape of gt_probe.progress; returns 0. */
int gt_progress_probe(void *progress, uint64_t done, uint64_t total, struct gt_error *error);
void gt_progress_end(struct gt_progress *progress);

#endif
