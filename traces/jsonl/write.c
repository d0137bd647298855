/* Writing a trace: the header, then definitions, then calls; FORMAT.md describes the lines. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/program.h"
#include "sim/workload/task_graph.h"
#include "traces/jsonl/emit.h"
#include "traces/jsonl/reader.h"
#include "traces/jsonl/trace.h"

static void emit_settings(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    if (workload->setting_count == 0)
        return;
    gt_emit_key(emit, "settings");
    gt_emit_open(emit);
    for (uint32_t i = 0; i < workload->setting_count; i++)
        gt_emit_any_text(emit, workload->settings[i].key, workload->settings[i].value);
    yajl_gen_map_close(emit->gen);
}

static void emit_warnings(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    if (workload->warning_count == 0)
        return;
    gt_emit_key(emit, "warnings");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < workload->warning_count; i++) {
        gt_emit_open(emit);
        gt_emit_any_text(emit, "kind", workload->warnings[i].kind);
        gt_emit_number(emit, "count", workload->warnings[i].count);
        gt_emit_any_text(emit, "text", workload->warnings[i].text);
        yajl_gen_map_close(emit->gen);
    }
    yajl_gen_array_close(emit->gen);
}

static void emit_header(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    gt_emit_open(emit);
    gt_emit_number(emit, "gridtide", GT_TRACE_VERSION);
    if (workload->name != NULL)
        gt_emit_any_text(emit, "name", workload->name);
    if (workload->source != NULL)
        gt_emit_any_text(emit, "source", workload->source);
    if (workload->device != NULL)
        gt_emit_any_text(emit, "device", workload->device);
    emit_settings(emit);
    emit_warnings(emit);
    if (workload->recording.known)
        gt_emit_recording(emit);
    gt_emit_close(emit, GT_EXTRA_HEADER, 0);
    gt_emit_newline(emit);
}

/* The number and the name, where the key does not say them: a number stands for itself, a text is the
 * name of the thing that is the `index`th. */
static void emit_identity(struct gt_emit *emit, const struct gt_key *key, uint32_t index, uint64_t id, uint32_t name)
{
    const char *text = name == GT_NONE ? NULL : emit->keys.names[name];

    if (id != (key->text == NULL ? key->number : index))
        gt_emit_number(emit, "id", id);
    if (key->text == NULL ? text != NULL : text == NULL || strcmp(text, key->text) != 0)
        gt_emit_text(emit, "name", text);
}

static void emit_peers(struct gt_emit *emit, uint32_t index)
{
    gt_emit_key(emit, "peers");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < index; i++)
        if (gt_gpus_are_peers(emit->workload, i, index))
            gt_emit_key_value(emit, &emit->keys.gpus[i]);
    yajl_gen_array_close(emit->gen);
}

static void emit_gpu(struct gt_emit *emit, uint32_t index)
{
    const struct gt_gpu *gpu = &emit->workload->gpus[index];

    gt_emit_open(emit);
    gt_emit_ref(emit, "gpu", &emit->keys.gpus[index]);
    emit_identity(emit, &emit->keys.gpus[index], index, gpu->id, gpu->name);
    if (gpu->allocated_bytes != 0)
        gt_emit_number(emit, "allocated_bytes", gpu->allocated_bytes);
    if (gpu->peers_known)
        emit_peers(emit, index);
    gt_emit_close(emit, GT_EXTRA_GPU, index);
    gt_emit_newline(emit);
}

static void emit_thread(struct gt_emit *emit, uint32_t index)
{
    const struct gt_thread *thread = &emit->workload->threads[index];
    char share[GT_SHARING_TEXT_BYTES];

    gt_emit_open(emit);
    gt_emit_ref(emit, "thread", &emit->keys.threads[index]);
    emit_identity(emit, &emit->keys.threads[index], index, thread->id, thread->name);
    if (thread->process != 0)
        gt_emit_number(emit, "process", thread->process);
    if (thread->lock != GT_NONE)
        gt_emit_text(emit, "lock", emit->keys.names[thread->lock]);
    if (thread->sharing.how != GT_SHARE_UNSAID) {
        gt_sharing_text(&thread->sharing, share);
        gt_emit_text(emit, "share", share);
    }
    gt_emit_close(emit, GT_EXTRA_THREAD, index);
    gt_emit_newline(emit);
}

