/* import.c - `gridtide import`: turn a profile of another tool into a trace. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/input/recordings.h"
#include "sim/cmd/input/run_input.h"
#include "sim/workload/task_graph.h"
#include "traces/io/data_path.h"
#include "traces/jsonl/trace.h"
#include "traces/names/clean_text.h"
#include "traces/ranks/ranks.h"

struct arguments {
    const char *texts[1 + GT_MOST_RANKS]; /* as typed: [FORMAT] FILE... */
    uint32_t count;
    const char *output; /* NULL: made from the file's name */
    const char *keep;   /* NULL: nothing is kept */
    const char *execution_trace;
    bool warm_caches;
    bool quiet;
};

enum { OPTION_EXECUTION_TRACE = 256 };

static const struct argp_option options[] = {
    { "output", 'o', "TRACE", 0, "Trace to write; - is standard output; .gz and .zst compress", 0 },
    { "keep", 'k', "DIR", 0, "Unpack the ncu report into this new folder and keep it", 0 },
    { "execution-trace", OPTION_EXECUTION_TRACE, "ET", 0,
      "JSON of PyTorch's ExecutionTraceObserver for the Kineto profile: tells what operations "
      "read and write",
      0 },
    { "warm-caches", 'w', NULL, 0, "Launches were profiled with ncu --cache-control none (warm caches)", 0 },
    GT_OPTION_QUIET_FILE,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'o': arguments->output = text; return 0;
    case 'k': arguments->keep = text; return 0;
    case 'w': arguments->warm_caches = true; return 0;
    case 'q': arguments->quiet = true; return 0;
    case OPTION_EXECUTION_TRACE: arguments->execution_trace = text; return 0;
    case ARGP_KEY_ARG:
        if (arguments->count == sizeof arguments->texts / sizeof arguments->texts[0])
            argp_error(state, "at most %d files are allowed: remove '%s'", GT_MOST_RANKS, text);
        arguments->texts[arguments->count++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file to import"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The formats, below the options of --help. */
static char *help_filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t length;
    FILE *stream;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    stream = open_memstream(&help, &length);
    if (stream == NULL)
        gt_no_memory("a text");
    fputs("Formats:\n", stream);
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        fprintf(stream, "  %-9s %s\n", gt_importers[i]->name, gt_importers[i]->help);
    fputs("\nWithout FORMAT the format is detected from the file's first bytes. FILE may be "
          "compressed with gzip, zstd or xz. Without -o the trace is written to the current directory, "
          "named after the first FILE with the ending .jsonl.gz. Several files are the ranks of one "
          "job, one process each: they become one trace with aligned clocks, in which collectives "
          "wait for the last rank.",
          stream);
    fclose(stream);
    return help;
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "[FORMAT] FILE...",
    "Convert a profile, or the profiles of all ranks of a job, into a trace: host calls, "
    "kernels, copies, memsets, events and waits, with their measured times. Also converts a "
    "megakernel's task graph as its compiler wrote it: one launch of a kernel whose blocks "
    "execute the tasks.\v ",
    NULL, help_filter, NULL,
};
/* clang-format on */

static char *default_output(const char *path)
{
    char *stem = gt_path_stem(path), *output;

    output = gt_format("%s.jsonl.gz", stem);
    free(stem);
    return output;
}

/* How the first kernel that does the graph hands out its tasks. */
static const char *policy_of(const struct gt_workload *workload, uint32_t graph)
{
    for (uint32_t i = 0; i < workload->kernel_count; i++)
        if (workload->kernels[i].tasks == workload->task_graphs[graph])
            return gt_name_text(workload, workload->kernels[i].task_policy);
    return "of no kernel";
}

/* "  ranges      81: 4 steps, 60 operators, 17 annotations" */
static void print_ranges(FILE *out, const struct gt_workload *workload)
{
    static const enum gt_range_kind order[] = { GT_RANGE_STEP, GT_RANGE_MODULE, GT_RANGE_OPERATOR,
                                                GT_RANGE_ANNOTATION, GT_RANGE_NVTX };
    uint32_t counts[GT_RANGE_KINDS] = { 0 };
    const char *before = ": ";

    if (workload->range_count == 0)
        return;
    for (uint32_t i = 0; i < workload->range_count; i++)
        counts[workload->ranges[i].kind]++;
    fprintf(out, "  ranges      %" PRIu32, workload->range_count);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (counts[order[i]] == 0)
            continue;
        fprintf(out, "%s%" PRIu32 " %s%s", before, counts[order[i]], gt_range_kind_names[order[i]],
                order[i] == GT_RANGE_NVTX || counts[order[i]] == 1 ? "" : "s");
        before = ", ";
    }
    fputc('\n', out);
}

