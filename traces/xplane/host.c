/* host.c - events of a host's threads: calls of CUDA's driver and of HIP, steps, operators and annotations. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/import/cuda_api.h"
#include "traces/xplane/internal.h"

#define WORD "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

static const char nvtx[] = "NVTX:";

static bool is_nvtx(const struct xplane_event *event)
{
    return gt_begins(event->name, strlen(event->name), nvtx);
}

/* Is it a function of CUDA's driver or of HIP?  XLA names a launch after its kernel, and copies and memsets "MemcpyH2D" or "Memset". */
static bool is_function(const char *name)
{
    static const char *const prefixes[] = { "cuda", "cu", "hip" };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 && isupper((unsigned char)name[strlen(prefixes[i])]))
            return true;
    return false;
}

static void take_call(struct xplane *xplane, const struct xplane_event *event)
{
    /* "cuGraphLaunch (CudaGraph:5)" */
    size_t length = strcspn(event->name, " (");
    const struct gt_cuda_api *api = gt_cuda_api_find(event->name, length);
    struct gt_import_call *call = gt_import_add_call(&xplane->import);

    call->start_ns = event->start_ns;
    call->end_ns = event->end_ns;
    call->correlation = xplane_correlation(event);
    call->thread = gt_import_thread(&xplane->import, 0, 0, (uint64_t)event->line);
    xplane->caller = call->thread;
    call->name = is_function(event->name) ? gt_name(xplane->import.workload, event->name, length) : GT_NONE;
    xplane->foreign |= gt_begins(event->name, length, "hip");
    if (api != NULL) {
        call->kind = (uint8_t)api->kind;
        call->flags = (uint8_t)api->flags;
    }
}

/* XLA's operators say so where they run on the host; TensorFlow's are "NAME:TYPE" ("while/add_1:AddV2", "dense:_FusedMatMul").
 * So is an annotation of XLA's, around functions that it hands to a stream. */
static bool is_operator(const struct xplane_event *event)
{
    static const char callback[] = "ThenExecuteCallback:";
    const char *name = event->name, *type = name + strspn(name, WORD "./>-");

    if (event->values[XPLANE_HLO_OP].there)
        return true;
    if (type == name || *type++ != ':' || gt_begins(name, strlen(name), callback))
        return false;
    return (*type == '_' || isupper((unsigned char)*type)) && type[strspn(type, WORD)] == '\0';
}

/* The range's name in the workload; steps have their number in it ("train#3"), as PyTorch's have. */
static uint32_t name_range(struct xplane *xplane, const struct xplane_event *event, uint8_t *kind)
{
    struct gt_workload *workload = xplane->import.workload;
    uint32_t name;
    char *step;

    if (is_nvtx(event))
        return gt_import_marker_name(&xplane->import, event->name + sizeof nvtx - 1,
                                     strlen(event->name) - (sizeof nvtx - 1), kind);
    if (!event->values[XPLANE_STEP].there) {
        *kind = is_operator(event) ? GT_RANGE_OPERATOR : GT_RANGE_ANNOTATION;
        return gt_name(workload, event->name, strlen(event->name));
    }
    *kind = GT_RANGE_STEP;
    step = gt_format("%s#%lld", event->name, (long long)event->values[XPLANE_STEP].number);
    name = gt_name(workload, step, strlen(step));
    free(step);
    return name;
}

void xplane_add_range(struct xplane *xplane, uint64_t thread, int64_t start_ns, int64_t end_ns, uint32_t name,
                      uint8_t kind)
{
    uint32_t number = gt_import_range_thread(&xplane->import, 0, 0, thread);
    struct gt_import_range *range = gt_import_add_range(&xplane->import, number);

    xplane->range_thread = number;
    range->start_ns = start_ns;
    range->end_ns = end_ns;
    range->name = name;
    range->kind = kind;
}

/* CUPTI's own time ("BUFFER_FLUSH", "<UNKNOWN>") is on lines that XLA names by their number. */
static bool is_overhead(const struct xplane *xplane, const struct xplane_event *event)
{
    return xplane->line_name != NULL && gt_begins(xplane->line_name, strlen(xplane->line_name), "Host Threads/") &&
           event->name[strspn(event->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_<>")] == '\0';
}

/* What has a correlation number is a call.  "$file.py:12 f" is a function of Python, of which there are too many. */
void xplane_take_host_event(struct xplane *xplane, const struct xplane_event *event)
{
    uint8_t kind;
    uint32_t name;

    if (event->values[XPLANE_CORRELATION].there && !is_nvtx(event)) {
        take_call(xplane, event);
    } else if (!xplane_take_memory(xplane, event) && *event->name != '\0' && *event->name != '$' &&
               !is_overhead(xplane, event)) {
        name = name_range(xplane, event, &kind);
        xplane_add_range(xplane, (uint64_t)event->line, event->start_ns, event->end_ns, name, kind);
    }
}

void xplane_name_thread(struct xplane *xplane, const char *text)
{
    struct gt_import *import = &xplane->import;
    uint32_t name = *text != '\0' ? gt_name(import->workload, text, strlen(text)) : GT_NONE;

    if (xplane->caller != GT_NONE)
        import->workload->threads[xplane->caller].name = name;
    if (xplane->range_thread != GT_NONE)
        import->range_threads[xplane->range_thread].name = name;
}
