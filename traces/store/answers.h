/* answers.h - what `gridtide whatif` says of a run, and the file that a trace came from. */
#ifndef GRIDTIDE_TRACES_STORE_ANSWERS_H
#define GRIDTIDE_TRACES_STORE_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/store/store.h"

struct gt_file_sum {
    uint64_t bytes;
    uint32_t crc32;
};

/* Of a plain file; false where it cannot be read, or is none. */
bool gt_file_sum(const char *path, struct gt_file_sum *sum);

struct gt_stored_answer {
    const char *change, *trust, *bound_by;
    double predicted_us, step_us, change_pct, bound_pct, low_us, high_us; /* NAN: not known */
    const char *const *assumptions;
    uint32_t assumption_count;
};
/* Keep it beside the run, which is in the store.  Returns 0 or -1. */
int gt_store_put_answer(struct gt_store *store, int64_t run_id, const struct gt_stored_answer *answer,
                        struct gt_error *error);

/* How far the run is to be trusted (malloced) in *trust: as its answer has it; else "extrapolated" where its trace has the
 * warning `extrapolated`; NULL where the store says nothing.  Returns 0 or -1. */
int gt_store_find_trust(struct gt_database *database, int64_t run_id, const char *extrapolated, char **trust,
                        struct gt_error *error);

/* Trace `trace_id` came from the file at `path`, as named ("-": from no file, nothing is kept); its absolute path and sum are
 * kept beside it where it can be read now.  Returns 0 or -1. */
int gt_store_put_trace_file(struct gt_store *store, int64_t trace_id, const char *path, struct gt_error *error);
/* That path (malloced) in *path; NULL where the store has none.  Returns 0 or -1. */
int gt_store_find_trace_file(struct gt_database *database, int64_t trace_id, char **path, struct gt_error *error);

/* The file itself. */
struct gt_trace_source {
    char *path; /* absolute, malloced; NULL where the store does not have it */
    struct gt_file_sum sum;
};
int gt_store_find_trace_source(struct gt_database *database, int64_t trace_id, struct gt_trace_source *source,
                               struct gt_error *error);

#endif
