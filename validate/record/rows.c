/* rows.c - the CUDA functions that are recorded, and where their arguments are.
 *
 * Those of the per-thread default stream (_ptsz, _ptds) have the same arguments.  Functions that only take time and
 * mean nothing to others (cudaGetDevice, cudaGetLastError) are left alone: their time is the thread's own.
 */
#include "sim/base/hash.h"
#include "validate/record/internal.h"

#include "sim/workload/workload.h"

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
/* What a function wrote through a pointer: only where it succeeded. */
#define GOT(pointer)       (call->result == 0 && (pointer) != NULL ? ADDRESS(*(pointer)) : 0)

#define GOT_ARRAY(pointer) (call->result == 0 && (pointer) != NULL ? ADDRESS(*(pointer)) | GT_RECORDED_ARRAY : 0)

static uint64_t texel_bytes(const struct cudaChannelFormatDesc *format)
{
    return format == NULL ? 0 : (uint64_t)(format->x + format->y + format->z + format->w) / 8;
}

/* A channel of an array; of packed formats (video, compressed) 1. */
static uint64_t element_bytes(CUarray_format format)
{
    static const uint8_t bytes[] = {
        [CU_AD_FORMAT_UNSIGNED_INT8] = 1, [CU_AD_FORMAT_UNSIGNED_INT16] = 2, [CU_AD_FORMAT_UNSIGNED_INT32] = 4,
        [CU_AD_FORMAT_SIGNED_INT8] = 1,   [CU_AD_FORMAT_SIGNED_INT16] = 2,   [CU_AD_FORMAT_SIGNED_INT32] = 4,
        [CU_AD_FORMAT_HALF] = 2,          [CU_AD_FORMAT_FLOAT] = 4,
    };

    return (size_t)format < sizeof bytes && bytes[format] != 0 ? bytes[format] : 1;
}

/* Arrays of one row, or slice, say 0 of them. */
static uint64_t at_least_one(uint64_t count)
{
    return count == 0 ? 1 : count;
}

/* cudaMemcpyBatchAsync() and cuMemcpyBatchAsync() of CUDA 12.8, which are in the headers no more. */
struct copies_12 {
    const void *to, *from, *sizes;
    size_t count;
    const void *attributes, *attribute_numbers;
    size_t attribute_count;
    const void *failed, *stream;
};
/* What tells one event's handle between processes from another's; 0: there is none. */
static uint64_t mark_of(const struct gt_record_call *call, const void *handle)
{
    return call->result == 0 && handle != NULL ? gt_hash_bytes(GT_HASH_START, handle, CU_IPC_HANDLE_SIZE) : 0;
}

/* All functions that change an executable graph name it first, but for those that name a node of it. */
struct gt_first_handle {
    const void *handle;
};

#define READER(name, type, ...)                                           \
    static void name(const void *parameters, struct gt_record_call *call) \
    {                                                                     \
        const type *p = parameters;                                       \
        __VA_ARGS__                                                       \
    }
/* clang-format off */
#define STREAM_OF(member) call->stream = ADDRESS(p->member);
READER(r_launch, cudaLaunchKernel_v7000_params, STREAM_OF(stream))
READER(r_launch_ex, cudaLaunchKernelExC_v11060_params, if (p->config != NULL) STREAM_OF(config->stream))
READER(r_cooperative, cudaLaunchCooperativeKernel_v9000_params, STREAM_OF(stream))
READER(r_host, cudaLaunchHostFunc_v10000_params, STREAM_OF(stream) call->a = ADDRESS(p->fn);)
READER(r_callback, cudaStreamAddCallback_v5000_params, STREAM_OF(stream) call->a = ADDRESS(p->callback);)
READER(r_graph_launch, cudaGraphLaunch_v10000_params, STREAM_OF(stream) call->a = ADDRESS(p->graphExec);)
READER(r_copy, cudaMemcpy_v3020_params, call->a = ADDRESS(p->dst); call->b = ADDRESS(p->src); call->c = p->count;)
READER(r_copy_async, cudaMemcpyAsync_v3020_params,
       STREAM_OF(stream) call->a = ADDRESS(p->dst); call->b = ADDRESS(p->src); call->c = p->count;)
READER(r_copy_peer, cudaMemcpyPeer_v4000_params, call->a = ADDRESS(p->dst); call->b = ADDRESS(p->src); call->c = p->count;)
READER(r_copy_peer_async, cudaMemcpyPeerAsync_v4000_params,
       STREAM_OF(stream) call->a = ADDRESS(p->dst); call->b = ADDRESS(p->src); call->c = p->count;)
