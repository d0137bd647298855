/* Calls as they stand in a trace, and before the first call of each range, the range. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"
#include "traces/jsonl/emit.h"

/* Ranges by the first call that each holds, those of one as they stand; first[i] .. first[i + 1] - 1 are those of call
 * i. */
struct places {
    uint32_t *first, *ranges;
};

static struct places find_places(const struct gt_workload *workload)
{
    struct places places;
    uint32_t *next;

    places.first = gt_calloc(workload->call_count + 3ull, sizeof *places.first);
    places.ranges = gt_realloc(NULL, workload->range_count, sizeof *places.ranges);
    next = places.first + 1; /* one place on: once filled, each is where the next call's begin */
    for (uint32_t i = 0; i < workload->range_count; i++)
        next[workload->ranges[i].first_call + 1]++;
    for (uint32_t i = 0; i <= workload->call_count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < workload->range_count; i++)
        places.ranges[next[workload->ranges[i].first_call]++] = i;
    return places;
}

/* Would a reader not find the calls by their times? */
static bool must_count(const struct gt_workload *workload, const struct gt_range *range)
{
    if (!gt_range_is_measured(range))
        return true;
    return range->first_call < range->end_call && workload->calls[range->first_call].start_ps == GT_TIME_NONE;
}

/* calls[i]: how many calls range i holds; NULL where none must say it. */
static void emit_range(struct gt_emit *emit, uint32_t index, const uint32_t *calls)
{
    const struct gt_range *range = &emit->workload->ranges[index];
    const struct gt_key *thread = &emit->keys.threads[range->thread];

    gt_emit_open(emit);
    gt_emit_text(emit, "range", emit->keys.names[range->name]);
    if (range->kind != GT_RANGE_OPERATOR)
        gt_emit_text(emit, "kind", gt_range_kind_names[range->kind]);
    if (thread->text == NULL || strcmp(thread->text, "main") != 0)
        gt_emit_ref(emit, "thread", thread);
    gt_emit_time(emit, "start_ns", range->start_ps);
    gt_emit_time(emit, "duration_ns", range->duration_ps);
    if (calls != NULL && must_count(emit->workload, range))
        gt_emit_number(emit, "calls", calls[index]);
    if (range->external != 0)
        gt_emit_number(emit, "external_id", range->external);
    if (range->gradient_bytes != 0)
        gt_emit_number(emit, "gradient_bytes", range->gradient_bytes);
    gt_emit_flag(emit, "unnested", range->flags & GT_RANGE_UNNESTED);
    gt_emit_close(emit, GT_EXTRA_RANGE, index);
    gt_emit_newline(emit);
}

static bool any_must_count(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->range_count; i++)
        if (must_count(workload, &workload->ranges[i]))
            return true;
    return false;
}

void gt_emit_calls_and_ranges(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;
    struct places places = find_places(workload);
    uint32_t *calls = any_must_count(workload) ? gt_ranges_count_calls(workload) : NULL;

    for (uint32_t i = 0; i <= workload->call_count && !emit->failed; i++) {
        for (uint32_t place = places.first[i]; place < places.first[i + 1]; place++)
            emit_range(emit, places.ranges[place], calls);
        if (i < workload->call_count)
            gt_emit_call(emit, i);
    }
    free(places.first);
    free(places.ranges);
    free(calls);
}
