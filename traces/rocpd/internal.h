/* internal.h - what the parts of the rocpd importer share; inside it only. */
#ifndef GRIDTIDE_TRACES_ROCPD_INTERNAL_H
#define GRIDTIDE_TRACES_ROCPD_INTERNAL_H

#include "traces/import/builder.h"
#include "traces/import/cuda_api.h"
#include "traces/import/index_map.h"
#include "traces/io/json_line.h"
#include "traces/tables/db.h"

enum { ROCPD_SUFFIX_BYTES = 64, ROCPD_TABLE_BYTES = 128 };

struct rocpd_text;  /* strings, kernels' names and messages met so far */
struct rocpd_agent; /* CPUs and GPUs */

/* The pointers that a call got: rocpd_arg. */
struct rocpd_arguments {
    int64_t event_id;
    uint64_t stream, event;
    bool has_stream, has_event;
};

/* A call that means a stream or an event, until all operations are there. */
struct rocpd_mark {
    struct rocpd_arguments arguments;
    uint64_t process;
    int64_t start_ns;
    uint32_t call; /* in import.calls */
};

/* Lookups by id, prepared when the first row asks. */
enum rocpd_lookup {
    ROCPD_STRING,
    ROCPD_CATEGORY,
    ROCPD_KERNEL,
    ROCPD_EVENT,
    ROCPD_TIMESTAMP,
    ROCPD_TRACK,
    ROCPD_LOOKUPS
};

struct rocpd {
    struct gt_db db;
    struct gt_import import;
    /* A file holds a set of tables for each process that was profiled; those of one end in its suffix. */
    char (*suffixes)[ROCPD_SUFFIX_BYTES];
    uint32_t suffix_count, suffix_room;
    uint32_t set;    /* the one at hand */
    bool categories; /* it has a table of them; else they are strings */
    struct gt_query *lookups[ROCPD_LOOKUPS];
    char lookup_tables[ROCPD_LOOKUPS][ROCPD_TABLE_BYTES];
    struct rocpd_text *texts;
    struct gt_json_line *json;
    struct rocpd_agent *agents;
    uint32_t agent_count, agent_room;
    struct gt_index_map *streams; /* by process, number and GPU; with GT_NONE for the GPU the first of that number */
    bool by_queue;                /* the set has no streams: its queues stand for them */
    struct rocpd_arguments *arguments;
    size_t argument_count, argument_room;
    struct rocpd_mark *marks;
    size_t mark_count, mark_room;
};

/* The columns that say where and when a row was, first in every table.  Newer files name a track and two time stamps where
 * older ones have the numbers themselves. */
enum rocpd_place_column {
    ROCPD_AT_PROCESS,
    ROCPD_AT_THREAD,
    ROCPD_AT_AGENT,
    ROCPD_AT_QUEUE,
    ROCPD_AT_STREAM,
    ROCPD_AT_START,
    ROCPD_AT_END,
    ROCPD_AT_TRACK,
    ROCPD_AT_START_ID,
    ROCPD_AT_END_ID,
    ROCPD_AT_EVENT,
    ROCPD_PLACE_COLUMNS
};
#define ROCPD_PLACE_ROWS                                             \
    [ROCPD_AT_PROCESS] = { "pid", GT_DB_MAY_LACK, GT_DB_U32 },       \
    [ROCPD_AT_THREAD] = { "tid", GT_DB_MAY_LACK, GT_DB_TIME },       \
    [ROCPD_AT_AGENT] = { "agent_id", GT_DB_MAY_LACK, GT_DB_ANY },    \
    [ROCPD_AT_QUEUE] = { "queue_id", GT_DB_MAY_LACK, GT_DB_ANY },    \
    [ROCPD_AT_STREAM] = { "stream_id", GT_DB_MAY_LACK, GT_DB_ANY },  \
    [ROCPD_AT_START] = { "start", GT_DB_MAY_LACK, GT_DB_TIME },      \
    [ROCPD_AT_END] = { "end", GT_DB_MAY_LACK, GT_DB_TIME },          \
    [ROCPD_AT_TRACK] = { "track_id", GT_DB_MAY_LACK, GT_DB_ANY },    \
    [ROCPD_AT_START_ID] = { "start_id", GT_DB_MAY_LACK, GT_DB_ANY }, \
    [ROCPD_AT_END_ID] = { "end_id", GT_DB_MAY_LACK, GT_DB_ANY },     \
    [ROCPD_AT_EVENT] = { "event_id", GT_DB_MAY_LACK, GT_DB_ANY }

