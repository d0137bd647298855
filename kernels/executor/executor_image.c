/* A plan's arrays, arranged as the executor walks them. */
#include "kernels/executor/executor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const gt_executor_policy_names[GT_EXECUTOR_POLICIES] = {
    [GT_EXECUTOR_SHARED] = "shared", [GT_EXECUTOR_READY] = "ready", [GT_EXECUTOR_STEAL] = "steal",
    [GT_EXECUTOR_STATIC] = "static", [GT_EXECUTOR_MIXED] = "mixed",
};
const char *const gt_executor_work_names[GT_EXECUTOR_WORKS] = {
    [GT_EXECUTOR_SPIN] = "spin",
    [GT_EXECUTOR_TILE] = "tile",
    [GT_EXECUTOR_ELEMENTWISE] = "elementwise",
    [GT_EXECUTOR_REDUCTION] = "reduction",
    [GT_EXECUTOR_PRODUCT] = "product",
    [GT_EXECUTOR_CELL] = "cell",
    [GT_EXECUTOR_MOVE] = "move",
};

enum { ALIGNMENT = 256, MOST_ENTRIES = 1 << 27 };
enum { COUNTER_WORDS = GT_EXECUTOR_COUNTER_BYTES / sizeof(uint32_t) };

/* How many there are of what the plan's tasks point to, which several may share; `told`: what each signals, in all. */
struct sizes {
    uint64_t waits, awaited, signals, told, made, values;
};

static bool by_release(enum gt_executor_policy policy)
{
    return policy == GT_EXECUTOR_READY || policy == GT_EXECUTOR_STEAL;
}

static bool by_list(enum gt_executor_policy policy)
{
    return policy == GT_EXECUTOR_STATIC || policy == GT_EXECUTOR_MIXED;
}

static uint32_t worker_of(const struct gt_executor_plan *plan, uint32_t task)
{
    return plan->task_workers != NULL ? plan->task_workers[task] : GT_EXECUTOR_ANY;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct sizes sizes_of(const struct gt_executor_plan *plan)
{
    struct sizes sizes = { .values = plan->counter_count };

    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct gt_executor_task *task = &plan->tasks[i];

        sizes.waits = most_of(sizes.waits, task->first_wait + (uint64_t)task->waits);
        sizes.signals = most_of(sizes.signals, task->first_signal + (uint64_t)task->signals);
        sizes.made = most_of(sizes.made, task->first_made + (uint64_t)task->made);
        sizes.awaited += task->waits;
        sizes.told += task->signals;
    }
    sizes.values += sizes.told;
    return sizes;
}

static int check(const struct gt_executor_plan *plan, const struct sizes *sizes, struct gt_error *error)
{
    if (plan->workers == 0)
        return gt_error_set(error, "a task graph needs a worker, a block of the grid, at least");
    if (!by_release(plan->policy) && sizes->made > 0)
        return gt_error_set(error, "tasks that others make: only the policies ready and steal see them come");
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t worker = worker_of(plan, i);

        if (plan->policy == GT_EXECUTOR_STATIC && worker == GT_EXECUTOR_ANY)
            return gt_error_set(error, "task %u is in no worker's list, as the policy static needs it", i);
        if (by_list(plan->policy) && worker != GT_EXECUTOR_ANY && worker >= plan->workers)
            return gt_error_set(error, "task %u is for worker %u of %u", i, worker, plan->workers);
    }
    if (plan->policy == GT_EXECUTOR_STEAL && (uint64_t)plan->workers * plan->task_count > MOST_ENTRIES)
        return gt_error_set(error, "%u tasks for %u workers that steal: more than the %d places of all their queues",
                            plan->task_count, plan->workers, MOST_ENTRIES);
    return 0;
}

