#include "sim/warp/kernel_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/warp/l2_reuse.h"
#include "sim/warp/scheduler.h"

bool gt_has_programs(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        if (workload->kernels[i].program != NULL)
            return true;
    }
    return false;
}

/* A launch that lasts longer comes of counts that cannot be; a run with some of these passes all time. */
#define LONGEST_S 86400.0

static bool same_launch(const struct gt_warp_launch *a, const struct gt_warp_launch *b)
{
    return a->program == b->program && a->blocks == b->blocks && a->warps_per_block == b->warps_per_block &&
           a->blocks_per_sm == b->blocks_per_sm && a->cluster_blocks == b->cluster_blocks && a->full == b->full &&
           a->l2_reuse_fraction == b->l2_reuse_fraction && a->warp_instructions == b->warp_instructions &&
           a->busiest_warp_instructions == b->busiest_warp_instructions &&
           (a->use == b->use || (a->use != NULL && b->use != NULL && memcmp(a->use, b->use, sizeof *a->use) == 0));
}

/* A new launch for operation `op`, run. */
static void run_launch(struct gt_kernel_model *modelled, const struct gt_device *device, gt_op_index op,
                       const struct gt_warp_launch *launch, const char *failure)
{
    struct gt_kernel_model_launch *added;
    struct gt_error error;

    modelled->launches = gt_realloc(modelled->launches, modelled->count + 1ull, sizeof *modelled->launches);
    added = &modelled->launches[modelled->count];
    *added = (struct gt_kernel_model_launch){ .op = op, .launch = *launch };
    if (failure == NULL && gt_warp_run(device, launch, &added->result, &error) != 0) {
        added->result.stalls_by_instruction = NULL;
        failure = error.text;
    }
    if (failure == NULL && added->result.cycles > LONGEST_S * 1e6 * device->clock_mhz)
        failure = "it would last longer than a day; look for an absurd count in its profile";
    if (failure != NULL)
        added->failure = gt_strdup(failure);
    else
        added->wave_cycles = gt_calloc(launch->blocks_per_sm + 1ull, sizeof *added->wave_cycles);
    modelled->launch_of[op] = modelled->count++;
}

/* A workload's launches on a device, and the device that their profiles are of. */
struct setting {
    const struct gt_workload *workload;
    const struct gt_device *device, *profiled;
    bool full;
    const uint32_t *before; /* kernels_before() */
    double played_bytes;    /* see gt_l2_played_bytes() */
};

static void model_op(struct gt_kernel_model *modelled, const struct setting *setting, gt_op_index op)
{
    const struct gt_workload *workload = setting->workload;
    const struct gt_device *device = setting->device;
    struct gt_warp_launch launch = { .program = workload->kernels[workload->ops[op].kernel].program };
    struct gt_error error;

    if (gt_warp_launch_of(device, workload, op, &launch, &error) != 0) {
        run_launch(modelled, device, op, &launch, error.text);
        return;
    }
    launch.full = setting->full;
    launch.counted_sms = setting->profiled->sms;
    launch.l2_reuse_fraction = gt_l2_reuse_fraction(device, workload, op, setting->before, setting->played_bytes);
    for (uint32_t i = 0; i < modelled->count; i++) {
        if (modelled->launches[i].failure == NULL && same_launch(&modelled->launches[i].launch, &launch)) {
            modelled->launch_of[op] = i;
            return;
        }
    }
    run_launch(modelled, device, op, &launch, NULL);
}

/* By operation: the kernel before it in its stream, GT_NONE where that is none with a program. */
static uint32_t *kernels_before(const struct gt_workload *workload)
{
    uint32_t *before = gt_realloc(NULL, workload->op_count, sizeof *before);
    uint32_t *last = gt_realloc(NULL, workload->stream_count, sizeof *last);

    memset(last, 0xff, workload->stream_count * sizeof *last);
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];

        before[i] = last[op->stream];
        if (op->kind == GT_OP_KERNEL)
            last[op->stream] = workload->kernels[op->kernel].program != NULL ? i : GT_NONE;
    }
    free(last);
    return before;
}

struct gt_kernel_model *gt_model_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                         const struct gt_device *profiled, bool full, const struct gt_probe *probe,
                                         struct gt_error *error)
{
    double parameters[GT_NAMED_PARAMETERS];
    struct gt_kernel_model *modelled;
    struct setting setting = { workload, device, profiled, full, NULL, gt_l2_played_bytes(workload) };
    uint32_t *before;

