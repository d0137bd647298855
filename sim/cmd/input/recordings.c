#include "sim/cmd/input/recordings.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/text.h"
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

/* The files of a folder with that ending, in the order of the numbers in their names; into *paths, malloced as they are.  How many,
 * or -1. */
static int list_folder(const char *folder, const char *ending, char ***paths, struct gt_error *error)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, versionsort), kept = 0;

    *paths = gt_calloc(GT_MOST_RANKS, sizeof **paths);
    if (count < 0)
        return gt_error_set(error, "%s: cannot be read as a folder", folder);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;

        if (gt_ends(name, strlen(name), ending) && kept++ < GT_MOST_RANKS)
            (*paths)[kept - 1] = gt_format("%s/%s", folder, name);
        free(entries[i]);
    }
    free(entries);
    if (kept > 0 && kept <= GT_MOST_RANKS)
        return kept;
    for (int i = 0; i < kept && i < GT_MOST_RANKS; i++)
        free((*paths)[i]);
    return gt_error_set(error, "%s: %d files that end in %s; 1 to %d are possible", folder, kept, ending,
                        GT_MOST_RANKS);
}

static struct gt_workload *read_all(const struct gt_recordings *recordings, const struct gt_importer **importer,
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

/* A folder that holds the files of a job, read as though each had been named. */
static struct gt_workload *read_folder(const struct gt_recordings *recordings, const struct gt_importer **importer,
                                       struct gt_error *error)
{
    struct gt_recordings files = *recordings;
    struct gt_workload *workload = NULL;
    char **paths;
    int count = list_folder(recordings->paths[0], (*importer)->files_in_folder, &paths, error);

    if (count > 0) {
        files.format = (*importer)->name;
        files.paths = (const char *const *)paths;
        files.count = (uint32_t)count;
        workload = read_all(&files, importer, error);
        for (int i = 0; i < count; i++)
            free(paths[i]);
    }
    free(paths);
    return workload;
}

struct gt_workload *gt_recordings_read(const struct gt_recordings *recordings, const struct gt_importer **importer,
                                       struct gt_error *error)
{
    struct gt_import_options options = { .keep = NULL };
    struct stat info;

    if (recordings->count == 1 && strcmp(recordings->paths[0], "-") != 0 && stat(recordings->paths[0], &info) == 0 &&
        S_ISDIR(info.st_mode)) {
        *importer = gt_importer_find(recordings->format, recordings->paths[0], &options, error);
        if (*importer == NULL)
            return NULL;
        if ((*importer)->files_in_folder != NULL)
            return read_folder(recordings, importer, error);
    }
    return read_all(recordings, importer, error);
}
