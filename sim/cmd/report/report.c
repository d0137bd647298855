/* report.c - `gridtide report`: what a store holds as a folder to open in a browser. */
#include <argp.h>

#include "plots/page/report.h"
#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/progress.h"

struct arguments {
    const char *store, *folder;
    bool quiet;
    struct gt_filter filter;
};

static const struct argp_option options[] = {
    { "output", 'o', "DIR", 0, "Folder to make; a former report there is replaced (required)", 0 },
    GT_OPTION_QUIET_FILE,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->filter; return 0;
    case 'o': arguments->folder = text; return 0;
    case 'q': arguments->quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "store", text, &arguments->store); return 0;
    case ARGP_KEY_END:
        if (arguments->store == NULL)
            argp_error(state, "name a store that 'gridtide run -o' wrote");
        if (arguments->folder == NULL)
            argp_error(state, "name the folder to make with -o DIR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db -o DIR",
    "Make a report of what a store holds: a folder whose index.html opens in any browser, with the answer in "
    "words and numbers, figures as SVG and PNG, and tables. It opens with what the store is about: one trace, "
    "simulated beside measured where it recorded times; a change, before and after; kernels in cycles; or the "
    "errors of many traces, with a page for each.\v"
    "The folder appears whole or not at all. An existing DIR is replaced when it is empty or a former "
    "report; anything else is left alone. gnuplot draws the figures.",
    gt_filter_children, NULL, NULL,
};
/* clang-format on */

static int make_report(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;
    struct gt_progress progress;
    int result;

    gt_progress_begin(&progress, "drawing", arguments->quiet);
    result = gt_report(store, arguments->folder, &arguments->filter, gt_progress_update, &progress, error);
    gt_progress_end(&progress);
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
    "what a store holds as a folder of pages to open in a browser",
    run,
};
