/* What a run's statistics are about: the run, its device, GPUs, streams and kernels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "traces/stats/internal.h"

static int load_run(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_run *run = &work->stats->run;
    sqlite3_stmt *query = gt_query(work, "SELECT run.trace_id, run.device_id, run.kind = 'simulated',"
                                   " run.options, trace.name FROM run JOIN trace USING (trace_id)"
                                   " WHERE run_id = ?1", error);
    int result = query == NULL ? -1 : gt_query_row(query, error);

    if (result == 1) {
        run->trace_id = sqlite3_column_int64(query, 0);
        run->device_id = sqlite3_column_int64(query, 1);
        run->simulated = sqlite3_column_int(query, 2);
        run->options = gt_query_text(query, 3);
        run->trace = gt_query_text(query, 4);
    } else if (result == 0) {
        gt_error_set(error, "no run %" PRId64 " in it", run->run_id);
    }
    sqlite3_finalize(query);
    return result == 1 ? 0 : -1;
}

/* The device as the run used it; keys that this version does not know mean nothing to it. */
static int load_device(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_run *run = &work->stats->run;
    sqlite3_stmt *query = gt_query(work, "SELECT key, value FROM device_key WHERE device_id ="
                                   " (SELECT device_id FROM run WHERE run_id = ?1)", error);
    int result = -1;

    gt_device_init(&run->device);
    while (query != NULL && (result = gt_query_row(query, error)) == 1) {
        const char *key = (const char *)sqlite3_column_text(query, 0);
        const char *value = (const char *)sqlite3_column_text(query, 1);

        if (key == NULL || value == NULL || gt_device_find_key(key) == NULL)
            continue;
        if (gt_device_set(&run->device, key, value, error) != 0) {
            result = gt_error_prefix(error, "device of run %" PRId64 ": ", run->run_id);
            break;
        }
    }
    sqlite3_finalize(query);
    return result;
}

/* The device table's own columns hold even where the keys are not in the store. */
static int load_limits(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_device *device = &work->stats->run.device;
    sqlite3_stmt *query = gt_query(work, "SELECT name, sms, warps_per_sm FROM device WHERE device_id ="
                                   " (SELECT device_id FROM run WHERE run_id = ?1)", error);
    int result = query == NULL ? -1 : gt_query_row(query, error);
    uint64_t sms, warps;

    if (result == 0)
        gt_error_set(error, "run %" PRId64 " has no device; the store is damaged", work->stats->run.run_id);
    if (result != 1 || gt_query_number(query, 1, GT_DEVICE_MAX_SMS, "device.sms", &sms, error) != 0
        || gt_query_number(query, 2, UINT16_MAX, "device.warps_per_sm", &warps, error) != 0) {
        sqlite3_finalize(query);
        return -1;
    }
    snprintf(device->name, sizeof device->name, "%s", (const char *)sqlite3_column_text(query, 0));
    device->sms = (uint32_t)sms;
    device->warps_per_sm = (uint32_t)warps;
    sqlite3_finalize(query);
    return 0;
}

/* Rows of a definition table must be numbered 0, 1, 2, ...: row `index` is next. */
static int next_is(sqlite3_stmt *query, size_t index, const char *what, struct gt_error *error)
{
    if (sqlite3_column_int64(query, 0) != (sqlite3_int64)index)
        return gt_error_set(error, "%s %zu is missing; the store is damaged", what, index);
    return 0;
}

static int load_gpus(struct gt_stats_work *work, struct gt_error *error)
{
    sqlite3_stmt *query = gt_query(work, "SELECT gpu_no, id FROM gpu WHERE trace_id = ?2 ORDER BY gpu_no",
                                   error);
    int result = -1;

    while (query != NULL && (result = gt_query_row(query, error)) == 1) {
        uint64_t id;

        if (next_is(query, work->gpus, "gpu", error) != 0
            || gt_query_number(query, 1, UINT32_MAX, "gpu.id", &id, error) != 0) {
            result = -1;
            break;
        }
        work->gpu_ids = gt_realloc(work->gpu_ids, work->gpus + 1, sizeof *work->gpu_ids);
        work->gpu_ids[work->gpus++] = (uint32_t)id;
    }
    sqlite3_finalize(query);
    return result;
}

