/* arrival_file.h - when requests arrive, and how long they are, from a file. */
#ifndef GRIDTIDE_TRACES_LOADS_ARRIVAL_FILE_H
#define GRIDTIDE_TRACES_LOADS_ARRIVAL_FILE_H

#include "sim/workload/workload.h"

struct gt_arrival_file {
    gt_time_ps *times_ps;
    uint32_t *prompt_tokens, *output_tokens; /* NULL: not asked for */
    uint64_t count;
    uint64_t without_output; /* requests that were left out, as they have no output */
};

/* What of a file is asked for. */
struct gt_arrival_columns {
    const char
        *time; /* NULL: the first of seconds, Timestamp, TIMESTAMP, timestamp, time and arrival that is there */
    bool
        lengths; /* tokens of prompt and output, too: prompt_tokens, "Request tokens" (BurstGPT), ContextTokens (Azure) or input_length
                       * (Mooncake); output_tokens, "Response tokens", GeneratedTokens or output_length */
    double speed; /* times are divided by it */
};

/* Read `path`: JSON lines (a name that ends in .jsonl), of each its fields, or CSV with a heading line, of each record its
 * columns.  Times are seconds; in JSON lines, where none is called seconds, milliseconds (Mooncake); "2023-11-16 18:15:46.6805900"
 * is a time of day (Azure).  They count from the first, but those called seconds, which count from the load's start.  Returns 0; -1 with
 * FILE:LINE and what is wrong.  Either way gt_arrival_file_free() ends it. */
int gt_arrival_file_read(struct gt_arrival_file *file, const char *path, const struct gt_arrival_columns *columns,
                         struct gt_error *error);
void gt_arrival_file_free(struct gt_arrival_file *file);

#endif
