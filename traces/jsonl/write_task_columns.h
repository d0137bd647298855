/* write_task_columns.h - a task graph on its way out, and its tasks by columns. */
#ifndef GRIDTIDE_TRACES_JSONL_WRITE_TASK_COLUMNS_H
#define GRIDTIDE_TRACES_JSONL_WRITE_TASK_COLUMNS_H

#include "sim/workload/task_graph.h"
#include "traces/jsonl/emit.h"

/* A graph, and the numbers of its parts' first among those of all graphs, by which unknown fields are kept. */
struct gt_task_writer {
    struct gt_emit *emit;
    const struct gt_task_graph *graph;
    uint32_t index, kinds, buffers, counters, tasks;
};

/* Does the task write a buffer, or read one? */
bool gt_task_has_access(const struct gt_task_graph *graph, const struct gt_task *task, bool writes);

/* Tasks `first` to `end` - 1, as a field of the open object. */
void gt_emit_task_columns(const struct gt_task_writer *writer, uint32_t first, uint32_t end);

#endif
