#include "traces/sass/taint.h"

#include <stdlib.h>

#include "sim/workload/workload.h"

enum { FILES = 4, REGISTERS = 256, LOOK_BACK = 64 };

struct state {
    uint8_t of[FILES][REGISTERS];
};

/* What an instruction brings in by itself. */
static uint8_t own_taint(const struct gt_program *program, const struct gt_instruction *instruction)
{
    /* clang-format off */
    static const uint8_t of_special[] = {
        [GT_SPECIAL_OTHER] = 0, [GT_SPECIAL_THREAD] = GT_TAINT_THREAD, [GT_SPECIAL_LANE] = GT_TAINT_LANE,
        [GT_SPECIAL_BLOCK] = GT_TAINT_BLOCK, [GT_SPECIAL_MACHINE] = GT_TAINT_DATA,
    };
    /* clang-format on */
    uint8_t action = instruction->action, space;

    if (action == GT_ACTION_SPECIAL && of_special[instruction->special] != 0)
        return of_special[instruction->special];
    if (instruction->elects)
        return GT_TAINT_LANE;
    if (action == GT_ACTION_MBARRIER_WAIT)
        return GT_TAINT_WAIT;
    if (action == GT_ACTION_ATOMIC)
        return GT_TAINT_DATA;
    if (action != GT_ACTION_LOAD || instruction->memory == GT_NONE)
        return 0;
    space = program->memory[instruction->memory].space;
    return space == GT_SPACE_CONSTANT ? 0 : GT_TAINT_DATA;
}

/* Follow one instruction; its operands' taint. */
static uint8_t step(const struct gt_program *program, const struct gt_instruction *instruction, struct state *state)
{
    uint8_t read = 0, written;
    bool guarded = false;

    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct gt_operand *operand = &instruction->operands[i];

        guarded |= (operand->flags & GT_OPERAND_GUARD) != 0;
        if (!(operand->flags & GT_OPERAND_WRITTEN))
            for (unsigned r = 0; r < operand->count && operand->number + r < REGISTERS; r++)
                read |= state->of[operand->file][operand->number + r];
    }
    written = read | own_taint(program, instruction);
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct gt_operand *operand = &instruction->operands[i];

        if (operand->flags & GT_OPERAND_WRITTEN)
            for (unsigned r = 0; r < operand->count && operand->number + r < REGISTERS; r++) {
                uint8_t *taint = &state->of[operand->file][operand->number + r];

                *taint = guarded ? *taint | written : written;
            }
    }
    return read;
}

/* Let what holds behind a block hold in front of another too; false where it did. */
static bool carry(const struct state *state, struct state *into)
{
    const uint8_t *from = &state->of[0][0];
    uint8_t *to = &into->of[0][0], added = 0;

    for (size_t i = 0; i < sizeof *state; i++) {
        added |= from[i] & (uint8_t)~to[i];
        to[i] |= from[i];
    }
    return added != 0;
}

/* Follow registers through a block and on to those behind it; true where that told something new. */
static bool pass(const struct gt_program *program, uint32_t b, struct state *before, uint8_t *taint)
{
    const struct gt_basic_block *block = &program->blocks[b];
    struct state state = before[b];
    bool news = false;

    for (uint32_t i = block->first; i < block->first + block->count; i++)
        taint[i] = step(program, &program->instructions[i], &state);
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        news |= carry(&state, &before[program->edges[e].to]);
    if (block->end == GT_END_CALL && block->resume != GT_NONE)
        news |= carry(&state, &before[block->resume]);
    return news;
}

void gt_program_taint(const struct gt_program *program, uint8_t *taint)
{
    struct state *before = gt_calloc(program->block_count, sizeof *before);
    bool news = true;

    /* Bits are only ever added, so this ends. */
    while (news) {
        news = false;
        for (uint32_t b = 0; b < program->block_count; b++)
            if (program->blocks[b].executions > 0)
                news |= pass(program, b, before, taint);
    }
    free(before);
}

/* The predicate that guards an instruction. */
static const struct gt_operand *guard_of(const struct gt_program *program, uint32_t i)
{
    const struct gt_instruction *instruction = &program->instructions[i];

    for (unsigned o = 0; o < instruction->operand_count; o++)
        if (instruction->operands[o].file == GT_FILE_PREDICATE ||
            instruction->operands[o].file == GT_FILE_UNIFORM_PREDICATE)
            return &instruction->operands[o];
    return NULL;
}

static bool writes(const struct gt_instruction *instruction, const struct gt_operand *predicate)
{
    for (unsigned o = 0; o < instruction->operand_count; o++)
        if (instruction->operands[o].file == predicate->file &&
            instruction->operands[o].number == predicate->number &&
            (instruction->operands[o].flags & GT_OPERAND_WRITTEN))
            return true;
    return false;
}

enum gt_side gt_program_side(const struct gt_program *program, uint32_t instruction)
{
    static const uint8_t side_of[] = {
        [GT_COMPARE_NONE] = GT_SIDE_UNKNOWN, [GT_COMPARE_AT_LEAST] = GT_SIDE_HIGH,
        [GT_COMPARE_GREATER] = GT_SIDE_HIGH, [GT_COMPARE_UNEQUAL] = GT_SIDE_HIGH,
        [GT_COMPARE_AT_MOST] = GT_SIDE_LOW,  [GT_COMPARE_LESS] = GT_SIDE_LOW,
        [GT_COMPARE_EQUAL] = GT_SIDE_LOW,
    };
    const struct gt_operand *guard = guard_of(program, instruction);

    for (uint32_t back = 1; guard != NULL && back <= LOOK_BACK && back <= instruction; back++) {
        const struct gt_instruction *setter = &program->instructions[instruction - back];
        bool negated = (guard->flags & GT_OPERAND_NEGATED) != 0;
        uint8_t side = side_of[setter->compare];

        if (!writes(setter, guard))
            continue;
        if (side == GT_SIDE_UNKNOWN)
            break;
        return negated == (side == GT_SIDE_LOW) ? GT_SIDE_HIGH : GT_SIDE_LOW;
    }
    return GT_SIDE_UNKNOWN;
}
