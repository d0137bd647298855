/* What happened in one repetition, as records of a run: calls by the host's clock; kernels by their
 * blocks' own logs, or by CUPTI where they have none; copies and memsets by CUPTI; host functions by the
 * host's clock. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/child_launches.h"
#include "validate/player/internal.h"

/* One thing to tell; sorted by end, then calls first, then by number. */
struct item {
    uint64_t end_ns;
    uint32_t index;
    bool op;
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    if (a->op != b->op)
        return a->op ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static gt_time_ps since_origin(const struct gt_player *player, uint64_t time_ns)
{
    return time_ns <= player->origin_ns ? 0 : (time_ns - player->origin_ns) * 1000;
}

static int by_correlation(const void *left, const void *right)
{
    const struct gt_api_record *a = left, *b = right;

    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int by_start(const void *left, const void *right)
{
    const struct gt_gpu_record *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static const struct gt_api_record *find_api(const struct gt_activity *activity, uint32_t correlation)
{
    struct gt_api_record key = { .correlation = correlation };

    return activity->api_count == 0
               ? NULL
               : bsearch(&key, activity->api, activity->api_count, sizeof *activity->api, by_correlation);
}

/* The operation of a call that a record is of: by its graph node, else the first of its kind without. */
static uint32_t op_of(const struct gt_player *player, uint32_t number, const struct gt_gpu_record *record)
{
    const struct gt_call *call = &player->workload->calls[number];

    for (uint32_t i = call->first_op; record->node != 0 && i < call->first_op + call->ops; i++)
        if (player->ops[i].node == record->node)
            return i;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        if (player->workload->ops[i].kind == record->kind && player->ops[i].end_ns == 0)
            return i;
    if (call->ops == 1 && record->kind == GT_OP_COPY && player->workload->ops[call->first_op].direction == GT_P2P)
        return call->first_op;
    return GT_NONE;
}

/* A copy by way of the host may be told in parts. */
static void widen(struct gt_play_op *op, const struct gt_gpu_record *record)
{
    if (op->end_ns == 0 || record->start_ns < op->start_ns)
        op->start_ns = record->start_ns;
    if (record->end_ns > op->end_ns)
        op->end_ns = record->end_ns;
}

/* Put CUPTI's records to their operations. Returns how many found none. */
static uint64_t join(struct gt_player *player, const struct gt_activity *activity)
{
    uint64_t unmatched = 0;

    if (activity->api_count > 0)
        qsort(activity->api, activity->api_count, sizeof *activity->api, by_correlation);
    if (activity->gpu_count > 0)
        qsort(activity->gpu, activity->gpu_count, sizeof *activity->gpu, by_start);
    for (uint64_t i = 0; i < activity->gpu_count; i++) {
        const struct gt_gpu_record *record = &activity->gpu[i];
        const struct gt_api_record *api = find_api(activity, record->correlation);
        uint32_t op;

        if (record->start_ns < player->origin_ns || (api != NULL && api->mark == GT_NONE))
            continue; /* the player's own */
        op = api == NULL ? GT_NONE : op_of(player, api->mark, record);
        if (op == GT_NONE) {
            unmatched++;
            continue;
        }
        widen(&player->ops[op], record);
    }
    return unmatched;
}

/* The first copy by way of the host's memory; GT_NONE: there is none. */
static gt_op_index first_staged(const struct gt_workload *w)
{
    gt_gpu_index from, to;

    for (gt_op_index i = 0; i < w->op_count; i++)
        if (gt_copy_between(w, &w->ops[i], &from, &to) && !gt_gpus_are_peers(w, from, to))
            return i;
    return GT_NONE;
}

/* Of such a copy CUPTI tells the last part alone. The first one begins while its call asks for it, where its stream has
 * nothing else to do before; of others it is not known when they began. */
static void time_first_staged(struct gt_player *player)
{
    const struct gt_workload *w = player->workload;
    gt_op_index op = first_staged(w);

    if (op == GT_NONE || player->ops[op].end_ns == 0)
        return;
    for (gt_op_index i = 0; i < op; i++)
        if (w->ops[i].stream == w->ops[op].stream)
            return;
    for (gt_call_index i = 0; i < w->ops[op].call; i++)
        if (w->calls[i].kind == GT_CALL_EVENT_WAIT && w->calls[i].stream == w->ops[op].stream)
            return;
    player->ops[op].start_ns = player->calls[w->ops[op].call].start_ns;
}

/* A launch by a block that failed: none of the child's blocks was there. */
static bool was_refused(const struct gt_player *player, uint32_t op)
{
    const struct gt_play_op *played = &player->ops[op];

    for (uint64_t i = played->first_log; i < played->first_log + played->blocks; i++)
        if (player->logs_here[i].end_ns != 0)
            return false;
    return gt_child_launch_of(player->workload, op) != NULL;
}

/* A logged kernel runs from its first block's start to its last one's end. */
static int time_by_blocks(struct gt_player *player, struct gt_error *error)
{
    if (player->log_count == 0)
        return 0;
    for (uint32_t i = 0; i < player->gpu_count; i++)
        if (player->gpus[i].log_count > 0)
            GT_CUDA(cudaMemcpy(player->logs_here + player->gpus[i].first_log, player->gpus[i].logs,
                               player->gpus[i].log_count * sizeof *player->logs_here, cudaMemcpyDeviceToHost),
                    error);
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        struct gt_play_op *op = &player->ops[i];
        uint64_t first_ns = UINT64_MAX, last_ns = 0;

        if (player->workload->ops[i].kind != GT_OP_KERNEL || op->first_log == GT_NO_LOG)
            continue;
        if (was_refused(player, i)) {
            op->start_ns = op->end_ns = 0;
            continue;
        }
        for (uint64_t j = op->first_log; j < op->first_log + op->blocks; j++) {
            if (player->logs_here[j].end_ns == 0)
                return gt_error_set(error, "block %llu of a kernel %s left no record",
                                    (unsigned long long)(j - op->first_log), op->library->name);
            if (player->logs_here[j].start_ns < first_ns)
                first_ns = player->logs_here[j].start_ns;
            if (player->logs_here[j].end_ns > last_ns)
                last_ns = player->logs_here[j].end_ns;
        }
        op->start_ns = gt_player_host_ns(gt_player_gpu_of(player, i), first_ns);
        op->end_ns = gt_player_host_ns(gt_player_gpu_of(player, i), last_ns);
    }
    return 0;
}

static int send_op(struct gt_player *player, const struct item *item, const struct gt_probe *probe,
                   struct gt_error *error)
{
    const struct gt_play_op *op = &player->ops[item->index];
    const struct gt_play_call *call = &player->calls[player->workload->ops[item->index].call];
    /* clang-format off */
    struct gt_op_record record = {
        .op = item->index, .submit_ps = since_origin(player, call->start_ns),
        .start_ps = since_origin(player, op->start_ns), .end_ps = since_origin(player, op->end_ns),
        .cause = GT_CAUSE_NONE, .cause_index = GT_NONE,
    };
    /* clang-format on */

    return probe->op != NULL ? probe->op(probe->user, &record, error) : 0;
}

static int send_call(struct gt_player *player, const struct item *item, const struct gt_probe *probe,
                     struct gt_error *error)
{
    const struct gt_play_call *call = &player->calls[item->index];
    struct gt_call_record record = {
        .call = item->index,
        .start_ps = since_origin(player, call->start_ns),
        .end_ps = since_origin(player, call->end_ns),
        .cause_op = GT_NONE,
        .pieces = call->pieces,
    };

    return probe->call != NULL ? probe->call(probe->user, &record, error) : 0;
}

static int send_items(struct gt_player *player, const struct gt_probe *probe, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;
    struct item *items = gt_realloc(NULL, (uint64_t)workload->op_count + workload->call_count + 1, sizeof *items);
    uint64_t count = 0;
    int result = 0;

    for (uint32_t i = 0; i < workload->op_count; i++)
        if (player->ops[i].end_ns != 0)
            items[count++] = (struct item){ player->ops[i].end_ns, i, true };
    for (uint32_t i = 0; i < workload->call_count; i++)
        items[count++] = (struct item){ player->calls[i].end_ns, i, false };
    qsort(items, count, sizeof *items, compare_items);
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = (items[i].op ? send_op : send_call)(player, &items[i], probe, error);
    free(items);
    return result;
}

static int compare_blocks(const void *left, const void *right)
{
    const struct gt_block_record *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->first_block > b->first_block) - (a->first_block < b->first_block);
}

static void list_blocks(const struct gt_player *player, uint32_t number, struct gt_block_record *records)
{
    const struct gt_play_op *op = &player->ops[number];
    const struct gt_op *what = &player->workload->ops[number];
    uint64_t threads = gt_kernel_threads(&player->workload->kernels[what->kernel]);

    for (uint64_t i = 0; i < op->blocks; i++) {
        const struct gt_block_log *log = &player->logs_here[op->first_log + i];

        records[i] = (struct gt_block_record){
            .op = number,
            .gpu = player->workload->streams[what->stream].gpu,
            .sm = log->sm,
            .blocks = 1,
            .first_block = i,
            .warps_per_block = (uint32_t)((threads + 31) / 32),
            .start_ps = since_origin(player, gt_player_host_ns(gt_player_gpu_of(player, number), log->start_ns)),
            .end_ps = since_origin(player, gt_player_host_ns(gt_player_gpu_of(player, number), log->end_ns)),
        };
    }
}

static int send_blocks(struct gt_player *player, const struct gt_probe *probe, struct gt_error *error)
{
    struct gt_block_record *records;
    uint64_t count = 0;
    int result = 0;

    if (probe->blocks == NULL || player->log_count == 0)
        return 0;
    records = gt_realloc(NULL, player->log_count, sizeof *records);
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        if (player->workload->ops[i].kind != GT_OP_KERNEL || player->ops[i].first_log == GT_NO_LOG ||
            player->ops[i].end_ns == 0)
            continue;
        list_blocks(player, i, records + count);
        count += player->ops[i].blocks;
    }
    qsort(records, count, sizeof *records, compare_blocks);
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = probe->blocks(probe->user, &records[i], error);
    free(records);
    return result;
}

