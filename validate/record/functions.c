/* functions.c - kernels and what they were given: values of parameters that may be pointers.
 *
 * Which memory a value leads to is looked up when the trace is made; here only values that lie between the lowest and
 * the highest address of any allocation are kept.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "validate/record/internal.h"

enum { MOST_PARAMETERS = 1024, MOST_WORDS = 512 /* of 4 KiB of parameters */, BUCKETS = 4096 };

struct function {
    struct function *next;
    const void *handle;
    uint32_t count; /* parameters */
    struct gt_recorded_parameter parameters[];
};
/* By the handle that launches have; none is ever taken out: loaded code rarely is. */
static struct function *_Atomic functions[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uint64_t lowest = UINT64_MAX, highest;

void gt_function_memory(uint64_t address, uint64_t bytes)
{
    uint64_t old;

    if (address == 0 || bytes == 0)
        return;
    old = atomic_load(&lowest);
    while (address < old && !atomic_compare_exchange_weak(&lowest, &old, address))
        ;
    old = atomic_load(&highest);
    while (address + bytes > old && !atomic_compare_exchange_weak(&highest, &old, address + bytes))
        ;
}

static bool may_be_pointer(uint64_t value)
{
    return value >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
           value < atomic_load_explicit(&highest, memory_order_relaxed);
}

/* The runtime's launches are seen where they call the driver: what they name a kernel by is not told to others. */
bool gt_launch_look(CUpti_CallbackId id, const void *parameters, struct gt_launch_view *view)
{
    const cuLaunchKernelEx_params *ex = parameters;
    const cuLaunchCooperativeKernel_params *cooperative = parameters;
    const cuLaunchKernel_params *plain = parameters;

    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        *view = (struct gt_launch_view){ ex->f, ex->kernelParams, ex->extra, NULL, 0, false, false, 0 };
        if (ex->config != NULL) {
            view->attributes = ex->config->attrs;
            view->attribute_count = ex->config->numAttrs;
        }
        return true;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        *view = (struct gt_launch_view){ cooperative->f, cooperative->kernelParams, NULL, NULL, 0, true, false, 0 };
        return true;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        *view = (struct gt_launch_view){ plain->f, plain->kernelParams, plain->extra, NULL, 0, false, false, 0 };
        return true;
    default: return false;
    }
}

/* The runtime gives the driver a kernel in place of a function. */
static CUresult get_parameter(const void *handle, size_t number, size_t *offset, size_t *bytes)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;

    if (gt_api.cuFuncGetParamInfo != NULL)
        result = gt_api.cuFuncGetParamInfo((CUfunction)(uintptr_t)handle, number, offset, bytes);
    if (result == CUDA_ERROR_INVALID_HANDLE && gt_api.cuKernelGetParamInfo != NULL)
        result = gt_api.cuKernelGetParamInfo((CUkernel)(uintptr_t)handle, number, offset, bytes);
    return result;
}

static const char *get_name(const void *handle)
{
    const char *name = NULL;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;

    if (gt_api.cuFuncGetName != NULL)
        result = gt_api.cuFuncGetName(&name, (CUfunction)(uintptr_t)handle);
    if (result == CUDA_ERROR_INVALID_HANDLE && gt_api.cuKernelGetName != NULL)
        result = gt_api.cuKernelGetName(&name, (CUkernel)(uintptr_t)handle);
    return result == CUDA_SUCCESS ? name : NULL;
}

static void write_function(const struct function *function, const char *name)
{
    size_t bytes = function->count * sizeof function->parameters[0];
    struct gt_record_function *record;
    uint32_t id = gt_writer_name(name);

    record = gt_writer_begin(GT_RECORDED_FUNCTION, sizeof *record + bytes);
    if (record == NULL)
        return;
    record->function = (uint64_t)(uintptr_t)function->handle;
    record->name = id;
    record->count = function->count;
    memcpy(record->parameters, function->parameters, bytes);
    gt_writer_end(record);
}

static struct function *describe(const void *handle)
{
    struct gt_recorded_parameter parameters[MOST_PARAMETERS];
    struct function *function;
    uint32_t count = 0;
    size_t offset, bytes;

