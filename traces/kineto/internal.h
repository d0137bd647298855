/* internal.h - what the files of the Kineto importer share; for kineto*.c only.
 *
 *   kineto.c         reads the file, feeds yajl, says where an error is
 *   json.c    from JSON values to one struct kineto_event at a time
 *   category.c which kind of event
 *   event.c   what an event means: an operation, a call, a mark, a name
 *   range.c   operators, annotations, steps, modules
 *   inputs.c  operators' inputs: types and sizes, numbers
 *   collective.c   what a kernel, or its operator, says of the collective that it is a part of
 *   join.c    after the last event: processes, streams, what waits waited for
 *   device.c  from a device block to a device file's keys
 *   range.c operators and the allocator's doings, for tensors.h
 *   number.c  decimal text to whole numbers
 */
#ifndef GRIDTIDE_TRACES_KINETO_INTERNAL_H
#define GRIDTIDE_TRACES_KINETO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/import/builder.h"
#include "traces/kineto/tensors.h"

/* Whole numbers among an event's args: a row each, of what reads it (event.number[], kineto_has()) and what it is called. */
/* clang-format off */
#define KINETO_ARG_NUMBERS(ROW) \
    ROW(KINETO_DEVICE, "device") \
    ROW(KINETO_CONTEXT, "context") \
    ROW(KINETO_STREAM, "stream") \
    ROW(KINETO_CORRELATION, "correlation") \
    ROW(KINETO_BYTES, "bytes") \
    ROW(KINETO_REGISTERS, "registers per thread") \
    ROW(KINETO_SHARED_BYTES, "shared memory") \
    ROW(KINETO_OCCUPANCY, "est. achieved occupancy %") \
    ROW(KINETO_PRIORITY, "priority") \
    ROW(KINETO_FROM_DEVICE, "fromDevice") \
    ROW(KINETO_IN_DEVICE, "inDevice") \
    ROW(KINETO_TO_DEVICE, "toDevice") \
    ROW(KINETO_IN_CONTEXT, "inContext") \
    ROW(KINETO_WAIT_STREAM, "wait_on_stream") \
    ROW(KINETO_WAIT_RECORD, "wait_on_cuda_event_record_corr_id") \
    ROW(KINETO_WAIT_EVENT, "wait_on_cuda_event_id") \
    ROW(KINETO_EVENT, "event_id") \
    ROW(KINETO_EXTERNAL, "External id") \
    ROW(KINETO_IN_ELEMENTS, "In msg nelems") \
    ROW(KINETO_OUT_ELEMENTS, "Out msg nelems") \
    ROW(KINETO_GROUP_SIZE, "Group size") \
    ROW(KINETO_SEQUENCE, "Seq") \
    ROW(KINETO_FUNCTION, "Record function id") \
    ROW(KINETO_MEMORY_BYTES, "Bytes") \
    ROW(KINETO_ADDRESS, "Addr") \
    ROW(KINETO_DEVICE_TYPE, "Device Type") \
    ROW(KINETO_DEVICE_ID, "Device Id") \
    ROW(KINETO_ALLOCATED, "Total Allocated")
#define KINETO_ARG_FIELD(field, text) field,
/* clang-format on */

/* Whole numbers of an event, by the field they stand in. */
enum kineto_field {
    /* of the event itself */
    KINETO_TS,
    KINETO_DUR, /* nanoseconds */
    KINETO_PID,
    KINETO_TID,
    KINETO_ARG_NUMBERS(KINETO_ARG_FIELD) KINETO_NUMBERS,
    /* and what is no whole number */
    KINETO_PH = KINETO_NUMBERS,
    KINETO_CAT,
    KINETO_NAME,
    KINETO_ARGS,
    KINETO_ARG_NAME,
    KINETO_COLLECTIVE, /* texts of its args, in the order of kineto_event.texts */
    KINETO_DATATYPE,
    KINETO_GROUP_NAME,
    KINETO_GROUP_RANKS,
    KINETO_INPUT_SIZES, /* lists: of lists of numbers, of texts */
    KINETO_INPUT_TYPES,
    KINETO_INPUT_VALUES,
    KINETO_GRID,
    KINETO_BLOCK,
    KINETO_OTHER
};

enum { KINETO_TEXTS = KINETO_INPUT_SIZES - KINETO_COLLECTIVE };

