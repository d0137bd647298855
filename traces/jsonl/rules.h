/* rules.h - what reader and writer of traces both take for granted. */
#ifndef GRIDTIDE_TRACES_JSONL_RULES_H
#define GRIDTIDE_TRACES_JSONL_RULES_H

#include "sim/workload/workload.h"

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
