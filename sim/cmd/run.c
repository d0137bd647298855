/* run.c - `gridtide run`: a trace and a device in, a store with the run out. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cmd/cmd.h"
#include "sim/cmd/kernel_tables.h"
#include "sim/cmd/options.h"
#include "sim/cmd/progress.h"
#include "sim/cmd/run_input.h"
#include "sim/cmd/run_kernels.h"
#include "sim/cmd/table.h"
#include "sim/simulate.h"
#include "sim/workload/restream.h"
#include "traces/io/path_stem.h"
#include "traces/store/store.h"

enum { SETTINGS_MAX = 256, STREAMS_MAX = 1024 };

struct arguments {
    const char *trace, *output;
    char *settings[SETTINGS_MAX];         /* KEY=VALUE */
    size_t setting_count;
    struct gt_model_options model;
    struct gt_options options;
    uint32_t streams;                     /* 0: as traced */
    bool full;                            /* kernels' programs: every block, no extrapolation */
};

enum { OPTION_SET = 256, OPTION_BLOCKS, OPTION_DETAIL, OPTION_STREAMS, OPTION_SERIALIZE };

static const struct argp_option options[] = {
    {"set", OPTION_SET, "KEY=VALUE", 0, "Another value for a key of the device; may be repeated", 0},
    {"output", 'o', "RUN.db", 0, "Where the run goes (default: the trace's name and .db, here)", 0},
    {"blocks", OPTION_BLOCKS, "on|off", 0, "Kernels as blocks on SMs (on, the default) or as bars", 0},
    {"detail", OPTION_DETAIL, "sampled|full", 0, "Programs of kernels: long grids by a part of their blocks "
     "(the default), or every block", 0},
    {"streams", OPTION_STREAMS, "N", 0, "Deal the work over N streams", 0},
    {"serialize", OPTION_SERIALIZE, NULL, 0, "Every operation waits for the one before, the host for it", 0},
    {0},
};

static void add_setting(struct argp_state *state, struct arguments *arguments, char *text)
{
    if (strchr(text, '=') == NULL || text[0] == '=')
        argp_error(state, "--set takes KEY=VALUE, not '%s'", text);
    if (arguments->setting_count == SETTINGS_MAX)
        argp_error(state, "--set more than %d times; write a device file", SETTINGS_MAX);
    arguments->settings[arguments->setting_count++] = text;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_SET: add_setting(state, arguments, text); return 0;
    case OPTION_SERIALIZE: arguments->options.serialize = true; return 0;
    case OPTION_BLOCKS:
        arguments->options.blocks = gt_option_either(state, "blocks", text, "on", "off") == 0;
        return 0;
    case OPTION_DETAIL:
        arguments->full = gt_option_either(state, "detail", text, "sampled", "full") == 1;
        return 0;
    case OPTION_STREAMS:
        arguments->streams = (uint32_t)gt_option_number(state, "streams", text, 1, STREAMS_MAX);
        return 0;
    case 'o': arguments->output = text; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "trace", text, &arguments->trace); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a trace to run"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options, parse_option, "TRACE",
    "Simulate a trace on a device. The simulated run, and beside it the measured one where the trace "
    "recorded it, go into an SQLite file for stats, compare, export and report.\v"
    "A profile of another program is imported on the fly. "
    "'gridtide devices' lists the devices, 'gridtide devices --describe' the keys for --set.",
    gt_model_children, NULL, NULL,
};

/* One run of the command: what it works on. */
struct work {
    struct arguments *arguments;
    struct gt_workload *workload, *played; /* as traced; as an option changed it, or NULL */
    struct gt_device device, recorded;    /* simulated; that the trace's times are from */
    struct gt_store *store;
    struct gt_progress progress;
    char *name, *output, *options;
    int64_t device_id, trace_id, played_id, measured_run, simulated_run;
    struct gt_kernel_model *modelled;         /* NULL: no kernel has a program */
    double model_us;
    struct gt_comparison comparison;
    struct gt_kernels kernels;
    struct gt_error *error;
};

