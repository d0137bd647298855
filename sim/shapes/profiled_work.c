#include "sim/shapes/profiled_work.h"

#include <string.h>

/* Warps that execute a GMMA together: it counts once for each. */
enum { GROUP_WARPS = 4 };

/* Is the instruction that one, whatever its predicate and modifiers? */
static bool is(const char *text, const char *opcode)
{
    size_t length = strlen(opcode);

    if (text[0] == '@')
        text += strcspn(text, " ") + (strchr(text, ' ') != NULL);
    return strncmp(text, opcode, length) == 0 && (text[length] == ' ' || text[length] == '.');
}

/* Of a multiply-add two, of a sum or a product one. */
static double fp32_operations(const char *text)
{
    return is(text, "FFMA") ? 2 : is(text, "FADD") || is(text, "FMUL") ? 1 : 0;
}

static double matrix_operations(const struct gt_instruction *instruction)
{
    double all = 2.0 * instruction->gmma_m * instruction->gmma_n * instruction->gmma_k;

    return instruction->action == GT_ACTION_GMMA ? all / GROUP_WARPS : all;
}

bool gt_profiled_work(const struct gt_program *program, const struct gt_profile *profile, struct gt_work *work)
{
    double flops[GT_PRECISIONS] = { 0 };
    int most = GT_PRECISION_HALF;

    for (uint32_t i = 0; program != NULL && i < program->instruction_count; i++) {
        const struct gt_instruction *instruction = &program->instructions[i];

        if (instruction->gmma_n == 0)
            flops[GT_PRECISION_FP32] += (double)instruction->executions * (double)instruction->threads_on *
                                        fp32_operations(gt_program_text(program, i));
        else if (instruction->element == GT_ELEMENT_16_BITS || instruction->element == GT_ELEMENT_32_BITS)
            flops[instruction->element == GT_ELEMENT_16_BITS ? GT_PRECISION_HALF : GT_PRECISION_TF32] +=
                (double)instruction->executions * matrix_operations(instruction);
        else
            return false;
    }
    for (int i = 1; i < GT_PRECISIONS; i++)
        most = flops[i] > flops[most] ? i : most;
    *work = (struct gt_work){
        .precision = (enum gt_precision)most,
        .flops = flops[most],
        .bytes = (double)profile->use.dram_read_bytes + (double)profile->use.dram_write_bytes,
    };
    return work->flops + work->bytes > 0;
}