/* Of a device block. */
enum kineto_property {
    KINETO_GPU_ID,
    KINETO_GPU_MAJOR,
    KINETO_GPU_MINOR,
    KINETO_GPU_BLOCK_THREADS,
    KINETO_GPU_SM_THREADS,
    KINETO_GPU_SM_REGISTERS,
    KINETO_GPU_WARP_THREADS,
    KINETO_GPU_BLOCK_SHARED,
    KINETO_GPU_BLOCK_SHARED_OPTIN,
    KINETO_GPU_SM_SHARED,
    KINETO_GPU_SMS,
    KINETO_PROPERTIES,
    KINETO_GPU_NAME = KINETO_PROPERTIES
};

enum kineto_category {
    KINETO_UNKNOWN, /* not said yet */
    KINETO_KERNEL,
    KINETO_COPY,
    KINETO_MEMSET,
    KINETO_CALL,
    KINETO_SYNC,
    KINETO_RECORD,
    KINETO_OPERATOR,
    KINETO_ANNOTATION,
    KINETO_INSTANT,
    KINETO_PYTHON,   /* functions: modules among them */
    KINETO_METADATA, /* ph "M" */
    KINETO_NO_INTEREST
};

/* A text of any length, its room kept from one use to the next. */
struct kineto_text {
    char *bytes;
    size_t length, room;
};

_Static_assert(KINETO_NUMBERS <= 32, "bits of kineto_event.present");

struct kineto_event {
    uint8_t phase; /* the first letter of ph; 0: not said yet */
    enum kineto_category category;
    uint32_t present; /* bit i: number[i] was there and is a whole number */
    int64_t number[KINETO_NUMBERS];
    int64_t shape[2][3]; /* grid, block; -1 where not said */
    struct kineto_text sizes, types,
        values; /* of an operator's inputs, each closed by ';': "8,128;;64,3+;", "float;Scalar;...", ";[1, 1];False;" */
    struct kineto_text name, arg_name, texts[KINETO_TEXTS];
};

struct kineto_gpu {
    uint32_t present;
    int64_t number[KINETO_PROPERTIES];
    char name[64];
};

/* A cuda_sync or cuda_event entry: what the call of that correlation was about. */
struct kineto_mark {
    uint64_t process; /* known once all is read */
    uint32_t correlation;
    uint32_t event;         /* the event's number, KINETO_NOTHING where not said */
    uint32_t record;        /* correlation of the record that was waited for, or KINETO_NOTHING */
    uint32_t stream;        /* as in workload->streams; GT_NONE */
    uint32_t record_stream; /* where that record was put; GT_NONE */
    uint32_t
        device; /* of the context that was current: whose work a device's synchronisation waits for; KINETO_NOTHING */
    uint32_t calls_before; /* calls read before it */
    bool is_record;        /* cuda_event */
};
#define KINETO_NOTHING    UINT32_MAX
#define KINETO_NO_PROCESS UINT64_MAX

struct kineto_thread_name {
    uint64_t process, id;
    char text[64];
};

struct kineto {
    struct gt_import import;
    struct kineto_event event; /* the one being read */
    struct kineto_gpu *gpus;
    uint32_t gpu_count;
    struct kineto_mark *marks;
    uint32_t mark_count, mark_room;
    struct kineto_tensors tensors;
    bool wants_tensors; /* an execution trace is beside the profile */
    struct kineto_thread_name *thread_names;
    uint32_t thread_name_count, thread_name_room;
    uint32_t *externals; /* of the kernel of each of import.collectives: its External id */
    uint32_t external_room;
    struct gt_collective_notes announced; /* by operators, whose External id is in `op` */
    bool several_processes;               /* calls of more than one pid */
    bool has_hip;                         /* calls of HIP: the GPU is of AMD */
    bool has_events;                      /* a list of events was there */
    bool has_priorities;                  /* an operation says its stream's */
    uint64_t last_pid, last_tid;          /* of `last_thread`, the last call's */
    uint32_t last_thread;
    int64_t base_ns; /* that times count from, since 1970 */
    int64_t rank;    /* of the job's process that was recorded; -1: not said */
    int64_t ranks;   /* of the job; 0: not said */
};

