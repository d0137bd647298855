/* A workload on a real GPU: get ready, play as often as asked, say what happened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/processes.h"
#include "validate/gpu/other_users.h"
#include "validate/gpu/together.h"
#include "validate/player/internal.h"

static struct gt_other_gpu_users at_start;

/* For good: an H200 is "busy or unavailable" after cudaDeviceReset(). */
static bool gpu_lost;

static bool lost(void)
{
    return gpu_lost;
}

static void others(struct gt_other_gpu_users *others)
{
    *others = (struct gt_other_gpu_users){ gt_other_gpu_users_processes(), at_start.busy_pct };
}

static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    struct cudaDeviceProp properties;
    int count = 0;
    cudaError_t code;

    code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0)
        return gt_error_set(error, "no CUDA GPU: %s",
                            code != cudaSuccess ? cudaGetErrorString(code) : "the driver knows none");
    if (gt_cupti_open(error) != 0)
        return -1;
    gt_other_gpu_users_begin(&at_start);
    GT_CUDA(cudaGetDeviceProperties(&properties, 0), error);
    snprintf(facts->name, sizeof facts->name, "%s", properties.name);
    facts->sms = (uint32_t)properties.multiProcessorCount;
    facts->compute_major = (uint32_t)properties.major;
    facts->compute_minor = (uint32_t)properties.minor;
    GT_CUDA(cudaDriverGetVersion(&facts->driver), error);
    GT_CUDA(cudaRuntimeGetVersion(&facts->runtime), error);
    return 0;
}

/* Does another process play with it? */
static bool is_elsewhere(const struct gt_player *player, gt_stream_index stream)
{
    return player->options.together != NULL && player->stream_processes != NULL &&
           player->stream_processes[stream] == GT_PROCESS_NONE;
}

/* Streams of the trace, in order of definition, so that they come to the hardware's queues as they would
 * in a program. */
static int make_streams(struct gt_player *player, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;

    player->streams = gt_calloc(workload->stream_count + 1ull, sizeof *player->streams);
    for (uint32_t i = 0; i < workload->stream_count; i++) {
        const struct gt_stream *stream = &workload->streams[i];
        unsigned flags = stream->flags & GT_STREAM_NON_BLOCKING ? cudaStreamNonBlocking : cudaStreamDefault;

        if (is_elsewhere(player, i))
            continue;
        if (gt_player_use(player, stream->gpu, error) != 0)
            return -1;
        if (stream->flags & GT_STREAM_LEGACY_DEFAULT)
            player->streams[i] = cudaStreamLegacy;
        else
            GT_CUDA(gt_player_make_stream(player, i, flags, stream->priority), error);
    }
    return 0;
}

/* An event is of one GPU: each of the trace's has one on every GPU that it could be recorded on. */
static int make_events_of_gpu(struct gt_player *player, struct gt_error *error)
{
    for (uint32_t i = 0; i < player->workload->event_count; i++) {
        cudaEvent_t *event =
            &player->events[(uint64_t)i * player->gpu_count + (uint64_t)(player->gpu - player->gpus)];

        if (*event != NULL)
            GT_CUDA(cudaEventDestroy(*event), error);
        *event = NULL;
        GT_CUDA(gt_player_make_event(player, player->recorders[i], event), error);
    }
    return 0;
}

/* Nobody has recorded them yet: that is what a repetition begins with. */
static int make_events(struct gt_player *player, struct gt_error *error)
{
    if (gt_player_each_gpu(player, make_events_of_gpu, error) != 0)
        return -1;
    for (uint32_t i = 0; i < player->workload->event_count; i++)
        atomic_store(&player->event_gpus[i], (unsigned)(player->gpu - player->gpus));
    return 0;
}

/* Large memsets and copies within the device run as kernels of the driver's. Once kernels have been recorded, as the
 * alignment of the clocks does, CUPTI tells of such memsets only while it records kernels; and while it does not, it
 * times such a copy by keeping it apart from all kernels, which no program without a profiler sees. */
static void look_for_driver_kernels(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->workload->op_count; i++)
        if (player->workload->ops[i].kind == GT_OP_MEMSET ||
            (player->workload->ops[i].kind == GT_OP_COPY && player->workload->ops[i].direction == GT_D2D))
            player->kernels_recorded = true;
}

static void set_host_functions(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->workload->op_count; i++)
        if (player->workload->ops[i].kind == GT_OP_HOST_FUNCTION)
            player->ops[i].spin_ns = player->workload->ops[i].duration_ps / 1000;
}

static int wake_gpu(struct gt_player *player, struct gt_error *error)
{
    GT_CUDA(cudaStreamCreateWithFlags(&player->gpu->own, cudaStreamNonBlocking), error);
    for (int i = 0; i < 3; i++) /* an idle GPU takes a while to come up to its clock */
        if (gt_player_measure_clock(player, error) != 0)
            return -1;
    return 0;
}