READER(r_copy_2d_async, cudaMemcpy2DAsync_v3020_params, STREAM_OF(stream))
READER(r_copy_3d_async, cudaMemcpy3DAsync_v3020_params, STREAM_OF(stream))
READER(r_copy_3d_peer_async, cudaMemcpy3DPeerAsync_v4000_params, STREAM_OF(stream))
READER(r_to_array_async, cudaMemcpy2DToArrayAsync_v3020_params, STREAM_OF(stream))
READER(r_from_array_async, cudaMemcpy2DFromArrayAsync_v3020_params, STREAM_OF(stream))
READER(r_to_symbol_async, cudaMemcpyToSymbolAsync_v3020_params, STREAM_OF(stream))
READER(r_from_symbol_async, cudaMemcpyFromSymbolAsync_v3020_params, STREAM_OF(stream))
READER(r_copies_12, struct copies_12, STREAM_OF(stream))
READER(r_copies, cudaMemcpyBatchAsync_v13000_params, STREAM_OF(stream))
READER(r_copies_3d, cudaMemcpy3DBatchAsync_v13000_params, STREAM_OF(stream))
READER(r_memset, cudaMemset_v3020_params, call->a = ADDRESS(p->devPtr); call->c = p->count;)
READER(r_memset_async, cudaMemsetAsync_v3020_params, STREAM_OF(stream) call->a = ADDRESS(p->devPtr); call->c = p->count;)
READER(r_memset_2d_async, cudaMemset2DAsync_v3020_params, STREAM_OF(stream))
READER(r_memset_3d_async, cudaMemset3DAsync_v3020_params, STREAM_OF(stream))
READER(r_stream_create, cudaStreamCreate_v3020_params, call->a = GOT(p->pStream);)
READER(r_stream_flags, cudaStreamCreateWithFlags_v5000_params, call->a = GOT(p->pStream);)
READER(r_stream_priority, cudaStreamCreateWithPriority_v5050_params, call->a = GOT(p->pStream);)
READER(r_stream_destroy, cudaStreamDestroy_v5050_params, STREAM_OF(stream))
READER(r_stream_sync, cudaStreamSynchronize_v3020_params, STREAM_OF(stream))
READER(r_stream_query, cudaStreamQuery_v3020_params, STREAM_OF(stream))
READER(r_event_create, cudaEventCreate_v3020_params, call->a = GOT(p->event);)
READER(r_event_flags, cudaEventCreateWithFlags_v3020_params, call->a = GOT(p->event); call->b = p->flags;)
READER(r_event_destroy, cudaEventDestroy_v3020_params, call->a = ADDRESS(p->event);)
READER(r_event_record, cudaEventRecord_v3020_params, STREAM_OF(stream) call->a = ADDRESS(p->event);)
READER(r_event_record_flags, cudaEventRecordWithFlags_v11010_params, STREAM_OF(stream) call->a = ADDRESS(p->event);)
READER(r_event_wait, cudaStreamWaitEvent_v3020_params, STREAM_OF(stream) call->a = ADDRESS(p->event);)
READER(r_event_query, cudaEventQuery_v3020_params, call->a = ADDRESS(p->event);)
READER(r_event_sync, cudaEventSynchronize_v3020_params, call->a = ADDRESS(p->event);)
READER(r_malloc, cudaMalloc_v3020_params, call->a = GOT(p->devPtr); call->b = p->size; call->c = GT_MEMORY_DEVICE;)
READER(r_malloc_pitch, cudaMallocPitch_v3020_params,
       call->a = GOT(p->devPtr); call->b = call->result == 0 && p->pitch != NULL ? *p->pitch * p->height : 0; call->c = GT_MEMORY_DEVICE;)
READER(r_malloc_3d, cudaMalloc3D_v3020_params,
       if (call->result == 0 && p->pitchedDevPtr != NULL) {
           call->a = ADDRESS(p->pitchedDevPtr->ptr);
           call->b = p->pitchedDevPtr->pitch * p->extent.height * p->extent.depth;
       } call->c = GT_MEMORY_DEVICE;)
READER(r_array, cudaMallocArray_v3020_params, if (call->result != 0) return; call->a = GOT_ARRAY(p->array); call->c = GT_MEMORY_DEVICE;
       call->b = texel_bytes(p->desc) * p->width * at_least_one(p->height);)
READER(r_array_3d, cudaMalloc3DArray_v3020_params, if (call->result != 0) return; call->a = GOT_ARRAY(p->array); call->c = GT_MEMORY_DEVICE;
       call->b = texel_bytes(p->desc) * p->extent.width * at_least_one(p->extent.height) * at_least_one(p->extent.depth);)
READER(r_free_array, cudaFreeArray_v3020_params, call->a = ADDRESS(p->array) | GT_RECORDED_ARRAY;)
READER(r_malloc_managed, cudaMallocManaged_v6000_params, call->a = GOT(p->devPtr); call->b = p->size; call->c = GT_MEMORY_MANAGED;)
READER(r_malloc_host, cudaMallocHost_v3020_params, call->a = GOT(p->ptr); call->b = p->size; call->c = GT_MEMORY_PINNED;)
READER(r_host_alloc, cudaHostAlloc_v3020_params, call->a = GOT(p->pHost); call->b = p->size; call->c = GT_MEMORY_PINNED;)
READER(r_malloc_async, cudaMallocAsync_v11020_params,
       STREAM_OF(hStream) call->a = GOT(p->devPtr); call->b = p->size; call->c = GT_MEMORY_DEVICE;)
