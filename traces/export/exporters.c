/* exporters.c - the table of exporters. */
#include "traces/export/export.h"

#include <stdio.h>
#include <string.h>

/* Each at the end of its file; a new one is named here, twice. */
extern const struct gt_exporter gt_exporter_perfetto, gt_exporter_csv, gt_exporter_ranges, gt_exporter_chakra,
    gt_exporter_accelsim;
const struct gt_exporter *const gt_exporters[] = { &gt_exporter_perfetto, &gt_exporter_csv,      &gt_exporter_ranges,
                                                   &gt_exporter_chakra,   &gt_exporter_accelsim, NULL };

const struct gt_exporter *gt_exporter_find(const char *name, struct gt_error *error)
{
    char known[128] = "";
    size_t at = 0;
    for (size_t i = 0; gt_exporters[i] != NULL && at < sizeof(known); i++) {
        if (strcmp(gt_exporters[i]->name, name) == 0)
            return gt_exporters[i];
        at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i > 0 ? ", " : "", gt_exporters[i]->name);
    }
    gt_error_set(error, "there is no export format '%.60s'; formats are %s", name, known);
    return NULL;
}
