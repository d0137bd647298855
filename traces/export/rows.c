/* rows.c - a store's rows for the exporters. */
#include <inttypes.h>
#include <stdio.h>

#include "traces/export/internal.h"

struct gt_query *gt_export_query(struct gt_database *database, const char *sql, int64_t run_id, int64_t trace_id,
                                 struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    if (query != NULL) {
        gt_query_bind(query, 1, run_id);
        gt_query_bind(query, 2, trace_id);
    }
    return query;
}

const char *gt_export_text(struct gt_query *query, int column)
{
    const char *text = gt_query_string(query, column);
    return text != NULL ? text : "";
}

int gt_export_number(struct gt_query *query, int column, const char *what, uint64_t *number, struct gt_error *error)
{
    return gt_query_number(query, column, UINT32_MAX - 1, what, number, error);
}

/* The numbers and names of a run's tracks. */

/* Bits of a track's number: 12 the run, 4 the group, 32 the index, 16 the tracks beside it. */
uint64_t gt_export_uuid(const struct gt_export_run *run, enum gt_export_group group, uint64_t index)
{
    return run->number << 52 | (uint64_t)group << 48 | index * GT_PERFETTO_LANES;
}

uint64_t gt_export_flow(const struct gt_export_run *run, uint64_t op)
{
    return run->number << 52 | (op + 1);
}

int gt_export_group(struct gt_export *export, enum gt_export_group group, const char *name, struct gt_error *error)
{
    struct gt_export_run *run = &export->run;
    /* A group's own track comes after all that the group holds. */
    struct gt_perfetto_track track = { gt_export_uuid(run, group, UINT32_MAX), gt_export_uuid(run, GT_GROUP_RUN, 0),
                                       (int)group, name };
    if (run->groups_written >> group & 1)
        return 0;
    run->groups_written |= UINT32_C(1) << group;
    return gt_perfetto_track(export->output, &track, error);
}

struct gt_perfetto_track gt_export_track(const struct gt_export *export, enum gt_export_group group, uint64_t index,
                                         const char *name)
{
    return (struct gt_perfetto_track){ gt_export_uuid(&export->run, group, index),
                                       gt_export_uuid(&export->run, group, UINT32_MAX),
                                       (int)(index < INT32_MAX ? index : INT32_MAX), name };
}

void gt_export_gpu(const struct gt_export *export, int64_t gpu_id, char *text, size_t bytes)
{
    text[0] = '\0';
    if (export->run.several_gpus)
        snprintf(text, bytes, "GPU %" PRId64 " ", gpu_id);
}
