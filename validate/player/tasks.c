/* Kernels whose blocks walk a task graph: the graph as arrays on the GPU, its state before each repetition, and what
 * became of each task. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/task_graph.h"
#include "validate/player/internal.h"

/* The graph arranged for the GPU, and what its tasks do, in `like`. */
static int make_image(struct gt_player *player, const struct gt_kernel *kernel, struct gt_executor_image *image,
                      struct gt_executor *like, struct gt_error *error)
{
    const struct gt_task_graph *graph = kernel->tasks;
    const char *name = gt_name_text(player->workload, kernel->task_policy);
    int policy = *name == '\0' ? GT_EXECUTOR_SHARED
                               : gt_player_find_name(gt_executor_policy_names, GT_EXECUTOR_POLICIES, name);
    struct gt_play_works works = { .tasks = NULL };
    struct gt_executor_wait *waits = gt_calloc(graph->wait_count + 1ull, sizeof *waits);
    uint32_t *workers = gt_calloc(graph->task_count + 1ull, sizeof *workers);
    uint32_t *initial = gt_calloc(graph->counter_count + 1ull, sizeof *initial);
    /* clang-format off */
    struct gt_executor_plan plan = {
        .policy = (enum gt_executor_policy)policy, .workers = (uint32_t)gt_kernel_blocks(kernel),
        .seed = player->options.seed, .task_count = graph->task_count, .task_workers = workers,
        .waits = waits, .signals = graph->signals, .made = graph->made,
        .initial = initial, .counter_count = graph->counter_count,
    };
    /* clang-format on */
    int result = policy < 0 ? gt_error_set(error, "the policy '%.64s' cannot be played", name)
                            : gt_player_task_works(player, graph, &works, error);

    plan.tasks = works.tasks;
    plan.places = works.places;
    plan.place_count = works.place_count;
    for (uint32_t i = 0; i < graph->task_count; i++)
        workers[i] = graph->tasks[i].worker == GT_NONE ? GT_EXECUTOR_ANY : graph->tasks[i].worker;
    for (uint32_t i = 0; i < graph->wait_count; i++)
        waits[i] = (struct gt_executor_wait){ graph->waits[i].counter, graph->waits[i].threshold };
    for (uint32_t i = 0; i < graph->counter_count; i++)
        initial[i] = graph->counters[i].initial;
    if (result == 0)
        result = gt_executor_image_make(&plan, image, error);
    if (result == 0) {
        like->task_output_bytes = gt_executor_output_bytes(works.tasks, graph->task_count);
        like->works = gt_executor_works(works.tasks, graph->task_count);
        like->moves = gt_executor_moves(works.tasks, graph->task_count);
    }
    gt_player_task_works_free(&works);
    free(waits);
    free(workers);
    free(initial);
    return result;
}

/* A copy of `bytes` on the GPU. */
static void *upload(struct gt_player *player, const void *from, size_t bytes, struct gt_error *error)
{
    void *to = gt_player_device_memory(player, bytes, error);
    cudaError_t code = to != NULL ? cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) : cudaSuccess;

    if (code == cudaSuccess)
        return to;
    gt_cuda_fail("a task graph to the GPU", code, error);
    return NULL;
}

static int place(struct gt_player *player, struct gt_play_op *op, const struct gt_executor_image *image,
                 struct gt_error *error)
{
    void *graph = upload(player, image->graph, image->graph_bytes, error), *state = NULL;

    if (graph != NULL)
        op->initial_state = upload(player, image->state, image->state_bytes, error);
    if (op->initial_state != NULL)
        state = gt_player_device_memory(player, image->state_bytes, error);
    if (state == NULL)
        return -1;
    op->tasks = gt_executor_place(image, graph, state);
    op->state = state;
    op->state_bytes = image->state_bytes;
    op->tasks.log = gt_player_device_memory(player, (image->task_count + 1ull) * sizeof *op->tasks.log, error);
    return op->tasks.log != NULL ? 0 : -1;
}

int gt_player_tasks(struct gt_player *player, uint32_t number, struct gt_error *error)
{
    struct gt_play_op *op = &player->ops[number];
    const struct gt_kernel *kernel = &player->workload->kernels[player->workload->ops[number].kernel];
    struct gt_executor_image image;
    struct gt_executor like = { .tasks = NULL };
    int result;

    if (kernel->tasks == NULL)
        return 0;
    if (gt_kernel_blocks(kernel) >= GT_NONE)
        return gt_error_set(error, "more blocks than can be workers");
    if (make_image(player, kernel, &image, &like, error) != 0)
        return -1;
    result = place(player, op, &image, error);
    gt_executor_image_free(&image);
    op->tasks.task_output_bytes = like.task_output_bytes;
    op->tasks.works = like.works;
    op->tasks.moves = like.moves;
    op->launch.tasks = &op->tasks;
    return result;
}

