#include "sim/rewrite/data_flow.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/ranges.h"

static const struct gt_buffer_access *access_of(const struct gt_workload *w, const struct gt_op *op, uint32_t i)
{
    return &w->accesses[op->first_access + i];
}

/* Does it say of this side what it touches, in buffers? */
static bool tells(const struct gt_workload *w, const struct gt_op *op, bool writes)
{
    bool told = false;

    for (uint32_t i = 0; i < op->accesses; i++) {
        const struct gt_buffer_access *access = access_of(w, op, i);

        if (access->buffer == GT_NONE || access->possible)
            return false;
        told |= access->writes == writes;
    }
    return told;
}

static bool is_known(const struct gt_workload *w, const struct gt_op *op)
{
    if (op->kind == GT_OP_HOST_FUNCTION)
        return false;
    if (op->kind == GT_OP_COPY && op->direction == GT_D2H)
        return tells(w, op, false);
    if (op->kind == GT_OP_COPY && op->direction != GT_H2D)
        return tells(w, op, false) && tells(w, op, true);
    return tells(w, op, true);
}

static bool call_is_known(const struct gt_workload *w, const struct gt_call *call)
{
    for (uint32_t i = 0; i < call->ops; i++)
        if (!is_known(w, &w->ops[call->first_op + i]))
            return false;
    return call->ops > 0;
}

static int by_address(const void *a, const void *b, void *user)
{
    const struct gt_buffer *buffers = user;
    uint64_t left = buffers[*(const uint32_t *)a].address, right = buffers[*(const uint32_t *)b].address;

    return (left > right) - (left < right);
}

static uint64_t buffer_end(const struct gt_buffer *buffer)
{
    return buffer->bytes > UINT64_MAX - buffer->address ? UINT64_MAX : buffer->address + buffer->bytes;
}

/* Sweep the buffers with addresses in their order. */
static void find_memory(struct gt_data_flow *flow)
{
    const struct gt_workload *w = flow->w;
    uint32_t *order = gt_calloc(w->buffer_count + 1ull, sizeof *order), count = 0;
    uint64_t end = 0;

    for (uint32_t i = 0; i < w->buffer_count; i++) {
        flow->memory[i] = i;
        if (w->buffers[i].address != GT_ADDRESS_NONE)
            order[count++] = i;
    }
    qsort_r(order, count, sizeof *order, by_address, w->buffers);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_buffer *buffer = &w->buffers[order[i]];

        if (i > 0 && (buffer->address < end || buffer->address == w->buffers[order[i - 1]].address))
            flow->memory[order[i]] = flow->memory[order[i - 1]];
        end = buffer_end(buffer) > end ? buffer_end(buffer) : end;
    }
    free(order);
}

void gt_data_flow_begin(struct gt_data_flow *flow, const struct gt_workload *w)
{
    *flow = (struct gt_data_flow){
        .w = w,
        .known = gt_calloc(w->call_count + 1ull, sizeof *flow->known),
        .memory = gt_calloc(w->buffer_count + 1ull, sizeof *flow->memory),
        .touches = gt_calloc(w->buffer_count + 1ull, sizeof *flow->touches),
        .since = gt_calloc(w->stream_count + 1ull, sizeof *flow->since),
    };
    for (uint32_t i = 0; i < w->call_count; i++)
        flow->known[i] = call_is_known(w, &w->calls[i]);
    find_memory(flow);
}

void gt_data_flow_free(struct gt_data_flow *flow)
{
    for (uint32_t i = 0; i < flow->w->buffer_count; i++)
        free(flow->touches[i].list);
    free(flow->known);
    free(flow->memory);
    free(flow->touches);
    free(flow->since);
}

