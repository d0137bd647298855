/* trace.h - traces in and out of files.
 *
 * The gridtide trace is JSON Lines (FORMAT.md), read through gzip or zstd when
 * the bytes say so.  Other formats enter through importers, one table row each.
 */
#ifndef GRIDTIDE_TRACES_JSONL_TRACE_H
#define GRIDTIDE_TRACES_JSONL_TRACE_H

#include "sim/workload/workload.h"

enum { GT_TRACE_VERSION = 1 };

/* Progress of reading, in bytes of the file consumed; total 0 when unknown. May be NULL. */
typedef void gt_read_progress(void *user, uint64_t done_bytes, uint64_t total_bytes);

struct gt_import_options {
    gt_read_progress *progress;
    void *progress_user;
    const char *keep;         /* folder to make and leave behind for formats that unpack files; NULL: none */
};

/* Read a gridtide trace. Returns the workload (checked with gt_workload_check), or NULL with
 * "FILE:LINE: ..." in error. */
struct gt_workload *gt_trace_read(const char *path, const struct gt_import_options *options,
                                  struct gt_error *error);

/* How sure it is, 0 or 100, that these first bytes (uncompressed) begin a gridtide trace. */
int gt_trace_sniff(const unsigned char *head, size_t bytes);

/* Write a gridtide trace whole or not at all (temporary name, then rename); the ending
 * .gz or .zst of `path` chooses compression; "-" is standard output. The same workload
 * gives the same bytes. Returns 0 or -1. */
int gt_trace_write(const struct gt_workload *workload, const char *path, struct gt_error *error);

/* One foreign format. */
struct gt_importer {
    const char *name;         /* as typed: "kineto", "nsys" */
    const char *help;
    /* How sure it is, 0..100, from the first bytes (uncompressed) of the file. */
    int (*sniff)(const unsigned char *head, size_t bytes);
    /* The same for a folder; NULL: the format is a file. */
    int (*sniff_folder)(const char *path);
    /* Read the file. Returns a checked workload, or NULL with "FILE: ..." (line, byte offset or
     * table named where there is one). */
    struct gt_workload *(*read)(const char *path, const struct gt_import_options *options,
                                struct gt_error *error);
};
extern const struct gt_importer *const gt_importers[]; /* NULL-ended */

/* The importer of that name, or (name NULL) the surest by sniffing. NULL with an error that
 * lists the names. */
const struct gt_importer *gt_importer_find(const char *name, const char *path, struct gt_error *error);

#endif
