/* What is known of launches by blocks: built before a run, looked up in it. */
#include "sim/stream/child_state.h"
#include "sim/base/sort.h"

#include <stdlib.h>

const struct gt_child_launch *gt_child_row(const struct gt_machine *m, uint32_t row)
{
    return &m->workload->child_launches[row];
}

const struct gt_launch_rule *gt_child_rule(const struct gt_machine *m, uint32_t row)
{
    return gt_child_launch_rule(m->workload, gt_child_row(m, row));
}

struct gt_child_parent *gt_child_parent_of(const struct gt_machine *m, gt_op_index op)
{
    struct gt_child_state *state = m->children;
    uint32_t low = GT_LOWER_BOUND(middle, 0, state->parent_count, state->parents[middle].op < op);
    return low < state->parent_count && state->parents[low].op == op ? &state->parents[low] : NULL;
}

static uint32_t new_lane(struct gt_child_state *state)
{
    state->lanes[state->lane_count] = (struct gt_child_lane){ GT_NONE, GT_NONE, GT_NONE, GT_TIME_NONE };
    return state->lane_count++;
}

/* The lane of the row, among those of its grid's rows before it, or a new one. */
static uint32_t find_lane(const struct gt_machine *m, const struct gt_child_parent *parent, uint32_t row)
{
    const struct gt_launch_rule *rule = gt_child_rule(m, row);
    uint64_t block = gt_child_row(m, row)->block;

    if (rule->into == GT_INTO_FIRE_AND_FORGET)
        return GT_NONE;
    if (rule->into == GT_INTO_TAIL)
        return parent->tails;
    for (uint32_t before = row; before-- > parent->first;) {
        const struct gt_launch_rule *other = gt_child_rule(m, before);

        if (other->into == rule->into &&
            (rule->into == GT_INTO_NULL ? gt_child_row(m, before)->block == block : other->stream == rule->stream))
            return m->children->children[before].lane;
        if (rule->into == GT_INTO_NULL && gt_child_row(m, before)->block != block)
            break;
    }
    return new_lane(m->children);
}

static void build_parent(struct gt_machine *m, struct gt_child_parent *parent)
{
    struct gt_child_state *state = m->children;

    for (uint32_t row = parent->first; row < parent->first + parent->count; row++) {
        bool tail = gt_child_rule(m, row)->into == GT_INTO_TAIL;

        if (tail && parent->tails == GT_NONE)
            parent->tails = new_lane(state);
        parent->open += !tail;
        state->children[row] = (struct gt_child){ .command = GT_NONE, .next = GT_NONE };
        state->children[row].lane = find_lane(m, parent, row);
    }
}

void gt_child_launches_build(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    struct gt_child_state *state;

    if (w->child_launch_count == 0)
        return;
    m->children = state = gt_calloc(1, sizeof *state);
    state->children = gt_calloc(w->child_launch_count, sizeof *state->children);
    state->lanes = gt_calloc(w->child_launch_count, sizeof *state->lanes);
    state->parents = gt_calloc(w->child_launch_count, sizeof *state->parents);
    state->next_go_ps = gt_calloc(w->gpu_count, sizeof *state->next_go_ps);
    state->calls = gt_calloc(w->gpu_count, sizeof *state->calls);
    state->passes = gt_calloc(w->gpu_count, sizeof *state->passes);
    state->gpu_count = w->gpu_count;
    for (uint32_t row = 0; row < w->child_launch_count;) {
        struct gt_child_parent *parent = &state->parents[state->parent_count++];

        *parent =
            (struct gt_child_parent){ .op = gt_child_row(m, row)->parent, .tails = GT_NONE, .command = GT_NONE };
        parent->count = gt_child_launches_by(w, parent->op, &parent->first);
        parent->to_launch = parent->count;
        build_parent(m, parent);
        row += parent->count;
    }
}

void gt_child_launches_free(struct gt_machine *m)
{
    if (m->children == NULL)
        return;
    free(m->children->children);
    free(m->children->lanes);
    free(m->children->parents);
    free(m->children->next_go_ps);
    for (uint32_t i = 0; i < m->children->gpu_count; i++)
        free(m->children->passes[i].list);
    free(m->children->passes);
    free(m->children->calls);
    free(m->children);
}