/* The options as they stand in the store: what it takes to get this run again. */
static char *describe_options(const struct arguments *arguments)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_bug("open_memstream failed");
    fprintf(out, "blocks=%s seed=%" PRIu64, arguments->options.blocks ? "on" : "off",
            arguments->options.seed);
    if (arguments->options.program_cost)
        fputs(" cost=program", out);
    if (arguments->full)
        fputs(" detail=full", out);
    if (arguments->streams > 0)
        fprintf(out, " streams=%" PRIu32, arguments->streams);
    if (arguments->options.serialize)
        fputs(" serialize=on", out);
    for (uint32_t i = 0; i < arguments->model.profiles.count; i++)
        fprintf(out, " programs=%s", arguments->model.profiles.paths[i]);
    for (size_t i = 0; i < arguments->setting_count; i++)
        fprintf(out, " set=%s", arguments->settings[i]);
    fclose(out);
    return text;
}

static int choose_device(struct work *work)
{
    const struct arguments *arguments = work->arguments;
    const struct gt_model_options *model = &arguments->model;

    if (gt_run_device(work->workload, model->device, model->quiet, &work->device, work->error) != 0)
        return -1;
    work->recorded = work->device;
    if (model->device != NULL && gt_run_traced_device(work->workload, &work->recorded, work->error) != 0)
        return -1;
    for (size_t i = 0; i < arguments->setting_count; i++) {
        char *equals = strchr(arguments->settings[i], '=');
        int result;

        *equals = '\0';
        result = gt_device_set(&work->device, arguments->settings[i], equals + 1, work->error);
        *equals = '=';
        if (result != 0)
            return gt_error_prefix(work->error, "--set %s: ", arguments->settings[i]);
    }
    if (gt_device_check(&work->device, work->error) != 0)
        return -1;
    gt_run_warn_of_priorities(work->workload, &work->device, model->quiet);
    return 0;
}

static bool same_file(const char *path, const char *other)
{
    struct stat one, two;

    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev
           && one.st_ino == two.st_ino;
}

/* The store replaces what is there: it must not be the trace or a profile. */
static int check_output(const struct work *work)
{
    const struct gt_profiles *profiles = &work->arguments->model.profiles;

    if (same_file(work->arguments->trace, work->output))
        return gt_error_set(work->error, "%s: is the trace itself; give -o another name", work->output);
    for (uint32_t i = 0; i < profiles->count; i++)
        if (same_file(profiles->paths[i], work->output))
            return gt_error_set(work->error, "%s: is a profile that --programs names; give -o another name",
                                work->output);
    return 0;
}

static int prepare(struct work *work)
{
    struct arguments *arguments = work->arguments;
    char *base = gt_path_stem(arguments->trace);

    if (arguments->output != NULL)
        work->output = strdup(arguments->output);
    else if (asprintf(&work->output, "%s.db", base) < 0)
        gt_bug("asprintf failed");
    work->options = describe_options(arguments);
    work->name = base;
    if (check_output(work) != 0)
        return -1;
    work->workload = gt_run_read(arguments->trace, arguments->model.quiet, work->error);
    if (work->workload == NULL
            || gt_profiles_read(&arguments->model.profiles, arguments->model.quiet, work->error) != 0
            || choose_device(work) != 0)
        return -1;
    if (work->workload->name != NULL && work->workload->name[0] != '\0') {
        free(work->name);
        work->name = strdup(work->workload->name);
    }
    gt_profiles_attach(&arguments->model.profiles, work->workload, work->name, arguments->model.quiet);
    if (arguments->options.program_cost && gt_profiles_check_cost(work->workload, work->error) != 0)
        return -1;
    if (arguments->streams > 0)
        work->played = gt_transform_streams(work->workload, arguments->streams);
    return 0;
}

/* The workload that an option made is a trace of its own, and its runs are held against the first's. */
static int define_played(struct work *work)
{
    char *name;

    work->played_id = work->trace_id;
    if (work->played == NULL)
        return 0;
    if (asprintf(&name, "%s (streams=%" PRIu32 ")", work->name, work->arguments->streams) < 0)
        gt_bug("asprintf failed");
    work->played_id = gt_store_put_trace(work->store, work->played, name, work->error);
    free(name);
    if (work->played_id < 0)
        return -1;
    return gt_store_base(work->store, work->played_id, work->trace_id, work->error);
}

