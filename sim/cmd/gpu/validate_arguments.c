/* The options of `gridtide validate`. */
#include "sim/cmd/gpu/validate_arguments.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "sim/cmd/input/shared_input.h"
#include "traces/io/data_path.h"
#include "validate/random/families.h"

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
    OPTION_KERNELS,
    OPTION_SHRINK,
    OPTION_SHARE
};
enum { RANDOM_MAX = 1000000 };

static const struct argp_option options[] = {
    { "repeat", OPTION_REPEAT, "N", 0, "Recorded runs of each trace, after one warm-up run (default 5)", 0 },
    { "surrogates", OPTION_SURROGATES, NULL, 0,
      "Replace kernels of recorded programs by kernels of the same shape that spin for the same "
      "time",
      0 },
    { "measured", OPTION_MEASURED, "OLD.db", 0,
      "Use the measured runs of this store instead of a GPU: simulate again and compare", 0 },
    { "random", OPTION_RANDOM, "N", 0, "Use N random traces instead of files", 0 },
    { "draw-seed", OPTION_DRAW_SEED, "S", 0,
      "Seed of the random traces; a seed gives the same traces on any machine (default 1)", 0 },
    { "families", OPTION_FAMILIES, "LIST", 0,
      "Comma-separated kinds of random traces: streams, events, priorities, copies, graphs, "
      "threads, mixed (default: these in turn), tasks, children, grid-sync, gpus, pairs, triples, sliced, mps, "
      "percent, green, arrivals",
      0 },
    { "kernels", OPTION_KERNELS, "TRACE", 0,
      "For families pairs and triples: draw among the kernels that this trace file defines", 0 },
    { "shrink", OPTION_SHRINK, NULL, 0,
      "Reduce random traces whose makespan is outside the measured range by more than 2 % to the "
      "smallest trace that still is, on the GPU: 5 s each, 120 s in all, worst first; written to "
      "the folder V-shrunk",
      0 },
    { "share", OPTION_SHARE, "sliced|mps[:PERCENT]|green:SMS", 0,
      "The traces are processes that share the GPU and run at the same time: in time slices, as clients of an MPS "
      "daemon that is started for them, or as green contexts of one process; a number per trace is separated by "
      "commas: mps:50,25",
      0 },
    { "output", 'o', "V.db", 0, "Store to append the runs to (default: validation.db)", 0 },
    { "check", OPTION_CHECK, NULL, 0, "Exit status 1 if a threshold in the store's table metric is exceeded", 0 },
    { "blocks", OPTION_BLOCKS, "on|off", 0,
      "Store every block (on, the default) or only the number of blocks per "
      "SM",
      0 },
    { "format", 'f', "table|csv|json", 0, "Output format (default: table, line by line)", 0 },
    GT_OPTION_TABLE("traces, summary, shrunk, rules"),
    GT_OPTION_QUIET_FORMAT,
    { 0 },
};

static void check(struct argp_state *state, const struct gt_validate_arguments *arguments)
{
    if (arguments->random == 0 && arguments->trace_count == 0)
        argp_error(state, "name a trace to validate, or give --random");
    if (arguments->random > 0 && arguments->trace_count > 0)
        argp_error(state, "--random generates traces: do not name any");
    if (arguments->random == 0 && arguments->families != NULL)
        argp_error(state, "--families needs --random=N");
    if (arguments->random > 0 && arguments->share != NULL)
        argp_error(state,
                   "--share is for traces that are named; --families=sliced,mps,percent,green are random ones");
    if (arguments->share != NULL && arguments->trace_count > GT_SHARED_TRACES_MAX)
        argp_error(state, "more than %d traces share a GPU", GT_SHARED_TRACES_MAX);
    if (arguments->random == 0 && arguments->shrink)
        argp_error(state, "--shrink needs --random=N");
    if (arguments->random == 0 && arguments->kernels != NULL)
        argp_error(state, "--kernels needs --random=N");
    if (arguments->measured != NULL && arguments->shrink)
        argp_error(state, "--shrink runs new traces, so it needs a GPU: leave out --measured");
    gt_option_table_needs(state, "shrunk", "--shrink", arguments->shrink);
    gt_option_table_needs(state, "rules", "--random=N", arguments->random > 0);
}

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
    case OPTION_KERNELS: arguments->kernels = text; return 0;
    case OPTION_SHARE: arguments->share = text; return 0;
    case OPTION_SHRINK: arguments->shrink = true; return 0;
    case OPTION_SURROGATES: arguments->surrogates = true; return 0;
    case OPTION_CHECK: arguments->check = true; return 0;
    case OPTION_BLOCKS: arguments->blocks = gt_option_either(state, "blocks", text, "on", "off") == 0; return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case 'f':
        arguments->format = gt_option_format(state, text);
        arguments->tables = true;
        return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'o': arguments->output = text; return 0;
    case ARGP_KEY_ARGS:
        arguments->traces = state->argv + state->next;
        arguments->trace_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        check(state, arguments);
        arguments->tables |= !arguments->model.quiet || gt_tables_chosen();
        arguments->lines = arguments->tables && !gt_tables_chosen() && arguments->format == GT_FORMAT_TABLE;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "[TRACE...]",
    "Simulate traces, run them on this machine's GPU, and write all runs and their differences "
    "to an SQLite store.\vColumns: makespans (first operation's start to last operation's end) "
    "of the measured run with the median makespan and of the simulated run; error; spread: "
    "slowest minus fastest measured makespan; start: median error of operations' starts; "
    "placed: blocks on other SMs than measured; floor: the same between two measured runs; "
    "order: pairs of kernels that start in one order in all measured runs and in the other "
    "order in the simulated run; runs within: measured runs within the predicted 90% interval of the makespan: "
    "gridtide-model(7). When interrupted, "
    "it prints what was measured so far.",
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

