/* serve_rows.h - requests of a load in a store (schema_serve.sql). */
#ifndef GRIDTIDE_TRACES_STORE_SERVE_ROWS_H
#define GRIDTIDE_TRACES_STORE_SERVE_ROWS_H

#include "sim/serve/requests.h"
#include "traces/store/store.h"

struct gt_serve_row {
    const char *policy, *share, *device;
    double load; /* NAN: as in the file */
    uint64_t seed;
};

/* An operation, and SMs with blocks of a tenant from a time on, of the time that pictures show. */
struct gt_serve_operation {
    uint32_t tenant, lane;
    const char *kind, *name; /* name NULL: none */
    gt_time_ps start_ps, end_ps;
};
struct gt_serve_sms {
    uint32_t tenant, sms;
    gt_time_ps at_ps;
};

/* Rows on their way into a new store at `path`, which is there once they are committed. */
struct gt_serve_rows;
struct gt_serve_rows *gt_serve_rows_begin(const char *path, struct gt_error *error);
/* Frees; on -1 nothing is left. */
int gt_serve_rows_commit(struct gt_serve_rows *rows, struct gt_error *error);
void gt_serve_rows_abandon(struct gt_serve_rows *rows); /* NULL allowed */

/* A run and its tenants; requests are of the latest.  Return 0 or -1. */
int gt_serve_rows_run(struct gt_serve_rows *rows, const struct gt_serve_row *row, const struct gt_load *load,
                      struct gt_error *error);
int gt_serve_rows_request(struct gt_serve_rows *rows, const struct gt_request_record *record, struct gt_error *error);
int gt_serve_rows_operation(struct gt_serve_rows *rows, const struct gt_serve_operation *operation,
                            struct gt_error *error);
int gt_serve_rows_sms(struct gt_serve_rows *rows, const struct gt_serve_sms *sms, struct gt_error *error);

/* Does the store hold such runs?  1, 0; -1 with the reason. */
int gt_store_has_serve(struct gt_store *store, struct gt_error *error);

#endif
