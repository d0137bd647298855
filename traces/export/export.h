/* export.h - a store's runs, or a trace, in the formats of other tools, one table row each. */
#ifndef GRIDTIDE_TRACES_EXPORT_EXPORT_H
#define GRIDTIDE_TRACES_EXPORT_EXPORT_H

#include "traces/store/selection.h"
#include "traces/store/store.h"

struct gt_exporter {
    const char *name; /* as typed: "perfetto", "csv" */
    const char *help; /* what it writes, in a sentence of the command's help */
    /* Write all whole runs of `store`, or a part of each (`filter` not NULL), to `path`, whole or not at all (see
     * output.h). The same store gives the same bytes. Returns 0 or -1. NULL: the format is of traces. */
    int (*write)(struct gt_store *store, const char *path, const struct gt_filter *filter, struct gt_error *error);
    /* Write a trace, likewise; `path` may be what names of several files begin with.  NULL: the format is of stores. */
    int (*write_trace)(const struct gt_workload *workload, const char *path, struct gt_error *error);
};
extern const struct gt_exporter *const gt_exporters[]; /* NULL-ended */

/* The exporter of that name; NULL with an error that lists the names. */
const struct gt_exporter *gt_exporter_find(const char *name, struct gt_error *error);

/* All rows of the table or view `name` of `store` (traces/store/tables.h) as a CSV file at `path`, whole or not at all. */
int gt_export_table(struct gt_store *store, const char *name, const char *path, struct gt_error *error);

#endif
