/* memory.c - allocations, each a buffer of the trace, and which of them holds an address. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

static int compare_memory(const void *left, const void *right)
{
    const struct gt_recorded_memory *a = left, *b = right;

    GT_ORDER(a->address, b->address);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->buffer, b->buffer);
    return 0;
}

/* "0x7fca30800000", and "0x7fca30800000.2" for the third allocation there. */
static uint32_t name_buffer(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint64_t address,
                            uint32_t nth)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s0x%" PRIx64, address & GT_RECORDED_ARRAY ? "array " : "",
                          address & ~GT_RECORDED_ARRAY);

    if (process->key > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, "@%" PRIu64, process->key);
    if (nth > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, ".%" PRIu32, nth);
    return gt_name(recorded->import.workload, text, (size_t)length);
}

static uint32_t gpu_of(struct gt_recorded *recorded, const struct gt_recorded_process *process, uint32_t context)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_CONTEXT);
    uint32_t id = 0;

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_CONTEXT); i++) {
        const struct gt_record_context *found = items[i];

        if (found->context == context)
            id = gt_recorded_gpu_id(recorded, process, found->gpu);
    }
    return gt_import_gpu(&recorded->import, id > UINT16_MAX ? UINT16_MAX : id);
}

static bool allocates(const struct gt_record_call *call)
{
    return (call->what == GT_DID_ALLOC || call->what == GT_DID_REGISTER) && call->result == 0 && call->a != 0 &&
           call->b != 0 && call->b <= UINT64_MAX - call->a;
}

static void add_buffer(struct gt_recorded *recorded, struct gt_recorded_process *process,
                       const struct gt_record_call *call)
{
    struct gt_workload *workload = recorded->import.workload;
    uint32_t gpu = gpu_of(recorded, process, call->context);
    uint32_t index = gt_workload_add_buffer(workload);
    struct gt_buffer *buffer = &workload->buffers[index];

    buffer->bytes = call->b;
    buffer->address = call->a & GT_RECORDED_ARRAY ? GT_ADDRESS_NONE : call->a;
    buffer->gpu = gpu;
    buffer->memory = call->c < GT_MEMORIES ? (uint8_t)call->c : GT_MEMORY_UNKNOWN;
    gt_array_grow(process->memory, process->memory_count, process->memory_room);
    process->memory[process->memory_count++] = (struct gt_recorded_memory){
        .address = call->a,
        .bytes = call->b,
        .start_ns = call->start_ns,
        .end_ns = UINT64_MAX,
        .buffer = index,
    };
}

/* The last that begins at the address and was there at that time. */
static struct gt_recorded_memory *beginning_at(const struct gt_recorded_process *process, uint64_t address,
                                               uint64_t time_ns)
{
    uint32_t low = 0, high = process->memory_count;
    struct gt_recorded_memory *found;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_recorded_memory *at = &process->memory[middle];

        if (at->address < address || (at->address == address && at->start_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    found = low == 0 ? NULL : &process->memory[low - 1];
    return found != NULL && found->address == address ? found : NULL;
}

static void end_memory(struct gt_recorded_process *process, const struct gt_record_call *call)
{
    struct gt_recorded_memory *memory = beginning_at(process, call->a, call->start_ns);

    if (memory != NULL && memory->end_ns == UINT64_MAX)
        memory->end_ns = call->end_ns;
}

const struct gt_recorded_memory *gt_recorded_memory_at(const struct gt_recorded_process *process, uint64_t address,
                                                       uint64_t time_ns)
{
    enum { LOOK_BACK = 64 };
    uint32_t low = GT_LOWER_BOUND(middle, 0, process->memory_count, process->memory[middle].address <= address);
    for (uint32_t looked = 0; low > 0 && looked < LOOK_BACK; looked++) {
        const struct gt_recorded_memory *memory = &process->memory[--low];

        if (address - memory->address < memory->bytes && memory->start_ns <= time_ns && time_ns <= memory->end_ns)
            return memory;
    }
    return NULL;
}

/* Memory to whose inside a pointer leads is given out in pieces by somebody of the program's own. */
static void look_at_pointers(struct gt_recorded_process *process)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_LAUNCH);

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_LAUNCH); i++) {
        const struct gt_record_launch *launch = items[i];
        const struct gt_record_call *call = gt_recorded_find_call(process, launch->giver.correlation);

        for (uint32_t n = 0; call != NULL && n < launch->count; n++) {
            struct gt_recorded_memory *memory =
                (struct gt_recorded_memory *)gt_recorded_memory_at(process, launch->words[n].value, call->start_ns);

            if (memory != NULL && launch->words[n].value != memory->address)
                memory->pooled = true;
        }
    }
}

void gt_recorded_find_memory(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const struct gt_recorded_list *calls = &process->lists[GT_RECORDED_CALL];
    uint32_t nth = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        if (allocates(calls->items[i]))
            add_buffer(recorded, process, calls->items[i]);
    if (process->memory_count > 1)
        qsort(process->memory, process->memory_count, sizeof *process->memory, compare_memory);
    for (uint32_t i = 0; i < process->memory_count; i++) {
        struct gt_recorded_memory *memory = &process->memory[i];

        nth = i > 0 && memory[-1].address == memory->address ? nth + 1 : 0;
        recorded->import.workload->buffers[memory->buffer].name =
            name_buffer(recorded, process, memory->address, nth);
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct gt_record_call *call = calls->items[i];

        if (call->what == GT_DID_FREE || call->what == GT_DID_UNREGISTER)
            end_memory(process, call);
    }
    look_at_pointers(process);
}
