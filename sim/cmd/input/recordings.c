#include "sim/cmd/input/recordings.h"

#include <stdlib.h>

#include "sim/cmd/print/terminal.h"
#include "traces/io/input.h"
#include "traces/ranks/ranks.h"

static struct gt_workload *read_one(const struct gt_recordings *recordings, uint32_t number,
                                    struct gt_import_options *options, const struct gt_importer **importer,
                                    struct gt_error *error)
{
    struct gt_workload *workload;

    *importer = gt_importer_find(recordings->format, recordings->paths[number], options, error);
    if (*importer == NULL)
        return NULL;
    if (options->execution_trace != NULL && !(*importer)->takes_execution_trace) {
        gt_error_set(error, "%s: --execution-trace needs a profile from PyTorch's profiler (kineto); this file is %s",
                     recordings->paths[number], (*importer)->name);
        gt_input_close(options->input);
        return NULL;
    }
    gt_progress_begin(options->progress_user, "reading", recordings->quiet);
    workload = (*importer)->read(recordings->paths[number], options, error);
    gt_progress_end(options->progress_user);
    gt_input_close(options->input);
    return workload;
}

struct gt_workload *gt_recordings_read(const struct gt_recordings *recordings, const struct gt_importer **importer,
                                       struct gt_error *error)
{
    struct gt_rank *ranks = gt_calloc(recordings->count, sizeof *ranks);
    struct gt_workload *workload = NULL;
    const struct gt_importer *used = NULL;
    struct gt_progress progress;
    struct gt_import_options options = {
        .progress = gt_progress_update,
        .progress_user = &progress,
        .keep = recordings->keep,
        .execution_trace = recordings->execution_trace,
        .warm_caches = recordings->warm_caches,
    };
    uint32_t read = 0;

    *importer = NULL;
    for (; read < recordings->count; read++) {
        ranks[read].notes.rank = GT_NONE;
        options.collectives = &ranks[read].notes;
        ranks[read].workload = read_one(recordings, read, &options, &used, error);
        if (read == 0)
            *importer = used;
        if (ranks[read].workload == NULL)
            break;
    }
    if (read == recordings->count)
        workload = gt_ranks_join(ranks, read, error);
    for (uint32_t i = 0; i < read && workload == NULL; i++) {
        gt_workload_free(ranks[i].workload);
        gt_collective_notes_free(&ranks[i].notes);
    }
    free(ranks);
    return workload;
}
