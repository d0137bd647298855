/* check_texts.h - races in words.  All texts are malloced and the caller's, with names as traced:
 * for people gt_clean_name() comes after. */
#ifndef GRIDTIDE_SIM_CMD_TRACE_CHECK_TEXTS_H
#define GRIDTIDE_SIM_CMD_TRACE_CHECK_TEXTS_H

#include "sim/check/check.h"

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

#endif
