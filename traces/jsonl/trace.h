/* trace.h - Gridtide's own traces in and out of files: JSON Lines (FORMAT.md), read through gzip or zstd when
 * the bytes say so. */
#ifndef GRIDTIDE_TRACES_JSONL_TRACE_H
#define GRIDTIDE_TRACES_JSONL_TRACE_H

#include "traces/import/importer.h"

enum { GT_TRACE_VERSION = 1 };

/* Read a gridtide trace. Returns the workload (checked with gt_workload_check), or NULL with
 * "FILE:LINE: ..." in error. */
struct gt_workload *gt_trace_read(const char *path, const struct gt_import_options *options, struct gt_error *error);

/* How sure it is, 0 or 100, that these first bytes (uncompressed) begin a gridtide trace. */
int gt_trace_sniff(const unsigned char *head, size_t bytes);

/* Write a gridtide trace whole or not at all (temporary name, then rename); the ending
 * .gz or .zst of `path` chooses compression; "-" is standard output. The same workload
 * gives the same bytes. Returns 0 or -1. */
int gt_trace_write(const struct gt_workload *workload, const char *path, struct gt_error *error);

#endif
