/* report.c - a report as a folder: pages exported by ncu. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/import/builder.h"
#include "traces/io/data_path.h"
#include "traces/ncu/internal.h"

enum { MOST_AT_ONCE = 16 };

/* What to do where Nsight Compute is not. */
static int say_where_to_unpack(const char *report, struct gt_error *error)
{
    char *stem = gt_path_stem(report);

    gt_error_set(error,
                 "reports require Nsight Compute, which is not installed here (no ncu in PATH); on a machine with "
                 "Nsight Compute run 'gridtide import ncu %s -o %s.jsonl.zst' and use that trace, or unpack the "
                 "report by hand (gridtide-traces(7))",
                 report, stem);
    free(stem);
    return -1;
}

static int export_raw(const char *report, const char *folder, struct gt_error *error)
{
    char *arguments[] = { "ncu",     "-i", (char *)(uintptr_t)report, "--page", "raw", "--csv", "--print-kernel-base",
                          "mangled", NULL };
    struct gt_tool_run run;
    char *path = NULL;
    int result;

    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    result = gt_tool_start(&run, arguments, path, false);
    if (result == ENOENT)
        return say_where_to_unpack(report, error);
    if (result != 0)
        return gt_error_set(error, "cannot run ncu: %s", strerror(result));
    return gt_tool_finish(&run, error);
}

static int start_source(struct gt_tool_run *run, const char *report, const char *folder, uint32_t launch,
                        struct gt_error *error)
{
    char number[16];
    char *arguments[] = { "ncu",
                          "-i",
                          (char *)(uintptr_t)report,
                          "--page",
                          "source",
                          "--print-source",
                          "sass",
                          "--csv",
                          "--print-kernel-base",
                          "mangled",
                          "--launch-skip",
                          number,
                          "--launch-count",
                          "1",
                          NULL };
    char *path = NULL;
    int result;

    snprintf(number, sizeof number, "%" PRIu32, launch);
    if (asprintf(&path, "%s/source.%04" PRIu32 ".csv", folder, launch) < 0)
        gt_bug("no memory for a file name");
    result = gt_tool_start(run, arguments, path, false);
    return result == 0 ? 0 : gt_error_set(error, "cannot run ncu: %s", strerror(result));
}

/* The source pages of all launches, those that there are: as many at once as there are processors, for each
 * run of ncu reads the whole report. */
static int export_sources(const char *report, const char *folder, uint32_t launches, struct gt_error *error)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t at_once = processors < 1 ? 1 : processors > MOST_AT_ONCE ? MOST_AT_ONCE : (uint32_t)processors;
    struct gt_tool_run runs[MOST_AT_ONCE];
    uint32_t started = 0, finished = 0;
    int status = 0;

    while (finished < started || (started < launches && status == 0)) {
        if (started < launches && started - finished < at_once && status == 0) {
            status = start_source(&runs[started % at_once], report, folder, started, error);
            started += status == 0;
        } else {
            gt_tool_finish(&runs[finished++ % at_once], NULL);
        }
    }
    return status;
}

int gt_ncu_report_unpack(const char *report, const char *folder, struct gt_error *error)
{
    struct gt_ncu_raw raw;
    char *path = NULL;
    int status;

    if (export_raw(report, folder, error) != 0)
        return gt_error_prefix(error, "%s: ", report);
    if (asprintf(&path, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    status = gt_ncu_raw_read(path, &raw, error);
    if (status == 0)
        status = gt_ncu_report_cut(report, &raw, folder, error);
    if (status == 0 && export_sources(report, folder, raw.rows, error) != 0)
        status = gt_error_prefix(error, "%s: ", report);
    gt_ncu_raw_free(&raw);
    free(path);
    return status;
}
