/* Requests of a load (gridtide serve): a process for each tenant, with its requests, its streams and its SMs. */
#include <inttypes.h>
#include <stdio.h>

#include "traces/export/internal.h"
#include "traces/store/serve_rows.h"

enum { REQUESTS, STREAMS, SMS, KINDS };

/* Leaves the low bits to tracks beside it, as gt_perfetto_slice() wants it. */
static uint64_t track_uuid(uint64_t tenant, uint64_t kind, uint64_t index)
{
    return (tenant + 1) << 44 | kind << 40 | (index + 1) << 20;
}

static struct gt_query *query_tenant(struct gt_export *export, const char *sql, int64_t tenant,
                                     struct gt_error *error)
{
    return gt_export_query(export->database, sql, tenant, 0, error);
}

/* Of the first run, those that began while the stored operations ran. */
static const char requests_sql[] =
    "SELECT begin_ps, end_ps, number, arrival_ps / 1000000 FROM serve_request WHERE serve_no = 0"
    " AND tenant_no = ?1 AND ?2 = 0"
    " AND begin_ps <= (SELECT max(end_ps) FROM serve_operation) ORDER BY begin_ps";

static int write_requests(struct gt_export *export, struct gt_perfetto_sequence *sequence, int64_t tenant,
                          struct gt_error *error)
{
    struct gt_query *query = query_tenant(export, requests_sql, tenant, error);
    const struct gt_perfetto_track track = { track_uuid((uint64_t)tenant, REQUESTS, 0),
                                             track_uuid((uint64_t)tenant, KINDS, 0), 0, "requests" };
    int row = query != NULL ? gt_perfetto_track(export->output, &track, error) == 0 ? 1 : -1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        char name[48];
        struct gt_perfetto_note note = { "arrival_us", NULL, (uint64_t)gt_query_integer(query, 3) };
        struct gt_perfetto_slice slice = { .name = name, .category = "request", .notes = &note, .note_count = 1 };

        snprintf(name, sizeof name, "request %" PRId64, gt_query_integer(query, 2));
        if (gt_query_span(query, 0, "request", gt_query_integer(query, 2), &slice.start_ps, &slice.end_ps, error) !=
                0 ||
            gt_perfetto_slice(sequence, &track, &slice, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    return row;
}

enum { LANES_MOST = 1 << 19, LANE_NAME_BYTES = 48 };

static int lane_track(struct gt_query *query, int column, int64_t tenant, char name[LANE_NAME_BYTES],
                      struct gt_perfetto_track *track, struct gt_error *error)
{
    uint64_t lane;

    if (gt_query_number(query, column, LANES_MOST, "lane", &lane, error) != 0)
        return -1;
    snprintf(name, LANE_NAME_BYTES, "stream %" PRIu64, lane);
    *track = (struct gt_perfetto_track){ track_uuid((uint64_t)tenant, STREAMS, lane),
                                         track_uuid((uint64_t)tenant, KINDS, 0), 1, name };
    return 0;
}

static int write_lanes(struct gt_export *export, int64_t tenant, struct gt_error *error)
{
    struct gt_query *query = query_tenant(
        export, "SELECT DISTINCT lane FROM serve_operation WHERE tenant_no = ?1 AND ?2 = 0 ORDER BY lane", tenant,
        error);
    char name[LANE_NAME_BYTES];
    struct gt_perfetto_track track;
    int row = query != NULL ? 1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (lane_track(query, 0, tenant, name, &track, error) != 0 ||
            gt_perfetto_track(export->output, &track, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

static const char operations_sql[] = "SELECT start_ps, end_ps, lane, coalesce(name, kind), kind FROM serve_operation"
                                     " WHERE tenant_no = ?1 AND ?2 = 0 ORDER BY start_ps, lane";

static int write_operations(struct gt_export *export, struct gt_perfetto_sequence *sequence, int64_t tenant,
                            struct gt_error *error)
{
    struct gt_query *query = query_tenant(export, operations_sql, tenant, error);
    int row = query != NULL && write_lanes(export, tenant, error) == 0 ? 1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        char name[LANE_NAME_BYTES];
        struct gt_perfetto_track track;
        struct gt_perfetto_slice slice = { .name = gt_export_text(query, 3), .category = gt_export_text(query, 4) };

        if (lane_track(query, 2, tenant, name, &track, error) != 0 ||
            gt_query_span(query, 0, "operation", 0, &slice.start_ps, &slice.end_ps, error) != 0 ||
            gt_perfetto_slice(sequence, &track, &slice, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    return row;
}

static const char sms_sql[] =
    "SELECT at_ps, sms FROM serve_sms WHERE tenant_no = ?1 AND ?2 = 0 ORDER BY at_ps, rowid";

static int write_sms(struct gt_export *export, struct gt_perfetto_sequence *sequence, int64_t tenant,
                     struct gt_error *error)
{
    struct gt_query *query = query_tenant(export, sms_sql, tenant, error);
    const struct gt_perfetto_track track = { track_uuid((uint64_t)tenant, SMS, 0),
                                             track_uuid((uint64_t)tenant, KINDS, 0), 2, "SMs with blocks" };
    int row = query != NULL ? gt_perfetto_counter(export->output, &track, "SMs", error) == 0 ? 1 : -1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        uint64_t at_ps, sms;

        if (gt_query_number(query, 0, GT_TIME_LIMIT_PS, "time", &at_ps, error) != 0 ||
            gt_query_number(query, 1, UINT32_MAX, "number of SMs", &sms, error) != 0 ||
            gt_perfetto_value(sequence, track.uuid, at_ps, (double)sms, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    return row;
}

static int write_tenant(struct gt_export *export, int64_t tenant, const char *name, struct gt_error *error)
{
    static int (*const parts[KINDS])(struct gt_export *, struct gt_perfetto_sequence *, int64_t,
                                     struct gt_error *) = { write_requests, write_operations, write_sms };
    const struct gt_perfetto_track process = { track_uuid((uint64_t)tenant, KINDS, 0), 0, (int)tenant, name };

    if (gt_perfetto_process(export->output, &process, (int)tenant + 1, error) != 0)
        return -1;
    for (int part = 0; part < KINDS; part++) {
        struct gt_perfetto_sequence *sequence =
            gt_perfetto_sequence_new(export->output, (uint32_t)(2 + tenant * KINDS + part));
        int status = parts[part](export, sequence, tenant, error);

        if (status == 0)
            status = gt_perfetto_sequence_finish(sequence, error);
        gt_perfetto_sequence_free(sequence);
        if (status != 0)
            return -1;
    }
    return 0;
}

int gt_export_serve(struct gt_export *export, struct gt_error *error)
{
    struct gt_query *query = gt_export_query(export->database,
                                             "SELECT tenant_no, name FROM serve_tenant WHERE serve_no = ?1 AND ?2 = 0"
                                             " AND tenant_no BETWEEN 0 AND 63 ORDER BY tenant_no",
                                             0, 0, error);
    int row = query != NULL ? 1 : -1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_tenant(export, gt_query_integer(query, 0), gt_export_text(query, 1), error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}
