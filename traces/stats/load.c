/* What a run's statistics are about: the run, its device, GPUs, streams and kernels. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "traces/stats/internal.h"
#include "traces/store/plain_rows.h"
#include "traces/store/run_rows.h"

static int load_run(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_run *run = &work->stats->run;
    struct gt_run_head head;

    if (gt_run_head(work->database, run->run_id, &head, error) != 0)
        return -1;
    run->trace_id = head.trace_id;
    run->device_id = head.device_id;
    run->simulated = head.simulated;
    run->options = head.options;
    run->trace = head.trace;
    free(head.device);
    free(head.base);
    return 0;
}

static int load_gpus(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_query *query =
        gt_stats_query(work, "SELECT gpu_no, id FROM gpu WHERE trace_id = ?2 ORDER BY gpu_no", error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        uint64_t id;

        if (gt_query_integer(query, 0) != (int64_t)work->gpus) {
            result = gt_error_set(error, "gpu %zu is missing; the store is damaged", work->gpus);
            break;
        }
        if (gt_query_number(query, 1, UINT32_MAX, "gpu.id", &id, error) != 0) {
            result = -1;
            break;
        }
        work->gpu_ids = gt_realloc(work->gpu_ids, work->gpus + 1, sizeof *work->gpu_ids);
        work->gpu_ids[work->gpus++] = (uint32_t)id;
    }
    gt_query_end(query);
    return result;
}

static int add_stream(void *user, const struct gt_stream_row *row, struct gt_error *error)
{
    struct gt_stats_work *work = user;
    struct gt_stats *stats = work->stats;

    if (row->gpu >= work->gpus && work->gpus > 0)
        return gt_error_set(error, "stream %" PRIu64 " is on a GPU that is missing; the store is damaged", row->id);
    stats->streams = gt_realloc(stats->streams, stats->stream_count + 1, sizeof *stats->streams);
    stats->streams[stats->stream_count] = (struct gt_stats_stream){
        .stream = (uint32_t)stats->stream_count,
        .gpu = work->gpus == 0 ? 0 : work->gpu_ids[row->gpu],
        .id = row->id,
        .name = gt_strdup(row->name != NULL ? row->name : ""),
    };
    stats->stream_count++;
    return 0;
}

static int add_kernel(void *user, const char *name, const struct gt_kernel *shape, struct gt_error *error)
{
    struct gt_stats_work *work = user;

    (void)error;
    gt_array_grow(work->shapes, work->kernels, work->shape_room);
    gt_array_grow(work->kernel_names, work->kernels, work->name_room);
    work->shapes[work->kernels] = *shape;
    work->kernel_names[work->kernels++] = gt_strdup(name);
    return 0;
}

int gt_stats_load(struct gt_stats_work *work, struct gt_error *error)
{
    if (load_run(work, error) != 0 ||
        gt_stored_device(work->database, work->stats->run.run_id, &work->stats->run.device, error) != 0 ||
        load_gpus(work, error) != 0 ||
        gt_trace_streams(work->database, work->stats->run.trace_id, add_stream, work, error) != 0 ||
        gt_trace_kernels(work->database, work->stats->run.trace_id, add_kernel, work, error) != 0)
        return -1;
    return gt_trace_plain_kernels(work->database, work->stats->run.trace_id, work->shapes, (uint32_t)work->kernels,
                                  error);
}
