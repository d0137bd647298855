/* Green contexts: the streams of a process that shares as one are created in it, and the events that are recorded in them.  All its
 * threads are of one process then, as in programs that use them. */
#include <stdlib.h>

#include "sim/workload/processes.h"
#include "validate/gpu/green_driver.h"
#include "validate/player/internal.h"

enum { SMS_STEP = 8, GROUPS_MOST = 32 }; /* SMs of a group: CUDA driver API, compute capability 9.0 */

/* One for each process. */
struct gt_green_context {
    uint64_t process;
    CUgreenCtx context;
    CUcontext current; /* the same, as a context that a thread has */
    uint32_t sms;
};

static int refuse(const char *what, CUresult result, struct gt_error *error)
{
    return gt_error_set(error, "green contexts: the driver refuses %s (error %d)", what, (int)result);
}

static uint32_t common_part(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_part(b, a % b);
}

static void find_contexts(struct gt_player *player)
{
    const struct gt_workload *workload = player->workload;
    uint32_t *first = gt_thread_processes(workload);

    player->green = gt_calloc(workload->thread_count + 1ull, sizeof *player->green);
    for (gt_thread_index i = 0; i < workload->thread_count; i++) {
        struct gt_sharing sharing = gt_process_sharing(workload, workload->threads[i].process);

        if (first[i] == i && sharing.how == GT_SHARE_GREEN)
            player->green[player->green_count++] =
                (struct gt_green_context){ .process = workload->threads[i].process,
                                           .sms = (sharing.green_sms + SMS_STEP - 1u) / SMS_STEP * SMS_STEP };
    }
    free(first);
}

/* What is split off cannot be split again, but groups of one split can be put together: so groups as large as goes into all. */
static int make_contexts(struct gt_player *player, struct gt_error *error)
{
    CUdevResource whole, rest, groups[GROUPS_MOST];
    uint32_t unit = 0, sum = 0, at = 0;
    unsigned count;
    CUresult result;

    for (uint32_t i = 0; i < player->green_count; i++) {
        unit = common_part(player->green[i].sms, unit);
        sum += player->green[i].sms;
    }
    if (unit == 0 || sum / unit > GROUPS_MOST)
        return gt_error_set(error, "green contexts of %u SMs in all: the GPU has fewer", sum);
    count = sum / unit;
    result = gt_green_driver.get_resource(player->gpu->device, &whole, CU_DEV_RESOURCE_TYPE_SM);
    if (result == CUDA_SUCCESS)
        result = gt_green_driver.split(groups, &count, &whole, &rest, 0, unit);
    if (result != CUDA_SUCCESS)
        return refuse("to split the SMs", result, error);
    if (count < sum / unit || groups[0].sm.smCount != unit)
        return gt_error_set(error, "green contexts of %u SMs in all: the GPU has %u groups of %u; ask for fewer", sum,
                            count, groups[0].sm.smCount);
    for (uint32_t i = 0; i < player->green_count; at += player->green[i++].sms / unit) {
        struct gt_green_context *green = &player->green[i];
        CUdevResourceDesc description;

        result = gt_green_driver.describe(&description, &groups[at], green->sms / unit);
        if (result == CUDA_SUCCESS)
            result = gt_green_driver.create(&green->context, description, player->gpu->device,
                                            CU_GREEN_CTX_DEFAULT_STREAM);
        if (result == CUDA_SUCCESS)
            result = gt_green_driver.as_context(&green->current, green->context);
        if (result != CUDA_SUCCESS)
            return refuse("to make one", result, error);
    }
    return 0;
}

/* The stream that records each event first. */
static void find_recorders(struct gt_player *player)
{
    const struct gt_workload *workload = player->workload;

    player->recorders = gt_calloc(workload->event_count + 1ull, sizeof *player->recorders);
    for (uint32_t i = 0; i < workload->event_count; i++)
        player->recorders[i] = GT_NONE;
    for (gt_call_index i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        if (call->kind == GT_CALL_EVENT_RECORD && player->recorders[call->event] == GT_NONE)
            player->recorders[call->event] = call->stream;
    }
}

/* Is there work that a green context cannot have, or that needs one which is not made here? */
static int check_streams(const struct gt_player *player, struct gt_error *error)
{
    for (gt_stream_index i = 0; i < player->workload->stream_count; i++) {
        const struct gt_stream *stream = &player->workload->streams[i];

        if (stream->green > 0)
            return gt_error_set(error, "streams of green contexts that were recorded cannot be played");
        if (player->green_count > 0 && stream->flags & GT_STREAM_LEGACY_DEFAULT)
            return gt_error_set(error, "the legacy default stream is in no green context; use other streams");
    }
    return 0;
}

int gt_player_green(struct gt_player *player, struct gt_error *error)
{
    find_recorders(player);
    find_contexts(player);
    if (check_streams(player, error) != 0)
        return -1;
    if (player->green_count == 0)
        return 0;
    if (player->several)
        return gt_error_set(error, "green contexts are played on one GPU");
    if (gt_player_use(player, 0, error) != 0 || gt_green_driver_find(error) != 0)
        return -1;
    return make_contexts(player, error);
}

void gt_player_free_green(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->green_count && !player->broken; i++)
        if (player->green[i].context != NULL)
            gt_green_driver.destroy(player->green[i].context);
    free(player->green);
    free(player->recorders);
}

/* The context of the stream's process, or NULL. */
static const struct gt_green_context *context_of(const struct gt_player *player, gt_stream_index stream)
{
    for (uint32_t i = 0; stream != GT_NONE && i < player->green_count; i++)
        if (player->stream_processes == NULL || player->green[i].process == player->stream_processes[stream])
            return &player->green[i];
    return NULL;
}

cudaError_t gt_player_make_stream(struct gt_player *player, gt_stream_index stream, unsigned flags, int priority)
{
    const struct gt_green_context *green = context_of(player, stream);

    if (green == NULL)
        return cudaStreamCreateWithPriority(&player->streams[stream], flags, priority);
    return gt_green_driver.create_stream(&player->streams[stream], green->context, CU_STREAM_NON_BLOCKING,
                                         priority) == CUDA_SUCCESS
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t gt_player_make_event(const struct gt_player *player, gt_stream_index stream, cudaEvent_t *event)
{
    const struct gt_green_context *green = context_of(player, stream);
    CUresult result;
    CUcontext popped;

    if (green == NULL)
        return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    result = gt_green_driver.push(green->current);
    if (result == CUDA_SUCCESS)
        result = gt_green_driver.create_event(event, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = gt_green_driver.pop(&popped);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
