/* control_guess.c - one walk over the code, from the first to the last instruction.
 *
 * Latencies are the least numbers of cycles, but for rare ones, between an instruction and the first that reads its result,
 * where stall cycles alone make it wait, in the code of traces/profiles (sm_90).
 * What the walk leaves out: which side of a branch a register comes from, and registers kept for reuse.
 */
#include "traces/sass/control_guess.h"

#include <stdlib.h>
#include <string.h>

#include "traces/sass/cubin.h"

enum {
    FILES = 4,
    REGISTERS = 256,
    BARRIERS = 6,
    MOST_STALL = 15,
    LOOK_AHEAD = 64,    /* instructions looked through for one that overwrites a register that is read late */
    LOOK_BACK = 512,    /* of a loop, from its head: looked through for what its end leaves outstanding */
    FLOW_STALL = 5,     /* of BRA, EXIT, BSYNC, CALL */
    GUARD_LATENCY = 13, /* of a predicate that guards an instruction; elsewhere it is an operand like others */
    UNIFORM_GUARD_LATENCY = 11,
    TO_UNIFORM_LATENCY = 13 /* from a vector register to a uniform one (R2UR) */
};

/* clang-format off */
static const uint8_t latency[GT_PIPES] = {
    [GT_PIPE_NONE] = 4, [GT_PIPE_ALU] = 4, [GT_PIPE_FMA] = 4, [GT_PIPE_FMAHEAVY] = 4, [GT_PIPE_FP16] = 5,
    [GT_PIPE_FP64] = 8, [GT_PIPE_TENSOR] = 24, [GT_PIPE_UNIFORM] = 4, [GT_PIPE_CBU] = 4,
};
/* clang-format on */

/* What is outstanding on a register. */
struct pending {
    uint64_t ready, guard_ready; /* cycle from which it can be read, and can guard */
    uint8_t written, read;       /* barrier that is released when it was written, or read; GT_NO_BARRIER: none */
};

struct guess {
    struct gt_instruction *code;
    struct gt_sass_flow *flows;
    struct gt_sass_control *control;
    struct pending pending[FILES][REGISTERS];
    uint64_t now;            /* cycle at which the instruction at hand issues */
    uint64_t used[BARRIERS]; /* when it was last given; 0: it is free */
    uint8_t first_barrier;   /* those before it belong to groups of copies */
};

/* Does its result come when it comes? */
static bool is_variable(const struct gt_instruction *in)
{
    switch (in->action) {
    case GT_ACTION_LOAD: return in->pipe != GT_PIPE_UNIFORM;
    case GT_ACTION_ATOMIC:
    case GT_ACTION_SHUFFLE:
    case GT_ACTION_MBARRIER_WAIT:
    case GT_ACTION_ASYNC_COMMIT: return true;
    default:
        return in->pipe == GT_PIPE_XU || in->pipe == GT_PIPE_TEX ||
               (in->pipe == GT_PIPE_ADU && (in->action == GT_ACTION_COMPUTE || in->action == GT_ACTION_SPECIAL));
    }
}

/* Does it read its registers when it gets to it? */
static bool reads_late(const struct gt_instruction *in)
{
    switch (in->action) {
    case GT_ACTION_LOAD:
    case GT_ACTION_STORE:
    case GT_ACTION_ATOMIC:
    case GT_ACTION_REDUCE:
    case GT_ACTION_ASYNC_COPY:
    case GT_ACTION_BULK_LOAD:
    case GT_ACTION_BULK_STORE: return in->pipe != GT_PIPE_UNIFORM;
    default: return false;
    }
}

/* The registers of an operand, one after the other, that exist. */
static struct pending *register_of(struct guess *guess, const struct gt_operand *operand, unsigned r)
{
    unsigned number = (unsigned)operand->number + r;

    return r < operand->count && number < REGISTERS ? &guess->pending[operand->file][number] : NULL;
}

static bool is_written(const struct gt_operand *operand)
{
    return (operand->flags & GT_OPERAND_WRITTEN) != 0;
}

