/* importers.h - the formats that can be read, and which one a file is in. */
#ifndef GRIDTIDE_TRACES_IMPORTERS_H
#define GRIDTIDE_TRACES_IMPORTERS_H

#include "traces/import/importer.h"

extern const struct gt_importer *const gt_importers[]; /* NULL-ended */

/* The importer of that name, or (name NULL) the surest by the first bytes. NULL with an error that
 * lists the names.  Opens the file into options->input: to be read, then closed by the caller. */
const struct gt_importer *gt_importer_find(const char *name, const char *path, struct gt_import_options *options,
                                           struct gt_error *error);

#endif
