/* task_lines.h - the lines of a task graph: a definition, and lines that add to it until a kernel names it. */
#ifndef GRIDTIDE_TRACES_JSONL_TASK_LINES_H
#define GRIDTIDE_TRACES_JSONL_TASK_LINES_H

#include "sim/workload/task_graph.h"
#include "traces/jsonl/reader.h"

/* Tasks of one graph; and parts of a trace's graphs, tasks, counters, waits, signals, reads and writes, that it says by a
 * count in place of one by one: so many, and as many more as the trace has bytes, for a short line may ask for much memory. */
enum { GT_MOST_TASKS = 20000000, GT_COUNTED_PARTS = 1 << 22 };

/* Something said of tasks that only the whole graph can tell: they come after, or make, all tasks of a name or one by
 * its number. */
struct gt_task_link {
    gt_task_index first;
    uint32_t tasks;  /* `first` and those behind it */
    uint32_t target; /* a name, or the number of a task */
    bool by_name;
    uint32_t line;
};
struct gt_task_links {
    struct gt_task_link *links;
    uint32_t count, room;
};

/* A task graph while its lines are read. */
struct gt_jsonl_graph {
    struct gt_task_graph *graph; /* the workload's */
    struct gt_refs *kinds, *counters, *buffers;
    struct gt_task_links after, made;
    struct gt_task_extra { /* unknown fields of its parts */
        enum gt_extra_of of;
        uint32_t index;
        char *json;
    } * extras;
    uint32_t extra_count, extra_room;
    bool complete; /* a kernel has named it */
};

/* What a reference to a part of the graph means: its name or its number, from 0 in the order of definitions.  Counters
 * and buffers come into being when they are first spoken of by name; kinds and numbers must be there: -1. */
int gt_jsonl_use_kind(struct gt_jsonl_graph *graph, const struct gt_json_token *ref, gt_task_kind_index *kind,
                      struct gt_error *error);
int gt_jsonl_use_counter(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *ref,
                         gt_task_counter_index *counter, struct gt_error *error);
int gt_jsonl_use_task_buffer(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *ref,
                             gt_task_buffer_index *buffer, struct gt_error *error);
/* Before `parts` parts come into being that a count stands for: -1 where these are too many. */
int gt_jsonl_count_parts(struct gt_jsonl *jsonl, uint64_t parts, struct gt_error *error);
/* A whole number up to `most`. */
int gt_jsonl_task_number(const struct gt_json_token *value, const char *name, uint64_t most, uint64_t *number,
                         struct gt_error *error);

/* The parts of a line: lists of kinds, buffers and counters (or how many), of tasks, or tasks by columns. */
int gt_jsonl_task_kinds(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                        struct gt_error *error);
int gt_jsonl_tasks(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                   struct gt_error *error);
int gt_jsonl_task_columns(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *object,
                          struct gt_error *error);

/* Keep the unknown fields of the part of the graph that was read last. */
void gt_jsonl_keep_task_unknown(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, enum gt_extra_of of,
                                uint32_t index);

/* Every line of the graph has been read: tasks come after, and make, what their links say.  A task that others come
 * after signals a counter of its name, once it has ended. */
int gt_jsonl_link_tasks(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, struct gt_error *error);

/* The graph that a kernel names, with its policy (NULL: the usual one for such a graph); the kernel has the most of
 * the resources of the graph's kinds and its own. */
int gt_jsonl_use_task_graph(struct gt_jsonl *jsonl, const struct gt_json_token *ref,
                            const struct gt_json_token *policy, struct gt_kernel *kernel, struct gt_error *error);
/* At the end of the file; the error names file and line. */
int gt_jsonl_finish_task_graphs(struct gt_jsonl *jsonl, const char *path, struct gt_error *error);
void gt_jsonl_free_task_graphs(struct gt_jsonl *jsonl);

#endif
