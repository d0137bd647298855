/* Orders that streams alone do not give: edges of graphs, and across streams those that a recorded trace
 * shows without naming the event.  For these an event of the player's own is recorded and waited for. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sim/replay/replay.h"
#include "validate/player/internal.h"

/* Turn "after it come" into "before it must have ended". */
static void reverse(struct gt_player *player, const struct gt_replay *replay)
{
    uint32_t count = player->workload->op_count;

    player->edges_from = gt_calloc(count + 2ull, sizeof *player->edges_from);
    player->edges = gt_calloc(replay->edge_count + 1, sizeof *player->edges);
    if (replay->edge_count == 0)
        return;
    for (uint64_t i = 0; i < replay->edge_count; i++)
        player->edges_from[replay->edge_to[i] + 2]++;
    for (uint32_t i = 1; i < count + 2; i++)
        player->edges_from[i] += player->edges_from[i - 1];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = replay->edge_from[i]; j < replay->edge_from[i + 1]; j++)
            player->edges[player->edges_from[replay->edge_to[j] + 1]++] = i;
}

/* Does the one's end hold the other back only because somebody makes it so? */
static bool across(const struct gt_workload *workload, uint32_t before, uint32_t after)
{
    const struct gt_op *a = &workload->ops[before], *b = &workload->ops[after];

    return a->call != b->call && a->stream != b->stream;
}

/* Is the call a synchronisation whose target is known from its measured return only? */
static bool released(const struct gt_workload *workload, const struct gt_replay *replay, uint32_t number)
{
    const struct gt_call *call = &workload->calls[number];

    return replay->blocking_op[number] != GT_NONE &&
           ((call->kind == GT_CALL_STREAM_SYNC && call->stream == GT_NONE) ||
            (call->kind == GT_CALL_EVENT_SYNC && call->event == GT_NONE));
}

static int need_event(struct gt_player *player, uint32_t op, struct gt_error *error)
{
    if (player->ops[op].done != NULL)
        return 0;
    if (gt_player_use_of_op(player, op, error) != 0)
        return -1;
    GT_CUDA(gt_player_make_event(player, player->workload->ops[op].stream, &player->ops[op].done), error);
    return 0;
}

static int need_events(struct gt_player *player, const struct gt_replay *replay, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;

    for (uint32_t i = 0; i < workload->op_count; i++)
        for (uint32_t j = player->edges_from[i]; j < player->edges_from[i + 1]; j++)
            if (across(workload, player->edges[j], i) && need_event(player, player->edges[j], error) != 0)
                return -1;
    for (uint32_t i = 0; i < workload->call_count; i++) {
        player->calls[i].blocking_op = GT_NONE;
        if (!released(workload, replay, i))
            continue;
        player->calls[i].blocking_op = replay->blocking_op[i];
        if (need_event(player, replay->blocking_op[i], error) != 0)
            return -1;
    }
    return 0;
}

int gt_player_edges(struct gt_player *player, struct gt_error *error)
{
    struct gt_replay replay;
    int result;

    gt_replay_make(&replay, player->workload, player->options.recorded_on, player->options.recorded_on, NULL, true);
    reverse(player, &replay);
    result = need_events(player, &replay, error);
    gt_replay_free(&replay);
    return result;
}

/* Until another thread has asked for the operation, there is nothing to wait for. */
static void wait_until_asked(struct gt_player *player, uint32_t op)
{
    while (!atomic_load(&player->ops[op].asked) && !atomic_load(&player->failed))
        sched_yield();
}

cudaError_t gt_player_wait_before(struct gt_player *player, uint32_t op, cudaStream_t stream)
{
    cudaError_t code = cudaSuccess;

    for (uint32_t i = player->edges_from[op]; i < player->edges_from[op + 1] && code == cudaSuccess; i++) {
        uint32_t before = player->edges[i];

        if (!across(player->workload, before, op))
            continue;
        wait_until_asked(player, before);
        code = cudaStreamWaitEvent(stream, player->ops[before].done, 0);
    }
    return code;
}

cudaError_t gt_player_tell_after(struct gt_player *player, uint32_t op, cudaStream_t stream)
{
    cudaError_t code;

    if (player->ops[op].done == NULL)
        return cudaSuccess;
    code = cudaEventRecord(player->ops[op].done, stream);
    atomic_store(&player->ops[op].asked, true);
    return code;
}

cudaError_t gt_player_wait_released(struct gt_player *player, uint32_t call)
{
    uint32_t op = player->calls[call].blocking_op;

    if (op == GT_NONE)
        return cudaSuccess;
    wait_until_asked(player, op);
    return cudaEventSynchronize(player->ops[op].done);
}

void gt_player_free_edges(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->workload->op_count && !player->broken; i++)
        if (player->ops[i].done != NULL)
            cudaEventDestroy(player->ops[i].done);
    free(player->edges_from);
    free(player->edges);
}
