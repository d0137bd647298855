/* build.h - the machine for a workload, before it runs and after. */
#ifndef GRIDTIDE_SIM_BUILD_H
#define GRIDTIDE_SIM_BUILD_H

#include "sim/machine/machine.h"

/* Build the machine of m's workload, device, recorded device, options and probe, which the caller has set
 * (as has it `isolated` and op_rules); all else is zero.  Returns 0; -1 with the reason: a policy that there
 * is none of that name.  Either way gt_machine_free() ends it. */
int gt_machine_build(struct gt_machine *m, struct gt_error *error);
void gt_machine_free(struct gt_machine *m);

#endif
