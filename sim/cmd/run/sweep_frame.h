/* sweep_frame.h - what a worker says to the process that started it: frames of texts through a pipe. */
#ifndef GRIDTIDE_SIM_CMD_RUN_SWEEP_FRAME_H
#define GRIDTIDE_SIM_CMD_RUN_SWEEP_FRAME_H

#include <stddef.h>
#include <stdio.h>

enum { GT_FRAME_FIELDS = 14 };

/* The first field of a frame, and what follows it. */
#define GT_FRAME_TRACE "trace" /* number, name, device, measured_us, replay_us, baseline_us, step_us, steps */
#define GT_FRAME_POINT \
    "point" /* point, change, predicted_us, step_us, low_us, high_us, change_pct, trust, assumptions, bound_by, bound_pct, refusal */
#define GT_FRAME_FAILED "failed" /* number, why the trace cannot be asked about */

struct gt_frame {
    char *bytes;
    size_t size;
    FILE *out;
};
void gt_frame_begin(struct gt_frame *frame, const char *kind);
void gt_frame_text(struct gt_frame *frame, const char *text); /* NULL is "" */
void gt_frame_real(struct gt_frame *frame, double value);     /* exactly */
void gt_frame_integer(struct gt_frame *frame, long long value);
/* Write and free it; the reader has all of it then, or none. */
void gt_frame_send(struct gt_frame *frame, FILE *out);

struct gt_frame_reader {
    char *bytes;
    size_t count, room, taken;
};
/* Take what the pipe has.  Returns the number of bytes, 0 at its end (or where it cannot be read). */
size_t gt_frame_take(struct gt_frame_reader *reader, int pipe);
/* The next whole frame's fields, good until the next gt_frame_take(): how many, 0 where there is none. */
unsigned gt_frame_next(struct gt_frame_reader *reader, const char *fields[GT_FRAME_FIELDS]);
void gt_frame_free(struct gt_frame_reader *reader);

#endif
