/* internal.h - between the files of the exporters. */
#ifndef GRIDTIDE_TRACES_EXPORT_INTERNAL_H
#define GRIDTIDE_TRACES_EXPORT_INTERNAL_H

#include "sim/workload/workload.h"
#include "traces/export/export.h"
#include "traces/io/output.h"
#include "traces/store/query.h"
#include "traces/store/selection.h"

struct gt_perfetto_sequence;

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

/* One whole run of a store, as its trace in the Perfetto sense. */
struct gt_export_run {
    int64_t run_id, trace_id;
    uint64_t number;                            /* 1, 2, ... in the order they are written */
    bool has_ranges;                            /* the store is new enough for them */
    bool has_tasks, has_polls, has_executables; /* the store is new enough for them */
    bool several_gpus;                          /* tracks then say which one */
    uint32_t groups_written;                    /* a bit each */
};

struct gt_export {
    struct gt_database *database;
    struct gt_output *output;
    struct gt_export_run run;
    const struct gt_filter *filter;  /* the part of each run to write; NULL: all */
    struct gt_selection selection;   /* that part of the run at hand */
    struct gt_export_causes *causes; /* its arrows */
};

/* A statement with ?1 and ?2 bound to a run and its trace; NULL with the error. */
struct gt_query *gt_export_query(struct gt_database *database, const char *sql, int64_t run_id, int64_t trace_id,
                                 struct gt_error *error);

/* A text column, "" for NULL; valid until the next row. */
const char *gt_export_text(struct gt_query *query, int column);
/* A column that numbers things; `what` names it. */
int gt_export_number(struct gt_query *query, int column, const char *what, uint64_t *number, struct gt_error *error);

/* What the tracks of a run are gathered under; also the kinds of track. */
enum gt_export_group {
    GT_GROUP_RUN,
    GT_GROUP_THREADS,
    GT_GROUP_STREAMS,
    GT_GROUP_COPIES,
    GT_GROUP_BANDWIDTH,
    GT_GROUP_BLOCKS,
    GT_GROUP_WARPS,
    GT_GROUP_SMS,
    GT_GROUP_WORKERS,
    GT_GROUPS
};

/* The unique number of a track: the `index`th of a kind, counted from 0; the low bits are left to
 * gt_perfetto_slice for the tracks beside it. */
uint64_t gt_export_uuid(const struct gt_export_run *run, enum gt_export_group group, uint64_t index);
/* The `index`th track of a group; `name` must outlive it. */
struct gt_perfetto_track gt_export_track(const struct gt_export *export, enum gt_export_group group, uint64_t index,
                                         const char *name);
/* "GPU 1 " to stand before a track's name where there are several GPUs, else "". */
void gt_export_gpu(const struct gt_export *export, int64_t gpu_id, char *text, size_t bytes);
/* Write the track of a group, once a run. */
int gt_export_group(struct gt_export *export, enum gt_export_group group, const char *name, struct gt_error *error);

/* The parts of a run: each reads its rows and writes them to its own sequence. */
int gt_export_calls(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_ops(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_copies(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_bandwidth(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_residency(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_blocks(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);
int gt_export_tasks(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error);

/* serve.c: of a store of `gridtide serve`, its first run, a process for each tenant. */
int gt_export_serve(struct gt_export *export, struct gt_error *error);

/* The arrow from a call to one of its operations. */
uint64_t gt_export_flow(const struct gt_export_run *run, uint64_t op);

/* calls.c: arrows from an operation to those that its end let start, and to calls that it let return. */
uint64_t gt_export_cause_of_op(const struct gt_export_run *run, uint64_t op);
uint64_t gt_export_cause_of_call(const struct gt_export_run *run, uint64_t call);
int gt_export_causes_load(struct gt_export *export, struct gt_error *error);
void gt_export_causes_free(struct gt_export *export);
/* Those that begin at an operation: how many, and their numbers. */
size_t gt_export_causes_from(const struct gt_export *export, uint64_t op, uint64_t **flows);

/* The rows that calls.c reads: calls, their arrows, ranges (which have no call's number, and a first and a last). */
enum gt_call_row {
    GT_CALL_ROW_NUMBER,
    GT_CALL_ROW_START,
    GT_CALL_ROW_END,
    GT_CALL_ROW_THREAD,
    GT_CALL_ROW_NAME,
    GT_CALL_ROW_KIND,
    GT_CALL_ROW_THREAD_NAME,
    GT_CALL_ROW_THREAD_ID,
    GT_CALL_ROW_BLOCKED,
    GT_CALL_ROW_OP,
    GT_CALL_ROW_CAUSE,
    GT_CALL_ROW_FIRST, /* NULL: no range */
    GT_CALL_ROW_BEHIND
};
/* export_csv.c: a field of a CSV file that says `text`. */
int gt_export_csv_text(struct gt_output *output, const char *text, struct gt_error *error);
/* export_csv.c: is a range, of that time and those calls, in the part asked for? */
bool gt_export_has_range(const struct gt_selection *selection, int64_t start_ps, int64_t end_ps, int64_t first_call,
                         int64_t end_call);
/* The range of a row, on its thread's track. */
int gt_export_write_range(struct gt_export *export, struct gt_perfetto_sequence *sequence,
                          const struct gt_perfetto_track *track, struct gt_query *query, struct gt_error *error);

#endif
