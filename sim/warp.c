/* warp.c - one launch in the warp tier: the SM is built, run, and what it says is scaled to the GPU. */
#include "sim/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/occupancy.h"
#include "sim/warp_parts.h"

/* Warp instructions of the SM beyond which steady state is extrapolated. */
enum { ENOUGH_INSTRUCTIONS = 2000000, FEWEST_WAVES = 4 };

static void build(struct gt_wsm *sm)
{
    const struct gt_program *program = sm->code.program;
    uint32_t loops = program->loop_count + 1, edges = program->edge_count + 1;
    uint32_t slots = sm->launch->blocks_per_sm;

    sm->warp_count = slots * sm->launch->warps_per_block;
    sm->warps = gt_calloc(sm->warp_count, sizeof *sm->warps);
    sm->free_warps = gt_calloc(sm->warp_count, sizeof *sm->free_warps);
    sm->blocks = gt_calloc(slots, sizeof *sm->blocks);
    sm->starts = gt_calloc(slots + 1, sizeof *sm->starts);
    sm->ended_at = gt_calloc(sm->rows + 1, sizeof *sm->ended_at);
    for (uint32_t i = 0; i < sm->warp_count; i++) {
        sm->warps[i].trips = gt_calloc(4ull * loops + program->block_count, sizeof(uint32_t));
        sm->warps[i].exits = sm->warps[i].trips + loops;
        sm->warps[i].fixed_trips = sm->warps[i].exits + loops;
        sm->warps[i].entries = sm->warps[i].fixed_trips + loops;
        sm->warps[i].visits = sm->warps[i].entries + loops;
        sm->warps[i].decided = gt_calloc(program->block_count, 1);
        sm->free_warps[i] = sm->warp_count - 1 - i;
    }
    sm->free_warp_count = sm->warp_count;
    for (uint32_t i = 0; i < slots; i++) {
        sm->blocks[i].members = gt_calloc(sm->launch->warps_per_block, sizeof *sm->blocks[i].members);
        sm->blocks[i].trips = gt_calloc(loops, sizeof *sm->blocks[i].trips);
        sm->blocks[i].choices = gt_calloc(program->block_count, sizeof *sm->blocks[i].choices);
    }
    sm->line_ready = gt_calloc(sm->code.lines, sizeof *sm->line_ready);
    sm->constant_ready = gt_calloc(sm->code.constants + 1ull, sizeof *sm->constant_ready);
    memset(sm->line_ready, 0xff, sm->code.lines * sizeof *sm->line_ready);
    memset(sm->constant_ready, 0xff, sm->code.constants * sizeof *sm->constant_ready);
    sm->edge_carry = gt_calloc(edges, sizeof *sm->edge_carry);
    sm->loop_carry = gt_calloc(loops, sizeof *sm->loop_carry);
    /* Where the whole grid is resident at once, the fullest SM's blocks make the most trips. */
    for (uint32_t l = 0; l < program->loop_count; l++)
        sm->loop_carry[l] = program->loops[l].who == GT_WHO_BLOCK && sm->rows <= slots ? 0.999 : 0.5;
    sm->block_carry = gt_calloc(program->block_count, sizeof *sm->block_carry);
    sm->stalls = gt_calloc((size_t)program->instruction_count * GT_STALLS, sizeof *sm->stalls);
    for (uint32_t s = 0; s < GT_WARP_SUBS; s++) {
        memset(sm->subs[s].ready, 0xff, sizeof sm->subs[s].ready);
        sm->subs[s].next = GT_WARP_NEVER;
    }
    sm->share = 1;
}

static void tear_down(struct gt_wsm *sm)
{
    for (uint32_t i = 0; i < sm->warp_count; i++) {
        free(sm->warps[i].trips);
        free(sm->warps[i].decided);
    }
    for (uint32_t i = 0; i < sm->launch->blocks_per_sm; i++) {
        free(sm->blocks[i].members);
        free(sm->blocks[i].trips);
        free(sm->blocks[i].choices);
    }
    free(sm->warps);
    free(sm->free_warps);
    free(sm->blocks);
    free(sm->starts);
    free(sm->ended_at);
    free(sm->line_ready);
    free(sm->constant_ready);
    free(sm->edge_carry);
    free(sm->loop_carry);
    free(sm->block_carry);
    free(sm->stalls);
    gt_warp_decode_free(&sm->code);
}

/* Rows of blocks to simulate, of the `rows` there are. */
static uint64_t rows_to_run(const struct gt_warp_launch *launch, uint64_t rows)
{
    const struct gt_program *program = launch->program;
    double block = (double)program->warp_instructions / fmax(1, (double)program->warps)
                 * launch->warps_per_block;
    uint64_t least = (uint64_t)FEWEST_WAVES * launch->blocks_per_sm;
    uint64_t enough = block > 0 ? (uint64_t)(ENOUGH_INSTRUCTIONS / block) : rows;

    enough = enough < least ? least : enough;
    return launch->full || enough >= rows ? rows : enough;
}

/* Cycles of all `rows`: those simulated, and the rest at the pace of the middle of what was. *bound: how
 * much the pace of the two halves of the middle differs, over the rest. */
