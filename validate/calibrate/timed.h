/* timed.h - many things done on the GPU one after the other, each several times, and what the kernels of each took by CUPTI. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_TIMED_H
#define GRIDTIDE_VALIDATE_CALIBRATE_TIMED_H

#include "validate/calibrate/bench.h"

/* What is launched into bench->streams[0] from now on is the next thing.  Kernels must be recorded (gt_bench_record_kernels()). */
int gt_timed_next(struct gt_bench *bench);

/* Wait for the GPU: us[thing * times + t] is how long all kernels took of the t-th of so many times that the thing was done; NAN
 * where its kernels are none, or no multiple of that.  For `things` calls of gt_timed_next() since the last reading. */
int gt_timed_read(struct gt_bench *bench, size_t things, uint32_t times, double *us);

#endif
