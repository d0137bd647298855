/* A workload like another one, to be changed. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/allocations.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "sim/workload/program.h"
#include "sim/workload/task_graph.h"
#include "sim/workload/workload.h"

static void *copy_array(const void *array, uint32_t count, size_t size)
{
    void *copy = gt_realloc(NULL, count, size);

    if (count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

#define COPY_ARRAY(to, from, array, count, room)                                       \
    do {                                                                               \
        (to)->array = copy_array((from)->array, (from)->count, sizeof *(from)->array); \
        (to)->count = (to)->room = (from)->count;                                      \
    } while (0)

struct gt_workload *gt_workload_copy(const struct gt_workload *from)
{
    struct gt_workload *to = gt_workload_new();

    for (uint32_t i = 0; i < gt_name_count(from); i++)
        gt_name(to, gt_name_text(from, i), strlen(gt_name_text(from, i)));
    to->name = gt_strdup(from->name);
    to->path = gt_strdup(from->path);
    to->source = gt_strdup(from->source);
    to->device = gt_strdup(from->device);
    to->recording = from->recording;
    COPY_ARRAY(to, from, gpus, gpu_count, gpu_room);
    COPY_ARRAY(to, from, streams, stream_count, stream_room);
    COPY_ARRAY(to, from, threads, thread_count, thread_room);
    COPY_ARRAY(to, from, events, event_count, event_room);
    COPY_ARRAY(to, from, kernels, kernel_count, kernel_room);
    COPY_ARRAY(to, from, calls, call_count, call_room);
    COPY_ARRAY(to, from, ops, op_count, op_room);
    COPY_ARRAY(to, from, afters, after_count, after_room);
    COPY_ARRAY(to, from, ranges, range_count, range_room);
    COPY_ARRAY(to, from, allocations, allocation_count, allocation_room);
    COPY_ARRAY(to, from, buffers, buffer_count, buffer_room);
    COPY_ARRAY(to, from, accesses, access_count, access_room);
    for (uint32_t i = 0; i < to->kernel_count; i++) {
        if (to->kernels[i].block_list_ps != NULL)
            to->kernels[i].block_list_ps =
                copy_array(from->kernels[i].block_list_ps, from->kernels[i].block_list_length, sizeof(gt_time_ps));
        if (to->kernels[i].phase_end_ps != NULL)
            to->kernels[i].phase_end_ps =
                copy_array(from->kernels[i].phase_end_ps, from->kernels[i].grid_barriers + 1, sizeof(gt_time_ps));
        to->kernels[i].launches = gt_launch_rules_copy(from->kernels[i].launches, from->kernels[i].launch_count);
    }
    for (uint32_t i = 0; i < from->group_count; i++)
        gt_workload_add_group(to, from->groups[i].name, from->groups[i].members, from->groups[i].size);
    COPY_ARRAY(to, from, child_launches, child_launch_count, child_launch_room);
    COPY_ARRAY(to, from, programs, program_count, program_room);
    COPY_ARRAY(to, from, profiles, profile_count, profile_room);
    for (uint32_t i = 0; i < to->program_count; i++)
        to->programs[i]->sharers++;
    COPY_ARRAY(to, from, task_graphs, task_graph_count, task_graph_room);
    for (uint32_t i = 0; i < to->task_graph_count; i++)
        to->task_graphs[i]->sharers++;
    for (uint32_t i = 0; i < from->warning_count; i++)
        gt_workload_warn(to, from->warnings[i].kind, from->warnings[i].count, from->warnings[i].text);
    return to;
}
