#include "traces/store/run_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a row goes: the caller's function, of whatever type, behind one that reads the columns. */
struct receiver {
    int (*take)(const struct receiver *receiver, struct gt_query *query, struct gt_error *error);
    const void *each; /* a pointer to the caller's function */
    void *user;
    uint32_t *next; /* the number of the next row, where rows are numbered */
};

/* Every row of a statement with up to two parameters. */
static int each_row(struct gt_database *database, const char *sql, int64_t first, int64_t second,
                    const struct receiver *receiver, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, first);
    gt_query_bind(query, 2, second);
    while ((row = gt_query_next(query, error)) == 1)
        if (receiver->take(receiver, query, error) != 0)
            break;
    gt_query_end(query);
    return row == 0 ? 0 : -1;
}

#define EACH(type) (*(type *const *)receiver->each)
#define RECEIVER(take)                 \
    &(const struct receiver)           \
    {                                  \
        take, &each, user, &(uint32_t) \
        {                              \
            0                          \
        }                              \
    }

static int take_key(const struct receiver *receiver, struct gt_query *query, struct gt_error *error)
{
    const char *key = gt_query_string(query, 0), *value = gt_query_string(query, 1);

    return EACH(gt_device_key_fn)(receiver->user, key != NULL ? key : "", value != NULL ? value : "", error);
}

int gt_run_device_keys(struct gt_database *database, int64_t run_id, gt_device_key_fn *each, void *user,
                       struct gt_error *error)
{
    return each_row(database,
                    "SELECT key, value FROM device_key WHERE device_id ="
                    " (SELECT device_id FROM run WHERE run_id = ?1) ORDER BY key",
                    run_id, 0, RECEIVER(take_key), error);
}

/* Another number of SMs makes a device forget how its SMs were divided: so that comes first. */
static const char first_key[] = "chip.sms";

static int set_first_key(void *user, const char *key, const char *value, struct gt_error *error)
{
    return strcmp(key, first_key) == 0 ? gt_device_set(user, key, value, error) : 0;
}

static int set_key(void *user, const char *key, const char *value, struct gt_error *error)
{
    return strcmp(key, first_key) == 0 || gt_device_find_key(key) == NULL ? 0
                                                                          : gt_device_set(user, key, value, error);
}

/* The device table's own columns hold even where the keys are not in the store. */
static int read_limits(struct gt_database *database, int64_t run_id, struct gt_device *device, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database,
                                          "SELECT name, sms, warps_per_sm FROM device WHERE device_id ="
                                          " (SELECT device_id FROM run WHERE run_id = ?1)",
                                          error);
    uint64_t sms, warps;
    int result;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    result = gt_query_next(query, error);
    if (result == 0)
        gt_error_set(error, "run %" PRId64 " has no device; the store is damaged", run_id);
    if (result != 1 || gt_query_number(query, 1, GT_DEVICE_MAX_SMS, "device.sms", &sms, error) != 0 ||
        gt_query_number(query, 2, UINT16_MAX, "device.warps_per_sm", &warps, error) != 0) {
        gt_query_end(query);
        return -1;
    }
    snprintf(device->name, sizeof device->name, "%s", gt_query_string(query, 0));
    device->sms = (uint32_t)sms;
    device->warps_per_sm = (uint32_t)warps;
    gt_query_end(query);
    return 0;
}

int gt_stored_device(struct gt_database *database, int64_t run_id, struct gt_device *device, struct gt_error *error)
{
    gt_device_init(device);
    if (gt_run_device_keys(database, run_id, set_first_key, device, error) != 0 ||
        gt_run_device_keys(database, run_id, set_key, device, error) != 0)
        return gt_error_prefix(error, "device of run %" PRId64 ": ", run_id);
    return read_limits(database, run_id, device, error);
}

