/* options.h - options that several commands have, and how their values are read.  A wrong value is a usage
 * error that says what is right: these functions do not return then. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_OPTIONS_H
#define GRIDTIDE_SIM_CMD_INPUT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/cmd/print/table.h"
#include "sim/workload/workload.h"
#include "traces/store/selection.h"

/* All zero: none. */
struct gt_profiles {
    const char **paths;             /* as given */
    struct gt_workload **workloads; /* read; NULL before */
    uint32_t count;
};

/* One more file or folder. `path` must last. */
void gt_profiles_add(struct gt_profiles *profiles, const char *path);

/* Read them all. Returns 0; -1 with the reason: one cannot be read or has no programs. */
int gt_profiles_read(struct gt_profiles *profiles, bool quiet, struct gt_error *error);

/* Let the kernels of `workload`, called `name` in messages, have their programs (traces/sass/program_match.h), and say
 * unless `quiet` how many did and which did not. */
void gt_profiles_attach(const struct gt_profiles *profiles, struct gt_workload *workload, const char *name,
                        bool quiet);

/* --cost program means nothing where no kernel of `workload` has a program: -1, with what to do. */
int gt_profiles_check_cost(const struct gt_workload *workload, struct gt_error *error);

void gt_profiles_free(struct gt_profiles *profiles);

/* The value of --NAME: a whole number in [low, high]. */
uint64_t gt_option_number(const struct argp_state *state, const char *name, const char *text, uint64_t low,
                          uint64_t high);
/* The value of --NAME: one of two words.  0 or 1: which. */
int gt_option_either(const struct argp_state *state, const char *name, const char *text, const char *first,
                     const char *second);

/* The values of --NAME, separated by commas, behind the *count that list[most] has: words, which stay in `text`; numbers more than 0, and
 * `high` at most. */
void gt_option_words(const struct argp_state *state, const char *name, char *text, char **list, uint32_t most,
                     uint32_t *count);
void gt_option_reals(const struct argp_state *state, const char *name, char *text, double high, double *list,
                     uint32_t most, uint32_t *count);

/* Option --format, as a row of a command's table, and its value. */
#define GT_OPTION_FORMAT                                                        \
    {                                                                           \
        "format", 'f', "table|csv|json", 0, "Output format (default: table)", 0 \
    }
enum gt_format gt_option_format(const struct argp_state *state, const char *text);

/* Option --table of commands that print several tables, as a row of a command's own table, and its value.  `names`, "run, interval",
 * are those of all tables that the command can print, whatever its input: gt_parse() declares them (table.h), the help lists
 * them, and any other is wrong usage before anything is done. */
enum { GT_KEY_TABLE = 0x2000 };
#define GT_TABLE_HELP "Print only this table: "
#define GT_OPTION_TABLE(names)                                   \
    {                                                            \
        "table", GT_KEY_TABLE, "NAME", 0, GT_TABLE_HELP names, 0 \
    }
void gt_option_table(const struct argp_state *state, const char *text);
/* At the end of the arguments: a table that there is only with `option`, where that is not `given`, is wrong usage, too. */
void gt_option_table_needs(const struct argp_state *state, const char *table, const char *option, bool given);

/* Option --quiet, as a row of a command's table.  It silences progress, notes and warnings, everywhere.  What a command
 * prints on standard output stays where that is its answer; where its result is a file, a table goes too, unless --format
 * asks for it. */
#define GT_OPTION_QUIET_ANSWER                                                            \
    {                                                                                     \
        "quiet", 'q', NULL, 0, "Print only the result: no progress, notes or warnings", 0 \
    }
#define GT_OPTION_QUIET_FILE                          \
    {                                                 \
        "quiet", 'q', NULL, 0, "Print only errors", 0 \
    }
#define GT_OPTION_QUIET_FORMAT                                                 \
    {                                                                          \
        "quiet", 'q', NULL, 0, "Print only errors and the requested output", 0 \
    }

/* The one argument of a command: into *place, which is NULL before. `what` in "one WHAT at a time". */
void gt_option_only(const struct argp_state *state, const char *what, const char *text, const char **place);

/* What commands that simulate traces have in common: options --device, --cost, --programs, --task-costs,
 * --seed.
 * A command's parser has gt_model_children, and at ARGP_KEY_INIT sets state->child_inputs[0] to its own. */
struct gt_model_options {
    const char *device;          /* a name or a file; NULL: the one that the trace names */
    uint64_t seed;               /* of block costs given as ranges, and of the host's noise */
    struct gt_profiles profiles; /* where kernels find programs; gt_profiles_free() */
    const char *task_costs;      /* a table of what tasks take (run_input.h); NULL: none */
    bool program_cost, quiet;    /* quiet is an option of each command's own */
    bool no_inference;           /* --infer=off */
};
#define GT_MODEL_OPTIONS_DEFAULT \
    {                            \
        .seed = 1                \
    }
extern const struct argp_child gt_model_children[];

/* Options --from, --to, --stream, --kernel, --step of commands that show a part of a run.  Their parser has
 * gt_filter_children, and at ARGP_KEY_INIT sets state->child_inputs[0] to its own struct gt_filter, GT_FILTER_ALL
 * before. */
extern const struct argp_child gt_filter_children[];

#endif
