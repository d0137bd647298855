/* describe.c - who is who: names, GPUs, contexts, streams, threads. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/import/cuda_api.h"
#include "traces/import/device.h"
#include "traces/names/demangle.h"
#include "traces/recorded/internal.h"

enum { MOST_NAMES = 1 << 24, MOST_GPU_ID = 65535 };

static void read_names(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_NAME);
    uint32_t count = GT_RECORD_COUNT(process, GT_RECORDED_NAME);

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_record_name *name = items[i];

        if (name->id < MOST_NAMES && name->id >= process->name_count)
            process->name_count = name->id + 1;
    }
    process->names = gt_realloc(NULL, process->name_count + 1ull, sizeof *process->names);
    process->kernel_names = gt_realloc(NULL, process->name_count + 1ull, sizeof *process->kernel_names);
    process->call_names = gt_realloc(NULL, process->name_count + 1ull, sizeof *process->call_names);
    memset(process->names, 0xff, process->name_count * sizeof *process->names);
    memset(process->call_names, 0xff, process->name_count * sizeof *process->call_names);
    memset(process->kernel_names, 0xff, process->name_count * sizeof *process->kernel_names);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_record_name *name = items[i];

        if (name->id < process->name_count && name->length > 0)
            process->names[name->id] = gt_name(recorded->import.workload, name->text, name->length);
    }
}

uint32_t gt_recorded_name(const struct gt_recorded_process *process, uint32_t name)
{
    return name < process->name_count ? process->names[name] : GT_NONE;
}

/* As people know them, without the versions that CUPTI puts behind them ("cudaMalloc_v3020"). */
uint32_t gt_recorded_call_name(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t name)
{
    struct gt_workload *workload = recorded->import.workload;
    const char *text;

    if (gt_recorded_name(process, name) == GT_NONE)
        return GT_NONE;
    if (process->call_names[name] == GT_NONE) {
        text = gt_name_text(workload, process->names[name]);
        text += strncmp(text, "__", 2) == 0 ? 2 : 0; /* __cudaLaunchKernel(), as headers call it */
        process->call_names[name] = gt_name(workload, text, gt_cuda_api_base_length(text, strlen(text)));
    }
    return process->call_names[name];
}

uint32_t gt_recorded_kernel_name(struct gt_recorded *recorded, struct gt_recorded_process *process, uint32_t name)
{
    struct gt_workload *workload = recorded->import.workload;
    char *text;

    if (gt_recorded_name(process, name) == GT_NONE) {
        gt_import_warn(workload, "names-missing", 1);
        return gt_name(workload, "unnamed", 7);
    }
    if (process->kernel_names[name] == GT_NONE) {
        text = gt_demangle(gt_name_text(workload, process->names[name]));
        process->kernel_names[name] = gt_name(workload, text, strlen(text));
        free(text);
    }
    return process->kernel_names[name];
}

static bool id_taken(const struct gt_recorded *recorded, uint32_t id)
{
    for (uint32_t i = 0; i < recorded->gpu_count; i++)
        if (recorded->gpus[i].id == id)
            return true;
    return false;
}

/* Processes may count the same GPUs differently (CUDA_VISIBLE_DEVICES): who has the same UUID is the same. */
static void meet_gpu(struct gt_recorded *recorded, const struct gt_record_gpu *gpu)
{
    uint32_t id = gpu->id;

    for (uint32_t i = 0; i < recorded->gpu_count; i++)
        if (memcmp(recorded->gpus[i].record->uuid, gpu->uuid, sizeof gpu->uuid) == 0)
            return;
    for (uint32_t other = 0; id_taken(recorded, id); other++)
        id = other;
    gt_array_grow(recorded->gpus, recorded->gpu_count, recorded->gpu_room);
    recorded->gpus[recorded->gpu_count++] = (struct gt_recorded_gpu){ gpu, id };
}

uint32_t gt_recorded_gpu_id(const struct gt_recorded *recorded, const struct gt_recorded_process *process,
                            uint32_t id)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_GPU);

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_GPU); i++) {
        const struct gt_record_gpu *gpu = items[i];

        for (uint32_t n = 0; gpu->id == id && n < recorded->gpu_count; n++)
            if (memcmp(recorded->gpus[n].record->uuid, gpu->uuid, sizeof gpu->uuid) == 0)
                return recorded->gpus[n].id;
    }
    return id;
}

static const struct gt_record_context *find_context(const struct gt_recorded_process *process, uint32_t context)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_CONTEXT);

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_CONTEXT); i++) {
        const struct gt_record_context *found = items[i];

        if (found->context == context)
            return found;
    }
    return NULL;
}

static uint32_t gpu_of_context(const struct gt_recorded_process *process, uint32_t context)
{
    const struct gt_record_context *found = find_context(process, context);

    return found == NULL ? 0 : found->gpu;
}