int gt_validate_draw(struct gt_validate_arguments *arguments, struct gt_error *error)
{
    if (arguments->share != NULL) {
        arguments->shared_count = (uint32_t)arguments->trace_count;
        arguments->trace_count = 1;
    }
    if (arguments->random == 0)
        return 0;
    if (gt_draws_of(&arguments->draws, arguments->families, arguments->draw_seed, error) != 0)
        return -1;
    arguments->trace_count = arguments->random;
    if (!gt_draws_need_list(&arguments->draws))
        return arguments->kernels == NULL
                   ? 0
                   : gt_error_set(error,
                                  "--kernels is for --families=pairs and triples: leave it out, or name one of them");
    if (arguments->kernels == NULL)
        return gt_error_set(error,
                            "families pairs and triples draw among the kernels of a trace: give --kernels=TRACE");
    arguments->draws.list = &arguments->list;
    return gt_kernel_list_read(arguments->kernels, &arguments->list, error);
}

void gt_validate_place(const struct gt_validate_arguments *arguments, size_t number, char *place, size_t bytes)
{
    if (arguments->random > 0)
        gt_draw_name(&arguments->draws, (uint32_t)number, place, bytes);
    else
        snprintf(place, bytes, "%s", arguments->traces[number]);
}

struct gt_workload *gt_validate_read(const struct gt_validate_arguments *arguments, size_t number,
                                     struct gt_error *error)
{
    struct gt_workload *workload;
    char *text;

    if (arguments->share != NULL)
        return gt_shared_read((const char *const *)arguments->traces, arguments->shared_count, arguments->share,
                              arguments->model.quiet, error);
    if (arguments->random == 0)
        return gt_run_read(arguments->traces[number], arguments->model.quiet, error);
    text = gt_draw_text(&arguments->draws, (uint32_t)number);
    workload = gt_draw_read(text, error);
    free(text);
    return workload;
}

bool gt_validate_needs_processes(const struct gt_validate_arguments *arguments)
{
    bool needs = arguments->share != NULL;

    for (uint32_t i = 0; arguments->random > 0 && i < arguments->draws.family_count; i++)
        needs |= arguments->draws.families[i]->processes;
    return needs;
}

void gt_validate_name(const struct gt_workload *workload, const char *path, char *name, size_t bytes)
{
    char *stem = gt_path_stem(path);
    bool named = workload != NULL && workload->name != NULL && workload->name[0] != '\0';

    snprintf(name, bytes, "%s", named ? workload->name : stem);
    free(stem);
}

struct gt_table *gt_rules_table(const uint32_t traces[GT_RULES], enum gt_format format)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "rule", GT_COLUMN_TEXT }, { "traces", GT_COLUMN_NUMBER }, { "says", GT_COLUMN_WIDE },
        { "off", GT_COLUMN_TEXT }, { "file", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    size_t all = sizeof columns / sizeof columns[0];
    struct gt_table *table = gt_table_new("rules", columns, format == GT_FORMAT_TABLE ? 3 : all);

    for (int i = 0; i < GT_RULES; i++) {
        gt_table_text(table, gt_rules[i].name);
        gt_table_integer(table, traces[i]);
        gt_table_text(table, gt_rules[i].says);
        if (format == GT_FORMAT_TABLE)
            continue;
        gt_table_text(table, gt_rules[i].off);
        gt_table_text(table, gt_rules[i].file);
    }
    return table;
}
