/* register_banks.c - what an instruction reads of the register file, bank by bank.
 *
 * A sub-partition's registers lie in two banks, the even ones and the odd ones; each gives one register of
 * all 32 threads a cycle (measured: FFMA of three even registers every 3.1 cycles, FMUL of two even ones
 * every 2, of an even and an odd one every 1.2).  An operand that is kept for reuse is not read again from
 * its place among the operands, until another of the same bank comes there, or another warp issues.
 *
 * A double lies in both banks, so that each operand takes a cycle; the pipe that waits for it takes its time, and
 * nobody else does (measured: DFMA of two registers every 2.0 cycles, of three every 3.0; chains that keep two of
 * three for five instructions of six every 2.24).
 */
#include <stdlib.h>
#include <string.h>

#include "sim/warp/internal.h"

enum { PLACES = 4, NO_REGISTER = GT_NO_REGISTER };

/* Registers that an instruction reads, by place: the first one's number, and how many. */
struct sources {
    uint8_t number[PLACES], count[PLACES];
};

static struct sources sources_of(const struct gt_instruction *in)
{
    struct sources s;

    memset(s.number, NO_REGISTER, sizeof s.number);
    memset(s.count, 0, sizeof s.count);
    for (uint32_t i = 0; i < in->operand_count; i++) {
        const struct gt_operand *operand = &in->operands[i];

        if (operand->file != GT_FILE_VECTOR || operand->flags & GT_OPERAND_WRITTEN || operand->place >= PLACES)
            continue;
        s.number[operand->place] = operand->number;
        s.count[operand->place] = operand->count;
    }
    return s;
}

/* Those that read their operands as they issue. */
static bool reads_at_once(const struct gt_instruction *in)
{
    return in->action == GT_ACTION_COMPUTE &&
           (in->pipe == GT_PIPE_FMA || in->pipe == GT_PIPE_FMAHEAVY || in->pipe == GT_PIPE_ALU ||
            in->pipe == GT_PIPE_FP16 || in->pipe == GT_PIPE_FP64 || in->pipe == GT_PIPE_TENSOR);
}

/* Registers that `in` reads of each bank, and those that it would if nothing were kept; `kept`, by place and bank,
 * is what is kept for it, then for the next. */
static void count(uint8_t *reads, uint8_t *all, uint8_t kept[PLACES][GT_WARP_BANKS], const struct gt_instruction *in,
                  const struct sources *s)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        if (s->number[i] == NO_REGISTER)
            continue;
        uint8_t *keep = &kept[i][s->number[i] % GT_WARP_BANKS];
        bool there = *keep == s->number[i], twice = false;

        *keep = in->reuse >> i & 1 ? s->number[i] : NO_REGISTER;
        for (uint32_t j = 0; j < i; j++)
            twice |= s->number[j] == s->number[i];
        for (uint32_t r = 0; r < s->count[i] && !twice; r++) {
            reads[(s->number[i] + r) % GT_WARP_BANKS] += !there;
            all[(s->number[i] + r) % GT_WARP_BANKS]++;
        }
    }
}

void gt_warp_find_reads(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;
    uint8_t kept[PLACES][GT_WARP_BANKS];
    bool known = program->reuse_known;

    /* Machine code that keeps nothing may be one of whose encoding that part was not recorded. */
    for (uint32_t i = 0; i < program->instruction_count; i++)
        known |= program->instructions[i].reuse != 0;
    memset(kept, NO_REGISTER, sizeof kept);
    for (uint32_t i = 0; known && i < program->instruction_count; i++) {
        const struct gt_instruction *in = &program->instructions[i];
        struct sources s = sources_of(in);
        uint8_t reads[GT_WARP_BANKS] = { 0 }, all[GT_WARP_BANKS] = { 0 };

        count(reads, all, kept, in, &s);
        if (!reads_at_once(in))
            continue;
        memcpy(code->ops[i].reads, reads, sizeof reads);
        memcpy(code->ops[i].all, all, sizeof all);
    }
}
