/* record.c - `gridtide record`: run a program, keep all that it asked of its GPUs as a trace. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plots/figures/gnuplot.h"
#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/input/run_input.h"
#include "sim/cmd/trace/record_parts.h"
#include "traces/io/data_path.h"
#include "traces/io/temporary.h"
#include "traces/jsonl/trace.h"
#include "traces/recorded/recorded.h"

enum { MOST_SECONDS = 1000000 };

struct arguments {
    struct gt_recording recording;
    const char *output, *report, *keep;
    enum gt_record_cost_source cost;
    bool quiet, from_given;
};

enum { OPTION_REPORT = 256, OPTION_DELAY, OPTION_DURATION, OPTION_FROM, OPTION_RANGE, OPTION_KEEP, OPTION_COST };
static const struct argp_option options[] = {
    { "output", 'o', "TRACE", 0, "Trace to write (default: recording.jsonl.gz); .gz and .zst compress", 0 },
    { "report", OPTION_REPORT, "DIR", 0, "Also simulate and explain the trace, and write a report to DIR", 0 },
    { "delay", OPTION_DELAY, "SECONDS", 0, "Begin this many seconds after the first CUDA call", 0 },
    { "duration", OPTION_DURATION, "SECONDS", 0, "Record for this many seconds", 0 },
    { "from", OPTION_FROM, "start|profiler|signal", 0,
      "What to record: the whole run (start, the default), between cudaProfilerStart and "
      "cudaProfilerStop (profiler), or between two SIGUSR2 (signal)",
      0 },
    { "range", OPTION_RANGE, "NAME", 0, "Record only while an NVTX range [DOMAIN:]NAME is open", 0 },
    { "cost", OPTION_COST, "cached|measure|none", 0,
      "Recording overhead on this machine: from the last measurement if there is one (cached, the "
      "default), measured now (measure), or ignored (none)",
      0 },
    { "keep", OPTION_KEEP, "DIR", 0, "Keep the recorder's raw files in this folder", 0 },
    GT_OPTION_QUIET_FILE,
    { 0 },
};

/* "1.5", in thousandths. */
static uint64_t read_seconds(const struct argp_state *state, const char *name, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds >= 0 && seconds <= MOST_SECONDS))
        argp_error(state, "--%s: '%s' is not a time: give seconds from 0 to %d", name, text, MOST_SECONDS);
    return (uint64_t)(seconds * 1000 + 0.5);
}

/* The number of `text` among words; else the program ends. */
static int read_word(const struct argp_state *state, const char *option, const char *text, const char *const *words,
                     int count, const char *all)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    argp_error(state, "--%s: '%s' is not one of %s", option, text, all);
    return 0;
}

static void read_from(const struct argp_state *state, struct arguments *arguments, const char *text)
{
    static const char *const words[] = { "start", "profiler", "signal" };

    arguments->recording.from = words[read_word(state, "from", text, words, 3, "start, profiler, signal")];
    arguments->from_given = true;
}

static void read_cost(const struct argp_state *state, struct arguments *arguments, const char *text)
{
    static const char *const words[] = {
        [GT_RECORD_COST_CACHED] = "cached", [GT_RECORD_COST_MEASURED] = "measure", [GT_RECORD_COST_NONE] = "none"
    };

    arguments->cost = (enum gt_record_cost_source)read_word(state, "cost", text, words, 3, "cached, measure, none");
}

static void check(const struct argp_state *state, struct arguments *arguments)
{
    struct gt_recording *recording = &arguments->recording;

    if (recording->range != NULL && arguments->from_given)
        argp_error(state, "--range and --from both select when to record: give one of them");
    if (recording->range != NULL)
        recording->from = "range";
    if (strcmp(recording->from, "start") != 0 && (recording->delay_ms > 0 || recording->duration_ms > 0))
        argp_error(state, "--delay and --duration require --from start");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'o': arguments->output = text; return 0;
    case OPTION_REPORT: arguments->report = text; return 0;
    case OPTION_KEEP: arguments->keep = text; return 0;
    case 'q': arguments->quiet = true; return 0;
    case OPTION_DELAY: arguments->recording.delay_ms = read_seconds(state, "delay", text); return 0;
    case OPTION_DURATION: arguments->recording.duration_ms = read_seconds(state, "duration", text); return 0;
    case OPTION_COST: read_cost(state, arguments, text); return 0;
    case OPTION_FROM: read_from(state, arguments, text); return 0;
    case OPTION_RANGE: arguments->recording.range = text; return 0;
    case ARGP_KEY_ARG: /* the program: all behind it is its own */
        arguments->recording.program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a program"); return 0;
    case ARGP_KEY_END: check(state, arguments); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse_option,
    "[--] PROGRAM [ARGUMENT...]",
    "Run a CUDA program and record its CUDA calls, streams, events and waits, graphs with "
    "their edges, memory, copies and kernels, with their times. Child processes are recorded "
    "into the same trace.\vThe program's behaviour does not change. If it is killed, what was "
    "recorded until then is kept. Recording is impossible while another profiler uses CUPTI.",
    NULL,
    NULL,
    NULL,
};

