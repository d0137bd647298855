/* costs.c - what recording took itself: measured beside the program, and where CUPTI held a call up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

/* CUpti_ActivityOverheadKind: what CUPTI does for itself. Compiling and loading of code a program has to wait for anyway. */
enum { BUFFER_FLUSH = 1 << 16, INSTRUMENTATION = 2 << 16, RESOURCE = 3 << 16, BUFFER_REQUEST = 7 << 16 };

static bool is_of_recording(uint32_t kind)
{
    return kind == BUFFER_FLUSH || kind == INSTRUMENTATION || kind == RESOURCE || kind == BUFFER_REQUEST;
}

static int compare_overheads(const void *left, const void *right)
{
    const struct gt_record_overhead *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

void gt_recorded_sort_overheads(struct gt_recorded_process *process)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_OVERHEAD];

    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_overheads);
}

uint64_t gt_recorded_held_ns(const struct gt_recorded_process *process, const struct gt_record_call *call)
{
    const void *const *items = GT_RECORDS(process, GT_RECORDED_OVERHEAD);
    uint32_t low = 0, high = GT_RECORD_COUNT(process, GT_RECORDED_OVERHEAD), count = high;
    uint64_t sum_ns = 0;

    low = GT_LOWER_BOUND(middle, low, high,
                         ((const struct gt_record_overhead *)items[middle])->correlation < call->correlation);
    for (; low < count; low++) {
        const struct gt_record_overhead *held = items[low];

        if (held->correlation != call->correlation)
            break;
        if (is_of_recording(held->kind) && held->correlation != 0 && held->start_ns >= call->start_ns &&
            held->end_ns <= call->end_ns && held->end_ns > held->start_ns)
            sum_ns += held->end_ns - held->start_ns;
    }
    return sum_ns;
}

static void add_process(struct gt_recording_cost *recording, const struct gt_recorded_process *process)
{
    const struct gt_record_cost *last = NULL;

    for (uint32_t n = 0; n < GT_RECORD_COUNT(process, GT_RECORDED_COST); n++) {
        const struct gt_record_cost *cost = GT_RECORDS(process, GT_RECORDED_COST)[n];

        if (last == NULL || cost->calls >= last->calls)
            last = cost;
    }
    if (last == NULL)
        return;
    recording->calls += last->calls;
    recording->calls_ns += last->calls_ns;
    recording->overhead_ns += last->overhead_ns;
}

enum { LONGEST_NS = 1000000000 }; /* no call takes a second: such a line is damaged */

/* The least of several, for what disturbs only adds; 0: none yet. */
static void take_least(uint64_t *least_ns, uint64_t ns)
{
    *least_ns = *least_ns == 0 || ns < *least_ns ? ns : *least_ns;
}

static void take_line(struct gt_recording_cost *recording, const char *how, const char *name, uint64_t ns)
{
    bool recorded = strcmp(how, "recorded") == 0;

    for (int i = 0; i < GT_RECORDING_SORTS && ns > 0 && ns <= LONGEST_NS; i++)
        if (strcmp(name, gt_recording_sort_names[i]) == 0)
            take_least(recorded ? &recording->recorded_ns[i] : &recording->plain_ns[i], ns);
}

/* Where it was measured.  A line that is none ends it. */
static void read_measured(struct gt_recording_cost *recording, const char *folder)
{
    char *path = gt_format("%s/%s", folder, GT_RECORDED_COSTS), how[32], name[32];
    FILE *file = fopen(path, "re");
    uint64_t ns;

    free(path);
    if (file == NULL)
        return;
    while (fscanf(file, "%31s %31s %" SCNu64, how, name, &ns) == 3)
        take_line(recording, how, name, ns);
    fclose(file);
    recording->measured =
        recording->plain_ns[GT_RECORDING_LAUNCH] > 0 && recording->recorded_ns[GT_RECORDING_LAUNCH] > 0;
}

void gt_recorded_tell_cost(struct gt_recorded *recorded)
{
    struct gt_recording_cost recording = { .known = false };

    for (uint32_t i = 0; i < recorded->process_count; i++)
        add_process(&recording, &recorded->processes[i]);
    if (recorded->folder != NULL)
        read_measured(&recording, recorded->folder);
    recording.known = recording.calls > 0 || recording.measured;
    recorded->import.workload->recording = recording;
}
