/* keys.h - what a written trace calls its kernels, streams, events, threads and GPUs. */
#ifndef GRIDTIDE_TRACES_JSONL_KEYS_H
#define GRIDTIDE_TRACES_JSONL_KEYS_H

#include "sim/workload/workload.h"

/* A name where that is unique, else a number, else a name made up; different for each of its kind. */
struct gt_key {
    char *text; /* NULL: the number is the key */
    uint64_t number;
};

struct gt_keys {
    struct gt_key *kernels, *streams, *events, *threads, *gpus; /* one for each element */
    char **names;                                               /* the workload's names as UTF-8 */
    uint64_t tried; /* keys looked at to find them: five for each at the most */
};

void gt_keys_make(struct gt_keys *keys, const struct gt_workload *workload);
void gt_keys_free(struct gt_keys *keys, const struct gt_workload *workload);

#endif
