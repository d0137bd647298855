#include "sim/rewrite/without.h"

#include "sim/rewrite/rebuild.h"
#include "sim/workload/child_launches.h"

static bool all_gone(const struct gt_workload *w, const struct gt_call *call, const bool *gone)
{
    for (uint32_t i = 0; i < call->ops; i++)
        if (!gone[call->first_op + i] && gt_child_launch_of(w, call->first_op + i) == NULL)
            return false;
    return call->ops > 0;
}

/* A kernel that is left out launches nothing. */
static bool is_gone(const struct gt_rebuild *rebuild, gt_op_index op, const bool *gone)
{
    const struct gt_child_launch *child = gt_child_launch_of(rebuild->from, op);

    return gone[op] || (child != NULL && rebuild->new_op[child->parent] == GT_NONE);
}

struct gt_workload *gt_workload_without(const struct gt_workload *w, const bool *gone)
{
    struct gt_rebuild rebuild;

    gt_rebuild_begin(&rebuild, w);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (call->kind == GT_CALL_LAUNCH && all_gone(w, call, gone)) {
            gt_rebuild_drop(&rebuild, i);
            continue;
        }
        gt_rebuild_copy_bare(&rebuild, i);
        for (uint32_t j = 0; j < call->ops; j++)
            if (!is_gone(&rebuild, call->first_op + j, gone))
                gt_rebuild_move_op(&rebuild, call->first_op + j);
    }
    return gt_rebuild_end(&rebuild);
}
