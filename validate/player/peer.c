/* Kernels that work in another GPU's memory: what the launch says of it goes to the kernel `peer`. */
#include <inttypes.h>
#include <stdio.h>

#include "validate/player/internal.h"

static int give(struct gt_play_op *op, const char *name, const char *text, struct gt_error *error)
{
    return gt_library_argument(op->library, name, text, op->arguments, error);
}

/* Memory there, of which several launches may share nothing: they may run at one time. */
static void *memory_there(struct gt_player *player, const struct gt_op *op, uint32_t number, struct gt_error *error)
{
    void *memory = NULL;

    if (gt_player_use(player, op->peer_gpu, error) == 0)
        memory = gt_player_device_memory(player, op->bytes, error);
    return gt_player_use_of_op(player, number, error) == 0 ? memory : NULL;
}

int gt_player_peer(struct gt_player *player, uint32_t number, struct gt_error *error)
{
    const struct gt_op *op = &player->workload->ops[number];
    struct gt_play_op *play = &player->ops[number];
    char text[32];

    if (op->peer_gpu == GT_NONE || (op->bytes == 0 && play->library != &gt_kernel_peer))
        return 0; /* recorded: how much it moved is not known */
    if (play->library != &gt_kernel_peer)
        return gt_error_set(error, "it works in another GPU's memory: give it \"runs\":\"peer\", which does that");
    if (!gt_gpus_are_peers(player->workload, op->peer_gpu, player->workload->streams[op->stream].gpu))
        return gt_error_set(error, "it works in the memory of a GPU that its own has no access to (peers)");
    snprintf(text, sizeof text, "%" PRIu64, op->bytes);
    if (give(play, "bytes", text, error) != 0 || give(play, "way", op->from_peer ? "read" : "write", error) != 0)
        return -1;
    play->launch.peer = memory_there(player, op, number, error);
    return play->launch.peer != NULL ? 0 : -1;
}
