/* Collectives put operations of several GPUs in order: what a rank gives, another one has no sooner than the giver's part
 * began, so all that the part came after is done when the other rank's part ends, whichever stands first in the trace. */
#include <stdlib.h>
#include <string.h>

#include "sim/check/order_parts.h"
#include "sim/workload/collective.h"

struct gt_order_collectives {
    struct gt_collective_parts parts;
    gt_step_index *begun; /* by instance: all that give have begun; GT_NONE: none has come */
};

struct gt_order_collectives *gt_order_collectives_new(const struct gt_workload *w)
{
    struct gt_order_collectives *all = gt_calloc(1, sizeof *all);

    all->parts = gt_collective_parts(w);
    all->begun = gt_realloc(NULL, all->parts.instances + 1ull, sizeof *all->begun);
    memset(all->begun, 0xff, (all->parts.instances + 1ull) * sizeof *all->begun); /* GT_NONE */
    return all;
}

void gt_order_collectives_free(struct gt_order_collectives *all)
{
    gt_collective_parts_free(&all->parts);
    free(all->begun);
    free(all);
}

/* A broadcast comes from its root, a reduction goes there, a message to the one that it is sent to; else each has something
 * of each. */
static bool gives(const struct gt_collective *collective, const struct gt_collective_part *part)
{
    if (collective->kind == GT_SEND_RECV)
        return part->rank == part->from;
    return collective->kind != GT_BROADCAST || part->rank == collective->root;
}

static bool takes(const struct gt_collective *collective, const struct gt_collective_part *part)
{
    if (collective->kind == GT_SEND_RECV)
        return part->rank == part->to;
    return collective->kind != GT_REDUCE || part->rank == collective->root;
}

gt_step_index gt_order_part(struct gt_order *order, gt_op_index op, gt_step_index step)
{
    const struct gt_collective *collective = &gt_collective_kernel(order->w, op)->collective;
    struct gt_order_collectives *all = order->instances;
    gt_step_index end = gt_steps_add(&order->steps, order->steps.list[step].line, GT_STEP_PLAIN, GT_NONE);
    uint32_t first, parts = gt_collective_parts_of(&all->parts, op, &first);

    for (uint32_t i = first; i < first + parts; i++) {
        const struct gt_collective_part *part = &all->parts.parts[i];
        gt_step_index *begun = &all->begun[part->instance];

        if (*begun == GT_NONE)
            *begun = gt_steps_add(&order->steps, GT_NONE, GT_STEP_PLAIN, GT_NONE);
        if (gives(collective, part))
            gt_steps_order(&order->steps, step, *begun);
        if (takes(collective, part))
            gt_steps_order(&order->steps, *begun, end);
    }
    return end;
}
