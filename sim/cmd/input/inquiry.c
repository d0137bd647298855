#include "sim/cmd/input/inquiry.h"

#include <stdlib.h>

#include "traces/io/data_path.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/io/product_file.h"
#include "traces/names/demangle.h"

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
                                              .load_products = gt_product_sweep_load,
                                              .framework = &inquiry->framework,
                                              .fit_kernel = gt_name_fit,
                                              .independent = independent } };
    if (gt_framework_load(NULL, &inquiry->framework, error) != 0)
        return -1;
    inquiry->workload = gt_run_read_work(path, quiet, error);
    if (inquiry->workload == NULL)
        return -1;
    inquiry->name = inquiry->workload->name != NULL ? gt_strdup(inquiry->workload->name) : gt_path_stem(path);
    if (gt_run_device(inquiry->workload, model->device, quiet, &inquiry->device, error) != 0)
        return -1;
    inquiry->host.gpu_unmodelled = model->device == NULL && !gt_run_gpu_modelled(inquiry->workload);
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
