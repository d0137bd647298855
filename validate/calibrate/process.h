/* process.h - findings on their way from the process that measures to the one that asked.
 *
 * Timings of one process lie close together, and apart from those of the next: so several measure one
 * after the other, and CUDA is used in them alone.
 */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_PROCESS_H
#define GRIDTIDE_VALIDATE_CALIBRATE_PROCESS_H

#include <stdio.h>

#include "validate/calibrate/findings.h"

/* What the caller of gt_calibrate wants. */
struct gt_calibration_options {
    const char *only; /* a group's name; NULL: all. Device properties are always read */
    void (*progress)(void *user, const char *group, size_t done, size_t total); /* NULL: none */
    void *user;
    bool no_tables; /* no file can go beside the device file */
};

/* Write all that was found, or why nothing was (`error`, else NULL), as lines. */
void gt_calibration_send(FILE *out, const struct gt_calibration *calibration, const struct gt_error *error);
/* Say which group is measured now. */
void gt_calibration_send_progress(FILE *out, const char *group, size_t done);

/* Read it back, telling `options->progress` of groups (`earlier` of `total` were done before).
 * Returns -1 with the sender's error, or where its lines end early. */
int gt_calibration_receive(FILE *in, struct gt_calibration *calibration, const struct gt_calibration_options *options,
                           size_t earlier, size_t total, struct gt_error *error);

/* Make one of several: the median of values and of medians, the lowest and highest quartiles, the number of
 * all samples, the method of the process whose value it is; the products of all. What is not a number is the first one's; a
 * note says where others found another. `all` holds one or more; `one` is made anew. */
void gt_calibration_combine(const struct gt_calibration *all, size_t count, struct gt_calibration *one);

#endif
