/* What a run's statistics are about: the run, its device, GPUs, streams and kernels. */
#include <inttypes.h>
#include <stdlib.h>

#include "traces/stats/internal.h"
#include "traces/store/run_rows.h"

static int load_run(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_run *run = &work->stats->run;
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT run.trace_id, run.device_id, run.kind = 'simulated',"
                                            " run.options, trace.name FROM run JOIN trace USING (trace_id)"
                                            " WHERE run_id = ?1",
                                            error);
    int result = query == NULL ? -1 : gt_query_next(query, error);

    if (result == 1) {
        run->trace_id = gt_query_integer(query, 0);
        run->device_id = gt_query_integer(query, 1);
        run->simulated = gt_query_integer(query, 2);
        run->options = gt_query_text(query, 3);
        run->trace = gt_query_text(query, 4);
    } else if (result == 0) {
        gt_error_set(error, "there is no run %" PRId64, run->run_id);
    }
    gt_query_end(query);
    return result == 1 ? 0 : -1;
}

/* Rows of a definition table must be numbered 0, 1, 2, ...: row `index` is next. */
static int next_is(struct gt_query *query, size_t index, const char *what, struct gt_error *error)
{
    if (gt_query_integer(query, 0) != (int64_t)index)
        return gt_error_set(error, "%s %zu is missing; the store is damaged", what, index);
    return 0;
}

static int load_gpus(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_query *query =
        gt_stats_query(work, "SELECT gpu_no, id FROM gpu WHERE trace_id = ?2 ORDER BY gpu_no", error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        uint64_t id;

        if (next_is(query, work->gpus, "gpu", error) != 0 ||
            gt_query_number(query, 1, UINT32_MAX, "gpu.id", &id, error) != 0) {
            result = -1;
            break;
        }
        work->gpu_ids = gt_realloc(work->gpu_ids, work->gpus + 1, sizeof *work->gpu_ids);
        work->gpu_ids[work->gpus++] = (uint32_t)id;
    }
    gt_query_end(query);
    return result;
}

static int load_streams(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats *stats = work->stats;
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT stream_no, gpu_no, id, name FROM stream WHERE trace_id = ?2"
                                            " ORDER BY stream_no",
                                            error);
    uint64_t last_gpu = work->gpus == 0 ? 0 : work->gpus - 1;
    size_t room = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        struct gt_stats_stream *stream;
        uint64_t gpu;

        if (next_is(query, stats->stream_count, "stream", error) != 0 ||
            gt_query_number(query, 1, last_gpu, "stream.gpu_no", &gpu, error) != 0) {
            result = -1;
            break;
        }
        if (stats->stream_count == room) {
            room = room == 0 ? 16 : 2 * room;
            stats->streams = gt_realloc(stats->streams, room, sizeof *stats->streams);
        }
        stream = &stats->streams[stats->stream_count];
        *stream = (struct gt_stats_stream){
            .stream = (uint32_t)stats->stream_count++,
            .gpu = work->gpus == 0 ? 0 : work->gpu_ids[gpu],
            .id = (uint64_t)gt_query_integer(query, 2),
            .name = gt_query_text(query, 3),
        };
    }
    gt_query_end(query);
    return result;
}

static int load_kernels(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT kernel_no, name, grid_x, grid_y, grid_z, block_x, block_y,"
                                            " block_z, registers, static_shared_bytes, dynamic_shared_bytes"
                                            " FROM kernel WHERE trace_id = ?2 ORDER BY kernel_no",
                                            error);
    size_t room = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        if (work->kernels == room) {
            room = room == 0 ? 64 : 2 * room;
            work->shapes = gt_realloc(work->shapes, room, sizeof *work->shapes);
            work->kernel_names = gt_realloc(work->kernel_names, room, sizeof *work->kernel_names);
        }
        if (next_is(query, work->kernels, "kernel", error) != 0) {
            result = -1;
            break;
        }
        if (gt_kernel_shape(query, 2, &work->shapes[work->kernels], error) != 0) {
            result = gt_error_prefix(error, "kernel %zu: ", work->kernels);
            break;
        }
        work->kernel_names[work->kernels++] = gt_query_text(query, 1);
    }
    gt_query_end(query);
    return result;
}

int gt_stats_load(struct gt_stats_work *work, struct gt_error *error)
{
    if (load_run(work, error) != 0 ||
        gt_stored_device(work->database, work->stats->run.run_id, &work->stats->run.device, error) != 0 ||
        load_gpus(work, error) != 0 || load_streams(work, error) != 0 || load_kernels(work, error) != 0)
        return -1;
    return 0;
}
