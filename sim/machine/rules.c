#include "sim/machine/rules.h"

#include <stddef.h>

#define ROW(number, name, off, file, says) [GT_RULE_##number] = { name, off, file, says },
const struct gt_rule gt_rules[GT_RULES] = { GT_RULES_OF(ROW) };
