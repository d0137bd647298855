#include "sim/rewrite/independence.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"

/* The name itself, or what of it is left of a C++ function without return type, namespaces and parameters. */
static bool matches(const char *pattern, const char *name)
{
    size_t length = strcspn(name, "<("), from = length;
    char *bare;
    bool result;

    while (from > 0 && name[from - 1] != ':' && name[from - 1] != ' ')
        from--;
    bare = gt_strndup(name + from, length - from);
    result = fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, bare, 0) == 0;
    free(bare);
    return result;
}

/* By name: do kernels of it match? */
static bool match_kernels(const struct gt_workload *w, const char *pattern, bool *matched)
{
    bool any = false;

    for (uint32_t i = 0; i < w->kernel_count; i++) {
        if (!matches(pattern, gt_name_text(w, w->kernels[i].name)))
            continue;
        matched[w->kernels[i].name] = true;
        any = true;
    }
    return any;
}

static void match_ranges(const struct gt_workload *w, const char *pattern, bool *matched)
{
    for (uint32_t i = 0; i < w->range_count; i++)
        if (w->ranges[i].name != GT_NONE && fnmatch(pattern, gt_name_text(w, w->ranges[i].name), 0) == 0)
            matched[w->ranges[i].name] = true;
}

/* The outermost range that matches is the unit of its calls. */
static void find_ranges(struct gt_independence *found, const struct gt_workload *w, const bool *matched)
{
    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->name == GT_NONE || !matched[range->name])
            continue;
        for (gt_call_index call = range->first_call; call < range->end_call; call++)
            if (found->unit[call] == GT_NONE && gt_range_has_call(w, range, call))
                found->unit[call] = found->units;
        found->units++;
    }
}

/* What a stream was last asked for. */
struct place {
    gt_call_index *feeds; /* copies in and memsets that nothing has used yet */
    uint32_t count, room;
    uint32_t open; /* the unit that a copy out would go with; GT_NONE */
};

/* Does the call launch kernels, all of names that match? */
static bool launches_matching(const struct gt_workload *w, const struct gt_call *call, const bool *matched)
{
    uint32_t kernels = 0;

    for (uint32_t i = 0; i < call->ops; i++) {
        const struct gt_op *op = &w->ops[call->first_op + i];

        if (op->kind != GT_OP_KERNEL)
            continue;
        if (!matched[w->kernels[op->kernel].name])
            return false;
        kernels++;
    }
    return kernels > 0;
}

static bool is_copy(const struct gt_op *op, enum gt_direction direction)
{
    return op->kind == GT_OP_COPY && op->direction == direction;
}

static void add_feed(struct place *place, gt_call_index call)
{
    if (place->count == place->room) {
        place->room = place->room * 2 + 4;
        place->feeds = gt_realloc(place->feeds, place->room, sizeof *place->feeds);
    }
    place->feeds[place->count++] = call;
}

static void begin_unit(struct gt_independence *found, struct place *place, gt_call_index call)
{
    found->unit[call] = place->open = found->units++;
    for (uint32_t i = 0; i < place->count; i++)
        found->unit[place->feeds[i]] = place->open;
    place->count = 0;
}

static void look_at(struct gt_independence *found, const struct gt_workload *w, const bool *matched,
                    struct place *places, gt_call_index index)
{
    const struct gt_call *call = &w->calls[index];
    const struct gt_op *op = &w->ops[call->first_op];
    struct place *place = &places[op->stream];

    if (found->unit[index] != GT_NONE) { /* by its range */
        place->open = GT_NONE;
        place->count = 0;
    } else if (launches_matching(w, call, matched)) {
        begin_unit(found, place, index);
    } else if (call->ops == 1 && (is_copy(op, GT_H2D) || op->kind == GT_OP_MEMSET)) {
        add_feed(place, index);
        place->open = GT_NONE;
    } else if (call->ops == 1 && is_copy(op, GT_D2H) && place->open != GT_NONE) {
        found->unit[index] = place->open;
    } else {
        place->open = GT_NONE;
        place->count = 0;
    }
}

uint32_t gt_independence_nodes(const struct gt_independence *found, const struct gt_workload *w, gt_call_index index,
                               uint32_t *unit)
{
    const struct gt_call *call = &w->calls[index];
    struct place *places = gt_calloc(w->stream_count + 1ull, sizeof *places);
    uint32_t units = 0;

    for (uint32_t i = 0; i < w->stream_count; i++)
        places[i].open = GT_NONE;
    for (uint32_t i = 0; i < call->ops; i++) {
        const struct gt_op *op = &w->ops[call->first_op + i];
        struct place *place = &places[op->stream];

        unit[i] = GT_NONE;
        if (op->kind == GT_OP_KERNEL && found->kernels[w->kernels[op->kernel].name]) {
            unit[i] = place->open = units++;
            for (uint32_t j = 0; j < place->count; j++)
                unit[place->feeds[j]] = place->open;
            place->count = 0;
        } else if (is_copy(op, GT_H2D) || op->kind == GT_OP_MEMSET) {
            add_feed(place, i);
            place->open = GT_NONE;
        } else if (is_copy(op, GT_D2H) && place->open != GT_NONE) {
            unit[i] = place->open;
        } else {
            place->open = GT_NONE;
            place->count = 0;
        }
    }
    for (uint32_t i = 0; i < w->stream_count; i++)
        free(places[i].feeds);
    free(places);
    return units;
}

void gt_independence_find(struct gt_independence *found, const struct gt_workload *w, const char *const *patterns)
{
    bool *kernels = gt_calloc(gt_name_count(w) + 1ull, sizeof *kernels);
    bool *ranges = gt_calloc(gt_name_count(w) + 1ull, sizeof *ranges);
    struct place *places = gt_calloc(w->stream_count + 1ull, sizeof *places);

    *found = (struct gt_independence){ .unit = gt_realloc(NULL, w->call_count + 1ull, sizeof *found->unit) };
    memset(found->unit, 0xff, w->call_count * sizeof *found->unit); /* GT_NONE */
    for (uint32_t i = 0; i < w->stream_count; i++)
        places[i].open = GT_NONE;
    for (size_t i = 0; patterns != NULL && patterns[i] != NULL; i++)
        if (!match_kernels(w, patterns[i], kernels))
            match_ranges(w, patterns[i], ranges);
    find_ranges(found, w, ranges);
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].ops > 0)
            look_at(found, w, kernels, places, i);
    for (uint32_t i = 0; i < w->stream_count; i++)
        free(places[i].feeds);
    free(places);
    found->kernels = kernels;
    free(ranges);
}

void gt_independence_free(struct gt_independence *independence)
{
    free(independence->unit);
    free(independence->kernels);
}
