#include "validate/player/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/store/recorded.h"
#include "traces/store/run_rows.h"

/* One trace's measured runs. */
struct gt_player {
    struct gt_recorded recorded;
    uint32_t next;
    char *names[GT_PLAY_COUNTERS]; /* of the counters of the repetition played last */
};

static struct gt_store *stored;

int gt_stored_open(const char *path, struct gt_error *error)
{
    stored = gt_store_open(path, false, error);
    return stored == NULL ? -1 : 0;
}

void gt_stored_close(void)
{
    gt_store_close(stored);
    stored = NULL;
}

static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    struct gt_recorded_gpu gpu;
    int found = gt_recorded_gpu(gt_store_database(stored), &gpu, error);

    if (found < 0)
        return -1;
    if (found == 0)
        return gt_error_set(error, "the store has no measured runs; name one that gridtide validate made");
    *facts = (struct gt_gpu_facts){ .sms = gpu.sms,
                                    .compute_major = gpu.compute_major,
                                    .compute_minor = gpu.compute_minor };
    snprintf(facts->name, sizeof facts->name, "%s (as stored)", gpu.name);
    return 0;
}

static void close_player(struct gt_player *player)
{
    for (int i = 0; i < GT_PLAY_COUNTERS; i++)
        free(player->names[i]);
    gt_recorded_free(&player->recorded);
    free(player);
}

/* 0 where it can play the workload. */
static int prepare(struct gt_player *player, const struct gt_workload *workload, struct gt_error *error)
{
    const char *name = workload->name != NULL ? workload->name : "";
    struct gt_database *database = gt_store_database(stored);
    int same;

    if (gt_recorded_find(database, name, &player->recorded, error) != 0)
        return -1;
    if (player->recorded.count == 0)
        return gt_error_set(error, "the store has no measured run of '%.200s'; validate it on a GPU", name);
    same = gt_recorded_is_of(database, &player->recorded, workload, error);
    if (same == 0)
        gt_error_set(error, "the store has measured another trace of the name '%.200s'; validate it on a GPU", name);
    return same == 1 ? 0 : -1;
}

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *error)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);

    (void)options;
    if (prepare(player, workload, error) == 0)
        return player;
    close_player(player);
    return NULL;
}

static int find_calls(void *user, const char *name, double value)
{
    if (strcmp(name, GT_COUNTER_HOST_CALLS) == 0)
        *(uint64_t *)user = value > 0 ? (uint64_t)value : 0;
    return 0;
}

/* What gt_host_costs_apply() sets. */
static int set_host_key(void *user, const char *key, const char *value, struct gt_error *error)
{
    bool of_host = (strncmp(key, "host.", strlen("host.")) == 0 && strcmp(key, "host.lock_us") != 0) ||
                   strcmp(key, "latency.host_function_us") == 0 || strcmp(key, "copy.staging_in_gbps") == 0 ||
                   strcmp(key, "copy.staging_out_gbps") == 0;

    return of_host ? gt_device_set(user, key, value, error) : 0;
}

int gt_stored_host(const char *trace, struct gt_device *device, uint64_t *calls, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(stored);
    struct gt_recorded recorded;
    int result = gt_recorded_find(database, trace, &recorded, error);

    *calls = 0;
    if (result == 0 && recorded.count > 0)
        result = gt_recorded_counters(database, recorded.run_ids[0], find_calls, calls, error);
    if (*calls > 0)
        device->noise_hosts_pct = 0; /* it is this host */
    if (result == 0 && *calls > 0)
        result = gt_run_device_keys(database, recorded.run_ids[0], set_host_key, device, error);
    gt_recorded_free(&recorded);
    return result;
}

struct keeping {
    struct gt_player *player;
    struct gt_play_result *result;
};

/* Non-zero where there is no room for more. */
static int keep_counter(void *user, const char *name, double value)
{
    const struct keeping *keeping = user;
    struct gt_play_result *result = keeping->result;
    char **kept = &keeping->player->names[result->counter_count];

    if (result->counter_count == GT_PLAY_COUNTERS)
        return -1;
    free(*kept);
    *kept = gt_strdup(name);
    result->counters[result->counter_count].name = *kept;
    result->counters[result->counter_count++].value = value;
    return 0;
}

static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    struct gt_database *database = gt_store_database(stored);
    int64_t run;

    if (probe == NULL)
        return 0;
    if (player->next == player->recorded.count)
        return gt_error_set(error,
                            "the store has %" PRIu32 " measured runs of it and no more; ask for fewer with --repeat",
                            player->recorded.count);
    run = player->recorded.run_ids[player->next++];
    if (gt_recorded_play(database, &player->recorded, run, probe, error) != 0)
        return -1;
    result->counter_count = 0;
    return gt_recorded_counters(database, run, keep_counter, &(struct keeping){ player, result }, error);
}

static const char *describe(const struct gt_player *player)
{
    return player->recorded.options;
}

/* Its options do not say that kernels were recorded, and no memset was there for which they always were. */
static bool kept_copies_apart(const struct gt_workload *workload)
{
    struct gt_recorded recorded;
    struct gt_error error;
    bool copies = false, memsets = false, told;

    for (uint32_t i = 0; i < workload->op_count; i++) {
        memsets |= workload->ops[i].kind == GT_OP_MEMSET;
        copies |= workload->ops[i].kind == GT_OP_COPY && workload->ops[i].direction == GT_D2D;
    }
    if (!copies || memsets || workload->name == NULL)
        return false;
    told = gt_recorded_find(gt_store_database(stored), workload->name, &recorded, &error) == 0 &&
           recorded.count > 0 && strstr(recorded.options, GT_PLAYED_KERNELS_RECORDED) == NULL;
    gt_recorded_free(&recorded);
    return told;
}

/* clang-format off */
const struct gt_players gt_stored_players = {
    .find = find, .open = open_player, .play = play, .describe = describe, .close = close_player,
    .kept_copies_apart = kept_copies_apart,
};
/* clang-format on */
