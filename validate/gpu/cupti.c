#include "validate/gpu/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti.h>

#include "sim/base/array.h"

enum { BUFFER_BYTES = 4 << 20, BUFFER_ALIGNMENT = 8 };

/* The part of CUPTI that is used, by the names that its header gives. */
/* clang-format off */
#define CUPTI_FUNCTIONS(F) \
    F(cuptiActivityRegisterTimestampCallback) \
    F(cuptiActivityRegisterCallbacks) \
    F(cuptiActivityEnable) F(cuptiActivityDisable) F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) \
        F(cuptiActivityGetNumDroppedRecords) F(cuptiGetResultString) F(cuptiGetGraphNodeId) F(cuptiSubscribe) \
            F(cuptiEnableCallback)
/* clang-format on */
static struct {
#define MEMBER(name) __typeof__(&name) name;
    CUPTI_FUNCTIONS(MEMBER)
#undef MEMBER
} cupti;
/* clang-format off */
static const struct { const char *name; size_t offset; } functions[] = {
#define ROW(name) { #name, offsetof(__typeof__(cupti), name) },
    CUPTI_FUNCTIONS(ROW)
#undef ROW
};
/* clang-format on */

/* Where a toolkit keeps it when the linker does not know. */
static const char *const libraries[] = {
    "libcupti.so.13",
    "/usr/local/cuda/lib64/libcupti.so.13",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
    "/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13",
};

/* An instantiated graph has copies of the nodes that were put in. */
struct clone {
    uint64_t copy, original;
};

static struct gt_activity activity;
static struct clone *clones;
static uint32_t clone_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_SubscriberHandle subscriber;
static bool opened;
static bool kernels_on, copies_on, driver_on;
static _Thread_local uint32_t thread_mark = GT_NONE;

uint64_t gt_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void add_gpu(struct gt_gpu_record record)
{
    gt_array_grow(activity.gpu, activity.gpu_count, activity.gpu_room);
    activity.gpu[activity.gpu_count++] = record;
}

static uint64_t original_of(uint64_t node)
{
    for (uint32_t i = 0; node != 0 && i < clone_count; i++)
        if (clones[i].copy == node)
            return clones[i].original;
    return node;
}

static void take_kernel(const CUpti_Activity *any)
{
    const CUpti_ActivityKernel10 *record = (const CUpti_ActivityKernel10 *)any;

    add_gpu((struct gt_gpu_record){ .start_ns = record->start,
                                    .end_ns = record->end,
                                    .kind = GT_OP_KERNEL,
                                    .node = original_of(record->graphNodeId),
                                    .correlation = record->correlationId });
}

static void take_copy(const CUpti_Activity *any)
{
    const CUpti_ActivityMemcpy6 *record = (const CUpti_ActivityMemcpy6 *)any;

    add_gpu((struct gt_gpu_record){ .start_ns = record->start,
                                    .end_ns = record->end,
                                    .kind = GT_OP_COPY,
                                    .node = original_of(record->graphNodeId),
                                    .bytes = record->bytes,
                                    .correlation = record->correlationId });
}

/* From one GPU to another. */
static void take_peer_copy(const CUpti_Activity *any)
{
    const CUpti_ActivityMemcpyPtoP4 *record = (const CUpti_ActivityMemcpyPtoP4 *)any;

    add_gpu((struct gt_gpu_record){ .start_ns = record->start,
                                    .end_ns = record->end,
                                    .kind = GT_OP_COPY,
                                    .node = original_of(record->graphNodeId),
                                    .bytes = record->bytes,
                                    .correlation = record->correlationId });
}

static void take_memset(const CUpti_Activity *any)
{
    const CUpti_ActivityMemset4 *record = (const CUpti_ActivityMemset4 *)any;

    add_gpu((struct gt_gpu_record){ .start_ns = record->start,
                                    .end_ns = record->end,
                                    .kind = GT_OP_MEMSET,
                                    .node = original_of(record->graphNodeId),
                                    .bytes = record->bytes,
                                    .correlation = record->correlationId });
}

/* clang-format off */
static const struct { CUpti_ActivityKind kind; void (*take)(const CUpti_Activity *any); } takers[] = {
    { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, take_kernel },
    { CUPTI_ACTIVITY_KIND_KERNEL, take_kernel },
    { CUPTI_ACTIVITY_KIND_MEMCPY, take_copy },
    { CUPTI_ACTIVITY_KIND_MEMCPY2, take_peer_copy },
    { CUPTI_ACTIVITY_KIND_MEMSET, take_memset },
};
/* clang-format on */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *records)
{
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *bytes = *buffer == NULL ? 0 : BUFFER_BYTES;
    *records = 0;
}

