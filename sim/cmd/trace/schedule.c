/* schedule.c - `gridtide schedule`: who does what when is decided before anything runs, and written as a trace. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/devices/occupancy.h"
#include "sim/schedule/form.h"
#include "sim/schedule/policy.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"
#include "traces/operators/operators.h"

enum { MOST_WORKERS = 65536, MOST_STREAMS = 1024, USUAL_STREAMS = 4, PS_PER_US = 1000000 };

enum { OPTION_AS = 0x100, OPTION_BARRIERS, OPTION_DEVICE, OPTION_STREAMS };

struct arguments {
    const char *path, *output, *policy, *device;
    const struct gt_form *form;
    uint32_t workers; /* 0: as many as are resident */
    uint32_t streams;
    enum gt_barriers barriers;
    enum gt_format format;
};

static const struct argp_option options[] = {
    { "policy", 'p', "NAME", 0, "Scheduling policy: see below; quote it if it has parameters", 0 },
    { "workers", 'w', "COUNT", 0, "Number of workers (default: as many per SM as the graph states)", 0 },
    { "barriers", OPTION_BARRIERS, "fine|global", 0,
      "A task waits for the operators that its own depends on (fine, the default), or all "
      "workers wait for each other between waves (global)",
      0 },
    { "as", OPTION_AS, "rprogram|stream|streams|graph", 0, "Form of the trace: see below", 0 },
    { "streams", OPTION_STREAMS, "COUNT", 0, "Number of streams for --as=streams (default: 4)", 0 },
    { "device", OPTION_DEVICE, "NAME", 0, "Device file: number of SMs, gaps, and which of the graph's times to use",
      0 },
    { "output", 'o', "TRACE", 0, "Trace to write; - is standard output; .gz and .zst compress", 0 },
    GT_OPTION_FORMAT,
    { 0 },
};

static const struct gt_form *find_form(const struct argp_state *state, const char *text)
{
    struct gt_error error;
    const struct gt_form *form = gt_named_find(gt_forms, gt_form_count, sizeof gt_forms[0], "--as", text, &error);

    if (form == NULL)
        argp_error(state, "%s", error.text);
    return form;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'p': arguments->policy = text; return 0;
    case 'w': arguments->workers = (uint32_t)gt_option_number(state, "workers", text, 1, MOST_WORKERS); return 0;
    case OPTION_BARRIERS:
        arguments->barriers =
            (enum gt_barriers)gt_option_either(state, "barriers", text, gt_barriers_names[0], gt_barriers_names[1]);
        return 0;
    case OPTION_AS: arguments->form = find_form(state, text); return 0;
    case OPTION_STREAMS:
        arguments->streams = (uint32_t)gt_option_number(state, "streams", text, 1, MOST_STREAMS);
        return 0;
    case OPTION_DEVICE: arguments->device = text; return 0;
    case 'o': arguments->output = text; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "graph", text, &arguments->path); return 0;
    case ARGP_KEY_END:
        if (arguments->path == NULL)
            argp_error(state, "name an operator graph");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Policies and forms, below the options of --help. */
static char *help_filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t length;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    out = open_memstream(&help, &length);
    if (out == NULL)
        gt_no_memory("a text");
    fputs("Policies:\n", out);
    for (size_t i = 0; i < gt_schedule_policy_count; i++)
        fprintf(out, "  %-12s %s\n", gt_schedule_policies[i].named.name, gt_schedule_policies[i].named.help);
    fputs("\nForms:\n", out);
    for (size_t i = 0; i < gt_form_count; i++)
        fprintf(out, "  %-12s %s\n", gt_forms[i].named.name, gt_forms[i].named.help);
    fclose(out);
    return help;
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "GRAPH",
    "Assign a network's tasks to workers, in a fixed order, ahead of time, and write the "
    "result as a trace for `gridtide run` and `gridtide validate`; or write the same network "
    "as kernel launches.\v ",
    NULL, help_filter, NULL,
};
/* clang-format on */

static double us(gt_time_ps time_ps)
{
    return (double)time_ps / PS_PER_US;
}

