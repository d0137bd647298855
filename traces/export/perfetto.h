/* perfetto.h - writing Perfetto traces (perfetto.proto) as a stream: tracks, slices on them, values of
 * counters.
 *
 * Packets go out through sequences, each in order of time; a name is written once a sequence, demangled.
 * Times are picoseconds here and whole nanoseconds, rounded down, in the file.  Functions return 0, or -1
 * when the output failed.
 */
#ifndef GRIDTIDE_TRACES_EXPORT_PERFETTO_H
#define GRIDTIDE_TRACES_EXPORT_PERFETTO_H

#include "sim/workload/workload.h"
#include "traces/io/output.h"

/* Where slices and values go. `uuid` is unique in the trace; siblings are shown by `rank`, and those
 * of one name as one. */
struct gt_perfetto_track {
    uint64_t uuid, parent; /* parent 0: none */
    int rank;
    const char *name;
};

/* A number or (text not NULL) a text shown with a slice. `name` is a static string. */
struct gt_perfetto_note {
    const char *name, *text;
    uint64_t number;
};

struct gt_perfetto_slice {
    gt_time_ps start_ps, end_ps;
    const char *name, *category;
    const struct gt_perfetto_note *notes;
    size_t note_count;
    uint64_t *flows; /* arrows that begin at this slice, by number */
    size_t flow_count;
    uint64_t flows_in[2]; /* arrows that end here; 0: none */
    bool nests;           /* it may lie within another slice of its track */
};

/* Tracks. They may be written at any time before or after what is on them. */
int gt_perfetto_process(struct gt_output *output, const struct gt_perfetto_track *track, int pid,
                        struct gt_error *error);
int gt_perfetto_track(struct gt_output *output, const struct gt_perfetto_track *track, struct gt_error *error);
/* `unit` is what its values count, e.g. "GB/s". */
int gt_perfetto_counter(struct gt_output *output, const struct gt_perfetto_track *track, const char *unit,
                        struct gt_error *error);

struct gt_perfetto_sequence;

/* A sequence of that number (2 and up, unique in the trace); `output` must outlive it. */
struct gt_perfetto_sequence *gt_perfetto_sequence_new(struct gt_output *output, uint32_t number);
/* Write the ends of the slices that are still open. */
int gt_perfetto_sequence_finish(struct gt_perfetto_sequence *sequence, struct gt_error *error);
void gt_perfetto_sequence_free(struct gt_perfetto_sequence *sequence); /* NULL allowed */

/* A slice; those of a sequence in order of start, the outer one of two that nest first. Slices that overlap on one track
 * without nesting are put on tracks beside it (uuid + 1, + 2, ... up to GT_PERFETTO_LANES), which look the same. */
enum { GT_PERFETTO_LANES = 65536 };
int gt_perfetto_slice(struct gt_perfetto_sequence *sequence, const struct gt_perfetto_track *track,
                      const struct gt_perfetto_slice *slice, struct gt_error *error);
/* The value of a counter from a time on, in order of time. */
int gt_perfetto_value(struct gt_perfetto_sequence *sequence, uint64_t counter, gt_time_ps time_ps, double value,
                      struct gt_error *error);

#endif