static int define(struct work *work)
{
    work->device_id = gt_store_put_device(work->store, &work->device, work->error);
    if (work->device_id < 0)
        return -1;
    work->trace_id = gt_store_put_trace(work->store, work->workload, work->name, work->error);
    return work->trace_id < 0 ? -1 : define_played(work);
}

static int store_measured(struct work *work)
{
    struct gt_run_writer *writer = gt_run_writer_begin(work->store, work->trace_id, work->device_id, "measured", "", 0,
                                         work->workload, &work->device, work->error);
    int64_t operations = gt_measured_play(work->workload, gt_run_writer_probe(writer), work->error);

    gt_run_writer_keep_kernels(writer, NULL);
    if (operations < 0 || (operations == 0 && work->workload->profile_count == 0)) {
        gt_run_writer_free(writer);
        return operations == 0 ? 0 : -1;
    }
    gt_run_writer_counter(writer, "operations", (double)operations, work->error);
    work->measured_run = gt_run_writer_end(writer, work->error);
    return work->measured_run < 0 ? -1 : 0;
}

/* Kernels that have a program in cycles, before the timeline that may need them. */
static int model_kernels(struct work *work)
{
    if (!gt_has_programs(work->workload))
        return 0;
    gt_progress_begin(&work->progress, "modelling kernels", work->arguments->model.quiet);
    work->modelled = gt_run_kernels(work->workload, &work->device, work->arguments->full, &work->progress,
                                    &work->model_us, work->error);
    gt_progress_end(&work->progress);
    if (work->modelled == NULL)
        return -1;
    if (!work->arguments->model.quiet)
        gt_run_kernels_warn(work->workload, work->modelled);
    return 0;
}

static int store_counters(struct work *work, struct gt_run_writer *writer, const struct gt_summary *summary)
{
    const struct { const char *name; double value; } counters[] = {
        { "operations", (double)summary->operations },
        { "blocks", (double)summary->blocks },
        { "events", (double)summary->events },
        { "end_ps", (double)summary->end_ps },
    };

    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        if (gt_run_writer_counter(writer, counters[i].name, counters[i].value, work->error) != 0)
            return -1;
    if (work->modelled == NULL)
        return 0;
    gt_run_writer_keep_kernels(writer, work->modelled);
    return gt_run_writer_counter(writer, "model_us", work->model_us, work->error);
}

static int store_simulated(struct work *work)
{
    const struct gt_workload *workload = work->played != NULL ? work->played : work->workload;
    struct gt_options simulated = work->arguments->options;
    struct gt_summary summary;
    struct gt_run_writer *writer;

    simulated.played = work->played;
    simulated.recorded_on = &work->recorded;
    simulated.modelled = work->modelled;
    writer = gt_run_writer_begin(work->store, work->played_id, work->device_id, "simulated", work->options, 0,
                         workload, &work->device, work->error);
    gt_progress_begin(&work->progress, "simulating", work->arguments->model.quiet);
    if (gt_simulate(work->workload, &work->device, &simulated, gt_run_writer_probe(writer), &summary,
                    work->error) != 0 || store_counters(work, writer, &summary) != 0) {
        gt_progress_end(&work->progress);
        gt_run_writer_free(writer);
        return -1;
    }
    gt_progress_end(&work->progress);
    gt_progress_begin(&work->progress, "storing", work->arguments->model.quiet);
    work->simulated_run = gt_run_writer_end(writer, work->error);
    return work->simulated_run < 0 ? -1 : 0;
}

static int compare(struct work *work)
{
    if (gt_compare(work->store, work->simulated_run, work->measured_run, &work->comparison, work->error) != 0
            || gt_kernels_load(work->store, work->simulated_run, work->measured_run, &work->kernels,
                               work->error) != 0)
        return -1;
    if (work->measured_run == 0)
        return 0;
    return gt_store_comparison(work->store, work->simulated_run, work->measured_run, &work->comparison,
                               work->error);
}

