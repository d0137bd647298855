/* Task graphs, written: small ones as objects, large ones by columns. */
#include "sim/workload/task_graph.h"

#include <stdio.h>
#include <string.h>

#include "sim/workload/program.h"
#include "traces/jsonl/write_task_columns.h"

/* Beyond so many objects columns are easier on everybody.  So many tasks, counters or buffers stand in a line, and
 * tasks until they have so many waits, signals and so on: lines have a limit. */
enum { MOST_OBJECTS = 1000, A_LINE = 4096, MOST_PARTS = 500000 };

static const char *text_of(const struct gt_emit *emit, uint32_t name)
{
    return name == GT_NONE ? NULL : emit->keys.names[name];
}

/* A part by its name, where it has one, else its number. */
static void emit_part(struct gt_emit *emit, uint32_t name, uint32_t number)
{
    const char *text = text_of(emit, name);

    if (text != NULL)
        yajl_gen_string(emit->gen, (const unsigned char *)text, strlen(text));
    else
        gt_emit_number_value(emit, number);
}

static void emit_range(struct gt_emit *emit, const char *name, gt_time_ps least_ps, gt_time_ps most_ps)
{
    gt_emit_open_list(emit, name);
    gt_emit_time_value(emit, least_ps);
    gt_emit_time_value(emit, most_ps);
    gt_emit_close_list(emit);
}

static void emit_cost(struct gt_emit *emit, const struct gt_task_kind *kind)
{
    char tail[32];

    switch (kind->cost) {
    case GT_TASK_COST_FIXED: gt_emit_time(emit, "task_ns", kind->min_ps); break;
    case GT_TASK_COST_RANGE: emit_range(emit, "task_ns", kind->min_ps, kind->max_ps); break;
    case GT_TASK_COST_LIST:
        gt_emit_open_list(emit, "task_list_ns");
        for (uint32_t i = 0; i < kind->list_length; i++)
            gt_emit_time_value(emit, kind->list_ps[i]);
        gt_emit_close_list(emit);
        break;
    case GT_TASK_COST_HEAVY:
        emit_range(emit, "task_heavy_ns", kind->min_ps, kind->max_ps);
        snprintf(tail, sizeof tail, "%.17g", kind->tail);
        gt_emit_json(emit, "tail", tail);
        break;
    default: break;
    }
}

static void emit_kind(const struct gt_task_writer *writer, uint32_t index)
{
    const struct gt_task_kind *kind = &writer->graph->kinds[index];
    struct gt_emit *emit = writer->emit;

    gt_emit_open(emit);
    gt_emit_text(emit, "kind", text_of(emit, kind->name));
    emit_cost(emit, kind);
    if (kind->bytes != 0)
        gt_emit_number(emit, "bytes", kind->bytes);
    if (kind->operations != 0)
        gt_emit_number(emit, "operations", kind->operations);
    if (kind->registers_per_thread != 0)
        gt_emit_number(emit, "registers", kind->registers_per_thread);
    if (kind->static_shared_bytes != 0)
        gt_emit_number(emit, "shared_bytes", kind->static_shared_bytes);
    if (kind->runs != GT_NONE)
        gt_emit_text(emit, "runs", text_of(emit, kind->runs));
    if (kind->arguments != GT_NONE)
        gt_emit_json(emit, "arguments", gt_name_text(emit->workload, kind->arguments));
    if (kind->program != NULL)
        gt_emit_text(emit, "program", kind->program->key);
    gt_emit_close(emit, GT_EXTRA_TASK_KIND, writer->kinds + index);
}

static void emit_buffer(const struct gt_task_writer *writer, uint32_t index)
{
    const struct gt_task_buffer *buffer = &writer->graph->buffers[index];
    struct gt_emit *emit = writer->emit;

    gt_emit_open(emit);
    if (buffer->name != GT_NONE)
        gt_emit_text(emit, "buffer", text_of(emit, buffer->name));
    if (buffer->bytes != 0)
        gt_emit_number(emit, "bytes", buffer->bytes);
    gt_emit_flag(emit, "given", buffer->given);
    gt_emit_close(emit, GT_EXTRA_TASK_BUFFER, writer->buffers + index);
}

static void emit_counter(const struct gt_task_writer *writer, uint32_t index)
{
    const struct gt_task_counter *counter = &writer->graph->counters[index];
    struct gt_emit *emit = writer->emit;

    gt_emit_open(emit);
    if (counter->name != GT_NONE)
        gt_emit_text(emit, "counter", text_of(emit, counter->name));
    if (counter->initial != 0)
        gt_emit_number(emit, "initial", counter->initial);
    gt_emit_close(emit, GT_EXTRA_TASK_COUNTER, writer->counters + index);
}

/* Nothing is to be said of any counter but that it is there. */
static bool plain_counters(const struct gt_task_writer *writer)
{
    for (uint32_t i = 0; i < writer->graph->counter_count; i++)
        if (writer->graph->counters[i].name != GT_NONE || writer->graph->counters[i].initial != 0 ||
            gt_emit_has_extra(writer->emit, GT_EXTRA_TASK_COUNTER, writer->counters + i))
            return false;
    return true;
}

