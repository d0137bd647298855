/* load_file.h - a load as its file says it: tenants, their traces and arrivals.  gridtide-serve(1) has the fields. */
#ifndef GRIDTIDE_TRACES_LOADS_LOAD_FILE_H
#define GRIDTIDE_TRACES_LOADS_LOAD_FILE_H

#include "sim/serve/load.h"

struct gt_load_tenant {
    char *name, *trace; /* trace: as the load file's folder has it */
    char *share;        /* NULL: as the load's */
    char *range;        /* of the trace, that is a request: the first of that name; NULL: all of it */
    bool critical;
    gt_time_ps deadline_ps; /* GT_TIME_NONE: none */
    uint32_t workers;
    double load; /* of what the tenant can serve alone; NAN: arrivals.per_s says the rate */
    struct gt_arrivals arrivals;
    gt_time_ps *times_ps; /* owned: arrivals.times_ps; NULL: not from a file */
    uint32_t line;
};

struct gt_load_file {
    char *name, *device, *share, *policy; /* NULL: not said, but for the name */
    uint64_t seed, warm_up;
    struct gt_load_tenant *tenants;
    uint32_t tenant_count;
};

/* Read the load at `path` and the files of arrivals that it names.  Returns 0, or -1 with FILE:LINE and what is wrong; either way
 * gt_load_file_free() ends it. */
int gt_load_file_read(struct gt_load_file *file, const char *path, struct gt_error *error);
void gt_load_file_free(struct gt_load_file *file);

#endif