/* On a thread of CUPTI's own, or on the one that flushes. */
static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;

    (void)bytes;
    pthread_mutex_lock(&lock);
    while (valid > 0 && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
            if (takers[i].kind == record->kind)
                takers[i].take(record);
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        activity.dropped += dropped;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void take_clone(const CUpti_GraphData *graph)
{
    struct clone clone;

    if (cupti.cuptiGetGraphNodeId(graph->node, &clone.copy) != CUPTI_SUCCESS ||
        cupti.cuptiGetGraphNodeId(graph->originalNode, &clone.original) != CUPTI_SUCCESS)
        return;
    clones = gt_realloc(clones, clone_count + 1ull, sizeof *clones);
    clones[clone_count++] = clone;
}

static void take_call(const CUpti_CallbackData *call)
{
    if (call->callbackSite != CUPTI_API_ENTER)
        return;
    gt_array_grow(activity.api, activity.api_count, activity.api_room);
    activity.api[activity.api_count++] = (struct gt_api_record){ call->correlationId, thread_mark };
}

/* On the thread that makes the call. */
static void CUPTIAPI take_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    pthread_mutex_lock(&lock);
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
        take_call(data);
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
        take_clone(((const CUpti_ResourceData *)data)->resourceDescriptor);
    pthread_mutex_unlock(&lock);
}

static int fail(const char *what, CUptiResult code, struct gt_error *error)
{
    const char *text = NULL;

    cupti.cuptiGetResultString(code, &text);
    return gt_error_set(error, "CUPTI: %s: %s", what, text != NULL ? text : "unknown error");
}

#define TRY(call, error)                      \
    do {                                      \
        CUptiResult code_ = cupti.call;       \
        if (code_ != CUPTI_SUCCESS)           \
            return fail(#call, code_, error); \
    } while (0)

static int load(struct gt_error *error)
{
    void *library = NULL;

    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && library == NULL; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return gt_error_set(error, "no libcupti.so.13; install cuda-cupti of CUDA 13, or put its folder into "
                                   "LD_LIBRARY_PATH");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL)
            return gt_error_set(error, "libcupti.so.13 has no %s; install that of CUDA 13", functions[i].name);
        memcpy((char *)&cupti + functions[i].offset, &function, sizeof function);
    }
    return 0;
}

int gt_cupti_open(struct gt_error *error)
{
    if (opened)
        return 0;
    if (load(error) != 0)
        return -1;
    TRY(cuptiActivityRegisterTimestampCallback(gt_clock_ns), error);
    TRY(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), error);
    TRY(cuptiSubscribe(&subscriber, take_callback, NULL), error);
    TRY(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED), error);
    opened = true;
    return 0;
}

/* The calls that ask for work on the GPU; those that launch kernels are left alone where kernels tell
 * about themselves. */
/* clang-format off */
static const struct { CUpti_CallbackId id; bool kernels; } calls[] = {
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeer_v4000, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, false },
    { CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, true },
    { CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, true },
    { CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, true },
};
/* Copies are recorded from the first time on: to switch that back on slows down what comes next. */
static const struct { CUpti_ActivityKind kind; bool kernels; } kinds[] = {
    { CUPTI_ACTIVITY_KIND_MEMCPY, false },
    { CUPTI_ACTIVITY_KIND_MEMCPY2, false },
    { CUPTI_ACTIVITY_KIND_MEMSET, false },
    { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true },
};
/* clang-format on */

/* Launches by the driver's functions. */
static const CUpti_CallbackId driver_calls[] = { CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                                 CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx };

static int watch_calls(bool on, struct gt_error *error)
{
    for (size_t i = 0; i < sizeof driver_calls / sizeof driver_calls[0] && driver_on; i++)
        TRY(cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, driver_calls[i]), error);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (kernels_on || !calls[i].kernels)
            TRY(cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, calls[i].id), error);
    return 0;
}

int gt_cupti_begin(bool kernels, struct gt_error *error)
{
    TRY(cuptiActivityFlushAll(0), error); /* what is none of it */
    activity.gpu_count = activity.api_count = activity.dropped = 0;
    kernels_on = kernels;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kernels ? kernels : !copies_on)
            TRY(cuptiActivityEnable(kinds[i].kind), error);
    copies_on = true;
    return watch_calls(true, error);
}

int gt_cupti_end(const struct gt_activity **result, struct gt_error *error)
{
    if (watch_calls(false, error) != 0)
        return -1;
    TRY(cuptiActivityFlushAll(0), error);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kernels && kernels_on)
            TRY(cuptiActivityDisable(kinds[i].kind), error);
    TRY(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), error);
    *result = &activity;
    return 0;
}

int gt_cupti_pause(struct gt_error *error)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && copies_on; i++)
        if (!kinds[i].kernels)
            TRY(cuptiActivityDisable(kinds[i].kind), error);
    copies_on = false;
    return 0;
}

void gt_cupti_watch_driver(void)
{
    driver_on = true;
}

void gt_cupti_mark(uint32_t mark)
{
    thread_mark = mark;
}

uint64_t gt_cupti_node(cudaGraphNode_t node)
{
    uint64_t number = 0;

    return cupti.cuptiGetGraphNodeId((CUgraphNode)node, &number) == CUPTI_SUCCESS ? number : 0;
}