static bool same_links(const struct gt_task_graph *graph, const struct gt_task *a, const struct gt_task *b)
{
    if (a->waits != b->waits || a->signals != b->signals || a->made > 0 || b->made > 0)
        return false;
    for (uint32_t i = 0; i < a->waits; i++)
        if (graph->waits[a->first_wait + i].counter != graph->waits[b->first_wait + i].counter ||
            graph->waits[a->first_wait + i].threshold != graph->waits[b->first_wait + i].threshold)
            return false;
    for (uint32_t i = 0; i < a->signals; i++)
        if (graph->signals[a->first_signal + i] != graph->signals[b->first_signal + i])
            return false;
    return true;
}

static bool same_accesses(const struct gt_task_graph *graph, const struct gt_task *a, const struct gt_task *b)
{
    if (a->accesses != b->accesses)
        return false;
    for (uint32_t i = 0; i < a->accesses; i++) {
        const struct gt_task_access *one = &graph->accesses[a->first_access + i];
        const struct gt_task_access *other = &graph->accesses[b->first_access + i];

        if (one->buffer != other->buffer || one->writes != other->writes)
            return false;
    }
    return true;
}

/* May one object describe both? */
static bool same_tasks(const struct gt_task_graph *graph, const struct gt_task *a, const struct gt_task *b)
{
    return a->time_ps == b->time_ps && a->bytes == b->bytes && a->operations == b->operations && a->name == b->name &&
           a->kind == b->kind && a->worker == b->worker && same_links(graph, a, b) && same_accesses(graph, a, b);
}

/* How many tasks from `first` on one object describes. */
static uint32_t tasks_alike(const struct gt_task_writer *writer, uint32_t first)
{
    const struct gt_task_graph *graph = writer->graph;
    uint32_t count = 1;

    while (first + count < graph->task_count &&
           same_tasks(graph, &graph->tasks[first], &graph->tasks[first + count]) &&
           !gt_emit_has_extra(writer->emit, GT_EXTRA_TASK, writer->tasks + first + count))
        count++;
    return count;
}

static bool task_extras(const struct gt_task_writer *writer)
{
    for (uint32_t i = 0; i < writer->graph->task_count; i++)
        if (gt_emit_has_extra(writer->emit, GT_EXTRA_TASK, writer->tasks + i))
            return true;
    return false;
}

/* Are there so many objects, and nothing that only objects can say? */
static bool needs_columns(const struct gt_task_writer *writer)
{
    uint32_t objects = 0;

    for (uint32_t i = 0; i < writer->graph->task_count && objects <= MOST_OBJECTS; objects++)
        i += tasks_alike(writer, i);
    return objects > MOST_OBJECTS && !task_extras(writer);
}

static void emit_accesses(const struct gt_task_writer *writer, const struct gt_task *task, bool writes)
{
    const struct gt_task_graph *graph = writer->graph;

    if (!gt_task_has_access(graph, task, writes))
        return;
    gt_emit_open_list(writer->emit, writes ? "writes" : "reads");
    for (uint32_t i = 0; i < task->accesses; i++) {
        const struct gt_task_access *access = &graph->accesses[task->first_access + i];

        if (access->writes == writes)
            emit_part(writer->emit, graph->buffers[access->buffer].name, access->buffer);
    }
    gt_emit_close_list(writer->emit);
}

static void emit_links(const struct gt_task_writer *writer, const struct gt_task *task)
{
    const struct gt_task_graph *graph = writer->graph;
    struct gt_emit *emit = writer->emit;

    if (task->waits > 0) {
        gt_emit_open_list(emit, "waits");
        for (uint32_t i = task->first_wait; i < task->first_wait + task->waits; i++) {
            yajl_gen_array_open(emit->gen);
            emit_part(emit, graph->counters[graph->waits[i].counter].name, graph->waits[i].counter);
            gt_emit_number_value(emit, graph->waits[i].threshold);
            yajl_gen_array_close(emit->gen);
        }
        gt_emit_close_list(emit);
    }
    if (task->signals > 0) {
        gt_emit_open_list(emit, "signals");
        for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++)
            emit_part(emit, graph->counters[graph->signals[i]].name, graph->signals[i]);
        gt_emit_close_list(emit);
    }
    if (task->made > 0) {
        gt_emit_open_list(emit, "makes");
        for (uint32_t i = task->first_made; i < task->first_made + task->made; i++)
            gt_emit_number_value(emit, graph->made[i]);
        gt_emit_close_list(emit);
    }
}

