/* serve_print.h - what `gridtide serve` prints. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_SERVE_PRINT_H
#define GRIDTIDE_SIM_CMD_SERVE_SERVE_PRINT_H

#include "sim/cmd/serve/serve_result.h"

/* Latencies by tenant, where their time went, causes of late requests; `saturation`, the table below, unless it is NULL. */
void gt_serve_print(const struct gt_serve_result *result, struct gt_table *saturation, enum gt_format format);

/* How many requests a second a tenant that always has a next one serves. */
struct gt_table *gt_serve_saturation_table(void);
void gt_serve_saturation_add(struct gt_table *table, const struct gt_serve_result *result, uint32_t tenant);

/* A table of a row for each policy, load and tenant: begun, filled run by run, printed and freed. */
struct gt_table *gt_serve_sweep_table(void);
void gt_serve_sweep_add(struct gt_table *table, const struct gt_serve_result *result);

#endif