READER(r_malloc_pool, cudaMallocFromPoolAsync_v11020_params,
       STREAM_OF(stream) call->a = GOT(p->ptr); call->b = p->size; call->c = GT_MEMORY_DEVICE;)
READER(r_free, cudaFree_v3020_params, call->a = ADDRESS(p->devPtr);)
READER(r_free_host, cudaFreeHost_v3020_params, call->a = ADDRESS(p->ptr);)
READER(r_free_async, cudaFreeAsync_v11020_params, STREAM_OF(hStream) call->a = ADDRESS(p->devPtr);)
READER(r_graph_change, struct gt_first_handle, call->a = ADDRESS(p->handle);)
READER(r_child_change, struct gt_first_handle, call->a = ADDRESS(p->handle); call->b = 1;)
READER(r_event_share, cudaIpcGetEventHandle_v4010_params, call->a = ADDRESS(p->event); call->b = mark_of(call, p->handle);)
READER(d_event_share, cuIpcGetEventHandle_params, call->a = ADDRESS(p->event); call->b = mark_of(call, p->pHandle);)
READER(r_event_open, cudaIpcOpenEventHandle_v4010_params, call->a = GOT(p->event); call->b = mark_of(call, &p->handle);)
READER(d_event_open, cuIpcOpenEventHandle_params, call->a = GOT(p->phEvent); call->b = mark_of(call, &p->handle);)
READER(r_register, cudaHostRegister_v4000_params, call->a = ADDRESS(p->ptr); call->b = p->size; call->c = GT_MEMORY_PINNED;)
READER(r_unregister, cudaHostUnregister_v4000_params, call->a = ADDRESS(p->ptr);)

READER(d_launch, cuLaunchKernel_params, STREAM_OF(hStream))
READER(d_launch_ex, cuLaunchKernelEx_params, if (p->config != NULL) STREAM_OF(config->hStream))
READER(d_cooperative, cuLaunchCooperativeKernel_params, STREAM_OF(hStream))
READER(d_host, cuLaunchHostFunc_params, STREAM_OF(hStream) call->a = ADDRESS(p->fn);)
READER(d_callback, cuStreamAddCallback_params, STREAM_OF(hStream) call->a = ADDRESS(p->callback);)
READER(d_graph_launch, cuGraphLaunch_params, STREAM_OF(hStream) call->a = ADDRESS(p->hGraph);)
READER(d_copy, cuMemcpy_params, call->a = p->dst; call->b = p->src; call->c = p->ByteCount;)
READER(d_copy_async, cuMemcpyAsync_params, STREAM_OF(hStream) call->a = p->dst; call->b = p->src; call->c = p->ByteCount;)
READER(d_h2d, cuMemcpyHtoD_v2_params, call->a = p->dstDevice; call->b = ADDRESS(p->srcHost); call->c = p->ByteCount;)
READER(d_h2d_async, cuMemcpyHtoDAsync_v2_params,
       STREAM_OF(hStream) call->a = p->dstDevice; call->b = ADDRESS(p->srcHost); call->c = p->ByteCount;)
READER(d_d2h, cuMemcpyDtoH_v2_params, call->a = ADDRESS(p->dstHost); call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_d2h_async, cuMemcpyDtoHAsync_v2_params,
       STREAM_OF(hStream) call->a = ADDRESS(p->dstHost); call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_d2d, cuMemcpyDtoD_v2_params, call->a = p->dstDevice; call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_d2d_async, cuMemcpyDtoDAsync_v2_params,
       STREAM_OF(hStream) call->a = p->dstDevice; call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_peer, cuMemcpyPeer_params, call->a = p->dstDevice; call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_peer_async, cuMemcpyPeerAsync_params,
       STREAM_OF(hStream) call->a = p->dstDevice; call->b = p->srcDevice; call->c = p->ByteCount;)
