/* Collectives put operations of several GPUs in order: what a rank gives, another one has no sooner than the giver's part
 * began, so all that the part came after is done when the other rank's part ends.  A part that comes later in the trace
 * tells the streams of earlier ones, and what these are asked for from then on comes after it. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/workload/collective.h"

struct arrival { /* a rank's part that its stream has been asked for */
    const struct gt_collective_part *part;
    struct gt_order_stream *stream;
    struct gt_line begun; /* what had ended when it began */
};

struct meeting { /* those that have come so far; none once all have */
    struct arrival *arrivals;
    uint32_t count, room;
};

struct gt_order_meetings {
    struct gt_collective_parts parts;
    struct meeting *meetings;
};

struct gt_order_meetings *gt_order_meetings_new(const struct gt_workload *w)
{
    struct gt_order_meetings *all = gt_calloc(1, sizeof *all);

    all->parts = gt_collective_parts(w);
    all->meetings = gt_calloc(all->parts.meetings + 1ull, sizeof *all->meetings);
    return all;
}

static void forget(struct meeting *meeting)
{
    for (uint32_t i = 0; i < meeting->count; i++)
        gt_line_free(&meeting->arrivals[i].begun);
    free(meeting->arrivals);
    *meeting = (struct meeting){ .arrivals = NULL };
}

void gt_order_meetings_free(struct gt_order_meetings *all)
{
    for (uint32_t i = 0; i < all->parts.meetings; i++)
        forget(&all->meetings[i]);
    free(all->meetings);
    gt_collective_parts_free(&all->parts);
    free(all);
}

/* Does anything that `giver` has get to `taker`, another part of the same collective?  A broadcast comes from its root, a
 * reduction goes there, a message to the one that it is sent to; else each has something of each. */
static bool gives(const struct gt_workload *w, const struct gt_collective_part *giver,
                  const struct gt_collective_part *taker)
{
    const struct gt_collective *collective = &gt_collective_kernel(w, giver->op)->collective;

    if (collective->kind == GT_SEND_RECV)
        return giver->rank == giver->from;
    if (collective->kind == GT_BROADCAST)
        return giver->rank == collective->root;
    return collective->kind != GT_REDUCE || taker->rank == collective->root;
}

static void meet(struct gt_order *order, const struct arrival *coming, struct gt_line *line)
{
    struct meeting *meeting = &order->meetings->meetings[coming->part->meeting];

    for (uint32_t i = 0; i < meeting->count; i++) {
        const struct arrival *other = &meeting->arrivals[i];
        struct gt_line *behind = &other->stream->line;

        if (gives(order->w, other->part, coming->part) && gt_line_join(line, &other->begun))
            gt_line_next(line);
        if (gives(order->w, coming->part, other->part) && gt_line_join(behind, &coming->begun))
            gt_line_next(behind);
    }
    gt_array_grow(meeting->arrivals, meeting->count, meeting->room);
    meeting->arrivals[meeting->count] = *coming;
    meeting->arrivals[meeting->count++].begun = gt_line_copy(&coming->begun);
    if (meeting->count == gt_collective_part_ranks(order->w, coming->part))
        forget(meeting);
}

struct gt_line gt_order_begin_part(struct gt_order *order, gt_op_index op, struct gt_line *line)
{
    if (gt_collective_kernel(order->w, op) == NULL)
        return (struct gt_line){ .known = NULL };
    gt_line_next(line);
    return gt_line_copy(line);
}

void gt_order_end_part(struct gt_order *order, gt_op_index op, struct gt_order_stream *stream, struct gt_line *begun,
                       struct gt_line *line)
{
    uint32_t first, parts;

    if (gt_collective_kernel(order->w, op) == NULL)
        return;
    parts = gt_collective_parts_of(&order->meetings->parts, op, &first);
    for (uint32_t i = first; i < first + parts; i++)
        meet(order, &(struct arrival){ &order->meetings->parts.parts[i], stream, *begun }, line);
    gt_line_free(begun);
}
