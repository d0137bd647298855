#include "sim/cmd/input/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "traces/io/data_path.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/names/clean_text.h"
#include "traces/names/demangle.h"

int gt_fail(const struct gt_error *error)
{
    char *text = gt_clean_name(error->text); /* it may quote a name out of a file */

    fprintf(stderr, "gridtide: %s\n", text);
    free(text);
    return GT_EXIT_FAILED;
}

int gt_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    char text[GT_ERROR_TEXT_BYTES], *clean;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clean = gt_clean_name(text); /* words as they were typed, which may steer a terminal */
    fprintf(stderr, "gridtide: %s; see 'gridtide%s%s --help'\n", clean, command[0] ? " " : "", command);
    free(clean);
    return GT_EXIT_USAGE;
}

int gt_with_store(const char *path, gt_store_work *work, const void *arguments)
{
    struct gt_error error;
    struct gt_store *store = gt_store_open(path, false, &error);
    int result;

    if (store == NULL)
        return gt_fail(&error);
    result = work(store, arguments, &error);
    gt_store_close(store);
    return result == 0 ? GT_EXIT_DONE : gt_fail(&error);
}

/* Kernels that last as their programs say, where nothing else is known of them or that is wanted. */
static int model_kernels(struct gt_inquiry *inquiry, const struct gt_model_options *model, bool quiet,
                         struct gt_error *error)
{
    struct gt_progress progress;
    double wall_us;

    gt_profiles_attach(&model->profiles, inquiry->workload, inquiry->name, quiet);
    if (model->program_cost && gt_profiles_check_cost(inquiry->workload, error) != 0)
        return -1;
    if (gt_price_tasks(model->task_costs, inquiry->workload, &inquiry->device, inquiry->name, quiet, error) != 0)
        return -1;
    if (!gt_has_programs(inquiry->workload))
        return 0;
    gt_progress_begin(&progress, "modelling kernels", quiet);
    inquiry->modelled =
        gt_run_kernels(inquiry->workload, &inquiry->device, &inquiry->device, false, &progress, &wall_us, error);
    gt_progress_end(&progress);
    if (inquiry->modelled != NULL && !quiet)
        gt_run_kernels_warn(inquiry->workload, inquiry->modelled);
    return inquiry->modelled == NULL ? -1 : 0;
}

int gt_inquiry_begin(struct gt_inquiry *inquiry, const char *path, const struct gt_model_options *model,
                     const char *const *independent, bool quiet, struct gt_error *error)
{
    *inquiry = (struct gt_inquiry){ .host = { .load_device = gt_device_load,
                                              .framework = &inquiry->framework,
                                              .fit_kernel = gt_name_fit,
                                              .independent = independent } };
    if (gt_framework_load(NULL, &inquiry->framework, error) != 0)
        return -1;
    inquiry->workload = gt_run_read(path, quiet, error);
    if (inquiry->workload == NULL)
        return -1;
    inquiry->name = inquiry->workload->name != NULL ? gt_strdup(inquiry->workload->name) : gt_path_stem(path);
    if (gt_run_device(inquiry->workload, model->device, quiet, &inquiry->device, error) != 0)
        return -1;
    return model_kernels(inquiry, model, quiet, error);
}

struct gt_whatif_subject gt_inquiry_subject(const struct gt_inquiry *inquiry, const struct gt_model_options *model,
                                            bool bars)
{
    struct gt_whatif_subject subject = { .workload = inquiry->workload,
                                         .device = &inquiry->device,
                                         .host = &inquiry->host,
                                         .options = GT_OPTIONS_DEFAULT };

    subject.options.blocks = !bars;
    subject.options.seed = model->seed;
    subject.options.modelled = inquiry->modelled;
    subject.options.program_cost = model->program_cost;
    subject.options.no_inference = model->no_inference;
    return subject;
}

void gt_inquiry_free(struct gt_inquiry *inquiry)
{
    gt_kernel_model_free(inquiry->modelled);
    gt_workload_free(inquiry->workload);
    free(inquiry->name);
    *inquiry = (struct gt_inquiry){ .name = NULL };
}
