/* diff.c - `gridtide diff`: what got slower from one run to another. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/report/diff_parts.h"

enum { TOP = 20, TOP_MAX = 100000000, OPTION_TOP = 256 };

struct arguments {
    const char *stores[2], *run; /* before and after; their kind */
    enum gt_format format;
    unsigned top; /* 0: as is usual */
};

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    { "run", 'r', "simulated|measured", 0,
      "Which runs: the newest simulated runs (the default) or the newest measured runs", 0 },
    { "top", OPTION_TOP, "N", 0,
      "Print at most N rows of each list, largest difference first (default 20 in tables, all in "
      "CSV and JSON)",
      0 },
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const kinds[] = { "simulated", "measured" };
    struct arguments *arguments = state->input;

    switch (key) {
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case 'r': arguments->run = kinds[gt_option_either(state, "run", text, kinds[0], kinds[1])]; return 0;
    case OPTION_TOP: arguments->top = (unsigned)gt_option_number(state, "top", text, 1, TOP_MAX); return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "two stores can be compared: '%s' is one too many", text);
        arguments->stores[state->arg_num] = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "name two stores that 'gridtide run' wrote: before and after");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "A.db B.db",
    "Show what got slower or faster from run A to run B: the makespan, the critical path by "
    "cause, name and operator, idle time by cause, kernels, copies, calls, steps, operators "
    "and single operations. Operations are matched by name and order, so that added and "
    "removed operations are distinguished from slower ones.\vDifferences are B minus A: a "
    "positive value means that B takes longer. Lists are sorted by the size of the difference; "
    "share_pct is the part of all increases, or of all decreases, in the list. The rows of the "
    "critical path add up to the time from the first call to the last end; the gaps and the "
    "busy time of one GPU add up to the makespan. Measured runs have no critical path and no "
    "causes of gaps, because a recording does not contain causes.",
    NULL, NULL, NULL,
};
/* clang-format on */

static void print(const struct gt_diff *diff, const struct arguments *arguments)
{
    struct gt_table *tables[GT_DIFF_TABLES];
    unsigned usual = arguments->format == GT_FORMAT_TABLE ? TOP : TOP_MAX;
    size_t count = gt_diff_tables(diff, arguments->format, arguments->top > 0 ? arguments->top : usual, tables);

    gt_tables_print(stdout, arguments->format, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
}

/* What is to be loaded from a store, and where it goes. */
struct loading {
    const char *run;
    struct gt_diff_side *side;
};

static int load(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct loading *loading = user;

    return gt_diff_side_load(gt_store_database(store), loading->run, loading->side, error);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .run = "simulated" };
    struct gt_diff_side sides[2] = { { .run = NULL }, { .run = NULL } };
    struct gt_diff diff;
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    for (int i = 0; i < 2 && status == GT_EXIT_DONE; i++)
        status = gt_with_store(arguments.stores[i], load, &(struct loading){ arguments.run, &sides[i] });
    if (status == GT_EXIT_DONE) {
        gt_diff_make(&sides[0], &sides[1], &diff);
        print(&diff, &arguments);
        gt_diff_free(&diff);
    }
    for (int i = 0; i < 2; i++)
        gt_diff_side_free(&sides[i]);
    return status;
}

const struct gt_command gt_command_diff = {
    "diff",
    "show what got slower or faster between two runs",
    run,
};