/* Anything but the recorded run again: its distance from what was measured is a change, not an error. */
static bool asks_what_if(const struct arguments *arguments)
{
    return arguments->setting_count > 0 || arguments->streams > 0 || arguments->options.serialize
           || arguments->model.device != NULL;
}

/* More launches than this are left to compare. */
enum { KERNELS_SHOWN = 200 };

static void print_result(const struct work *work)
{
    size_t count = work->kernels.count == 0 ? 1 : work->kernels.count <= KERNELS_SHOWN ? 3 : 2;
    bool what_if = asks_what_if(work->arguments);
    const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT }, { "operations", GT_COLUMN_NUMBER },
        { "makespan_measured_us", GT_COLUMN_NUMBER }, { "makespan_simulated_us", GT_COLUMN_NUMBER },
        { what_if ? "makespan_change_pct" : "makespan_error_pct", GT_COLUMN_NUMBER },
        { what_if ? "start_change_median_us" : "start_error_median_us", GT_COLUMN_NUMBER },
        { "gpu_busy_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("run", columns, sizeof columns / sizeof columns[0]);
    struct gt_table *tables[] = { table, gt_kernel_error_table(&work->kernels),
                                  gt_kernel_rows_table(&work->kernels) };
    const struct gt_comparison *comparison = &work->comparison;

    gt_table_single(table);
    gt_table_text(table, work->name);
    gt_table_text(table, work->device.name);
    gt_table_integer(table, (int64_t)(comparison->kernels + comparison->copies + comparison->memsets));
    gt_table_real(table, comparison->makespan_measured_us, 3);
    gt_table_real(table, comparison->makespan_simulated_us, 3);
    gt_table_real(table, comparison->makespan_error_pct, 3);
    gt_table_real(table, comparison->start_error_us.median, 3);
    gt_table_real(table, comparison->busy_simulated_pct, 1);
    gt_tables_print(stdout, GT_FORMAT_TABLE, tables, count);
    if (count == 2)
        fprintf(stderr, "gridtide: %" PRIu32 " launches have cycles: 'gridtide compare' lists them\n",
                work->kernels.count);
    for (int i = 0; i < 3; i++)
        gt_table_free(tables[i]);
}

static int fill_store(struct work *work)
{
    int result;

    work->store = gt_store_create(work->output, work->error);
    if (work->store == NULL)
        return -1;
    gt_store_watch(work->store, gt_progress_update, &work->progress);
    gt_progress_begin(&work->progress, "storing", work->arguments->model.quiet);
    result = define(work);
    if (result == 0)
        result = store_measured(work);
    gt_progress_end(&work->progress);
    if (result == 0)
        result = model_kernels(work);
    if (result == 0)
        result = store_simulated(work);
    if (result == 0)
        result = compare(work);
    gt_progress_end(&work->progress);
    if (result != 0) {
        gt_store_abandon(work->store);
        return -1;
    }
    return gt_store_commit(work->store, work->error);
}

static void release(struct work *work)
{
    gt_kernels_free(&work->kernels);
    gt_kernel_model_free(work->modelled);
    gt_workload_free(work->workload);
    gt_workload_free(work->played);
    gt_profiles_free(&work->arguments->model.profiles);
    free(work->name);
    free(work->output);
    free(work->options);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .options = GT_OPTIONS_DEFAULT, .model = GT_MODEL_OPTIONS_DEFAULT };
    struct gt_error error = { "" };
    struct work work = { .arguments = &arguments, .error = &error };
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    arguments.options.seed = arguments.model.seed;
    arguments.options.program_cost = arguments.model.program_cost;
    if (prepare(&work) != 0 || fill_store(&work) != 0)
        status = gt_fail(&error);
    else if (!arguments.model.quiet)
        print_result(&work);
    release(&work);
    return status;
}

const struct gt_command gt_command_run = {
    "run", "simulate a trace on a device", run,
};
