/* The tasks of a large graph, written by columns: a list of what each task has, where any has something. */
#include "traces/jsonl/write_task_columns.h"

#include <string.h>

bool gt_task_has_access(const struct gt_task_graph *graph, const struct gt_task *task, bool writes)
{
    for (uint32_t i = 0; i < task->accesses; i++)
        if (graph->accesses[task->first_access + i].writes == writes)
            return true;
    return false;
}

/* The columns: what an entry is of one task, and whether a task has any. */
struct column {
    const char *name;
    bool (*has)(const struct gt_task_graph *graph, const struct gt_task *task);
    void (*emit)(const struct gt_task_writer *writer, const struct gt_task *task);
};

static bool has_kind(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, (void)task, true;
}

static void emit_kind_entry(const struct gt_task_writer *writer, const struct gt_task *task)
{
    gt_emit_number_value(writer->emit, task->kind);
}

static bool has_worker(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->worker != GT_NONE;
}

static void emit_worker(const struct gt_task_writer *writer, const struct gt_task *task)
{
    gt_emit_number_value(writer->emit, task->worker);
}

static bool has_duration(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->time_ps != GT_TIME_NONE;
}

static void emit_duration(const struct gt_task_writer *writer, const struct gt_task *task)
{
    gt_emit_time_value(writer->emit, task->time_ps);
}

static bool has_bytes(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->bytes != GT_TASK_AS_KIND;
}

static void emit_bytes(const struct gt_task_writer *writer, const struct gt_task *task)
{
    gt_emit_number_value(writer->emit, task->bytes);
}

static bool has_operations(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->operations != GT_TASK_AS_KIND;
}

static void emit_operations(const struct gt_task_writer *writer, const struct gt_task *task)
{
    gt_emit_number_value(writer->emit, task->operations);
}

static bool has_name(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->name != GT_NONE;
}

static void emit_name(const struct gt_task_writer *writer, const struct gt_task *task)
{
    const char *name = writer->emit->keys.names[task->name];

    yajl_gen_string(writer->emit->gen, (const unsigned char *)name, strlen(name));
}

static bool has_waits(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->waits > 0;
}

static void emit_waits(const struct gt_task_writer *writer, const struct gt_task *task)
{
    yajl_gen_array_open(writer->emit->gen);
    for (uint32_t i = task->first_wait; i < task->first_wait + task->waits; i++) {
        gt_emit_number_value(writer->emit, writer->graph->waits[i].counter);
        gt_emit_number_value(writer->emit, writer->graph->waits[i].threshold);
    }
    yajl_gen_array_close(writer->emit->gen);
}

static void emit_numbers(const struct gt_task_writer *writer, const uint32_t *numbers, uint32_t count)
{
    if (count > 1)
        yajl_gen_array_open(writer->emit->gen);
    for (uint32_t i = 0; i < count; i++)
        gt_emit_number_value(writer->emit, numbers[i]);
    if (count > 1)
        yajl_gen_array_close(writer->emit->gen);
}

static bool has_signals(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->signals > 0;
}

static void emit_signals(const struct gt_task_writer *writer, const struct gt_task *task)
{
    emit_numbers(writer, writer->graph->signals + task->first_signal, task->signals);
}

static bool has_made(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return (void)graph, task->made > 0;
}

static void emit_made(const struct gt_task_writer *writer, const struct gt_task *task)
{
    emit_numbers(writer, writer->graph->made + task->first_made, task->made);
}

static void emit_access_numbers(const struct gt_task_writer *writer, const struct gt_task *task, bool writes)
{
    yajl_gen_array_open(writer->emit->gen);
    for (uint32_t i = task->first_access; i < task->first_access + task->accesses; i++)
        if (writer->graph->accesses[i].writes == writes)
            gt_emit_number_value(writer->emit, writer->graph->accesses[i].buffer);
    yajl_gen_array_close(writer->emit->gen);
}

static bool has_reads(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return gt_task_has_access(graph, task, false);
}

static void emit_reads(const struct gt_task_writer *writer, const struct gt_task *task)
{
    emit_access_numbers(writer, task, false);
}

static bool has_writes(const struct gt_task_graph *graph, const struct gt_task *task)
{
    return gt_task_has_access(graph, task, true);
}

static void emit_writes(const struct gt_task_writer *writer, const struct gt_task *task)
{
    emit_access_numbers(writer, task, true);
}

static const struct column columns[] = {
    { "kind", has_kind, emit_kind_entry },
    { "worker", has_worker, emit_worker },
    { "duration_ns", has_duration, emit_duration },
    { "bytes", has_bytes, emit_bytes },
    { "operations", has_operations, emit_operations },
    { "task", has_name, emit_name },
    { "waits", has_waits, emit_waits },
    { "signals", has_signals, emit_signals },
    { "makes", has_made, emit_made },
    { "reads", has_reads, emit_reads },
    { "writes", has_writes, emit_writes },
};

static void emit_column(const struct gt_task_writer *writer, const struct column *column, uint32_t first,
                        uint32_t end)
{
    const struct gt_task_graph *graph = writer->graph;
    uint32_t with = first;

    while (with < end && !column->has(graph, &graph->tasks[with]))
        with++;
    if (with == end)
        return;
    gt_emit_open_list(writer->emit, column->name);
    for (uint32_t i = first; i < end; i++) {
        if (column->has(graph, &graph->tasks[i]))
            column->emit(writer, &graph->tasks[i]);
        else
            yajl_gen_null(writer->emit->gen);
    }
    gt_emit_close_list(writer->emit);
}

void gt_emit_task_columns(const struct gt_task_writer *writer, uint32_t first, uint32_t end)
{
    gt_emit_key(writer->emit, "columns");
    yajl_gen_map_open(writer->emit->gen);
    gt_emit_number(writer->emit, "count", end - first);
    for (unsigned c = 0; c < sizeof columns / sizeof *columns; c++)
        emit_column(writer, &columns[c], first, end);
    yajl_gen_map_close(writer->emit->gen);
}
