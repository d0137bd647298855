/* validate_arguments.h - `gridtide validate`: its arguments, its traces (files, or drawn at random), its table of rules. */
#ifndef GRIDTIDE_SIM_CMD_GPU_VALIDATE_ARGUMENTS_H
#define GRIDTIDE_SIM_CMD_GPU_VALIDATE_ARGUMENTS_H

#include <stdint.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/table.h"
#include "sim/machine/rules.h"
#include "validate/random/draw.h"
#include "validate/random/kernel_list.h"

struct gt_validate_arguments {
    char **traces;
    size_t trace_count;
    uint32_t shared_count; /* of traces that share the GPU, which count as one */
    const char *output, *measured;
    const char *share;    /* the traces named are processes that share the GPU so; NULL: each is by itself */
    const char *families; /* of random traces; NULL: all */
    uint32_t random;      /* traces to draw; 0: files are named */
    uint64_t draw_seed;
    struct gt_draws draws;
    const char *kernels; /* file of those that families pairs and triples draw among; NULL: none */
    struct gt_kernel_list list;
    uint32_t repetitions;
    struct gt_model_options model;
    enum gt_format format;
    bool surrogates, check, blocks, shrink;
    bool tables; /* on standard output */
    bool lines;  /* for people, while the work goes on: one a trace, and a sentence in place of table "summary" */
};

/* Read the command line; what it does not say keeps its default. Wrong usage ends the program. */
void gt_validate_arguments_parse(int argc, char **argv, struct gt_validate_arguments *arguments);

/* Make ready what random traces are drawn of: families and kernels, into `arguments`; nothing where files are named.  Returns 0, or
 * -1 with what is wrong.  The caller frees arguments->list. */
int gt_validate_draw(struct gt_validate_arguments *arguments, struct gt_error *error);

/* What trace `number` goes by before it is read, into `place`: its path, or the name of a random one. */
void gt_validate_place(const struct gt_validate_arguments *arguments, size_t number, char *place, size_t bytes);

/* Read or draw it. NULL with the reason; the caller frees it. */
struct gt_workload *gt_validate_read(const struct gt_validate_arguments *arguments, size_t number,
                                     struct gt_error *error);

/* Are the traces of several processes, each to be played by one of its own? */
bool gt_validate_needs_processes(const struct gt_validate_arguments *arguments);

/* What it is called in tables and in the store, into `name`: its own name, or its path's stem.  `workload` may be NULL. */
void gt_validate_name(const struct gt_workload *workload, const char *path, char *name, size_t bytes);

/* Table "rules": each with `traces[its number]` and what it says; for programs also the settings that switch it off, and
 * the file where it acts.  The caller frees it. */
struct gt_table *gt_rules_table(const uint32_t traces[GT_RULES], enum gt_format format);

#endif
