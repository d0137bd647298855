/* export.c - `gridtide export`: a store's runs, or a trace, for other tools. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/input/run_input.h"
#include "traces/export/export.h"
#include "traces/store/tables.h"

enum { OPTION_TABLE = 256 };

struct arguments {
    const char *format, *store, *output, *table;
    const struct gt_exporter *exporter;
    struct gt_filter filter;
};

static const struct argp_option options[] = {
    { "output", 'o', "FILE", 0, "File to write; - is standard output; .gz and .zst compress", 0 },
    { "table", OPTION_TABLE, "NAME", 0,
      "csv: Export this view or table of the store as it is (gridtide-store(5) describes them)", 0 },
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->filter; return 0;
    case 'o': arguments->output = text; return 0;
    case OPTION_TABLE: arguments->table = text; return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            arguments->format = text;
        else if (state->arg_num == 1)
            arguments->store = text;
        else
            argp_error(state, "unexpected argument '%s'", text);
        return 0;
    case ARGP_KEY_END:
        if (arguments->store == NULL)
            argp_error(state, "name a format and a store, or a trace: gridtide export perfetto RUN.db -o FILE");
        if (arguments->output == NULL)
            argp_error(state, "name the output with -o FILE; -o - is standard output");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The table of exporters in the help. */
static char *help_filter(int key, const char *text, void *input)
{
    char *help;
    size_t bytes;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC && key != ARGP_KEY_HELP_ARGS_DOC)
        return (char *)text;
    out = open_memstream(&help, &bytes);
    if (out == NULL)
        gt_bug("open_memstream failed");
    for (size_t i = 0; gt_exporters[i] != NULL; i++)
        if (key == ARGP_KEY_HELP_POST_DOC)
            fprintf(out, "%s%s: %s", i > 0 ? "\n" : "", gt_exporters[i]->name, gt_exporters[i]->help);
        else
            fprintf(out, "%s%s", i > 0 ? "|" : "", gt_exporters[i]->name);
    if (key == ARGP_KEY_HELP_ARGS_DOC)
        fprintf(out, " %s", text);
    fclose(out);
    return help;
}

static const struct argp parser = {
    options,
    parse_option,
    "RUN.db|TRACE",
    "Export the measured and simulated runs of a store, or a part of them, for other tools; or a recorded trace "
    "(chakra), or one of profiled kernels (accelsim).",
    gt_filter_children,
    help_filter,
    NULL,
};

static int write_export(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;

    int result = arguments->table != NULL
                     ? gt_export_table(store, arguments->table, arguments->output, error)
                     : arguments->exporter->write(store, arguments->output, &arguments->filter, error);

    if (result != 0)
        return gt_error_prefix(error, "exporting %.300s: ", arguments->store);
    return 0;
}

/* --table NAME; an exit status. */
static int check_table(const struct arguments *arguments)
{
    struct gt_error error;
    char *views;
    int known, status;

    if (arguments->table == NULL)
        return GT_EXIT_DONE;
    if (strcmp(arguments->format, "csv") != 0)
        return gt_usage("export", "--table exports as csv, not as %.60s", arguments->format);
    if (!gt_filter_is_all(&arguments->filter))
        return gt_usage("export", "--table exports all of a table: remove options that choose a part of a run");
    known = gt_store_knows_table(arguments->table, &views, &error);
    if (known != 0)
        return known < 0 ? gt_fail(&error) : GT_EXIT_DONE;
    status = gt_usage("export", "stores have no table '%.60s'; views are %s; tables are in gridtide-store(5)",
                      arguments->table, views);
    free(views);
    return status;
}

static int export_trace(const struct arguments *arguments)
{
    struct gt_error error;
    struct gt_workload *workload = gt_run_read(arguments->store, false, &error);
    int status;

    if (workload == NULL)
        return gt_fail(&error);
    status = arguments->exporter->write_trace(workload, arguments->output, &error);
    if (status != 0)
        gt_error_prefix(&error, "exporting %.300s: ", arguments->store);
    gt_workload_free(workload);
    return status == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .filter = GT_FILTER_ALL };
    struct gt_error error;
    int status;

    gt_parse(&parser, argc, argv, &arguments);
    arguments.exporter = gt_exporter_find(arguments.format, &error);
    if (arguments.exporter == NULL)
        return gt_usage("export", "%s", error.text);
    status = check_table(&arguments);
    if (status != GT_EXIT_DONE)
        return status;
    if (arguments.exporter->write_trace != NULL && !gt_filter_is_all(&arguments.filter))
        return gt_usage("export", "%s exports whole traces: remove --from, --to, --stream, --kernel and --step",
                        arguments.format);
    if (arguments.exporter->write_trace != NULL)
        return export_trace(&arguments);
    return gt_with_store(arguments.store, write_export, &arguments);
}

const struct gt_command gt_command_export = {
    "export",
    "export runs for Perfetto or as CSV, a trace for Chakra or Accel-Sim",
    run,
};
