/* internal.h - what the parts of the XPlane importer share; inside it only. */
#ifndef GRIDTIDE_TRACES_XPLANE_INTERNAL_H
#define GRIDTIDE_TRACES_XPLANE_INTERNAL_H

#include "traces/import/builder.h"
#include "traces/xplane/xplane.pb-c.h"

/* Stats of events and of planes that mean something here. */
enum xplane_stat {
    XPLANE_CORRELATION,
    XPLANE_CONTEXT,
    XPLANE_KERNEL_DETAILS,
    XPLANE_COPY_DETAILS,
    XPLANE_MEMSET_DETAILS,
    XPLANE_GRAPH_EXECUTABLE,
    XPLANE_HLO_OP,
    XPLANE_STEP,
    XPLANE_ALLOCATOR,
    XPLANE_ADDRESS,
    XPLANE_ALLOCATION_BYTES,
    XPLANE_ALLOCATED_BYTES, /* of the allocator, with this one */
    XPLANE_VENDOR,
    XPLANE_GPU_NAME,
    XPLANE_CLOCK_KHZ,
    XPLANE_SMS,
    XPLANE_CAPABILITY_MAJOR,
    XPLANE_CAPABILITY_MINOR,
    XPLANE_STATS
};

/* A name of a plane, by its id. */
struct xplane_name {
    int64_t id;
    const char *text;
    const Xplane__EventMetadata *event; /* NULL: of a stat */
};

/* What is said about the GPU of a plane. */
struct xplane_gpu {
    uint32_t id;
    uint32_t name; /* gt_name(); GT_NONE */
    int64_t clock_khz, sms, major, minor;
};

/* The operator of the kernels that a call launched. */
struct xplane_operator {
    uint32_t correlation;
    uint32_t name; /* gt_name() */
};

struct xplane {
    struct gt_import import;
    const char *path;
    struct xplane_gpu *gpus;
    uint32_t gpu_count, gpu_room;
    struct xplane_operator *operators;
    uint32_t operator_count, operator_room;
    bool foreign;          /* a GPU of another maker than NVIDIA */
    const char *line_name; /* of the line at hand; NULL */
    /* Threads of the last call and of the last range of the line at hand; GT_NONE: it has none. */
    uint32_t caller, range_thread;
    /* The plane at hand, unpacked. */
    const Xplane__Plane *plane;
    struct xplane_name *events, *stats; /* by id */
    size_t event_count, stat_count;
    int64_t stat_ids[XPLANE_STATS]; /* INT64_MIN: no stat of the plane has that name */
};

/* The value of a stat. */
struct xplane_value {
    const char *text; /* NULL: it is no text */
    int64_t number;   /* of a text: 0 */
    bool there;
};

/* An event of the line at hand; texts are good as long as the plane. */
struct xplane_event {
    const char *name;
    int64_t line; /* its id: a stream or a thread */
    int64_t start_ns, end_ns;
    struct xplane_value values[XPLANE_STATS];
};

/* names.c: names and stats of a plane, from its unpacking to xplane_end_plane(). */
void xplane_begin_plane(struct xplane *xplane, const Xplane__Plane *plane);
void xplane_end_plane(struct xplane *xplane);
/* The values of such stats, where they are among these. */
void xplane_read_stats(const struct xplane *xplane, Xplane__Stat *const *stats, size_t count,
                       struct xplane_value values[XPLANE_STATS]);
/* The name of an event, and those of its stats that are its name's; "" where it has none. */
const char *xplane_event_name(const struct xplane *xplane, int64_t id, struct xplane_value values[XPLANE_STATS]);
/* What stands behind "KEY:" in a text such as "regs:32 grid:8,1,1", up to the next blank; NULL: it is not there. */
const char *xplane_detail(const char *text, const char *key);
/* A correlation number, GT_NO_CORRELATION where the event has none. */
uint32_t xplane_correlation(const struct xplane_event *event);

/* operations.c: an event of the plane of GPU `gpu`, which runs a kernel, a copy or a memset; others are passed over. */
void xplane_take_operation(struct xplane *xplane, uint32_t gpu, const struct xplane_event *event);
/* host.c: an event of a host's thread: a call of CUDA or HIP, or a range. */
void xplane_take_host_event(struct xplane *xplane, const struct xplane_event *event);
/* The name of the thread whose line is at hand, where it has calls or ranges. */
void xplane_name_thread(struct xplane *xplane, const char *name);
/* A range of the host's thread whose line has that id. */
void xplane_add_range(struct xplane *xplane, uint64_t thread, int64_t start_ns, int64_t end_ns, uint32_t name,
                      uint8_t kind);
/* operators.c: which ranges are operators of XLA, and ranges around calls that launched an operator's kernels outside of
 * any; after all planes. */
void xplane_add_operators(struct xplane *xplane);
/* memory.c: an allocation or its end.  False: the event is something else. */
bool xplane_take_memory(struct xplane *xplane, const struct xplane_event *event);
/* early_starts.c: kernels that waited for the end of the kernel ahead of them start with it; after all planes. */
void xplane_cut_early_starts(struct xplane *xplane);
/* gpus.c: what the stats of the plane at hand say about GPU `id`; and all of it to the workload, after all planes. */
void xplane_take_gpu(struct xplane *xplane, uint32_t id);
void xplane_describe_gpus(struct xplane *xplane);
/* planes.c: everything of one plane, from its bytes.  Returns 0; -1 with the reason, without the file's name. */
int xplane_read_plane(struct xplane *xplane, const uint8_t *bytes, size_t length, struct gt_error *error);

#endif
