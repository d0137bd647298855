/* run.c - `gridtide run`: a trace and a device in, a store with the run out. */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/run_input.h"
#include "sim/cmd/run/run_parts.h"
#include "traces/io/data_path.h"

enum { STREAMS_MAX = 1024 };
enum {
    OPTION_SET = 256,
    OPTION_BLOCKS,
    OPTION_DETAIL,
    OPTION_STREAMS,
    OPTION_INDEPENDENT,
    OPTION_SERIALIZE,
    OPTION_GAPS,
    OPTION_SHARE
};

static const struct argp_option options[] = {
    { "set", OPTION_SET, "KEY=VALUE", 0, "Change a value of the device file; may be repeated", 0 },
    GT_OPTION_QUIET_FORMAT,
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("run, interval, assumptions, cycles, kernels"),
    { "output", 'o', "RUN.db", 0, "Store to write (default: the trace's name with .db, in the current directory)",
      0 },
    { "blocks", OPTION_BLOCKS, "on|off", 0,
      "Simulate the blocks of kernels on SMs (on, the default), or each kernel as one interval "
      "of fixed length",
      0 },
    { "gaps", OPTION_GAPS, "recorded|calibrated", 0,
      "Gaps and latencies on the GPU: as recorded (the default), or from the device file", 0 },
    { "detail", OPTION_DETAIL, "sampled|full", 0,
      "Kernels with machine code: simulate a sample of the blocks of long grids (the default), "
      "or every block",
      0 },
    { "streams", OPTION_STREAMS, "N", 0, "Distribute independent work over N streams", 0 },
    { "independent", OPTION_INDEPENDENT, "PATTERN", 0,
      "Kernel launches or ranges whose names match PATTERN do not depend on each other; may be "
      "repeated",
      0 },
    { "share", OPTION_SHARE, "sliced|mps[:PERCENT]|green:SMS|mig:PROFILE", 0,
      "How the processes of the traces share a GPU: in time slices, as MPS clients, or each on SMs of its own; "
      "a number per trace is separated by commas: mps:50,25",
      0 },
    { "serialize", OPTION_SERIALIZE, NULL, 0,
      "Serialize: each operation waits for the previous one, and the host waits for each", 0 },
    { 0 },
};

static void add_setting(struct argp_state *state, struct gt_run_arguments *arguments, char *text)
{
    if (strchr(text, '=') == NULL || text[0] == '=')
        argp_error(state, "--set requires KEY=VALUE, not '%s'", text);
    if (arguments->setting_count == GT_RUN_SETTINGS_MAX)
        argp_error(state, "--set is given more than %d times; write a device file", GT_RUN_SETTINGS_MAX);
    arguments->settings[arguments->setting_count++] = text;
}

static void add_trace(struct argp_state *state, struct gt_run_arguments *arguments, const char *text)
{
    if (arguments->trace_count == GT_SHARED_TRACES_MAX)
        argp_error(state, "more than %d traces", GT_SHARED_TRACES_MAX);
    arguments->traces[arguments->trace_count++] = text;
    arguments->trace = arguments->traces[0];
}

