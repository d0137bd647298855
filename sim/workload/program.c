/* program.c - the end of a program, and names for what is in one. */
#include "sim/workload/program.h"

#include <stdlib.h>

const char *const gt_pipe_names[GT_PIPES] = {
    "none", "alu", "fma", "fmaheavy", "fp16", "fp64", "xu", "tensor", "lsu", "tex", "uniform", "cbu", "adu", "tma",
};

const char *const gt_stall_names[GT_STALLS] = {
    "selected",         "not_selected", "wait",      "long_scoreboard",  "short_scoreboard",
    "barrier",          "membar",       "math_pipe", "lg_throttle",      "mio_throttle",
    "tex_throttle",     "dispatch",     "drain",     "constant_miss",    "no_instruction",
    "branch_resolving", "sleeping",     "gmma",      "warpgroup_arrive", "misc",
};

const char *const gt_space_names[GT_SPACES] = {
    "none", "global", "local", "shared", "constant", "generic", "texture", "cluster",
};

const char *gt_program_text(const struct gt_program *program, uint32_t instruction)
{
    return program->text == NULL ? "?" : program->text + program->instructions[instruction].text;
}

void gt_program_free(struct gt_program *program)
{
    if (program == NULL || program->sharers-- > 0)
        return;
    free(program->key);
    free(program->text);
    free(program->instructions);
    free(program->memory);
    free(program->blocks);
    free(program->edges);
    free(program->loops);
    free(program->samples);
    free(program);
}
