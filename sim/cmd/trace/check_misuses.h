/* check_misuses.h - `gridtide check` on memory that is used when it is not there. */
#ifndef GRIDTIDE_SIM_CMD_TRACE_CHECK_MISUSES_H
#define GRIDTIDE_SIM_CMD_TRACE_CHECK_MISUSES_H

#include <yajl/yajl_gen.h>

#include "sim/check/misuse.h"
#include "sim/cmd/print/table.h"

/* Those that are certain. */
uint32_t gt_check_certain_misuses(const struct gt_misuses *misuses);
/* For people: each with what uses the memory and what to do; then how many there may be besides. */
void gt_check_print_misuses(const struct gt_workload *workload, const struct gt_misuses *misuses);
/* The member "misuses": a list. */
void gt_check_put_misuses(yajl_gen json, const struct gt_workload *workload, const struct gt_misuses *misuses);
/* A table of them, gt_table_free()'s. */
struct gt_table *gt_check_misuse_table(const struct gt_workload *workload, const struct gt_misuses *misuses);

#endif
