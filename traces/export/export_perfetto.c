/* export_perfetto.c - a store as a Perfetto trace: a process a run, below it the tracks of host
 * threads, streams, copies, residency, SMs and workers. */
#include <inttypes.h>
#include <stdio.h>

#include "traces/export/internal.h"
#include "traces/store/serve_rows.h"

enum { MOST_RUNS = 4095, TITLE_BYTES = 512, FIRST_SEQUENCE = 2 };

typedef int write_part(struct gt_export *, struct gt_perfetto_sequence *, struct gt_error *);
static write_part *const parts[] = { gt_export_calls,     gt_export_ops,    gt_export_copies, gt_export_bandwidth,
                                     gt_export_residency, gt_export_blocks, gt_export_tasks };
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static int write_parts(struct gt_export *export, struct gt_error *error)
{
    for (size_t part = 0; part < PARTS; part++) {
        uint32_t number = (uint32_t)(FIRST_SEQUENCE + (export->run.number - 1) * PARTS + part);
        struct gt_perfetto_sequence *sequence = gt_perfetto_sequence_new(export->output, number);
        int status = parts[part](export, sequence, error);
        if (status == 0)
            status = gt_perfetto_sequence_finish(sequence, error);
        gt_perfetto_sequence_free(sequence);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* Measured runs first, so that each simulated one stands below what it is to be compared with. */
static const char runs_sql[] = "SELECT run_id, trace_id, kind, t.name, d.name, options, repetition,"
                               " (SELECT count(*) FROM gpu g WHERE g.trace_id = r.trace_id) "
                               "FROM run r JOIN trace t USING (trace_id) JOIN device d USING (device_id) "
                               "WHERE whole = 1 AND ?1 = 0 ORDER BY trace_id, kind, run_id";

static int write_run(struct gt_export *export, struct gt_query *query, struct gt_error *error)
{
    struct gt_export_run *run = &export->run;
    char title[TITLE_BYTES];
    *run = (struct gt_export_run){ gt_query_integer(query, 0),
                                   gt_query_integer(query, 1),
                                   run->number + 1,
                                   run->has_ranges,
                                   run->has_tasks,
                                   run->has_polls,
                                   run->has_executables,
                                   gt_query_integer(query, 7) > 1,
                                   0 };
    if (run->number > MOST_RUNS)
        return gt_error_set(error, "more than %d runs in one store; export fewer", MOST_RUNS);
    const char *options = gt_export_text(query, 5);
    snprintf(title, sizeof(title), "%s: %s on %s, run %" PRId64 "%s%s", gt_export_text(query, 2),
             gt_export_text(query, 3), gt_export_text(query, 4), run->run_id, options[0] != '\0' ? ", " : "",
             options);
    struct gt_perfetto_track process = { gt_export_uuid(run, GT_GROUP_RUN, 0), 0, (int)run->number, title };
    if (gt_perfetto_process(export->output, &process, (int)run->number, error) != 0)
        return -1;
    int status = gt_selection_find(&export->selection, export->database, run->run_id, export->filter, error);
    if (status == 0 && gt_export_causes_load(export, error) == 0)
        status = write_parts(export, error);
    else
        status = -1;
    gt_export_causes_free(export);
    gt_selection_free(&export->selection);
    return status;
}

static int write_runs(struct gt_export *export, struct gt_error *error)
{
    struct gt_query *query = gt_export_query(export->database, runs_sql, 0, 0, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_run(export, query, error) != 0)
            row = -1;
    gt_query_end(query);
    if (row == 0 && export->run.number == 0)
        return gt_error_set(error, "no whole run in this store: nothing to export");
    return row;
}

static int write_perfetto(struct gt_store *store, const char *path, const struct gt_filter *filter,
                          struct gt_error *error)
{
    struct gt_export export = { .database = gt_store_database(store), .filter = filter };
    int serves = gt_store_has_serve(store, error);

    export.run.has_ranges = gt_store_has_ranges(store);
    export.run.has_tasks = gt_store_has_tasks(store);
    export.run.has_polls = gt_store_has_polls(store);
    export.run.has_executables = gt_store_has_executables(store);
    if (serves < 0)
        return -1;
    export.output = gt_output_open(path, error);
    if (export.output == NULL)
        return -1;
    if ((serves > 0 ? gt_export_serve(&export, error) : write_runs(&export, error)) != 0) {
        gt_output_abandon(export.output);
        return -1;
    }
    return gt_output_commit(export.output, error);
}

const struct gt_exporter gt_exporter_perfetto = {
    "perfetto",
    "a protobuf trace for ui.perfetto.dev: host threads with operators and steps, streams, "
    "copies, SMs, workers with their tasks, counters, and arrows from calls to operations and "
    "from the operation that each start waited for; one process per run, or per tenant of a load.",
    write_perfetto,
    NULL,
};
