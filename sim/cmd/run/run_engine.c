/* run_engine.c - a run with a change asks what `gridtide whatif` asks, so that both say the same. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "sim/cmd/run/run_parts.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/io/product_file.h"
#include "traces/names/demangle.h"

static void add_change(struct gt_run_engine *engine, char *spec)
{
    engine->specs[engine->count++] = spec;
}

/* What the options change, as specs of changes. */
static int make_changes(struct gt_run_work *work)
{
    const struct gt_run_arguments *arguments = work->arguments;
    struct gt_run_engine *engine = &work->engine;

    if (arguments->model.device != NULL && !gt_run_same_device(&work->asked.device, &work->asked.recorded))
        add_change(engine, gt_format("device=%s", arguments->model.device));
    for (size_t i = 0; i < arguments->setting_count; i++)
        add_change(engine, gt_strdup(arguments->settings[i]));
    if (arguments->streams > 0)
        add_change(engine, gt_format("streams=%" PRIu32, arguments->streams));
    for (size_t i = 0; i < engine->count; i++) {
        engine->changes[i] = (struct gt_change){ .spec = engine->specs[i] };
        if (gt_change_parse(engine->specs[i], &engine->changes[i], work->error) != 0)
            return -1;
    }
    return 0;
}

/* Kernels of which only a program says how long they last, on the device that the trace is from. */
static int model_kernels(struct gt_run_work *work)
{
    double wall_us;

    if (!gt_has_programs(work->workload))
        return 0;
    gt_progress_begin(&work->progress, "modelling kernels", work->arguments->model.quiet);
    work->engine.modelled = gt_run_kernels(work->workload, &work->asked.recorded, &work->asked.recorded,
                                           work->arguments->full, &work->progress, &wall_us, work->error);
    gt_progress_end(&work->progress);
    return work->engine.modelled == NULL ? -1 : 0;
}

/* The variant is the scenario. */
static void take(struct gt_run_variant *variant, const struct gt_scenario *scenario)
{
    variant->played = scenario->workload;
    variant->device = scenario->device;
    variant->recorded = scenario->recorded;
}

int gt_run_ask_engine(struct gt_run_work *work)
{
    struct gt_run_engine *engine = &work->engine;
    struct gt_whatif_subject subject = { .workload = work->workload,
                                         .device = &engine->device,
                                         .options = work->arguments->options,
                                         .host = &engine->host };

    engine->host = (struct gt_whatif_host){ .load_device = gt_device_load,
                                            .load_products = gt_product_sweep_load,
                                            .framework = &engine->framework,
                                            .fit_kernel = gt_name_fit,
                                            .independent = work->arguments->independent };
    engine->device = work->asked.recorded;
    engine->asked = true;
    if (gt_framework_load(NULL, &engine->framework, work->error) != 0 || make_changes(work) != 0 ||
        model_kernels(work) != 0)
        return -1;
    subject.options.modelled = engine->modelled;
    if (gt_whatif_begin(&engine->whatif, &subject, work->error) != 0 ||
        gt_whatif_answer(&engine->whatif, engine->changes, engine->count, NULL, &engine->answer, work->error) != 0)
        return -1;
    work->learned = engine->whatif.learned;
    take(&work->asked, &engine->answer.scenario);
    take(&work->without, &engine->whatif.baseline);
    return 0;
}

void gt_run_engine_free(struct gt_run_engine *engine)
{
    if (!engine->asked)
        return;
    gt_answer_free(&engine->answer);
    gt_whatif_free(&engine->whatif);
    gt_kernel_model_free(engine->modelled);
    for (size_t i = 0; i < engine->count; i++)
        free(engine->specs[i]);
}