/* Wait for a barrier: whatever it stood for is done. */
static void wait_for(struct guess *guess, uint32_t i, uint8_t barrier)
{
    if (barrier >= BARRIERS)
        return;
    guess->control[i].wait_mask |= (uint8_t)(1u << barrier);
    guess->used[barrier] = 0;
    for (unsigned f = 0; f < FILES; f++)
        for (unsigned r = 0; r < REGISTERS; r++) {
            struct pending *pending = &guess->pending[f][r];

            if (pending->written == barrier)
                pending->written = GT_NO_BARRIER;
            if (pending->read == barrier)
                pending->read = GT_NO_BARRIER;
        }
}

/* The instructions before `i` stall so much longer, the nearest first. */
static void stall_before(struct guess *guess, uint32_t i, uint64_t cycles)
{
    for (uint32_t k = i; k-- > 0 && cycles > 0;) {
        uint64_t more = MOST_STALL - guess->control[k].stall_cycles;

        if (more > cycles)
            more = cycles;
        guess->control[k].stall_cycles = (uint8_t)(guess->control[k].stall_cycles + more);
        guess->now += more;
        cycles -= more;
    }
}

/* Everything that instruction `i` reads is there, and what it writes is not read any more. */
static void await_operands(struct guess *guess, uint32_t i)
{
    const struct gt_instruction *in = &guess->code[i];
    uint64_t ready = guess->now;

    for (unsigned k = 0; k < in->operand_count; k++) {
        struct pending *pending;

        for (unsigned r = 0; (pending = register_of(guess, &in->operands[k], r)) != NULL; r++) {
            uint64_t at = (in->operands[k].flags & GT_OPERAND_GUARD) != 0 ? pending->guard_ready : pending->ready;

            wait_for(guess, i, pending->written);
            if (is_written(&in->operands[k]))
                wait_for(guess, i, pending->read);
            else if (at > ready)
                ready = at;
        }
    }
    stall_before(guess, i, ready - guess->now);
}

/* A free barrier, else the one that was given longest ago. */
static uint8_t give_barrier(struct guess *guess)
{
    uint8_t given = guess->first_barrier;

    for (uint8_t b = guess->first_barrier; b < BARRIERS; b++)
        if (guess->used[b] < guess->used[given])
            given = b;
    guess->used[given] = guess->now + 1;
    return given;
}

static bool writes_what_is_read(const struct gt_instruction *later, const struct gt_instruction *in)
{
    for (unsigned k = 0; k < later->operand_count; k++)
        for (unsigned s = 0; s < in->operand_count; s++) {
            const struct gt_operand *to = &later->operands[k], *from = &in->operands[s];

            if (is_written(to) && !is_written(from) && to->file == from->file &&
                to->number < from->number + from->count && from->number < to->number + to->count)
                return true;
        }
    return false;
}

static bool is_overwritten_soon(const struct guess *guess, uint32_t i, uint32_t count)
{
    for (uint32_t k = i + 1; k < count && k - i < LOOK_AHEAD; k++)
        if (writes_what_is_read(&guess->code[k], &guess->code[i]))
            return true;
    return false;
}

static uint64_t latency_of(const struct gt_instruction *in)
{
    for (unsigned k = 0; k < in->operand_count; k++)
        if (in->pipe == GT_PIPE_UNIFORM && in->operands[k].file == GT_FILE_VECTOR && !is_written(&in->operands[k]))
            return TO_UNIFORM_LATENCY;
    return latency[in->pipe];
}