uint32_t gt_recorded_stream(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t gpu,
                            uint32_t context, uint32_t id)
{
    const struct gt_record_context *of;
    uint32_t before = recorded->import.workload->stream_count, stream;
    uint32_t of_gpu = gt_recorded_gpu_id(recorded, process, gpu);

    if (id < process->stream_context_count && process->stream_context[id] != 0)
        context = process->stream_context[id] - 1; /* CUPTI has a green context's work in a context of its own */
    of = find_context(process, context);
    stream =
        gt_import_stream(&recorded->import, process->key, of_gpu > MOST_GPU_ID ? MOST_GPU_ID : of_gpu, context, id);
    if (stream == before) /* one that nobody made, a graph's branch */
        recorded->import.workload->streams[stream].flags =
            of != NULL && of->null_stream == id ? GT_STREAM_LEGACY_DEFAULT : GT_STREAM_NON_BLOCKING;
    return stream;
}

static int compare_streams(const void *left, const void *right)
{
    const struct gt_record_stream *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->handle, b->handle);
    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->time_ns, b->time_ns);
    GT_ORDER(a->id, b->id);
    return 0;
}

/* The last that the handle meant at that time, for that thread. */
static const struct gt_record_stream *find_stream(const struct gt_recorded_process *process, uint64_t handle,
                                                  uint64_t thread, uint64_t time_ns, uint32_t context)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_STREAM];
    const struct gt_record_stream *found = NULL;
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_record_stream *at = list->items[middle];

        if (at->handle < handle || (at->handle == handle && at->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; i < list->count; i++) {
        const struct gt_record_stream *at = list->items[i];

        if (at->handle != handle || at->thread != thread || (found != NULL && at->time_ns > time_ns))
            break;
        if (thread == 0 || at->context == context)
            found = at;
    }
    return found;
}

uint32_t gt_recorded_stream_meant(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                                  const struct gt_record_call *call)
{
    const struct gt_record_context *context = find_context(process, call->context);
    bool per_thread = call->stream == GT_RECORDED_PER_THREAD_STREAM;
    const struct gt_record_stream *stream;

    if (call->stream == GT_RECORDED_LEGACY_STREAM)
        return context == NULL || context->null_stream == UINT32_MAX
                   ? GT_NONE
                   : gt_recorded_stream(recorded, process, context->gpu, call->context, context->null_stream);
    stream = find_stream(process, call->stream, per_thread ? call->thread : 0, call->end_ns, call->context);
    if (stream == NULL)
        return GT_NONE;
    return gt_recorded_stream(recorded, process, gpu_of_context(process, stream->context), stream->context,
                              stream->id);
}

/* Numbers of streams are a process's, whatever their contexts. */
static void know_contexts(struct gt_recorded_process *process)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_STREAM];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_stream *record = list->items[i];

        if (record->id < MOST_NAMES && record->id >= process->stream_context_count)
            process->stream_context_count = record->id + 1;
    }
    process->stream_context = gt_calloc(process->stream_context_count + 1ull, sizeof *process->stream_context);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_stream *record = list->items[i];

        if (record->id < process->stream_context_count && record->context < UINT32_MAX)
            process->stream_context[record->id] = record->context + 1;
    }
}

/* Green contexts are numbered as their first streams come: of this stream's; 0: it is in none, or of unknown SMs. */
static uint16_t green_number(const struct gt_recorded_process *process, uint32_t stream)
{
    const struct gt_record_stream *const *streams = (const void *)process->lists[GT_RECORDED_STREAM].items;
    uint32_t number = 1;

    if (streams[stream]->green == 0 || streams[stream]->sms == 0 || streams[stream]->sms > UINT16_MAX)
        return 0;
    for (uint32_t i = 0; streams[i]->green != streams[stream]->green; i++) {
        bool first = streams[i]->green != 0;

        for (uint32_t j = 0; first && j < i; j++)
            first = streams[j]->green != streams[i]->green;
        number += first;
    }
    return (uint16_t)number;
}

/* Contexts that have more SMs than their GPU followed each other, or have some in common: nobody knows when which had them. */
static bool greens_fit(const struct gt_recorded_process *process)
{
    const struct gt_record_stream *const *streams = (const void *)process->lists[GT_RECORDED_STREAM].items;
    const struct gt_record_gpu *const *gpus = (const void *)process->lists[GT_RECORDED_GPU].items;
    uint64_t sms = 0;

    for (uint32_t i = 0, most = 0; i < process->lists[GT_RECORDED_STREAM].count; i++) {
        uint32_t number = green_number(process, i);

        sms += number > most ? streams[i]->sms : 0;
        most = number > most ? number : most;
    }
    for (uint32_t i = 0; i < process->lists[GT_RECORDED_GPU].count; i++)
        if (gpus[i]->number[GT_RECORDED_SMS] > 0 && sms > (uint64_t)gpus[i]->number[GT_RECORDED_SMS])
            return false;
    return true;
}

