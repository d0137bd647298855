/* failure.h - how a run stops that cannot go on. */
#ifndef GRIDTIDE_SIM_MACHINE_FAILURE_H
#define GRIDTIDE_SIM_MACHINE_FAILURE_H

#include "sim/machine/machine.h"

/* Fail: keep the text, of the first failure only, and stop the run at the end of the event under way. */
void gt_machine_fail(struct gt_machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write "FILE" or "FILE:LINE" of the trace, for messages, into `text`.  Line 0: not known. */
void gt_machine_place(const struct gt_machine *m, uint32_t line, char *text, size_t bytes);

#endif