/* The bytes, from the memory's lowest address or else the buffer's begin. */
static struct gt_touch touch_of(const struct gt_workload *w, const struct gt_buffer_access *access)
{
    const struct gt_buffer *buffer = &w->buffers[access->buffer];
    uint64_t base = buffer->address != GT_ADDRESS_NONE ? buffer->address : 0;
    uint64_t bytes = access->bytes != 0               ? access->bytes
                     : buffer->bytes > access->offset ? buffer->bytes - access->offset
                                                      : 0;
    struct gt_touch touch = { .from = base + access->offset, .writes = access->writes };

    touch.to = bytes == 0 || bytes > UINT64_MAX - touch.from ? UINT64_MAX : touch.from + bytes;
    return touch;
}

bool gt_data_flow_knows(const struct gt_data_flow *flow, gt_op_index op)
{
    return is_known(flow->w, &flow->w->ops[op]);
}

bool gt_data_flow_conflict(const struct gt_data_flow *flow, gt_op_index one, gt_op_index other)
{
    const struct gt_op *a = &flow->w->ops[one], *b = &flow->w->ops[other];

    for (uint32_t i = 0; i < a->accesses; i++) {
        const struct gt_buffer_access *first = access_of(flow->w, a, i);
        struct gt_touch touch = touch_of(flow->w, first);

        for (uint32_t j = 0; j < b->accesses; j++) {
            const struct gt_buffer_access *second = access_of(flow->w, b, j);
            struct gt_touch beside = touch_of(flow->w, second);

            if (flow->memory[first->buffer] == flow->memory[second->buffer] && touch.from < beside.to &&
                beside.from < touch.to && (touch.writes || beside.writes))
                return true;
        }
    }
    return false;
}

static struct gt_touches *touches_of(struct gt_data_flow *flow, const struct gt_buffer_access *access)
{
    return &flow->touches[flow->memory[access->buffer]];
}

void gt_data_flow_visit(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream,
                        void (*visit)(void *user, const struct gt_touch *touch), void *user)
{
    const struct gt_call *c = &flow->w->calls[call];

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++) {
        for (uint32_t i = 0; i < flow->w->ops[op].accesses; i++) {
            const struct gt_buffer_access *access = access_of(flow->w, &flow->w->ops[op], i);
            struct gt_touch now = touch_of(flow->w, access);
            struct gt_touches *touches = touches_of(flow, access);

            for (uint32_t j = 0; j < touches->count; j++) {
                const struct gt_touch *touch = &touches->list[j];

                if (touch->stream == stream && touch->call >= flow->since[stream] && touch->from < now.to &&
                    now.from < touch->to && (touch->writes || now.writes))
                    visit(user, touch);
            }
        }
    }
}

/* What comes after `now` in the list's order need not look at `touch` any more. */
static bool supersedes(const struct gt_data_flow *flow, const struct gt_touch *now, const struct gt_touch *touch)
{
    if (touch->call < flow->since[touch->stream])
        return true;
    if (touch->stream != now->stream || touch->from < now->from || touch->to > now->to)
        return false;
    return now->writes || (touch->target == now->target && !touch->writes);
}

void gt_data_flow_add(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream, gt_stream_index target)
{
    const struct gt_call *c = &flow->w->calls[call];

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++) {
        for (uint32_t i = 0; i < flow->w->ops[op].accesses; i++) {
            const struct gt_buffer_access *access = access_of(flow->w, &flow->w->ops[op], i);
            struct gt_touches *touches = touches_of(flow, access);
            struct gt_touch now = touch_of(flow->w, access);
            uint32_t kept = 0;

            now.call = call;
            now.stream = stream;
            now.target = target;
            for (uint32_t j = 0; j < touches->count; j++)
                if (!supersedes(flow, &now, &touches->list[j]))
                    touches->list[kept++] = touches->list[j];
            touches->count = kept;
            gt_array_grow(touches->list, touches->count, touches->room);
            touches->list[touches->count++] = now;
        }
    }
}

void gt_data_flow_clear(struct gt_data_flow *flow, gt_stream_index stream, gt_call_index call)
{
    flow->since[stream] = call;
}

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