struct rocpd_place {
    uint64_t process;       /* tells processes of all sets apart */
    uint64_t shown_process; /* its number */
    uint64_t thread;
    int64_t agent, queue, stream; /* GT_DB_NULL where the row does not say */
    int64_t start_ns, end_ns;
};

/* lookups.c.  All return 0, or -1 with the reason. */
/* The name of a table of the set at hand. */
void rocpd_table_name(const struct rocpd *rocpd, const char *table, char name[ROCPD_TABLE_BYTES]);
/* Read every row of a table of the set, which may be missing. */
int rocpd_each_row(struct rocpd *rocpd, const char *table, const struct gt_db_column *columns, size_t count,
                   int (*row)(void *user, const struct gt_db_rows *rows, struct gt_error *error),
                   struct gt_error *error);
/* Where and when the row at hand was; its columns begin with ROCPD_PLACE_ROWS. */
int rocpd_read_place(struct rocpd *rocpd, const struct gt_db_rows *rows, struct rocpd_place *place,
                     struct gt_error *error);
/* The string of that id, good as long as `rocpd`; NULL where there is none, or it is no text. */
int rocpd_string(struct rocpd *rocpd, int64_t id, const char **text, struct gt_error *error);
int rocpd_kernel_name(struct rocpd *rocpd, int64_t id, const char **text, struct gt_error *error);
/* Of an event: the number that calls and their operations share (GT_NO_CORRELATION), its category, and the JSON that
 * belongs to it, good until the next event (NULL: none).  `extra` may be NULL. */
struct rocpd_event {
    uint32_t correlation;
    const char *category;
};
int rocpd_read_event(struct rocpd *rocpd, int64_t id, struct rocpd_event *event, const char **extra,
                     struct gt_error *error);
/* Finish the lookups of a set; of all. */
void rocpd_end_lookups(struct rocpd *rocpd);
void rocpd_free_texts(struct rocpd *rocpd);

/* agents.c: CPUs and GPUs. */
int rocpd_read_agents(struct rocpd *rocpd, struct gt_error *error);
/* The number of an agent among the GPUs; GT_NONE for a CPU and for one that the file does not have. */
uint32_t rocpd_gpu(const struct rocpd *rocpd, int64_t agent);
/* Name the workload's GPUs and describe the one that works first; after all operations. */
void rocpd_describe_gpus(struct rocpd *rocpd);

/* operations.c: kernels and copies. */
int rocpd_read_operations(struct rocpd *rocpd, struct gt_error *error);
/* The first stream of that number of a process, if an operation ran in it; GT_NONE. */
uint32_t rocpd_known_stream(struct rocpd *rocpd, uint64_t process, int64_t stream);

/* regions.c: calls of HIP; markers (ROCTX) and collectives (RCCL) as ranges. */
int rocpd_read_regions(struct rocpd *rocpd, struct gt_error *error);

/* targets.c: which stream or event calls meant, by the pointers that they got. */
int rocpd_read_arguments(struct rocpd *rocpd, struct gt_error *error);
/* The arguments of the call with this event; NULL: none that matters. */
const struct rocpd_arguments *rocpd_arguments_of(const struct rocpd *rocpd, int64_t event_id);
/* After all regions of all sets. */
void rocpd_resolve_targets(struct rocpd *rocpd);

#endif
