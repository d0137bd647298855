#include "sim/cmd/input/task_costs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/task_programs.h"
#include "traces/names/clean_text.h"
#include "traces/tasks/costs.h"

static void tell(const struct gt_task_cost_report *report, const char *path, const char *name)
{
    char *shown = gt_clean_name(name);

    fprintf(stderr, "gridtide: %.200s: %" PRIu64 " tasks take their time from %.200s", shown, report->priced, path);
    if (report->without > 0)
        fprintf(stderr,
                ", %" PRIu64 " have a kind that the table lacks: their bytes and operations give their "
                "time",
                report->without);
    if (report->had > 0)
        fprintf(stderr, ", %" PRIu64 " state their own time", report->had);
    fputc('\n', stderr);
    if (report->unused != NULL)
        fprintf(stderr, "gridtide: %.200s: no task has the kind %.80s of %.200s\n", shown, report->unused, path);
    free(shown);
}

static int price_by_table(const char *path, struct gt_workload *workload, const char *name, bool quiet,
                          struct gt_error *error)
{
    struct gt_task_cost_report report;
    struct gt_task_costs *costs;

    costs = gt_task_costs_read(path, error);
    if (costs == NULL)
        return gt_error_prefix(error, "--task-costs: ");
    gt_task_costs_attach(costs, workload, &report);
    if (!quiet)
        tell(&report, path, name);
    gt_task_costs_free(costs);
    if (report.priced > 0 || report.had + report.without == 0)
        return 0;
    return gt_error_set(error, "--task-costs: %.300s gives a time to none of the %" PRIu64 " tasks: %s", path,
                        report.had + report.without,
                        report.without > 0 ? "it has none of their kinds" : "they state their own times");
}

int gt_price_tasks(const char *path, struct gt_workload *workload, const struct gt_device *device, const char *name,
                   bool quiet, struct gt_error *error)
{
    char *shown;
    int kinds;

    if (path != NULL && price_by_table(path, workload, name, quiet, error) != 0)
        return -1;
    kinds = gt_time_task_programs(workload, device, error);
    if (kinds < 0)
        return -1;
    if (kinds > 0 && !quiet) {
        shown = gt_clean_name(name);
        fprintf(stderr,
                "gridtide: %.200s: tasks of %d kinds take the time of one block of their program, alone on its SM "
                "while all SMs run such blocks\n",
                shown, kinds);
        free(shown);
    }
    return 0;
}
