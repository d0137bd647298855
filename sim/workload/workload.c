#include "sim/workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/program.h"
#include "sim/workload/task_graph.h"

/* Names and kernels are found by content: uthash over the bytes. */
struct gt_name {
    UT_hash_handle hh;
    uint32_t number;
    char text[];
};
struct kernel_entry {
    UT_hash_handle hh;
    uint32_t number;
    struct gt_kernel key;
};
struct gt_names {
    struct gt_name *by_text;
    struct gt_name **by_number;
    uint32_t count, room;
    struct kernel_entry *kernels;
};

/* Numbers of 32 bits tell no more elements apart: say at which line of the trace that was, and end. */
static void fail_too_many(const struct gt_workload *w)
{
    const char *file = w->path != NULL ? w->path : w->name != NULL ? w->name : "trace";

    fprintf(stderr,
            "gridtide: %s:%u: more than %u calls, operations, streams, events, names or edges; "
            "split the trace\n",
            file, w->call_count > 0 && w->calls != NULL ? w->calls[w->call_count - 1].line : 0, GT_NONE - 1);
    exit(1);
}

/* Room for one more element. */
#define grow(w, array, count, room)        \
    do {                                   \
        if ((count) >= GT_NONE - 1)        \
            fail_too_many(w);              \
        gt_array_grow(array, count, room); \
    } while (0)

struct gt_workload *gt_workload_new(void)
{
    struct gt_workload *workload = gt_calloc(1, sizeof *workload);

    workload->names = gt_calloc(1, sizeof *workload->names);
    return workload;
}

static void free_names(struct gt_names *names)
{
    struct gt_name *name, *next_name;
    struct kernel_entry *entry, *next_entry;

    HASH_ITER(hh, names->by_text, name, next_name)
    {
        HASH_DEL(names->by_text, name);
        free(name);
    }
    HASH_ITER(hh, names->kernels, entry, next_entry)
    {
        HASH_DEL(names->kernels, entry);
        free(entry);
    }
    free(names->by_number);
    free(names);
}

void gt_workload_free(struct gt_workload *workload)
{
    if (workload == NULL)
        return;
    for (uint32_t i = 0; i < workload->setting_count; i++) {
        free(workload->settings[i].key);
        free(workload->settings[i].value);
    }
    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        free(workload->kernels[i].block_list_ps);
        free(workload->kernels[i].phase_end_ps);
        gt_launch_rules_free(workload->kernels[i].launches, workload->kernels[i].launch_count);
    }
    for (uint32_t i = 0; i < workload->warning_count; i++) {
        free(workload->warnings[i].kind);
        free(workload->warnings[i].text);
    }
    for (uint32_t i = 0; i < workload->extra_count; i++)
        free(workload->extras[i].json);
    for (uint32_t i = 0; i < workload->program_count; i++)
        gt_program_free(workload->programs[i]);
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        gt_task_graph_free(workload->task_graphs[i]);
    free(workload->task_graphs);
    free(workload->child_launches);
    for (uint32_t i = 0; i < workload->group_count; i++)
        free(workload->groups[i].members);
    free(workload->groups);
    free(workload->allocations);
    free(workload->programs);
    free(workload->profiles);
    free_names(workload->names);
    free(workload->name);
    free(workload->path);
    free(workload->source);
    free(workload->device);
    free(workload->settings);
    free(workload->gpus);
    free(workload->streams);
    free(workload->threads);
    free(workload->events);
    free(workload->kernels);
    free(workload->calls);
    free(workload->ops);
    free(workload->afters);
    free(workload->buffers);
    free(workload->accesses);
    free(workload->ranges);
    free(workload->warnings);
    free(workload->extras);
    free(workload);
}

uint32_t gt_name(struct gt_workload *workload, const char *text, size_t length)
{
    struct gt_names *names = workload->names;
    struct gt_name *name;

    HASH_FIND(hh, names->by_text, text, length, name);
    if (name != NULL)
        return name->number;
    name = gt_calloc(1, sizeof *name + length + 1);
    memcpy(name->text, text, length);
    grow(workload, names->by_number, names->count, names->room);
    name->number = names->count++;
    names->by_number[name->number] = name;
    HASH_ADD_KEYPTR(hh, names->by_text, name->text, length, name);
    return name->number;
}