/* What instruction `i` leaves outstanding. */
static void leave(struct guess *guess, uint32_t i, uint32_t count)
{
    const struct gt_instruction *in = &guess->code[i];
    struct gt_sass_control *control = &guess->control[i];
    uint64_t guards = in->pipe == GT_PIPE_UNIFORM ? UNIFORM_GUARD_LATENCY : GUARD_LATENCY;

    if (in->action == GT_ACTION_ASYNC_COMMIT)
        control->write_barrier = 0;
    else if (is_variable(in))
        control->write_barrier = give_barrier(guess);
    if (reads_late(in) && is_overwritten_soon(guess, i, count))
        control->read_barrier = give_barrier(guess);
    for (unsigned k = 0; k < in->operand_count; k++) {
        struct pending *pending;

        for (unsigned r = 0; (pending = register_of(guess, &in->operands[k], r)) != NULL; r++) {
            if (!is_written(&in->operands[k])) {
                if (control->read_barrier < BARRIERS)
                    pending->read = control->read_barrier;
                continue;
            }
            pending->written = is_variable(in) ? control->write_barrier : GT_NO_BARRIER;
            pending->ready = is_variable(in) ? 0 : guess->now + latency_of(in);
            pending->guard_ready = is_variable(in) ? 0 : guess->now + guards;
        }
    }
}

/* What is outstanding where the code jumps back is waited for where the loop needs it next. */
static void carry_back(struct guess *guess, uint32_t from, uint32_t to)
{
    bool seen[FILES][REGISTERS] = { { false } };

    for (uint32_t i = to; i <= from && i - to < LOOK_BACK; i++)
        for (unsigned k = 0; k < guess->code[i].operand_count; k++) {
            const struct gt_operand *operand = &guess->code[i].operands[k];
            struct pending *pending;

            for (unsigned r = 0; (pending = register_of(guess, operand, r)) != NULL; r++) {
                bool *once = &seen[operand->file][operand->number + r];

                if (!*once && pending->written < BARRIERS)
                    guess->control[i].wait_mask |= (uint8_t)(1u << pending->written);
                if (!*once && is_written(operand) && pending->read < BARRIERS)
                    guess->control[i].wait_mask |= (uint8_t)(1u << pending->read);
                *once = true;
            }
        }
}

static bool changes_flow(const struct gt_sass_flow *flow)
{
    return flow->kind != GT_SASS_NEXT && flow->kind != GT_SASS_DIVERGE && flow->kind != GT_SASS_BREAK;
}

static void walk(struct guess *guess, uint32_t count)
{
    for (unsigned f = 0; f < FILES; f++)
        for (unsigned r = 0; r < REGISTERS; r++)
            guess->pending[f][r] = (struct pending){ .written = GT_NO_BARRIER, .read = GT_NO_BARRIER };
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_sass_flow *flow = &guess->flows[i];
        uint64_t target = flow->target / GT_PROGRAM_INSTRUCTION_BYTES;

        guess->control[i] = (struct gt_sass_control){
            .stall_cycles = changes_flow(flow) ? FLOW_STALL : 1,
            .yield = 1,
            .write_barrier = GT_NO_BARRIER,
            .read_barrier = GT_NO_BARRIER,
        };
        await_operands(guess, i);
        leave(guess, i, count);
        if (flow->has_target && changes_flow(flow) && target <= i)
            carry_back(guess, i, (uint32_t)target);
        guess->now += guess->control[i].stall_cycles;
    }
}

void gt_control_guess(struct gt_program_row *rows, uint32_t count)
{
    struct guess *guess = gt_calloc(1, sizeof *guess);
    struct gt_access access;

    guess->code = gt_calloc(count, sizeof *guess->code);
    guess->flows = gt_calloc(count, sizeof *guess->flows);
    guess->control = gt_calloc(count, sizeof *guess->control);
    for (uint32_t i = 0; i < count; i++) {
        guess->code[i].write_barrier = guess->code[i].read_barrier = GT_NO_BARRIER;
        gt_sass_parse(rows[i].text, &guess->code[i], &access, &guess->flows[i]);
        if (guess->code[i].action == GT_ACTION_ASYNC_COMMIT)
            guess->first_barrier = 1;
    }
    walk(guess, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i].control = gt_sass_control_pack(&guess->control[i]);
    free(guess->code);
    free(guess->flows);
    free(guess->control);
    free(guess);
}
