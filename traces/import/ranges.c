/* ranges.c - from a profile's operators, annotations and steps to a workload's ranges. */
#include "sim/workload/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/internal.h"

/* The workload's thread of a gathered range, looked for when the first range of it is kept. */
static uint32_t thread_of(struct gt_import *import, const struct gt_import_range *range, uint32_t *threads)
{
    const struct gt_import_range_thread *thread = &import->range_threads[range->thread];

    if (threads[range->thread] == GT_NONE)
        threads[range->thread] = gt_import_thread(import, thread->process, thread->shown_process, thread->id);
    return threads[range->thread];
}

void gt_import_write_ranges(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    struct gt_workload *workload = import->workload;
    uint32_t *threads = gt_realloc(NULL, import->range_thread_count, sizeof *threads);
    int64_t limit_ns;

    if (__builtin_add_overflow(finish->origin_ns, (int64_t)(GT_TIME_LIMIT_PS / 1000), &limit_ns))
        limit_ns = INT64_MAX;
    memset(threads, 0xff, import->range_thread_count * sizeof *threads);
    workload->range_room = import->range_count;
    workload->ranges = gt_realloc(workload->ranges, workload->range_room, sizeof *workload->ranges);
    for (uint32_t i = 0; i < import->range_count; i++) {
        const struct gt_import_range *from = &import->ranges[i];
        int64_t start_ns = from->start_ns < finish->origin_ns ? finish->origin_ns : from->start_ns;
        struct gt_range *range;

        if (from->end_ns < start_ns)
            continue;
        if (from->end_ns > limit_ns) {
            gt_import_warn(workload, "ranges-unreadable", 1);
            continue;
        }
        range = &workload->ranges[gt_workload_add_range(workload)];
        range->start_ps = (uint64_t)(start_ns - finish->origin_ns) * 1000;
        range->duration_ps = (uint64_t)(from->end_ns - start_ns) * 1000;
        range->name = from->name;
        range->thread = thread_of(import, from, threads);
        range->external = from->external;
        range->gradient_bytes = from->gradient_bytes;
        range->kind = from->kind;
        range->flags = from->flags;
    }
    free(threads);
    free(import->ranges);
    import->ranges = NULL;
    import->range_count = import->range_room = 0;
    gt_ranges_finish(workload, NULL);
}
