/* The memory that a network's operators work in, tasks and launches alike: filled before each repetition, and once held
 * against the CPU. */
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>

#include "validate/player/internal.h"

static const double tolerance = 1e-5;

void gt_player_add_part(struct gt_player *player, const struct gt_network_part *part, uint32_t count)
{
    struct gt_network_part last = gt_network_part_at(part, count - 1);
    uint64_t end = gt_network_end(&last);

    gt_array_grow(player->parts, player->part_count, player->part_room);
    player->parts[player->part_count++] = (struct gt_play_part){ *part, count };
    player->network_floats = end > player->network_floats ? end : player->network_floats;
}

/* "0 65536 65792": as many numbers as the work has places. */
static int read_places(const char *text, struct gt_network_part *part, struct gt_error *error)
{
    uint32_t count = gt_network_places(part->work), read = 0;
    char *end = (char *)text;

    for (; text != NULL && *end != '\0' && read < count; read++) {
        unsigned long long place = strtoull(text, &end, 10);

        if (end == text || place > UINT32_MAX)
            break;
        part->places[read] = (uint32_t)place;
        text = end;
    }
    if (text != NULL && *end == '\0' && read == count)
        return 0;
    return gt_error_set(error, "its argument \"at\" must be %u places in floats, as in \"0 65536 65792\"", count);
}

int gt_player_operator(struct gt_player *player, uint32_t number, const char *places, struct gt_error *error)
{
    struct gt_play_op *op = &player->ops[number];
    const double *arguments = op->arguments;

    op->part = (struct gt_network_part){ .work = (enum gt_executor_work)(GT_EXECUTOR_PRODUCT + (int)arguments[0]),
                                         .rows = (uint32_t)arguments[1],
                                         .columns = (uint32_t)arguments[2] };
    if (read_places(places, &op->part, error) != 0)
        return -1;
    if (op->blocks < 1 || op->blocks > UINT32_MAX)
        return gt_error_set(error, "more blocks than an operator has parts");
    op->launch.part = &op->part;
    gt_player_add_part(player, &op->part, (uint32_t)op->blocks);
    return 0;
}

int gt_player_network(struct gt_player *player, struct gt_error *error)
{
    if (player->network_floats == 0)
        return 0;
    if (player->several)
        return gt_error_set(error, "operators of a network are played on one GPU only, not where there are several");
    player->network = gt_player_device_memory(player, player->network_floats * sizeof(float), error);
    if (player->network == NULL)
        return -1;
    for (uint32_t i = 0; i < player->workload->op_count; i++)
        player->ops[i].launch.network = player->ops[i].tasks.network = player->network;
    return 0;
}

int gt_player_reset_network(struct gt_player *player, struct gt_error *error)
{
    if (player->network != NULL)
        GT_CUDA(gt_network_fill(player->network, player->network_floats, player->options.seed, player->gpu->own),
                error);
    return 0;
}

/* Every part against what its inputs, as they are now, should have made of it. */
int gt_player_check_network(struct gt_player *player, struct gt_error *error)
{
    struct gt_reference_norm norm = { 0 };
    float *memory;

    if (player->network == NULL)
        return 0;
    memory = gt_reference_fetch(player->network, player->network_floats * sizeof *memory, error);
    if (memory == NULL)
        return -1;
    for (uint32_t i = 0; i < player->part_count; i++)
        for (uint32_t k = 0; k < player->parts[i].count; k++) {
            struct gt_network_part part = gt_network_part_at(&player->parts[i].first, k);

            gt_network_compare(memory, &part, &norm);
        }
    free(memory);
    return gt_reference_verdict(&norm, tolerance, error) == 0
               ? 0
               : gt_error_prefix(error, "what its operators left in memory is not what the CPU makes of it: ");
}
