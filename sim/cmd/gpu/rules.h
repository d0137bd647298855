/* rules.h - which rules of the scheduler acted in how many traces. */
#ifndef GRIDTIDE_SIM_CMD_GPU_RULES_H
#define GRIDTIDE_SIM_CMD_GPU_RULES_H

#include <stdint.h>

#include "sim/cmd/print/table.h"
#include "sim/machine/rules.h"

/* Table "rules": each with `traces[its number]` and what it says; for programs also the settings that switch it off, and
 * the file where it acts.  The caller frees it. */
struct gt_table *gt_rules_table(const uint32_t traces[GT_RULES], enum gt_format format);

#endif
