/* engine_file.h - an inference engine as its file says it: limits, recorded passes, requests.  gridtide-batch(1) has the fields. */
#ifndef GRIDTIDE_TRACES_LOADS_ENGINE_FILE_H
#define GRIDTIDE_TRACES_LOADS_ENGINE_FILE_H

#include "sim/batching/token_requests.h"
#include "traces/loads/arrival_file.h"

enum { GT_PASSES_MAX = 256 };

struct gt_recorded_pass {
    enum gt_pass_kind kind;
    char *trace;          /* as the file's folder has it */
    uint32_t size, depth; /* sequences and context, or tokens and tokens before */
    uint64_t line;
};

struct gt_engine_file {
    char *name, *device, *policy; /* NULL: not said, but for the name */
    uint32_t sequences, padding;
    uint64_t kv_tokens; /* UINT64_MAX: not limited */
    uint64_t warm_up;   /* the first requests, which are not counted */
    double between_us;
    double ttft_us, tpot_us; /* goals; NAN: none */
    struct gt_recorded_pass *passes;
    uint32_t pass_count;
    struct gt_arrivals arrivals;
    struct gt_arrival_file file; /* of arrivals that are a file */
    struct gt_token_lengths prompt, output;
    uint32_t pass_room; /* while it is read */
};

/* Read the engine at `path`, and the file of requests that it names.  Returns 0, or -1 with FILE:LINE and what is wrong; either way
 * gt_engine_file_free() ends it. */
int gt_engine_file_read(struct gt_engine_file *file, const char *path, struct gt_error *error);
void gt_engine_file_free(struct gt_engine_file *file);

#endif
