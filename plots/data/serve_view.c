#include "plots/data/serve_view.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/store/query.h"

/* Of a file that may be anybody's. */
enum { RUNS_MAX = 10000, TENANTS_MAX = 64, OPERATIONS_MAX = 2000, SMS_MAX = 1 << 20 };

static int read_requests(struct gt_store *store, int64_t run, int64_t number, struct gt_serve_view_tenant *tenant,
                         struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store),
                                          "SELECT (end_ps - arrival_ps) / 1e6 FROM serve_request"
                                          " WHERE serve_no = ? AND tenant_no = ? ORDER BY 1",
                                          error);
    uint64_t room = 0;
    int got = query != NULL ? 1 : -1;

    if (query != NULL) {
        gt_query_bind(query, 1, run);
        gt_query_bind(query, 2, number);
    }
    while (got == 1 && (got = gt_query_next(query, error)) == 1) {
        if (tenant->count == room) {
            room = gt_array_next_room(room, UINT64_MAX);
            tenant->latency_us = gt_realloc(tenant->latency_us, room, sizeof *tenant->latency_us);
        }
        tenant->latency_us[tenant->count++] = gt_query_real(query, 0);
    }
    gt_query_end(query);
    while (got == 0 && tenant->late < tenant->count &&
           tenant->latency_us[tenant->count - 1 - tenant->late] > tenant->deadline_us)
        tenant->late++;
    return got;
}

static int read_means(struct gt_store *store, int64_t run, int64_t number, struct gt_serve_view_tenant *tenant,
                      struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        gt_store_database(store),
        "SELECT avg(begin_ps - arrival_ps) / 1e6, avg(end_ps - begin_ps) / 1e6, avg(held_ps) / 1e6,"
        " avg(waited_ps) / 1e6, avg(slowed_ps) / 1e6, count(*) * 1e12 / nullif(max(end_ps) - min(arrival_ps), 0)"
        " FROM serve_request WHERE serve_no = ? AND tenant_no = ?",
        error);
    int got = -1;

    if (query != NULL) {
        gt_query_bind(query, 1, run);
        gt_query_bind(query, 2, number);
        got = gt_query_next(query, error);
    }
    if (got == 1) {
        tenant->queued_us = gt_query_real(query, 0);
        tenant->service_us = gt_query_real(query, 1);
        tenant->held_us = gt_query_real(query, 2);
        tenant->waited_us = gt_query_real(query, 3);
        tenant->slowed_us = gt_query_real(query, 4);
        tenant->per_s = gt_query_real(query, 5);
    }
    gt_query_end(query);
    return got < 0 ? -1 : 0;
}

static int read_tenants(struct gt_store *store, int64_t number, struct gt_serve_view_run *run, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(gt_store_database(store),
                     "SELECT name, class, alone_ps / 1e6, deadline_ps / 1e6, tenant_no FROM serve_tenant"
                     " WHERE serve_no = ? ORDER BY tenant_no",
                     error);
    int got = query != NULL ? 1 : -1;

    if (query != NULL)
        gt_query_bind(query, 1, number);
    run->tenants = gt_calloc(TENANTS_MAX, sizeof *run->tenants);
    while (got == 1 && (got = gt_query_next(query, error)) == 1 && run->tenant_count < TENANTS_MAX) {
        struct gt_serve_view_tenant *tenant = &run->tenants[run->tenant_count++];
        const char *class = gt_query_string(query, 1);

        tenant->name = gt_query_text(query, 0);
        tenant->critical = class != NULL && strcmp(class, "critical") == 0;
        tenant->alone_us = gt_query_real(query, 2);
        tenant->deadline_us = gt_query_real(query, 3);
        if (read_requests(store, number, gt_query_integer(query, 4), tenant, error) != 0 ||
            read_means(store, number, gt_query_integer(query, 4), tenant, error) != 0)
            got = -1;
    }
    gt_query_end(query);
    return got < 0 ? -1 : 0;
}

static int read_runs(struct gt_serve_view *view, struct gt_store *store, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        gt_store_database(store), "SELECT serve_no, policy, share, device, load FROM serve ORDER BY serve_no", error);
    uint32_t room = 0;
    int got = query != NULL ? 1 : -1;

    while (got == 1 && (got = gt_query_next(query, error)) == 1 && view->run_count < RUNS_MAX) {
        struct gt_serve_view_run *run;

        gt_array_grow(view->runs, view->run_count, room);
        run = &view->runs[view->run_count++];
        *run = (struct gt_serve_view_run){ .policy = gt_query_text(query, 1),
                                           .share = gt_query_text(query, 2),
                                           .device = gt_query_text(query, 3),
                                           .load = gt_query_real(query, 4) };
        if (read_tenants(store, gt_query_integer(query, 0), run, error) != 0)
            got = -1;
    }
    gt_query_end(query);
    return got < 0 ? -1 : 0;
}

static int read_operations(struct gt_serve_view *view, struct gt_store *store, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store),
                                          "SELECT tenant_no, lane, kind = 'kernel', start_ps / 1e6, end_ps / 1e6 "
                                          "FROM serve_operation ORDER BY start_ps",
                                          error);
    int got = query != NULL ? 1 : -1;

    view->operations = gt_calloc(OPERATIONS_MAX, sizeof *view->operations);
    while (got == 1 && (got = gt_query_next(query, error)) == 1 && view->operation_count < OPERATIONS_MAX)
        view->operations[view->operation_count++] =
            (struct gt_serve_view_operation){ (uint32_t)gt_query_integer(query, 0),
                                              (uint32_t)gt_query_integer(query, 1), gt_query_integer(query, 2) != 0,
                                              gt_query_real(query, 3), gt_query_real(query, 4) };
    gt_query_end(query);
    return got < 0 ? -1 : 0;
}

static int read_sms(struct gt_serve_view *view, struct gt_store *store, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(gt_store_database(store),
                     "SELECT tenant_no, at_ps / 1e6, sms FROM serve_sms ORDER BY tenant_no, at_ps, rowid", error);
    uint32_t room = 0;
    int got = query != NULL ? 1 : -1;

    while (got == 1 && (got = gt_query_next(query, error)) == 1 && view->sms_count < SMS_MAX) {
        gt_array_grow(view->sms, view->sms_count, room);
        view->sms[view->sms_count++] =
            (struct gt_serve_view_sms){ (uint32_t)gt_query_integer(query, 0), (uint32_t)gt_query_integer(query, 2),
                                        gt_query_real(query, 1) };
    }
    gt_query_end(query);
    return got < 0 ? -1 : 0;
}

int gt_serve_view_load(struct gt_serve_view *view, struct gt_store *store, struct gt_error *error)
{
    memset(view, 0, sizeof *view);
    if (read_runs(view, store, error) != 0 || read_operations(view, store, error) != 0 ||
        read_sms(view, store, error) != 0)
        return -1;
    return view->run_count > 0 ? 0
                               : gt_error_set(error, "%s: no run of a load in it", gt_store_database(store)->path);
}

void gt_serve_view_free(struct gt_serve_view *view)
{
    for (uint32_t i = 0; i < view->run_count; i++) {
        for (uint32_t j = 0; j < view->runs[i].tenant_count; j++) {
            free(view->runs[i].tenants[j].name);
            free(view->runs[i].tenants[j].latency_us);
        }
        free(view->runs[i].tenants);
        free(view->runs[i].policy);
        free(view->runs[i].share);
        free(view->runs[i].device);
    }
    free(view->runs);
    free(view->operations);
    free(view->sms);
}