static double extrapolate(const struct gt_wsm *sm, uint64_t rows, double *bound)
{
    uint64_t run = sm->rows, slots = sm->launch->blocks_per_sm;
    double end = (double)sm->ended_at[run - 1];

    *bound = 0;
    if (run >= rows)
        return end;
    uint64_t first = slots - 1, last = run - slots - 1, half = (first + last) / 2;
    double pace = (double)(sm->ended_at[last] - sm->ended_at[first]) / (double)(last - first);
    double early = (double)(sm->ended_at[half] - sm->ended_at[first]) / (double)(half - first);
    double late = (double)(sm->ended_at[last] - sm->ended_at[half]) / (double)(last - half);
    *bound = fabs(early - late) / 2 * (double)(rows - run);
    return end + pace * (double)(rows - run);
}

/* Work is not spread evenly where warps differ.  The sub-partition that has most of it cannot be faster than
 * it can issue: at the pace of the model's where that issues most of the time, else four cycles in five. */
static double uneven(const struct gt_wsm *sm, double end, uint64_t rows)
{
    double busiest = 0, scale = (double)rows / (double)sm->rows;

    for (uint32_t s = 0; s < GT_WARP_SUBS; s++)
        busiest = fmax(busiest, (double)sm->subs[s].issued * scale);
    if ((double)sm->launch->busiest_warp_instructions <= busiest)
        return end;
    return fmax(end, (double)sm->launch->busiest_warp_instructions / fmax(0.8, busiest / end));
}

static void report(struct gt_wsm *sm, uint64_t rows, struct gt_warp_result *result)
{
    const struct gt_program *program = sm->code.program;
    double bound, end = uneven(sm, extrapolate(sm, rows, &bound), rows);
    double simulated = fmax(1, (double)sm->ended_at[sm->rows - 1]);
    double sms = fmin(sm->device->sms, (double)sm->launch->blocks);
    double stores = fmax(0, sm->memory_end - simulated);

    *result = (struct gt_warp_result){
        .launch_cycles = sm->costs->launch_cycles, .run_cycles = end,
        .drain_cycles = sm->costs->drain_cycles + stores, .bound_cycles = bound, .simulated = sm->simulated,
        .covered = (uint64_t)((double)program->warp_instructions / fmax(1, (double)program->warps)
                              * (double)sm->launch->blocks * sm->launch->warps_per_block + 0.5),
        .stalls_by_instruction = sm->stalls, .forced = sm->forced,
        .l2_bytes_per_cycle = sm->l2_bytes / simulated * sms,
        .dram_bytes_per_cycle = sm->dram_bytes / simulated * sms,
        .issue_share = (double)sm->simulated / GT_WARP_SUBS / simulated,
        .lsu_share = sm->lsu_busy / simulated, .warps_mean = sm->warp_cycles / simulated,
    };
    result->cycles = result->launch_cycles + result->run_cycles + result->drain_cycles;
    memcpy(result->issued, sm->issued, sizeof result->issued);
    for (uint32_t i = 0; i < program->instruction_count * GT_STALLS; i++)
        result->stalls[i % GT_STALLS] += sm->stalls[i];
    sm->stalls = NULL;
}

static int check(const struct gt_device *device, const struct gt_warp_launch *launch, struct gt_error *error)
{
    if (launch->blocks == 0 || launch->warps_per_block == 0 || launch->blocks_per_sm == 0)
        return gt_error_set(error, "a launch of program '%s' without blocks", launch->program->key);
    if ((uint64_t)launch->warps_per_block * launch->blocks_per_sm
        > (uint64_t)GT_WARP_SLOTS * GT_WARP_SUBS || device->warps_per_sm > GT_WARP_SLOTS * GT_WARP_SUBS)
        return gt_error_set(error, "more than %d warps on an SM: the warp tier has no room for them",
                            GT_WARP_SLOTS * GT_WARP_SUBS);
    return 0;
}

int gt_warp_run(const struct gt_device *device, const struct gt_warp_launch *launch,
                struct gt_warp_result *result, struct gt_error *error)
{
    uint64_t rows = (launch->blocks + device->sms - 1) / device->sms;
    struct gt_wsm sm = { .device = device, .costs = &device->warp, .launch = launch };

    if (check(device, launch, error) != 0)
        return -1;
    sm.policy = gt_warp_policy_find(device->warp.policy, error);
    if (sm.policy == NULL || gt_warp_decode(&sm.code, device, launch, error) != 0)
        return -1;
    sm.rows = rows_to_run(launch, rows);
    build(&sm);
    gt_warp_grid_begin(&sm);
    int bad = gt_warp_loop(&sm, error);
    if (bad == 0)
        report(&sm, rows, result);
    tear_down(&sm);
    return bad;
}

int gt_warp_launch_of(const struct gt_device *device, const struct gt_workload *workload, uint32_t op,
                      struct gt_warp_launch *launch, struct gt_error *error)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    const struct gt_profile *profile = gt_workload_profile(workload, op);
    struct gt_occupancy occupancy;

    if (gt_occupancy_of(device, kernel, &occupancy, error) != 0)
        return -1;
    *launch = (struct gt_warp_launch){
        .program = kernel->program, .blocks = gt_kernel_blocks(kernel),
        .warps_per_block = occupancy.need.warps, .blocks_per_sm = occupancy.blocks_per_sm,
        .cluster_blocks = 1, .use = profile != NULL ? &profile->use : NULL,
        .busiest_warp_instructions = profile != NULL ? profile->busiest_warp_instructions : 0,
    };
    if (profile != NULL && profile->cluster[0] > 0)
        launch->cluster_blocks = profile->cluster[0] * profile->cluster[1] * profile->cluster[2];
    return 0;
}
