/* sweep.c - `gridtide sweep`: a grid of changes over traces, into one store. */
#include <argp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/run/sweep_parts.h"

enum { OPTION_OVER = 256, OPTION_SLURM, OPTION_BLOCKS, OPTION_INDEPENDENT, OPTION_PART };

/* By enum gt_sweep_part. */
static const char *const part_names[] = { "here", "worker", "task", "merge", "again" };

/* clang-format off */
static const struct argp_option options[] = {
    { "over", OPTION_OVER, "SPEC=A,B,...", 0, "A change as for 'gridtide whatif --change' with the values to try; a change without a "
    "value takes on,off. May be repeated: all combinations are tried", 0 },
    { "jobs", 'j', "N", 0, "Number of worker processes (default: one per core); with --slurm, tasks of the job array "
    "(default 32)", 0 },
    { "slurm", OPTION_SLURM, "SBATCH-OPTIONS", 0, "Run as Slurm jobs: one job array, and one job that merges its results", 0 },
    { "output", 'o', "SWEEP.db", 0, "Store to write; a store that the same command began is continued (required)", 0 },
    { "independent", OPTION_INDEPENDENT, "PATTERN", 0,
      "Kernel launches or ranges whose names match PATTERN do not depend on each other; may be "
    "repeated", 0 },
    { "blocks", OPTION_BLOCKS, "on|off", 0, "Simulate the blocks of kernels on SMs (on, the default), or each kernel as one interval "
    "of fixed length", 0 },
    { "part", OPTION_PART, "NAME", OPTION_HIDDEN | OPTION_NO_USAGE, NULL, 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("traces, sweep"),
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};
/* clang-format on */

static void add_independent(struct argp_state *state, const char *text, struct gt_sweep_arguments *arguments)
{
    if (arguments->independent_count == GT_SWEEP_INDEPENDENT_MAX)
        argp_error(state, "--independent more than %d times", GT_SWEEP_INDEPENDENT_MAX);
    arguments->independent[arguments->independent_count++] = text;
}

static void add_over(struct argp_state *state, const char *text, struct gt_sweep_arguments *arguments)
{
    struct gt_error error = { "" };

    if (gt_change_grid_add(&arguments->grid, text, &error) != 0)
        argp_error(state, "%s", error.text);
}

static void add_trace(struct argp_state *state, const char *text, struct gt_sweep_arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->trace_count; i++)
        if (strcmp(arguments->traces[i], text) == 0)
            argp_error(state, "the trace '%s' is given twice", text);
    if (strcmp(text, "-") == 0)
        argp_error(state, "a sweep reads its traces several times: it cannot read standard input");
    arguments->traces = gt_realloc(arguments->traces, arguments->trace_count + 1, sizeof *arguments->traces);
    arguments->traces[arguments->trace_count++] = text;
}

static enum gt_sweep_part find_part(struct argp_state *state, const char *text)
{
    for (unsigned i = 0; i < sizeof part_names / sizeof part_names[0]; i++)
        if (strcmp(part_names[i], text) == 0)
            return (enum gt_sweep_part)i;
    argp_error(state, "unknown part '%s'", text);
    return GT_SWEEP_HERE;
}

