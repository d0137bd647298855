/* cuda_api.c - the table of CUDA functions that do more than take host time.
 *
 * HIP's functions that CUDA has, too, are found by their counterpart; those that only HIP has stand in the table, by the HIP
 * runtime API's documentation (hipMemcpyWithStream returns when its copy is done).
 *
 * Synchronous is what waits for its copy; copies within or between devices and memsets do not,
 * whatever their names say (CUDA runtime API, "API synchronization behavior").
 */
#include "traces/import/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNC GT_CALL_SYNCHRONOUS

const struct gt_cuda_api gt_cuda_apis[] = {
    { "cuCtxSynchronize", GT_CALL_DEVICE_SYNC, 0 },
    { "cuEventCreate", GT_CALL_EVENT_CREATE, 0 },
    { "cuEventQuery", GT_CALL_EVENT_QUERY, 0 },
    { "cuEventRecord", GT_CALL_EVENT_RECORD, 0 },
    { "cuEventRecordWithFlags", GT_CALL_EVENT_RECORD, 0 },
    { "cuEventSynchronize", GT_CALL_EVENT_SYNC, 0 },
    { "cuGraphLaunch", GT_CALL_GRAPH_LAUNCH, 0 },
    { "cuLaunch", GT_CALL_LAUNCH, 0 },
    { "cuLaunchCooperativeKernel", GT_CALL_LAUNCH, 0 },
    { "cuLaunchCooperativeKernelMultiDevice", GT_CALL_LAUNCH, 0 },
    { "cuLaunchGrid", GT_CALL_LAUNCH, 0 },
    { "cuLaunchGridAsync", GT_CALL_LAUNCH, 0 },
    { "cuLaunchHostFunc", GT_CALL_HOST_FUNCTION, 0 },
    { "cuLaunchKernel", GT_CALL_LAUNCH, 0 },
    { "cuLaunchKernelEx", GT_CALL_LAUNCH, 0 },
    { "cuMemcpy", GT_CALL_COPY, SYNC },
    { "cuMemcpy2D", GT_CALL_COPY, SYNC },
    { "cuMemcpy2DAsync", GT_CALL_COPY, 0 },
    { "cuMemcpy2DUnaligned", GT_CALL_COPY, SYNC },
    { "cuMemcpy3D", GT_CALL_COPY, SYNC },
    { "cuMemcpy3DAsync", GT_CALL_COPY, 0 },
    { "cuMemcpy3DBatchAsync", GT_CALL_COPY, 0 },
    { "cuMemcpy3DPeer", GT_CALL_COPY, 0 },
    { "cuMemcpy3DPeerAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyAtoA", GT_CALL_COPY, SYNC },
    { "cuMemcpyAtoD", GT_CALL_COPY, SYNC },
    { "cuMemcpyAtoH", GT_CALL_COPY, SYNC },
    { "cuMemcpyAtoHAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyBatchAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyDtoA", GT_CALL_COPY, SYNC },
    { "cuMemcpyDtoD", GT_CALL_COPY, 0 },
    { "cuMemcpyDtoDAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyDtoH", GT_CALL_COPY, SYNC },
    { "cuMemcpyDtoHAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyHtoA", GT_CALL_COPY, SYNC },
    { "cuMemcpyHtoAAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyHtoD", GT_CALL_COPY, SYNC },
    { "cuMemcpyHtoDAsync", GT_CALL_COPY, 0 },
    { "cuMemcpyPeer", GT_CALL_COPY, 0 },
    { "cuMemcpyPeerAsync", GT_CALL_COPY, 0 },
    { "cuMemsetD16", GT_CALL_MEMSET, 0 },
    { "cuMemsetD16Async", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D16", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D16Async", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D32", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D32Async", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D8", GT_CALL_MEMSET, 0 },
    { "cuMemsetD2D8Async", GT_CALL_MEMSET, 0 },
    { "cuMemsetD32", GT_CALL_MEMSET, 0 },
    { "cuMemsetD32Async", GT_CALL_MEMSET, 0 },
    { "cuMemsetD8", GT_CALL_MEMSET, 0 },
    { "cuMemsetD8Async", GT_CALL_MEMSET, 0 },
    { "cuStreamAddCallback", GT_CALL_HOST_FUNCTION, 0 },
    { "cuStreamCreate", GT_CALL_STREAM_CREATE, 0 },
    { "cuStreamCreateWithPriority", GT_CALL_STREAM_CREATE, 0 },
    { "cuStreamQuery", GT_CALL_STREAM_QUERY, 0 },
    { "cuStreamSynchronize", GT_CALL_STREAM_SYNC, 0 },
    { "cuStreamWaitEvent", GT_CALL_EVENT_WAIT, 0 },
    { "cudaDeviceSynchronize", GT_CALL_DEVICE_SYNC, 0 },
    { "cudaEventCreate", GT_CALL_EVENT_CREATE, 0 },
    { "cudaEventCreateWithFlags", GT_CALL_EVENT_CREATE, 0 },
    { "cudaEventQuery", GT_CALL_EVENT_QUERY, 0 },
    { "cudaEventRecord", GT_CALL_EVENT_RECORD, 0 },
    { "cudaEventRecordWithFlags", GT_CALL_EVENT_RECORD, 0 },
    { "cudaEventSynchronize", GT_CALL_EVENT_SYNC, 0 },
    { "cudaGraphLaunch", GT_CALL_GRAPH_LAUNCH, 0 },
    { "cudaLaunch", GT_CALL_LAUNCH, 0 },
    { "cudaLaunchCooperativeKernel", GT_CALL_LAUNCH, 0 },
    { "cudaLaunchCooperativeKernelMultiDevice", GT_CALL_LAUNCH, 0 },
    { "cudaLaunchHostFunc", GT_CALL_HOST_FUNCTION, 0 },
    { "cudaLaunchKernel", GT_CALL_LAUNCH, 0 },
    { "cudaLaunchKernelExC", GT_CALL_LAUNCH, 0 },
    { "cudaMemcpy", GT_CALL_COPY, SYNC },
    { "cudaMemcpy2D", GT_CALL_COPY, SYNC },
    { "cudaMemcpy2DArrayToArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpy2DAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpy2DFromArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpy2DFromArrayAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpy2DToArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpy2DToArrayAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpy3D", GT_CALL_COPY, SYNC },
    { "cudaMemcpy3DAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpy3DBatchAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpy3DPeer", GT_CALL_COPY, 0 },
    { "cudaMemcpy3DPeerAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyArrayToArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpyAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyBatchAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyFromArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpyFromArrayAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyFromSymbol", GT_CALL_COPY, SYNC },
    { "cudaMemcpyFromSymbolAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyPeer", GT_CALL_COPY, 0 },
    { "cudaMemcpyPeerAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyToArray", GT_CALL_COPY, SYNC },
    { "cudaMemcpyToArrayAsync", GT_CALL_COPY, 0 },
    { "cudaMemcpyToSymbol", GT_CALL_COPY, SYNC },
    { "cudaMemcpyToSymbolAsync", GT_CALL_COPY, 0 },
    { "cudaMemset", GT_CALL_MEMSET, 0 },
    { "cudaMemset2D", GT_CALL_MEMSET, 0 },
    { "cudaMemset2DAsync", GT_CALL_MEMSET, 0 },
    { "cudaMemset3D", GT_CALL_MEMSET, 0 },
    { "cudaMemset3DAsync", GT_CALL_MEMSET, 0 },
    { "cudaMemsetAsync", GT_CALL_MEMSET, 0 },
    { "cudaStreamAddCallback", GT_CALL_HOST_FUNCTION, 0 },
    { "cudaStreamCreate", GT_CALL_STREAM_CREATE, 0 },
    { "cudaStreamCreateWithFlags", GT_CALL_STREAM_CREATE, 0 },
    { "cudaStreamCreateWithPriority", GT_CALL_STREAM_CREATE, 0 },
    { "cudaStreamQuery", GT_CALL_STREAM_QUERY, 0 },
    { "cudaStreamSynchronize", GT_CALL_STREAM_SYNC, 0 },
    { "cudaStreamWaitEvent", GT_CALL_EVENT_WAIT, 0 },
    { "cudaThreadSynchronize", GT_CALL_DEVICE_SYNC, 0 },
    { "hipDrvLaunchKernelEx", GT_CALL_LAUNCH, 0 },
    { "hipExtLaunchKernel", GT_CALL_LAUNCH, 0 },
    { "hipExtModuleLaunchKernel", GT_CALL_LAUNCH, 0 },
    { "hipExtStreamCreateWithCUMask", GT_CALL_STREAM_CREATE, 0 },
    { "hipHccModuleLaunchKernel", GT_CALL_LAUNCH, 0 },
    { "hipLaunchByPtr", GT_CALL_LAUNCH, 0 },
    { "hipMemcpyWithStream", GT_CALL_COPY, SYNC },
    { "hipModuleLaunchCooperativeKernel", GT_CALL_LAUNCH, 0 },
    { "hipModuleLaunchKernel", GT_CALL_LAUNCH, 0 },
};
const size_t gt_cuda_api_count = sizeof(gt_cuda_apis) / sizeof(gt_cuda_apis[0]);

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of `name` before a "_vDIGITS" at its end; `length` where there is none. */
static size_t before_version(const char *name, size_t length)
{
    size_t at = length;

    while (at > 0 && is_digit(name[at - 1]))
        at--;
    if (at == length || at < 3 || name[at - 1] != 'v' || name[at - 2] != '_')
        return length;
    return at - 2;
}

size_t gt_cuda_api_base_length(const char *name, size_t length)
{
    for (;;) {
        size_t shorter = before_version(name, length);

        if (length > 5 && (memcmp(name + length - 5, "_ptsz", 5) == 0 || memcmp(name + length - 5, "_ptds", 5) == 0))
            shorter = length - 5;
        if (shorter == length)
            return length;
        length = shorter;
    }
}

struct text {
    const char *bytes;
    size_t length;
};

static int compare(const void *key, const void *row)
{
    const struct text *text = key;
    const char *name = ((const struct gt_cuda_api *)row)->name;
    size_t length = strlen(name);
    int order = memcmp(text->bytes, name, text->length < length ? text->length : length);

    return order != 0 ? order : (text->length > length) - (text->length < length);
}

static const struct gt_cuda_api *find(const char *name, size_t length)
{
    const struct text text = { name, length };

    return bsearch(&text, gt_cuda_apis, gt_cuda_api_count, sizeof *gt_cuda_apis, compare);
}

/* HIP names its functions as CUDA's runtime or driver does, but for the first letters. */
static const struct gt_cuda_api *find_counterpart(const char *name, size_t length)
{
    static const char *const prefixes[] = { "cuda", "cu" };
    const struct gt_cuda_api *found = NULL;
    char text[64];

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0] && found == NULL && length < sizeof text; i++) {
        int bytes = snprintf(text, sizeof text, "%s%.*s", prefixes[i], (int)length - 3, name + 3);

        if (bytes > 0 && (size_t)bytes < sizeof text)
            found = find(text, (size_t)bytes);
    }
    return found;
}

const struct gt_cuda_api *gt_cuda_api_find(const char *name, size_t length)
{
    const struct gt_cuda_api *found;

    length = gt_cuda_api_base_length(name, length);
    found = find(name, length);
    if (found == NULL && length > 3 && memcmp(name, "hip", 3) == 0)
        found = find_counterpart(name, length);
    return found;
}