/* Launch shape and resources from nine columns of table kernel, grid_x first. */
static int kernel_shape(struct gt_query *query, int column, struct gt_kernel *shape, struct gt_error *error)
{
    /* clang-format off */
    uint32_t *const fields[] = {
        &shape->grid[0], &shape->grid[1], &shape->grid[2],
        &shape->block[0], &shape->block[1], &shape->block[2],
        &shape->registers_per_thread, &shape->static_shared_bytes, &shape->dynamic_shared_bytes,
    };
    /* clang-format on */

    *shape = (struct gt_kernel){ 0 };
    for (int i = 0; i < (int)(sizeof fields / sizeof fields[0]); i++) {
        uint64_t value;

        if (gt_query_number(query, column + i, UINT32_MAX, gt_query_column(query, column + i), &value, error) != 0)
            return -1;
        *fields[i] = (uint32_t)value;
    }
    return 0;
}

int gt_run_kernel(struct gt_database *database, int64_t run_id, uint32_t kernel, struct gt_kernel *shape,
                  struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, static_shared_bytes,"
                     " dynamic_shared_bytes FROM kernel WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?1)"
                     " AND kernel_no = ?2",
                     error);
    int result;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    gt_query_bind(query, 2, kernel);
    result = gt_query_next(query, error);
    if (result == 0)
        gt_error_set(error, "kernel %" PRIu32 " is missing; the store is damaged", kernel);
    if (result == 1 && kernel_shape(query, 0, shape, error) != 0)
        result = gt_error_prefix(error, "kernel %" PRIu32 ": ", kernel);
    gt_query_end(query);
    return result == 1 ? 0 : gt_database_name_error(database, error);
}

int gt_run_head(struct gt_database *database, int64_t run_id, struct gt_run_head *head, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT r.trace_id, r.device_id, r.kind = 'simulated', t.name, d.name, r.options,"
                     " (SELECT name FROM trace AS base WHERE base.trace_id = coalesce(t.base_trace_id, t.trace_id))"
                     " FROM run r JOIN trace t USING (trace_id) JOIN device d USING (device_id) WHERE r.run_id = ?1",
                     error);
    int row;

    *head = (struct gt_run_head){ .trace = NULL };
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    row = gt_query_next(query, error);
    if (row == 1)
        *head = (struct gt_run_head){
            .trace_id = gt_query_integer(query, 0),
            .device_id = gt_query_integer(query, 1),
            .simulated = gt_query_integer(query, 2) != 0,
            .trace = gt_query_text(query, 3),
            .device = gt_query_text(query, 4),
            .options = gt_query_text(query, 5),
            .base = gt_query_text(query, 6),
        };
    else if (row == 0)
        gt_error_set(error, "%s: there is no run %" PRId64 ", or it has no trace or no device", database->path,
                     run_id);
    gt_query_end(query);
    return row == 1 ? 0 : -1;
}

void gt_run_head_free(struct gt_run_head *head)
{
    free(head->trace);
    free(head->device);
    free(head->options);
    free(head->base);
}

/* Rows of a definition table must be numbered 0, 1, 2, ...: a receiver's `next` counts them. */
static int is_next(const struct receiver *receiver, struct gt_query *query, const char *what, struct gt_error *error)
{
    if (gt_query_integer(query, 0) != (int64_t)*receiver->next)
        return gt_error_set(error, "%s %" PRIu32 " is missing; the store is damaged", what, *receiver->next);
    ++*receiver->next;
    return 0;
}

static int take_stream(const struct receiver *receiver, struct gt_query *query, struct gt_error *error)
{
    struct gt_stream_row row;
    uint64_t gpu;

    if (is_next(receiver, query, "stream", error) != 0 ||
        gt_query_number(query, 1, GT_MOST_GPUS - 1, "stream.gpu_no", &gpu, error) != 0)
        return -1;
    row = (struct gt_stream_row){
        .gpu = (uint32_t)gpu,
        .id = (uint64_t)gt_query_integer(query, 2),
        .name = gt_query_string(query, 3),
        .flags = (uint32_t)gt_query_integer(query, 4),
        .priority = (int32_t)gt_query_integer(query, 5),
    };
    return EACH(gt_stream_fn)(receiver->user, &row, error);
}

