/* graph: what a thread launches between two waits, or in a step, is one launch of a graph instantiated before. */
#include "sim/changes/change.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/rewrite/graph_writer.h"
#include "sim/workload/ranges.h"

#include <stdlib.h>
#include <string.h>

static const char whole_steps[] = "step";

/* By call the step that it is in, from 1; 0: in none. */
static uint32_t *steps_of(const struct gt_workload *w)
{
    uint32_t *step_of = gt_calloc(w->call_count + 1ull, sizeof *step_of);

    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->kind != GT_RANGE_STEP)
            continue;
        for (gt_call_index call = range->first_call; call < range->end_call; call++)
            if (step_of[call] == 0 && gt_range_has_call(w, range, call))
                step_of[call] = i + 1;
    }
    return step_of;
}

static void find(struct gt_captures *captures, const struct gt_workload *w, const char *argument)
{
    bool whole = strcmp(argument, whole_steps) == 0;
    uint32_t *step_of = steps_of(w);

    gt_captures_find(captures, w, whole, step_of);
    free(step_of);
}

/* How many captures are refused, and the first of those. */
static uint32_t refusals(const struct gt_captures *captures, const struct gt_capture **first)
{
    uint32_t count = 0;

    *first = NULL;
    for (uint32_t i = captures->count; i-- > 0;) {
        if (captures->list[i].refused == GT_NONE)
            continue;
        *first = &captures->list[i];
        count++;
    }
    return count;
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    struct gt_captures captures;
    const struct gt_capture *first;
    bool some;

    find(&captures, scenario->workload, argument);
    some = refusals(&captures, &first) < captures.count;
    gt_captures_free(&captures);
    return some;
}

static bool uses_legacy_stream(const struct gt_workload *w, const struct gt_captures *captures)
{
    for (uint32_t i = 0; i < captures->count; i++)
        if (captures->list[i].refused == GT_NONE &&
            w->streams[captures->list[i].stream].flags & GT_STREAM_LEGACY_DEFAULT)
            return true;
    return false;
}

static void tell_refused(struct gt_scenario *scenario, const struct gt_captures *captures)
{
    char place[GT_CALL_PLACE_BYTES];
    const struct gt_capture *first;
    uint32_t count = refusals(captures, &first);

    if (count > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%u of %u parts of the recorded run stay as they were, because stream capture refuses them: %s "
            "%s",
            count, captures->count, gt_call_place(scenario->workload, first->refused, place), first->why);
}

static void tell(struct gt_scenario *scenario, const struct gt_graph_counts *counts)
{
    gt_scenario_assume(scenario, GT_TRUST_HIGH,
                       "%u calls of the recorded run become %u graph launches; the time to capture and instantiate "
                       "%u graphs (%u nodes launched in all) is not counted",
                       counts->launches, counts->graphs, counts->different, counts->nodes);
    if (counts->own_work_ps > 0)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Assumes that %.1f us of host time between these calls, and directly before and after "
                           "them, is launch overhead that a graph removes",
                           (double)counts->own_work_ps / 1e6);
    if (counts->unknown_waits > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%u event waits have no event in the trace; each is assumed to wait for the event recorded last. The "
            "interval includes the result without these waits, and with each waiting for all earlier work",
            counts->unknown_waits);
    scenario->waits_unnamed |= counts->unknown_waits > 0;
    if (counts->lost_edges > 0)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "%u waits of graphs for operations submitted during capture are dropped",
                           counts->lost_edges);
}

/* All that there was to capture is refused. */
static int refuse(const struct gt_workload *w, const struct gt_capture *capture, struct gt_error *error)
{
    char place[GT_CALL_PLACE_BYTES];

    return gt_error_set(error, "stream capture refuses it: %s %s", gt_call_place(w, capture->refused, place),
                        capture->why);
}

static int capture_all(struct gt_scenario *scenario, const struct gt_captures *captures, struct gt_error *error)
{
    const struct gt_capture *first;
    struct gt_graph_counts counts;
    uint32_t refused = refusals(captures, &first);

    if (captures->count > 0 && refused == captures->count)
        return refuse(scenario->workload, first, error);
    if (captures->count == 0)
        return 0;
    tell_refused(scenario, captures);
    if (uses_legacy_stream(scenario->workload, captures))
        gt_scenario_assume(
            scenario, GT_TRUST_HIGH,
            "Work of the legacy default stream is captured in another stream, because capture refuses that one");
    gt_scenario_replace(scenario,
                        gt_write_graphs(scenario->workload, captures, scenario->host->unnamed_waits, &counts));
    tell(scenario, &counts);
    return 0;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct gt_captures captures;
    int result;

    if (argument[0] != '\0' && strcmp(argument, whole_steps) != 0)
        return gt_error_set(error,
                            "graph captures the launches between two waits, graph=%s whole steps; '%s' is neither",
                            whole_steps, argument);
    find(&captures, scenario->workload, argument);
    result = capture_all(scenario, &captures, error);
    gt_captures_free(&captures);
    return result;
}

static const char *const tried[] = { "", whole_steps, NULL };
const struct gt_change_kind gt_change_graph = {
    .name = "graph",
    .allocates = true,
    .argument = whole_steps,
    .takes = GT_ARGUMENT_OPTIONAL,
    .help = "capture the launches between two host waits (or of each step) in a CUDA graph",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