static void print_summary(FILE *out, const struct arguments *arguments, const struct gt_form_input *input,
                          const struct gt_form_size *size)
{
    static const struct gt_column columns[] = {
        { "graph", GT_COLUMN_TEXT },
        { "form", GT_COLUMN_TEXT },
        { "policy", GT_COLUMN_TEXT },
        { "barriers", GT_COLUMN_TEXT },
        { "workers", GT_COLUMN_NUMBER },
        { "operators", GT_COLUMN_NUMBER },
        { "waves", GT_COLUMN_NUMBER },
        { "tasks", GT_COLUMN_NUMBER },
        { "launches", GT_COLUMN_NUMBER },
        { "counters", GT_COLUMN_NUMBER },
        { "waits", GT_COLUMN_NUMBER },
        { "work_us", GT_COLUMN_NUMBER },
        { "critical_path_us", GT_COLUMN_NUMBER },
        { "planned_us", GT_COLUMN_NUMBER },
        { "planned_utilisation_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("schedule", columns, sizeof columns / sizeof columns[0]);
    struct gt_plan_size plan = { 0 };

    if (input->plan != NULL)
        plan = gt_plan_measure(input->plan);
    gt_table_single(table);
    gt_table_text(table, input->graph->name);
    gt_table_text(table, arguments->form->named.name);
    gt_table_text(table, input->plan != NULL ? arguments->policy : NULL);
    gt_table_text(table, input->plan != NULL ? gt_barriers_names[arguments->barriers] : NULL);
    gt_table_integer(table, input->workers);
    gt_table_integer(table, input->graph->operator_count);
    gt_table_integer(table, input->graph->levels);
    gt_table_integer(table, (int64_t)size->tasks);
    gt_table_integer(table, (int64_t)size->launches);
    gt_table_integer(table, (int64_t)size->counters);
    gt_table_integer(table, (int64_t)size->waits);
    gt_table_real(table, us(size->work_ps), 1);
    gt_table_real(table, input->plan != NULL ? us(plan.critical_path_ps) : (double)NAN, 1);
    gt_table_real(table, input->plan != NULL ? us(plan.end_ps) : (double)NAN, 1);
    gt_table_real(table, plan.end_ps > 0 ? 100 * us(plan.work_ps) / us(plan.end_ps) / input->workers : (double)NAN,
                  1);
    gt_tables_print(out, arguments->format, &table, 1);
    gt_table_free(table);
}

static int write_form(const struct arguments *arguments, const struct gt_form_input *input, struct gt_error *error)
{
    struct gt_form_size size;
    struct gt_workload *trace = gt_form_write(arguments->form, input, &size);
    bool to_output = arguments->output != NULL && strcmp(arguments->output, "-") == 0;
    int status = arguments->output != NULL ? gt_trace_write(trace, arguments->output, error) : 0;

    if (status == 0)
        print_summary(to_output ? stderr : stdout, arguments, input, &size);
    gt_workload_free(trace);
    return status;
}

/* What workers are resident on. */
struct room {
    const struct gt_device *device;
    uint32_t block_threads;
};

static int find_occupancy(const struct room *room, uint32_t registers_per_thread, uint32_t shared_bytes,
                          struct gt_occupancy *occupancy, struct gt_error *error)
{
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 },
        .block = { room->block_threads, 1, 1 },
        .cluster = { 1, 1, 1 },
        .registers_per_thread = registers_per_thread,
        .static_shared_bytes = shared_bytes,
    };

    return gt_occupancy_of(room->device, &kernel, occupancy, error);
}

static uint32_t resident(const void *user, uint32_t registers_per_thread, uint32_t shared_bytes)
{
    const struct room *room = user;
    struct gt_occupancy occupancy;

    /* What all of a program's tasks ask for together may be more than an SM has: each by itself has been checked. */
    if (find_occupancy(room, registers_per_thread, shared_bytes, &occupancy, NULL) != 0)
        return 1;
    return occupancy.blocks_per_sm * room->device->sms;
}

static int check_fits(const struct gt_operator_graph *graph, const struct room *room, struct gt_error *error)
{
    struct gt_occupancy occupancy;

    for (uint32_t i = 0; i < graph->kind_count; i++)
        for (uint32_t k = 0; k < graph->kinds[i].count; k++) {
            const struct gt_implementation *one = &graph->kinds[i].implementations[k];

            if (find_occupancy(room, one->registers_per_thread, one->shared_bytes, &occupancy, error) != 0)
                return gt_error_prefix(error, "tasks of '%.200s': ", graph->kinds[i].name);
        }
    return 0;
}

static struct gt_plan *make_plan(const struct arguments *arguments, const struct gt_form_input *input,
                                 const struct room *room, struct gt_error *error)
{
    const struct gt_device *device = room->device;
    struct gt_plan_costs costs = { .launch_ps = device->stream_gap_ps,
                                   .take_ps = device->tasks.load_ps + device->tasks.overhead_ps,
                                   .read_ps = device->tasks.load_ps,
                                   .wait_ps = device->tasks.poll_ps + device->tasks.found_ps,
                                   .signal_ps = device->tasks.signal_ps,
                                   .flight_ps = device->tasks.flight_ps };
    struct gt_plan *plan = gt_plan_new(input->graph, input->workers, arguments->barriers, &costs);

    plan->room = (struct gt_plan_room){ resident, room };
    if (gt_schedule(plan, arguments->policy, error) == 0)
        return plan;
    gt_plan_free(plan);
    return NULL;
}

static int schedule(const struct arguments *arguments, const struct gt_operator_graph *graph, struct gt_error *error)
{
    struct gt_form_input input = { .graph = graph, .workers = arguments->workers, .streams = arguments->streams };
    struct gt_plan *plan = NULL;
    struct gt_device device;
    struct room room = { &device, graph->block_threads };
    int status;

    if (gt_device_load(graph->device != NULL ? graph->device : GT_DEVICE_FALLBACK, &device, error) != 0 ||
        check_fits(graph, &room, error) != 0)
        return -1;
    if (input.workers == 0)
        input.workers = device.sms * graph->workers_per_sm;
    if (arguments->form->planned) {
        plan = make_plan(arguments, &input, &room, error);
        if (plan == NULL)
            return -1;
        input.plan = plan;
        input.policy = arguments->policy;
    }
    status = write_form(arguments, &input, error);
    gt_plan_free(plan);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .policy = "wavefront", .form = &gt_forms[0], .streams = USUAL_STREAMS };
    struct gt_operator_graph *graph;
    struct gt_error error;
    int status;

    gt_parse(&parser, argc, argv, &arguments);
    graph = gt_operators_read(arguments.path, arguments.device, &error);
    if (graph == NULL)
        return gt_fail(&error);
    status = schedule(&arguments, graph, &error);
    gt_operator_graph_free(graph);
    return status == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

const struct gt_command gt_command_schedule = {
    "schedule",
    "assign a network's operators to workers ahead of time",
    run,
};