static void print_summary(FILE *out, const struct gt_workload *workload, const char *format)
{
    char *name = gt_clean_name(workload->name != NULL ? workload->name : "unnamed");
    char *device = gt_clean_name(workload->device != NULL ? workload->device : "");
    uint64_t ops[GT_OP_KINDS] = { 0 };

    for (uint32_t i = 0; i < workload->op_count; i++)
        ops[workload->ops[i].kind]++;
    fprintf(out, "%s (%s)\n", name, format);
    fprintf(out, "  operations  %" PRIu32 ": %" PRIu64 " kernels, %" PRIu64 " copies, %" PRIu64 " memsets",
            workload->op_count, ops[GT_OP_KERNEL], ops[GT_OP_COPY], ops[GT_OP_MEMSET]);
    if (ops[GT_OP_HOST_FUNCTION] > 0)
        fprintf(out, ", %" PRIu64 " host functions", ops[GT_OP_HOST_FUNCTION]);
    fprintf(out,
            "\n  calls       %" PRIu32 "\n  threads     %" PRIu32 "\n  streams     %" PRIu32
            "\n  GPUs        %" PRIu32 "\n",
            workload->call_count, workload->thread_count, workload->stream_count, workload->gpu_count);
    print_ranges(out, workload);
    for (uint32_t i = 0; i < workload->group_count; i++)
        fprintf(out, "  group       %s of %" PRIu32 " GPUs\n", gt_name_text(workload, workload->groups[i].name),
                workload->groups[i].size);
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        fprintf(out,
                "  tasks       %" PRIu32 ", "
                "%s\n",
                workload->task_graphs[i]->task_count, policy_of(workload, i));
    fprintf(out, "  device      %s\n",
            workload->device != NULL      ? device
            : workload->setting_count > 0 ? "no device file; described in the trace"
                                          : "unknown");
    free(name);
    free(device);
}

static int import(const struct gt_recordings *recordings, const struct arguments *arguments, const char *output)
{
    const struct gt_importer *importer;
    struct gt_error error;
    struct gt_workload *workload = gt_recordings_read(recordings, &importer, &error);
    int status;

    if (workload == NULL)
        return importer == NULL && recordings->format != NULL ? gt_usage("import", "%s", error.text)
                                                              : gt_fail(&error);
    status = gt_trace_write(workload, output, &error);
    if (status == 0 && !arguments->quiet) {
        FILE *out = strcmp(output, "-") == 0 ? stderr : stdout;

        gt_print_warnings(workload);
        print_summary(out, workload, importer->name);
        if (out == stdout)
            fprintf(out, "  written to  %s\n", output);
    }
    gt_workload_free(workload);
    return status == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

static bool is_format(const char *text)
{
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        if (strcmp(gt_importers[i]->name, text) == 0)
            return true;
    return false;
}

/* Is the first word a format, or, of several, meant as one: the name of no file, nor like one? */
static bool first_is_format(const struct arguments *arguments)
{
    const char *first = arguments->texts[0];
    bool missing = access(first, F_OK) != 0;

    if (arguments->count == 1)
        return is_format(first) && missing;
    return is_format(first) || (missing && strpbrk(first, "./") == NULL);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    struct gt_recordings recordings;
    uint32_t first;
    char *made;
    int status;

    gt_parse(&parser, argc, argv, &arguments);
    first = first_is_format(&arguments);
    if (first == arguments.count)
        return gt_usage("import", "name a file to import after '%s'", arguments.texts[0]);
    recordings = (struct gt_recordings){
        .format = first > 0 ? arguments.texts[0] : NULL,
        .paths = &arguments.texts[first],
        .count = arguments.count - first,
        .keep = arguments.keep,
        .execution_trace = arguments.execution_trace,
        .warm_caches = arguments.warm_caches,
        .quiet = arguments.quiet,
    };
    if (recordings.execution_trace != NULL && recordings.count > 1)
        return gt_usage("import", "--execution-trace needs exactly one profile");
    made = arguments.output == NULL ? default_output(recordings.paths[0]) : NULL;
    status = import(&recordings, &arguments, made != NULL ? made : arguments.output);
    free(made);
    return status;
}

const struct gt_command gt_command_import = {
    "import",
    "convert a profile, or a megakernel's task graph, into a trace",
    run,
};
