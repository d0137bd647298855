/* streams.c - contexts, streams and GPUs, each described once, when a call first means it. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "validate/record/internal.h"

enum { CONTEXTS = 256, GPUS = 64 };

static _Atomic bool contexts[CONTEXTS]; /* by number: told */
static _Atomic bool gpus[GPUS];
static _Atomic bool too_many;

static const struct {
    enum gt_recorded_gpu_number number;
    CUdevice_attribute attribute;
} attributes[] = {
    { GT_RECORDED_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT },
    { GT_RECORDED_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR },
    { GT_RECORDED_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR },
    { GT_RECORDED_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE },
    { GT_RECORDED_WARP_THREADS, CU_DEVICE_ATTRIBUTE_WARP_SIZE },
    { GT_RECORDED_SM_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR },
    { GT_RECORDED_SM_BLOCKS, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR },
    { GT_RECORDED_SM_REGISTERS, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR },
    { GT_RECORDED_SM_SHARED, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR },
    { GT_RECORDED_BLOCK_SHARED, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN },
    { GT_RECORDED_BLOCK_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK },
    { GT_RECORDED_ENGINES, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT },
};

static void describe_gpu(uint32_t id)
{
    struct gt_record_gpu *record;
    char name[256] = "";
    CUdevice device;
    CUuuid uuid = { { 0 } };

    if (id >= GPUS || atomic_exchange(&gpus[id], true) || gt_api.cuDeviceGet == NULL ||
        gt_api.cuDeviceGetName == NULL || gt_api.cuDeviceGetAttribute == NULL ||
        gt_api.cuDeviceGet(&device, (int)id) != CUDA_SUCCESS)
        return;
    gt_api.cuDeviceGetName(name, sizeof name - 1, device);
    if (gt_api.cuDeviceGetUuid != NULL)
        gt_api.cuDeviceGetUuid(&uuid, device);
    record = gt_writer_begin(GT_RECORDED_GPU, sizeof *record + strlen(name));
    if (record == NULL)
        return;
    record->id = id;
    record->length = (uint32_t)strlen(name);
    memcpy(record->text, name, strlen(name));
    memcpy(record->uuid, &uuid, sizeof record->uuid);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int value = 0;

        if (gt_api.cuDeviceGetAttribute(&value, attributes[i].attribute, device) == CUDA_SUCCESS)
            record->number[attributes[i].number] = value;
    }
    gt_writer_end(record);
}

static void write_stream(const struct gt_record_stream *stream)
{
    struct gt_record_stream *record = gt_writer_begin(GT_RECORDED_STREAM, sizeof *record);

    if (record == NULL)
        return;
    *record = (struct gt_record_stream){ record->head,
                                         gt_writer_now_ns(),
                                         stream->handle,
                                         stream->thread,
                                         stream->context,
                                         stream->id,
                                         stream->flags,
                                         stream->priority,
                                         stream->green,
                                         stream->sms,
                                         0 };
    gt_writer_end(record);
}

/* The green context that a stream is in, and its SMs. */
static void find_green(CUstream handle, struct gt_record_stream *stream)
{
    CUgreenCtx green = NULL;
    CUdevResource resource;

    if (gt_api.cuStreamGetGreenCtx == NULL || gt_api.cuGreenCtxGetDevResource == NULL ||
        gt_api.cuStreamGetGreenCtx(handle, &green) != CUDA_SUCCESS || green == NULL ||
        gt_api.cuGreenCtxGetDevResource(green, &resource, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
        return;
    stream->green = (uint64_t)(uintptr_t)green;
    stream->sms = resource.sm.smCount;
}

void gt_context_met(CUcontext context, uint32_t number)
{
    struct gt_record_context *record;
    uint32_t gpu = 0, null_stream = UINT32_MAX;

    if (number >= CONTEXTS) {
        if (!atomic_exchange(&too_many, true))
            gt_writer_problem("more than %d contexts: what is in the others' default streams cannot be told",
                              CONTEXTS);
        return;
    }
    if (atomic_load_explicit(&contexts[number], memory_order_relaxed) || atomic_exchange(&contexts[number], true))
        return;
    gt_calls_own(true);
    gt_api.cuptiGetDeviceId(context, &gpu);
    if (gt_api.cuptiGetStreamIdEx(context, NULL, 0, &null_stream) != CUPTI_SUCCESS)
        null_stream = UINT32_MAX;
    describe_gpu(gpu);
    record = gt_writer_begin(GT_RECORDED_CONTEXT, sizeof *record);
    if (record != NULL) {
        record->context = number;
        record->gpu = gpu;
        record->null_stream = null_stream;
        gt_writer_end(record);
    }
    gt_calls_own(false);
}

void gt_stream_made(CUcontext context, CUstream stream)
{
    struct gt_record_stream made = { .handle = (uint64_t)(uintptr_t)stream };
    unsigned flags = 0;

    gt_calls_own(true);
    if (gt_api.cuptiGetStreamIdEx(context, stream, 0, &made.id) == CUPTI_SUCCESS &&
        gt_api.cuptiGetContextId(context, &made.context) == CUPTI_SUCCESS) {
        if (gt_api.cuStreamGetFlags != NULL && gt_api.cuStreamGetFlags(stream, &flags) == CUDA_SUCCESS)
            made.flags = flags & CU_STREAM_NON_BLOCKING ? GT_RECORDED_NON_BLOCKING : 0;
        if (gt_api.cuStreamGetPriority != NULL)
            gt_api.cuStreamGetPriority(stream, &made.priority);
        find_green(stream, &made);
        write_stream(&made);
    }
    gt_calls_own(false);
}

void gt_per_thread_stream_met(CUcontext context, uint32_t number)
{
    static _Thread_local uint32_t told; /* in this context: contexts are numbered from 1 */
    struct gt_record_stream met = { .handle = GT_RECORDED_PER_THREAD_STREAM, .context = number };

    if (told == number || context == NULL)
        return;
    told = number;
    gt_calls_own(true);
    met.thread = gt_writer_thread();
    if (gt_api.cuptiGetStreamIdEx(context, NULL, 1, &met.id) == CUPTI_SUCCESS)
        write_stream(&met);
    gt_calls_own(false);
}
