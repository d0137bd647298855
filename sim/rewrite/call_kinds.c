#include "sim/rewrite/call_kinds.h"

#include <stdio.h>
#include <string.h>

const struct gt_op *gt_call_copies(const struct gt_workload *w, const struct gt_call *call,
                                   enum gt_direction direction)
{
    const struct gt_op *op;

    if (call->kind != GT_CALL_COPY || call->ops != 1)
        return NULL;
    op = &w->ops[call->first_op];
    return op->kind == GT_OP_COPY && op->direction == direction ? op : NULL;
}

bool gt_name_allocates(const char *name)
{
    static const char *const prefixes[] = {
        "cudaMalloc",   "cudaFree",  "cudaHostAlloc",  "cudaHostRegister",  "cudaHostUnregister",
        "cuMemAlloc",   "cuMemFree", "cuMemHostAlloc", "cuMemHostRegister", "cuMemCreate",
        "cuMemRelease", "cuMemMap",  "cuMemUnmap",     "cuMemSetAccess",
    };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return strstr(name, "Async") == NULL;
    return false;
}

bool gt_call_allocates(const struct gt_workload *w, const struct gt_call *call)
{
    if (call->kind == GT_CALL_ALLOC || call->kind == GT_CALL_FREE)
        return call->stream == GT_NONE;
    return call->kind == GT_CALL_OTHER && call->name != GT_NONE && gt_name_allocates(gt_name_text(w, call->name));
}

const char *gt_call_place(const struct gt_workload *w, gt_call_index index, char text[GT_CALL_PLACE_BYTES])
{
    const struct gt_call *call = &w->calls[index];
    const char *name = call->name != GT_NONE ? gt_name_text(w, call->name) : gt_call_kind_names[call->kind];

    if (call->line != 0)
        snprintf(text, GT_CALL_PLACE_BYTES, "line %u (%.80s)", call->line, name);
    else
        snprintf(text, GT_CALL_PLACE_BYTES, "call %u (%.80s)", index, name);
    return text;
}
