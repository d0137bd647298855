/* validate_arguments.h - what `gridtide validate` is asked for. */
#ifndef GRIDTIDE_SIM_CMD_GPU_VALIDATE_ARGUMENTS_H
#define GRIDTIDE_SIM_CMD_GPU_VALIDATE_ARGUMENTS_H

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "validate/random/draw.h"

struct gt_validate_arguments {
    char **traces;
    size_t trace_count;
    const char *output, *measured;
    const char *families; /* of random traces; NULL: all */
    uint32_t random;      /* traces to draw; 0: files are named */
    uint64_t draw_seed;
    struct gt_draws draws;
    uint32_t repetitions;
    struct gt_model_options model;
    enum gt_format format;
    bool surrogates, check, blocks, shrink;
    bool tables; /* on standard output */
};

/* Read the command line; what it does not say keeps its default. Wrong usage ends the program. */
void gt_validate_arguments_parse(int argc, char **argv, struct gt_validate_arguments *arguments);

#endif
