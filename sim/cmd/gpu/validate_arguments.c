/* The options of `gridtide validate`. */
#include "sim/cmd/gpu/validate_arguments.h"

#include <argp.h>

enum { REPETITIONS = 5, REPETITIONS_MAX = 1000 };
enum {
    OPTION_REPEAT = 256,
    OPTION_SURROGATES,
    OPTION_CHECK,
    OPTION_BLOCKS,
    OPTION_MEASURED,
    OPTION_RANDOM,
    OPTION_DRAW_SEED,
    OPTION_FAMILIES,
    OPTION_SHRINK
};
enum { RANDOM_MAX = 1000000 };

static const struct argp_option options[] = {
    { "repeat", OPTION_REPEAT, "N", 0, "Measured executions per trace, after one warm-up (default 5)", 0 },
    { "surrogates", OPTION_SURROGATES, NULL, 0,
      "Replace kernels of recorded programs by proxy kernels of the same shape that spin for the recorded "
      "duration",
      0 },
    { "measured", OPTION_MEASURED, "OLD.db", 0,
      "Use the measurements in this store instead of a GPU: simulate again and compare", 0 },
    { "random", OPTION_RANDOM, "N", 0, "Generate N random traces instead of reading files", 0 },
    { "draw-seed", OPTION_DRAW_SEED, "S", 0,
      "Seed of the random traces: the same traces on any machine (default "
      "1)",
      0 },
    { "families", OPTION_FAMILIES, "LIST", 0,
      "Families of random traces, separated by commas: streams, events, priorities, copies, graphs, threads, "
      "mixed (default: these in turn), tasks, children, grid-sync, gpus",
      0 },
    { "shrink", OPTION_SHRINK, NULL, 0,
      "Shrink random traces whose simulated makespan is more than 2 % outside the range of the measured ones, as "
      "long as they stay so. Runs on the GPU, the worst first, 5 s each and 120 s in total; results go to the "
      "folder V-shrunk",
      0 },
    { "output", 'o', "V.db", 0, "Store to which the runs are added (default: validation.db)", 0 },
    { "check", OPTION_CHECK, NULL, 0,
      "Exit with status 1 if an error exceeds a threshold of the store's table "
      "metric",
      0 },
    { "blocks", OPTION_BLOCKS, "on|off", 0,
      "Store every block (on, the default), or only the number of blocks "
      "per SM (off)",
      0 },
    { "format", 'f', "table|csv|json", 0,
      "Output format: for people, one line per trace (the default), or CSV or "
      "JSON for programs",
      0 },
    GT_OPTION_QUIET_FORMAT,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct gt_validate_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_REPEAT:
        arguments->repetitions = (uint32_t)gt_option_number(state, "repeat", text, 1, REPETITIONS_MAX);
        return 0;
    case OPTION_MEASURED: arguments->measured = text; return 0;
    case OPTION_RANDOM:
        arguments->random = (uint32_t)gt_option_number(state, "random", text, 1, RANDOM_MAX);
        return 0;
    case OPTION_DRAW_SEED:
        arguments->draw_seed = (uint64_t)gt_option_number(state, "draw-seed", text, 0, INT64_MAX);
        return 0;
    case OPTION_FAMILIES: arguments->families = text; return 0;
    case OPTION_SHRINK: arguments->shrink = true; return 0;
    case OPTION_SURROGATES: arguments->surrogates = true; return 0;
    case OPTION_CHECK: arguments->check = true; return 0;
    case OPTION_BLOCKS: arguments->blocks = gt_option_either(state, "blocks", text, "on", "off") == 0; return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case 'f':
        arguments->format = gt_option_format(state, text);
        arguments->tables = true;
        return 0;
    case 'o': arguments->output = text; return 0;
    case ARGP_KEY_ARGS:
        arguments->traces = state->argv + state->next;
        arguments->trace_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        arguments->tables |= !arguments->model.quiet;
        if (arguments->random == 0 && arguments->trace_count == 0)
            argp_error(state, "name a trace, or add --random");
        if (arguments->random > 0 && arguments->trace_count > 0)
            argp_error(state, "--random generates the traces: name no files");
        if (arguments->random == 0 && arguments->families != NULL)
            argp_error(state, "--families requires --random N");
        if (arguments->random == 0 && arguments->shrink)
            argp_error(state, "--shrink requires --random N");
        if (arguments->measured != NULL && arguments->shrink)
            argp_error(state, "--shrink executes new traces on a GPU: remove --measured");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "[TRACE...]",
    "Simulate traces and execute them on this machine's GPU; all runs go into an SQLite store and are compared "
    "with each "
    "other.\v"
    "Columns: real, simulated: makespan, from the first operation's start to the last operation's end, of the "
    "median measured run and of the simulated run; error: their difference; spread: slowest minus fastest "
    "measured makespan; start: median error of the operations' starts; placed: share of blocks on another SM than "
    "measured; floor: the same between two measured runs; order: pairs of kernels that start in one order in all "
    "measured runs and in the other in the simulated run; runs within: measured runs inside the 90% interval that "
    "the simulation states for the makespan, see gridtide-model(7). An interrupt stops the command and keeps what "
    "was measured.",
    gt_model_children, NULL, NULL,
};
/* clang-format on */

void gt_validate_arguments_parse(int argc, char **argv, struct gt_validate_arguments *arguments)
{
    *arguments = (struct gt_validate_arguments){
        .repetitions = REPETITIONS,
        .model = GT_MODEL_OPTIONS_DEFAULT,
        .blocks = true,
        .output = "validation.db",
        .draw_seed = 1,
    };
    gt_parse(&parser, argc, argv, arguments);
}