static int load_streams(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats *stats = work->stats;
    sqlite3_stmt *query = gt_query(work, "SELECT stream_no, gpu_no, id, name FROM stream WHERE trace_id = ?2"
                                   " ORDER BY stream_no", error);
    uint64_t last_gpu = work->gpus == 0 ? 0 : work->gpus - 1;
    size_t room = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_row(query, error)) == 1) {
        struct gt_stats_stream *stream;
        uint64_t gpu;

        if (next_is(query, stats->stream_count, "stream", error) != 0
            || gt_query_number(query, 1, last_gpu, "stream.gpu_no", &gpu, error) != 0) {
            result = -1;
            break;
        }
        if (stats->stream_count == room) {
            room = room == 0 ? 16 : 2 * room;
            stats->streams = gt_realloc(stats->streams, room, sizeof *stats->streams);
        }
        stream = &stats->streams[stats->stream_count];
        *stream = (struct gt_stats_stream){
            .stream = (uint32_t)stats->stream_count++, .gpu = work->gpus == 0 ? 0 : work->gpu_ids[gpu],
            .id = (uint64_t)sqlite3_column_int64(query, 2), .name = gt_query_text(query, 3),
        };
    }
    sqlite3_finalize(query);
    return result;
}

/* Columns 2.. of a kernel row into its launch shape. */
static int read_shape(sqlite3_stmt *query, struct gt_kernel *shape, struct gt_error *error)
{
    uint32_t *const fields[] = {
        &shape->grid[0], &shape->grid[1], &shape->grid[2],
        &shape->block[0], &shape->block[1], &shape->block[2],
        &shape->registers_per_thread, &shape->static_shared_bytes, &shape->dynamic_shared_bytes,
    };

    *shape = (struct gt_kernel){ 0 };
    for (int i = 0; i < (int)(sizeof fields / sizeof fields[0]); i++) {
        uint64_t value;

        if (gt_query_number(query, 2 + i, UINT32_MAX, sqlite3_column_name(query, 2 + i), &value, error) != 0)
            return gt_error_prefix(error, "kernel %lld: ", (long long)sqlite3_column_int64(query, 0));
        *fields[i] = (uint32_t)value;
    }
    return 0;
}

static int load_kernels(struct gt_stats_work *work, struct gt_error *error)
{
    sqlite3_stmt *query = gt_query(work, "SELECT kernel_no, name, grid_x, grid_y, grid_z, block_x, block_y,"
                                   " block_z, registers, static_shared_bytes, dynamic_shared_bytes"
                                   " FROM kernel WHERE trace_id = ?2 ORDER BY kernel_no", error);
    size_t room = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_row(query, error)) == 1) {
        if (work->kernels == room) {
            room = room == 0 ? 64 : 2 * room;
            work->shapes = gt_realloc(work->shapes, room, sizeof *work->shapes);
            work->kernel_names = gt_realloc(work->kernel_names, room, sizeof *work->kernel_names);
        }
        if (next_is(query, work->kernels, "kernel", error) != 0
            || read_shape(query, &work->shapes[work->kernels], error) != 0) {
            result = -1;
            break;
        }
        work->kernel_names[work->kernels++] = gt_query_text(query, 1);
    }
    sqlite3_finalize(query);
    return result;
}

int gt_stats_load(struct gt_stats_work *work, struct gt_error *error)
{
    if (load_run(work, error) != 0 || load_device(work, error) != 0 || load_limits(work, error) != 0
        || load_gpus(work, error) != 0 || load_streams(work, error) != 0 || load_kernels(work, error) != 0)
        return -1;
    return 0;
}
