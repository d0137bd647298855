/* Launches by blocks: what they cost the block, and when what they launch may start (CUDA C++ Programming Guide, Dynamic
 * Parallelism: Ordering and Concurrency). */
#include "sim/stream/child_launch.h"

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/child_state.h"
#include "sim/stream/operation.h"

/* What an event of a row is about: a child may go, its turn has come, a block has made a launch; the end of a child has been
 * seen, a pass is over, a parent is complete. */
enum stamp { MAY_GO, HAS_TURN, LAUNCHED, SEEN, PASS_OVER, PARENT_COMPLETE };

static gt_gpu_index gpu_of(const struct gt_machine *m, uint32_t row)
{
    return m->streams[m->workload->ops[gt_child_row(m, row)->op].stream].gpu;
}

static struct gt_child_parent *parent_of(const struct gt_machine *m, uint32_t row)
{
    return gt_child_parent_of(m, gt_child_row(m, row)->parent);
}

/* The child may start at `due_ps`, where nothing else holds it; `cause`, where it is an operation, has held it by `reason`
 * until then. */
static void let_go(struct gt_machine *m, uint32_t row, enum gt_wait reason, gt_time_ps due_ps, gt_op_index cause)
{
    gt_command_index command = m->children->children[row].command;

    if (cause != GT_NONE)
        gt_stream_command_hold(m, command, reason, due_ps, GT_CAUSE_OP, cause);
    if (m->commands[command].visible_ps > due_ps)
        due_ps = m->commands[command].visible_ps;
    gt_engine_schedule(&m->engine, due_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD, row, MAY_GO);
}

/* The next one of a device stream, where none is under way in it; `cause` has let it go. */
static void run_lane(struct gt_machine *m, uint32_t index, enum gt_wait reason, gt_time_ps due_ps, gt_op_index cause)
{
    struct gt_child_lane *lane = &m->children->lanes[index];

    if (lane->running != GT_NONE || lane->head == GT_NONE)
        return;
    lane->running = lane->head;
    lane->head = m->children->children[lane->running].next;
    let_go(m, lane->running, reason, due_ps, cause);
}

/* Ends of grids that blocks launched, and of those whose blocks launch.
 *
 * Tail launches wait until their grid has ended and everything else that its blocks launched is complete, and follow each
 * other (CUDA C++ Programming Guide, Dynamic Parallelism: Tail Launch).  Seen on H200: ends of other children are seen in
 * passes, one after the other, where their grid has ended before them. */

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
    run_lane(m, parent->tails, GT_WAIT_EVENT, m->engine.now_ps + end_ps + tail_ps, cause);
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
        run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps + end_ps + m->device->child_gap_ps,
                 gt_child_row(m, row)->op);
    }
    parent->open -= children;
    if (parent->command == GT_NONE || parent->to_launch > 0 || parent->open > 0 ||
        go_on(m, parent, end_ps, gt_child_row(m, row)->op, true))
        return;
    end_ps += is_host_launched(m, parent) ? m->device->child_host_ps : 0;
    gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD, parent->first,
                       PARENT_COMPLETE);
}

/* The launch of a row has been made, or has failed: where it was the last thing that its grid did, what waits for that
 * goes on. */
static void launch_made(struct gt_machine *m, uint32_t row, bool refused)
{
    struct gt_child_parent *parent = parent_of(m, row);

    parent->to_launch--;
    if (refused && gt_child_rule(m, row)->into != GT_INTO_TAIL)
        parent->open--;
    if (parent->command == GT_NONE || parent->to_launch > 0 || parent->open > 0)
        return;
    if (!go_on(m, parent, 0, parent->op, true))
        gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_END, GT_HANDLE_CHILD, parent->first,
                           PARENT_COMPLETE);
}

static gt_time_ps pass_ps(const struct gt_machine *m, uint32_t children)
{
    return m->device->child_pass_ps + children * m->device->child_pass_each_ps;
}

static void begin_pass(struct gt_machine *m, const struct gt_child_passes *passes)
{
    const struct gt_child_pass *pass = &passes->list[passes->first];

    gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, pass->children), GT_PHASE_END, GT_HANDLE_CHILD,
                       pass->row, PASS_OVER);
}

/* A pass of its own, or with others of its parent in one that has not begun. */
static void add_to_pass(struct gt_machine *m, struct gt_child_parent *parent, uint32_t row)
{
    struct gt_child_passes *passes = &m->children->passes[gpu_of(m, row)];
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
    struct gt_child_passes *passes = &m->children->passes[gpu_of(m, row)];
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
        gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD, parent->first,
                           PARENT_COMPLETE);
}

void gt_child_complete(struct gt_machine *m, gt_op_index op)
{
    uint32_t row = row_number(m, op), lane = m->children->children[row].lane;
    struct gt_child_parent *parent = parent_of(m, row);

    m->children->children[row].command = GT_NONE;
    m->children->pending--;
    if (gt_child_rule(m, row)->into == GT_INTO_TAIL) {
        m->children->lanes[lane].running = GT_NONE;
        end_tail(m, parent, row);
    } else if (parent->command != GT_NONE) {
        add_to_pass(m, parent, row);
    } else {
        gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, 1), GT_PHASE_END, GT_HANDLE_CHILD, row, SEEN);
    }
}

bool gt_child_launches_of(const struct gt_machine *m, gt_op_index op)
{
    return m->children != NULL && gt_child_parent_of(m, op) != NULL;
}

/* The first of the grid's rows of this block or one behind it. */
static uint32_t first_row(const struct gt_machine *m, const struct gt_child_parent *parent, uint64_t block)
{
    uint32_t low =
        GT_LOWER_BOUND(middle, parent->first, parent->first + parent->count, gt_child_row(m, middle)->block < block);
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
        cost_ps +=
            more_ps * calls_beside(&m->children->calls[gpu_of(m, row)], begin_ps, m->device->child_call_ps[into]);
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
        let_go(m, row, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
        return;
    }
    append(m, row);
    if (gt_child_rule(m, row)->into != GT_INTO_TAIL)
        run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
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
    launch_made(m, row, refused);
}

/* Launches by blocks start one after the other, so far apart. */
static void take_turn(struct gt_machine *m, uint32_t row)
{
    gt_time_ps *next_ps = &m->children->next_go_ps[gpu_of(m, row)], now_ps = m->engine.now_ps;
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

/* The parent has ended, with all that its blocks launched. */
static void complete_parent(struct gt_machine *m, struct gt_child_parent *parent)
{
    gt_command_index command = parent->command;

    parent->command = GT_NONE;
    gt_op_complete(m, command);
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
    case SEEN: note_ends(m, parent_of(m, row), row, 1); break;
    case PASS_OVER: end_pass(m, row); break;
    case PARENT_COMPLETE: complete_parent(m, parent_of(m, row)); break;
    }
    return m->failed ? -1 : 0;
}