/* The place of an array behind what a part has so far. */
static size_t append(size_t *part, uint64_t count, size_t bytes)
{
    size_t at = (*part + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    *part = at + count * bytes;
    return at;
}

static void lay_out(const struct gt_executor_plan *plan, const struct sizes *sizes, struct gt_executor_image *image)
{
    bool lists = by_list(plan->policy), release = by_release(plan->policy);
    struct gt_executor_layout *at = &image->at;
    size_t *graph = &image->graph_bytes, *state = &image->state_bytes;

    at->tasks = append(graph, plan->task_count, sizeof *plan->tasks);
    at->waits = append(graph, sizes->waits, sizeof *plan->waits);
    at->signals = append(graph, sizes->signals, sizeof *plan->signals);
    at->made = append(graph, sizes->made, sizeof *plan->made);
    at->places = append(graph, plan->place_count, sizeof *plan->places);
    at->order = append(graph, plan->task_count, sizeof(uint32_t));
    at->list_first = append(graph, lists ? plan->workers + 1ull : 0, sizeof(uint32_t));
    at->list = append(graph, lists ? plan->task_count : 0, sizeof(uint32_t));
    at->counter_base = append(graph, release ? plan->counter_count : 0, sizeof(uint32_t));
    at->release_first = append(graph, release ? sizes->values + 1 : 0, sizeof(uint32_t));
    at->released = append(graph, release ? sizes->awaited : 0, sizeof(uint32_t));
    at->head = append(state, 1, sizeof(uint32_t));
    at->tail = append(state, 1, sizeof(uint32_t));
    at->taken = append(state, 1, sizeof(uint32_t));
    at->gave_up = append(state, 1, sizeof(uint32_t));
    at->counters = append(state, plan->counter_count, GT_EXECUTOR_COUNTER_BYTES);
    at->missing = append(state, release ? plan->task_count : 0, sizeof(uint32_t));
    at->slots = append(state, plan->policy == GT_EXECUTOR_READY ? plan->task_count : 0, sizeof(uint32_t));
    at->deques = append(state, plan->policy == GT_EXECUTOR_STEAL ? plan->workers : 0, GT_EXECUTOR_COUNTER_BYTES);
    at->entries = append(state, plan->policy == GT_EXECUTOR_STEAL ? (uint64_t)plan->workers * plan->task_count : 0,
                         sizeof(uint32_t));
}

static uint32_t *graph_at(const struct gt_executor_image *image, size_t offset)
{
    return (uint32_t *)((char *)image->graph + offset);
}

static uint32_t *state_at(const struct gt_executor_image *image, size_t offset)
{
    return (uint32_t *)((char *)image->state + offset);
}

static void copy(const struct gt_executor_image *image, size_t at, const void *from, uint64_t bytes)
{
    if (bytes > 0)
        memcpy((char *)image->graph + at, from, bytes);
}

/* The list of those that nobody has for himself; and everybody's own, in the order of tasks. */
static void fill_lists(const struct gt_executor_plan *plan, struct gt_executor_image *image)
{
    uint32_t *order = graph_at(image, image->at.order), *first = graph_at(image, image->at.list_first);
    uint32_t *list = graph_at(image, image->at.list);
    bool lists = by_list(plan->policy);

    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t worker = lists ? worker_of(plan, i) : GT_EXECUTOR_ANY;

        if (worker == GT_EXECUTOR_ANY)
            order[image->order_count++] = i;
        else
            first[worker + 1]++;
    }
    if (!lists)
        return;
    for (uint32_t i = 0; i < plan->workers; i++)
        first[i + 1] += first[i];
    for (uint32_t i = plan->task_count; i-- > 0;) /* each list's end moves down to its beginning, */
        if (worker_of(plan, i) != GT_EXECUTOR_ANY)
            list[--first[worker_of(plan, i) + 1]] = i;
    for (uint32_t i = 0; i < plan->workers; i++) /* which is where the next one's entry has to be */
        first[i] = first[i + 1];
    first[plan->workers] = plan->task_count - image->order_count;
}

/* Who waits for each value of each counter that it can come to, and how much each task waits for. */
static void fill_releases(const struct gt_executor_plan *plan, const struct sizes *sizes,
                          struct gt_executor_image *image)
{
    uint32_t *base = graph_at(image, image->at.counter_base), *first = graph_at(image, image->at.release_first);
    uint32_t *released = graph_at(image, image->at.released), *missing = state_at(image, image->at.missing);
    uint32_t *most = gt_calloc(plan->counter_count + 1ull, sizeof *most), place = 0;

    for (uint32_t i = 0; i < plan->task_count; i++)
        for (uint32_t j = 0; j < plan->tasks[i].signals; j++)
            most[plan->signals[plan->tasks[i].first_signal + j]]++;
    for (uint32_t i = 0; i < plan->counter_count; i++) {
        base[i] = place - plan->initial[i];
        place += most[i] + 1;
        most[i] += plan->initial[i];
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < plan->task_count; i++) {
            for (uint32_t j = 0; j < plan->tasks[i].waits; j++) {
                const struct gt_executor_wait *wait = &plan->waits[plan->tasks[i].first_wait + j];

                if (wait->threshold <= plan->initial[wait->counter])
                    continue;
                missing[i] += pass == 0;
                if (wait->threshold > most[wait->counter])
                    continue; /* it never comes to that */
                if (pass == 0)
                    first[base[wait->counter] + wait->threshold + 1]++;
                else
                    released[first[base[wait->counter] + wait->threshold]++] = i;
            }
        }
        for (uint64_t i = 0; pass == 0 && i < sizes->values; i++)
            first[i + 1] += first[i];
    }
    for (uint64_t i = sizes->values; i > 0; i--) /* each beginning has moved to its end */
        first[i] = first[i - 1];
    first[0] = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        for (uint32_t j = 0; j < plan->tasks[i].made; j++)
            missing[plan->made[plan->tasks[i].first_made + j]]++;
    free(most);
}