static int await_gpu(struct gt_player *player, struct gt_error *error)
{
    (void)player;
    GT_CUDA(cudaDeviceSynchronize(), error);
    return 0;
}

static void describe_play(struct gt_player *player)
{
    uint32_t used = 0;
    char gpus[24] = "";

    for (uint32_t i = 0; i < player->gpu_count; i++)
        used += player->gpus[i].used;
    if (player->several)
        snprintf(gpus, sizeof gpus, " gpus=%u", used);
    snprintf(player->description, sizeof player->description, "seed=%llu%s%s%s%s",
             (unsigned long long)player->options.seed, player->options.surrogates ? " kernels=surrogates" : "",
             player->kernels_recorded ? " " GT_PLAYED_KERNELS_RECORDED : "", gpus,
             gt_player_keep_cpu_awake(player) ? " cpus=awake" : "");
}

static int prepare(struct gt_player *player, struct gt_error *error)
{
    if (gt_player_find_gpus(player, error) != 0 || gt_player_each_gpu(player, wake_gpu, error) != 0 ||
        gt_player_open_ways(player, error) != 0)
        return -1;
    player->events =
        gt_calloc(player->workload->event_count * (uint64_t)player->gpu_count + 1, sizeof *player->events);
    player->event_gpus = gt_calloc(player->workload->event_count + 1ull, sizeof *player->event_gpus);
    if (gt_process_count(player->workload) > 1)
        player->stream_processes = gt_stream_processes(player->workload);
    if (gt_player_green(player, error) != 0 || make_streams(player, error) != 0 ||
        gt_player_edges(player, error) != 0 || gt_player_collectives(player, error) != 0 ||
        gt_player_kernels(player, error) != 0 || gt_player_buffers(player, error) != 0)
        return -1;
    if (gt_player_make_warm(player, error) != 0)
        return -1;
    set_host_functions(player);
    look_for_driver_kernels(player);
    gt_player_schedule(player);
    gt_player_make_locks(player);
    describe_play(player);
    if (gt_player_graphs(player, error) != 0)
        return -1;
    return gt_player_each_gpu(player, await_gpu, error);
}

static void free_handles(struct gt_player *player)
{
    for (uint64_t i = 0; player->events != NULL && i < player->workload->event_count * (uint64_t)player->gpu_count;
         i++)
        if (player->events[i] != NULL)
            cudaEventDestroy(player->events[i]);
    for (uint32_t i = 0; player->streams != NULL && i < player->workload->stream_count; i++)
        if (player->streams[i] != NULL && player->streams[i] != cudaStreamLegacy)
            cudaStreamDestroy(player->streams[i]);
    for (uint32_t i = 0; i < player->gpu_count; i++)
        if (player->gpus[i].own != NULL)
            cudaStreamDestroy(player->gpus[i].own);
}

static void close_player(struct gt_player *player)
{
    if (player == NULL)
        return;
    gt_player_sleep(player);
    player->broken = gpu_lost = gt_player_sync_gpus(player, GT_NONE) != cudaSuccess;
    gt_player_free_collectives(player);
    gt_player_free_graphs(player);
    gt_player_free_edges(player);
    gt_player_free_warm(player);
    gt_player_free_memory(player);
    if (!player->broken)
        free_handles(player);
    gt_player_free_green(player);
    gt_player_close_ways(player);
    gt_player_free_locks(player);
    pthread_mutex_destroy(&player->lock);
    free(player->ops);
    free(player->calls);
    free(player->streams);
    free(player->stream_processes);
    free(player->events);
    free(player->event_gpus);
    free(player->gpus);
    free(player->threads);
    free(player->thread_calls);
    free(player->waits_ns);
    free(player->logs_here);
    free(player->tree_places);
    free(player->tree_kernels);
    free(player->buffers);
    free(player->spare_streams);
    free(player->spare_events);
    free(player->parts);
    free(player);
}

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *error)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);
    int status;

    player->workload = workload;
    player->options = *options;
    player->ops = gt_calloc(workload->op_count + 1ull, sizeof *player->ops);
    player->calls = gt_calloc(workload->call_count + 1ull, sizeof *player->calls);
    player->buffers = gt_calloc(workload->buffer_count + 1ull, sizeof *player->buffers);
    player->spare_streams = gt_calloc(workload->call_count + 1ull, sizeof *player->spare_streams);
    player->spare_events = gt_calloc(workload->call_count + 1ull, sizeof *player->spare_events);
    pthread_mutex_init(&player->lock, NULL);
    gt_together_take_turn(options->together);
    status = prepare(player, error);
    gt_together_end_turn(options->together);
    if (status == 0)
        return player;
    close_player(player);
    return NULL;
}

