#include "sim/task_programs.h"

#include "sim/warp/kernel_model.h"
#include "sim/workload/program.h"
#include "sim/workload/task_graph.h"

enum { WARP_THREADS = 32 };

static bool asks_program(const struct gt_task_kind *kind)
{
    return kind->program != NULL && kind->cost == GT_TASK_COST_NONE;
}

/* A launch of the kind's program, as it was profiled, in a workload of its own. */
static void add_launch(struct gt_workload *launches, const struct gt_task_kind *kind)
{
    const struct gt_program *program = kind->program;
    struct gt_kernel kernel = { .grid = { 1, 1, 1 }, .block = { program->warps_per_block * WARP_THREADS, 1, 1 } };
    gt_call_index call = gt_workload_add_call(launches);
    gt_op_index op = gt_workload_add_op(launches);

    if (program->warps > program->warps_per_block)
        kernel.grid[0] = (uint32_t)(program->warps / program->warps_per_block);
    kernel.name = gt_name(launches, "task", 4);
    kernel.registers_per_thread = kind->registers_per_thread;
    kernel.static_shared_bytes = kind->static_shared_bytes;
    kernel.duration_ps = GT_TIME_NONE;
    kernel.runs = kernel.arguments = GT_NONE;
    kernel.program = program;
    launches->calls[call].kind = GT_CALL_LAUNCH;
    launches->calls[call].thread = 0;
    launches->calls[call].stream = 0;
    launches->calls[call].first_op = op;
    launches->calls[call].ops = 1;
    launches->ops[op].kind = GT_OP_KERNEL;
    launches->ops[op].call = call;
    launches->ops[op].stream = 0;
    launches->ops[op].kernel = gt_workload_kernel(launches, &kernel);
}

static int time_kind(const struct gt_workload *workload, struct gt_task_kind *kind,
                     const struct gt_kernel_model *modelled, gt_op_index op, struct gt_error *error)
{
    const struct gt_kernel_model_launch *launch = gt_kernel_model_launch(modelled, op);
    double cycles =
        launch == NULL || launch->failure != NULL ? 0 : gt_kernel_model_wave(modelled, launch, 1, modelled->sms);

    if (cycles <= 0)
        return gt_error_set(error, "kind %.100s: its program %.80s cannot be run: %.300s; give its tasks a time",
                            gt_name_text(workload, kind->name), kind->program->key,
                            launch != NULL && launch->failure != NULL ? launch->failure
                                                                      : "no block of it fits an SM");
    kind->cost = GT_TASK_COST_FIXED;
    kind->min_ps = kind->max_ps = (gt_time_ps)(cycles * 1e6 / modelled->clock_mhz + 0.5);
    return 0;
}

int gt_time_task_programs(struct gt_workload *workload, const struct gt_device *device, struct gt_error *error)
{
    struct gt_workload *launches = gt_workload_new();
    struct gt_kernel_model *modelled = NULL;
    gt_op_index op = 0;
    int status = 0;

    gt_workload_add_gpu(launches);
    gt_workload_add_thread(launches);
    gt_workload_add_stream(launches);
    for (uint32_t g = 0; g < workload->task_graph_count; g++)
        for (uint32_t k = 0; k < workload->task_graphs[g]->kind_count; k++)
            if (asks_program(&workload->task_graphs[g]->kinds[k]))
                add_launch(launches, &workload->task_graphs[g]->kinds[k]);
    if (launches->op_count > 0) {
        modelled = gt_model_kernels(launches, device, device, false, NULL, error);
        status = modelled == NULL ? -1 : 0;
    }
    for (uint32_t g = 0; g < workload->task_graph_count && status == 0; g++)
        for (uint32_t k = 0; k < workload->task_graphs[g]->kind_count && status == 0; k++)
            if (asks_program(&workload->task_graphs[g]->kinds[k]))
                status = time_kind(workload, &workload->task_graphs[g]->kinds[k], modelled, op++, error);
    gt_kernel_model_free(modelled);
    gt_workload_free(launches);
    return status == 0 ? (int)op : -1;
}