static void add_independent(struct argp_state *state, struct gt_run_arguments *arguments, const char *text)
{
    if (arguments->independent_count == GT_RUN_INDEPENDENT_MAX)
        argp_error(state, "--independent is given more than %d times; use * for any text", GT_RUN_INDEPENDENT_MAX);
    arguments->independent[arguments->independent_count++] = text;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct gt_run_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_SET: add_setting(state, arguments, text); return 0;
    case OPTION_SERIALIZE: arguments->options.serialize = true; return 0;
    case OPTION_BLOCKS:
        arguments->options.blocks = gt_option_either(state, "blocks", text, "on", "off") == 0;
        return 0;
    case OPTION_GAPS:
        arguments->options.calibrated_gaps = gt_option_either(state, "gaps", text, "recorded", "calibrated") == 1;
        return 0;
    case OPTION_DETAIL: arguments->full = gt_option_either(state, "detail", text, "sampled", "full") == 1; return 0;
    case OPTION_STREAMS:
        arguments->streams = (uint32_t)gt_option_number(state, "streams", text, 1, STREAMS_MAX);
        return 0;
    case OPTION_INDEPENDENT: add_independent(state, arguments, text); return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case 'f':
        arguments->format = gt_option_format(state, text);
        arguments->format_given = true;
        return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'o': arguments->output = text; return 0;
    case OPTION_SHARE: arguments->share = text; return 0;
    case ARGP_KEY_ARG: add_trace(state, arguments, text); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a trace to run"); return 0;
    case ARGP_KEY_END:
        if (arguments->trace_count > 1 && arguments->share == NULL)
            argp_error(state, "several traces share a GPU: say how with --share, or name one trace");
        if (arguments->options.serialize && arguments->streams > 0)
            argp_error(state, "--serialize and --streams exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "TRACE [TRACE...]",
    "Simulate a trace on a device; several traces beside each other, with --share. Write the simulated run, and the "
    "measured run if the trace "
    "was recorded, to an SQLite file for stats, compare, export and report.\vWith --streams, "
    "--set, --device, --serialize or --cost=program the trace is also simulated without these "
    "options, and the output shows the difference, what was scaled and the assumptions. If the trace has no "
    "recorded call times, the makespan has a 90% interval: gridtide-model(7). A profile that is not a Gridtide "
    "trace is imported first. "
    "'gridtide devices' lists the devices, 'gridtide devices --describe' the keys for --set.",
    gt_model_children, NULL, NULL,
};
/* clang-format on */

/* The options as they stand in the store: what it takes to get this run again; without what changes it.  `engine`: kernels that
 * last as their programs say do so with and without the change. */
static char *describe_options(const struct gt_run_arguments *arguments, bool changed, bool engine)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_no_memory("a text");
    fprintf(out, "blocks=%s seed=%" PRIu64, arguments->options.blocks ? "on" : "off", arguments->options.seed);
    if (arguments->options.program_cost && (changed || engine))
        fputs(" cost=program", out);
    if (arguments->share != NULL)
        fprintf(out, " share=%s", arguments->share);
    if (arguments->options.calibrated_gaps)
        fputs(" gaps=calibrated", out);
    if (arguments->options.no_inference)
        fputs(" infer=off", out);
    if (arguments->full)
        fputs(" detail=full", out);
    if (arguments->streams > 0 && changed)
        fprintf(out, " streams=%" PRIu32, arguments->streams);
    for (size_t i = 0; i < arguments->independent_count && arguments->streams > 0 && changed; i++)
        fprintf(out, " independent=%s", arguments->independent[i]);
    if (arguments->options.serialize && changed)
        fputs(" serialize=on", out);
    for (uint32_t i = 0; i < arguments->model.profiles.count; i++)
        fprintf(out, " programs=%s", arguments->model.profiles.paths[i]);
    if (arguments->model.task_costs != NULL)
        fprintf(out, " task-costs=%s", arguments->model.task_costs);
    for (size_t i = 0; i < arguments->setting_count && changed; i++)
        fprintf(out, " set=%s", arguments->settings[i]);
    fclose(out);
    return text;
}

static int apply_settings(struct gt_run_work *work)
{
    const struct gt_run_arguments *arguments = work->arguments;

    for (size_t i = 0; i < arguments->setting_count; i++) {
        char *equals = strchr(arguments->settings[i], '=');
        int result;

        *equals = '\0';
        result = gt_device_set(&work->asked.device, arguments->settings[i], equals + 1, work->error);
        *equals = '=';
        if (result != 0)
            return gt_error_prefix(work->error, "--set %s: ", arguments->settings[i]);
    }
    return gt_device_check(&work->asked.device, work->error);
}

/* The device of the run without the change: the one that the trace names.  Where it names none, or one that
 * nobody knows, --device says which GPU it is rather than which other one is asked for. */
static int choose_devices(struct gt_run_work *work)
{
    const struct gt_model_options *model = &work->arguments->model;
    struct gt_device *recorded = &work->asked.recorded;

    if (gt_run_device(work->workload, model->device, model->quiet, &work->asked.device, work->error) != 0)
        return -1;
    *recorded = work->asked.device;
    if (model->device != NULL && gt_run_traced_device(work->workload, recorded, work->error) != 0)
        return -1;
    work->without.device = work->without.recorded = *recorded;
    if (apply_settings(work) != 0)
        return -1;
    gt_run_warn_of_priorities(work->workload, &work->asked.device, model->quiet);
    return 0;
}

