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
    { "full", OPTION_FULL, NULL, 0, "Print every table, not only the summary", 0 },
    { "no-predict", OPTION_NO_PREDICT, NULL, 0, "Do not predict the gains of recommended changes", 0 },
    { "gap", OPTION_GAP, "US", 0, "List idle gaps of at least US microseconds (default 5); implies --full", 0 },
    { "top", OPTION_TOP, "N", 0,
      "Print at most the N largest rows of each list (default: 20 in tables, all in CSV and JSON; always 20 for "
      "instructions); implies --full",
      0 },
    { 0 },
};

static gt_time_ps parse_gap(const struct argp_state *state, const char *text)
{
    char *end;
    double us = strtod(text, &end);

    if (end == text || *end != '\0' || !(us >= 0) || us > (double)GT_TIME_LIMIT_PS / 1e6)
        argp_error(state, "--gap requires microseconds, not '%s'", text);
    return (gt_time_ps)llround(us * 1e6);
}

static void check_kernel(const struct gt_explain_request *request, const struct argp_state *state)
{
    if (request->filter.kernel != NULL && request->kernel != NULL)
        argp_error(state, "only one kernel is allowed: remove '%s'", request->kernel);
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
            argp_error(state, "only one kernel is allowed: remove '%s'", text);
        *(state->arg_num == 0 ? &request->store : &request->kernel) = text;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a trace, or a store that 'gridtide run' wrote"); return 0;
    case ARGP_KEY_SUCCESS: check_kernel(request, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db|TRACE [KERNEL]",
    "Explain in a few lines what bounds a step of a run, where its time goes, and which changes help most, each "
    "with its predicted gain. --full adds the critical path, idle gaps and their causes, kernels and copies that "
    "did not overlap, blocking calls, which operators launch which kernels, and all findings. With KERNEL, "
    "explain where the cycles of one launch go: issue by pipe, stalls by reason and by instruction (beside the "
    "profiler's samples, if the trace has them), and what would help.\v"
    "A TRACE is simulated first, as by 'gridtide run'. CSV and JSON always have every table. KERNEL is the number "
    "of a launch from 'gridtide compare', or a kernel name, mangled or demangled, or a part of one; if several "
    "launches match, the one with the most cycles is explained. The filters --from, --to, --stream, --kernel and "
    "--step select a part of the timeline, or the launches among which KERNEL is searched. Causes come from the "
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
    "explain what bounds a run and what would help",
    run,
};
