/* interrupts.h - SIGINT and SIGTERM to a process that plays traces on a GPU. */
#ifndef GRIDTIDE_SIM_CMD_GPU_INTERRUPTS_H
#define GRIDTIDE_SIM_CMD_GPU_INTERRUPTS_H

#include <stdbool.h>

/* From now on the first two are only noted, for work to end with what it has; the third, or 10 seconds without
 * gt_interrupts_over(), ends the process: a GPU that waits for what never comes is given up. */
void gt_interrupts_catch(void);
/* Was there one? */
bool gt_interrupted(void);
/* Nothing waits for a GPU any more: what is left takes the time that it takes. */
void gt_interrupts_over(void);

#endif
