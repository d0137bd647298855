/* What the tasks of a graph do on the GPU: spin for their time, work as their kind says, or move the bytes and do the
 * operations that they say in place of a time. */
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>

#include "sim/workload/task_graph.h"
#include "validate/player/internal.h"

enum { FLOATS_APART = 64 }; /* buffers begin at multiples of 256 bytes, as traces/FORMAT.md says */

int gt_player_find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* A number among a kind's arguments, 1 to `most`; `name` NULL: the only one, whatever it is called. */
static int read_number(yajl_val object, const char *name, uint32_t most, uint32_t *number, struct gt_error *error)
{
    double value = 0;

    for (size_t i = 0; YAJL_IS_OBJECT(object) && i < YAJL_GET_OBJECT(object)->len; i++) {
        yajl_val item = YAJL_GET_OBJECT(object)->values[i];

        if (YAJL_IS_NUMBER(item) &&
            (name == NULL ? YAJL_GET_OBJECT(object)->len == 1 : strcmp(YAJL_GET_OBJECT(object)->keys[i], name) == 0))
            value = YAJL_GET_DOUBLE(item);
    }
    *number = (uint32_t)value;
    if (value >= 1 && value <= most)
        return 0;
    if (name == NULL)
        return gt_error_set(error, "its arguments must be one number from 1 to %u, as in {\"elements\":4096}", most);
    return gt_error_set(error, "its arguments must give \"%s\", from 1 to %u", name, most);
}

static int read_amount(const char *json, struct gt_executor_task *like, struct gt_error *error)
{
    yajl_val object = json != NULL ? yajl_tree_parse(json, NULL, 0) : NULL;
    bool product = like->work == GT_EXECUTOR_PRODUCT;
    uint32_t first = 0, second = 0;
    int result = read_number(object, gt_network_places((enum gt_executor_work)like->work) > 0 ? "rows" : NULL,
                             GT_EXECUTOR_AMOUNT_MOST, &first, error);

    if (result == 0 && product)
        result = read_number(object, "columns", GT_EXECUTOR_AMOUNT_MOST, &second, error);
    if (result == 0 && second % 4 != 0)
        result = gt_error_set(error, "%u columns; give a multiple of 4", second);
    yajl_tree_free(object);
    like->amount = gt_network_places((enum gt_executor_work)like->work) > 0 ? gt_executor_pair(first, second) : first;
    return result;
}

/* What a kind's tasks do; those that spin or move say how much themselves. */
static int read_kind(const struct gt_workload *workload, const struct gt_task_kind *kind,
                     struct gt_executor_task *like, struct gt_error *error)
{
    const char *runs = kind->runs != GT_NONE ? gt_name_text(workload, kind->runs) : gt_executor_work_names[0];
    int work = gt_player_find_name(gt_executor_work_names, GT_EXECUTOR_MOVE, runs), result = 0;

    if (work < 0)
        result = gt_error_set(error, "no task that runs '%.64s' can be played; there are %s, %s, %s, %s, %s and %s",
                              runs, gt_executor_work_names[0], gt_executor_work_names[1], gt_executor_work_names[2],
                              gt_executor_work_names[3], gt_executor_work_names[4], gt_executor_work_names[5]);
    *like = (struct gt_executor_task){ .work = (uint16_t)work };
    if (result == 0 && work != GT_EXECUTOR_SPIN)
        result =
            read_amount(kind->arguments != GT_NONE ? gt_name_text(workload, kind->arguments) : NULL, like, error);
    return result == 0 ? 0 : gt_error_prefix(error, "task kind '%.64s': ", gt_name_text(workload, kind->name));
}

