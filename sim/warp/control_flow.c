/* control_flow.c - the path of a warp through its program, as the head of program.h lays down: totals over
 * all warps are the profile's.
 *
 * Shares are spread, not drawn: a carry for each edge and loop grows by the share at each visit, and who
 * is owed most goes next.  So each prefix of visits is as near to the shares as whole numbers can be.
 */
#include <math.h>

#include "sim/warp/internal.h"

static const struct gt_basic_block *at(const struct gt_sm_core *sm, const struct gt_warp_state *warp)
{
    return &sm->code.program->blocks[warp->block];
}

static bool may_go(const struct gt_edge *edge, const struct gt_warp_state *warp)
{
    return edge->warps >> (warp->number % 32) & 1;
}

/* What a draw gave, or is to give, at the n-th visit of this warp's block. */
static bool drawn(const struct gt_wshared *shared, uint32_t visit, uint32_t *choice)
{
    if (visit >= shared->drawn || shared->drawn - visit > GT_WARP_RING)
        return false;
    *choice = shared->choice[visit % GT_WARP_RING];
    return true;
}

static void remember(struct gt_wshared *shared, uint32_t visit, uint32_t choice)
{
    if (visit < shared->drawn)
        return;
    shared->choice[visit % GT_WARP_RING] = choice;
    shared->drawn = visit + 1;
}

/* Which edges a choice is among. */
enum among { ALL, STAYING, LEADING_OUT, BEFORE };

static bool is_among(const struct gt_edge *edge, enum among among)
{
    return among == ALL || among == BEFORE || (among == STAYING ? !edge->leaves : edge->leads_out);
}

/* How often warps that did not split took the edge. */
static double weight(const struct gt_basic_block *block, const struct gt_edge *edge)
{
    return (double)(block->divergent > 0 ? edge->alone : edge->executions);
}

/* Executions of an edge that come into question.  In loops that warps leave by EXIT alone, the last trip
 * takes the edges that lead there, where there are others: what is left of those is for the trips before. */
static double weight_among(const struct gt_sm_core *sm, const struct gt_basic_block *block,
                           const struct gt_edge *edge, enum among among)
{
    double out = 0, all = 0;

    if (among != BEFORE || !edge->leads_out)
        return weight(block, edge);
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
        all += weight(block, &sm->code.program->edges[e]);
        out += sm->code.program->edges[e].leads_out ? weight(block, &sm->code.program->edges[e]) : 0;
    }
    const struct gt_loop *loop = &sm->code.program->loops[block->loop];
    double last = out < all ? all * (double)loop->entries / fmax(1, (double)loop->trips) : 0;
    return weight(block, edge) * fmax(0, 1 - last / fmax(1, out));
}

/* An edge that is owed less has been taken often enough. */
#define OWED 1e-9

/* The edge that is owed most, or the one with the work as long as it is owed any. GT_NONE: none has executions. */
static uint32_t owed(struct gt_sm_core *sm, const struct gt_warp_state *warp, enum among among, bool by_role)
{
    const struct gt_basic_block *block = at(sm, warp);
    const struct gt_edge *edges = sm->code.program->edges;
    uint32_t best = GT_NONE, more = GT_NONE, end = block->first_edge + block->edge_count;
    double sum = 0;

    for (uint32_t e = block->first_edge; e < end; e++)
        if (is_among(&edges[e], among) && (!by_role || may_go(&edges[e], warp)))
            sum += weight_among(sm, block, &edges[e], among);
    for (uint32_t e = block->first_edge; sum > 0 && e < end; e++) {
        double share = weight_among(sm, block, &edges[e], among) / sum;

        if (share <= 0 || !is_among(&edges[e], among) || (by_role && !may_go(&edges[e], warp)))
            continue;
        sm->edge_carry[e] += share;
        if (sm->code.more_work[e] && sm->edge_carry[e] > OWED)
            more = e;
        if (best == GT_NONE || sm->edge_carry[e] > sm->edge_carry[best] + OWED)
            best = e;
    }
    best = more != GT_NONE ? more : best;
    if (best != GT_NONE)
        sm->edge_carry[best] -= 1;
    return best;
}