/* Number 0 stands for the legacy default stream, every other key for one without flags. */
static void emit_flags(struct gt_emit *emit, const struct gt_key *key, uint32_t flags)
{
    uint32_t usual = key->text == NULL && key->number == 0 ? GT_STREAM_LEGACY_DEFAULT : 0;

    if (flags == usual)
        return;
    gt_emit_key(emit, "flags");
    yajl_gen_array_open(emit->gen);
    for (unsigned i = 0; i < GT_STREAM_FLAG_NAMES; i++)
        if (flags & gt_stream_flag_names[i].flag)
            yajl_gen_string(emit->gen, (const unsigned char *)gt_stream_flag_names[i].name,
                            strlen(gt_stream_flag_names[i].name));
    yajl_gen_array_close(emit->gen);
}

static void emit_stream(struct gt_emit *emit, uint32_t index)
{
    const struct gt_stream *stream = &emit->workload->streams[index];
    const struct gt_key *key = &emit->keys.streams[index], *gpu = &emit->keys.gpus[stream->gpu];

    gt_emit_open(emit);
    gt_emit_ref(emit, "stream", key);
    emit_identity(emit, key, index, stream->id, stream->name);
    if (gpu->text != NULL || gpu->number != 0)
        gt_emit_ref(emit, "gpu", gpu);
    if (stream->context != 0)
        gt_emit_number(emit, "context", stream->context);
    emit_flags(emit, key, stream->flags);
    if (stream->priority != 0)
        gt_emit_signed(emit, "priority", stream->priority);
    if (stream->green != 0) {
        gt_emit_number(emit, "green", stream->green);
        gt_emit_number(emit, "sms", stream->sms);
    }
    gt_emit_close(emit, GT_EXTRA_STREAM, index);
    gt_emit_newline(emit);
}

static void emit_event(struct gt_emit *emit, uint32_t index)
{
    const struct gt_event *event = &emit->workload->events[index];

    gt_emit_open(emit);
    gt_emit_ref(emit, "event", &emit->keys.events[index]);
    emit_identity(emit, &emit->keys.events[index], index, event->id, event->name);
    gt_emit_close(emit, GT_EXTRA_EVENT, index);
    gt_emit_newline(emit);
}

static void emit_buffer(struct gt_emit *emit, uint32_t index)
{
    const struct gt_buffer *buffer = &emit->workload->buffers[index];
    const struct gt_key *gpu = &emit->keys.gpus[buffer->gpu];

    gt_emit_open(emit);
    gt_emit_text(emit, "buffer", emit->keys.names[buffer->name]);
    if (gpu->text != NULL || gpu->number != 0)
        gt_emit_ref(emit, "gpu", gpu);
    if (buffer->bytes != 0)
        gt_emit_number(emit, "bytes", buffer->bytes);
    if (buffer->address != GT_ADDRESS_NONE)
        gt_emit_number(emit, "address", buffer->address);
    if (buffer->memory != GT_MEMORY_DEVICE)
        gt_emit_text(emit, "memory", gt_memory_names[buffer->memory]);
    gt_emit_close(emit, GT_EXTRA_BUFFER, index);
    gt_emit_newline(emit);
}

static void emit_cost(struct gt_emit *emit, const struct gt_kernel *kernel)
{
    if (kernel->cost == GT_COST_FIXED)
        gt_emit_time(emit, "block_ns", kernel->block_min_ps);
    if (kernel->cost == GT_COST_RANGE) {
        gt_emit_key(emit, "block_ns");
        yajl_gen_array_open(emit->gen);
        gt_emit_time_value(emit, kernel->block_min_ps);
        gt_emit_time_value(emit, kernel->block_max_ps);
        yajl_gen_array_close(emit->gen);
    }
    if (kernel->phase_end_ps != NULL) {
        gt_emit_key(emit, "phase_ns");
        yajl_gen_array_open(emit->gen);
        for (uint32_t i = 0; i <= kernel->grid_barriers; i++)
            gt_emit_time_value(emit, kernel->phase_end_ps[i] - (i > 0 ? kernel->phase_end_ps[i - 1] : 0));
        yajl_gen_array_close(emit->gen);
    }
    if (kernel->cost == GT_COST_LIST) {
        gt_emit_key(emit, "block_list_ns");
        yajl_gen_array_open(emit->gen);
        for (uint32_t i = 0; i < kernel->block_list_length; i++)
            gt_emit_time_value(emit, kernel->block_list_ps[i]);
        yajl_gen_array_close(emit->gen);
    }
}

