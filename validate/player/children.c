/* Kernels whose blocks launch kernels, and those that they launch: all grids of one launch by the host are a tree
 * (kernels/children/child_tree.h), whose tables stand on the GPU before anything is played. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/child_launches.h"
#include "validate/player/internal.h"

/* What is put together on the host, then copied. */
struct tables {
    struct gt_tree_grid *grids; /* by operation of the call */
    struct gt_tree_launch *launches;
    uint32_t *launch_of_block; /* of all grids, one after the other */
    uint32_t launch_count, first_row;
    uint64_t block_places;
};

static const struct gt_kernel *kernel_of(const struct gt_player *player, uint32_t op)
{
    return &player->workload->kernels[player->workload->ops[op].kernel];
}

static void *upload(struct gt_player *player, const void *what, uint64_t bytes, struct gt_error *error)
{
    void *memory = gt_player_device_memory(player, bytes > 0 ? bytes : 1, error);
    cudaError_t code = cudaSuccess;

    if (memory != NULL && bytes > 0)
        code = cudaMemcpy(memory, what, bytes, cudaMemcpyHostToDevice);
    if (code == cudaSuccess)
        return memory;
    gt_cuda_fail("tables of launches by blocks to the GPU", code, error);
    return NULL;
}

static uint32_t children_by(const struct gt_player *player, uint32_t op, uint32_t *first)
{
    return gt_child_launches_by(player->workload, op, first);
}

/* Streams of a grid have places of their own, by number: the place of the row's. */
static uint32_t stream_place(struct gt_player *player, uint32_t row, uint32_t first)
{
    const struct gt_workload *w = player->workload;
    uint32_t stream = gt_child_launch_rule(w, &w->child_launches[row])->stream;

    for (uint32_t before = first; before < row; before++) {
        const struct gt_launch_rule *rule = gt_child_launch_rule(w, &w->child_launches[before]);

        if (rule->into == GT_INTO_STREAM && rule->stream == stream)
            return player->tree_places[before];
    }
    return player->tree_stream_count++;
}

/* The launches of one grid, and where each of its blocks' begin. */
static void fill_launches(struct gt_player *player, struct tables *tables, uint32_t op, uint32_t first_op)
{
    const struct gt_workload *w = player->workload;
    uint32_t first, count = children_by(player, op, &first), row = first;
    uint32_t *of_block = tables->launch_of_block + tables->block_places;

    for (uint64_t block = 0; block <= player->ops[op].blocks; block++) {
        while (row < first + count && w->child_launches[row].block < block)
            row++;
        of_block[block] = row - tables->first_row;
    }
    for (row = first; row < first + count; row++) {
        const struct gt_launch_rule *rule = gt_child_launch_rule(w, &w->child_launches[row]);

        if (rule->into == GT_INTO_STREAM)
            player->tree_places[row] = stream_place(player, row, first);
        tables->launches[row - tables->first_row] =
            (struct gt_tree_launch){ .at = rule->at,
                                     .grid = w->child_launches[row].op - first_op,
                                     .into = rule->into,
                                     .stream = rule->into == GT_INTO_STREAM ? player->tree_places[row] : 0 };
    }
}

static void fill_grid(const struct gt_player *player, uint32_t op, struct gt_tree_grid *grid)
{
    const struct gt_play_op *play = &player->ops[op];

    memcpy(grid->grid, play->launch.grid, sizeof grid->grid);
    memcpy(grid->block, play->launch.block, sizeof grid->block);
    grid->dynamic_shared_bytes = play->launch.dynamic_shared_bytes;
    grid->block_cycles = play->launch.block_cycles;
    grid->block_cycles_length = play->launch.block_cycles_length;
    grid->log = play->launch.log;
}

static uint64_t places_of(const struct gt_player *player, uint32_t op)
{
    uint32_t first;

    return children_by(player, op, &first) > 0 ? player->ops[op].blocks + 1 : 0;
}

/* Blocks' launches of all grids, then the grids, which point to those. */
static int send_tables(struct gt_player *player, const struct gt_call *call, struct tables *tables,
                       struct gt_error *error)
{
    struct gt_play_op *root = &player->ops[call->first_op];
    uint32_t *of_block = upload(player, tables->launch_of_block, tables->block_places * sizeof *of_block, error);
    uint64_t place = 0;