/* The first of these that there are edges for; the edge as owed among those. */
static uint32_t draw(struct gt_sm_core *sm, const struct gt_warp_state *warp, enum among among)
{
    bool by_role = at(sm, warp)->who == GT_WHO_ROLE;
    uint32_t edge = owed(sm, warp, among, by_role);

    if (edge == GT_NONE && among != ALL)
        edge = owed(sm, warp, ALL, by_role);
    if (edge == GT_NONE && by_role)
        edge = owed(sm, warp, ALL, false);
    /* Only warps that split have been here: any edge that was taken. */
    for (uint32_t i = 0; edge == GT_NONE && i < at(sm, warp)->edge_count; i++)
        if (sm->code.program->edges[at(sm, warp)->first_edge + i].executions > 0)
            edge = at(sm, warp)->first_edge + i;
    return edge;
}

/* The edge that only the last block of the SM takes, at its first visit. GT_NONE: there is none. */
static uint32_t rare(const struct gt_sm_core *sm, const struct gt_warp_state *warp, uint32_t visit)
{
    const struct gt_basic_block *block = at(sm, warp);

    if (visit == 0 && sm->blocks[warp->slot].row + 1 == sm->sm_blocks)
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
            if (sm->code.rare[e])
                return e;
    return GT_NONE;
}

/* An edge in the share of its executions, the same for all that `who` names. */
static uint32_t by_ratio(struct gt_sm_core *sm, struct gt_warp_state *warp, enum among among)
{
    const struct gt_basic_block *block = at(sm, warp);
    struct gt_wshared *shared = &sm->blocks[warp->slot].choices[warp->block];
    uint32_t visit = warp->visits[warp->block]++, edge;

    if (block->who == GT_WHO_WARP && warp->decided[warp->block] != 0) {
        edge = block->first_edge + warp->decided[warp->block] - 1;
        if (is_among(&sm->code.program->edges[edge], among))
            return edge;
    }
    if (block->who == GT_WHO_BLOCK && drawn(shared, visit, &edge))
        return edge;
    edge = rare(sm, warp, visit);
    if (edge == GT_NONE)
        edge = draw(sm, warp, among);
    if (block->who == GT_WHO_BLOCK)
        remember(shared, visit, edge);
    if (edge != GT_NONE && edge - block->first_edge < 255 && among == ALL)
        warp->decided[warp->block] = (uint8_t)(edge - block->first_edge + 1);
    return edge;
}

/* Whether the warp is in the last trip of the loop that its block is in. */
static bool last_trip(const struct gt_sm_core *sm, const struct gt_warp_state *warp)
{
    uint32_t loop = at(sm, warp)->loop;

    return loop != GT_NONE && warp->trips[loop] <= 1;
}

/* Whether the warp is in a loop that it leaves by EXIT alone. */
static bool left_by_exit(const struct gt_sm_core *sm, const struct gt_warp_state *warp)
{
    uint32_t loop = at(sm, warp)->loop;

    return loop != GT_NONE && sm->code.program->loops[loop].ends;
}

/* An edge by which the last trip of `loop` leaves: in the ratio of their executions. */
static uint32_t draw_exit(struct gt_sm_core *sm, uint32_t loop)
{
    const struct gt_decoded_program *code = &sm->code;
    uint32_t best = GT_NONE;

    for (uint32_t i = code->first_exit[loop]; i < code->first_exit[loop + 1]; i++) {
        uint32_t e = code->exits[i];

        sm->edge_carry[e] += (double)code->program->edges[e].executions / code->exit_sum[loop];
        if (best == GT_NONE || sm->edge_carry[e] > sm->edge_carry[best] + 1e-9)
            best = e;
    }
    if (best != GT_NONE)
        sm->edge_carry[best] -= 1;
    return best;
}

/* Trips of a warp that comes to the head of `l` from outside. */
static uint32_t draw_trips(struct gt_sm_core *sm, struct gt_warp_state *warp, uint32_t l)
{
    const struct gt_loop *loop = &sm->code.program->loops[l];
    struct gt_wshared *shared = &sm->blocks[warp->slot].trips[l];
    double mean = gt_warp_mean_trips(loop);
    uint32_t visit = warp->entries[l]++, known;

    mean = 1 + (mean - 1) * sm->code.kept[l];
    if (sm->code.long_loop[l])
        mean = fmax(1, mean * sm->trip_share);
    if (sm->code.kept[l] == 0)
        return 1;
    if (loop->who == GT_WHO_WARP && warp->fixed_trips[l] != GT_NONE)
        return warp->fixed_trips[l];
    if (loop->who == GT_WHO_BLOCK && drawn(shared, visit, &known))
        return known;
    double owe = mean + sm->loop_carry[l], trips = fmax(1, floor(owe + 1e-9));
    sm->loop_carry[l] = owe - trips;
    if (loop->who == GT_WHO_BLOCK)
        remember(shared, visit, (uint32_t)trips);
    warp->fixed_trips[l] = (uint32_t)trips;
    return (uint32_t)trips;
}

