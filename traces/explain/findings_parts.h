/* findings_parts.h - what the files of findings share: the list that they add to. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_FINDINGS_PARTS_H
#define GRIDTIDE_TRACES_EXPLAIN_FINDINGS_PARTS_H

#include "traces/explain/explain.h"

struct gt_finding_list {
    const struct gt_loaded_run *t;
    const struct gt_breakdown *breakdown;
    struct gt_finding *rows;
    size_t count, room;
};

/* One more; the caller fills its text. */
struct gt_finding *gt_finding_add(struct gt_finding_list *findings, const char *kind, gt_time_ps about_ps,
                                  const char *help, const char *change);

/* findings_time.c: what the parts of the breakdown come from. */
void gt_findings_of_time(struct gt_finding_list *findings);

/* findings_roofline.c: how far kernels are from what the device could do. */
void gt_findings_of_roofline(struct gt_finding_list *findings);

#endif
