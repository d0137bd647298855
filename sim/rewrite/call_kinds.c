#include "sim/rewrite/call_kinds.h"

#include <stdio.h>
#include <string.h>

bool gt_call_synchronises(const struct gt_call *call)
{
    return call->kind == GT_CALL_STREAM_SYNC || call->kind == GT_CALL_EVENT_SYNC ||
           call->kind == GT_CALL_DEVICE_SYNC || call->kind == GT_CALL_POLL ||
           (call->kind == GT_CALL_FREE && call->stream == GT_NONE);
}

bool gt_call_queries(const struct gt_call *call)
{
    return call->kind == GT_CALL_STREAM_QUERY || call->kind == GT_CALL_EVENT_QUERY;
}

const struct gt_op *gt_call_copies(const struct gt_workload *w, const struct gt_call *call,
                                   enum gt_direction direction)
{
    const struct gt_op *op;

    if (call->kind != GT_CALL_COPY || call->ops != 1)
        return NULL;
    op = &w->ops[call->first_op];
    return op->kind == GT_OP_COPY && op->direction == direction ? op : NULL;
}

bool gt_call_holds_host(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *out = gt_call_copies(w, call, GT_D2H);

    if (call->kind != GT_CALL_COPY && call->kind != GT_CALL_MEMSET)
        return false;
    if (call->flags & GT_CALL_STATED)
        return call->flags & GT_CALL_WAITS;
    return call->flags & GT_CALL_SYNCHRONOUS || (out != NULL && out->memory == GT_MEMORY_PAGEABLE);
}

bool gt_call_is_idle(const struct gt_call *call)
{
    return call->kind == GT_CALL_HOST_WORK || call->kind == GT_CALL_OTHER || call->kind == GT_CALL_STREAM_CREATE ||
           call->kind == GT_CALL_EVENT_CREATE || call->kind == GT_CALL_RECORD_STREAM ||
           (call->kind == GT_CALL_ALLOC && call->stream == GT_NONE);
}

/* cudaMalloc, cuMemAlloc_v2, cudaHostRegister and the like; not those in stream order. */
static bool name_allocates(const char *name)
{
    static const char *const prefixes[] = {
        "cudaMalloc", "cudaFree",  "cudaHostAlloc",  "cudaHostRegister",  "cudaHostUnregister",
        "cuMemAlloc", "cuMemFree", "cuMemHostAlloc", "cuMemHostRegister",
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
    return call->kind == GT_CALL_OTHER && call->name != GT_NONE && name_allocates(gt_name_text(w, call->name));
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
