/* compare_parts.h - what the files of `gridtide compare` share. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_COMPARE_PARTS_H
#define GRIDTIDE_SIM_CMD_REPORT_COMPARE_PARTS_H

#include <yajl/yajl_gen.h>

#include "sim/cmd/print/judged.h"
#include "traces/store/run_rows.h"

/* What is compared, by name, and the warnings that its trace came with. */
struct gt_subject {
    struct gt_run_head names;
    struct gt_warning_row *warnings;
    size_t warning_count;
};
int gt_subject_open(struct gt_store *store, int64_t run, struct gt_subject *subject, struct gt_error *error);
void gt_subject_close(struct gt_subject *subject);
/* The members of a comparison's object. */
void gt_subject_json(yajl_gen json, const struct gt_subject *subject, const struct gt_comparison *comparison);

/* A store with several pairs of a simulated and a measured run: every trace in an array, a row, a line. */
int gt_compare_many(struct gt_store *store, const int64_t *runs, uint32_t count, enum gt_format format,
                    struct gt_error *error);

#endif
