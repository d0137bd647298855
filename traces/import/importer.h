/* importer.h - what a format that can be read has to offer.
 *
 * A new one, NAME, takes files of its own, one or two lines of others, and the build list (traces/local.mk):
 *
 *  1. traces/NAME/NAME.h declares, and NAME.c defines,  const struct gt_importer gt_importer_NAME.  Its
 *     read() makes a workload.  For a profile of calls and operations that is
 *         gt_import_begin(&import, "NAME");
 *         gt_import_add_call / _add_op / _add_target for each row, in any order, in nanoseconds;
 *         workload = gt_import_finish(&import, path, error);
 *         gt_import_free(&import);
 *     (builder.h; cuda_api.h says what a CUDA function means, device.h takes what the profile says of its GPU).
 *     What the profile lacks is counted with gt_import_warn(): mostly kinds that are there already.  One that no
 *     other importer has is a row of the table in traces/import/warnings.c and an entry of gridtide-traces(7).
 *  2. traces/importers.c: include NAME.h, and a row in gt_importers.
 *  3. traces/local.mk: the new files.
 *
 * Nothing else: import, run, --help and the list of formats in errors go by that table.  Bytes are read through
 * traces/io/input.h, which unpacks; sniff() sees them unpacked.  Add a sample to tests/data, what it must become
 * to tests/cli/import.bats, the sample's name to tests/fuzz/samples, and the room to tests/rooms.py.
 */
#ifndef GRIDTIDE_TRACES_IMPORT_IMPORTER_H
#define GRIDTIDE_TRACES_IMPORT_IMPORTER_H

#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"
#include "traces/import/collectives.h"
#include "traces/io/input.h"

/* Progress of reading, in bytes of the file consumed; total 0 when unknown. May be NULL. */
typedef void gt_read_progress(void *user, uint64_t done_bytes, uint64_t total_bytes);

struct gt_import_options {
    gt_read_progress *progress;
    void *progress_user;
    struct gt_input *input; /* the file, open and nothing read but its head (gt_importer_find()): the caller's
                                 to close; NULL: a folder, or to be opened */
    bool warm_caches;       /* a profiler left caches as they were (ncu --cache-control none), which no report says */
    struct gt_collective_notes
        *collectives; /* where notes of collectives go (gt_collective_notes_free()), if the format
                                              * has them; NULL: nobody asks */
    const char
        *execution_trace; /* what PyTorch's ExecutionTraceObserver wrote beside the file; NULL: there is none */
    const char *keep;     /* folder to make and leave behind for formats that unpack files; NULL: none */
};

struct gt_importer {
    const char *name; /* as typed: "kineto", "nsys" */
    const char *help;
    /* How sure it is, 0..100, from the first bytes (uncompressed) of the file. */
    int (*sniff)(const unsigned char *head, size_t bytes);
    /* How sure it is that a folder is of its format, 0..100; NULL: the format is a file. */
    int (*sniff_folder)(const char *path);
    /* The ending of those files in a folder which are the ranks of one job: each is read by itself.  NULL: a folder, if any, is
     * read as one. */
    const char *files_in_folder;
    /* Endings of names of files whose first bytes do not tell, ended by a NULL; NULL: they always do. */
    const char *const *endings;
    bool takes_execution_trace; /* does it read gt_import_options.execution_trace? */
    /* Read the file. Returns a checked workload, or NULL with "FILE: ..." (line, byte offset or
     * table named where there is one). */
    struct gt_workload *(*read)(const char *path, const struct gt_import_options *options, struct gt_error *error);
};

#endif