READER(d_copy_2d_async, cuMemcpy2DAsync_v2_params, STREAM_OF(hStream))
READER(d_copy_3d_async, cuMemcpy3DAsync_v2_params, STREAM_OF(hStream))
READER(d_copy_3d_peer_async, cuMemcpy3DPeerAsync_params, STREAM_OF(hStream))
READER(d_h2a_async, cuMemcpyHtoAAsync_v2_params, STREAM_OF(hStream))
READER(d_a2h_async, cuMemcpyAtoHAsync_v2_params, STREAM_OF(hStream))
READER(d_copies, cuMemcpyBatchAsync_v2_params, STREAM_OF(hStream))
READER(d_set_rows8_async, cuMemsetD2D8Async_params, STREAM_OF(hStream))
READER(d_set_rows16_async, cuMemsetD2D16Async_params, STREAM_OF(hStream))
READER(d_set_rows32_async, cuMemsetD2D32Async_params, STREAM_OF(hStream))
READER(d_copies_3d, cuMemcpy3DBatchAsync_v2_params, STREAM_OF(hStream))
READER(d_set8, cuMemsetD8_v2_params, call->a = p->dstDevice; call->c = p->N;)
READER(d_set16, cuMemsetD16_v2_params, call->a = p->dstDevice; call->c = 2 * p->N;)
READER(d_set32, cuMemsetD32_v2_params, call->a = p->dstDevice; call->c = 4 * p->N;)
READER(d_set8_async, cuMemsetD8Async_params, STREAM_OF(hStream) call->a = p->dstDevice; call->c = p->N;)
READER(d_set16_async, cuMemsetD16Async_params, STREAM_OF(hStream) call->a = p->dstDevice; call->c = 2 * p->N;)
READER(d_set32_async, cuMemsetD32Async_params, STREAM_OF(hStream) call->a = p->dstDevice; call->c = 4 * p->N;)
READER(d_stream_create, cuStreamCreate_params, call->a = GOT(p->phStream);)
READER(d_stream_priority, cuStreamCreateWithPriority_params, call->a = GOT(p->phStream);)
READER(d_green_stream, cuGreenCtxStreamCreate_params, call->a = GOT(p->phStream);)
READER(d_stream_destroy, cuStreamDestroy_v2_params, STREAM_OF(hStream))
READER(d_stream_sync, cuStreamSynchronize_params, STREAM_OF(hStream))
READER(d_stream_query, cuStreamQuery_params, STREAM_OF(hStream))
READER(d_event_create, cuEventCreate_params, call->a = GOT(p->phEvent); call->b = p->Flags;)
READER(d_event_destroy, cuEventDestroy_v2_params, call->a = ADDRESS(p->hEvent);)
READER(d_event_record, cuEventRecord_params, STREAM_OF(hStream) call->a = ADDRESS(p->hEvent);)
READER(d_event_record_flags, cuEventRecordWithFlags_params, STREAM_OF(hStream) call->a = ADDRESS(p->hEvent);)
READER(d_event_wait, cuStreamWaitEvent_params, STREAM_OF(hStream) call->a = ADDRESS(p->hEvent);)
READER(d_event_query, cuEventQuery_params, call->a = ADDRESS(p->hEvent);)
READER(d_event_sync, cuEventSynchronize_params, call->a = ADDRESS(p->hEvent);)
READER(d_alloc, cuMemAlloc_v2_params, call->a = GOT(p->dptr); call->b = p->bytesize; call->c = GT_MEMORY_DEVICE;)
READER(d_alloc_pitch, cuMemAllocPitch_v2_params,
       call->a = GOT(p->dptr); call->b = call->result == 0 && p->pPitch != NULL ? *p->pPitch * p->Height : 0; call->c = GT_MEMORY_DEVICE;)
READER(d_array, cuArrayCreate_v2_params, if (call->result != 0) return; call->a = GOT_ARRAY(p->pHandle); call->c = GT_MEMORY_DEVICE;
       call->b = element_bytes(p->pAllocateArray->Format) * p->pAllocateArray->NumChannels * p->pAllocateArray->Width * at_least_one(p->pAllocateArray->Height);)
READER(d_array_3d, cuArray3DCreate_v2_params, if (call->result != 0) return; call->a = GOT_ARRAY(p->pHandle); call->c = GT_MEMORY_DEVICE;
       call->b = element_bytes(p->pAllocateArray->Format) * p->pAllocateArray->NumChannels * p->pAllocateArray->Width *
                 at_least_one(p->pAllocateArray->Height) * at_least_one(p->pAllocateArray->Depth);)
READER(d_free_array, cuArrayDestroy_params, call->a = ADDRESS(p->hArray) | GT_RECORDED_ARRAY;)
READER(d_alloc_managed, cuMemAllocManaged_params, call->a = GOT(p->dptr); call->b = p->bytesize; call->c = GT_MEMORY_MANAGED;)
READER(d_alloc_host, cuMemAllocHost_v2_params, call->a = GOT(p->pp); call->b = p->bytesize; call->c = GT_MEMORY_PINNED;)
READER(d_host_alloc, cuMemHostAlloc_params, call->a = GOT(p->pp); call->b = p->bytesize; call->c = GT_MEMORY_PINNED;)
READER(d_alloc_async, cuMemAllocAsync_params,
       STREAM_OF(hStream) call->a = GOT(p->dptr); call->b = p->bytesize; call->c = GT_MEMORY_DEVICE;)
READER(d_alloc_pool, cuMemAllocFromPoolAsync_params,
       STREAM_OF(hStream) call->a = GOT(p->dptr); call->b = p->bytesize; call->c = GT_MEMORY_DEVICE;)
