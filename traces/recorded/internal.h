/* internal.h - the state of reading a folder of records; for traces/recorded alone.
 *
 *  recorded.c    the importer: which files there are, in which order they are read
 *  file.c        a file's records, checked, by kind
 *  describe.c    names, GPUs, contexts, streams, threads
 *  memory.c      allocations as buffers, and what pointers lead to
 *  calls.c       calls, and which event each meant
 *  operations.c  kernels, copies and memsets, and what they read and write
 *  bodies.c      operations of graphs' conditional nodes
 *  givers.c      whose parameters an operation has: its call's, its node's
 *  pieces.c      memory of copies and memsets
 *  parameters.c  which parameters of a kernel are pointers, by its name
 *  graphs.c      which nodes of a graph come after which
 *  hosts.c       host functions, which CUPTI does not time; host_nodes.c: those in graphs
 *  loads.c       launches that loaded their kernel's code
 *  ranges.c      NVTX
 *  costs.c       what recording took itself
 */
#ifndef GRIDTIDE_TRACES_RECORDED_INTERNAL_H
#define GRIDTIDE_TRACES_RECORDED_INTERNAL_H

#include "traces/import/builder.h"
#include "traces/io/input.h"
#include "traces/recorded/parameters.h"
#include "traces/recorded/records.h"

/* Records of one kind. */
struct gt_recorded_list {
    const void **items;
    uint32_t count, room;
};

/* An allocation, for as long as it was there. */
struct gt_recorded_memory {
    uint64_t address, bytes, start_ns, end_ns;
    uint32_t buffer;
    bool pooled; /* several things lie in it: pointers lead to its inside too */
};

/* A host function in a graph's launch: an operation that was made up. */
struct gt_recorded_host_node {
    uint64_t node;
    uint32_t correlation, op; /* of the launch; among the import's */
};

struct gt_recorded_process {
    unsigned char *bytes;
    uint64_t size;
    uint64_t key; /* tells processes apart: exec makes another one of a pid */
    const struct gt_recorded_header *header;
    struct gt_recorded_list lists[GT_RECORDED_KINDS];
    uint32_t *names;        /* by number: of the workload; GT_NONE */
    uint32_t *kernel_names; /* by number: kernels' names as the source has them; GT_NONE */
    uint32_t *call_names;   /* by number: names of CUDA functions as people know them; GT_NONE */
    uint32_t name_count;
    struct gt_recorded_memory *memory; /* by address, then time */
    uint32_t memory_count, memory_room;
    const struct gt_record_call **by_correlation;
    struct gt_parameter_types *types;       /* of kernels, by their names' numbers; count UINT32_MAX: not read yet */
    const struct gt_record_node **outer;    /* nodes that are graphs */
    const struct gt_record_node **by_graph; /* all nodes, by their graphs, each once */
    uint32_t by_graph_count;
    struct {
        uint32_t one, other;
        bool yes;
    } alike;     /* of two graphs, asked last */
    bool *taken; /* pieces that are an operation's */
    uint32_t outer_count;
    struct gt_recorded_host_node *host_nodes;
    uint32_t host_node_count, host_node_room;
    uint32_t *loads; /* correlations of launches that loaded code, sorted */
    uint32_t load_count;
    uint32_t *with_bodies; /* correlations of launches of graphs whose conditional nodes ran something */
    uint32_t with_body_count, with_body_room;
    uint32_t *stream_context; /* the context of a stream that the program made, by its number, and 1 more; 0: none */
    uint32_t stream_context_count;
    uint32_t first_thread, first_op; /* of this process, among the workload's and the import's */
};

/* An event that processes share (cudaIpcGetEventHandle). */
struct gt_recorded_shared {
    uint64_t mark;  /* of its handle */
    uint32_t event; /* of the workload */
};

struct gt_recorded {
    struct gt_import import;
    struct gt_recorded_shared *shared;
    uint32_t shared_count, shared_room;
    const char *path;
    const char *folder; /* of all files; NULL: one was named */
    struct gt_recorded_process *processes;
    uint32_t process_count, process_room;
    struct gt_recorded_gpu { /* by number in the trace */
        const struct gt_record_gpu *record;
        uint32_t id;
    } * gpus;
    uint32_t gpu_count, gpu_room;
    uint64_t pick_up_ns; /* from the end of what is before a host function to its start */
};

/* costs.c: of a call's time, in which CUPTI held it up; and what recording cost, for the header. */
void gt_recorded_sort_overheads(struct gt_recorded_process *process);
uint64_t gt_recorded_held_ns(const struct gt_recorded_process *process, const struct gt_record_call *call);
void gt_recorded_tell_cost(struct gt_recorded *recorded);

/* file.c: read the file into `process`, zeroed. Returns 0, or -1. */
int gt_recorded_load(struct gt_recorded_process *process, const char *path, struct gt_input *opened,
                     struct gt_error *error);
