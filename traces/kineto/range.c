/* range.c - operators, annotations, steps and modules: what the calls of a thread were made for. */
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/hash.h"
#include "sim/base/text.h"
#include "traces/kineto/execution_trace.h"
#include "traces/kineto/internal.h"

bool kineto_is_module(const char *name, size_t length)
{
    return gt_begins(name, length, "nn.Module: ");
}

/* The node of PyTorch's backward pass that puts a parameter's gradient where the optimiser finds it. */
bool kineto_is_gradient(const struct kineto_event *event)
{
    static const char name[] = "torch::autograd::AccumulateGrad";

    return event->category == KINETO_OPERATOR && event->name.length == sizeof name - 1 &&
           memcmp(event->name.bytes, name, sizeof name - 1) == 0;
}

/* torch.profiler.profile.step() makes annotations "ProfilerStep#N" ("ProfilerStep*" when N is unknown); in 2021 they
 * stood among the operators. */
static enum gt_range_kind kind_of(const struct kineto_event *event)
{
    if (event->category == KINETO_PYTHON)
        return GT_RANGE_MODULE;
    if (gt_begins(event->name.bytes, event->name.length, "ProfilerStep"))
        return GT_RANGE_STEP;
    return event->category == KINETO_OPERATOR ? GT_RANGE_OPERATOR : GT_RANGE_ANNOTATION;
}

static int64_t number_of(const struct kineto_event *event, enum kineto_field field)
{
    return kineto_has(event, field) ? event->number[field] : 0;
}

int kineto_take_range(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    uint64_t process = kineto_thread_number(number_of(event, KINETO_PID));
    struct gt_import_range *range;
    int64_t start_ns, end_ns;
    uint32_t thread;

    (void)error; /* they only add to what calls and operations tell */
    if (event->name.length == 0 || kineto_span(kineto, &start_ns, &end_ns, NULL) != 0) {
        gt_import_warn(kineto->import.workload, "ranges-unreadable", 1);
        return 0;
    }
    if (event->category == KINETO_PYTHON && !kineto_is_module(event->name.bytes, event->name.length))
        return 0;
    thread =
        gt_import_range_thread(&kineto->import, process, process, kineto_thread_number(number_of(event, KINETO_TID)));
    range = gt_import_add_range(&kineto->import, thread);
    range->start_ns = start_ns;
    range->end_ns = end_ns;
    range->name = gt_name(kineto->import.workload, event->name.bytes, event->name.length);
    range->external = kineto_external(event);
    range->kind = (uint8_t)kind_of(event);
    if (event->category == KINETO_OPERATOR) {
        range->inputs = kineto_name_inputs(kineto);
        range->gradient_bytes = kineto_is_gradient(event) ? kineto_first_input_bytes(kineto, range->inputs) : 0;
        kineto_announce_collective(kineto);
    }
    kineto_take_function(kineto);
    return 0;
}

/* What the allocator did; it and operators are also kept for tensors.h where an execution trace is beside the profile. */

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

bool kineto_is_memory(const char *name, size_t length)
{
    static const char memory[] = "[memory]";

    return length == sizeof memory - 1 && memcmp(name, memory, sizeof memory - 1) == 0;
}

static void add_allocation(struct kineto *kineto)
{
    const struct kineto_event *event = &kineto->event;
    uint64_t process = place_number(event, KINETO_PID);
    int64_t gpu = event->number[KINETO_DEVICE_ID];

    if (!kineto_has(event, KINETO_DEVICE_ID) || !kineto_has(event, KINETO_ALLOCATED) || gpu < 0 || gpu >= GT_NONE)
        return;
    gt_import_add_allocation(&kineto->import, &(struct gt_import_allocation){
                                                  .time_ns = event->number[KINETO_TS],
                                                  .bytes = event->number[KINETO_MEMORY_BYTES],
                                                  .allocated_bytes = event->number[KINETO_ALLOCATED],
                                                  .address = (uint64_t)event->number[KINETO_ADDRESS],
                                                  .gpu = (uint32_t)gpu,
                                                  .thread = gt_import_range_thread(&kineto->import, process, process,
                                                                                   place_number(event, KINETO_TID)),
                                              });
}

int kineto_take_instant(struct kineto *kineto, struct gt_error *error)
{
    const struct kineto_event *event = &kineto->event;
    struct kineto_tensors *tensors = &kineto->tensors;

    (void)error; /* what is not there only says less */
    if (!kineto_is_memory(event->name.bytes, event->name.length) || !kineto_has(event, KINETO_TS) ||
        !kineto_has(event, KINETO_MEMORY_BYTES) || !kineto_has(event, KINETO_ADDRESS) ||
        !kineto_has(event, KINETO_DEVICE_TYPE) || event->number[KINETO_DEVICE_TYPE] != CUDA_DEVICE)
        return 0;
    add_allocation(kineto);
    if (!kineto->wants_tensors)
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
