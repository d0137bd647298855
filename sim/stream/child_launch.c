/* Launches by blocks: what they cost the block, and when what they launch may start (CUDA C++ Programming Guide, Dynamic
 * Parallelism: Ordering and Concurrency). */
#include "sim/stream/child_launch.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/child_ends.h"
#include "sim/stream/child_state.h"
#include "sim/stream/operation.h"

/* What an event of a row is about. */
enum stamp { MAY_GO = GT_CHILD_MAY_GO, LAUNCHED, HAS_TURN };

bool gt_child_launches_of(const struct gt_machine *m, gt_op_index op)
{
    return m->children != NULL && gt_child_parent_of(m, op) != NULL;
}

/* The first of the grid's rows of this block or one behind it. */
static uint32_t first_row(const struct gt_machine *m, const struct gt_child_parent *parent, uint64_t block)
{
    uint32_t low = parent->first, high = parent->first + parent->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (gt_child_row(m, middle)->block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_block(const struct gt_machine *m, uint32_t row, uint32_t other)
{
    return other < m->workload->child_launch_count &&
           gt_child_row(m, row)->parent == gt_child_row(m, other)->parent &&
           gt_child_row(m, row)->block == gt_child_row(m, other)->block;
}

/* What the launching thread spends from `begin_ps` on until the stream of its grid is there: whoever comes first makes it,
 * the others wait for that. */
static gt_time_ps stream_ps(struct gt_machine *m, struct gt_child_lane *lane, gt_time_ps begin_ps)
{
    if (lane->made_ps == GT_TIME_NONE)
        lane->made_ps = begin_ps + m->device->child_stream_ps;
    return lane->made_ps > begin_ps ? lane->made_ps - begin_ps : 0;
}

/* Calls that begin less than `usual_ps` before or after are under way at the same time; the latest few are counted. */
static uint32_t calls_beside(struct gt_child_calls *calls, gt_time_ps begin_ps, gt_time_ps usual_ps)
{
    uint32_t beside = 0;

    for (uint32_t i = 0; i < GT_CHILD_CALLS && i < calls->count; i++)
        beside += calls->begin_ps[i] < begin_ps + usual_ps && begin_ps < calls->begin_ps[i] + usual_ps;
    calls->begin_ps[calls->count++ % GT_CHILD_CALLS] = begin_ps;
    return beside;
}

/* What it spends on the launch. Its own calls before are over by then. */
static gt_time_ps call_ps(struct gt_machine *m, struct gt_child_parent *parent, uint32_t row, gt_time_ps begin_ps)
{
    enum gt_launch_into into = (enum gt_launch_into)gt_child_rule(m, row)->into;
    gt_time_ps cost_ps = m->device->child_call_ps[into];
    gt_time_ps more_ps = m->device->child_contention_ps[into == GT_INTO_TAIL ? GT_INTO_TAIL : GT_INTO_NULL];

    if (into == GT_INTO_STREAM)
        cost_ps += stream_ps(m, &m->children->lanes[m->children->children[row].lane], begin_ps);
    if (!parent->launched)
        cost_ps += m->device->child_first_ps;
    parent->launched = true;
    if (more_ps > 0)
        cost_ps += more_ps *
                   calls_beside(&m->children->calls[gt_child_gpu(m, row)], begin_ps, m->device->child_call_ps[into]);
    return cost_ps;
}

gt_time_ps gt_child_block_starts(struct gt_machine *m, gt_op_index op, uint64_t block, gt_time_ps start_ps,
                                 gt_time_ps work_ps)
{
    struct gt_child_parent *parent = gt_child_parent_of(m, op);
    uint32_t first = first_row(m, parent, block);
    gt_time_ps calls_ps = 0;

    if (first == parent->first + parent->count || gt_child_row(m, first)->block != block)
        return 0;
    for (uint32_t row = first; same_block(m, first, row); row++) {
        gt_time_ps begin_ps = start_ps + (gt_time_ps)(gt_child_rule(m, row)->at * (double)work_ps) + calls_ps;
        gt_time_ps cost_ps = call_ps(m, parent, row, begin_ps);

        calls_ps += cost_ps;
        m->children->children[row].launched_ps = begin_ps + cost_ps;
    }
    gt_engine_schedule(&m->engine, m->children->children[first].launched_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD, first,
                       LAUNCHED);
    return calls_ps;
}

gt_time_ps gt_child_bar_starts(struct gt_machine *m, gt_op_index op, gt_time_ps work_ps)
{
    const struct gt_child_parent *parent = gt_child_parent_of(m, op);
    gt_time_ps longest_ps = 0;

    for (uint32_t row = parent->first; row < parent->first + parent->count; row++) {
        gt_time_ps more_ps;

        if (row > parent->first && same_block(m, row - 1, row))
            continue;
        more_ps = gt_child_block_starts(m, op, gt_child_row(m, row)->block, m->engine.now_ps, work_ps);
        longest_ps = more_ps > longest_ps ? more_ps : longest_ps;
    }
    return longest_ps;
}

static void append(struct gt_machine *m, uint32_t row)
{
    struct gt_child_lane *lane = &m->children->lanes[m->children->children[row].lane];

    if (lane->head == GT_NONE)
        lane->head = row;
    else
        m->children->children[lane->tail].next = row;
    lane->tail = row;
}

static void add_command(struct gt_machine *m, uint32_t row)
{
    gt_op_index op = gt_child_row(m, row)->op;
    const struct gt_op *o = &m->workload->ops[op];
    gt_command_index command = gt_stream_command_new(m, GT_COMMAND_CHILD, op, o->stream);

    m->commands[command].submit_ps = m->engine.now_ps;
    m->commands[command].visible_ps = m->engine.now_ps + m->device->child_latency_ps[gt_child_rule(m, row)->into];
    /* Its parent may go on: back from the child's start that is where the time went before. */
    gt_stream_command_hold(m, command, GT_WAIT_HOST, m->commands[command].visible_ps, GT_CAUSE_OP,
                           gt_child_row(m, row)->parent);
    m->children->children[row].command = command;
    if (m->op_commands != NULL)
        m->op_commands[op] = command;
}

static void launch(struct gt_machine *m, uint32_t row)
{
    uint32_t lane = m->children->children[row].lane;

    m->children->pending++;
    add_command(m, row);
    if (lane == GT_NONE) {
        gt_child_let_go(m, row, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
        return;
    }
    append(m, row);
    if (gt_child_rule(m, row)->into != GT_INTO_TAIL)
        gt_child_run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
}

/* Beyond its limits CUDA returns an error to the thread that launches, and the launch does not happen (driver_types.h,
 * cudaErrorLaunchMaxDepthExceeded and cudaErrorLaunchPendingCountExceeded): the block goes on, and whatever the child would
 * have launched is never heard of. */
static void launch_or_refuse(struct gt_machine *m, uint32_t row)
{
    bool deep = gt_child_row(m, row)->depth > m->device->child_depth;
    bool refused = deep || m->children->pending >= m->device->child_pending;

    if (refused)
        m->refused[deep ? GT_REFUSED_DEPTH : GT_REFUSED_PENDING]++;
    else
        launch(m, row);
    gt_child_launched(m, row, refused);
}

/* Launches by blocks start one after the other, so far apart. */
static void take_turn(struct gt_machine *m, uint32_t row)
{
    gt_time_ps *next_ps = &m->children->next_go_ps[gt_child_gpu(m, row)], now_ps = m->engine.now_ps;
    bool forgotten = gt_child_rule(m, row)->into == GT_INTO_FIRE_AND_FORGET;
    gt_time_ps apart_ps = m->device->child_next_ps[forgotten ? GT_INTO_FIRE_AND_FORGET : GT_INTO_NULL];
    gt_command_index command = m->children->children[row].command;

    if (*next_ps <= now_ps) {
        *next_ps = now_ps + apart_ps;
        gt_op_ready(m, command);
        return;
    }
    gt_stream_command_hold(m, command, GT_WAIT_QUEUE, *next_ps, GT_CAUSE_OP, gt_child_row(m, row)->parent);
    gt_engine_schedule(&m->engine, *next_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD, row, HAS_TURN);
    *next_ps += apart_ps;
}

int gt_child_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)error;
    switch ((enum stamp)stamp) {
    case LAUNCHED:
        launch_or_refuse(m, row);
        if (same_block(m, row, row + 1) && !m->failed)
            gt_engine_schedule(&m->engine, m->children->children[row + 1].launched_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD,
                               row + 1, LAUNCHED);
        break;
    case MAY_GO: take_turn(m, row); break;
    case HAS_TURN: gt_op_ready(m, m->children->children[row].command); break;
    }
    return m->failed ? -1 : 0;
}
