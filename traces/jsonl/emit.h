/* emit.h - the lines of a trace on their way out: fields, references, kept unknown fields. */
#ifndef GRIDTIDE_TRACES_JSONL_EMIT_H
#define GRIDTIDE_TRACES_JSONL_EMIT_H

#include <yajl/yajl_gen.h>

#include "sim/workload/workload.h"
#include "traces/io/output.h"
#include "traces/jsonl/keys.h"

struct gt_emit {
    const struct gt_workload *workload;
    struct gt_output *output;
    struct gt_error *error;
    struct gt_keys keys;
    uint32_t *extras; /* indexes of the workload's extras, by (of, index), as they came in */
    yajl_gen gen;     /* the part of a line that is not yet in `output` */
    bool failed;      /* nothing more is written; `error` says why */
};

void gt_emit_begin(struct gt_emit *emit, const struct gt_workload *workload, struct gt_output *output,
                   struct gt_error *error);
void gt_emit_end(struct gt_emit *emit);

/* An object of a line; its unknown fields are written at its end. */
void gt_emit_open(struct gt_emit *emit);
void gt_emit_close(struct gt_emit *emit, enum gt_extra_of of, uint32_t index);
/* Has the object unknown fields? */
bool gt_emit_has_extra(const struct gt_emit *emit, enum gt_extra_of of, uint32_t index);
void gt_emit_newline(struct gt_emit *emit);

/* Fields. Texts must be UTF-8; NULL is null. Times end in _ns; GT_TIME_NONE and false write nothing. */
void gt_emit_key(struct gt_emit *emit, const char *name);
void gt_emit_text(struct gt_emit *emit, const char *name, const char *value);
void gt_emit_any_text(struct gt_emit *emit, const char *name, const char *value); /* UTF-8 or not */
void gt_emit_number(struct gt_emit *emit, const char *name, uint64_t value);
void gt_emit_signed(struct gt_emit *emit, const char *name, int64_t value);
void gt_emit_time(struct gt_emit *emit, const char *name, gt_time_ps time);
void gt_emit_flag(struct gt_emit *emit, const char *name, bool value);
void gt_emit_ref(struct gt_emit *emit, const char *name, const struct gt_key *key);
void gt_emit_json(struct gt_emit *emit, const char *name, const char *json); /* a value as it stands */
void gt_emit_size3(struct gt_emit *emit, const char *name, const uint32_t size[3]);
/* A row of plain_fields.h, of *from, where that is not 0. */
#define GT_EMIT_PLAIN(member, ctype, type, key, store) \
    if (from->member != 0)                             \
        GT_EMIT_##type(key, from->member);
#define GT_EMIT_U32(key, value)  gt_emit_number(emit, key, value)
#define GT_EMIT_U64(key, value)  gt_emit_number(emit, key, value)
#define GT_EMIT_BOOL(key, value) gt_emit_flag(emit, key, value)
#define GT_EMIT_TIME(key, value) gt_emit_time(emit, key "_ns", value)

/* A field that is a list, and values of lists. */
void gt_emit_open_list(struct gt_emit *emit, const char *name);
void gt_emit_close_list(struct gt_emit *emit);
void gt_emit_key_value(struct gt_emit *emit, const struct gt_key *key);
void gt_emit_time_value(struct gt_emit *emit, gt_time_ps time);
void gt_emit_signed_value(struct gt_emit *emit, int64_t value);

void gt_emit_number_value(struct gt_emit *emit, uint64_t value);
void gt_emit_mean_value(struct gt_emit *emit, double value); /* six digits */

/* What the header has of `gridtide record`'s cost (write.c). */
void gt_emit_recording(struct gt_emit *emit);
/* One program, and the profile of an operation (write_program.c). */
void gt_emit_program(struct gt_emit *emit, uint32_t index);
void gt_emit_profile(struct gt_emit *emit, const struct gt_profile *profile);
/* The task graphs, each with its parts (write_tasks.c). */
void gt_emit_task_graphs(struct gt_emit *emit);
/* One call with its operations (write_call.c). */
void gt_emit_call(struct gt_emit *emit, uint32_t index);
/* All calls, the ranges before the first call that each holds, and allocations behind them (ranges.c). */
void gt_emit_calls_and_ranges(struct gt_emit *emit);

/* Allocations; place[i] is where range i stands among the ranges written (allocations.c). */
void gt_emit_allocations(struct gt_emit *emit, const uint32_t *place);

/* The groups; what a kernel says of the collective that it is a part of (write_call.c). */
void gt_emit_groups(struct gt_emit *emit);
void gt_emit_collective(struct gt_emit *emit, const struct gt_kernel *kernel);

/* What the kernel's blocks launch; nothing where they launch none. */
void gt_emit_launches(struct gt_emit *emit, gt_kernel_index kernel);

#endif
