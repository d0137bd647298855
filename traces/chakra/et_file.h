/* et_file.h - one rank's execution trace as it stands in its file, checked. */
#ifndef GRIDTIDE_TRACES_CHAKRA_ET_FILE_H
#define GRIDTIDE_TRACES_CHAKRA_ET_FILE_H

#include "traces/import/importer.h"

#define GT_ET_NONE UINT64_MAX

/* A node.  Attributes may be missing, and written as any type of number. */
struct gt_et_node {
    uint64_t id;
    uint64_t start_us, duration_us;
    uint64_t start_ns, duration_ns;               /* Gridtide's attributes; GT_ET_NONE */
    uint64_t num_ops, tensor_size;                /* 0: not stated */
    uint64_t comm_size;                           /* 0: not stated */
    uint64_t stream, device, tid;                 /* GT_ET_NONE: not stated */
    uint64_t buffer, buffer_bytes, buffer_device; /* of calls that allocate or free; GT_ET_NONE: not stated */
    uint64_t context, event, sequence;
    uint64_t first_dep; /* its dependences, as places in the list of nodes, are deps[first_dep ..] */
    uint32_t deps;
    uint32_t submitted_by;                                                     /* of ctrl_deps, the first; GT_NONE */
    uint32_t name, group, datatype;                                            /* in names; GT_NONE */
    uint32_t grid[3], block[3], registers, shared_bytes, dynamic_shared_bytes; /* 0: not stated */
    uint32_t src, dst;                                                         /* ranks; GT_NONE */
    uint32_t root;
    int32_t priority;
    uint8_t type;                               /* NodeType */
    uint8_t collective;                         /* gt_collective_kind */
    uint8_t call, operation, direction, memory; /* those of workload.h; UINT8_MAX: not stated */
    uint8_t call_flags, stream_flags;
    uint8_t part; /* gt_et_part */
    bool on_cpu;
};

/* What Gridtide's own files have beside calls and operations. */
enum gt_et_part { GT_ET_WHOLE, GT_ET_GAP, GT_ET_RETURN, GT_ET_HOST_WORK, GT_ET_RECEIVE };

struct gt_et_file {
    struct gt_workload *workload; /* that is to be made; it has the names */
    struct gt_et_node *nodes;
    uint32_t count, room;
    uint32_t *deps;
    uint64_t dep_count, dep_room;
    uint64_t lost_parents; /* ctrl_deps on nodes that are not there */
    uint32_t rank;         /* GT_NONE: not stated */
    char *device, *name;   /* of the trace; NULL: not stated */
};

/* Read it into `file`, whose workload is set and all else zero.  No two nodes have one id, and each data dependence is there.
 * -1 with "PATH: ...".  gt_et_file_free() ends it either way, but for the workload. */
int gt_et_file_read(struct gt_et_file *file, const char *path, const struct gt_import_options *options,
                    struct gt_error *error);
void gt_et_file_free(struct gt_et_file *file);

/* Could it be the beginning of such a file?  0 to 100. */
int gt_et_file_sniff(const unsigned char *head, size_t bytes);

#endif
