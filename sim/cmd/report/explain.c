/* explain.c - `gridtide explain`: a run's timeline, or one kernel launch. */
#include <argp.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/common.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/report/explain_parts.h"
#include "traces/io/child.h"
#include "traces/io/temporary.h"
#include "traces/names/clean_text.h"

/* What a command reads that explains a run: a store, or a trace, which is simulated first. */

extern char **environ;

/* SQLite's header has the application's number at byte 68: traces of Nsight Systems are SQLite files, too. */
enum { HEADER_BYTES = 72, APPLICATION_AT = 68 };
static const char sqlite[] = "SQLite format 3";
static const uint32_t application = 1196708164; /* as in traces/store/schema.sql */

/* Is it a file to read as a trace?  What is not there, and what is of no use as either, is left to the store's errors. */
static bool is_trace(const char *path)
{
    unsigned char header[HEADER_BYTES];
    uint32_t number;
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 ? fopen(path, "re") : NULL;
    size_t bytes;

    if (file == NULL)
        return false;
    bytes = fread(header, 1, sizeof header, file);
    fclose(file);
    if (bytes < sizeof sqlite || memcmp(header, sqlite, sizeof sqlite) != 0)
        return true;
    if (bytes < sizeof header) /* a damaged store, which the store says */
        return false;
    memcpy(&number, header + APPLICATION_AT, sizeof number); /* big-endian */
    return be32toh(number) != application;
}

/* `gridtide run` of this program, whose errors, warnings and progress go where ours do; its table goes nowhere.  Returns an
 * exit status. */