/* By how much an operation seems to start before its call: what the clocks' alignment is off at least. */
static double worst_order_ns(const struct gt_player *player)
{
    double worst = 0;

    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        double early =
            (double)player->calls[player->workload->ops[i].call].start_ns - (double)player->ops[i].start_ns;

        if (player->ops[i].end_ns != 0 && early > worst)
            worst = early;
    }
    return worst;
}

uint64_t gt_player_span_ns(const struct gt_player *player)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    for (uint32_t i = 0; i < player->workload->call_count; i++) {
        if (player->calls[i].start_ns < first_ns)
            first_ns = player->calls[i].start_ns;
        if (player->calls[i].end_ns > last_ns)
            last_ns = player->calls[i].end_ns;
    }
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

static void count(struct gt_play_result *result, const char *name, double value)
{
    result->counters[result->counter_count].name = name;
    result->counters[result->counter_count++].value = value;
}

/* Did the GPU have something to do for it? */
static bool leaves_trace(const struct gt_op *op)
{
    return (op->kind != GT_OP_COPY && op->kind != GT_OP_MEMSET) || op->bytes > 0;
}

static void count_all(const struct gt_player *player, uint64_t unmatched, struct gt_play_result *result)
{
    const struct gt_play_gpu *gpu = player->gpu;
    double width = (double)(gpu->before.high_ns - gpu->before.low_ns);
    uint64_t operations = 0, unseen = 0, refused = 0;

    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        bool seen = player->ops[i].end_ns != 0, failed = !seen && gt_child_launch_of(player->workload, i) != NULL;

        operations += seen;
        refused += failed;
        unseen += !seen && !failed && leaves_trace(&player->workload->ops[i]);
    }
    count(result, "operations", (double)operations);
    count(result, "operations_unseen", (double)unseen);
    count(result, "launches_refused", (double)refused);
    count(result, "records_unmatched", (double)unmatched);
    count(result, "calls_unplayed", (double)player->unplayed);
    count(result, "sm_clock_mhz", gpu->clock_mhz);
    count(result, "clock_residual_ps", width / 2 * 1000);
    count(result, "clock_drift_ps", (double)(gpu->after.low_ns - gpu->before.low_ns) * 1000);
    count(result, "clock_order_ps", worst_order_ns(player) * 1000);
    count(result, "host_span_ps", (double)gt_player_span_ns(player) * 1000);
    count(result, "host_span_untraced_ps", (double)player->untraced_ns * 1000);
}

int gt_player_send(struct gt_player *player, const struct gt_activity *activity, const struct gt_probe *probe,
                   struct gt_play_result *result, struct gt_error *error)
{
    uint64_t unmatched = join(player, activity);

    time_first_staged(player);
    if (time_by_blocks(player, error) != 0)
        return -1;
    count_all(player, unmatched, result);
    if (send_items(player, probe, error) != 0 || gt_player_send_tasks(player, probe, error) != 0)
        return -1;
    return send_blocks(player, probe, error);
}