static void read_streams(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_STREAM];
    bool fit;

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_CONTEXT); i++) {
        const struct gt_record_context *context = GT_RECORDS(process, GT_RECORDED_CONTEXT)[i];

        if (context->null_stream != UINT32_MAX)
            gt_recorded_stream(recorded, process, context->gpu, context->context, context->null_stream);
    }
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_streams);
    know_contexts(process);
    fit = greens_fit(process);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_stream *record = list->items[i];
        uint32_t stream = gt_recorded_stream(recorded, process, gpu_of_context(process, record->context),
                                             record->context, record->id);
        struct gt_stream *made = &recorded->import.workload->streams[stream];

        made->priority = record->priority;
        made->green = fit ? green_number(process, i) : 0;
        made->sms = (uint16_t)(made->green > 0 ? record->sms : 0);
        if (made->flags & GT_STREAM_LEGACY_DEFAULT)
            continue;
        made->flags = record->flags & GT_RECORDED_NON_BLOCKING          ? GT_STREAM_NON_BLOCKING
                      : record->handle == GT_RECORDED_PER_THREAD_STREAM ? GT_STREAM_PER_THREAD_DEFAULT
                                                                        : 0;
    }
}

void gt_recorded_describe(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const void *const *gpus = GT_RECORDS(process, GT_RECORDED_GPU);

    read_names(recorded, process);
    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_GPU); i++)
        meet_gpu(recorded, gpus[i]);
    read_streams(recorded, process);
}

static const struct {
    const char *key;
    enum gt_recorded_gpu_number number;
    int64_t unit, limit; /* limit 0: none */
} keys[] = {
    { "chip.sms", GT_RECORDED_SMS, 1, 0 },
    { "chip.compute_major", GT_RECORDED_MAJOR, 1, 0 },
    { "chip.clock_mhz", GT_RECORDED_CLOCK_KHZ, 1000, 0 },
    { "sm.warp_threads", GT_RECORDED_WARP_THREADS, 1, 0 },
    { "sm.threads", GT_RECORDED_SM_THREADS, 1, 0 },
    { "sm.blocks", GT_RECORDED_SM_BLOCKS, 1, 0 },
    { "sm.registers", GT_RECORDED_SM_REGISTERS, 1, 0 },
    { "sm.shared_bytes", GT_RECORDED_SM_SHARED, 1, 0 },
    { "block.shared_bytes", GT_RECORDED_BLOCK_SHARED, 1, 0 },
    { "block.threads", GT_RECORDED_BLOCK_THREADS, 1, 0 },
    /* Engines beyond one a direction and one for copies within the device serve peers. */
    { "copy.engines", GT_RECORDED_ENGINES, 1, 3 },
};

static void set_keys(struct gt_import_device *draft, const struct gt_record_gpu *gpu)
{
    int64_t threads = gpu->number[GT_RECORDED_SM_THREADS], warp = gpu->number[GT_RECORDED_WARP_THREADS];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int64_t number = gpu->number[keys[i].number];

        if (number < keys[i].unit)
            continue; /* not known */
        number /= keys[i].unit;
        gt_import_device_set(draft, keys[i].key,
                             keys[i].limit != 0 && number > keys[i].limit ? keys[i].limit : number);
    }
    if (warp > 0 && threads > 0)
        gt_import_device_set(draft, "sm.warps", threads / warp);
    if (gpu->number[GT_RECORDED_MAJOR] > 0) {
        gt_import_device_set(draft, "chip.compute_minor", gpu->number[GT_RECORDED_MINOR]);
        gt_import_device_capability(draft, gpu->number[GT_RECORDED_MAJOR], gpu->number[GT_RECORDED_MINOR],
                                    gpu->number[GT_RECORDED_SM_BLOCKS] <= 0);
    }
}

/* Of the first process that uses a GPU. */
static void set_connections(struct gt_import_device *draft, const struct gt_recorded *recorded)
{
    for (uint32_t i = 0; i < recorded->process_count; i++) {
        const struct gt_recorded_process *process = &recorded->processes[i];

        if (process->header == NULL || GT_RECORD_COUNT(process, GT_RECORDED_CONTEXT) == 0)
            continue;
        if (process->header->connections > 0)
            gt_import_device_set(draft, "scheduling.connections", process->header->connections);
        return;
    }
}

void gt_recorded_describe_device(struct gt_recorded *recorded)
{
    struct gt_workload *workload = recorded->import.workload;
    struct gt_import_device draft;
    uint32_t first;

    for (uint32_t i = 0; i < recorded->gpu_count; i++) {
        const struct gt_record_gpu *gpu = recorded->gpus[i].record;

        for (uint32_t n = 0; n < workload->gpu_count; n++)
            if (workload->gpus[n].id == recorded->gpus[i].id && gpu->length > 0)
                workload->gpus[n].name = gt_name(workload, gpu->text, gpu->length);
    }
    for (first = 0; first < recorded->gpu_count; first++)
        if (workload->gpu_count > 0 && recorded->gpus[first].id == workload->gpus[0].id)
            break;
    if (first == recorded->gpu_count) {
        gt_import_device_unknown(workload);
        return;
    }
    gt_import_device_begin(&draft, workload, gt_name_text(workload, workload->gpus[0].name));
    set_keys(&draft, recorded->gpus[first].record);
    set_connections(&draft, recorded);
    gt_import_device_end(&draft);
}