/* Go to `block`; `back`: along the back edge of the loop it heads. */
static const struct gt_decoded_inst *enter(struct gt_sm_core *sm, struct gt_warp_state *warp, uint32_t block,
                                           bool back)
{
    const struct gt_program *program = sm->code.program;
    const struct gt_basic_block *to = &program->blocks[block];
    uint32_t l = to->loop;

    warp->block = block;
    if (l != GT_NONE && program->loops[l].head == block) {
        if (!back) {
            warp->trips[l] = draw_trips(sm, warp, l);
            warp->exits[l] = GT_NONE;
        } else if (warp->trips[l] > 0) {
            warp->trips[l]--;
        }
    }
    return &sm->code.ops[to->first];
}

static const struct gt_decoded_inst *follow(struct gt_sm_core *sm, struct gt_warp_state *warp, uint32_t e)
{
    const struct gt_edge *edge = &sm->code.program->edges[e];

    return enter(sm, warp, edge->to, edge->back);
}

/* Run the side of a divergence that waits, if there is one. */
static const struct gt_decoded_inst *pop_side(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    warp->simt_depth--;
    return enter(sm, warp, warp->simt_stack[warp->simt_depth].block, false);
}

/* The edge at the end of a block of a loop whose exits count. */
static uint32_t by_trips(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);
    const struct gt_edge *edges = sm->code.program->edges;
    uint32_t l = block->loop;

    if (l == GT_NONE)
        return by_ratio(sm, warp, ALL);
    if (!last_trip(sm, warp))
        return by_ratio(sm, warp, STAYING);
    if (warp->exits[l] == GT_NONE)
        warp->exits[l] = draw_exit(sm, l);
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        if (edges[e].leaves && (e == warp->exits[l] || (warp->trips[l] == 0 && edges[e].executions > 0)))
            return e;
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        if (!edges[e].leaves && edges[e].leads_out && edges[e].executions > 0)
            return by_ratio(sm, warp, STAYING);
    return by_ratio(sm, warp, LEADING_OUT);
}

/* Whether this visit takes both sides. */
static bool diverges(struct gt_sm_core *sm, const struct gt_warp_state *warp, const struct gt_basic_block *block)
{
    const struct gt_edge *edges = &sm->code.program->edges[block->first_edge];

    if (block->divergent == 0 || block->edge_count < 2 || warp->simt_depth == GT_WARP_DEPTH)
        return false;
    if (block->who == GT_WHO_ROLE)
        return may_go(&edges[0], warp) && may_go(&edges[1], warp);
    /* Sides that leave a loop split off in trips before the last one, which the warp leaves as one. */
    double visits = (double)block->executions;
    for (uint32_t e = 0; e < block->edge_count && block->choice == GT_CHOICE_LOOP; e++)
        visits -= edges[e].leaves ? (double)edges[e].alone : 0;
    if (block->choice == GT_CHOICE_LOOP && last_trip(sm, warp))
        return false;
    double *owe = &sm->block_carry[warp->block];
    *owe += (double)block->divergent / fmax(visits, (double)block->divergent);
    if (*owe < 1 - 1e-9)
        return false;
    *owe -= 1;
    return true;
}

static const struct gt_decoded_inst *branch(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);
    const struct gt_edge *edges = sm->code.program->edges;
    uint32_t edge;

    if (block->edge_count == 0)
        return NULL;
    if (diverges(sm, warp, block)) {
        /* The side that stays in the loop goes first: the one that leaves waits where they meet. */
        uint32_t other = block->first_edge + (edges[block->first_edge].leaves ? 0 : 1);

        edge = other == block->first_edge ? other + 1 : block->first_edge;
        warp->simt_stack[warp->simt_depth].block = edges[other].to;
        warp->simt_stack[warp->simt_depth++].join = block->join;
        return follow(sm, warp, edge);
    }
    if (block->edge_count == 1)
        edge = block->first_edge;
    else if (block->choice == GT_CHOICE_LOOP)
        edge = by_trips(sm, warp);
    else
        edge = by_ratio(sm, warp, last_trip(sm, warp) ? LEADING_OUT : left_by_exit(sm, warp) ? BEFORE : ALL);
    return edge == GT_NONE ? NULL : follow(sm, warp, edge);
}