READER(d_free, cuMemFree_v2_params, call->a = p->dptr;)
READER(d_free_host, cuMemFreeHost_params, call->a = ADDRESS(p->p);)
READER(d_free_async, cuMemFreeAsync_params, STREAM_OF(hStream) call->a = p->dptr;)
READER(d_register, cuMemHostRegister_v2_params, call->a = ADDRESS(p->p); call->b = p->bytesize; call->c = GT_MEMORY_PINNED;)
READER(d_unregister, cuMemHostUnregister_params, call->a = ADDRESS(p->p);)
READER(d_map, cuMemMap_params, call->a = p->ptr; call->b = p->size; call->c = GT_MEMORY_DEVICE;)
READER(d_unmap, cuMemUnmap_params, call->a = p->ptr;)

#define S GT_ROW_STREAM
#define T (GT_ROW_STREAM | GT_ROW_PER_THREAD)
#define W GT_ROW_SYNCHRONOUS
#define D GT_ROW_DEFINES
#define P GT_ROW_SWITCHES
#define K GT_ROW_PIECES
#define R(name, what, flags, read) \
    { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, GT_DID_##what, flags, read },
#define C(name, what, flags, read) \
    { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, GT_DID_##what, flags, read },
/* The plain one and that of the per-thread default stream. */
#define RR(name, a, b, what, flags, read) R(name##_##a, what, (flags) | S, read) R(name##_##b, what, (flags) | T, read)
#define CC(name, b, what, flags, read) C(name, what, (flags) | S, read) C(name##_##b, what, (flags) | T, read)

const struct gt_call_row gt_call_rows[] = {
    RR(cudaLaunchKernel, v7000, ptsz_v7000, LAUNCH, 0, r_launch)
    RR(__cudaLaunchKernel, v13000, ptsz_v13000, LAUNCH, 0, r_launch)
    RR(cudaLaunchKernelExC, v11060, ptsz_v11060, LAUNCH, 0, r_launch_ex)
    RR(cudaLaunchCooperativeKernel, v9000, ptsz_v9000, LAUNCH, 0, r_cooperative)
    RR(cudaLaunchHostFunc, v10000, ptsz_v10000, HOST_FUNCTION, 0, r_host)
    RR(cudaStreamAddCallback, v5000, ptsz_v7000, HOST_FUNCTION, 0, r_callback)
    RR(cudaGraphLaunch, v10000, ptsz_v10000, GRAPH_LAUNCH, 0, r_graph_launch)
    RR(cudaMemcpy, v3020, ptds_v7000, COPY, W, r_copy)
    RR(cudaMemcpyAsync, v3020, ptsz_v7000, COPY, 0, r_copy_async)
    RR(cudaMemcpy2D, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpy2DAsync, v3020, ptsz_v7000, COPY, K, r_copy_2d_async)
    RR(cudaMemcpy3D, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpy3DAsync, v3020, ptsz_v7000, COPY, K, r_copy_3d_async)
    RR(cudaMemcpy3DPeerAsync, v4000, ptsz_v7000, COPY, K, r_copy_3d_peer_async)
    RR(cudaMemcpy3DPeer, v4000, ptds_v7000, COPY, K, NULL)
    RR(cudaMemcpy2DToArray, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpy2DFromArray, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpy2DArrayToArray, v3020, ptds_v7000, COPY, K, NULL)
    RR(cudaMemcpy2DToArrayAsync, v3020, ptsz_v7000, COPY, K, r_to_array_async)
    RR(cudaMemcpy2DFromArrayAsync, v3020, ptsz_v7000, COPY, K, r_from_array_async)
    R(cudaMemcpyPeer_v4000, COPY, S, r_copy_peer)
    R(cudaMemcpyPeerAsync_v4000, COPY, S, r_copy_peer_async)
    RR(cudaMemcpyToSymbol, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpyFromSymbol, v3020, ptds_v7000, COPY, W | K, NULL)
    RR(cudaMemcpyToSymbolAsync, v3020, ptsz_v7000, COPY, K, r_to_symbol_async)
    RR(cudaMemcpyFromSymbolAsync, v3020, ptsz_v7000, COPY, K, r_from_symbol_async)
    RR(cudaMemcpyBatchAsync, v12080, ptsz_v12080, COPY, K, r_copies_12)
    RR(cudaMemcpyBatchAsync, v13000, ptsz_v13000, COPY, K, r_copies)
    RR(cudaMemcpy3DBatchAsync, v13000, ptsz_v13000, COPY, 0, r_copies_3d)
    RR(cudaMemset, v3020, ptds_v7000, MEMSET, 0, r_memset)
    RR(cudaMemsetAsync, v3020, ptsz_v7000, MEMSET, 0, r_memset_async)
    RR(cudaMemset2D, v3020, ptds_v7000, MEMSET, K, NULL)
    RR(cudaMemset2DAsync, v3020, ptsz_v7000, MEMSET, K, r_memset_2d_async)
    RR(cudaMemset3D, v3020, ptds_v7000, MEMSET, K, NULL)
    RR(cudaMemset3DAsync, v3020, ptsz_v7000, MEMSET, K, r_memset_3d_async)
    R(cudaStreamCreate_v3020, STREAM_CREATE, D, r_stream_create)
    R(cudaStreamCreateWithFlags_v5000, STREAM_CREATE, D, r_stream_flags)
    R(cudaStreamCreateWithPriority_v5050, STREAM_CREATE, D, r_stream_priority)
    R(cudaStreamDestroy_v5050, STREAM_DESTROY, S, r_stream_destroy)
    RR(cudaStreamSynchronize, v3020, ptsz_v7000, STREAM_SYNC, 0, r_stream_sync)
    RR(cudaStreamQuery, v3020, ptsz_v7000, STREAM_QUERY, 0, r_stream_query)
    R(cudaEventCreate_v3020, EVENT_CREATE, D, r_event_create)
    R(cudaEventCreateWithFlags_v3020, EVENT_CREATE, D, r_event_flags)
    R(cudaEventDestroy_v3020, EVENT_DESTROY, 0, r_event_destroy)
    RR(cudaEventRecord, v3020, ptsz_v7000, EVENT_RECORD, 0, r_event_record)
    RR(cudaEventRecordWithFlags, v11010, ptsz_v11010, EVENT_RECORD, 0, r_event_record_flags)
    RR(cudaStreamWaitEvent, v3020, ptsz_v7000, EVENT_WAIT, 0, r_event_wait)
    R(cudaEventQuery_v3020, EVENT_QUERY, 0, r_event_query)
    R(cudaEventSynchronize_v3020, EVENT_SYNC, 0, r_event_sync)
    R(cudaDeviceSynchronize_v3020, DEVICE_SYNC, 0, NULL)
    R(cudaMalloc_v3020, ALLOC, D, r_malloc)
    R(cudaMallocPitch_v3020, ALLOC, D, r_malloc_pitch)
    R(cudaMalloc3D_v3020, ALLOC, D, r_malloc_3d)
    R(cudaMallocArray_v3020, ALLOC, D, r_array)
    R(cudaMalloc3DArray_v3020, ALLOC, D, r_array_3d)
    R(cudaFreeArray_v3020, FREE, D, r_free_array)
    R(cudaMallocManaged_v6000, ALLOC, D, r_malloc_managed)
    R(cudaMallocHost_v3020, ALLOC, D, r_malloc_host)
    R(cudaHostAlloc_v3020, ALLOC, D, r_host_alloc)
    RR(cudaMallocAsync, v11020, ptsz_v11020, ALLOC, D, r_malloc_async)
    RR(cudaMallocFromPoolAsync, v11020, ptsz_v11020, ALLOC, D, r_malloc_pool)
    R(cudaFree_v3020, FREE, D, r_free)
    R(cudaFreeHost_v3020, FREE, D, r_free_host)
    RR(cudaFreeAsync, v11020, ptsz_v11020, FREE, D, r_free_async)
    R(cudaHostRegister_v4000, REGISTER, D, r_register)
    R(cudaHostUnregister_v4000, UNREGISTER, D, r_unregister)
    R(cudaGraphInstantiate_v12000, OTHER, D, NULL)
    R(cudaGraphInstantiateWithFlags_v11040, OTHER, D, NULL)
    RR(cudaGraphInstantiateWithParams, v12000, ptsz_v12000, OTHER, D, NULL)
    R(cudaGraphExecUpdate_v10020, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecKernelNodeSetParams_v10010, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecMemcpyNodeSetParams_v10020, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecMemcpyNodeSetParams1D_v11010, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecMemcpyNodeSetParamsToSymbol_v11010, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecMemcpyNodeSetParamsFromSymbol_v11010, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecMemsetNodeSetParams_v10020, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphExecChildGraphNodeSetParams_v11010, GRAPH_CHANGE, D, r_child_change)
    R(cudaGraphExecNodeSetParams_v12020, GRAPH_CHANGE, D, r_graph_change)
    R(cudaGraphNodeSetEnabled_v11060, GRAPH_CHANGE, D, r_graph_change)
    R(cudaIpcGetEventHandle_v4010, EVENT_SHARE, D, r_event_share)
    R(cudaIpcOpenEventHandle_v4010, EVENT_OPEN, D, r_event_open)
    R(cudaProfilerStart_v4000, OTHER, P, NULL)
    R(cudaProfilerStop_v4000, OTHER, P, NULL)
    R(cudaDeviceEnablePeerAccess_v4000, OTHER, 0, NULL)
    RR(cudaStreamBeginCapture, v10000, ptsz_v10000, OTHER, D, NULL)
    RR(cudaStreamBeginCaptureToGraph, v12030, ptsz_v12030, OTHER, D, NULL)
    RR(cudaStreamEndCapture, v10000, ptsz_v10000, OTHER, D, NULL)

    CC(cuLaunchKernel, ptsz, LAUNCH, 0, d_launch)
    CC(cuLaunchKernelEx, ptsz, LAUNCH, 0, d_launch_ex)
    CC(cuLaunchCooperativeKernel, ptsz, LAUNCH, 0, d_cooperative)
    CC(cuLaunchHostFunc, ptsz, HOST_FUNCTION, 0, d_host)
    CC(cuStreamAddCallback, ptsz, HOST_FUNCTION, 0, d_callback)
    CC(cuGraphLaunch, ptsz, GRAPH_LAUNCH, 0, d_graph_launch)
    CC(cuMemcpy, ptds, COPY, W, d_copy)
    CC(cuMemcpyAsync, ptsz, COPY, 0, d_copy_async)
    CC(cuMemcpyHtoD_v2, ptds, COPY, W, d_h2d)
    CC(cuMemcpyHtoDAsync_v2, ptsz, COPY, 0, d_h2d_async)
    CC(cuMemcpyDtoH_v2, ptds, COPY, W, d_d2h)
    CC(cuMemcpyDtoHAsync_v2, ptsz, COPY, 0, d_d2h_async)
    CC(cuMemcpyDtoD_v2, ptds, COPY, 0, d_d2d)
    CC(cuMemcpyDtoDAsync_v2, ptsz, COPY, 0, d_d2d_async)
    CC(cuMemcpyPeer, ptds, COPY, 0, d_peer)
    CC(cuMemcpyPeerAsync, ptsz, COPY, 0, d_peer_async)
    CC(cuMemcpy2D_v2, ptds, COPY, W | K, NULL)
    CC(cuMemcpy2DUnaligned_v2, ptds, COPY, W | K, NULL)
    CC(cuMemcpy2DAsync_v2, ptsz, COPY, K, d_copy_2d_async)
    CC(cuMemcpy3D_v2, ptds, COPY, W | K, NULL)
    CC(cuMemcpy3DAsync_v2, ptsz, COPY, K, d_copy_3d_async)
    CC(cuMemcpy3DPeer, ptds, COPY, K, NULL)
    CC(cuMemcpy3DPeerAsync, ptsz, COPY, K, d_copy_3d_peer_async)
    CC(cuMemcpyHtoA_v2, ptds, COPY, W | K, NULL)
    CC(cuMemcpyHtoAAsync_v2, ptsz, COPY, K, d_h2a_async)
    CC(cuMemcpyAtoH_v2, ptds, COPY, W | K, NULL)
    CC(cuMemcpyAtoHAsync_v2, ptsz, COPY, K, d_a2h_async)
    CC(cuMemcpyDtoA_v2, ptds, COPY, K, NULL)
    CC(cuMemcpyAtoD_v2, ptds, COPY, K, NULL)
    CC(cuMemcpyAtoA_v2, ptds, COPY, K, NULL)
    CC(cuMemcpyBatchAsync, ptsz, COPY, K, r_copies_12)
    CC(cuMemcpyBatchAsync_v2, ptsz, COPY, K, d_copies)
    CC(cuMemcpy3DBatchAsync_v2, ptsz, COPY, 0, d_copies_3d)
    CC(cuMemsetD8_v2, ptds, MEMSET, 0, d_set8)
    CC(cuMemsetD16_v2, ptds, MEMSET, 0, d_set16)
    CC(cuMemsetD32_v2, ptds, MEMSET, 0, d_set32)
    CC(cuMemsetD2D8_v2, ptds, MEMSET, K, NULL)
    CC(cuMemsetD2D16_v2, ptds, MEMSET, K, NULL)
    CC(cuMemsetD2D32_v2, ptds, MEMSET, K, NULL)
    CC(cuMemsetD2D8Async, ptsz, MEMSET, K, d_set_rows8_async)
    CC(cuMemsetD2D16Async, ptsz, MEMSET, K, d_set_rows16_async)
    CC(cuMemsetD2D32Async, ptsz, MEMSET, K, d_set_rows32_async)
    CC(cuMemsetD8Async, ptsz, MEMSET, 0, d_set8_async)
    CC(cuMemsetD16Async, ptsz, MEMSET, 0, d_set16_async)
    CC(cuMemsetD32Async, ptsz, MEMSET, 0, d_set32_async)
    C(cuStreamCreate, STREAM_CREATE, D, d_stream_create)
    C(cuStreamCreateWithPriority, STREAM_CREATE, D, d_stream_priority)
    C(cuGreenCtxStreamCreate, STREAM_CREATE, D, d_green_stream)
    C(cuStreamDestroy_v2, STREAM_DESTROY, S, d_stream_destroy)
    CC(cuStreamSynchronize, ptsz, STREAM_SYNC, 0, d_stream_sync)
    CC(cuStreamQuery, ptsz, STREAM_QUERY, 0, d_stream_query)
    C(cuEventCreate, EVENT_CREATE, D, d_event_create)
    C(cuEventDestroy_v2, EVENT_DESTROY, 0, d_event_destroy)
    CC(cuEventRecord, ptsz, EVENT_RECORD, 0, d_event_record)
    CC(cuEventRecordWithFlags, ptsz, EVENT_RECORD, 0, d_event_record_flags)
    CC(cuStreamWaitEvent, ptsz, EVENT_WAIT, 0, d_event_wait)
    C(cuEventQuery, EVENT_QUERY, 0, d_event_query)
    C(cuEventSynchronize, EVENT_SYNC, 0, d_event_sync)
    C(cuCtxSynchronize, DEVICE_SYNC, 0, NULL)
    C(cuCtxSynchronize_v2, DEVICE_SYNC, 0, NULL)
    C(cuMemAlloc_v2, ALLOC, D, d_alloc)
    C(cuMemAllocPitch_v2, ALLOC, D, d_alloc_pitch)
    C(cuArrayCreate_v2, ALLOC, D, d_array)
    C(cuArray3DCreate_v2, ALLOC, D, d_array_3d)
    C(cuArrayDestroy, FREE, D, d_free_array)
    C(cuMemAllocManaged, ALLOC, D, d_alloc_managed)
    C(cuMemAllocHost_v2, ALLOC, D, d_alloc_host)
    C(cuMemHostAlloc, ALLOC, D, d_host_alloc)
    CC(cuMemAllocAsync, ptsz, ALLOC, D, d_alloc_async)
    CC(cuMemAllocFromPoolAsync, ptsz, ALLOC, D, d_alloc_pool)
    C(cuMemFree_v2, FREE, D, d_free)
    C(cuMemFreeHost, FREE, D, d_free_host)
    CC(cuMemFreeAsync, ptsz, FREE, D, d_free_async)
    C(cuMemHostRegister_v2, REGISTER, D, d_register)
    C(cuMemHostUnregister, UNREGISTER, D, d_unregister)
    C(cuMemMap, REGISTER, D, d_map)
    C(cuMemUnmap, UNREGISTER, D, d_unmap)
    C(cuGraphInstantiateWithFlags, OTHER, D, NULL)
    CC(cuGraphInstantiateWithParams, ptsz, OTHER, D, NULL)
    C(cuGraphExecUpdate_v2, GRAPH_CHANGE, D, r_graph_change)
    C(cuGraphExecKernelNodeSetParams_v2, GRAPH_CHANGE, D, r_graph_change)
    C(cuGraphExecMemcpyNodeSetParams, GRAPH_CHANGE, D, r_graph_change)
    C(cuGraphExecMemsetNodeSetParams, GRAPH_CHANGE, D, r_graph_change)
    C(cuGraphExecChildGraphNodeSetParams, GRAPH_CHANGE, D, r_child_change)
    C(cuGraphExecNodeSetParams, GRAPH_CHANGE, D, r_graph_change)
    C(cuGraphNodeSetEnabled, GRAPH_CHANGE, D, r_graph_change)
    C(cuIpcGetEventHandle, EVENT_SHARE, D, d_event_share)
    C(cuIpcOpenEventHandle, EVENT_OPEN, D, d_event_open)
    CC(cuStreamWaitValue32_v2, ptsz, UNPLAYED, 0, NULL)
    CC(cuStreamWaitValue64_v2, ptsz, UNPLAYED, 0, NULL)
    CC(cuStreamWriteValue32_v2, ptsz, UNPLAYED, 0, NULL)
    CC(cuStreamWriteValue64_v2, ptsz, UNPLAYED, 0, NULL)
    CC(cuStreamBatchMemOp_v2, ptsz, UNPLAYED, 0, NULL)
    CC(cuWaitExternalSemaphoresAsync, ptsz, UNPLAYED, 0, NULL)
    CC(cuSignalExternalSemaphoresAsync, ptsz, UNPLAYED, 0, NULL)
    C(cuCtxRecordEvent, UNPLAYED, 0, NULL)
    C(cuCtxWaitEvent, UNPLAYED, 0, NULL)
    C(cuGreenCtxRecordEvent, UNPLAYED, 0, NULL)
    C(cuGreenCtxWaitEvent, UNPLAYED, 0, NULL)
    C(cuProfilerStart, OTHER, P, NULL)
    C(cuProfilerStop, OTHER, P, NULL)
    CC(cuStreamBeginCapture_v2, ptsz, OTHER, D, NULL)
    CC(cuStreamEndCapture, ptsz, OTHER, D, NULL)
};
/* clang-format on */
const size_t gt_call_row_count = sizeof gt_call_rows / sizeof gt_call_rows[0];
