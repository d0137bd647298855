/* report.c - `gridtide report`: what a store holds as a folder to open in a browser. */
#include <argp.h>

#include "plots/page/report.h"
#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/report/predict.h"

struct arguments {
    const char *store, *folder;
    bool quiet, no_predict;
    struct gt_filter filter;
};

enum { OPTION_NO_PREDICT = 256 };

static const struct argp_option options[] = {
    { "no-predict", OPTION_NO_PREDICT, NULL, 0, "Do not simulate the recommended changes", 0 },
    { "output", 'o', "DIR", 0, "Folder to write; an earlier report there is replaced (required)", 0 },
    GT_OPTION_QUIET_FILE,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->filter; return 0;
    case 'o': arguments->folder = text; return 0;
    case OPTION_NO_PREDICT: arguments->no_predict = true; return 0;
    case 'q': arguments->quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "store", text, &arguments->store); return 0;
    case ARGP_KEY_END:
        if (arguments->store == NULL)
            argp_error(state, "name a store that 'gridtide run' wrote");
        if (arguments->folder == NULL)
            argp_error(state, "name the folder to write with -o DIR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db -o DIR",
    "Write an HTML report of the runs in a store: a folder with index.html, figures (SVG and "
    "PNG) and tables. The report of one trace begins with what bounds a step, where its time "
    "goes and what would help most, as 'gridtide explain' prints it. Other reports begin with "
    "the subject of the store: a change, before and after; kernels in cycles; or the errors of "
    "many traces, with a page for each.\vThe folder is written completely or not at all. An "
    "existing DIR is replaced if it is empty or an earlier report; any other folder is "
    "refused. The figures need gnuplot.",
    gt_filter_children, NULL, NULL,
};
/* clang-format on */

/* Who predicts for the store's newest simulated run, where it has one. */
static struct gt_predicting *begin_predicting(struct gt_store *store, const struct arguments *arguments,
                                              struct gt_predictor *predictor, int64_t *run_id)
{
    struct gt_error none;

    *run_id = arguments->no_predict ? -1 : gt_stats_find_run(gt_store_database(store), "simulated", &none);
    return *run_id < 0 ? NULL : gt_predicting_begin(store, *run_id, arguments->quiet, predictor, &none);
}

static int make_report(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;
    struct gt_predictor predictor = { .predict = NULL };
    struct gt_progress progress;
    int64_t run_id;
    struct gt_predicting *predicting = begin_predicting(store, arguments, &predictor, &run_id);
    int result;

    gt_progress_begin(&progress, "drawing", arguments->quiet);
    result = gt_report(store, arguments->folder, &arguments->filter, predicting != NULL ? &predictor : NULL, run_id,
                       gt_progress_update, &progress, error);
    gt_progress_end(&progress);
    gt_predicting_end(predicting);
    if (result == 0 && !arguments->quiet)
        printf("%s/index.html\n", arguments->folder);
    return result;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .filter = GT_FILTER_ALL };

    gt_parse(&parser, argc, argv, &arguments);
    return gt_with_store(arguments.store, make_report, &arguments);
}

const struct gt_command gt_command_report = {
    "report",
    "write an HTML report of the runs in a store",
    run,
};