void gt_recorded_unload(struct gt_recorded_process *process);
/* The records of a kind as pointers to its structure. */
#define GT_RECORDS(process, kind)      ((process)->lists[kind].items)
#define GT_RECORD_COUNT(process, kind) ((process)->lists[kind].count)

/* describe.c */
void gt_recorded_describe(struct gt_recorded *recorded, struct gt_recorded_process *process);
uint32_t gt_recorded_name(const struct gt_recorded_process *process, uint32_t name);
uint32_t gt_recorded_call_name(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t name);
uint32_t gt_recorded_kernel_name(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t name);
/* The stream that a context has under that number; that a call's handle means, GT_NONE: unknown. */
uint32_t gt_recorded_stream(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t gpu,
                            uint32_t context, uint32_t id);
uint32_t gt_recorded_stream_meant(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                                  const struct gt_record_call *call);
/* What the process calls GPU `id`, in the trace. */
uint32_t gt_recorded_gpu_id(const struct gt_recorded *recorded, const struct gt_recorded_process *process,
                            uint32_t id);
/* The first GPU as a device, after all processes were described. */
void gt_recorded_describe_device(struct gt_recorded *recorded);

/* memory.c: after the calls were sorted, before they are added. */
void gt_recorded_find_memory(struct gt_recorded *recorded, struct gt_recorded_process *process);
/* The allocation that holds the address at that time; NULL. */
const struct gt_recorded_memory *gt_recorded_memory_at(const struct gt_recorded_process *process, uint64_t address,
                                                       uint64_t time_ns);

/* loads.c: which launches loaded their kernel's code, so that the GPU finished what it had first; before calls are added. */
void gt_recorded_find_loads(struct gt_recorded_process *process);
bool gt_recorded_loads_code(const struct gt_recorded_process *process, const struct gt_record_call *call);

/* calls.c: sorts them by time. */
void gt_recorded_sort_calls(struct gt_recorded_process *process);
void gt_recorded_add_calls(struct gt_recorded *recorded, struct gt_recorded_process *process);
/* The call of a correlation; NULL. */
const struct gt_record_call *gt_recorded_find_call(const struct gt_recorded_process *process, uint32_t correlation);

/* operations.c */
void gt_recorded_add_ops(struct gt_recorded *recorded, struct gt_recorded_process *process);

/* givers.c: who gave the operation its parameters. False: that cannot be told any more. */
void gt_recorded_sort_givers(struct gt_recorded_process *process);
bool gt_recorded_giver_of(struct gt_recorded_process *process, const struct gt_record_op *op,
                          struct gt_recorded_giver *giver);
/* What it gave, of LAUNCH or PIECE: how many records, from *first on. */
uint32_t gt_recorded_given(const struct gt_recorded_process *process, enum gt_recorded_kind kind,
                           const struct gt_recorded_giver *giver, uint32_t *first);

/* bodies.c: operations of conditional nodes are given to the launches of their graphs, before operations are added. */
void gt_recorded_find_bodies(struct gt_recorded *recorded, struct gt_recorded_process *process);
bool gt_recorded_has_body(const struct gt_recorded_process *process, uint32_t correlation);

/* pieces.c: what a copy or memset, operation `op` of the import, reads and writes. */
void gt_recorded_add_pieces(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t op,
                            const struct gt_record_op *record, const struct gt_recorded_giver *giver);

/* graphs.c: first sort what is known of graphs; then edges between the operations added. */
void gt_recorded_sort_graphs(struct gt_recorded_process *process);
void gt_recorded_add_edges(struct gt_recorded *recorded, struct gt_recorded_process *process);
const struct gt_record_node *gt_recorded_node(const struct gt_recorded_process *process, uint64_t node);
/* The node that another is a copy of. */
uint64_t gt_recorded_original(const struct gt_recorded_process *process, uint64_t node);
/* The first record of that executable graph, among GRAPH's, or of the next one. */
uint32_t gt_recorded_first_graph(const struct gt_recorded_process *process, uint64_t executable);
/* What that executable graph was made from; NULL: not known. */
const struct gt_record_graph *gt_recorded_graph(const struct gt_recorded_process *process, uint64_t executable);

/* hosts.c: an operation that stands for a host function, between the end of what was before and the start of what was
 * next. */
struct gt_import_op *gt_recorded_add_host_op(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                                             const struct gt_record_call *call, uint32_t stream, uint64_t before_ns,
                                             uint64_t next_ns);
/* Of streams; host_nodes.c: of graphs, before their edges */
void gt_recorded_add_host_nodes(struct gt_recorded *recorded, struct gt_recorded_process *process);
void gt_recorded_add_host_functions(struct gt_recorded *recorded, struct gt_recorded_process *process);
/* ranges.c */
void gt_recorded_add_ranges(struct gt_recorded *recorded, struct gt_recorded_process *process);

#endif
