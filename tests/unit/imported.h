/* imported.h - what tests of importers ask a workload for. */
#ifndef GRIDTIDE_TESTS_IMPORTED_H
#define GRIDTIDE_TESTS_IMPORTED_H

#include <string.h>

#include "sim/workload/workload.h"

/* How often that warning was given; 0: it was not. */
static inline uint64_t warnings(const struct gt_workload *workload, const char *kind)
{
    for (uint32_t i = 0; i < workload->warning_count; i++)
        if (strcmp(workload->warnings[i].kind, kind) == 0)
            return workload->warnings[i].count;
    return 0;
}

/* The value of that device key; "": the recording does not set it. */
static inline const char *setting(const struct gt_workload *workload, const char *key)
{
    for (uint32_t i = 0; i < workload->setting_count; i++)
        if (strcmp(workload->settings[i].key, key) == 0)
            return workload->settings[i].value;
    return "";
}

#endif
