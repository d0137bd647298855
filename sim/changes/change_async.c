/* async: no copy holds the host up until it is done. */
#include "sim/baseline/stated.h"
#include "sim/changes/change.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/host_waits.h"

#include <stdlib.h>

/* The walk over the calls: by thread, the stream of the copy in that it has asked for last and done nothing since. */
struct walk {
    const struct gt_workload *w;
    gt_stream_index *copied_in;
};

static void walk_begin(struct walk *walk, const struct gt_workload *w)
{
    walk->w = w;
    walk->copied_in = gt_calloc(w->thread_count + 1ull, sizeof *walk->copied_in);
    for (uint32_t i = 0; i < w->thread_count; i++)
        walk->copied_in[i] = GT_NONE;
}

/* Is this call nothing but the wait for the copy in before it, as frameworks make it behind a copy that is to be done
 * when their own function returns?  Kineto without synchronisation events does not say which stream it waits for. */
static bool is_copys_own_wait(struct walk *walk, const struct gt_call *call)
{
    gt_stream_index *copied_in = &walk->copied_in[call->thread];
    bool same_stream = call->stream == *copied_in || call->flags & GT_CALL_TARGET_UNKNOWN;
    bool own = call->kind == GT_CALL_STREAM_SYNC && *copied_in != GT_NONE && same_stream;

    if (gt_call_copies(walk->w, call, GT_H2D) != NULL)
        *copied_in = walk->w->ops[call->first_op].stream;
    else if (!gt_call_is_idle(call))
        *copied_in = GT_NONE;
    return own;
}

static bool is_synchronous(const struct gt_call *call)
{
    return (call->kind == GT_CALL_COPY || call->kind == GT_CALL_MEMSET) && call->flags & GT_CALL_SYNCHRONOUS;
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    const struct gt_workload *w = scenario->workload;
    struct walk walk;
    bool found = false;

    (void)argument;
    walk_begin(&walk, w);
    for (uint32_t i = 0; i < w->call_count && !found; i++)
        found = is_copys_own_wait(&walk, &w->calls[i]) || is_synchronous(&w->calls[i]);
    free(walk.copied_in);
    return found;
}

struct counts {
    uint32_t forms, outs, waits;
};

static struct gt_workload *rebuild_async(const struct gt_workload *w, struct counts *counts)
{
    struct gt_rebuild rebuild;
    struct walk walk;

    gt_rebuild_begin(&rebuild, w);
    walk_begin(&walk, w);
    for (uint32_t i = 0; i < w->call_count; i++) {
        struct gt_call *call;
        gt_call_index copied;

        if (is_copys_own_wait(&walk, &w->calls[i])) {
            counts->waits++;
            gt_rebuild_drop(&rebuild, i);
            continue;
        }
        copied = gt_rebuild_copy(&rebuild, i);
        call = &rebuild.to->calls[copied];
        if (!is_synchronous(call))
            continue;
        call->flags &= (uint8_t)~GT_CALL_SYNCHRONOUS;
        if (gt_call_copies(w, &w->calls[i], GT_D2H) == NULL ||
            w->ops[w->calls[i].first_op].memory != GT_MEMORY_PAGEABLE)
            gt_stated_forget(rebuild.to, copied);
        counts->forms++;
        counts->outs += gt_call_copies(w, &w->calls[i], GT_D2H) != NULL;
    }
    free(walk.copied_in);
    return gt_rebuild_end(&rebuild);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct counts counts = { 0 };

    (void)argument;
    (void)error;
    if (!applies(scenario, ""))
        return 0;
    gt_scenario_replace(scenario, rebuild_async(scenario->workload, &counts));
    if (counts.forms > 0)
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u copies and memsets use their asynchronous form; the host still stages pageable "
                           "memory, and still waits for a copy out to it",
                           counts.forms);
    if (counts.waits > 0)
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u waits for a stream directly after a copy in belong to that copy and are left out",
                           counts.waits);
    gt_scenario_assume(scenario, GT_TRUST_HIGH, "Assumes the host does not overwrite data while it is copied in");
    if (counts.outs > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "Assumes the host reads the data of %u copies out only after its next wait; the trace does not show "
            "this",
            counts.outs);
    return 0;
}

static const char *const tried[] = { "", NULL };
const struct gt_change_kind gt_change_async = {
    .name = "async",
    .takes = GT_ARGUMENT_NONE,
    .help = "replace synchronous copies by asynchronous ones (pageable memory is still staged)",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
