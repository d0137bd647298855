#include "traces/store/serve_rows.h"

#include <stdlib.h>

#include "traces/store/internal.h"
#include "traces/store/query.h"
#include "traces/store/schema_sql.h"

enum { RUN, TENANT, REQUEST, OPERATION, SMS, STATEMENTS };

struct gt_serve_rows {
    struct gt_store *store;
    sqlite3_stmt *statements[STATEMENTS];
    int64_t runs;
};

static const char *const inserts[STATEMENTS] = {
    [RUN] = "INSERT INTO serve (serve_no, policy, share, load, seed, device) VALUES (?, ?, ?, ?, ?, ?)",
    [TENANT] = "INSERT INTO serve_tenant (serve_no, tenant_no, name, class, workers, deadline_ps, alone_ps)"
               " VALUES (?, ?, ?, ?, ?, ?, ?)",
    [REQUEST] =
        "INSERT INTO serve_request (serve_no, tenant_no, number, arrival_ps, begin_ps, end_ps, held_ps, waited_ps,"
        " slowed_ps, blocker_no) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [OPERATION] =
        "INSERT INTO serve_operation (tenant_no, lane, kind, name, start_ps, end_ps) VALUES (?, ?, ?, ?, ?, ?)",
    [SMS] = "INSERT INTO serve_sms (tenant_no, at_ps, sms) VALUES (?, ?, ?)",
};

static void finalize(struct gt_serve_rows *rows)
{
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(rows->statements[i]);
}

struct gt_serve_rows *gt_serve_rows_begin(const char *path, struct gt_error *error)
{
    struct gt_serve_rows *rows = gt_calloc(1, sizeof *rows);
    bool whole;

    rows->store = gt_store_create(path, error);
    whole = rows->store != NULL && gt_store_run(rows->store, gt_schema_serve_sql, error) == 0 &&
            gt_store_begin(rows->store, error) == 0;
    for (int i = 0; whole && i < STATEMENTS; i++) {
        rows->statements[i] = gt_store_prepare(rows->store, inserts[i], error);
        whole = rows->statements[i] != NULL;
    }
    if (whole)
        return rows;
    gt_serve_rows_abandon(rows);
    return NULL;
}

int gt_serve_rows_commit(struct gt_serve_rows *rows, struct gt_error *error)
{
    struct gt_store *store = rows->store;
    int status;

    finalize(rows);
    free(rows);
    status = gt_store_finish(store, 0, error);
    if (status == 0)
        return gt_store_commit(store, error);
    gt_store_abandon(store);
    return -1;
}

void gt_serve_rows_abandon(struct gt_serve_rows *rows)
{
    if (rows == NULL)
        return;
    finalize(rows);
    gt_store_abandon(rows->store);
    free(rows);
}

int gt_serve_rows_run(struct gt_serve_rows *rows, const struct gt_serve_row *row, const struct gt_load *load,
                      struct gt_error *error)
{
    sqlite3_stmt *insert = rows->statements[RUN];

    sqlite3_bind_int64(insert, 1, rows->runs);
    sqlite3_bind_text(insert, 2, row->policy, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, row->share, -1, SQLITE_STATIC);
    gt_store_bind_real(insert, 4, row->load);
    sqlite3_bind_int64(insert, 5, (int64_t)row->seed);
    sqlite3_bind_text(insert, 6, row->device, -1, SQLITE_STATIC);
    if (gt_store_step(rows->store, insert, error) != 0)
        return -1;
    insert = rows->statements[TENANT];
    for (uint32_t i = 0; i < load->tenant_count; i++) {
        sqlite3_bind_int64(insert, 1, rows->runs);
        sqlite3_bind_int64(insert, 2, i);
        sqlite3_bind_text(insert, 3, load->tenants[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 4, gt_tenant_class_names[!load->tenants[i].critical], -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 5, load->tenants[i].workers);
        gt_store_bind_time(insert, 6, load->tenants[i].deadline_ps);
        gt_store_bind_time(insert, 7, load->tenants[i].alone_ps);
        if (gt_store_step(rows->store, insert, error) != 0)
            return -1;
    }
    rows->runs++;
    return 0;
}

int gt_serve_rows_request(struct gt_serve_rows *rows, const struct gt_request_record *record, struct gt_error *error)
{
    sqlite3_stmt *insert = rows->statements[REQUEST];

    sqlite3_bind_int64(insert, 1, rows->runs - 1);
    sqlite3_bind_int64(insert, 2, record->tenant);
    sqlite3_bind_int64(insert, 3, (int64_t)record->number);
    gt_store_bind_time(insert, 4, record->arrival_ps);
    gt_store_bind_time(insert, 5, record->begin_ps);
    gt_store_bind_time(insert, 6, record->end_ps);
    gt_store_bind_time(insert, 7, record->part_ps[GT_PART_HELD]);
    gt_store_bind_time(insert, 8, record->part_ps[GT_PART_WAITED]);
    gt_store_bind_time(insert, 9, record->part_ps[GT_PART_SLOWED]);
    if (record->blocker == GT_NONE)
        sqlite3_bind_null(insert, 10);
    else
        sqlite3_bind_int64(insert, 10, record->blocker);
    return gt_store_step(rows->store, insert, error);
}

int gt_serve_rows_operation(struct gt_serve_rows *rows, const struct gt_serve_operation *operation,
                            struct gt_error *error)
{
    sqlite3_stmt *insert = rows->statements[OPERATION];

    sqlite3_bind_int64(insert, 1, operation->tenant);
    sqlite3_bind_int64(insert, 2, operation->lane);
    sqlite3_bind_text(insert, 3, operation->kind, -1, SQLITE_STATIC);
    gt_store_bind_text(insert, 4, operation->name);
    gt_store_bind_time(insert, 5, operation->start_ps);
    gt_store_bind_time(insert, 6, operation->end_ps);
    return gt_store_step(rows->store, insert, error);
}

int gt_serve_rows_sms(struct gt_serve_rows *rows, const struct gt_serve_sms *sms, struct gt_error *error)
{
    sqlite3_stmt *insert = rows->statements[SMS];

    sqlite3_bind_int64(insert, 1, sms->tenant);
    gt_store_bind_time(insert, 2, sms->at_ps);
    sqlite3_bind_int64(insert, 3, sms->sms);
    return gt_store_step(rows->store, insert, error);
}

int gt_store_has_serve(struct gt_store *store, struct gt_error *error)
{
    int64_t found = 0;
    int status = gt_query_one(gt_store_database(store),
                              "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'serve'", 0, 0,
                              &found, error);

    return status < 0 ? -1 : found > 0;
}
