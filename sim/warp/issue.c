/* issue.c - the main loop: which warp issues when, and what it waited for.
 *
 * Time jumps to the next cycle at which a sub-partition can issue or a block comes.
 */
#include "sim/warp/internal.h"
#include "sim/warp/scheduler.h"

/* The cold caches that the warp's next instruction needs, from `ready` on. */
static uint64_t fetched(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t ready)
{
    const struct gt_warp_costs *costs = sm->costs;
    const struct gt_decoded_inst *op = warp->op;
    uint64_t *line = &sm->line_ready[op->line];

    if (*line == GT_WARP_NEVER) {
        /* Lines behind it follow without a miss of their own. */
        for (uint32_t i = op->line; i < sm->code.lines && i < op->line + costs->fetch_ahead_lines; i++)
            if (sm->line_ready[i] == GT_WARP_NEVER)
                sm->line_ready[i] =
                    ready + (uint64_t)(costs->fetch_cycles + (i - op->line) * costs->fetch_next_cycles);
    }
    if (*line > ready) {
        ready = *line;
        warp->hold_cause = GT_STALL_NO_INSTRUCTION;
        warp->hold_until = ready;
    }
    if (op->constant != GT_NONE) {
        uint64_t *constant = &sm->constant_ready[op->constant];

        if (*constant == GT_WARP_NEVER)
            *constant = ready + (uint64_t)costs->constant_miss_cycles;
        if (*constant > ready) {
            ready = *constant;
            warp->hold_cause = GT_STALL_CONSTANT_MISS;
            warp->hold_until = ready;
        }
    }
    return ready;
}

void gt_warp_set_ready(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    struct gt_smsp *sub = &sm->subs[warp->sub];
    uint64_t ready = warp->stall_until;

    if (warp->phase_wait && (warp->phase_mask == 0 || (warp->op->wait_mask & warp->phase_mask) != 0)) {
        warp->blocked = true;
        warp->hold_cause = GT_STALL_LONG_SCOREBOARD;
    }
    if (warp->blocked) {
        sub->ready[warp->place] = GT_WARP_NEVER;
        return;
    }
    if (warp->hold_until > ready)
        ready = warp->hold_until;
    for (uint32_t mask = warp->op->wait_mask; mask != 0; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask);

        if (warp->scoreboard[i] > ready) {
            ready = warp->scoreboard[i];
            warp->hold_cause = warp->scoreboard_cause[i];
        }
    }
    ready = fetched(sm, warp, ready);
    sub->ready[warp->place] = ready;
    sub->gate[warp->place] = warp->op->gate;
    if (ready < sub->next)
        sub->next = ready > sub->held ? ready : sub->held;
}

void gt_warp_wake(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t at)
{
    warp->blocked = false;
    warp->hold_until = at;
    gt_warp_set_ready(sm, warp);
}

/* Where the cycles since the warp's last issue went. */
static void account(struct gt_sm_core *sm, const struct gt_smsp *sub, const struct gt_warp_state *warp, uint64_t now)
{
    double *stalls = sm->stalls + (size_t)(warp->op - sm->code.ops) * GT_STALLS;
    uint64_t ready = sub->ready[warp->place], stall_until = warp->stall_until;
    uint64_t free = sub->free[warp->op->gate];

    stalls[GT_STALL_SELECTED] += 1;
    sm->in_a_row += ready <= warp->since + 1;
    if (stall_until > warp->since + 1)
        stalls[GT_STALL_WAIT] += (double)(stall_until - warp->since - 1);
    if (ready > stall_until)
        stalls[warp->hold_cause] += (double)(ready - stall_until);
    if (now <= ready)
        return;
    uint64_t pipe = free > ready ? (free < now ? free : now) - ready : 0;
    uint8_t cause = warp->op->gate == GT_WARP_GATE_LG ? GT_STALL_LG_THROTTLE
                    : warp->op->gate == GT_PIPE_LSU   ? GT_STALL_MIO_THROTTLE
                                                      : GT_STALL_MATH_PIPE;
    uint64_t taken = ready + pipe, held = sub->held > taken ? (sub->held < now ? sub->held : now) - taken : 0;
    stalls[cause] += (double)pipe;
    stalls[GT_STALL_DISPATCH] += (double)held;
    stalls[GT_STALL_NOT_SELECTED] += (double)(now - taken - held);
}

/* The FMA pipe has two halves of 16 lanes where it takes an instruction a cycle, one where it takes one every
 * other cycle; only the heavy half multiplies integers. */
static void take_fma(struct gt_smsp *sub, const struct gt_warp_costs *costs, const struct gt_decoded_inst *op,
                     uint64_t now)
{
    uint64_t cycles = (uint64_t)costs->interval[GT_PIPE_FMAHEAVY];
    bool halves = costs->interval[GT_PIPE_FMA] < costs->interval[GT_PIPE_FMAHEAVY];

    if (op->pipe == GT_PIPE_FMA && halves && sub->light_free <= now)
        sub->light_free = now + cycles;
    else
        sub->free[GT_PIPE_FMAHEAVY] = now + cycles;
    uint64_t heavy = sub->free[GT_PIPE_FMAHEAVY];
    sub->free[GT_PIPE_FMA] = halves && sub->light_free < heavy ? sub->light_free : heavy;
}

/* Cycles for which an instruction takes its pipe: doubles until all `reads` of a bank are there. */
static double interval(const struct gt_decoded_inst *op, const uint8_t *reads)
{
    return op->pipe == GT_PIPE_FP64 && reads[0] > op->interval ? reads[0] : op->interval;
}

