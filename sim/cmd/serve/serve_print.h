/* serve_print.h - what `gridtide serve` prints. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_SERVE_PRINT_H
#define GRIDTIDE_SIM_CMD_SERVE_SERVE_PRINT_H

#include "sim/cmd/serve/serve_result.h"

/* Latencies by tenant, where their time went, and causes of late requests. */
void gt_serve_print(const struct gt_serve_result *result, enum gt_format format);

/* A table of a row for each policy, load and tenant: begun, filled run by run, printed and freed. */
struct gt_table *gt_serve_sweep_table(void);
void gt_serve_sweep_add(struct gt_table *table, const struct gt_serve_result *result);

#endif