int gt_trace_streams(struct gt_database *database, int64_t trace_id, gt_stream_fn *each, void *user,
                     struct gt_error *error)
{
    return each_row(database,
                    "SELECT stream_no, gpu_no, id, name, flags, priority FROM stream WHERE trace_id = ?1"
                    " ORDER BY stream_no",
                    trace_id, 0, RECEIVER(take_stream), error);
}

static int take_kernel(const struct receiver *receiver, struct gt_query *query, struct gt_error *error)
{
    const uint32_t kernel = *receiver->next;
    const char *name = gt_query_string(query, 1);
    struct gt_kernel shape;

    if (is_next(receiver, query, "kernel", error) != 0)
        return -1;
    if (kernel_shape(query, 2, &shape, error) != 0)
        return gt_error_prefix(error, "kernel %" PRIu32 ": ", kernel);
    return EACH(gt_kernel_fn)(receiver->user, name != NULL ? name : "", &shape, error);
}

int gt_trace_kernels(struct gt_database *database, int64_t trace_id, gt_kernel_fn *each, void *user,
                     struct gt_error *error)
{
    return each_row(database,
                    "SELECT kernel_no, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers,"
                    " static_shared_bytes, dynamic_shared_bytes FROM kernel WHERE trace_id = ?1 ORDER BY kernel_no",
                    trace_id, 0, RECEIVER(take_kernel), error);
}

static int take_warning(const struct receiver *receiver, struct gt_query *query, struct gt_error *error)
{
    const char *kind = gt_query_string(query, 0), *text = gt_query_string(query, 2);
    const struct gt_warning_row row = { kind != NULL ? kind : "", text != NULL ? text : "",
                                        gt_query_integer(query, 1) };

    return EACH(gt_warning_fn)(receiver->user, &row, error);
}

int gt_run_warnings(struct gt_database *database, int64_t run_id, gt_warning_fn *each, void *user,
                    struct gt_error *error)
{
    return each_row(database,
                    "SELECT w.kind, w.count, w.text FROM run r JOIN trace t ON t.trace_id = r.trace_id"
                    " JOIN warning w ON w.trace_id IN (t.trace_id, t.base_trace_id)"
                    " WHERE r.run_id = ?1 GROUP BY w.kind ORDER BY w.kind",
                    run_id, 0, RECEIVER(take_warning), error);
}

int gt_run_bin_ps(struct gt_database *database, int64_t run_id, int64_t *bin_ps, struct gt_error *error)
{
    *bin_ps = 0;
    return gt_query_one(database, "SELECT CAST(value AS INTEGER) FROM counter WHERE run_id = ?1 AND name = 'bin_ps'",
                        run_id, 0, bin_ps, error) < 0
               ? -1
               : 0;
}

static int take_bin(const struct receiver *receiver, struct gt_query *query, struct gt_error *error)
{
    const struct gt_bin_row row = { gt_query_integer(query, 0), gt_query_integer(query, 1),
                                    gt_query_integer(query, 2), gt_query_integer(query, 3) };

    return EACH(gt_bin_fn)(receiver->user, &row, error);
}

int gt_run_bins(struct gt_database *database, int64_t run_id, gt_bin_fn *each, void *user, struct gt_error *error)
{
    return each_row(database,
                    "SELECT g.id, b.sm, b.bin, b.warp_ps FROM run_bin b JOIN gpu g"
                    " ON g.trace_id = (SELECT trace_id FROM run WHERE run_id = ?1) AND g.gpu_no = b.gpu_no"
                    " WHERE b.run_id = ?1",
                    run_id, 0, RECEIVER(take_bin), error);
}