/* Into the queue, or dealt to the workers in turn, those that wait for nothing. */
static void fill_ready(const struct gt_executor_plan *plan, struct gt_executor_image *image)
{
    const uint32_t *missing = state_at(image, image->at.missing);
    uint32_t *slots = state_at(image, image->at.slots), *entries = state_at(image, image->at.entries);
    uint64_t *deques = (uint64_t *)(void *)state_at(image, image->at.deques);
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->task_count; i++) {
        if (missing[i] > 0)
            continue;
        if (plan->policy == GT_EXECUTOR_READY) {
            slots[count] = i + 1;
        } else {
            uint32_t worker = count % plan->workers;

            entries[(uint64_t)worker * plan->task_count + count / plan->workers] = i;
            deques[worker * (GT_EXECUTOR_COUNTER_BYTES / sizeof *deques)] += UINT64_C(1) << 32;
        }
        count++;
    }
    *state_at(image, image->at.tail) = count;
}

int gt_executor_image_make(const struct gt_executor_plan *plan, struct gt_executor_image *image,
                           struct gt_error *error)
{
    struct sizes sizes = sizes_of(plan);

    if (check(plan, &sizes, error) != 0)
        return -1;
    *image = (struct gt_executor_image){
        .policy = plan->policy, .workers = plan->workers, .task_count = plan->task_count, .seed = plan->seed
    };
    lay_out(plan, &sizes, image);
    image->graph = gt_calloc(image->graph_bytes, 1);
    image->state = gt_calloc(image->state_bytes, 1);
    copy(image, image->at.tasks, plan->tasks, plan->task_count * sizeof *plan->tasks);
    copy(image, image->at.waits, plan->waits, sizes.waits * sizeof *plan->waits);
    copy(image, image->at.signals, plan->signals, sizes.signals * sizeof *plan->signals);
    copy(image, image->at.made, plan->made, sizes.made * sizeof *plan->made);
    copy(image, image->at.places, plan->places, plan->place_count * sizeof *plan->places);
    fill_lists(plan, image);
    for (uint32_t i = 0; i < plan->counter_count; i++)
        state_at(image, image->at.counters)[(uint64_t)i * COUNTER_WORDS] = plan->initial[i];
    if (by_release(plan->policy)) {
        fill_releases(plan, &sizes, image);
        fill_ready(plan, image);
    }
    return 0;
}

void gt_executor_image_free(struct gt_executor_image *image)
{
    free(image->graph);
    free(image->state);
    image->graph = image->state = NULL;
}

struct gt_executor gt_executor_place(const struct gt_executor_image *image, void *graph, void *state)
{
    const struct gt_executor_layout *at = &image->at;
    char *g = graph, *s = state;

    return (struct gt_executor){
        .tasks = (const struct gt_executor_task *)(g + at->tasks),
        .waits = (const struct gt_executor_wait *)(g + at->waits),
        .signals = (const uint32_t *)(g + at->signals),
        .made = (const uint32_t *)(g + at->made),
        .places = (const uint32_t *)(g + at->places),
        .order = (const uint32_t *)(g + at->order),
        .list_first = (const uint32_t *)(g + at->list_first),
        .list = (const uint32_t *)(g + at->list),
        .counter_base = (const uint32_t *)(g + at->counter_base),
        .release_first = (const uint32_t *)(g + at->release_first),
        .released = (const uint32_t *)(g + at->released),
        .head = (uint32_t *)(s + at->head),
        .tail = (uint32_t *)(s + at->tail),
        .taken = (uint32_t *)(s + at->taken),
        .gave_up = (uint32_t *)(s + at->gave_up),
        .counters = (uint32_t *)(s + at->counters),
        .missing = (uint32_t *)(s + at->missing),
        .slots = (uint32_t *)(s + at->slots),
        .deques = (uint64_t *)(s + at->deques),
        .entries = (uint32_t *)(s + at->entries),
        .seed = image->seed,
        .policy = image->policy,
        .workers = image->workers,
        .task_count = image->task_count,
        .order_count = image->order_count,
    };
}

static uint64_t output_bytes(const struct gt_executor_task *task)
{
    switch (task->work) {
    case GT_EXECUTOR_TILE: return GT_EXECUTOR_TILE_SIDE * GT_EXECUTOR_TILE_SIDE * sizeof(float);
    case GT_EXECUTOR_ELEMENTWISE: return task->amount * sizeof(float);
    case GT_EXECUTOR_REDUCTION: return sizeof(float);
    case GT_EXECUTOR_MOVE: return 2 * sizeof(uint32_t);
    default: return 0;
    }
}

int gt_executor_works(const struct gt_executor_task *tasks, uint32_t task_count)
{
    for (uint32_t i = 0; i < task_count; i++)
        if (tasks[i].work != GT_EXECUTOR_SPIN)
            return 1;
    return 0;
}

int gt_executor_moves(const struct gt_executor_task *tasks, uint32_t task_count)
{
    for (uint32_t i = 0; i < task_count; i++)
        if (tasks[i].work == GT_EXECUTOR_MOVE)
            return 1;
    return 0;
}

uint64_t gt_executor_output_bytes(const struct gt_executor_task *tasks, uint32_t task_count)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < task_count; i++)
        most = output_bytes(&tasks[i]) > most ? output_bytes(&tasks[i]) : most;
    return (most + 15) / 16 * 16;
}
