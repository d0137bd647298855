/* importers.h - the formats that can be read, and which one a file is in. */
#ifndef GRIDTIDE_TRACES_IMPORTERS_H
#define GRIDTIDE_TRACES_IMPORTERS_H

#include "traces/import/importer.h"

extern const struct gt_importer *const gt_importers[]; /* NULL-ended */

/* The importer of that name, or (name NULL) the surest by sniffing. NULL with an error that
 * lists the names. */
const struct gt_importer *gt_importer_find(const char *name, const char *path, struct gt_error *error);

#endif
