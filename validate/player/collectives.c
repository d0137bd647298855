/* Collectives: by NCCL, on the GPUs of this one process; each operation of the trace is one of its kernels. */
#include <stdlib.h>

#include "sim/workload/collective.h"
#include "validate/gpu/nccl.h"
#include "validate/player/internal.h"

struct gt_play_collectives {
    gt_nccl_comm *comms; /* by group and rank */
    uint32_t *first;     /* of a group: where its ranks' begin */
    uint32_t comm_count;
    struct gt_nccl_part *parts; /* by operation */
    struct gt_collective_parts instances;
};

static const char *word(const struct gt_workload *workload, uint32_t name)
{
    return name == GT_NONE ? NULL : gt_name_text(workload, name);
}

static int open_groups(struct gt_player *player, struct gt_play_collectives *c, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;

    c->first = gt_calloc(workload->group_count + 1ull, sizeof *c->first);
    for (uint32_t i = 0; i < workload->group_count; i++) {
        c->first[i] = c->comm_count;
        c->comm_count += workload->groups[i].size;
    }
    c->comms = gt_calloc(c->comm_count + 1ull, sizeof *c->comms);
    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct gt_group *group = &workload->groups[i];
        int devices[GT_MOST_GPUS];

        for (uint32_t rank = 0; rank < group->size; rank++) {
            if (!player->gpus[group->members[rank]].used)
                return gt_error_set(error, "group %.100s: no stream is on GPU %u, its rank %u",
                                    gt_name_text(workload, group->name), workload->gpus[group->members[rank]].id,
                                    rank);
            devices[rank] = player->gpus[group->members[rank]].device;
        }
        if (gt_nccl_group(devices, group->size, 0, c->comms + c->first[i], error) != 0)
            return -1;
    }
    return 0;
}

/* All collectives of a GPU work in the same memory: nobody looks at what comes out. */
static int give_memory(struct gt_player *player, struct gt_error *error)
{
    struct gt_play_collectives *c = player->collectives;
    uint64_t most = 0;
    void *give, *get;

    for (uint32_t i = 0; i < c->instances.count; i++) {
        uint32_t op = c->instances.parts[i].op;
        uint64_t bytes = gt_collective_kernel(player->workload, op)->collective.bytes;

        if (gt_player_gpu_of(player, op) == player->gpu && bytes > most)
            most = bytes;
    }
    if (most == 0)
        return 0;
    most += 4096; /* shares are rounded up to an element */
    give = gt_player_device_memory(player, most, error);
    get = give != NULL ? gt_player_device_memory(player, most, error) : NULL;
    if (get == NULL)
        return -1;
    GT_CUDA(cudaMemset(give, 0, most), error);
    for (uint32_t i = 0; i < c->instances.count; i++)
        if (gt_player_gpu_of(player, c->instances.parts[i].op) == player->gpu) {
            c->parts[c->instances.parts[i].op].give = give;
            c->parts[c->instances.parts[i].op].get = get;
        }
    return 0;
}

static int describe(struct gt_player *player, struct gt_play_collectives *c, uint32_t number, struct gt_error *error)
{
    const struct gt_collective_part *part = &c->instances.parts[number];
    const struct gt_collective *collective = &gt_collective_kernel(player->workload, part->op)->collective;

    c->parts[part->op] = (struct gt_nccl_part){
        .collective = *collective,
        .datatype = word(player->workload, collective->datatype),
        .reduction = word(player->workload, collective->reduction),
        .ranks = player->workload->groups[part->group].size,
        .comm = c->comms[c->first[part->group] + part->rank],
    };
    player->ops[part->op].collective = &c->parts[part->op];
    return gt_nccl_accepts(&c->parts[part->op], error);
}

/* The first collective of its sort makes connections, for which all ranks must be there: each instance of another kernel once, by one
 * thread. */
static int connect(struct gt_player *player, struct gt_play_collectives *c, uint32_t instance, struct gt_error *error)
{
    struct gt_nccl_part parts[GT_MOST_GPUS];
    int devices[GT_MOST_GPUS];
    cudaStream_t streams[GT_MOST_GPUS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->instances.count && count < GT_MOST_GPUS; i++) {
        const struct gt_collective_part *part = &c->instances.parts[i];
        const struct gt_play_gpu *gpu = gt_player_gpu_of(player, part->op);

        if (part->instance != instance)
            continue;
        parts[count] = c->parts[part->op];
        if (part->to != GT_NONE) { /* this message alone: an exchange has another one */
            parts[count].collective.to = part->rank == part->from ? part->to : GT_NONE;
            parts[count].collective.from = part->rank == part->from ? GT_NONE : part->from;
        }
        devices[count] = gpu->device;
        streams[count++] = gpu->own;
    }
    return gt_nccl_issue_all(parts, devices, streams, count, error);
}

static int connect_all(struct gt_player *player, struct gt_play_collectives *c, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;
    bool *known = gt_calloc(workload->kernel_count + 1ull, sizeof *known);
    int status = 0;

    for (uint32_t i = 0; i < c->instances.count && status == 0; i++) {
        uint32_t kernel = workload->ops[c->instances.parts[i].op].kernel;

        if (!known[kernel])
            status = connect(player, c, c->instances.parts[i].instance, error);
        known[kernel] = true;
    }
    free(known);
    if (status == 0 && gt_player_sync_gpus(player, GT_NONE) != cudaSuccess)
        return gt_error_set(error, "NCCL: the first collectives failed");
    return status;
}

/* A rank that never comes would hold the GPUs for ever. */
static int check_whole(const struct gt_player *player, const struct gt_play_collectives *c, struct gt_error *error)
{
    uint32_t *there = gt_calloc(c->instances.instances + 1ull, sizeof *there);
    int status = 0;

    for (uint32_t i = 0; i < c->instances.count; i++)
        there[c->instances.parts[i].instance]++;
    for (uint32_t i = 0; i < c->instances.count && status == 0; i++)
        if (there[c->instances.parts[i].instance] <
            gt_collective_part_ranks(player->workload, &c->instances.parts[i]))
            status = gt_error_set(error,
                                  "not every rank launches its part of the collective of line %u: it would never end",
                                  player->workload->calls[player->workload->ops[c->instances.parts[i].op].call].line);
    free(there);
    return status;
}

int gt_player_collectives(struct gt_player *player, struct gt_error *error)
{
    struct gt_collective_parts instances = gt_collective_parts(player->workload);
    struct gt_play_collectives *c;

    if (instances.count == 0) {
        gt_collective_parts_free(&instances);
        return 0;
    }
    c = player->collectives = gt_calloc(1, sizeof *c);
    c->instances = instances;
    c->parts = gt_calloc(player->workload->op_count, sizeof *c->parts);
    if (check_whole(player, c, error) != 0 || gt_nccl_open(error) != 0 || open_groups(player, c, error) != 0)
        return -1;
    for (uint32_t i = 0; i < instances.count; i++)
        if (describe(player, c, i, error) != 0)
            return -1;
    player->kernels_recorded = true;
    gt_cupti_watch_driver();
    return gt_player_each_gpu(player, give_memory, error) == 0 ? connect_all(player, c, error) : -1;
}

void gt_player_free_collectives(struct gt_player *player)
{
    struct gt_play_collectives *c = player->collectives;

    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->comm_count && !player->broken; i++)
        gt_nccl_free(c->comms[i]);
    gt_collective_parts_free(&c->instances);
    free(c->comms);
    free(c->first);
    free(c->parts);
    free(c);
}
