/* Launches by blocks.
 *
 * Children are rows of the workload's child_launches, those of one grid together.  A device stream is a lane: the NULL
 * stream of each block that launches into it, each stream of a grid's own, and each grid's tail launches.  A lane has one
 * child under way; the next one follows when that is complete.  A fire-and-forget launch has no lane.  Tail launches wait
 * besides until their grid has ended and everything else that its blocks launched is complete (CUDA C++ Programming
 * Guide, Dynamic Parallelism: Ordering and Concurrency, Tail Launch). */
#include "sim/stream/child_launch.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/machine/failure.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/operation.h"
#include "sim/workload/child_launches.h"

/* What an event of a row is about. */
enum stamp { LAUNCHED, MAY_GO, HAS_TURN, SEEN, PASS_OVER, PARENT_COMPLETE };

struct child {
    gt_time_ps launched_ps;   /* due: its call returns on the device */
    gt_command_index command; /* GT_NONE: not launched yet, or complete */
    uint32_t lane, next;      /* row: behind it in its lane; GT_NONE */
};

struct lane {
    uint32_t running, head, tail; /* rows; GT_NONE: none */
    gt_time_ps made_ps; /* a stream of the grid is there from then on; GT_TIME_NONE: nobody makes it so far */
};

struct parent {
    gt_op_index op;
    uint32_t first, count;    /* of its rows */
    uint32_t open;            /* of those, no tail launches and not complete: to be launched, or under way */
    uint32_t tails;           /* its lane of tail launches; GT_NONE: it has none */
    bool launched;            /* the first launch of its grid has been made */
    gt_command_index command; /* its own once its grid has ended; until then GT_NONE */
};

/* Calls by blocks of one GPU, the latest few: who is inside one at some time. */
enum { CALLS = 128 };
struct calls {
    gt_time_ps begin_ps[CALLS];
    uint32_t count;
};

/* The GPU's own handling of ends, one pass after the other: of children of one parent that ended until it began, or
 * of one behind which others wait in its stream. */
struct pass {
    struct parent *parent;
    uint32_t children, row; /* row: the last of them */
    bool alone;
};
struct passes {
    struct pass *list; /* those under way and to come are [first, first + count) */
    uint32_t first, count, room;
};

struct gt_child_state {
    struct child *children; /* by row */
    struct lane *lanes;
    struct parent *parents; /* by op, rising */
    uint32_t lane_count, parent_count;
    uint32_t pending;       /* launched and not begun */
    gt_time_ps *next_go_ps; /* by GPU: the next child may go from then on */
    struct calls *calls;    /* by GPU */
    struct passes *passes;  /* by GPU */
    uint32_t gpu_count;
};

static const struct gt_child_launch *row_of(const struct gt_machine *m, uint32_t row)
{
    return &m->workload->child_launches[row];
}

static const struct gt_launch_rule *rule_of(const struct gt_machine *m, uint32_t row)
{
    return gt_child_launch_rule(m->workload, row_of(m, row));
}

static uint32_t row_number(const struct gt_machine *m, gt_op_index op)
{
    return (uint32_t)(gt_child_launch_of(m->workload, op) - m->workload->child_launches);
}