    while (count < MOST_PARAMETERS && get_parameter(handle, count, &offset, &bytes) == CUDA_SUCCESS)
        parameters[count++] = (struct gt_recorded_parameter){ (uint32_t)offset, (uint32_t)bytes };
    function = malloc(sizeof *function + count * sizeof parameters[0]);
    if (function == NULL)
        return NULL;
    function->handle = handle;
    function->count = count;
    memcpy(function->parameters, parameters, count * sizeof parameters[0]);
    write_function(function, get_name(handle));
    return function;
}

static size_t bucket(const void *handle)
{
    return (size_t)((uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 52) % BUCKETS;
}

static const struct function *search(const struct function *function, const void *handle)
{
    while (function != NULL && function->handle != handle)
        function = function->next;
    return function;
}

static const struct function *find(const void *handle)
{
    size_t place = bucket(handle);
    const struct function *found = search(atomic_load_explicit(&functions[place], memory_order_acquire), handle);
    struct function *added;

    if (found != NULL)
        return found;
    pthread_mutex_lock(&lock);
    found = search(atomic_load(&functions[place]), handle);
    if (found == NULL && (added = describe(handle)) != NULL) {
        added->next = atomic_load(&functions[place]);
        atomic_store_explicit(&functions[place], added, memory_order_release);
        found = added;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Where parameter `number` stands; NULL where it does not. */
static const unsigned char *value_of(const struct gt_launch_view *view, const struct function *function,
                                     uint32_t number)
{
    const unsigned char *whole = NULL;

    if (view->parameters != NULL)
        return view->parameters[number];
    for (void **extra = view->extra; extra != NULL && extra[0] != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            whole = extra[1];
    return whole == NULL ? NULL : whole + function->parameters[number].offset;
}

/* The parameters' aligned eight bytes that may be pointers. */
static uint32_t find_words(const struct gt_launch_view *view, const struct function *function,
                           struct gt_recorded_word *words)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < function->count; i++) {
        const unsigned char *value = function->parameters[i].bytes >= 8 ? value_of(view, function, i) : NULL;

        for (uint32_t at = 0; value != NULL && at + 8 <= function->parameters[i].bytes && count < MOST_WORDS;
             at += 8) {
            uint64_t word;

            memcpy(&word, value + at, sizeof word);
            if (may_be_pointer(word))
                words[count++] = (struct gt_recorded_word){ i, at, word };
        }
    }
    return count;
}

static void read_attributes(const struct gt_launch_view *view, uint32_t *attributes, int32_t *priority)
{
    *attributes =
        (view->cooperative ? GT_RECORDED_COOPERATIVE : 0) | (view->has_priority ? GT_RECORDED_HAS_PRIORITY : 0);
    *priority = view->priority;
    for (unsigned i = 0; view->attributes != NULL && i < view->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &view->attributes[i];

        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute->value.cooperative)
            *attributes |= GT_RECORDED_COOPERATIVE;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
            attribute->value.programmaticStreamSerializationAllowed)
            *attributes |= GT_RECORDED_PROGRAMMATIC;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
            *attributes |= GT_RECORDED_HAS_PRIORITY;
            *priority = attribute->value.priority;
        }
    }
}

void gt_function_record(const struct gt_launch_view *view, const struct gt_recorded_giver *giver)
{
    const struct function *function = find(view->function);
    struct gt_recorded_word words[MOST_WORDS];
    struct gt_record_launch *record;
    uint32_t count, attributes;
    int32_t priority = 0;

    if (function == NULL)
        return;
    count = find_words(view, function, words);
    read_attributes(view, &attributes, &priority);
    record = gt_writer_begin(GT_RECORDED_LAUNCH, sizeof *record + count * sizeof words[0]);
    if (record == NULL)
        return;
    record->giver = *giver;
    record->function = (uint64_t)(uintptr_t)view->function;
    record->attributes = attributes | (function->count > 0 ? GT_RECORDED_PARAMETERS_KNOWN : 0);
    record->priority = priority;
    record->count = count;
    memcpy(record->words, words, count * sizeof words[0]);
    gt_writer_end(record);
}
