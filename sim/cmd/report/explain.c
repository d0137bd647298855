/* explain.c - `gridtide explain`: a run's timeline, or one kernel launch. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/input/with_run.h"
#include "sim/cmd/report/explain_parts.h"

enum { TOP = 20, TOP_MAX = 100000, OPTION_TOP = 256, OPTION_GAP, OPTION_FULL, OPTION_NO_PREDICT };

/* Gaps below this are what lies between any two operations. */
static const gt_time_ps usual_gap_ps = 5 * UINT64_C(1000000);

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_QUIET_ANSWER,
    { "full", OPTION_FULL, NULL, 0, "Print every table, not the summary alone", 0 },
    { "no-predict", OPTION_NO_PREDICT, NULL, 0, "Do not simulate the changes that findings recommend", 0 },
    { "gap", OPTION_GAP, "US", 0, "With --full, which it implies: idle gaps of at least US microseconds (default 5)",
      0 },
    { "top", OPTION_TOP, "N", 0,
      "With --full, which it implies: at most N rows of each list, the largest (default 20 for people, all for "
      "programs; "
      "of instructions 20)",
      0 },
    { 0 },
};

static gt_time_ps parse_gap(const struct argp_state *state, const char *text)
{
    char *end;
    double us = strtod(text, &end);

    if (end == text || *end != '\0' || !(us >= 0) || us > (double)GT_TIME_LIMIT_PS / 1e6)
        argp_error(state, "--gap takes microseconds, not '%s'", text);
    return (gt_time_ps)llround(us * 1e6);
}

static void check_kernel(const struct gt_explain_request *request, const struct argp_state *state)
{
    if (request->filter.kernel != NULL && request->kernel != NULL)
        argp_error(state, "one kernel at a time: '%s' is one too many", request->kernel);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct gt_explain_request *request = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &request->filter; return 0;
    case 'f': request->format = gt_option_format(state, text); return 0;
    case 'q': request->quiet = true; return 0;
    case OPTION_FULL: request->full = true; return 0;
    case OPTION_NO_PREDICT: request->no_predict = true; return 0;
    case OPTION_TOP:
        request->top = (unsigned)gt_option_number(state, "top", text, 1, TOP_MAX);
        request->full = true;
        return 0;
    case OPTION_GAP:
        request->least_gap_ps = parse_gap(state, text);
        request->full = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "one kernel at a time: '%s' is one too many", text);
        *(state->arg_num == 0 ? &request->store : &request->kernel) = text;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a store that 'gridtide run -o' wrote, or a trace"); return 0;
    case ARGP_KEY_SUCCESS: check_kernel(request, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db|TRACE [KERNEL]",
    "Say in a few lines what bounds a step of a run, where its time goes, and what would help most: a recommendation is "
    "simulated first, and comes with what it gains. With --full: the critical path, idle gaps and their causes, kernels and "
    "copies that did not overlap, calls that block, who launches what, everything found. With KERNEL, where the cycles of one "
    "launch go: issue by pipe, stalls by reason and by instruction, next to the profiler's samples where the trace has "
    "them, and what would help.\v"
    "A TRACE is simulated first, as 'gridtide run' does. CSV and JSON always have every table. "
    "KERNEL is a launch's number, as 'gridtide compare' lists it, or a name, mangled or not, or a part of "
    "one; of several launches that it fits the one with the most cycles is taken. The filters choose a part of the "
    "timeline, or the launches that KERNEL is looked for in. Causes are the simulator's, of the "
    "newest simulated run: a recording has none.",
    gt_filter_children, NULL, NULL,
};
/* clang-format on */

/* --kernel NAME is KERNEL where the store has cycles of kernels; else the timeline's part of that name.  0 or -1. */
static int choose_kernel(struct gt_store *store, struct gt_explain_request *request, struct gt_error *error)
{
    int known = request->filter.kernel != NULL ? gt_explain_has_cycles(store, error) : 0;

    if (known != 1)
        return known;
    request->kernel = request->filter.kernel;
    request->filter.kernel = NULL;
    return 0;
}

static int explain(struct gt_store *store, const void *user, struct gt_error *error)
{
    struct gt_explain_request request = *(const struct gt_explain_request *)user;

    if (choose_kernel(store, &request, error) != 0)
        return -1;
    if (request.top == 0)
        request.top = request.kernel == NULL && request.format != GT_FORMAT_TABLE ? TOP_MAX : TOP;
    return request.kernel != NULL ? gt_explain_kernel(store, &request, error)
                                  : gt_explain_timeline(store, &request, error);
}

static int run(int argc, char **argv)
{
    struct gt_explain_request request = { .format = GT_FORMAT_TABLE,
                                          .least_gap_ps = usual_gap_ps,
                                          .filter = GT_FILTER_ALL };

    gt_parse(&parser, argc, argv, &request);
    return gt_with_run(request.store, request.quiet, explain, &request);
}

const struct gt_command gt_command_explain = {
    "explain",
    "what bounds a run, where its time goes, what would help",
    run,
};
