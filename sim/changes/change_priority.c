/* priority=STREAM:LEVEL: another priority of a stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/baseline/fit.h"
#include "sim/changes/change.h"

/* Is that the stream's name, or the number that the trace gives it? */
static bool is_called(const struct gt_workload *w, const struct gt_stream *stream, const char *name)
{
    char *end;
    uint64_t id = strtoull(name, &end, 10);

    if (stream->name != GT_NONE && strcmp(gt_name_text(w, stream->name), name) == 0)
        return true;
    return name[0] >= '0' && name[0] <= '9' && *end == '\0' && stream->id == id;
}

static uint32_t set_level(struct gt_workload *w, const char *name, int32_t level)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < w->stream_count; i++) {
        if (!is_called(w, &w->streams[i], name))
            continue;
        w->streams[i].priority = level;
        found++;
    }
    return found;
}

/* "s1, 7, ...": a few. */
static int no_stream(const struct gt_workload *w, struct gt_error *error)
{
    char list[256] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < w->stream_count && at + 40 < sizeof list; i++) {
        const struct gt_stream *stream = &w->streams[i];

        if (stream->name != GT_NONE)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%.30s", i > 0 ? ", " : "",
                                   gt_name_text(w, stream->name));
        else
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%" PRIu64, i > 0 ? ", " : "", stream->id);
    }
    return gt_error_set(error, "the trace has no such stream; it has %s", list);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const char *colon = strrchr(argument, ':');
    char *end, *name;
    long level;
    uint32_t found;

    if (colon == NULL || colon == argument || colon[1] == '\0')
        return gt_error_set(error, "it takes STREAM:LEVEL");
    level = strtol(colon + 1, &end, 10);
    if (*end != '\0' || level > 0 || level < scenario->device.priority_high)
        return gt_error_set(error, "priorities are %d (the most urgent) to 0, not '%.40s'",
                            scenario->device.priority_high, colon + 1);
    name = gt_strndup(argument, (size_t)(colon - argument));
    found = set_level(scenario->workload, name, (int32_t)level);
    free(name);
    if (found == 0)
        return no_stream(scenario->workload, error);
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "A priority acts when a block ends: running blocks are not preempted");
    if (gt_priorities_unknown(scenario->workload))
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "The profile has no stream priorities; all others are assumed to have 0");
    return 0;
}

/* Only that stream of the program goes by that number, and all others with kernels have the same priority as it. */
static bool stands_for_one(const struct gt_workload *w, gt_stream_index stream)
{
    bool *runs = gt_calloc(w->stream_count + 1ull, sizeof *runs), others = false, equivalent = true;

    for (uint32_t i = 0; i < w->op_count; i++)
        runs[w->ops[i].stream] |= w->ops[i].kind == GT_OP_KERNEL;
    for (gt_stream_index i = 0; i < w->stream_count; i++) {
        if (i == stream)
            continue;
        others |= runs[i];
        equivalent &= w->streams[i].id != w->streams[stream].id &&
                      (!runs[i] || w->streams[i].priority == w->streams[stream].priority);
    }
    free(runs);
    return others && equivalent;
}

/* Of several streams of one priority, the one that waits for room on SMs the most is made the most urgent. */
static char *proposed(const struct gt_scenario *scenario, gt_stream_index crowded)
{
    const struct gt_workload *w = scenario->workload;

    if (crowded == GT_NONE || w->gpu_count != 1 || scenario->device.priority_high >= w->streams[crowded].priority ||
        !stands_for_one(w, crowded))
        return NULL;
    return gt_format("%" PRIu64 ":%d", w->streams[crowded].id, scenario->device.priority_high);
}

const struct gt_change_kind gt_change_priority = {
    .name = "priority",
    .argument = "STREAM:LEVEL",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "change the priority of a stream, given by name or number; 0 is the lowest priority",
    .proposed = proposed,
    .apply = apply,
};
