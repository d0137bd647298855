/* judged.h - what `gridtide validate` and `gridtide compare` print of traces with measured repetitions. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_JUDGED_H
#define GRIDTIDE_SIM_CMD_PRINT_JUDGED_H

#include "sim/cmd/print/table.h"
#include "traces/compare/verdict.h"

struct gt_judged {
    char *name;      /* of the trace */
    bool surrogates; /* kernels stood in for a program's */
    struct gt_verdict verdict;
};

/* Line by line, while the work goes on: the heading, one trace, the summary at the end. */
void gt_judged_print_heading(FILE *out);
void gt_judged_print(FILE *out, const struct gt_judged *judged);
void gt_judged_print_summary(FILE *out, const struct gt_suite *suite);

/* "ok", "off"; NULL where there is nothing to judge by. */
const char *gt_judged_verdict(const struct gt_judged *judged);

/* Everything at once: tables "traces" and "summary", and up to GT_JUDGED_MORE more; CSV is the first alone. */
enum { GT_JUDGED_MORE = 2 };
void gt_judged_print_all(FILE *out, enum gt_format format, const struct gt_judged *judged, uint32_t count,
                         const struct gt_suite *suite, struct gt_table *const *more, size_t more_count);

#endif
