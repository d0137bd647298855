/* What a run was in the end, as counters. */
#include <stdio.h>

#include "sim/machine/options.h"
#include "sim/range.h"
#include "traces/store/store.h"

void gt_run_writer_summary(struct gt_run_writer *writer, const struct gt_summary *summary)
{
    char name[64];

    gt_run_writer_counter(writer, "operations", (double)summary->operations, NULL);
    gt_run_writer_counter(writer, "blocks", (double)summary->blocks, NULL);
    gt_run_writer_counter(writer, "events", (double)summary->events, NULL);
    gt_run_writer_counter(writer, "end_ps", (double)summary->end_ps, NULL);
    for (int i = 0; i < GT_RULES; i++) {
        if (summary->fired[i] == 0)
            continue;
        snprintf(name, sizeof name, "rule.%s", gt_rules[i].name);
        gt_run_writer_counter(writer, name, (double)summary->fired[i], NULL);
    }
}

void gt_run_writer_range(struct gt_run_writer *writer, const struct gt_makespan_range *range, struct gt_error *error)
{
    if (range->draws == 0)
        return;
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_LOW, range->low_us, error);
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_HIGH, range->high_us, error);
    gt_run_writer_counter(writer, GT_COUNTER_RANGE_DRAWS, range->draws, error);
}
