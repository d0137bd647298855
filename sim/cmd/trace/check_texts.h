/* check_texts.h - races in words.  All texts are malloced and the caller's, with names as traced:
 * for people gt_clean_name() comes after. */
#ifndef GRIDTIDE_SIM_CMD_TRACE_CHECK_TEXTS_H
#define GRIDTIDE_SIM_CMD_TRACE_CHECK_TEXTS_H

#include <yajl/yajl_gen.h>

#include "sim/check/check.h"
#include "sim/check/misuse.h"
#include "sim/cmd/print/table.h"

/* "line 12", or "call 3" of a trace that was imported. */
char *gt_check_place_text(const struct gt_workload *workload, gt_call_index call);
char *gt_check_stream_text(const struct gt_workload *workload, gt_stream_index stream);
/* "scale (line 12, stream a)". */
char *gt_check_op_text(const struct gt_workload *workload, gt_op_index op);
/* "weights", or "address 0x7f00" where no buffer is known. */
char *gt_check_buffer_text(const struct gt_workload *workload, const struct gt_race *race);
/* Which order there is not. */
char *gt_check_missing_text(const struct gt_workload *workload, const struct gt_race *race);
/* What to add, and where. */
char *gt_check_fix_text(const struct gt_workload *workload, const struct gt_race *race);

/* Those that are certain. */
uint32_t gt_check_certain_misuses(const struct gt_misuses *misuses);
/* For people: each with what uses the memory and what to do; then how many there may be besides. */
void gt_check_print_misuses(const struct gt_workload *workload, const struct gt_misuses *misuses);
/* The member "misuses": a list. */
void gt_check_put_misuses(yajl_gen json, const struct gt_workload *workload, const struct gt_misuses *misuses);
/* A table of them, gt_table_free()'s. */
struct gt_table *gt_check_misuse_table(const struct gt_workload *workload, const struct gt_misuses *misuses);

#endif
