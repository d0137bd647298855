/* whatif_parts.h - what the files of `gridtide whatif` share. */
#ifndef GRIDTIDE_SIM_CMD_RUN_WHATIF_PARTS_H
#define GRIDTIDE_SIM_CMD_RUN_WHATIF_PARTS_H

#include "sim/cmd/input/options.h"
#include "sim/whatif/whatif.h"

/* whatif_print.c: the answers, in their order; `name` is the trace's; `ranked`: the best first, and told so. */
void gt_whatif_print(FILE *out, enum gt_format format, const char *name, const struct gt_whatif *whatif,
                     const struct gt_answer *answers, size_t count, bool ranked);

/* whatif_store.c: the recording, the baseline and the answers' scenarios as runs of a new store at `path`; the
 * trace came from `file`.  Returns 0; -1 with the reason, nothing is left then. */
int gt_whatif_keep(const char *path, const char *name, const char *file, const struct gt_whatif *whatif,
                   const struct gt_answer *answers, size_t count, struct gt_error *error);

#endif