const char *gt_name_text(const struct gt_workload *workload, uint32_t name)
{
    return name < workload->names->count ? workload->names->by_number[name]->text : "";
}

uint32_t gt_name_count(const struct gt_workload *workload)
{
    return workload->names->count;
}

gt_gpu_index gt_workload_add_gpu(struct gt_workload *w)
{
    grow(w, w->gpus, w->gpu_count, w->gpu_room);
    w->gpus[w->gpu_count] = (struct gt_gpu){ .name = GT_NONE };
    return w->gpu_count++;
}

gt_stream_index gt_workload_add_stream(struct gt_workload *w)
{
    grow(w, w->streams, w->stream_count, w->stream_room);
    w->streams[w->stream_count] = (struct gt_stream){ .name = GT_NONE };
    return w->stream_count++;
}

gt_thread_index gt_workload_add_thread(struct gt_workload *w)
{
    grow(w, w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count] = (struct gt_thread){ .name = GT_NONE, .lock = GT_NONE };
    return w->thread_count++;
}

gt_event_index gt_workload_add_event(struct gt_workload *w)
{
    grow(w, w->events, w->event_count, w->event_room);
    w->events[w->event_count] = (struct gt_event){ .name = GT_NONE };
    return w->event_count++;
}

gt_buffer_index gt_workload_add_buffer(struct gt_workload *w)
{
    grow(w, w->buffers, w->buffer_count, w->buffer_room);
    w->buffers[w->buffer_count] =
        (struct gt_buffer){ .address = GT_ADDRESS_NONE, .name = GT_NONE, .memory = GT_MEMORY_DEVICE };
    return w->buffer_count++;
}

gt_call_index gt_workload_add_call(struct gt_workload *w)
{
    grow(w, w->calls, w->call_count, w->call_room);
    w->calls[w->call_count] = (struct gt_call){
        .start_ps = GT_TIME_NONE,
        .duration_ps = GT_TIME_NONE,
        .name = GT_NONE,
        .stream = GT_NONE,
        .event = GT_NONE,
        .buffer = GT_NONE,
        .executable = GT_NONE,
        .first_op = w->op_count,
        .awaited = GT_NONE,
        .handover_ps = GT_TIME_NONE,
        .return_ps = GT_TIME_NONE,
    };
    return w->call_count++;
}

gt_op_index gt_workload_add_op(struct gt_workload *w)
{
    grow(w, w->ops, w->op_count, w->op_room);
    w->ops[w->op_count] = (struct gt_op){
        .start_ps = GT_TIME_NONE,
        .duration_ps = GT_TIME_NONE,
        .call = GT_NONE,
        .stream = GT_NONE,
        .kernel = GT_NONE,
        .first_after = w->after_count,
        .first_access = w->access_count,
        .direction = GT_H2D,
        .memory = GT_MEMORY_UNKNOWN,
        .peer_gpu = GT_NONE,
        .visible_ps = GT_TIME_NONE,
        .gap_ps = GT_TIME_NONE,
    };
    return w->op_count++;
}

gt_range_index gt_workload_add_range(struct gt_workload *w)
{
    grow(w, w->ranges, w->range_count, w->range_room);
    w->ranges[w->range_count] = (struct gt_range){
        .start_ps = GT_TIME_NONE,
        .duration_ps = GT_TIME_NONE,
        .name = GT_NONE,
        .inputs = GT_NONE,
        .parent = GT_NONE,
        .first_call = w->call_count,
        .end_call = w->call_count,
    };
    return w->range_count++;
}

void gt_workload_add_after(struct gt_workload *w, gt_op_index op, gt_op_index before)
{
    if (op + 1 != w->op_count || w->ops[op].afters == UINT16_MAX)
        gt_bug("edges are added to the last operation, 65535 at most");
    grow(w, w->afters, w->after_count, w->after_room);
    w->afters[w->after_count++] = before;
    w->ops[op].afters++;
}

