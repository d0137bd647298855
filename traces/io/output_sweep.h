/* output_sweep.h - temporary files of writers that were killed. */
#ifndef GRIDTIDE_TRACES_IO_OUTPUT_SWEEP_H
#define GRIDTIDE_TRACES_IO_OUTPUT_SWEEP_H

/* What the names of temporary files begin with; six characters of mkstemp() follow. */
#define GT_TEMPORARY_PREFIX ".gridtide-"

/* Remove the temporary files in `folder` ("/" at its end) that no living process holds a lock on and
 * that nobody has written to for a minute. What cannot be removed stays; that is no error. */
void gt_output_sweep(const char *folder);

#endif
