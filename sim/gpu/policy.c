#include "sim/gpu/policy.h"

#include <stdio.h>
#include <string.h>

const void *gt_policy_find(const void *table, size_t rows, size_t row_bytes, const char *key,
                           const char *name, struct gt_error *error)
{
    char known[512] = "";

    for (size_t i = 0; i < rows; i++) {
        const struct gt_policy *policy = (const void *)((const char *)table + i * row_bytes);
        size_t used = strlen(known);

        if (strcmp(policy->name, name) == 0)
            return policy;
        snprintf(known + used, sizeof known - used, "%s %s (%s)", i == 0 ? "" : ",", policy->name,
                 policy->help);
    }
    gt_error_set(error, "%s: no policy '%s'; there are:%s", key, name, known);
    return NULL;
}