    if (of_block == NULL)
        return -1;
    for (uint32_t i = 0; i < call->ops; i++) {
        uint64_t places = places_of(player, call->first_op + i);

        fill_grid(player, call->first_op + i, &tables->grids[i]);
        tables->grids[i].launch_of_block = places > 0 ? of_block + place : NULL;
        place += places;
    }
    root->tree_root = tables->grids[0];
    root->tree.grids = upload(player, tables->grids, call->ops * sizeof *tables->grids, error);
    root->tree.launches = upload(player, tables->launches, tables->launch_count * sizeof *tables->launches, error);
    return root->tree.grids != NULL && root->tree.launches != NULL ? 0 : -1;
}

static int make_tree(struct gt_player *player, const struct gt_call *call, struct gt_error *error)
{
    struct tables tables = { .launch_count = call->ops - 1 };
    uint64_t places = 0;
    int result;

    children_by(player, call->first_op, &tables.first_row);
    for (uint32_t i = 0; i < call->ops; i++)
        places += places_of(player, call->first_op + i);
    tables.grids = gt_calloc(call->ops, sizeof *tables.grids);
    tables.launches = gt_calloc(call->ops, sizeof *tables.launches);
    tables.launch_of_block = gt_calloc(places + 1, sizeof *tables.launch_of_block);
    for (uint32_t i = 0; i < call->ops; i++) {
        places = places_of(player, call->first_op + i);
        if (places > 0)
            fill_launches(player, &tables, call->first_op + i, call->first_op);
        tables.block_places += places;
    }
    result = send_tables(player, call, &tables, error);
    free(tables.grids);
    free(tables.launches);
    free(tables.launch_of_block);
    return result;
}

static bool is_tree(const struct gt_player *player, uint32_t call)
{
    const struct gt_call *c = &player->workload->calls[call];

    return c->ops > 0 && player->ops[c->first_op].in_tree;
}

static int allow_shared_memory(const struct gt_player *player, struct gt_error *error)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < player->workload->op_count; i++)
        if (player->ops[i].in_tree && player->ops[i].launch.dynamic_shared_bytes > most)
            most = player->ops[i].launch.dynamic_shared_bytes;
    GT_CUDA(gt_child_tree_prepare(most), error);
    return 0;
}

int gt_player_trees(struct gt_player *player, struct gt_error *error)
{
    const struct gt_workload *w = player->workload;
    uint32_t trees = 0;

    player->tree_places = gt_calloc(w->child_launch_count + 1ull, sizeof *player->tree_places);
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (!is_tree(player, i))
            continue;
        trees++;
        if (make_tree(player, &w->calls[i], error) != 0)
            return -1;
    }
    if (trees == 0)
        return 0;
    player->tree_streams =
        gt_player_device_memory(player, (player->tree_stream_count + 1ull) * sizeof *player->tree_streams, error);
    if (player->tree_streams == NULL)
        return -1;
    for (uint32_t i = 0; i < w->call_count; i++)
        if (is_tree(player, i))
            player->ops[w->calls[i].first_op].tree.streams = player->tree_streams;
    return allow_shared_memory(player, error);
}

/* Streams made on the device end with their grids. */
int gt_player_reset_trees(struct gt_player *player, struct gt_error *error)
{
    if (player->tree_streams != NULL)
        GT_CUDA(
            cudaMemset(player->tree_streams, 0, (player->tree_stream_count + 1ull) * sizeof *player->tree_streams),
            error);
    return 0;
}

int gt_player_tree_kernel(struct gt_player *player, uint32_t op, struct gt_error *error)
{
    const struct gt_kernel *kernel = kernel_of(player, op);

    if (player->several)
        return gt_error_set(error,
                            "kernels that blocks launch are played on one GPU only, not where there are several");
    if (!gt_child_tree_built())
        return gt_error_set(error, "its blocks launch kernels, or it is launched by some, and this build has no CUDA "
                                   "device runtime (libcudadevrt); build with a whole CUDA toolkit");
    if (kernel->registers_per_thread > GT_TREE_REGISTERS)
        return gt_error_set(error,
                            "kernels that blocks launch, and those that launch them, are played with %d registers "
                            "a thread; it asks for %u",
                            GT_TREE_REGISTERS, kernel->registers_per_thread);
    if (gt_kernel_cluster_blocks(kernel) > 1)
        return gt_error_set(error, "kernels that blocks launch are played without clusters");
    player->ops[op].in_tree = true;
    return 0;
}
