/* schedule.c - `gridtide schedule`: who does what when is decided before anything runs, and written as a trace. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cmd/cmd.h"
#include "sim/cmd/options.h"
#include "sim/devices/occupancy.h"
#include "sim/schedule/form.h"
#include "sim/schedule/policy.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"
#include "traces/operators/operators.h"

enum { MOST_WORKERS = 65536, MOST_STREAMS = 1024, USUAL_STREAMS = 4, PS_PER_US = 1000000 };
static const char usual_device[] = "h200";

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
    { "policy", 'p', "NAME", 0, "Who does what: see below; in quotes with a policy's numbers", 0 },
    { "workers", 'w', "COUNT", 0, "Workers to schedule for (default: as many as the graph says an SM holds)", 0 },
    { "barriers", OPTION_BARRIERS, "fine|global", 0,
      "A task waits for the operators before its own (the default), or all workers for each other between waves", 0 },
    { "as", OPTION_AS, "rprogram|stream|streams|graph", 0, "What the trace does with the operators: see below", 0 },
    { "streams", OPTION_STREAMS, "COUNT", 0, "How many streams --as=streams deals to (default: 4)", 0 },
    { "device", OPTION_DEVICE, "NAME", 0, "A device file, for its SMs, gaps, and the graph's times on it", 0 },
    { "output", 'o', "TRACE", 0, "Where the trace goes; - is standard output, .gz and .zst compress", 0 },
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
            argp_error(state, "name an operator graph to schedule");
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
    "Decide before anything runs which worker does which of a network's tasks in which order, and write it as a "
    "trace that `gridtide run` and `gridtide validate` take; or write the same network as plain launches.\v ",
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

/* How many workers an SM holds: with the most of what any implementation asks for, since one kernel does all tasks. */
static int find_resident(const struct gt_operator_graph *graph, const struct gt_device *device, uint32_t *per_sm,
                         struct gt_error *error)
{
    struct gt_kernel kernel = { .grid = { 1, 1, 1 },
                                .block = { graph->block_threads, 1, 1 },
                                .cluster = { 1, 1, 1 } };
    struct gt_occupancy occupancy;

    for (uint32_t i = 0; i < graph->kind_count; i++)
        for (uint32_t k = 0; k < graph->kinds[i].count; k++) {
            const struct gt_implementation *one = &graph->kinds[i].implementations[k];

            if (one->registers_per_thread > kernel.registers_per_thread)
                kernel.registers_per_thread = one->registers_per_thread;
            if (one->shared_bytes > kernel.static_shared_bytes)
                kernel.static_shared_bytes = one->shared_bytes;
        }
    if (gt_occupancy_of(device, &kernel, &occupancy, error) != 0)
        return gt_error_prefix(error, "a worker that does all of the graph's tasks: ");
    *per_sm = occupancy.blocks_per_sm;
    return 0;
}

/* As many as the graph says, if so many are resident at once; those that are not would never do their lists. */
static int choose_workers(const struct arguments *arguments, const struct gt_operator_graph *graph,
                          const struct gt_device *device, uint32_t *workers, struct gt_error *error)
{
    uint32_t per_sm = 0;

    if (find_resident(graph, device, &per_sm, error) != 0)
        return -1;
    *workers = arguments->workers > 0
                   ? arguments->workers
                   : device->sms * (graph->workers_per_sm < per_sm ? graph->workers_per_sm : per_sm);
    if (*workers > device->sms * per_sm && arguments->form->planned)
        return gt_error_set(error,
                            "%u workers are more than the %u that are resident at once on '%s'; --workers takes "
                            "up to that many",
                            *workers, device->sms * per_sm, device->name);
    return 0;
}

static int schedule(const struct arguments *arguments, const struct gt_operator_graph *graph, struct gt_error *error)
{
    struct gt_form_input input = { .graph = graph, .streams = arguments->streams };
    struct gt_device device;
    struct gt_plan *plan = NULL;
    struct gt_plan_costs costs;
    int status = gt_device_load(graph->device != NULL ? graph->device : usual_device, &device, error);

    if (status != 0 || choose_workers(arguments, graph, &device, &input.workers, error) != 0)
        return -1;
    if (arguments->form->planned) {
        costs = (struct gt_plan_costs){ device.stream_gap_ps, device.tasks.overhead_ps, device.tasks.poll_ps,
                                        device.tasks.signal_ps };
        plan = gt_plan_new(graph, input.workers, arguments->barriers, &costs);
        status = gt_schedule(plan, arguments->policy, error);
        input.plan = plan;
        input.policy = arguments->policy;
    }
    if (status == 0)
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
    "decide who does what in a network's operators, before it runs",
    run,
};