static int simulate(const char *trace, const char *store, bool quiet)
{
    char *self = (char *)"/proc/self/exe", *run = (char *)"run";
    char *const loud[] = { self, run, (char *)"-o", (char *)store, (char *)"--", (char *)trace, NULL };
    char *const quietly[] = {
        self, run, (char *)"-q", (char *)"-o", (char *)store, (char *)"--", (char *)trace, NULL
    };
    posix_spawn_file_actions_t actions;
    struct gt_error error;
    int status, failed;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    failed = gt_child_start(&child, &actions, quiet ? quietly : loud, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        gt_error_set(&error, "cannot start this program again to simulate %.200s: %s", trace, strerror(failed));
        return gt_fail(&error);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return GT_EXIT_FAILED;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    gt_error_set(&error, "the simulation of %.200s was killed by signal %d (%s)", trace, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return gt_fail(&error);
}

/* As gt_with_store(); where `path` is a file that is no store, it is taken for a trace: `gridtide run` simulates it, with
 * its defaults, into a store that is gone afterwards; `quiet`: without its progress, notes and warnings.  Returns an exit
 * status. */
static int with_run(const char *path, bool quiet, gt_store_work *work, const void *arguments)
{
    char *folder, *store;
    struct gt_error error;
    int result;

    if (!is_trace(path))
        return gt_with_store(path, work, arguments);
    folder = gt_temporary_folder("run", &error);
    if (folder == NULL)
        return gt_fail(&error);
    store = gt_format("%s/run.db", folder);
    result = simulate(path, store, quiet);
    if (result == GT_EXIT_DONE)
        result = gt_with_store(store, work, arguments);
    gt_temporary_remove(folder);
    free(store);
    free(folder);
    return result;
}

enum { TOP = 20, TOP_MAX = 100000, OPTION_TOP = 256, OPTION_GAP, OPTION_FULL, OPTION_NO_PREDICT };

/* Gaps below this are what lies between any two operations. */
static const gt_time_ps usual_gap_ps = 5 * UINT64_C(1000000);

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("summary, limit, breakdown, breakdown_ranks, breakdown_steps, host_while_idle, launch_tree, "
                    "critical_path, steps, operators, kernel_families, kernels, gaps, pairs, copies, blocked_calls, "
                    "ranks, findings, advised, launch, pipes, stalls, instructions, advice"),
    GT_OPTION_QUIET_ANSWER,
    { "full", OPTION_FULL, NULL, 0, "Print all tables, not only the summary", 0 },
    { "no-predict", OPTION_NO_PREDICT, NULL, 0, "Do not simulate the recommended changes", 0 },
    { "gap", OPTION_GAP, "US", 0, "List idle gaps of at least US microseconds (default 5); implies --full", 0 },
    { "top", OPTION_TOP, "N", 0,
      "Print at most the N largest rows of each list (default 20 in tables, all in CSV and JSON; "
      "20 instructions); implies --full",
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
        argp_error(state, "one kernel can be explained: '%s' is one too many", request->kernel);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct gt_explain_request *request = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &request->filter; return 0;
    case 'f': request->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'q': request->quiet = true; return 0;
    case OPTION_FULL: request->full = true; return 0;
    case OPTION_NO_PREDICT: request->no_predict = true; return 0;
    case OPTION_TOP:
        request->top = (unsigned)gt_option_number(state, "top", text, 1, TOP_MAX);
        request->top_given = true;
        request->full = true;
        return 0;
    case OPTION_GAP:
        request->least_gap_ps = parse_gap(state, text);
        request->full = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "one kernel can be explained: '%s' is one too many", text);
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
    "Show in a few lines what bounds a step of a run, where its time goes and what would help "
    "most. Each recommendation is simulated first and printed with its predicted gain. --full "
    "adds the critical path, idle gaps and their causes, kernels and copies that did not "
    "overlap, blocking calls, which operators launch which kernels, and all findings. With "
    "KERNEL, show where the cycles of one launch go: issue slots by pipe, stalls by reason and "
    "by instruction, profiler samples if the trace has them, and what would help.\vA TRACE is "
    "simulated first, as by 'gridtide run'. CSV and JSON always contain all tables. KERNEL is "
    "the number of a launch as listed by 'gridtide compare', or a kernel's name, mangled or "
    "not, or a part of it; if several launches match, the one with the most cycles is shown. "
    "The filters select a part of the timeline, or the launches among which KERNEL is "
    "searched. Causes come from the newest simulated run; a recording has none.",
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
    return with_run(request.store, request.quiet, explain, &request);
}

const struct gt_command gt_command_explain = {
    "explain",
    "show what bounds a run, where its time goes and what would help",
    run,
};

/* The first lines of `gridtide explain`: what bounds a step, where its time goes, what would help. */

enum { INDENT = 3 };

/* Kinds of time below this part of a step have no line for people. */
static const double least_share = 0.0005;

static void print_breakdown(FILE *out, const struct gt_breakdown *breakdown)
{
    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++) {
        double share = (double)breakdown->ps[kind] / (double)breakdown->total_ps;

        if (share >= least_share)
            fprintf(out, "  %-16s %9s %6.1f%%\n", gt_time_kind_labels[kind],
                    gt_time_said((double)breakdown->ps[kind] / (double)breakdown->counted).s, 100 * share);
    }
}

/* A paragraph, with names out of a trace made harmless; the text is freed. */
static void put(FILE *out, size_t indent, char *text)
{
    char *clean = gt_clean_name(text);

    gt_fold_print(out, indent, clean);
    free(clean);
    free(text);
}

static void print_finding(FILE *out, const struct gt_loaded_run *run, const struct gt_overview *overview, size_t i)
{
    const struct gt_overview_finding *row = &overview->findings[i];
    char *gain = gt_overview_gain_text(row), *ask = gt_overview_ask_text(run, overview, row);
    char *help = gt_overview_help_text(row);

    put(out, 0, gt_format("%zu. %s: %s", i + 1, row->finding->kind, row->finding->text));
    if (gain != NULL)
        put(out, INDENT, gain);
    else if (help != NULL)
        put(out, INDENT, gt_strdup(help));
    free(help);
    if (ask != NULL)
        put(out, INDENT, ask);
}