static void drop_spares(struct gt_player *player)
{
    for (uint32_t i = 0; i < atomic_load(&player->spare_stream_count); i++)
        cudaStreamDestroy(player->spare_streams[i]);
    for (uint32_t i = 0; i < atomic_load(&player->spare_event_count); i++)
        cudaEventDestroy(player->spare_events[i]);
    atomic_store(&player->spare_stream_count, 0);
    atomic_store(&player->spare_event_count, 0);
}

static int get_gpu_set(struct gt_player *player, struct gt_error *error)
{
    if (player->gpu->log_count > 0)
        GT_CUDA(cudaMemset(player->gpu->logs, 0, player->gpu->log_count * sizeof *player->gpu->logs), error);
    GT_CUDA(cudaDeviceSynchronize(), error);
    return gt_player_measure_clock(player, error);
}

static int get_set(struct gt_player *player, struct gt_error *error)
{
    int status;

    if (make_events(player, error) != 0)
        return -1;
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        player->ops[i].start_ns = player->ops[i].end_ns = 0;
        atomic_store(&player->ops[i].asked, false);
    }
    if (gt_player_reset_network(player, error) != 0 || gt_player_reset_tasks(player, error) != 0 ||
        gt_player_reset_trees(player, error) != 0)
        return -1;
    gt_together_take_turn(player->options.together);
    status = gt_player_each_gpu(player, get_gpu_set, error);
    gt_together_end_turn(player->options.together);
    return status;
}

/* The records, copied: aligning the clocks again overwrites them. */
static struct gt_activity copy_of(const struct gt_activity *activity)
{
    struct gt_activity copy = *activity;

    copy.gpu = gt_calloc(activity->gpu_count + 1, sizeof *copy.gpu);
    copy.api = gt_calloc(activity->api_count + 1, sizeof *copy.api);
    memcpy(copy.gpu, activity->gpu, activity->gpu_count * sizeof *copy.gpu);
    memcpy(copy.api, activity->api, activity->api_count * sizeof *copy.api);
    return copy;
}

static int send(struct gt_player *player, const struct gt_activity *activity, const struct gt_probe *probe,
                struct gt_play_result *result, struct gt_error *error)
{
    struct gt_activity copy = copy_of(activity);
    int status;

    gt_together_take_turn(player->options.together);
    status = gt_player_each_gpu(player, gt_player_align_after, error);
    gt_together_end_turn(player->options.together);

    if (status == 0)
        status = gt_player_send(player, &copy, probe, result, error);
    free(copy.gpu);
    free(copy.api);
    return status;
}

static int walk(struct gt_player *player, struct gt_error *error)
{
    int status = get_set(player, error);

    if (status == 0)
        status = gt_player_walk(player, error);
    if (status == 0) /* what this process does next would take GPU time from those that still play */
        gt_together_meet(player->options.together);
    drop_spares(player);
    gt_player_free_held(player);
    return status;
}

/* Without a witness first: once to warm up, once to see how long it takes then; and once as it will be. */
static int warm_up(struct gt_player *player, struct gt_error *error)
{
    const struct gt_activity *activity;

    if (gt_cupti_pause(error) != 0 || walk(player, error) != 0 || gt_player_check_network(player, error) != 0 ||
        walk(player, error) != 0)
        return -1;
    player->untraced_ns = gt_player_span_ns(player);
    return gt_cupti_begin(player->kernels_recorded, error) == 0 && walk(player, error) == 0
               ? gt_cupti_end(&activity, error)
               : -1;
}

static int align_before(struct gt_player *player, struct gt_error *error)
{
    int status;

    gt_together_take_turn(player->options.together);
    status = gt_player_each_gpu(player, gt_player_align_before, error);
    gt_together_end_turn(player->options.together);
    return status;
}

static int play_once(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                     struct gt_error *error)
{
    const struct gt_activity *activity;

    if (probe == NULL)
        return warm_up(player, error);
    if (align_before(player, error) != 0 || gt_cupti_begin(player->kernels_recorded, error) != 0 ||
        walk(player, error) != 0 || gt_cupti_end(&activity, error) != 0)
        return -1;
    return send(player, activity, probe, result, error);
}

/* After a fault of a kernel nothing works any more, and every call says why: that is what is told. */
static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    int status = play_once(player, probe, result, error);
    cudaError_t state = status == 0 ? cudaSuccess : cudaDeviceSynchronize();

    if (state != cudaSuccess)
        gt_error_set(error, "a fault on the GPU ended it (%s); what was measured before is kept",
                     cudaGetErrorString(state));
    return status;
}

static const char *describe(const struct gt_player *player)
{
    return player->description;
}

const struct gt_players gt_cuda_players = { find, open_player, play, describe, close_player, others, lost, NULL };