static void print_summary(const struct gt_workload *workload, const char *output)
{
    uint64_t ops[GT_OP_KINDS] = { 0 };

    for (uint32_t i = 0; i < workload->op_count; i++)
        ops[workload->ops[i].kind]++;
    printf("recorded: %" PRIu64 " kernels, %" PRIu64 " copies, %" PRIu64 " memsets, %" PRIu64
           " host functions, %" PRIu32 " calls, %" PRIu32 " threads, %" PRIu32 " streams, %" PRIu32 " GPUs\n",
           ops[GT_OP_KERNEL], ops[GT_OP_COPY], ops[GT_OP_MEMSET], ops[GT_OP_HOST_FUNCTION], workload->call_count,
           workload->thread_count, workload->stream_count, workload->gpu_count);
    printf("written to %s\n", output);
}

static int write_trace(const char *folder, const struct arguments *arguments, struct gt_error *error)
{
    const struct gt_import_options import = { .input = NULL };
    struct gt_workload *workload = gt_importer_recorded.read(folder, &import, error);
    int status;

    if (workload == NULL)
        return -1;
    free(workload->name);
    workload->name = gt_path_stem(arguments->recording.program[0]);
    if (workload->call_count == 0) {
        gt_print_warnings(workload);
        gt_workload_free(workload);
        return gt_error_set(error, "no CUDA call of %s was recorded", arguments->recording.program[0]);
    }
    status = gt_trace_write(workload, arguments->output, error);
    if (status == 0 && !arguments->quiet) {
        gt_print_warnings(workload);
        print_summary(workload, arguments->output);
    }
    gt_workload_free(workload);
    return status;
}

/* How the program ended, where that was not well. */
static int tell_end(const struct arguments *arguments, int status)
{
    const char *program = arguments->recording.program[0];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return GT_EXIT_DONE;
    if (WIFSIGNALED(status))
        fprintf(stderr, "gridtide: %s was killed by signal %d (%s)\n", program, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "gridtide: %s exited with status %d\n", program, WEXITSTATUS(status));
    return GT_EXIT_FAILED;
}

/* Linux's kernel has one, or Windows' for it. */
static bool has_driver(void)
{
    return access("/proc/driver/nvidia", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

/* Can the trace be written when the program has ended, which may be hours from now? */
static int check_output(const char *output, struct gt_error *error)
{
    const char *slash = strrchr(output, '/');
    char *folder = slash == NULL     ? gt_format(".")
                   : slash == output ? gt_format("/")
                                     : gt_format("%.*s", (int)(slash - output), output);
    struct stat found;
    int status = access(folder, W_OK);

    if (status != 0)
        gt_error_set(error, "%s: cannot write: %s: %s", output, folder, strerror(errno));
    else if (stat(output, &found) == 0 && S_ISDIR(found.st_mode))
        status = gt_error_set(error, "%s: this is a folder; name a file for the trace", output);
    free(folder);
    return status;
}

/* The program's end and the trace; what the recorder wrote lies in `folder`. */
static int record(const struct arguments *arguments, const char *library, const char *folder)
{
    struct gt_error error;
    int ended = 0, status;

    if (gt_record_run(&arguments->recording, library, folder, &ended, &error) != 0)
        return gt_fail(&error);
    status = tell_end(arguments, ended);
    if (gt_importer_recorded.sniff_folder(folder) == 0) {
        gt_error_set(&error, "%s made no successful CUDA call, so there is nothing to record%s",
                     arguments->recording.program[0], has_driver() ? "" : "; this machine has no NVIDIA driver");
        return gt_fail(&error);
    }
    gt_record_find_cost(library, arguments->cost, folder);
    if (write_trace(folder, arguments, &error) != 0 ||
        (arguments->report != NULL &&
         gt_record_report(arguments->output, arguments->report, arguments->quiet, &error) != 0))
        return gt_fail(&error);
    return status;
}

/* Where the recorder's files go: malloced, temporary unless it is to be kept; NULL. */
static char *make_folder(const char *keep, struct gt_error *error)
{
    char *path;

    if (keep == NULL)
        return gt_temporary_folder("record", error);
    if (mkdir(keep, 0777) != 0 && errno != EEXIST) {
        gt_error_set(error, "cannot create the folder %s: %s", keep, strerror(errno));
        return NULL;
    }
    if (gt_importer_recorded.sniff_folder(keep) > 0) {
        gt_error_set(error, "%s: already contains a recording; name another folder", keep);
        return NULL;
    }
    path = realpath(keep, NULL); /* the program may go elsewhere */
    if (path == NULL)
        gt_error_set(error, "%s: %s", keep, strerror(errno));
    return path;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .recording = { .from = "start" }, .output = "recording.jsonl.gz" };
    struct gt_error error;
    char *library, *folder;
    int status;

    gt_parse_in_order(&parser, argc, argv, &arguments);
    library = gt_recorder_library(&error);
    if (library == NULL || check_output(arguments.output, &error) != 0 ||
        (arguments.report != NULL && gt_drawing_possible(&error) != 0)) {
        free(library);
        return gt_fail(&error);
    }
    folder = make_folder(arguments.keep, &error);
    status = folder == NULL ? gt_fail(&error) : record(&arguments, library, folder);
    if (folder != NULL && arguments.keep == NULL)
        gt_temporary_remove(folder);
    free(folder);
    free(library);
    return status;
}

const struct gt_command gt_command_record = {
    "record",
    "run a CUDA program and write a trace of it",
    run,
};