static void check(struct argp_state *state, const struct gt_sweep_arguments *arguments)
{
    if (arguments->trace_count == 0)
        argp_error(state, "name a trace");
    if (arguments->grid.count == 0)
        argp_error(state, "name the values to try, as in --over streams=1,2,4");
    if (arguments->output == NULL)
        argp_error(state, "name the store with -o SWEEP.db");
    if (arguments->grid.points * arguments->trace_count > GT_SWEEP_POINTS_MAX)
        argp_error(state, "%" PRIu64 " points for each of %u traces exceed the limit of %d; try fewer values",
                   arguments->grid.points, arguments->trace_count, GT_SWEEP_POINTS_MAX);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct gt_sweep_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_OVER: add_over(state, text, arguments); return 0;
    case 'j': arguments->jobs = (unsigned)gt_option_number(state, "jobs", text, 1, GT_SWEEP_JOBS_MAX); return 0;
    case OPTION_SLURM: arguments->slurm = text; return 0;
    case 'o': arguments->output = text; return 0;
    case OPTION_INDEPENDENT: add_independent(state, text, arguments); return 0;
    case OPTION_BLOCKS: arguments->bars = gt_option_either(state, "blocks", text, "on", "off") == 1; return 0;
    case OPTION_PART: arguments->part = find_part(state, text); return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case ARGP_KEY_ARG: add_trace(state, text, arguments); return 0;
    case ARGP_KEY_END: check(state, arguments); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "TRACE... --over SPEC=A,B,... -o SWEEP.db",
    "Predict every combination of the given values for every trace, and write one row per "
    "combination to a store.\vResults are the same as those of 'gridtide whatif', whose help "
    "lists the changes. A combination that is refused is a row with the reason. After an "
    "interruption the finished rows remain, and the same command continues. 'gridtide report "
    "SWEEP.db' draws the results.",
    gt_model_children, NULL, NULL,
};
/* clang-format on */

static unsigned cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count < 1 ? 1 : (unsigned)count;
}

/* All that is left, by workers here; an exit status, -1 with the reason. */
static int work_here(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, struct gt_error *error)
{
    uint64_t count;
    uint64_t *todo = gt_sweep_todo(sweep, 0, 1, &count);
    int signal = 0, result = 0;

    if (count > 0)
        result = gt_sweep_work(sweep, arguments, arguments->jobs != 0 ? arguments->jobs : cores(), todo, count,
                               &signal, error);
    free(todo);
    if (signal == 0 || result < 0)
        return result;
    fprintf(stderr,
            "gridtide: interrupted: %" PRIu64 " of %" PRIu64 " points are done; run the same command to "
            "resume\n",
            sweep->points - sweep->left, sweep->points);
    return 128 + signal;
}

static int sweep_here(const struct gt_sweep_arguments *arguments, const struct gt_sweep_plan *asked,
                      struct gt_error *error)
{
    struct gt_sweep sweep;
    int result = gt_sweep_open(&sweep, arguments->output, asked, error);

    if (result == 0 && arguments->part != GT_SWEEP_HERE) {
        result = gt_sweep_merge(&sweep, arguments, error);
    } else if (result == 0 && arguments->slurm != NULL && sweep.left > 0) {
        result = gt_sweep_submit(&sweep, arguments, GT_SWEEP_MERGE, error);
    } else if (result == 0) {
        result = work_here(&sweep, arguments, error);
        if ((result == 0 || result == 1) && gt_sweep_print(&sweep, arguments->format, error) != 0)
            result = -1;
    }
    gt_sweep_close(&sweep);
    return result;
}

static int sweep(struct gt_sweep_arguments *arguments)
{
    struct gt_error error = { "" };
    struct gt_sweep_plan asked;
    int result;

    if (arguments->part == GT_SWEEP_WORKER)
        return gt_sweep_serve(arguments);
    result = gt_sweep_asked(arguments, &asked, &error);
    if (result == 0)
        result = arguments->part == GT_SWEEP_TASK ? gt_sweep_task(&asked, arguments, &error)
                                                  : sweep_here(arguments, &asked, &error);
    gt_sweep_plan_free(&asked);
    return result < 0 ? gt_fail(&error) : result;
}

static int run(int argc, char **argv)
{
    struct gt_sweep_arguments arguments = {
        .model = GT_MODEL_OPTIONS_DEFAULT, .grid = GT_GRID_EMPTY, .count = argc - 1, .given = argv + 1
    };
    int result;

    gt_parse(&parser, argc, argv, &arguments);
    result = sweep(&arguments);
    gt_change_grid_free(&arguments.grid);
    free(arguments.traces);
    gt_profiles_free(&arguments.model.profiles);
    return result;
}

const struct gt_command gt_command_sweep = {
    "sweep",
    "predict many combinations of changes into one store",
    run,
};