/* The pipe is taken for the instruction's interval; fractions of cycles add up. */
static void take_pipe(struct gt_smsp *sub, const struct gt_warp_costs *costs, const struct gt_decoded_inst *op,
                      const uint8_t *reads, uint64_t now)
{
    if (op->pipe == GT_PIPE_FMA || op->pipe == GT_PIPE_FMAHEAVY) {
        take_fma(sub, costs, op, now);
        return;
    }
    double until = interval(op, reads) + sub->carry[op->gate];
    uint64_t cycles = (uint64_t)until;

    sub->carry[op->gate] = until - (double)cycles;
    if (sub->free[op->gate] < now + cycles)
        sub->free[op->gate] = now + cycles;
}

/* The operands are read one a cycle and bank, doubles beside the others; half as fast while the tensor core has a warp group's product:
 * it reads the sums of N columns, N / 2 registers, in N / 2 cycles.  The sub-partition issues on until a bank
 * is too far behind. */
static void read_registers(struct gt_smsp *sub, const struct gt_warp_costs *costs, const struct gt_decoded_inst *op,
                           const uint8_t *reads, uint64_t now)
{
    uint64_t behind = (uint64_t)costs->read_behind_cycles, each = sub->tensor_free > (double)now ? 2 : 1;

    if (op->pipe == GT_PIPE_FP64)
        return;
    for (uint32_t b = 0; b < GT_WARP_BANKS; b++) {
        uint64_t *free = &sub->bank_free[b];

        *free = (*free > now ? *free : now) + each * reads[b];
        if (*free > sub->next + behind)
            sub->held = sub->next = *free - behind;
    }
}

static void issue(struct gt_sm_core *sm, struct gt_smsp *sub, uint32_t place, uint64_t now)
{
    struct gt_warp_state *warp = sub->warp[place];
    const struct gt_decoded_inst *op = warp->op;
    const uint8_t *reads = sub->last == place ? op->reads : op->all;
    bool taken = false;

    account(sm, sub, warp, now);
    sm->issued[op->pipe]++;
    sm->simulated++;
    sub->issued++;
    sub->last = place;
    take_pipe(sub, sm->costs, op, reads, now);
    read_registers(sub, sm->costs, op, reads, now);
    for (uint32_t b = 0; b < GT_WARP_BANKS; b++)
        sm->bank_reads[b] += reads[b]; /* of doubles too: others' operands wait for them */
    warp->since = now;
    warp->stall_until = now + op->stall;
    warp->hold_until = 0;
    gt_warp_act(sm, warp, op, now);
    warp->op = op->last ? gt_warp_walk_next(sm, warp, &taken) : op + 1;
    if (warp->op == NULL) {
        struct gt_wblock *block = &sm->blocks[warp->slot];

        sub->ready[place] = GT_WARP_NEVER;
        sub->warp[place] = NULL;
        sub->warps--;
        sm->free_warps[sm->free_warp_count++] = (uint32_t)(warp - sm->warps);
        gt_warp_ended(sm, warp, now);
        if (block->alive == 0)
            gt_warp_block_end(sm, block, now);
        return;
    }
    if (taken)
        warp->stall_until += (uint64_t)sm->costs->branch_cycles;
    gt_warp_set_ready(sm, warp);
}

static void step(struct gt_sm_core *sm, struct gt_smsp *sub, uint64_t now)
{
    uint64_t next = GT_WARP_NEVER;
    int place = sm->scheduler->pick(sub->scheduler_state, sub, sm->scheduler_parameters, now, &next);

    /* Set first: what issues may make a warp of this sub-partition ready sooner than it knows. */
    sub->next = place < 0 ? next : now + 1;
    if (place >= 0)
        issue(sm, sub, (uint32_t)place, now);
}

static int stuck(const struct gt_sm_core *sm, struct gt_error *error)
{
    const struct gt_program *program = sm->code.program;

    for (uint32_t i = 0; i < sm->warp_count; i++) {
        const struct gt_warp_state *warp = &sm->warps[i];

        if (warp->op != NULL && warp->blocked) {
            size_t at = (size_t)(warp->op - sm->code.ops);

            return gt_error_set(error,
                                "program '%s': warp %u of a block waits for ever before '%s' (0x%x), "
                                "after %llu warp instructions",
                                program->key, warp->number, gt_program_text(program, (uint32_t)at),
                                program->instructions[at].offset_bytes, (unsigned long long)sm->simulated);
        }
    }
    return gt_error_set(error, "program '%s': blocks are left but no warp can issue", program->key);
}

/* Counts that contradict each other can make loops that no warp gets out of. */
static int endless(const struct gt_sm_core *sm, struct gt_error *error)
{
    return gt_error_set(error,
                        "program '%s': given up after %llu warp instructions on an SM: its loops do "
                        "not end by their counts, or have too many trips",
                        sm->code.program->key, (unsigned long long)sm->simulated);
}

int gt_warp_loop(struct gt_sm_core *sm, struct gt_error *error)
{
    while (sm->rows_ended < sm->sm_blocks) {
        if ((double)sm->simulated > sm->most_instructions)
            return endless(sm, error);
        uint64_t now = sm->start_count > 0 ? sm->starts[0] : GT_WARP_NEVER;

        for (uint32_t s = 0; s < GT_WARP_SUBS; s++)
            now = sm->subs[s].next < now ? sm->subs[s].next : now;
        if (now == GT_WARP_NEVER) {
            if (!gt_warp_force(sm, sm->now))
                return stuck(sm, error);
            continue;
        }
        sm->now = now;
        while (sm->start_count > 0 && sm->starts[0] <= now)
            gt_warp_block_start(sm, now);
        for (uint32_t s = 0; s < GT_WARP_SUBS; s++)
            if (sm->subs[s].next <= now)
                step(sm, &sm->subs[s], now);
    }
    return 0;
}
