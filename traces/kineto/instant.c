/* instant.c - operators and what the allocator did, kept for tensors.h where an execution trace is beside the profile. */
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/hash.h"
#include "traces/kineto/execution_trace.h"
#include "traces/kineto/internal.h"

enum { CUDA_DEVICE = 1 }; /* c10::DeviceType */

static uint64_t place_number(const struct kineto_event *event, enum kineto_field field)
{
    return kineto_thread_number(kineto_has(event, field) ? event->number[field] : 0);
}

void kineto_take_function(struct kineto *kineto)
{
    const struct kineto_event *event = &kineto->event;
    struct kineto_tensors *tensors = &kineto->tensors;
    struct kineto_function function = { .external = kineto_external(event), .parent = GT_NONE };

    if (!kineto->wants_tensors || event->category != KINETO_OPERATOR || !kineto_has(event, KINETO_FUNCTION) ||
        event->number[KINETO_FUNCTION] <= 0 || kineto_span(kineto, &function.start_ns, &function.end_ns, NULL) != 0)
        return;
    function.function = (uint64_t)event->number[KINETO_FUNCTION];
    function.name = gt_hash_bytes(GT_HASH_START, event->name.length > 0 ? event->name.bytes : "", event->name.length);
    function.process = place_number(event, KINETO_PID);
    function.thread = place_number(event, KINETO_TID);
    gt_array_grow(tensors->functions, tensors->function_count, tensors->function_room);
    tensors->functions[tensors->function_count++] = function;
}

int kineto_take_instant(struct kineto *kineto, struct gt_error *error)
{
    static const char name[] = "[memory]";
    const struct kineto_event *event = &kineto->event;
    struct kineto_tensors *tensors = &kineto->tensors;

    (void)error; /* what is not there only says less */
    if (!kineto->wants_tensors || event->name.length != sizeof name - 1 ||
        memcmp(event->name.bytes, name, sizeof name - 1) != 0 || !kineto_has(event, KINETO_TS) ||
        !kineto_has(event, KINETO_MEMORY_BYTES) || !kineto_has(event, KINETO_ADDRESS) ||
        !kineto_has(event, KINETO_DEVICE_TYPE) || event->number[KINETO_DEVICE_TYPE] != CUDA_DEVICE)
        return 0;
    gt_array_grow(tensors->memory, tensors->memory_count, tensors->memory_room);
    tensors->memory[tensors->memory_count++] = (struct kineto_memory){
        .time_ns = event->number[KINETO_TS],
        .bytes = event->number[KINETO_MEMORY_BYTES],
        .process = place_number(event, KINETO_PID),
        .thread = place_number(event, KINETO_TID),
        .address = (uint64_t)event->number[KINETO_ADDRESS],
    };
    return 0;
}
