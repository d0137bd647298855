/* load_beside.h - a run loaded by a thread of its own, while the one that asked works out its statistics. */
#ifndef GRIDTIDE_PLOTS_DATA_LOAD_BESIDE_H
#define GRIDTIDE_PLOTS_DATA_LOAD_BESIDE_H

#include <pthread.h>

#include "traces/explain/loaded_run.h"

struct gt_loading {
    pthread_t thread;
    bool started;     /* there is a thread to wait for */
    const char *path; /* of the store: a connection is a thread's own */
    const struct gt_filter *filter;
    int64_t run_id;            /* 0: nothing to load */
    struct gt_loaded_run *run; /* NULL: it failed */
    struct gt_error error;
};

/* Begin to load a run of the store at `path`, with the part of it that `filter` chooses; both must last until the end.
 * Where no thread is to be had it is loaded at once. */
void gt_loading_begin(struct gt_loading *loading, const char *path, int64_t run_id, const struct gt_filter *filter);
/* The run, the caller's now; NULL with the reason.  Each gt_loading_begin() needs one: an unwanted run is freed. */
struct gt_loaded_run *gt_loading_end(struct gt_loading *loading, struct gt_error *error);

#endif