static inline const struct kineto_text *kineto_text(const struct kineto_event *event, enum kineto_field field)
{
    return &event->texts[field - KINETO_COLLECTIVE];
}

static inline bool kineto_has(const struct kineto_event *event, enum kineto_field field)
{
    return event->present >> field & 1;
}

/* The External id; 0 where there is none. */
static inline uint32_t kineto_external(const struct kineto_event *event)
{
    int64_t number = kineto_has(event, KINETO_EXTERNAL) ? event->number[KINETO_EXTERNAL] : 0;

    return number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* The JSON text times 10^power, rounded to the nearest whole number. False when it is no number
 * or beyond +-2^62. */
bool kineto_number(const char *text, size_t length, int power, int64_t *value);
/* A number out of text: "7" and "stream 7" are 7; a text without digits at its end is a number of
 * its own. */
int64_t kineto_number_of_text(const char *text, size_t length);

/* The kind of event of that category; KINETO_NO_INTEREST where it is none of those read. */
enum kineto_category kineto_category_of(const char *name, size_t length);

/* Take the event that was just read. Returns 0, or -1 with what is wrong with it. */
int kineto_take_event(struct kineto *kineto, struct gt_error *error);

/* Begin and end in nanoseconds; a duration that is missing or negative counts as 0. -1 where no start is told. */
int kineto_span(struct kineto *kineto, int64_t *start_ns, int64_t *end_ns, struct gt_error *error);
/* Thread numbers were printed as 32 signed bits for a while: the upper half came out negative. */
uint64_t kineto_thread_number(int64_t number);

/* The event's kernel, which is gathered operation `op` and called `name`: note which collective it is a part of, if any. */
void kineto_note_collective(struct kineto *kineto, uint32_t op, const char *name);
/* The event is an operator: keep what it says of the collective that it asks for, if it does. */
void kineto_announce_collective(struct kineto *kineto);
/* After the last event: such words to the kernels that say nothing themselves. */
void kineto_give_announced(struct kineto *kineto);

/* Take an event that is a range of its thread's time; one that cannot be read is counted and left out. Returns 0. */
int kineto_take_range(struct kineto *kineto, struct gt_error *error);
/* The inputs of the event, which is an operator, as a name (sim/workload/tensor.h); GT_NONE where no tensor is among them. */
uint32_t kineto_name_inputs(struct kineto *kineto);
/* Bytes of its first input, if that is a tensor; 0: not said, or more than any memory holds. */
uint64_t kineto_first_input_bytes(const struct kineto *kineto, uint32_t inputs);
/* Does the event make a gradient ready for the optimiser, which is its first input? */
bool kineto_is_gradient(const struct kineto_event *event);
/* Is an instant of that name one of the allocator? */
bool kineto_is_memory(const char *name, size_t length);
/* Is a Python function of that name a module of PyTorch's? */
bool kineto_is_module(const char *name, size_t length);

/* Remember an operator, or what the allocator did.  Returns 0. */
void kineto_take_function(struct kineto *kineto);
int kineto_take_instant(struct kineto *kineto, struct gt_error *error);

/* After the last event: give operations and marks their process, and marks to their calls. */
void kineto_join(struct kineto *kineto);
/* Device name and settings of the workload, names of its GPUs. */
void kineto_describe_device(struct kineto *kineto);

/* SMs of the first GPU that the profile describes; 0 where it describes none. */
uint32_t kineto_sms(const struct kineto *kineto);

/* The JSON side: yajl's callbacks with a struct kineto_json as their context. */
struct kineto_json {
    struct kineto *kineto;
    struct gt_error *error;
    uint64_t containers; /* those open, the innermost in bit 0: 1 an object, 0 an array */
    unsigned depth;
    unsigned skip;   /* how many open ones are of no interest */
    bool skip_event; /* the outermost of them is an event */
    bool list;       /* the file is a list of events */
    uint8_t state;
    uint8_t field;   /* of the value to come */
    uint8_t triple;  /* numbers of a grid or block read, inputs' sizes or types begun */
    uint64_t values; /* read so far */
};
enum { KINETO_DEPTH_MAX = 64 };
struct yajl_callbacks_s;
void kineto_json_begin(struct kineto_json *json, struct kineto *kineto, struct gt_error *error);
const void *kineto_json_callbacks(void); /* a const yajl_callbacks */

#endif