/* The warp's threads of this side are at their end: the warp's too, or another side waits. */
static const struct gt_decoded_inst *finish(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    return warp->simt_depth > 0 ? pop_side(sm, warp) : NULL;
}

/* Whether a warp that comes to a conditional EXIT goes on. */
static bool stays(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);
    const struct gt_edge *edge = &sm->code.program->edges[block->first_edge];
    struct gt_wshared *shared = &sm->blocks[warp->slot].choices[warp->block];
    uint32_t visit = warp->visits[warp->block]++, choice;

    if (block->choice == GT_CHOICE_NONE)
        return true;
    if (block->who == GT_WHO_ROLE)
        return may_go(edge, warp);
    if (left_by_exit(sm, warp) && (!last_trip(sm, warp) || !edge->leads_out))
        return !last_trip(sm, warp) && edge->executions > 0;
    if (block->who == GT_WHO_WARP && warp->decided[warp->block] != 0)
        return warp->decided[warp->block] == 1;
    if (block->who == GT_WHO_BLOCK && drawn(shared, visit, &choice))
        return choice == 1;
    double *owe = &sm->block_carry[warp->block];
    *owe += block->executions > 0 ? (double)edge->executions / (double)block->executions : 0;
    bool on = *owe >= (sm->code.more_work[block->first_edge] ? OWED : 0.5) || rare(sm, warp, visit) != GT_NONE;
    *owe -= on;
    if (block->who == GT_WHO_BLOCK)
        remember(shared, visit, on ? 1 : 2);
    warp->decided[warp->block] = on ? 1 : 2;
    return on;
}

static const struct gt_decoded_inst *leave(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);

    if (block->edge_count > 0 && stays(sm, warp))
        return follow(sm, warp, block->first_edge);
    return finish(sm, warp);
}

static const struct gt_decoded_inst *join(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);
    uint32_t to = block->edge_count > 0 ? sm->code.program->edges[block->first_edge].to : GT_NONE;

    if (warp->simt_depth > 0 && warp->simt_stack[warp->simt_depth - 1].join == to)
        return pop_side(sm, warp);
    return branch(sm, warp);
}

static const struct gt_decoded_inst *call(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_basic_block *block = at(sm, warp);

    if (block->edge_count == 0)
        return block->resume == GT_NONE ? NULL : enter(sm, warp, block->resume, false);
    if (warp->calls < GT_WARP_DEPTH)
        warp->call[warp->calls++] = block->resume;
    return branch(sm, warp);
}

static const struct gt_decoded_inst *come_back(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    if (warp->calls == 0)
        return branch(sm, warp);
    uint32_t to = warp->call[--warp->calls];
    return to == GT_NONE ? NULL : enter(sm, warp, to, false);
}

static const struct gt_decoded_inst *(*const ends[GT_ENDS])(struct gt_sm_core *, struct gt_warp_state *) = {
    [GT_END_FALL] = branch,      [GT_END_BRANCH] = branch, [GT_END_SWITCH] = branch, [GT_END_CALL] = call,
    [GT_END_RETURN] = come_back, [GT_END_EXIT] = leave,    [GT_END_JOIN] = join,
};

void gt_warp_walk_start(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    warp->op = enter(sm, warp, 0, false);
}

const struct gt_decoded_inst *gt_warp_walk_next(struct gt_sm_core *sm, struct gt_warp_state *warp, bool *taken)
{
    const struct gt_basic_block *block = at(sm, warp);
    const struct gt_decoded_inst *behind = &sm->code.ops[block->first + block->count];
    const struct gt_decoded_inst *next = ends[block->end](sm, warp);

    /* BSYNC takes the time of a jump also where it goes on behind it. */
    *taken = next != behind || (block->end == GT_END_JOIN && behind[-1].action == GT_ACTION_BRANCH);
    return next;
}