void gt_workload_add_access(struct gt_workload *w, gt_op_index op, const struct gt_buffer_access *access)
{
    if (op + 1 != w->op_count || w->ops[op].accesses == UINT16_MAX)
        gt_bug("accesses are added to the last operation, 65535 at most");
    grow(w, w->accesses, w->access_count, w->access_room);
    memset(&w->accesses[w->access_count], 0, sizeof *w->accesses); /* padding compares equal */
    w->accesses[w->access_count].offset = access->offset;
    w->accesses[w->access_count].bytes = access->bytes;
    w->accesses[w->access_count].buffer = access->buffer;
    w->accesses[w->access_count].possible = access->possible;
    w->accesses[w->access_count++].writes = access->writes;
    w->ops[op].accesses++;
}

void gt_workload_add_setting(struct gt_workload *w, const char *key, const char *value)
{
    w->settings = gt_realloc(w->settings, w->setting_count + 1ull, sizeof *w->settings);
    w->settings[w->setting_count].key = gt_strdup(key);
    w->settings[w->setting_count].value = gt_strdup(value);
    w->setting_count++;
}

void gt_workload_add_extra(struct gt_workload *w, enum gt_extra_of of, uint32_t index, const char *json)
{
    grow(w, w->extras, w->extra_count, w->extra_room);
    w->extras[w->extra_count++] = (struct gt_extra){ .of = of, .index = index, .json = gt_strdup(json) };
}

static uint32_t cluster_side(const struct gt_kernel *kernel, int side)
{
    return kernel->cluster[side] > 1 ? kernel->cluster[side] : 1;
}

/* The part of a kernel that makes it the same kernel; a cost list, phases and launches never compare equal. */
static void kernel_key(struct gt_kernel *to, const struct gt_kernel *from)
{
    memset(to, 0, sizeof *to); /* padding takes part in the hash */
    to->name = from->name;
    memcpy(to->grid, from->grid, sizeof to->grid);
    memcpy(to->block, from->block, sizeof to->block);
    for (int i = 0; i < 3; i++)
        to->cluster[i] = cluster_side(from, i);
    GT_KERNEL_PLAIN(GT_PLAIN_COPY)
    to->cost = from->cost;
    to->block_min_ps = from->block_min_ps;
    to->block_max_ps = from->block_max_ps;
    to->duration_ps = from->duration_ps;
    to->early_part = from->early_part;
    to->runs = from->runs;
    to->arguments = from->arguments;
    to->program = from->program;
    to->tasks = from->tasks;
    to->task_policy = from->tasks != NULL ? from->task_policy : 0;
    to->grid_barriers = from->grid_barriers;
    to->early_pct = from->early_pct;
    to->collective = from->collective; /* has no padding */
}

static gt_time_ps *copy_times(const gt_time_ps *times, uint64_t count)
{
    return memcpy(gt_realloc(NULL, count, sizeof *times), times, count * sizeof *times);
}

gt_kernel_index gt_workload_kernel(struct gt_workload *w, const struct gt_kernel *kernel)
{
    struct kernel_entry *entry;
    struct gt_kernel key;
    struct gt_kernel *added;

    kernel_key(&key, kernel);
    if (kernel->cost != GT_COST_LIST && kernel->launch_count == 0 && kernel->phase_end_ps == NULL) {
        HASH_FIND(hh, w->names->kernels, &key, sizeof key, entry);
        if (entry != NULL)
            return entry->number;
        entry = gt_calloc(1, sizeof *entry);
        entry->key = key;
        entry->number = w->kernel_count;
        HASH_ADD(hh, w->names->kernels, key, sizeof entry->key, entry);
    }
    grow(w, w->kernels, w->kernel_count, w->kernel_room);
    added = &w->kernels[w->kernel_count];
    *added = *kernel;
    memcpy(added->cluster, key.cluster, sizeof added->cluster);
    added->block_list_ps =
        kernel->cost == GT_COST_LIST ? copy_times(kernel->block_list_ps, kernel->block_list_length) : NULL;
    if (kernel->phase_end_ps != NULL)
        added->phase_end_ps = copy_times(kernel->phase_end_ps, kernel->grid_barriers + 1ull);
    added->launches = gt_launch_rules_copy(kernel->launches, kernel->launch_count);
    return w->kernel_count++;
}

