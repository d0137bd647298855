/* internal.h - what the parts of the Nsight Systems importer share; inside it only. */
#ifndef GRIDTIDE_TRACES_NSYS_INTERNAL_H
#define GRIDTIDE_TRACES_NSYS_INTERNAL_H

#include "traces/import/builder.h"
#include "traces/import/cuda_api.h"
#include "traces/tables/db.h"

struct gt_nsys_string;      /* StringIds met so far */
struct gt_nsys_context;     /* which device a context is on */
struct gt_nsys_stream_info; /* TARGET_INFO_CUDA_STREAM */
struct gt_nsys_device;      /* TARGET_INFO_CUDA_DEVICE */

/* One cudaEventRecord. */
struct gt_nsys_record {
    uint64_t process;
    int64_t event_id, sync_id; /* GT_DB_NULL where the schema has none */
    uint64_t correlation;
    uint32_t event; /* in the workload */
};

/* Which number of an ENUM_ table means what. */
enum { GT_NSYS_MEANINGS = 128 };
struct gt_nsys_meanings {
    int8_t of[GT_NSYS_MEANINGS]; /* -1: no meaning known */
};

struct gt_nsys {
    struct gt_db db;
    struct gt_import import;
    struct gt_query *string_query; /* NULL: there is no StringIds */
    struct gt_nsys_string *strings;
    struct gt_nsys_context *contexts;
    struct gt_nsys_stream_info *stream_infos; /* by process, context, stream */
    size_t stream_info_count;
    struct gt_nsys_device *devices; /* by process and number there */
    size_t device_count, device_room;
    struct gt_nsys_record *records;
    size_t record_count, record_room;
    struct gt_nsys_meanings copy_kinds;   /* gt_direction */
    struct gt_nsys_meanings memory_kinds; /* gt_memory */
};

/* The range that numbers of devices are held to. */
#define GT_NSYS_DEVICE 0, 65535

/* A process as in globalPid and globalTid: host, virtual machine and process number. */
static inline uint64_t gt_nsys_process(int64_t global)
{
    return global == GT_DB_NULL ? 0 : (uint64_t)global >> 24;
}
static inline uint64_t gt_nsys_shown_process(uint64_t process)
{
    return process & 0xffffff;
}

/* names.c: StringIds. Both give names of the workload; *name is GT_NONE for an id that is
 * GT_DB_NULL or has no string. Return 0 or -1. */
int gt_nsys_names_open(struct gt_nsys *nsys, struct gt_error *error);
void gt_nsys_names_close(struct gt_nsys *nsys);
int gt_nsys_name(struct gt_nsys *nsys, int64_t id, uint32_t *name, struct gt_error *error);
/* An API function's name without its version; *api NULL when it only takes host time. */
int gt_nsys_api_name(struct gt_nsys *nsys, int64_t id, uint32_t *name, const struct gt_cuda_api **api,
                     struct gt_error *error);

/* report.c: open the database of a report (.nsys-rep), which the program `nsys` exports into $TMPDIR. */
int gt_nsys_report_open(struct gt_db *db, const char *report, const struct gt_import_options *options,
                        struct gt_error *error);
/* What wrote the databases. */
extern const struct gt_db_maker gt_nsys_maker;

/* gpus.c: the number of the GPU that a process calls `device`; the same where the file does not say. */
int gt_nsys_read_devices(struct gt_nsys *nsys, struct gt_error *error); /* before any operation */
uint32_t gt_nsys_gpu(const struct gt_nsys *nsys, uint64_t process, int64_t device);

/* info.c: what is said about streams, contexts, GPUs, threads. */
struct gt_nsys_meaning {
    int number;       /* where the file has no such table */
    const char *name; /* in the column "name" where it has */
    int meaning;
};
int gt_nsys_read_meanings(struct gt_nsys *nsys, const char *table, const struct gt_nsys_meaning *known, size_t count,
                          struct gt_nsys_meanings *meanings, struct gt_error *error);
int gt_nsys_read_streams(struct gt_nsys *nsys, struct gt_error *error); /* before any operation */
int gt_nsys_read_gpus(struct gt_nsys *nsys, struct gt_error *error);    /* after all operations */
int gt_nsys_read_threads(struct gt_nsys *nsys, struct gt_error *error); /* after all calls */
void gt_nsys_info_free(struct gt_nsys *nsys);
/* The stream of an operation, whose device is to be trusted. */
uint32_t gt_nsys_stream(struct gt_nsys *nsys, uint64_t process, int64_t device, int64_t context, int64_t stream);
/* The stream that a synchronisation or event means: on its context's device, where that is known
 * (the device in such rows is not always right). GT_NONE for numbers that mean no stream. */
uint32_t gt_nsys_stream_meant(struct gt_nsys *nsys, uint64_t process, int64_t device, int64_t context,
                              int64_t stream);

/* operations.c: kernels, copies, memsets, whole graphs. */
int gt_nsys_read_ops(struct gt_nsys *nsys, struct gt_error *error);
/* calls.c: calls, event records, waits and synchronisations. */
int gt_nsys_read_calls(struct gt_nsys *nsys, struct gt_error *error);
int gt_nsys_read_records(struct gt_nsys *nsys, struct gt_error *error);
int gt_nsys_read_syncs(struct gt_nsys *nsys, struct gt_error *error); /* after the records */
/* ranges.c: what NVTX marks on threads; after the calls. */
int gt_nsys_read_ranges(struct gt_nsys *nsys, struct gt_error *error);

#endif