static void emit_task(const struct gt_task_writer *writer, uint32_t index, uint32_t count)
{
    const struct gt_task *task = &writer->graph->tasks[index];
    struct gt_emit *emit = writer->emit;

    gt_emit_open(emit);
    if (task->name != GT_NONE)
        gt_emit_text(emit, "task", text_of(emit, task->name));
    gt_emit_text(emit, "kind", text_of(emit, writer->graph->kinds[task->kind].name));
    if (count > 1)
        gt_emit_number(emit, "count", count);
    if (task->worker != GT_NONE)
        gt_emit_number(emit, "worker", task->worker);
    gt_emit_time(emit, "duration_ns", task->time_ps);
    if (task->bytes != GT_TASK_AS_KIND)
        gt_emit_number(emit, "bytes", task->bytes);
    if (task->operations != GT_TASK_AS_KIND)
        gt_emit_number(emit, "operations", task->operations);
    emit_links(writer, task);
    emit_accesses(writer, task, false);
    emit_accesses(writer, task, true);
    gt_emit_close(emit, GT_EXTRA_TASK, writer->tasks + index);
}

/* Parts `first` to `end` - 1 as a list of objects. */
static void emit_list(const struct gt_task_writer *writer, const char *name, uint32_t first, uint32_t end,
                      void (*emit)(const struct gt_task_writer *writer, uint32_t index))
{
    if (first >= end)
        return;
    gt_emit_open_list(writer->emit, name);
    for (uint32_t i = first; i < end; i++)
        emit(writer, i);
    gt_emit_close_list(writer->emit);
}

static uint32_t min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The first task from `first` on that is too much for a line that begins there. */
static uint32_t end_of_line(const struct gt_task_writer *writer, uint32_t first)
{
    const struct gt_task_graph *graph = writer->graph;
    uint32_t end = first, parts = 0;

    for (; end < graph->task_count && end - first < A_LINE && parts < MOST_PARTS; end++)
        parts +=
            graph->tasks[end].waits + graph->tasks[end].signals + graph->tasks[end].made + graph->tasks[end].accesses;
    return end;
}

/* Tasks from `first` on, as many as a line takes; returns the first that is left. */
static uint32_t emit_tasks(const struct gt_task_writer *writer, uint32_t first, bool by_columns)
{
    uint32_t end = end_of_line(writer, first);

    if (first == end)
        return end;
    if (by_columns) {
        gt_emit_task_columns(writer, first, end);
        return end;
    }
    gt_emit_open_list(writer->emit, "tasks");
    while (first < end) {
        uint32_t alike = tasks_alike(writer, first);

        emit_task(writer, first, alike);
        first += alike;
    }
    gt_emit_close_list(writer->emit);
    return first;
}

/* The definition's line, and others for what is too much for it. */
static void emit_graph(const struct gt_task_writer *writer)
{
    const struct gt_task_graph *graph = writer->graph;
    bool plain = plain_counters(writer), by_columns = needs_columns(writer);
    struct gt_emit *emit = writer->emit;
    uint32_t at = A_LINE, task = 0;

    gt_emit_open(emit);
    gt_emit_text(emit, "task_graph", text_of(emit, graph->name));
    emit_list(writer, "kinds", 0, graph->kind_count, emit_kind);
    emit_list(writer, "buffers", 0, min(A_LINE, graph->buffer_count), emit_buffer);
    if (plain && graph->counter_count > 0)
        gt_emit_number(emit, "counters", graph->counter_count);
    else
        emit_list(writer, "counters", 0, min(A_LINE, graph->counter_count), emit_counter);
    if (graph->buffer_count <= A_LINE && (plain || graph->counter_count <= A_LINE))
        task = emit_tasks(writer, 0, by_columns);
    gt_emit_close(emit, GT_EXTRA_TASK_GRAPH, writer->index);
    gt_emit_newline(emit);
    for (; at < graph->buffer_count || (!plain && at < graph->counter_count); at += A_LINE) {
        gt_emit_open(emit);
        gt_emit_text(emit, "tasks_of", text_of(emit, graph->name));
        emit_list(writer, "buffers", at, min(at + A_LINE, graph->buffer_count), emit_buffer);
        if (!plain)
            emit_list(writer, "counters", at, min(at + A_LINE, graph->counter_count), emit_counter);
        yajl_gen_map_close(emit->gen);
        gt_emit_newline(emit);
    }
    while (task < graph->task_count) {
        gt_emit_open(emit);
        gt_emit_text(emit, "tasks_of", text_of(emit, graph->name));
        task = emit_tasks(writer, task, by_columns);
        yajl_gen_map_close(emit->gen);
        gt_emit_newline(emit);
    }
}

void gt_emit_task_graphs(struct gt_emit *emit)
{
    struct gt_task_writer writer = { .emit = emit };

    for (uint32_t i = 0; i < emit->workload->task_graph_count; i++) {
        writer.graph = emit->workload->task_graphs[i];
        writer.index = i;
        emit_graph(&writer);
        writer.kinds += writer.graph->kind_count;
        writer.buffers += writer.graph->buffer_count;
        writer.counters += writer.graph->counter_count;
        writer.tasks += writer.graph->task_count;
    }
}