static struct parent *parent_of(const struct gt_machine *m, gt_op_index op)
{
    struct gt_child_state *state = m->children;
    uint32_t low = 0, high = state->parent_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (state->parents[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < state->parent_count && state->parents[low].op == op ? &state->parents[low] : NULL;
}

static uint32_t new_lane(struct gt_child_state *state)
{
    state->lanes[state->lane_count] = (struct lane){ GT_NONE, GT_NONE, GT_NONE, GT_TIME_NONE };
    return state->lane_count++;
}

/* The lane of the row, among those of its grid's rows before it, or a new one. */
static uint32_t find_lane(const struct gt_machine *m, const struct parent *parent, uint32_t row)
{
    const struct gt_launch_rule *rule = rule_of(m, row);
    uint64_t block = row_of(m, row)->block;

    if (rule->into == GT_INTO_FIRE_AND_FORGET)
        return GT_NONE;
    if (rule->into == GT_INTO_TAIL)
        return parent->tails;
    for (uint32_t before = row; before-- > parent->first;) {
        const struct gt_launch_rule *other = rule_of(m, before);

        if (other->into == rule->into &&
            (rule->into == GT_INTO_NULL ? row_of(m, before)->block == block : other->stream == rule->stream))
            return m->children->children[before].lane;
        if (rule->into == GT_INTO_NULL && row_of(m, before)->block != block)
            break;
    }
    return new_lane(m->children);
}

static void build_parent(struct gt_machine *m, struct parent *parent)
{
    struct gt_child_state *state = m->children;

    for (uint32_t row = parent->first; row < parent->first + parent->count; row++) {
        bool tail = rule_of(m, row)->into == GT_INTO_TAIL;

        if (tail && parent->tails == GT_NONE)
            parent->tails = new_lane(state);
        parent->open += !tail;
        state->children[row] = (struct child){ .command = GT_NONE, .next = GT_NONE };
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
        struct parent *parent = &state->parents[state->parent_count++];

        *parent = (struct parent){ .op = row_of(m, row)->parent, .tails = GT_NONE, .command = GT_NONE };
        parent->count = gt_child_launches_by(w, parent->op, &parent->first);
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

bool gt_child_launches_of(const struct gt_machine *m, gt_op_index op)
{
    return m->children != NULL && parent_of(m, op) != NULL;
}

/* The first of the grid's rows of this block or one behind it. */
static uint32_t first_row(const struct gt_machine *m, const struct parent *parent, uint64_t block)
{
    uint32_t low = parent->first, high = parent->first + parent->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (row_of(m, middle)->block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_block(const struct gt_machine *m, uint32_t row, uint32_t other)
{
    return other < m->workload->child_launch_count && row_of(m, row)->parent == row_of(m, other)->parent &&
           row_of(m, row)->block == row_of(m, other)->block;
}

/* What the launching thread spends from `begin_ps` on until the stream of its grid is there: whoever comes first makes it,
 * the others wait for that. */
static gt_time_ps stream_ps(struct gt_machine *m, struct lane *lane, gt_time_ps begin_ps)
{
    if (lane->made_ps == GT_TIME_NONE)
        lane->made_ps = begin_ps + m->device->child_stream_ps;
    return lane->made_ps > begin_ps ? lane->made_ps - begin_ps : 0;
}

static gt_gpu_index gpu_of(const struct gt_machine *m, uint32_t row)
{
    return m->streams[m->workload->ops[row_of(m, row)->op].stream].gpu;
}

/* Calls that begin less than `usual_ps` before or after are under way at the same time; the latest few are counted. */
static uint32_t calls_beside(struct calls *calls, gt_time_ps begin_ps, gt_time_ps usual_ps)
{
    uint32_t beside = 0;

    for (uint32_t i = 0; i < CALLS && i < calls->count; i++)
        beside += calls->begin_ps[i] < begin_ps + usual_ps && begin_ps < calls->begin_ps[i] + usual_ps;
    calls->begin_ps[calls->count++ % CALLS] = begin_ps;
    return beside;
}

/* What it spends on the launch. Its own calls before are over by then. */
static gt_time_ps call_ps(struct gt_machine *m, struct parent *parent, uint32_t row, gt_time_ps begin_ps)
{
    enum gt_launch_into into = (enum gt_launch_into)rule_of(m, row)->into;
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
    struct parent *parent = parent_of(m, op);
    uint32_t first = first_row(m, parent, block);
    gt_time_ps calls_ps = 0;

    if (first == parent->first + parent->count || row_of(m, first)->block != block)
        return 0;
    for (uint32_t row = first; same_block(m, first, row); row++) {
        gt_time_ps begin_ps = start_ps + (gt_time_ps)(rule_of(m, row)->at * (double)work_ps) + calls_ps;
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
    const struct parent *parent = parent_of(m, op);
    gt_time_ps longest_ps = 0;

    for (uint32_t row = parent->first; row < parent->first + parent->count; row++) {
        gt_time_ps more_ps;

        if (row > parent->first && same_block(m, row - 1, row))
            continue;
        more_ps = gt_child_block_starts(m, op, row_of(m, row)->block, m->engine.now_ps, work_ps);
        longest_ps = more_ps > longest_ps ? more_ps : longest_ps;
    }
    return longest_ps;
}

/* What CUDA returns to the thread that launches is a program that does not do what it says: the run ends. */
static void fail(struct gt_machine *m, uint32_t row, const char *what, uint32_t most, const char *key)
{
    const struct gt_workload *w = m->workload;
    const struct gt_op *op = &w->ops[row_of(m, row)->op];
    char place[512];

    gt_machine_place(m, w->calls[op->call].line, place, sizeof place);
    gt_machine_fail(
        m,
        "%.300s: at %.3f us the launch of kernel '%.100s' by block %llu of kernel '%.100s' fails: %s; this "
        "device allows %u (%s)",
        place, (double)m->engine.now_ps / 1e6, gt_name_text(w, w->kernels[op->kernel].name),
        (unsigned long long)row_of(m, row)->block,
        gt_name_text(w, w->kernels[w->ops[row_of(m, row)->parent].kernel].name), what, most, key);
}

/* It may start at `due_ps`, where nothing else holds it. */
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
    struct lane *lane = &m->children->lanes[index];

    if (lane->running != GT_NONE || lane->head == GT_NONE)
        return;
    lane->running = lane->head;
    lane->head = m->children->children[lane->running].next;
    let_go(m, lane->running, reason, due_ps, cause);
}

static void append(struct gt_machine *m, uint32_t row)
{
    struct lane *lane = &m->children->lanes[m->children->children[row].lane];

    if (lane->head == GT_NONE)
        lane->head = row;
    else
        m->children->children[lane->tail].next = row;
    lane->tail = row;
}

static void add_command(struct gt_machine *m, uint32_t row)
{
    gt_op_index op = row_of(m, row)->op;
    const struct gt_op *o = &m->workload->ops[op];
    gt_command_index command = gt_stream_command_new(m, GT_COMMAND_CHILD, op, o->stream);

    m->commands[command].submit_ps = m->engine.now_ps;
    m->commands[command].visible_ps = m->engine.now_ps + m->device->child_latency_ps[rule_of(m, row)->into];
    /* Its parent may go on: back from the child's start that is where the time went before. */
    gt_stream_command_hold(m, command, GT_WAIT_HOST, m->commands[command].visible_ps, GT_CAUSE_OP,
                           row_of(m, row)->parent);
    m->children->children[row].command = command;
    if (m->op_commands != NULL)
        m->op_commands[op] = command;
}

static void launch(struct gt_machine *m, uint32_t row)
{
    uint32_t lane = m->children->children[row].lane;

    if (row_of(m, row)->depth > m->device->child_depth) {
        fail(m, row, "too many grids within each other, CUDA error 65 (cudaErrorLaunchMaxDepthExceeded)",
             m->device->child_depth, "device_launch.depth");
        return;
    }
    if (m->children->pending >= m->device->child_pending) {
        fail(m, row, "too many launches wait for their start, CUDA error 69 (cudaErrorLaunchPendingCountExceeded)",
             m->device->child_pending, "device_launch.pending");
        return;
    }
    m->children->pending++;
    add_command(m, row);
    if (lane == GT_NONE) {
        let_go(m, row, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
        return;
    }
    append(m, row);
    if (rule_of(m, row)->into != GT_INTO_TAIL)
        run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps, GT_NONE);
}

/* Launches by blocks start one after the other, so far apart. */
static void take_turn(struct gt_machine *m, uint32_t row)
{
    gt_time_ps *next_ps = &m->children->next_go_ps[gpu_of(m, row)], now_ps = m->engine.now_ps;
    bool forgotten = rule_of(m, row)->into == GT_INTO_FIRE_AND_FORGET;
    gt_time_ps apart_ps = m->device->child_next_ps[forgotten ? GT_INTO_FIRE_AND_FORGET : GT_INTO_NULL];
    gt_command_index command = m->children->children[row].command;

    if (*next_ps <= now_ps) {
        *next_ps = now_ps + apart_ps;
        gt_op_ready(m, command);
        return;
    }
    gt_stream_command_hold(m, command, GT_WAIT_QUEUE, *next_ps, GT_CAUSE_OP, row_of(m, row)->parent);
    gt_engine_schedule(&m->engine, *next_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD, row, HAS_TURN);
    *next_ps += apart_ps;
}

void gt_child_begins(struct gt_machine *m, gt_command_index command)
{
    if (m->commands[command].kind == GT_COMMAND_CHILD)
        m->children->pending--;
}

static bool is_host_launched(const struct gt_machine *m, const struct parent *parent)
{
    return m->commands[parent->command].kind != GT_COMMAND_CHILD;
}

/* Its grid and all of its other work has ended `end_ps` from now: the next tail launch. False: there is none. */
static bool go_on(struct gt_machine *m, const struct parent *parent, gt_time_ps end_ps, gt_op_index cause, bool first)
{
    const struct lane *tails = parent->tails != GT_NONE ? &m->children->lanes[parent->tails] : NULL;
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
    struct parent *parent = parent_of(m, op);

    if (parent == NULL)
        return false;
    parent->command = command;
    if (parent->open > 0 || go_on(m, parent, 0, op, true))
        return true;
    parent->command = GT_NONE;
    return false;
}

/* The ends of so many children have been seen: what waited for them goes on. */
static void note_ends(struct gt_machine *m, struct parent *parent, uint32_t row, uint32_t children)
{
    uint32_t lane = m->children->children[row].lane;
    gt_time_ps end_ps = m->device->child_end_ps;

    if (lane != GT_NONE) {
        m->children->lanes[lane].running = GT_NONE;
        run_lane(m, lane, GT_WAIT_STREAM, m->engine.now_ps + end_ps + m->device->child_gap_ps, row_of(m, row)->op);
    }
    parent->open -= children;
    if (parent->command == GT_NONE || parent->open > 0 || go_on(m, parent, end_ps, row_of(m, row)->op, true))
        return;
    end_ps += is_host_launched(m, parent) ? m->device->child_host_ps : 0;
    gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD, parent->first,
                       PARENT_COMPLETE);
}

static gt_time_ps pass_ps(const struct gt_machine *m, uint32_t children)
{
    return m->device->child_pass_ps + children * m->device->child_pass_each_ps;
}

static void begin_pass(struct gt_machine *m, const struct passes *passes)
{
    const struct pass *pass = &passes->list[passes->first];

    gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, pass->children), GT_PHASE_END, GT_HANDLE_CHILD,
                       pass->row, PASS_OVER);
}

/* A pass of its own, or with others of its parent in one that has not begun. */
static void add_to_pass(struct gt_machine *m, struct parent *parent, uint32_t row)
{
    struct passes *passes = &m->children->passes[gpu_of(m, row)];
    uint32_t lane = m->children->children[row].lane;
    bool alone = lane != GT_NONE && m->children->lanes[lane].head != GT_NONE;

    for (uint32_t i = 1; i < passes->count && !alone; i++) {
        struct pass *pass = &passes->list[passes->first + i];

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
    passes->list[passes->first + passes->count++] = (struct pass){ parent, 1, row, alone };
    if (passes->count == 1)
        begin_pass(m, passes);
}

static void end_pass(struct gt_machine *m, uint32_t row)
{
    struct passes *passes = &m->children->passes[gpu_of(m, row)];
    struct pass pass = passes->list[passes->first++];

    if (--passes->count > 0)
        begin_pass(m, passes);
    note_ends(m, pass.parent, pass.row, pass.children);
}

/* Tail launches follow each other without such passes. */
static void end_tail(struct gt_machine *m, struct parent *parent, uint32_t row)
{
    gt_time_ps end_ps = is_host_launched(m, parent) ? m->device->child_tail_host_ps : 0;

    if (!go_on(m, parent, 0, row_of(m, row)->op, false))
        gt_engine_schedule(&m->engine, m->engine.now_ps + end_ps, GT_PHASE_END, GT_HANDLE_CHILD, parent->first,
                           PARENT_COMPLETE);
}

void gt_child_complete(struct gt_machine *m, gt_op_index op)
{
    uint32_t row = row_number(m, op), lane = m->children->children[row].lane;
    struct parent *parent = parent_of(m, row_of(m, row)->parent);

    m->children->children[row].command = GT_NONE;
    if (rule_of(m, row)->into == GT_INTO_TAIL) {
        m->children->lanes[lane].running = GT_NONE;
        end_tail(m, parent, row);
    } else if (parent->command != GT_NONE) {
        add_to_pass(m, parent, row);
    } else {
        gt_engine_schedule(&m->engine, m->engine.now_ps + pass_ps(m, 1), GT_PHASE_END, GT_HANDLE_CHILD, row, SEEN);
    }
}

int gt_child_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct parent *parent = parent_of(m, row_of(m, row)->parent);
    gt_command_index command = parent->command;

    (void)error;
    switch ((enum stamp)stamp) {
    case LAUNCHED:
        launch(m, row);
        if (same_block(m, row, row + 1) && !m->failed)
            gt_engine_schedule(&m->engine, m->children->children[row + 1].launched_ps, GT_PHASE_WAKE, GT_HANDLE_CHILD,
                               row + 1, LAUNCHED);
        break;
    case MAY_GO: take_turn(m, row); break;
    case HAS_TURN: gt_op_ready(m, m->children->children[row].command); break;
    case SEEN: note_ends(m, parent, row, 1); break;
    case PASS_OVER: end_pass(m, row); break;
    case PARENT_COMPLETE:
        parent->command = GT_NONE;
        gt_op_complete(m, command);
        break;
    }
    return m->failed ? -1 : 0;
}
