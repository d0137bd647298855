/* Ends of grids that blocks launched, and of those whose blocks launch.
 *
 * Tail launches wait until their grid has ended and everything else that its blocks launched is complete, and follow each
 * other (CUDA C++ Programming Guide, Dynamic Parallelism: Tail Launch).  Seen on H200: ends of other children are seen in
 * passes, one after the other, where their grid has ended before them. */
#include "sim/stream/child_ends.h"

#include "sim/base/array.h"
#include "sim/stream/child_state.h"
#include "sim/stream/operation.h"

/* What an event of a row is about. */
enum stamp { SEEN, PASS_OVER, PARENT_COMPLETE };

static uint32_t row_number(const struct gt_machine *m, gt_op_index op)
{
    return (uint32_t)(gt_child_launch_of(m->workload, op) - m->workload->child_launches);
}

static bool is_host_launched(const struct gt_machine *m, const struct gt_child_parent *parent)
{
    return m->commands[parent->command].kind != GT_COMMAND_CHILD;
}

/* Its grid and all of its other work has ended `end_ps` from now: the next tail launch. False: there is none. */
static bool go_on(struct gt_machine *m, const struct gt_child_parent *parent, gt_time_ps end_ps, gt_op_index cause,
                  bool first)
{
    const struct gt_child_lane *tails = parent->tails != GT_NONE ? &m->children->lanes[parent->tails] : NULL;
    gt_time_ps tail_ps =
        first && is_host_launched(m, parent) ? m->device->child_tail_ps : m->device->child_tail_next_ps;

    if (tails == NULL || tails->head == GT_NONE)
        return false;
    gt_child_run_lane(m, parent->tails, GT_WAIT_EVENT, m->engine.now_ps + end_ps + tail_ps, cause);
    return true;
}

bool gt_child_parent_ended(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;
    struct gt_child_parent *parent = gt_child_parent_of(m, op);

    if (parent == NULL)
        return false;
    parent->command = command;
    if (parent->to_launch > 0 || parent->open > 0 || go_on(m, parent, 0, op, true))
        return true;
    parent->command = GT_NONE;
    return false;
}

/* The ends of so many children have been seen: what waited for them goes on. */
static void note_ends(struct gt_machine *m, struct gt_child_parent *parent, uint32_t row, uint32_t children)
{
    uint32_t lane = m->children->children[row].lane;
    gt_time_ps end_ps = m->device->child_end_ps;

    if (lane != GT_NONE) {
        m->children->lanes[lane].running = GT_NONE;
        gt_child_run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps + end_ps + m->device->child_gap_ps,
                          gt_child_row(m, row)->op);
    }
    parent->open -= children;
    if (parent->command == GT_NONE || parent->to_launch > 0 || parent->open > 0 ||
        go_on(m, parent, end_ps, gt_child_row(m, row)->op, true))
        return;
    end_ps += is_host_launched(m, parent) ? m->device->child_host_ps : 0;
    gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD_END, parent->first,
                       PARENT_COMPLETE);
}

void gt_child_launched(struct gt_machine *m, uint32_t row, bool refused)
{
    struct gt_child_parent *parent = gt_child_parent_of(m, gt_child_row(m, row)->parent);

    parent->to_launch--;
    if (refused && gt_child_rule(m, row)->into != GT_INTO_TAIL)
        parent->open--;
    if (parent->command == GT_NONE || parent->to_launch > 0 || parent->open > 0)
        return;
    if (!go_on(m, parent, 0, parent->op, true))
        gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_END, GT_HANDLE_CHILD_END, parent->first,
                           PARENT_COMPLETE);
}

static gt_time_ps pass_ps(const struct gt_machine *m, uint32_t children)
{
    return m->device->child_pass_ps + children * m->device->child_pass_each_ps;
}

static void begin_pass(struct gt_machine *m, const struct gt_child_passes *passes)
{
    const struct gt_child_pass *pass = &passes->list[passes->first];

    gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, pass->children), GT_PHASE_END, GT_HANDLE_CHILD_END,
                       pass->row, PASS_OVER);
}

/* A pass of its own, or with others of its parent in one that has not begun. */
static void add_to_pass(struct gt_machine *m, struct gt_child_parent *parent, uint32_t row)
{
    struct gt_child_passes *passes = &m->children->passes[gt_child_gpu(m, row)];
    uint32_t lane = m->children->children[row].lane;
    bool alone = lane != GT_NONE && m->children->lanes[lane].head != GT_NONE;

    for (uint32_t i = 1; i < passes->count && !alone; i++) {
        struct gt_child_pass *pass = &passes->list[passes->first + i];

        if (pass->parent != parent || pass->alone)
            continue;
        pass->children++;
        pass->row = row;
        return;
    }
    if (passes->count == 0)
        passes->first = 0;
    while (passes->first + passes->count >= passes->room) {
        uint32_t room = passes->first + passes->count;

        gt_array_grow(passes->list, room, passes->room);
    }
    passes->list[passes->first + passes->count++] = (struct gt_child_pass){ parent, 1, row, alone };
    if (passes->count == 1)
        begin_pass(m, passes);
}

static void end_pass(struct gt_machine *m, uint32_t row)
{
    struct gt_child_passes *passes = &m->children->passes[gt_child_gpu(m, row)];
    struct gt_child_pass pass = passes->list[passes->first++];

    if (--passes->count > 0)
        begin_pass(m, passes);
    note_ends(m, pass.parent, pass.row, pass.children);
}

/* Tail launches follow each other without such passes. */
static void end_tail(struct gt_machine *m, struct gt_child_parent *parent, uint32_t row)
{
    gt_time_ps end_ps = is_host_launched(m, parent) ? m->device->child_tail_host_ps : 0;

    if (!go_on(m, parent, 0, gt_child_row(m, row)->op, false))
        gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD_END, parent->first,
                           PARENT_COMPLETE);
}

void gt_child_complete(struct gt_machine *m, gt_op_index op)
{
    uint32_t row = row_number(m, op), lane = m->children->children[row].lane;
    struct gt_child_parent *parent = gt_child_parent_of(m, gt_child_row(m, row)->parent);

    m->children->children[row].command = GT_NONE;
    m->children->pending--;
    if (gt_child_rule(m, row)->into == GT_INTO_TAIL) {
        m->children->lanes[lane].running = GT_NONE;
        end_tail(m, parent, row);
    } else if (parent->command != GT_NONE) {
        add_to_pass(m, parent, row);
    } else {
        gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, 1), GT_PHASE_END, GT_HANDLE_CHILD_END, row,
                           SEEN);
    }
}

int gt_child_end_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_child_parent *parent = gt_child_parent_of(m, gt_child_row(m, row)->parent);
    gt_command_index command = parent->command;

    (void)error;
    switch ((enum stamp)stamp) {
    case SEEN: note_ends(m, parent, row, 1); break;
    case PASS_OVER: end_pass(m, row); break;
    case PARENT_COMPLETE:
        parent->command = GT_NONE;
        gt_op_complete(m, command);
        break;
    }
    return m->failed ? -1 : 0;
}
