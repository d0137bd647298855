/* calibrate.c - `gridtide calibrate`: measures the GPU at hand into a device file. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/table.h"
#include "sim/cmd/print/terminal.h"
#include "validate/calibrate/calibrate.h"
#include "validate/calibrate/product_table.h"

enum { OPTION_ONLY = 256 };

struct arguments {
    const char *output;
    struct gt_calibration_options options;
    enum gt_format format;
    bool quiet, format_given;
};

static const struct argp_option options[] = {
    { "output", 'o', "DEVICE.ini", 0,
      "Device file to write (required); measured matrix products go to DEVICE-products.csv.zst beside it", 0 },
    { "only", OPTION_ONLY, "GROUP", 0, "Run only one group of measurements (below); other values remain", 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_QUIET_FORMAT,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o': arguments->output = text; return 0;
    case OPTION_ONLY: arguments->options.only = text; return 0;
    case 'q': arguments->quiet = true; return 0;
    case 'f':
        arguments->format = gt_option_format(state, text);
        arguments->format_given = true;
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'; name the device file with -o", text); return 0;
    case ARGP_KEY_END:
        if (arguments->output == NULL)
            argp_error(state, "name the device file to write, -o DEVICE.ini");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The groups, below the options. */
static char *list_groups(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t bytes;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    FILE *out = open_memstream(&list, &bytes);
    if (out == NULL)
        gt_no_memory("a text");
    fprintf(out, "%s\n\nGroups:", text);
    for (size_t i = 0; i < gt_calibration_group_count; i++)
        fprintf(out, "\n  %-12s %s", gt_calibration_groups[i].name, gt_calibration_groups[i].help);
    if (gt_calibration_group_count == 0)
        fputs(" none: built without CUDA", out);
    fclose(out);
    return list;
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, NULL,
    "Measure the first GPU that CUDA lists and write a device file: each value with its "
    "median, quartiles, number of samples and method.\vIt takes about two minutes and must be "
    "the only program on the GPU. Values that cannot be measured are copied from the device "
    "file shipped for that GPU, or are marked as defaults. Clocks and settings of the GPU are "
    "not changed.",
    NULL, list_groups, NULL,
};
/* clang-format on */

static void show_group(void *user, const char *group, size_t done, size_t total)
{
    struct gt_progress *progress = user;
    progress->what = group;
    gt_progress_update(progress, done, total);
}

static void show_findings(const struct gt_calibration *calibration, enum gt_format format)
{
    static const struct gt_column columns[] = {
        { "key", GT_COLUMN_TEXT },       { "value", GT_COLUMN_WIDE },        { "unit", GT_COLUMN_TEXT },
        { "median", GT_COLUMN_NUMBER },  { "quartile_1", GT_COLUMN_NUMBER }, { "quartile_3", GT_COLUMN_NUMBER },
        { "samples", GT_COLUMN_NUMBER }, { "method", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("findings", columns, 8);
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_finding *finding = &calibration->findings[i];
        const double numbers[] = { finding->summary.median, finding->summary.low, finding->summary.high };
        gt_table_text(table, gt_device_keys[i].key);
        gt_table_text(table, finding->value);
        gt_table_text(table, gt_device_keys[i].unit);
        for (int n = 0; n < 3; n++)
            if (finding->value != NULL && finding->summary.count > 0)
                gt_table_real(table, numbers[n], 3);
            else
                gt_table_text(table, NULL);
        if (finding->value != NULL && finding->summary.count > 0)
            gt_table_integer(table, (int64_t)finding->summary.count);
        else
            gt_table_text(table, NULL);
        gt_table_text(table, finding->method[0] != '\0' ? finding->method : "not measured");
    }
    gt_tables_print(stdout, format, &table, 1);
    gt_table_free(table);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .format = GT_FORMAT_TABLE };
    struct gt_calibration calibration;
    struct gt_progress progress;
    struct gt_error error;
    gt_parse(&parser, argc, argv, &arguments);
    gt_progress_begin(&progress, "calibrating", arguments.quiet);
    arguments.options.progress = show_group;
    arguments.options.user = &progress;
    arguments.options.no_tables = !gt_product_table_is_possible(arguments.output);
    int status = gt_calibrate(&calibration, &arguments.options, &error);
    gt_progress_end(&progress);
    if (status == 0)
        status = gt_calibration_write(&calibration, arguments.output, &error);
    if (status == 0 && (!arguments.quiet || arguments.format_given) && strcmp(arguments.output, "-") != 0)
        show_findings(&calibration, arguments.format);
    gt_calibration_free(&calibration);
    return status == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

const struct gt_command gt_command_calibrate = {
    "calibrate",
    "measure this machine's GPU and write a device file",
    run,
};
