/* nsys.c - the importer of Nsight Systems' SQLite exports: which tables are read, in which order. */
#include "traces/nsys/nsys.h"

#include <stdlib.h>
#include <string.h>

#include "traces/nsys/internal.h"

static int sniff(const unsigned char *head, size_t bytes)
{
    static const char magic[16] = "SQLite format 3";

    return bytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? 90 : 0;
}

/* Exports make tables only for what was recorded; one of these there must be. */
static int check_is_export(struct gt_nsys *nsys, struct gt_error *error)
{
    static const char *const tables[] = {
        "CUPTI_ACTIVITY_KIND_KERNEL",      "CUPTI_ACTIVITY_KIND_MEMCPY",  "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME",
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        int there = gt_db_has_table(&nsys->db, tables[i], error);

        if (there != 0)
            return there < 0 ? -1 : 0;
    }
    return gt_error_set(error,
                        "%s: the database has no table of CUDA activity (CUPTI_ACTIVITY_KIND_KERNEL, ..._RUNTIME, "
                        "...); record with 'nsys profile --trace=cuda' and export the report",
                        nsys->db.path);
}

static int say_if_no_gpu_work(struct gt_nsys *nsys, struct gt_error *error)
{
    (void)error;
    gt_import_warn(nsys->import.workload, "no-gpu-work", nsys->import.op_count == 0);
    return 0;
}

const struct gt_db_maker gt_nsys_maker = {
    .file = "an Nsight Systems export",
    .advice = "export the report with 'nsys export --type sqlite REPORT.nsys-rep'",
};

static const char *const endings[] = { ".nsys-rep", ".qdrep", NULL };

/* In this order: streams are described before they are met, contexts are known from operations
 * before events and synchronisations, whose devices are not to be trusted, need them. */
static int (*const steps[])(struct gt_nsys *nsys, struct gt_error *error) = {
    check_is_export,   gt_nsys_names_open,   gt_nsys_read_streams, gt_nsys_read_devices,
    gt_nsys_read_ops,  gt_nsys_read_calls,   gt_nsys_read_records, gt_nsys_read_syncs,
    gt_nsys_read_gpus, gt_nsys_read_threads, gt_nsys_read_ranges,  say_if_no_gpu_work,
};

/* By its name: the first bytes of a report are not documented. */
static bool is_report(const char *path)
{
    for (const char *const *ending = endings; *ending != NULL; ending++) {
        size_t length = strlen(path), bytes = strlen(*ending);

        if (length > bytes && strcmp(path + length - bytes, *ending) == 0)
            return true;
    }
    return false;
}

static struct gt_workload *read_nsys(const char *path, const struct gt_import_options *options,
                                     struct gt_error *error)
{
    struct gt_nsys nsys = { 0 };
    struct gt_workload *workload = NULL;
    size_t done = 0;

    if ((is_report(path) ? gt_nsys_report_open(&nsys.db, path, options, error)
                         : gt_db_open(&nsys.db, path, &gt_nsys_maker, options, error)) != 0)
        return NULL;
    gt_import_begin(&nsys.import, "nsys");
    while (done < sizeof steps / sizeof steps[0] && steps[done](&nsys, error) == 0)
        done++;
    gt_nsys_names_close(&nsys);
    gt_nsys_info_free(&nsys);
    free(nsys.devices);
    free(nsys.records);
    gt_db_close(&nsys.db);
    if (done == sizeof steps / sizeof steps[0])
        workload = gt_import_finish(&nsys.import, path, error);
    if (workload != NULL)
        gt_import_give_notes(&nsys.import, options != NULL ? options->collectives : NULL);
    gt_import_free(&nsys.import);
    return workload;
}

const struct gt_importer gt_importer_nsys = {
    .name = "nsys",
    .help = "Nsight Systems report (.nsys-rep), or its export (nsys export --type sqlite)",
    .sniff = sniff,
    .endings = endings,
    .read = read_nsys,
};