static bool keeps_operands(const struct gt_program *program)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (program->instructions[i].reuse != 0)
            return true;
    return false;
}

/* What one program's instructions keep for reuse was recorded where any other's of the trace was. */
void gt_workload_add_program(struct gt_workload *w, struct gt_program *program)
{
    program->reuse_known = keeps_operands(program) || (w->program_count > 0 && w->programs[0]->reuse_known);
    for (uint32_t i = 0; program->reuse_known && i < w->program_count && !w->programs[i]->reuse_known; i++)
        w->programs[i]->reuse_known = true;
    grow(w, w->programs, w->program_count, w->program_room);
    w->programs[w->program_count++] = program;
}

void gt_workload_add_profile(struct gt_workload *w, const struct gt_profile *profile)
{
    if (w->profile_count > 0 && w->profiles[w->profile_count - 1].op >= profile->op)
        gt_bug("profile of operation %u after that of a later one", (unsigned)profile->op);
    grow(w, w->profiles, w->profile_count, w->profile_room);
    w->profiles[w->profile_count++] = *profile;
}

const struct gt_profile *gt_workload_profile(const struct gt_workload *w, gt_op_index op)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, w->profile_count, w->profiles[middle].op < op);
    return low < w->profile_count && w->profiles[low].op == op ? &w->profiles[low] : NULL;
}

void gt_workload_warn(struct gt_workload *w, const char *kind, uint64_t count, const char *text)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < w->warning_count; i++) {
        if (strcmp(w->warnings[i].kind, kind) == 0) {
            w->warnings[i].count += count;
            return;
        }
    }
    w->warnings = gt_realloc(w->warnings, w->warning_count + 1ull, sizeof *w->warnings);
    w->warnings[w->warning_count++] = (struct gt_warning){ gt_strdup(kind), gt_strdup(text), count };
}

static uint64_t saturating_product(const uint32_t size[3])
{
    uint64_t product;

    if (__builtin_mul_overflow((uint64_t)size[0] * size[1], (uint64_t)size[2], &product))
        return UINT64_MAX;
    return product;
}

gt_time_ps gt_call_measured_end(const struct gt_call *call)
{
    if (call->start_ps == GT_TIME_NONE || call->duration_ps == GT_TIME_NONE)
        return GT_TIME_NONE;
    return call->start_ps + call->duration_ps;
}

gt_time_ps gt_op_stated_ps(const struct gt_workload *w, const struct gt_op *op)
{
    return op->duration_ps != GT_TIME_NONE ? op->duration_ps : w->kernels[op->kernel].duration_ps;
}

gt_time_ps gt_op_measured_end(const struct gt_op *op)
{
    if (op->start_ps == GT_TIME_NONE || op->duration_ps == GT_TIME_NONE)
        return GT_TIME_NONE;
    return op->start_ps + op->duration_ps;
}

uint64_t gt_kernel_blocks(const struct gt_kernel *kernel)
{
    return saturating_product(kernel->grid);
}

uint64_t gt_kernel_threads(const struct gt_kernel *kernel)
{
    return saturating_product(kernel->block);
}

uint64_t gt_kernel_cluster_blocks(const struct gt_kernel *kernel)
{
    uint64_t blocks = 1;

    for (int i = 0; i < 3; i++)
        blocks *= cluster_side(kernel, i);
    return blocks;
}

bool gt_kernel_cluster_fits(const uint32_t grid[3], const uint32_t cluster[3])
{
    uint64_t blocks = 1;

    for (int i = 0; i < 3; i++) {
        uint32_t side = cluster[i] > 1 ? cluster[i] : 1;

        blocks *= side;
        if (blocks > GT_MOST_CLUSTER_BLOCKS || grid[i] % side != 0)
            return false;
    }
    return true;
}
