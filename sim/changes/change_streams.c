/* streams=N: what does not depend on each other is spread over N streams of each context. */
#include "sim/changes/change.h"
#include "sim/rewrite/assign_graph.h"
#include "sim/rewrite/assign_streams.h"
#include "sim/rewrite/assign_targets.h"

#include <stdlib.h>

enum { MOST_STREAMS = 1024 };

/* By stream: how long its operations last, as far as that is known. */
static double *work_of_streams(const struct gt_workload *w)
{
    double *work = gt_calloc(w->stream_count + 1ull, sizeof *work);

    for (gt_op_index i = 0; i < w->op_count; i++)
        work[w->ops[i].stream] += w->ops[i].duration_ps != GT_TIME_NONE ? (double)w->ops[i].duration_ps : 0;
    return work;
}

/* The stream of the first `count` that has least to do. */
static uint32_t least_work(const struct gt_assign_context *context, uint32_t count, const double *work)
{
    uint32_t least = 0;

    for (uint32_t i = 1; i < count; i++)
        if (work[context->used[i]] < work[context->used[least]])
            least = i;
    return least;
}

/* Where each stream goes when those with work of a context are more than `streams`: onto the first of them, one by one onto
 * that which has least to do by then; where they have the same to do, in turn. */
static gt_stream_index *fold(const struct gt_workload *w, const struct gt_assign_targets *targets, uint32_t streams,
                             uint32_t *folded)
{
    gt_stream_index *place = gt_calloc(w->stream_count + 1ull, sizeof *place);
    double *work = work_of_streams(w);

    for (uint32_t i = 0; i < w->stream_count; i++)
        place[i] = i;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct gt_assign_context *context = &targets->contexts[i];

        for (uint32_t j = streams; j < context->used_count; j++) {
            gt_stream_index onto = context->used[least_work(context, streams, work)];

            place[context->used[j]] = onto;
            work[onto] += work[context->used[j]];
            (*folded)++;
        }
    }
    free(work);
    return place;
}

static struct gt_workload *rebuild_folded(const struct gt_workload *w, const gt_stream_index *place)
{
    struct gt_rebuild rebuild;

    gt_rebuild_begin(&rebuild, w);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        gt_call_index copied = gt_rebuild_copy(&rebuild, i);
        struct gt_call *call = &rebuild.to->calls[copied];

        if (call->stream != GT_NONE)
            call->stream = place[call->stream];
        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
            rebuild.to->ops[op].stream = place[rebuild.to->ops[op].stream];
        if (call->kind == GT_CALL_GRAPH_LAUNCH)
            gt_fold_nodes(&rebuild, i, place);
    }
    return gt_rebuild_end(&rebuild);
}

static void fold_streams(struct gt_scenario *scenario, uint32_t streams)
{
    struct gt_stream_assignment unused = { 0 };
    struct gt_assign_targets targets;
    gt_stream_index *place;
    uint32_t folded = 0;

    gt_assign_targets_find(&targets, scenario->workload, streams, &unused);
    place = fold(scenario->workload, &targets, streams, &folded);
    if (folded > 0) {
        gt_scenario_replace(scenario, rebuild_folded(scenario->workload, place));
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u streams are merged whole into others, which keeps the order within each", folded);
    }
    free(place);
    gt_assign_targets_free(&targets);
    gt_assignment_free(&unused);
}

static void tell(struct gt_scenario *scenario, const struct gt_stream_assignment *assignment)
{
    uint32_t waits = assignment->wait_count;

    if (assignment->said > 0)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "%u calls are independent by --independent; copies in directly before such a launch and "
                           "copies out directly after it go with it and use their own memory",
                           assignment->said);
    if (assignment->nodes > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%u graph nodes are independent by --independent: the graphs are as if captured from this many streams",
            assignment->nodes);
    if (assignment->nodes_shown > 0)
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u graph nodes are ordered by the memory that they read and write: the graphs are as "
                           "if "
                           "captured from this many streams",
                           assignment->nodes_shown);
    if (assignment->shown > 0)
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "%u calls are ordered by the memory that they read and write",
                           assignment->shown);
    gt_scenario_assume(scenario, GT_TRUST_HIGH,
                       "%u calls move to another stream; %u event%s keep the required "
                       "order",
                       assignment->moved, waits, waits == 1 ? "" : "s");
}

static bool assigns(const struct gt_stream_assignment *assignment)
{
    return assignment->said + assignment->shown + assignment->nodes + assignment->nodes_shown > 0;
}

static int read_count(const char *argument, uint32_t *streams, struct gt_error *error)
{
    char *rest;
    unsigned long number = strtoul(argument, &rest, 10);

    if (argument[0] < '0' || argument[0] > '9' || *rest != '\0' || number == 0 || number > MOST_STREAMS)
        return gt_error_set(error, "how many streams is a number from 1 to %d, not '%s'", MOST_STREAMS, argument);
    *streams = (uint32_t)number;
    return 0;
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    struct gt_error error;
    struct gt_stream_assignment assignment;
    uint32_t streams;
    bool some;

    if (read_count(argument, &streams, &error) != 0)
        return false;
    gt_assign_streams(&assignment, scenario->workload, streams, scenario->host->independent);
    some = assigns(&assignment);
    gt_assignment_free(&assignment);
    return some;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct gt_stream_assignment assignment;
    uint32_t streams;

    if (read_count(argument, &streams, error) != 0)
        return -1;
    fold_streams(scenario, streams);
    gt_assign_streams(&assignment, scenario->workload, streams, scenario->host->independent);
    if (assigns(&assignment)) {
        gt_scenario_replace(scenario, gt_assignment_write(&assignment, scenario->workload));
        tell(scenario, &assignment);
    } else if (assignment.more) {
        scenario->independence_unknown = true;
        gt_scenario_assume(
            scenario, GT_TRUST_LOW,
            "The recording does not say which work of a stream is independent; the interval goes from none to all "
            "of "
            "it (name independent work with --independent, or give 'reads' and 'writes' in the trace)");
    }
    gt_assignment_free(&assignment);
    return 0;
}

static const char *const tried[] = { "2", "4", NULL };
const struct gt_change_kind gt_change_streams = {
    .name = "streams",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "distribute independent work over N streams per context",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
