/* reader.h - what the parts of the trace reader share; FORMAT.md describes the format. */
#ifndef GRIDTIDE_TRACES_JSONL_READER_H
#define GRIDTIDE_TRACES_JSONL_READER_H

#include "sim/workload/workload.h"
#include "traces/io/json_line.h"
#include "traces/jsonl/fields.h"
#include "traces/jsonl/refs.h"

struct gt_jsonl {
    struct gt_workload *workload;
    const char *line; /* the text of the line at hand */
    uint32_t line_number;
    bool header_read;
    struct gt_unknown unknown;
    uint64_t misspelt_line; /* of the first field that is one slip from a known one; 0: none */
    uint32_t *range_calls;  /* of each range: how many calls its line says it holds; GT_NONE where it does not say */
    uint32_t range_room;
    uint64_t process;         /* of the call that is read */
    struct gt_refs *defaults; /* stream 0 of each process but that which spoke of it first: by the process's number */
    struct gt_refs *gpus, *streams, *threads, *events, *buffers, *kernels, *programs, *task_graphs, *groups;
    struct gt_jsonl_graph *graphs; /* of each task graph of the workload (task_lines.h) */
    uint32_t graph_count, graph_room;
    uint64_t read_bytes;    /* of lines so far */
    uint64_t counted_parts; /* parts of task graphs that a number stands for: gt_jsonl_count_parts() */
};

/* What a line is: found by the key that it has, in the order of the table. Each reads one line and
 * returns 0, or -1 with what is wrong (no file or line named). */
struct gt_jsonl_line {
    const char *key;
    int (*read)(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
};
extern const struct gt_jsonl_line gt_jsonl_lines[]; /* ended by a NULL key */

int gt_jsonl_header(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
/* What the header says of `gridtide record`'s cost. */
int gt_jsonl_recording(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_kernel(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_stream(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_event(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_thread(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_buffer(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_gpu(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_call(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_range(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_allocations(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_group(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_program(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_task_graph(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
int gt_jsonl_tasks_of(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error);
/* The profile of operation `op`, the last one added. */
int gt_jsonl_profile(struct gt_jsonl *jsonl, const struct gt_json_token *object, uint32_t op, struct gt_error *error);

/* What a reference (not NULL) means. Streams, events, threads and GPUs come into being when they are
 * first spoken of; a null is GT_NONE. */
uint32_t gt_jsonl_use_stream(struct gt_jsonl *jsonl, const struct gt_json_token *ref);
uint32_t gt_jsonl_use_event(struct gt_jsonl *jsonl, const struct gt_json_token *ref);
uint32_t gt_jsonl_use_thread(struct gt_jsonl *jsonl, const struct gt_json_token *ref);
int gt_jsonl_use_gpu(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *gpu,
                     struct gt_error *error); /* -1: null, or a number that no GPU has */
/* Buffers too, and go by texts: -1 for a number or null. */
int gt_jsonl_use_buffer(struct gt_jsonl *jsonl, const struct gt_json_token *ref, gt_buffer_index *buffer,
                        struct gt_error *error);
/* What the blocks of a kernel launch, which `own` is the key of: into its `launches`, freed by gt_launch_rules_free(). */
int gt_jsonl_launches(struct gt_jsonl *jsonl, const struct gt_json_token *list, const struct gt_json_token *own,
                      struct gt_kernel *kernel, struct gt_error *error);
/* What operation `op`, the last one added, reads or writes: a list, of that kind; the one end of a copy. */
int gt_jsonl_accesses(struct gt_jsonl *jsonl, const struct gt_json_token *list, uint32_t op,
                      const struct gt_buffer_access *kind, struct gt_error *error);
int gt_jsonl_copy_end(struct gt_jsonl *jsonl, const struct gt_json_token *end, uint32_t op, bool writes,
                      struct gt_error *error);
/* An allocation says how large its buffer is, and where it lies, as far as the call says it (0, GT_ADDRESS_NONE,
 * GT_MEMORIES: not said). */
int gt_jsonl_allocate(struct gt_jsonl *jsonl, gt_buffer_index buffer, uint64_t bytes, uint64_t address,
                      uint8_t memory, struct gt_error *error);
/* Kernels must have been defined: -1 with the names there are. */
int gt_jsonl_use_kernel(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *kernel,
                        struct gt_error *error);

/* Programs too; NULL and null mean none.  So do "runs" and "arguments", which are read into names. */
int gt_jsonl_use_program(struct gt_jsonl *jsonl, const struct gt_json_token *ref, const struct gt_program **program,
                         struct gt_error *error);
int gt_jsonl_library(struct gt_jsonl *jsonl, const struct gt_json_token *runs, const struct gt_json_token *arguments,
                     uint32_t *runs_name, uint32_t *arguments_name, struct gt_error *error);

/* Keep the unknown fields of the object last read. */
void gt_jsonl_keep_unknown(struct gt_jsonl *jsonl, enum gt_extra_of of, uint32_t index);

/* What a kind of call takes. */
struct gt_call_rule {
    bool stream; /* works on a stream: the default one unless it says another */
    bool event;  /* on an event */
    bool buffer; /* on a buffer */
    bool op;     /* puts one operation into its stream, of kind ... */
    uint8_t op_kind;
};
extern const struct gt_call_rule gt_call_rules[GT_CALL_KINDS];

/* The words for stream flags. */
struct gt_stream_flag_name {
    const char *name;
    uint32_t flag;
};
enum { GT_STREAM_FLAG_NAMES = 3 };
extern const struct gt_stream_flag_name gt_stream_flag_names[GT_STREAM_FLAG_NAMES];

/* The memory of an operation that does not say it: by its kind and direction. */
uint8_t gt_usual_memory(const struct gt_op *op);

#endif