static uint32_t units(uint64_t amount, uint32_t unit)
{
    uint64_t count = (amount + unit - 1) / unit;

    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Of a task whose kind names no work. */
static int set_own(const struct gt_player *player, const struct gt_task_graph *graph, uint32_t number,
                   struct gt_executor_task *task, struct gt_error *error)
{
    gt_time_ps time_ps = gt_task_cost_ps(graph, number, player->options.seed);
    uint64_t bytes = gt_task_bytes(graph, number), operations = gt_task_operations(graph, number);

    if (time_ps != GT_TIME_NONE) {
        task->amount = (uint64_t)((double)time_ps * player->gpu->clock_mhz * 1e-6 + 0.5);
        return 0;
    }
    if (graph->kinds[graph->tasks[number].kind].program != NULL)
        return gt_error_set(error,
                            "task %u is a block of a program, and says no time for which one that spins could "
                            "be played",
                            number);
    task->work = GT_EXECUTOR_MOVE;
    task->amount =
        gt_executor_pair(units(bytes, GT_EXECUTOR_MOVE_BYTES), units(operations, GT_EXECUTOR_MOVE_OPERATIONS));
    return 0;
}

/* ---- Tasks of a network: their buffers are places of one memory ---- */

struct buffers {
    uint64_t *first;   /* float of each, and behind the last one */
    uint32_t *written; /* tasks so far that write each */
};

static void lay_out(const struct gt_task_graph *graph, struct buffers *buffers)
{
    uint64_t at = 0;

    buffers->first = gt_calloc(graph->buffer_count + 1ull, sizeof *buffers->first);
    buffers->written = gt_calloc(graph->buffer_count + 1ull, sizeof *buffers->written);
    for (uint32_t i = 0; i < graph->buffer_count; i++) {
        buffers->first[i] = at;
        at += (graph->buffers[i].bytes / sizeof(float) + FLOATS_APART - 1) / FLOATS_APART * FLOATS_APART;
    }
    buffers->first[graph->buffer_count] = at;
}

/* What a task reads, then what it writes, in the order in which it says so. */
static uint32_t list_buffers(const struct gt_task_graph *graph, const struct gt_task *task,
                             uint32_t list[GT_NETWORK_PLACES + 1], uint32_t *read)
{
    uint32_t count = 0;

    for (int writes = 0; writes < 2; writes++) {
        for (uint32_t i = 0; i < task->accesses; i++) {
            const struct gt_task_access *access = &graph->accesses[task->first_access + i];

            if (access->writes == (writes == 1) && count <= GT_NETWORK_PLACES)
                list[count++] = access->buffer;
        }
        if (writes == 0)
            *read = count;
    }
    return count;
}

/* Tasks that write one buffer have a part of it each, in the order of the graph. */
static int find_part(const struct gt_task_graph *graph, struct buffers *buffers, uint32_t number,
                     const struct gt_executor_task *task, struct gt_network_part *part, struct gt_error *error)
{
    enum gt_executor_work work = (enum gt_executor_work)task->work;
    uint32_t list[GT_NETWORK_PLACES + 1], read = 0, count = list_buffers(graph, &graph->tasks[number], list, &read);
    uint32_t outputs = work == GT_EXECUTOR_CELL ? 2 : 1;

    if (count != gt_network_places(work) || count - read != outputs)
        return gt_error_set(error, "task %u runs %s: it reads %u buffers and writes %u; it must read %u and write %u",
                            number, gt_executor_work_names[work], read, count - read,
                            gt_network_places(work) - outputs, outputs);
    *part = (struct gt_network_part){ work, (uint32_t)(task->amount >> 32), (uint32_t)task->amount, { 0 } };
    for (uint32_t i = 0; i < count; i++)
        part->places[i] = (uint32_t)buffers->first[list[i]];
    *part = gt_network_part_at(part, buffers->written[list[read]]++);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t each = work == GT_EXECUTOR_CELL || i == 2 ? part->rows
                        : i == 1                           ? part->columns
                                                           : (uint64_t)part->rows * part->columns;

        if (part->places[i] + each > buffers->first[list[i]] + graph->buffers[list[i]].bytes / sizeof(float))
            return gt_error_set(error, "task %u reaches beyond the end of buffer %u", number, list[i]);
    }
    return 0;
}

static void add_part(struct gt_player *player, const struct gt_network_part *part, struct gt_executor_task *task,
                     struct gt_play_works *works)
{
    uint32_t places = gt_network_places(part->work);

    task->first_place = works->place_count;
    memcpy(&works->places[works->place_count], part->places, places * sizeof part->places[0]);
    works->place_count += places;
    gt_player_add_part(player, part, 1);
}

static int set_network(struct gt_player *player, const struct gt_task_graph *graph, struct gt_play_works *works,
                       struct gt_error *error)
{
    struct buffers buffers;
    uint64_t places = 0;
    int result = 0;

    for (uint32_t i = 0; i < graph->task_count; i++)
        places += gt_network_places((enum gt_executor_work)works->tasks[i].work);
    if (places == 0)
        return 0;
    works->places = gt_calloc(places, sizeof *works->places);
    lay_out(graph, &buffers);
    if (buffers.first[graph->buffer_count] > UINT32_MAX)
        result = gt_error_set(error, "its buffers are larger than can be played together: %llu floats",
                              (unsigned long long)buffers.first[graph->buffer_count]);
    for (uint32_t i = 0; i < graph->task_count && result == 0; i++) {
        struct gt_network_part part;

        if (gt_network_places((enum gt_executor_work)works->tasks[i].work) == 0)
            continue;
        result = find_part(graph, &buffers, i, &works->tasks[i], &part, error);
        if (result == 0)
            add_part(player, &part, &works->tasks[i], works);
    }
    free(buffers.first);
    free(buffers.written);
    return result;
}

int gt_player_task_works(struct gt_player *player, const struct gt_task_graph *graph, struct gt_play_works *works,
                         struct gt_error *error)
{
    struct gt_executor_task *kinds = gt_calloc(graph->kind_count + 1ull, sizeof *kinds);
    int result = 0;

    *works = (struct gt_play_works){ .tasks = gt_calloc(graph->task_count + 1ull, sizeof *works->tasks) };
    for (uint32_t i = 0; i < graph->kind_count && result == 0; i++)
        result = read_kind(player->workload, &graph->kinds[i], &kinds[i], error);
    for (uint32_t i = 0; i < graph->task_count && result == 0; i++) {
        const struct gt_task *task = &graph->tasks[i];
        struct gt_executor_task *made = &works->tasks[i];

        *made = kinds[task->kind];
        made->first_wait = task->first_wait;
        made->first_signal = task->first_signal;
        made->first_made = task->first_made;
        made->waits = task->waits;
        made->signals = task->signals;
        made->made = task->made;
        if (made->work == GT_EXECUTOR_SPIN)
            result = set_own(player, graph, i, made, error);
    }
    free(kinds);
    return result == 0 ? set_network(player, graph, works, error) : result;
}

void gt_player_task_works_free(struct gt_play_works *works)
{
    free(works->tasks);
    free(works->places);
}
