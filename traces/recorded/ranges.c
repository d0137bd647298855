/* ranges.c - NVTX ranges: a pop ends the last push of its thread and domain, an end the start of its number. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

static bool ends(const struct gt_record_range *range)
{
    return range->what == GT_NVTX_POP || range->what == GT_NVTX_END;
}

/* Those of one thread and domain, or of one number, stand together in the order of their times. */
static int compare_ranges(const void *left, const void *right)
{
    const struct gt_record_range *a = *(const void *const *)left, *b = *(const void *const *)right;
    bool a_numbered = a->what >= GT_NVTX_START, b_numbered = b->what >= GT_NVTX_START;

    GT_ORDER(a_numbered, b_numbered);
    if (!a_numbered)
        GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->id, b->id);
    GT_ORDER(a->time_ns, b->time_ns);
    GT_ORDER(a->what, b->what);
    return 0;
}

static bool same_group(const struct gt_record_range *a, const struct gt_record_range *b)
{
    bool numbered = a->what >= GT_NVTX_START;

    return numbered == (b->what >= GT_NVTX_START) && a->id == b->id && (numbered || a->thread == b->thread);
}

/* "NCCL:ncclAllReduce"; the default domain has no name. */
static uint32_t name_of(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                        const struct gt_record_range *range)
{
    struct gt_workload *workload = recorded->import.workload;
    uint32_t name = gt_recorded_name(process, range->name), domain = gt_recorded_name(process, range->domain);
    char *whole;

    if (name == GT_NONE || domain == GT_NONE)
        return name;
    whole = gt_format("%s:%s", gt_name_text(workload, domain), gt_name_text(workload, name));
    name = gt_name(workload, whole, strlen(whole));
    free(whole);
    return name;
}

static void add_range(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                      const struct gt_record_range *from, uint64_t end_ns)
{
    uint32_t name = name_of(recorded, process, from);
    struct gt_import_range *range;

    if (name == GT_NONE || end_ns < from->time_ns || end_ns > INT64_MAX) {
        gt_import_warn(recorded->import.workload, "ranges-unreadable", 1);
        return;
    }
    range = gt_import_add_range(&recorded->import, gt_import_range_thread(&recorded->import, process->key,
                                                                          process->header->pid, from->thread));
    range->start_ns = (int64_t)from->time_ns;
    range->end_ns = (int64_t)end_ns;
    range->name = name;
    range->kind = GT_RANGE_NVTX;
    range->flags = from->what == GT_NVTX_START ? GT_RANGE_UNNESTED : 0;
}

/* When recording ended: ranges that are open then end there. */
static uint64_t last_time_ns(const struct gt_recorded_process *process)
{
    const struct gt_recorded_list *calls = &process->lists[GT_RECORDED_CALL],
                                  *ranges = &process->lists[GT_RECORDED_RANGE];
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        if (((const struct gt_record_call *)calls->items[i])->end_ns > last_ns)
            last_ns = ((const struct gt_record_call *)calls->items[i])->end_ns;
    for (uint32_t i = 0; i < ranges->count; i++)
        if (((const struct gt_record_range *)ranges->items[i])->time_ns > last_ns)
            last_ns = ((const struct gt_record_range *)ranges->items[i])->time_ns;
    return last_ns;
}

void gt_recorded_add_ranges(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_RANGE];
    const struct gt_record_range **open = NULL;
    uint64_t last_ns = last_time_ns(process);
    uint32_t open_count = 0, room = 0;

    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_ranges);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_range *range = list->items[i];

        if (!ends(range)) {
            gt_array_grow(open, open_count, room);
            open[open_count++] = range;
        } else if (open_count > 0) /* else it began before recording */
            add_range(recorded, process, open[--open_count], range->time_ns);
        if (i + 1 == list->count || !same_group(range, list->items[i + 1]))
            while (open_count > 0)
                add_range(recorded, process, open[--open_count], last_ns);
    }
    free(open);
}