int gt_player_reset_tasks(struct gt_player *player, struct gt_error *error)
{
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        const struct gt_play_op *op = &player->ops[i];

        if (op->launch.tasks == NULL)
            continue;
        GT_CUDA(cudaMemcpy(op->state, op->initial_state, op->state_bytes, cudaMemcpyDeviceToDevice), error);
        GT_CUDA(cudaMemset(op->tasks.log, 0, op->tasks.task_count * sizeof *op->tasks.log), error);
        GT_CUDA((cudaError_t)gt_executor_forget(&op->launch), error);
    }
    return 0;
}

/* A time of the SM's clock of one block on the host's: the block's record ties both clocks twice, each time to within
 * a tick of the global timer; both together say it best. */
static gt_time_ps since_origin(const struct gt_player *player, const struct gt_play_gpu *gpu,
                               const struct gt_block_log *block, uint64_t cycles)
{
    uint64_t middle_ns = block->start_ns + (block->end_ns - block->start_ns) / 2;
    double after_middle =
        (double)(cycles - block->start_cycles) - (double)(block->end_cycles - block->start_cycles) / 2;
    double time_ps = (double)(int64_t)(gt_player_host_ns(gpu, middle_ns) - player->origin_ns) * 1e3 +
                     after_middle * 1e6 / gpu->clock_mhz;

    return time_ps > 0 ? (gt_time_ps)(time_ps + 0.5) : 0;
}

static int list_tasks(const struct gt_player *player, uint32_t number, const struct gt_executor_log *log,
                      struct gt_task_record *records, struct gt_error *error)
{
    const struct gt_play_op *op = &player->ops[number];
    const struct gt_play_gpu *gpu = gt_player_gpu_of(player, number);

    for (uint32_t i = 0; i < op->tasks.task_count; i++) {
        const struct gt_block_log *block = &player->logs_here[op->first_log + log[i].worker];

        if (log[i].end_cycles == 0)
            return gt_error_set(error, "task %u of %u was not done; its workers waited for each other too long", i,
                                op->tasks.task_count);
        /* clang-format off */
        records[i] = (struct gt_task_record){
            .op = number, .task = i, .worker = log[i].worker, .cause_task = GT_NONE, .stolen = log[i].stolen != 0,
            .asked_ps = since_origin(player, gpu, block, log[i].asked_cycles),
            .taken_ps = since_origin(player, gpu, block, log[i].taken_cycles),
            .start_ps = since_origin(player, gpu, block, log[i].start_cycles),
            .end_ps = since_origin(player, gpu, block, log[i].end_cycles),
        };
        /* clang-format on */
    }
    return 0;
}

static int by_end(const void *left, const void *right)
{
    const struct gt_task_record *a = left, *b = right;

    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->task > b->task) - (a->task < b->task);
}

static int fetch_tasks(const struct gt_player *player, uint32_t number, struct gt_task_record *records,
                       struct gt_error *error)
{
    const struct gt_executor *tasks = &player->ops[number].tasks;
    struct gt_executor_log *log = gt_calloc(tasks->task_count + 1ull, sizeof *log);
    cudaError_t code = cudaMemcpy(log, tasks->log, tasks->task_count * sizeof *log, cudaMemcpyDeviceToHost);
    int result = code == cudaSuccess ? list_tasks(player, number, log, records, error)
                                     : gt_cuda_fail("fetching the tasks' records", code, error);

    free(log);
    return result;
}

int gt_player_send_tasks(struct gt_player *player, const struct gt_probe *probe, struct gt_error *error)
{
    struct gt_task_record *records;
    uint64_t count = 0, done = 0;
    int result = 0;

    for (uint32_t i = 0; i < player->workload->op_count; i++)
        if (player->ops[i].launch.tasks != NULL && player->ops[i].first_log != GT_NO_LOG)
            count += player->ops[i].tasks.task_count;
    if (count == 0)
        return 0;
    records = gt_realloc(NULL, count, sizeof *records);
    for (uint32_t i = 0; i < player->workload->op_count && result == 0; i++) {
        if (player->ops[i].launch.tasks == NULL || player->ops[i].first_log == GT_NO_LOG)
            continue;
        result = fetch_tasks(player, i, records + done, error);
        done += player->ops[i].tasks.task_count;
    }
    if (result == 0)
        qsort(records, count, sizeof *records, by_end);
    for (uint64_t i = 0; i < count && result == 0 && probe->task != NULL; i++)
        result = probe->task(probe->user, &records[i], error);
    free(records);
    return result;
}