void gt_explain_print_overview(FILE *out, const struct gt_loaded_run *run, const struct gt_overview *overview,
                               const char *trust, const struct gt_explain_request *request)
{
    char *steps = gt_overview_steps_text(overview), *store = gt_shell_word(request->store);

    put(out, 0, gt_format("%s on %s: %s", run->trace, run->device.name, steps));
    if (overview->breakdown.total_ps > 0) {
        fprintf(out, "bound by %s: %.0f%% of %s\n\n", overview->bound_by, 100 * overview->bound_share,
                overview->breakdown.marked ? "a step" : "the run");
        print_breakdown(out, &overview->breakdown);
    }
    if (trust != NULL)
        fprintf(out, "trust %s\n", trust);
    putc('\n', out);
    for (size_t i = 0; i < overview->count; i++)
        print_finding(out, run, overview, i);
    if (overview->count == 0)
        fputs("no change is known that would gain 1% or more\n", out);
    if (overview->why_not != NULL)
        put(out, 0, gt_strdup(overview->why_not));
    putc('\n', out);
    if (!request->full)
        put(out, 0, gt_format("all tables: gridtide explain --full %s", store));
    free(steps);
    free(store);
}

struct gt_table *gt_explain_overview_table(const struct gt_loaded_run *run, const struct gt_overview *overview)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT }, { "bound_by", GT_COLUMN_TEXT },
        { "bound_by_pct", GT_COLUMN_NUMBER }, { "steps", GT_COLUMN_NUMBER }, { "step_us", GT_COLUMN_TIME },
        { "note", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    const struct gt_breakdown *breakdown = &overview->breakdown;
    bool known = breakdown->total_ps > 0;
    struct gt_table *table = gt_table_new("summary", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, run->trace);
    gt_table_text(table, run->device.name);
    gt_table_text(table, known ? overview->bound_by : NULL);
    gt_table_real(table, known ? 100 * overview->bound_share : NAN, 1);
    gt_table_integer(table, breakdown->marked ? (int64_t)breakdown->counted : 0);
    gt_table_real(table, known ? (double)breakdown->total_ps / (double)breakdown->counted / 1e6 : NAN, 3);
    gt_table_text(table, overview->why_not);
    return table;
}

struct gt_table *gt_explain_advised_table(const struct gt_loaded_run *run, const struct gt_overview *overview)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "finding", GT_COLUMN_TEXT }, { "about_us", GT_COLUMN_TIME }, { "gain_pct", GT_COLUMN_NUMBER },
        { "of", GT_COLUMN_TEXT }, { "baseline_us", GT_COLUMN_TIME }, { "predicted_us", GT_COLUMN_TIME }, { "interval_low_us", GT_COLUMN_TIME },
        { "interval_high_us", GT_COLUMN_TIME }, { "trust", GT_COLUMN_TEXT }, { "what", GT_COLUMN_WIDE },
        { "help", GT_COLUMN_WIDE }, { "ask", GT_COLUMN_WIDE },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("advised", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < overview->count; i++) {
        const struct gt_overview_finding *row = &overview->findings[i];
        char *ask = gt_overview_ask_text(run, overview, row);

        gt_table_text(table, row->finding->kind);
        gt_table_real(table, (double)row->finding->about_ps / 1e6, 3);
        gt_table_real(table, row->predicted ? row->gain_pct : NAN, 1);
        gt_table_text(table, !row->predicted ? NULL : row->prediction.of_step ? "step" : "run");
        gt_table_real(table, row->predicted ? row->prediction.baseline_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.predicted_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.low_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.high_us : NAN, 3);
        gt_table_text(table, row->predicted ? row->prediction.trust : NULL);
        gt_table_text(table, row->finding->text);
        gt_table_text(table, row->finding->help[0] != '\0' ? row->finding->help : NULL);
        gt_table_text(table, ask);
        free(ask);
    }
    return table;
}