    if (gt_scheduler_find(device->warp.policy, NULL, parameters, error) == NULL)
        return NULL;
    modelled = gt_calloc(1, sizeof *modelled);
    modelled->op_count = workload->op_count;
    modelled->clock_mhz = device->clock_mhz;
    modelled->one_sm = gt_calloc(1, sizeof *modelled->one_sm);
    *modelled->one_sm = *device;
    modelled->one_sm->sms = 1;
    modelled->sms = device->sms;
    modelled->launch_of = gt_realloc(NULL, workload->op_count, sizeof *modelled->launch_of);
    memset(modelled->launch_of, 0xff, workload->op_count * sizeof *modelled->launch_of);
    setting.before = before = kernels_before(workload);
    for (gt_op_index op = 0; op < workload->op_count; op++) {
        bool watched = probe != NULL && probe->progress != NULL;

        if (workload->ops[op].kind != GT_OP_KERNEL || workload->kernels[workload->ops[op].kernel].program == NULL)
            continue;
        if (watched && probe->progress(probe->user, op, workload->op_count, error) != 0) {
            gt_kernel_model_free(modelled);
            free(before);
            return NULL;
        }
        model_op(modelled, &setting, op);
    }
    free(before);
    return modelled;
}

void gt_kernel_model_free(struct gt_kernel_model *modelled)
{
    if (modelled == NULL)
        return;
    for (uint32_t i = 0; i < modelled->count; i++) {
        free(modelled->launches[i].result.stalls_by_instruction);
        free(modelled->launches[i].failure);
        free(modelled->launches[i].wave_cycles);
    }
    free(modelled->launches);
    free(modelled->launch_of);
    free(modelled->one_sm);
    free(modelled);
}

const struct gt_kernel_model_launch *gt_kernel_model_launch(const struct gt_kernel_model *modelled, gt_op_index op)
{
    if (modelled == NULL || op >= modelled->op_count || modelled->launch_of[op] == GT_NONE)
        return NULL;
    return &modelled->launches[modelled->launch_of[op]];
}

/* Waves that are run to see their pace: blocks that follow each other meet in other phases than those that
 * start together, and some have more to do than others. */
enum { FEW_WAVES = 4 };

static double run_wave(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                       uint32_t residents, double competing)
{
    struct gt_warp_launch some = launch->launch;
    uint64_t of_sm = (some.blocks + modelled->sms - 1) / modelled->sms, waves = of_sm / residents;
    struct gt_warp_result result;

    waves = waves < 1 ? 1 : waves > FEW_WAVES ? FEW_WAVES : waves;
    some.blocks = residents * waves;
    some.blocks_per_sm = residents;
    some.competing = competing;
    some.grid_blocks = (double)launch->launch.blocks;
    some.blocks_at_once = fmin(some.grid_blocks, (double)residents * modelled->sms);
    some.coarse = true;
    some.warp_instructions =
        (uint64_t)((double)some.warp_instructions * (double)some.blocks / (double)launch->launch.blocks);
    some.busiest_warp_instructions = 0; /* is of the whole launch's busiest SM */
    if (gt_warp_run(modelled->one_sm, &some, &result, NULL) != 0)
        return -1;
    free(result.stalls_by_instruction);
    return result.run_cycles / (double)waves;
}

double gt_competing_sms(const struct gt_kernel_model *modelled, int step)
{
    static const double parts[GT_COMPETING] = { 0, 0.25, 0.5, 1 };

    return step == 0 ? 1 : fmax(1, modelled->sms * parts[step]);
}

/* Run once; 0: it cannot be. */
static double wave(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                   uint32_t residents, int step)
{
    double *cycles = &launch->wave_cycles[residents][step];

    if (*cycles == 0)
        *cycles = run_wave(modelled, launch, residents, gt_competing_sms(modelled, step));
    return fmax(0, *cycles);
}

/* With less than this part of L2 and DRAM busy, on a full GPU, it does not matter who competes for them. */
#define HARDLY_BUSY 0.05

static bool asks_of_gpu(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch)
{
    double most = 0, sms = modelled->sms;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCES; r++)
        most = fmax(most, launch->result.busy[r]);
    return most * sms / fmin(sms, (double)launch->launch.blocks) > HARDLY_BUSY;
}

/* Between two numbers of competing SMs. */
static double between_sms(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                          uint32_t residents, double competing)
{
    double low, high, part;
    int step = 1;

    while (step < GT_COMPETING - 1 && gt_competing_sms(modelled, step) < competing)
        step++;
    low = gt_competing_sms(modelled, step - 1);
    high = gt_competing_sms(modelled, step);
    if (!asks_of_gpu(modelled, launch))
        return wave(modelled, launch, residents, 0);
    if (competing <= low || high <= low)
        return wave(modelled, launch, residents, step - 1);
    part = (competing - low) / (high - low);
    return (1 - part) * wave(modelled, launch, residents, step - 1) + part * wave(modelled, launch, residents, step);
}

double gt_kernel_model_wave(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                            uint32_t residents, double competing)
{
    uint32_t low = 1, high, most = launch->launch.blocks_per_sm;
    double part;

    if (launch->failure != NULL || residents > most || residents == 0)
        return 0;
    while (low * 2 <= residents)
        low *= 2;
    high = low * 2 < most ? low * 2 : most;
    if (residents == low || residents == high)
        return between_sms(modelled, launch, residents, competing);
    part = (double)(residents - low) / (high - low);
    return (1 - part) * between_sms(modelled, launch, low, competing) +
           part * between_sms(modelled, launch, high, competing);
}