static void emit_kernel(struct gt_emit *emit, uint32_t index)
{
    const struct gt_kernel *kernel = &emit->workload->kernels[index], *from = kernel;
    const struct gt_key *key = &emit->keys.kernels[index];
    const char *name = kernel->name == GT_NONE ? "" : emit->keys.names[kernel->name];

    gt_emit_open(emit);
    gt_emit_text(emit, "kernel", name);
    if (key->text == NULL || strcmp(key->text, name) != 0)
        gt_emit_ref(emit, "id", key);
    if (kernel->collective.kind == GT_COLLECTIVE_NONE || kernel->collective.shaped) {
        gt_emit_size3(emit, "grid", kernel->grid);
        gt_emit_size3(emit, "block", kernel->block);
    }
    if (gt_kernel_cluster_blocks(kernel) > 1)
        gt_emit_size3(emit, "cluster", kernel->cluster);
    GT_KERNEL_PLAIN(GT_EMIT_PLAIN)
    emit_cost(emit, kernel);
    gt_emit_time(emit, "duration_ns", kernel->duration_ps);
    if (kernel->grid_barriers != 0)
        gt_emit_number(emit, "grid_barriers", kernel->grid_barriers);
    if (kernel->early_pct != 0)
        gt_emit_number(emit, "trigger_pct", 100 - kernel->early_pct);
    if (kernel->runs != GT_NONE)
        gt_emit_text(emit, "runs", emit->keys.names[kernel->runs]);
    if (kernel->arguments != GT_NONE)
        gt_emit_json(emit, "arguments", gt_name_text(emit->workload, kernel->arguments));
    if (kernel->program != NULL)
        gt_emit_text(emit, "program", kernel->program->key);
    if (kernel->tasks != NULL) {
        gt_emit_text(emit, "tasks", emit->keys.names[kernel->tasks->name]);
        gt_emit_text(emit, "policy", emit->keys.names[kernel->task_policy]);
    }
    gt_emit_collective(emit, kernel);
    gt_emit_launches(emit, index);
    gt_emit_close(emit, GT_EXTRA_KERNEL, index);
    gt_emit_newline(emit);
}

static void emit_all(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    emit_header(emit);
    for (uint32_t i = 0; i < workload->gpu_count; i++)
        emit_gpu(emit, i);
    for (uint32_t i = 0; i < workload->thread_count; i++)
        emit_thread(emit, i);
    for (uint32_t i = 0; i < workload->stream_count; i++)
        emit_stream(emit, i);
    for (uint32_t i = 0; i < workload->event_count; i++)
        emit_event(emit, i);
    for (uint32_t i = 0; i < workload->buffer_count; i++)
        emit_buffer(emit, i);
    for (uint32_t i = 0; i < workload->program_count; i++)
        gt_emit_program(emit, i);
    gt_emit_task_graphs(emit);
    gt_emit_groups(emit);
    for (uint32_t i = 0; i < workload->kernel_count; i++)
        emit_kernel(emit, i);
    gt_emit_calls_and_ranges(emit);
}

int gt_trace_write(const struct gt_workload *workload, const char *path, struct gt_error *error)
{
    struct gt_output *output;
    struct gt_emit emit;
    bool failed;

    if (gt_workload_check(workload, error) != 0)
        return gt_error_prefix(error, "%s: not written: ", path);
    output = gt_output_open(path, error);
    if (output == NULL)
        return -1;
    gt_emit_begin(&emit, workload, output, error);
    emit_all(&emit);
    failed = emit.failed;
    gt_emit_end(&emit);
    if (!failed)
        return gt_output_commit(output, error);
    gt_output_abandon(output);
    return -1;
}

static void emit_measured(struct gt_emit *emit, const struct gt_recording_cost *recording)
{
    gt_emit_key(emit, "measured_ns");
    gt_emit_open(emit);
    for (int i = 0; i < GT_RECORDING_SORTS; i++) {
        if (recording->recorded_ns[i] == 0)
            continue;
        gt_emit_open_list(emit, gt_recording_sort_names[i]);
        gt_emit_number_value(emit, recording->plain_ns[i]);
        gt_emit_number_value(emit, recording->recorded_ns[i]);
        gt_emit_close_list(emit);
    }
    yajl_gen_map_close(emit->gen);
}

void gt_emit_recording(struct gt_emit *emit)
{
    const struct gt_recording_cost *recording = &emit->workload->recording;

    gt_emit_key(emit, "recording");
    gt_emit_open(emit);
    gt_emit_number(emit, "calls", recording->calls);
    gt_emit_number(emit, "calls_ns", recording->calls_ns);
    gt_emit_number(emit, "cupti_overhead_ns", recording->overhead_ns);
    if (recording->measured)
        emit_measured(emit, recording);
    yajl_gen_map_close(emit->gen);
}
