/* report.c - a report (.nsys-rep), which only nsys can read: exported into a folder of its own, opened, and gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/io/data_path.h"
#include "traces/io/overwrite.h"
#include "traces/io/temporary.h"
#include "traces/nsys/internal.h"

static int say_where_to_export(const char *report, struct gt_error *error)
{
    char *stem = gt_path_stem(report);

    gt_error_set(error,
                 "%s: reports require Nsight Systems, which is not installed here (no nsys in PATH); on a machine "
                 "with Nsight Systems run 'nsys export --type sqlite --output %s.sqlite %s', then import %s.sqlite",
                 report, stem, report, stem);
    free(stem);
    return -1;
}

static int export_report(const char *report, char *database, char *said, struct gt_error *error)
{
    char *arguments[] = { "nsys",
                          "export",
                          "--type",
                          "sqlite",
                          "--force-overwrite",
                          "true",
                          "--output",
                          database,
                          (char *)(uintptr_t)report,
                          NULL };
    struct gt_tool_run run;
    int result = gt_tool_start(&run, arguments, strdup(said), true);

    if (result == ENOENT)
        return say_where_to_export(report, error);
    if (result != 0)
        return gt_error_set(error, "%s: cannot run nsys: %s", report, strerror(result));
    return gt_tool_finish(&run, error) == 0 ? 0 : gt_error_prefix(error, "%s: ", report);
}

int gt_nsys_report_open(struct gt_db *db, const char *report, const struct gt_import_options *options,
                        struct gt_error *error)
{
    struct gt_import_options of_export = options != NULL ? *options : (struct gt_import_options){ .input = NULL };
    char *folder, *database, *said;
    int status = -1;

    of_export.input = NULL; /* it is the report's */
    if (access(report, R_OK) != 0)
        return gt_error_set(error, "%s: cannot open: %s", report, strerror(errno));
    if (gt_reading_begins_at(report, error) != 0)
        return -1;
    folder = gt_temporary_folder("nsys", error);
    if (folder == NULL)
        return -1;
    if (asprintf(&database, "%s/report.sqlite", folder) < 0 || asprintf(&said, "%s/said", folder) < 0)
        gt_bug("asprintf failed");
    if (export_report(report, database, said, error) == 0)
        status = gt_db_open(db, database, &gt_nsys_maker, &of_export, error);
    gt_temporary_remove(folder); /* SQLite has the database open */
    db->path = report;
    free(folder);
    free(database);
    free(said);
    return status;
}
