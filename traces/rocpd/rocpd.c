/* rocpd.c - the importer of rocprofv3's databases: which tables are read, in which order. */
#include "traces/rocpd/rocpd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/import/blocking_streams.h"
#include "traces/rocpd/internal.h"

static const char strings_table[] = "rocpd_string";

/* Other tools write SQLite, too; the definitions of tables are at a database's beginning. */
static int sniff(const unsigned char *head, size_t bytes)
{
    static const char magic[16] = "SQLite format 3", table[] = "rocpd_kernel_dispatch";

    if (bytes < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return 0;
    return memmem(head, bytes, table, sizeof table - 1) != NULL ? 95 : 0;
}

static bool is_suffix(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (strchr("_-", text[i]) == NULL && (text[i] < '0' || text[i] > '9') &&
            ((text[i] | 32) < 'a' || (text[i] | 32) > 'z'))
            return false;
    return length < ROCPD_SUFFIX_BYTES;
}

static int refuse(const struct rocpd *rocpd, struct gt_error *error)
{
    return gt_error_set(error,
                        "%s: the database has no tables of rocprofv3 (rocpd_string, rocpd_kernel_dispatch, "
                        "rocpd_region, ...); %s",
                        rocpd->db.path, rocpd->db.maker->advice);
}

/* The sets of tables, in the order of their suffixes. */
static int find_sets(struct rocpd *rocpd, struct gt_error *error)
{
    static const char sql[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
                              "name GLOB 'rocpd_kernel_dispatch*' ORDER BY name";
    static const char first[] = "rocpd_kernel_dispatch";
    struct gt_query *query = gt_db_query(&rocpd->db, "sqlite_master", sql, error);
    int status;

    if (query == NULL)
        return -1;
    while ((status = gt_query_next(query, error)) == 1) {
        const char *name = gt_query_is_text(query, 0) ? gt_query_string(query, 0) : "";
        const char *suffix = strlen(name) >= sizeof first - 1 ? name + sizeof first - 1 : "?";

        if (!is_suffix(suffix))
            continue;
        gt_array_grow(rocpd->suffixes, rocpd->suffix_count, rocpd->suffix_room);
        snprintf(rocpd->suffixes[rocpd->suffix_count++], ROCPD_SUFFIX_BYTES, "%s", suffix);
    }
    gt_query_end(query);
    if (status == 0 && rocpd->suffix_count == 0)
        return refuse(rocpd, error);
    return status;
}

/* Does the set have the table?  1, 0, or -1. */
static int has_table(struct rocpd *rocpd, const char *table, struct gt_error *error)
{
    char name[ROCPD_TABLE_BYTES];

    rocpd_table_name(rocpd, table, name);
    return gt_db_has_table(&rocpd->db, name, error);
}

static int check_tables(struct rocpd *rocpd, struct gt_error *error)
{
    int there = has_table(rocpd, strings_table, error), categories;

    if (there != 1)
        return there == 0 ? refuse(rocpd, error) : -1;
    categories = has_table(rocpd, "rocpd_info_category", error);
    rocpd->categories = categories == 1;
    return categories < 0 ? -1 : 0;
}

/* In this order: agents say what a GPU is, operations which streams there are, arguments which of them calls mean. */
static int (*const steps[])(struct rocpd *rocpd, struct gt_error *error) = {
    check_tables, rocpd_read_agents, rocpd_read_operations, rocpd_read_arguments, rocpd_read_regions,
};

static int read_sets(struct rocpd *rocpd, struct gt_error *error)
{
    int status = find_sets(rocpd, error);

    for (rocpd->set = 0; status == 0 && rocpd->set < rocpd->suffix_count; rocpd->set++) {
        for (size_t i = 0; status == 0 && i < sizeof steps / sizeof steps[0]; i++)
            status = steps[i](rocpd, error);
        rocpd_end_lookups(rocpd);
    }
    return status;
}

static struct gt_workload *finish(struct rocpd *rocpd, const char *path, const struct gt_import_options *options,
                                  struct gt_error *error)
{
    struct gt_workload *workload = rocpd->import.workload;

    rocpd_resolve_targets(rocpd);
    rocpd_describe_gpus(rocpd);
    gt_import_warn(workload, "no-gpu-work", rocpd->import.op_count == 0);
    gt_import_warn_priorities(&rocpd->import);
    workload = gt_import_finish(&rocpd->import, path, error);
    if (workload == NULL)
        return NULL;
    gt_import_find_blocking(workload, 0);
    gt_import_give_notes(&rocpd->import, options != NULL ? options->collectives : NULL);
    return workload;
}

static struct gt_workload *read_rocpd(const char *path, const struct gt_import_options *options,
                                      struct gt_error *error)
{
    static const struct gt_db_maker maker = {
        .file = "a database of rocprofv3",
        .advice = "record with 'rocprofv3 --output-format rocpd --sys-trace -- PROGRAM'",
    };
    struct rocpd rocpd = { 0 };
    struct gt_workload *workload = NULL;

    if (gt_db_open(&rocpd.db, path, &maker, options, error) != 0)
        return NULL;
    gt_import_begin(&rocpd.import, "rocpd");
    rocpd.json = gt_json_line_new();
    if (read_sets(&rocpd, error) == 0)
        workload = finish(&rocpd, path, options, error);
    gt_json_line_free(rocpd.json);
    rocpd_free_texts(&rocpd);
    gt_index_map_free(rocpd.streams);
    free(rocpd.suffixes);
    free(rocpd.agents);
    free(rocpd.arguments);
    free(rocpd.marks);
    gt_db_close(&rocpd.db);
    gt_import_free(&rocpd.import);
    return workload;
}

const struct gt_importer gt_importer_rocpd = {
    .name = "rocpd",
    .help = "a database of rocprofv3 (ROCm; --output-format rocpd)",
    .sniff = sniff,
    .read = read_rocpd,
};