/* Does an option change the device or the streams?  What --serialize and --cost=program alone do is no change of the program.  Kernels
 * that have programs, and traces of which nothing was measured, are played on the changed device itself, unless streams are asked for. */
static bool asks_for_change(const struct gt_run_work *work)
{
    if (work->arguments->options.serialize)
        return false;
    return work->arguments->streams > 0 ||
           (!gt_run_same_device(&work->asked.device, &work->asked.recorded) && !gt_has_programs(work->workload) &&
            !isnan(gt_recorded_us(work->workload)));
}

static void prepare_variants(struct gt_run_work *work)
{
    work->asked.simulated = work->without.simulated = work->arguments->options;
    work->without.simulated.serialize = work->without.simulated.program_cost = false;
    work->asked.options = describe_options(work->arguments, true, work->engine.asked);
    work->without.options = describe_options(work->arguments, false, work->engine.asked);
    work->changed = gt_run_is_change(work);
}

static int prepare(struct gt_run_work *work)
{
    struct gt_run_arguments *arguments = work->arguments;
    char *base = gt_path_stem(arguments->trace);

    if (arguments->output != NULL)
        work->output = gt_strdup(arguments->output);
    else
        work->output = gt_format("%s.db", base);
    work->name = base;
    work->workload = gt_shared_read(arguments->traces, arguments->trace_count, arguments->share,
                                    arguments->model.quiet, work->error);
    if (work->workload == NULL ||
        gt_profiles_read(&arguments->model.profiles, arguments->model.quiet, work->error) != 0 ||
        choose_devices(work) != 0)
        return -1;
    if (work->workload->name != NULL && work->workload->name[0] != '\0') {
        free(work->name);
        work->name = gt_strdup(work->workload->name);
    }
    gt_profiles_attach(&arguments->model.profiles, work->workload, work->name, arguments->model.quiet);
    gt_shared_warn_of_mig(work->workload, arguments->model.quiet);
    if (arguments->trace_count > 1)
        gt_shared_warn(work->workload, arguments->model.quiet);
    if (arguments->options.program_cost && gt_profiles_check_cost(work->workload, work->error) != 0)
        return -1;
    if (gt_price_tasks(arguments->model.task_costs, work->workload, &work->asked.device, work->name,
                       arguments->model.quiet, work->error) != 0)
        return -1;
    if (asks_for_change(work) && !gt_run_gpu_modelled(work->workload))
        return gt_error_set(
            work->error,
            "%.300s: there is no model of the recorded GPU: its recorded durations can be replayed, but "
            "not with other streams or on another device",
            arguments->trace);
    if (asks_for_change(work) && gt_run_ask_engine(work) != 0)
        return -1;
    prepare_variants(work);
    return 0;
}

static void release(struct gt_run_work *work)
{
    gt_kernels_free(&work->kernels);
    gt_kernel_model_free(work->asked.modelled);
    gt_kernel_model_free(work->without.modelled);
    gt_workload_free(work->workload);
    gt_run_engine_free(&work->engine);
    gt_profiles_free(&work->arguments->model.profiles);
    free(work->name);
    free(work->output);
    free(work->asked.options);
    free(work->without.options);
}

static int run(int argc, char **argv)
{
    struct gt_run_arguments arguments = { .options = GT_OPTIONS_DEFAULT, .model = GT_MODEL_OPTIONS_DEFAULT };
    struct gt_error error = { "" };
    struct gt_run_work work = { .arguments = &arguments, .error = &error };
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    arguments.options.seed = arguments.model.seed;
    arguments.options.program_cost = arguments.model.program_cost;
    arguments.options.no_inference = arguments.model.no_inference;
    if (prepare(&work) != 0 || gt_run_fill_store(&work) != 0)
        status = gt_fail(&error);
    else if (!arguments.model.quiet || arguments.format_given || gt_tables_chosen())
        gt_run_print_result(&work);
    release(&work);
    return status;
}

const struct gt_command gt_command_run = {
    "run",
    "simulate a trace on a device",
    run,
};
