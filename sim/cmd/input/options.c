#include "sim/cmd/input/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/decimal.h"

uint64_t gt_option_number(const struct argp_state *state, const char *name, const char *text, uint64_t low,
                          uint64_t high)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < low || value > high)
        argp_error(state, "--%s requires an integer from %" PRIu64 " to %" PRIu64 ", not '%s'", name, low, high,
                   text);
    return value;
}

int gt_option_either(const struct argp_state *state, const char *name, const char *text, const char *first,
                     const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        argp_error(state, "--%s requires %s or %s, not '%s'", name, first, second, text);
    return strcmp(text, first) != 0;
}

enum gt_format gt_option_format(const struct argp_state *state, const char *text)
{
    enum gt_format format = GT_FORMAT_TABLE;

    if (gt_format_parse(text, &format) != 0)
        argp_error(state, "unknown format '%s'; formats are table, csv, json", text);
    return format;
}

void gt_option_only(const struct argp_state *state, const char *what, const char *text, const char **place)
{
    if (*place != NULL)
        argp_error(state, "only one %s is allowed: remove '%s'", what, text);
    *place = text;
}

/* Beyond the commands' own. */
enum {
    OPTION_DEVICE = 0x1000,
    OPTION_COST,
    OPTION_PROGRAMS,
    OPTION_TASK_COSTS,
    OPTION_SEED,
    OPTION_FROM,
    OPTION_TO,
    OPTION_STREAM,
    OPTION_KERNEL,
    OPTION_STEP
};

/* clang-format off */
static const struct argp_option model_options[] = {
    {"device", OPTION_DEVICE, "NAME|FILE.ini", 0,
     "The GPU, by name or device file (default: the GPU that the trace names)", 0},
    {"cost", OPTION_COST, "measured|program", 0, "Duration of kernels: measured where known (the default), or "
     "simulated from machine code "
    "where known", 0},
    {"programs", OPTION_PROGRAMS, "PROFILE", 0, "Take machine code for kernels that have none from this Nsight "
     "Compute profile, imported "
    "or not: the launch with the same name and block size and the nearest grid; may be repeated", 0},
    {"task-costs", OPTION_TASK_COSTS, "FILE", 0, "Table (CSV or JSON) of task times by kind, bytes or operations, "
     "for tasks of task graphs "
    "without a time", 0},
    {"seed", OPTION_SEED, "N", 0, "Seed for block costs given as ranges and for host noise (default 1)", 0},
    {0},
};
/* clang-format on */

static error_t parse_model_option(int key, char *text, struct argp_state *state)
{
    struct gt_model_options *options = state->input;

    switch (key) {
    case OPTION_DEVICE: options->device = text; return 0;
    case OPTION_COST:
        options->program_cost = gt_option_either(state, "cost", text, "measured", "program") == 1;
        return 0;
    case OPTION_TASK_COSTS: options->task_costs = text; return 0;
    case OPTION_PROGRAMS: gt_profiles_add(&options->profiles, text); return 0;
    case OPTION_SEED: options->seed = gt_option_number(state, "seed", text, 0, UINT64_MAX); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp model_parser = { model_options, parse_model_option, NULL, NULL, NULL, NULL, NULL };
const struct argp_child gt_model_children[] = { { &model_parser, 0, NULL, 0 }, { 0 } };

/* clang-format off */
static const struct argp_option filter_options[] = {
    {"from", OPTION_FROM, "US", 0, "Only operations that start at or after this time of the run, in "
     "microseconds", 1},
    {"to", OPTION_TO, "US", 0, "Only operations that start before this time", 1},
    {"stream", OPTION_STREAM, "NAME", 0, "Only operations of this stream, given by name or number", 1},
    {"kernel", OPTION_KERNEL, "NAME", 0, "Only kernels whose name, mangled or not, contains NAME", 1},
    {"step", OPTION_STEP, "NAME", 0, "Only operations of this step, given by its name, the number in its name, or "
     "its index "
    "from 0", 1},
    {0},
};
/* clang-format on */

static gt_time_ps parse_time(const struct argp_state *state, const char *name, const char *text)
{
    struct gt_error error;
    gt_time_ps time_ps = 0;

    if (gt_decimal_parse(text, strlen(text), 6, GT_TIME_LIMIT_PS, &time_ps, &error) != 0)
        argp_error(state, "--%s requires a time in microseconds; '%s' %s", name, text, error.text);
    return time_ps;
}

static error_t parse_filter_option(int key, char *text, struct argp_state *state)
{
    struct gt_filter *filter = state->input;

    switch (key) {
    case OPTION_FROM: filter->from_ps = parse_time(state, "from", text); break;
    case OPTION_TO: filter->to_ps = parse_time(state, "to", text); break;
    case OPTION_STREAM: filter->stream = text; return 0;
    case OPTION_KERNEL: filter->kernel = text; return 0;
    case OPTION_STEP: filter->step = text; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (filter->to_ps <= filter->from_ps)
        argp_error(state, "--to must be later than --from");
    return 0;
}

static const struct argp filter_parser = { filter_options, parse_filter_option, NULL, NULL, NULL, NULL, NULL };
const struct argp_child gt_filter_children[] = { { &filter_parser, 0, NULL, 0 }, { 0 } };
