/* whatif_parts.h - what the files of `gridtide whatif` share. */
#ifndef GRIDTIDE_SIM_CMD_WHATIF_PARTS_H
#define GRIDTIDE_SIM_CMD_WHATIF_PARTS_H

#include "sim/cmd/options.h"
#include "sim/whatif/whatif.h"

/* whatif_print.c: the answers, in their order; `name` is the trace's. */
void gt_whatif_print(FILE *out, enum gt_format format, const char *name, const struct gt_whatif *whatif,
                     const struct gt_answer *answers, size_t count);

#endif
