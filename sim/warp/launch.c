/* launch.c - one launch in the warp tier: the SM is built, run, and what it says is scaled to the GPU. */
#include "sim/warp/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/warp/internal.h"
#include "sim/warp/scheduler.h"

/* Warp instructions of the SM beyond which steady state is extrapolated: waves of blocks, and trips of long
 * loops where a few waves are still too many. */
enum { ENOUGH_INSTRUCTIONS = 2000000, MOST_INSTRUCTIONS = 20000000, FEWEST_WAVES = 16 };

/* A run is given up beyond so many times the warp instructions that the counts say, and, unless every block
 * was asked for, beyond what takes seconds. */
enum { HOPELESS_TIMES = 16, HOPELESS_INSTRUCTIONS = 200000000 };

/* Blocks of an SM that are kept note of. */
enum { MOST_ROWS = 1 << 28 };

/* Warp instructions of a block, without those that are waiting. */
static double block_instructions(const struct gt_warp_launch *launch)
{
    const struct gt_program *program = launch->program;
    struct gt_warp_waiting waiting = gt_warp_find_waiting(launch);

    free(waiting.kept);
    return ((double)program->warp_instructions - waiting.idle) / fmax(1, (double)program->warps) *
           launch->warps_per_block;
}

/* Rows of blocks to simulate, of the `rows` there are. */
static uint64_t rows_to_run(const struct gt_warp_launch *launch, uint64_t rows)
{
    double block = block_instructions(launch);
    uint64_t least = (uint64_t)FEWEST_WAVES * launch->blocks_per_sm;
    uint64_t enough = (uint64_t)(ENOUGH_INSTRUCTIONS / fmax(1, block));

    enough = enough < least ? least : enough;
    return launch->full || enough >= rows ? rows : enough;
}

/* The part of long loops' trips to simulate. */
static double trips_to_run(const struct gt_warp_launch *launch, uint64_t rows)
{
    double all = block_instructions(launch) * (double)rows;
    double most = launch->coarse ? ENOUGH_INSTRUCTIONS : MOST_INSTRUCTIONS;

    return launch->full || all <= most ? 1 : most / all;
}

/* Of the pace of blocks: what it was seen to drift by, beyond what half a run can tell (suite, cut to 16
 * waves, against --detail full). */
#define LEAST_DOUBT 0.02

/* Cycles of all `rows`: those simulated, and the rest at the pace of the middle of what was. *bound: how
 * much the pace of the two halves of the middle differs, over the rest. */
static double all_rows(const struct gt_sm_core *sm, uint64_t rows, double *bound)
{
    uint64_t run = sm->sm_blocks, slots = sm->launch->blocks_per_sm;
    double end = (double)sm->ended_at[run - 1];

    *bound = 0;
    if (run >= rows)
        return end;
    /* Whole waves, behind the first two: those start together, later ones do not. */
    uint64_t last = run - slots - 1, waves = (last - (3 * slots - 1)) / slots;
    uint64_t first = last - waves * slots, half = first + waves / 2 * slots;
    double pace = (double)(sm->ended_at[last] - sm->ended_at[first]) / (double)(last - first);
    double early = (double)(sm->ended_at[half] - sm->ended_at[first]) / (double)(half - first);
    double late = (double)(sm->ended_at[last] - sm->ended_at[half]) / (double)(last - half);
    *bound = (fabs(early - late) / 2 + pace * LEAST_DOUBT) * (double)(rows - run);
    return end + pace * (double)(rows - run);
}

/* Trips that are no whole number for a warp or block are some for one and others for the next. */
#define WHOLE_TRIPS 0.01

/* Are most warp instructions a loop's own? */
static bool is_most_work(const struct gt_program *program, uint32_t loop)
{
    double own = 0, all = 0;

    for (uint32_t b = 0; b < program->block_count; b++) {
        double executed = (double)program->blocks[b].executions * program->blocks[b].count;

        all += executed;
        own += program->blocks[b].loop == loop ? executed : 0;
    }
    return own * 2 > all;
}

/* Whether blocks, or warps, make different numbers of trips through a long loop.  A mean of many trips does not say;
 * but where an SM has a single block (`lone`), it has not got another's work, and where it has all its blocks
 * `all_at_once`, none of them took another SM's. */
static bool trips_differ(const struct gt_decoded_program *code, bool lone, bool all_at_once)
{
    const struct gt_program *program = code->program;
    bool differ = false;

    for (uint32_t l = 0; l < program->loop_count; l++) {
        const struct gt_loop *loop = &program->loops[l];
        double mean = gt_warp_mean_trips(loop);
        bool equivalent = loop->who == GT_WHO_BLOCK || loop->who == GT_WHO_WARP;

        differ |= code->long_loop[l] && all_at_once && loop->who == GT_WHO_VISIT && is_most_work(program, l);
        differ |= code->long_loop[l] && equivalent &&
                  (fabs(mean - round(mean)) > WHOLE_TRIPS * mean || (lone && WHOLE_TRIPS * mean > 0.5));
    }
    return differ;
}

/* Was the launch profiled on as many SMs as there are? */
static bool as_counted(const struct gt_sm_core *sm)
{
    return sm->launch->counted_sms == 0 || sm->launch->counted_sms == sm->device->sms;
}

static uint64_t room_in_last_wave(uint64_t rows, uint64_t slots)
{
    return (slots - rows % slots) % slots;
}

/* What the busiest sub-partition would have executed on this device, of which the model's executes `busiest` in
 * `rows` of blocks.  On another number of SMs there are other rows: it has as much more than the model's as was
 * counted.  But blocks that filled up the last wave there say nothing of the last wave here. */
static double counted_busiest(const struct gt_sm_core *sm, double busiest, uint64_t rows)
{
    const struct gt_warp_launch *launch = sm->launch;
    double counted = (double)launch->busiest_warp_instructions;

    if (as_counted(sm))
        return counted;
    uint64_t rows_then = (launch->blocks + launch->counted_sms - 1) / launch->counted_sms;
    counted *= (double)rows / (double)rows_then;
    double more = counted > busiest ? floor((counted - busiest) / busiest * (double)rows_then + 0.5) : 0;
    bool filled_up = rows_then > launch->blocks_per_sm && more >= 1 &&
                     more <= (double)room_in_last_wave(rows_then, launch->blocks_per_sm);
    return filled_up ? busiest : counted;
}

/* Work is not spread evenly where warps differ.  The sub-partition that has most of it takes as much longer
 * as it has more, where that is more trips.  Else it may have got blocks because it is fast, but cannot be
 * faster than it can issue: at the pace of the model's where that issues most of the time. */
static double uneven(const struct gt_sm_core *sm, double end, uint64_t rows, double *times)
{
    double busiest = 0, scale = (double)rows / (double)sm->sm_blocks;

    for (uint32_t s = 0; s < GT_WARP_SUBS; s++)
        busiest = fmax(busiest, (double)sm->subs[s].issued * scale);
    double counted = counted_busiest(sm, busiest, rows);
    if (counted <= busiest)
        return end;
    double more = counted / busiest;
    if (trips_differ(&sm->code, rows == 1, rows <= sm->launch->blocks_per_sm)) {
        *times = more;
        return end * more;
    }
    return fmax(end, busiest * more / fmax(sm->costs->busiest_issue_part, busiest / end));
}

/* A run with half the trips of a run with a part of them. */
struct shorter {
    double end, instructions;
};

/* Cycles with all trips of long loops, where only a part of them was simulated: cycles grow with
 * instructions as they did from half that part to that part. *bound: how far that is from growing in
 * proportion, if more. */
static double all_trips(const struct gt_sm_core *sm, double end, const struct shorter *shorter, double *bound)
{
    double instructions = (double)sm->simulated, all = block_instructions(sm->launch) * (double)sm->sm_blocks;

    if (sm->trip_share >= 1 || instructions <= shorter->instructions || all <= instructions)
        return end;
    double pace = (end - shorter->end) / (instructions - shorter->instructions);
    double whole = end + pace * (all - instructions);
    *bound = fmax(*bound * all / instructions, fabs(whole - end * all / instructions));
    return whole;
}

/* Less than this part is no more than two passes of a profiler differ by anyway: import ncu warns from here
 * on. */
#define COUNTS_DIFFER 0.005

/* Counting by instruction slows a kernel down: warps that wait for time or for others then look less often.
 * What the whole launch executed beyond that was such looking, and took its time, in every wave of blocks. */
static double waited(const struct gt_sm_core *sm, uint64_t rows)
{
    const struct gt_warp_launch *launch = sm->launch;
    const struct gt_program *program = launch->program;
    double counted = (double)program->warp_instructions / fmax(1, (double)program->warps) * (double)launch->blocks *
                     launch->warps_per_block;
    double more = (double)launch->warp_instructions - counted;
    double waves = ceil((double)rows / launch->blocks_per_sm);

    if (more < COUNTS_DIFFER * counted)
        return 0;
    return more / (double)launch->blocks / fmax(1, __builtin_popcount(sm->code.pollers)) * sm->costs->waiting_cycles *
           waves;
}

/* Cycles of pipes: an instruction's interval, of those that queue in the tensor core what they take there.
 * Integer products take the half of the FMA pipe that has the multipliers, and so part of the whole. */
static void pipe_cycles(const struct gt_sm_core *sm, double *pipes)
{
    for (uint32_t i = 0; i < sm->code.program->instruction_count; i++) {
        const struct gt_decoded_inst *op = &sm->code.ops[i];
        double issued = sm->stalls[(size_t)i * GT_STALLS + GT_STALL_SELECTED];
        double interval = op->pipe == GT_PIPE_FP64 ? fmax(op->interval, op->reads[0]) : op->interval;

        pipes[op->pipe] += issued * (op->action == GT_ACTION_GMMA ? op->latency : interval);
        if (op->pipe == GT_PIPE_FMAHEAVY)
            pipes[GT_PIPE_FMA] += issued * sm->costs->interval[GT_PIPE_FMA];
    }
    pipes[GT_PIPE_NONE] = pipes[GT_PIPE_LSU] = 0; /* no unit of its own; its work is counted as it is done */
}

/* How much of the run everything worked that other kernels could want. */
static void busy_shares(const struct gt_sm_core *sm, double cycles, double *busy)
{
    busy[GT_RESOURCE_ISSUE] = (double)sm->simulated / GT_WARP_SUBS;
    busy[GT_RESOURCE_LSU] = sm->lsu_busy;
    busy[GT_RESOURCE_PORT] = sm->l2_read_bytes / sm->costs->sm_bytes_per_cycle;
    for (uint32_t b = 0; b < GT_WARP_BANKS; b++)
        busy[GT_RESOURCE_BANKS] = fmax(busy[GT_RESOURCE_BANKS], sm->bank_reads[b] / GT_WARP_SUBS);
    pipe_cycles(sm, busy + GT_RESOURCE_PIPE);
    for (uint32_t pipe = 0; pipe < GT_PIPES; pipe++)
        busy[GT_RESOURCE_PIPE + pipe] /= GT_WARP_SUBS;
    busy[GT_RESOURCE_L2_READ] = sm->l2_read_cycles;
    busy[GT_RESOURCE_L2_WRITE] = sm->l2_write_cycles;
    busy[GT_RESOURCE_L2_REQUESTS] = sm->l2_tags.worked;
    busy[GT_RESOURCE_L2_FABRIC] = sm->fabric.worked;
    busy[GT_RESOURCE_DRAM] = sm->dram.worked;
    busy[GT_RESOURCE_ATOMIC] = sm->atomic.worked;
    for (uint32_t r = 0; r < GT_RESOURCES; r++)
        busy[r] = fmin(1, busy[r] / cycles);
}

/* Of the blocks that start together the first ends when it has had its part of the SM: so many share it. */
static double at_once(const struct gt_sm_core *sm)
{
    uint64_t slots = sm->launch->blocks_per_sm, first = sm->sm_blocks < slots ? sm->sm_blocks : slots;

    return (double)first * (double)sm->ended_at[0] / fmax(1, (double)sm->ended_at[first - 1]);
}

/* How long a warp waits to get rid of an atomic, in the mean: those before it hold up the way out of the SM. */
static double atomic_row(const struct gt_sm_core *sm)
{
    double waited = 0, executed = 0;

    for (uint32_t i = 0; i < sm->code.program->instruction_count; i++) {
        const struct gt_decoded_inst *op = &sm->code.ops[i];
        const double *stalls = &sm->stalls[(size_t)i * GT_STALLS];

        if ((op->action != GT_ACTION_ATOMIC && op->action != GT_ACTION_REDUCE) || op->gate != GT_WARP_GATE_LG)
            continue;
        waited += stalls[GT_STALL_LG_THROTTLE];
        executed += stalls[GT_STALL_SELECTED];
    }
    return executed > 0 ? waited / executed : 0;
}

static void report(struct gt_sm_core *sm, uint64_t rows, const struct shorter *shorter, struct gt_warp_result *result)
{
    const struct gt_program *program = sm->code.program;
    double bound, end = all_rows(sm, rows, &bound);
    double simulated = fmax(1, (double)sm->ended_at[sm->sm_blocks - 1]);
    double times = 1;
    end = fmax(uneven(sm, all_trips(sm, end, shorter, &bound), rows, &times),
               all_trips(sm, end, shorter, &bound) + waited(sm, rows));
    double sms = fmin(sm->device->sms, (double)sm->launch->blocks);
    double stores = fmax(0, sm->memory_end - simulated);

    *result = (struct gt_warp_result){
        .launch_cycles = sm->costs->launch_cycles,
        .run_cycles = end,
        .drain_cycles = sm->costs->drain_cycles + stores,
        .bound_cycles = bound,
        .simulated = sm->simulated,
        .covered = (uint64_t)((double)program->warp_instructions / fmax(1, (double)program->warps) *
                                  (double)sm->launch->blocks * sm->launch->warps_per_block +
                              0.5),
        .stalls_by_instruction = sm->stalls,
        .forced = sm->forced,
        .l2_bytes_per_cycle = sm->l2_bytes / simulated * sms,
        .dram_bytes_per_cycle = sm->dram_bytes / simulated * sms,
        .read_latency = sm->read_cycles / fmax(1, sm->reads),
        .issue_run_length = (double)sm->simulated / fmax(1, (double)(sm->simulated - sm->in_a_row)),
        .issue_share = (double)sm->simulated / GT_WARP_SUBS / simulated,
        .lsu_share = sm->lsu_busy / simulated,
        .warps_mean = sm->warp_cycles / simulated,
        .atomic_row_cycles = atomic_row(sm),
        .uneven = times,
        .at_once = at_once(sm),
    };
    result->cycles = result->launch_cycles + result->run_cycles + result->drain_cycles;
    memcpy(result->issued, sm->issued, sizeof result->issued);
    busy_shares(sm, simulated, result->busy);
    for (uint32_t i = 0; i < program->instruction_count * GT_STALLS; i++)
        result->stalls[i % GT_STALLS] += sm->stalls[i];
    sm->stalls = NULL;
}

static int check(const struct gt_device *device, const struct gt_warp_launch *launch, struct gt_error *error)
{
    if (launch->blocks == 0 || launch->warps_per_block == 0 || launch->blocks_per_sm == 0)
        return gt_error_set(error, "a launch of program '%s' without blocks", launch->program->key);
    if (rows_to_run(launch, (launch->blocks + device->sms - 1) / device->sms) > MOST_ROWS)
        return gt_error_set(error, "more than %d blocks on an SM, too many to run each; leave --detail full away",
                            MOST_ROWS);
    if ((uint64_t)launch->warps_per_block * launch->blocks_per_sm > (uint64_t)GT_WARP_SLOTS * GT_WARP_SUBS ||
        device->warps_per_sm > GT_WARP_SLOTS * GT_WARP_SUBS)
        return gt_error_set(error, "more than %d warps on an SM: the warp tier has no room for them",
                            GT_WARP_SLOTS * GT_WARP_SUBS);
    return 0;
}

static double most_instructions(const struct gt_warp_launch *launch, double share, uint64_t rows)
{
    double counted = block_instructions(launch) * share * (double)rows;
    double most = fmax(counted * HOPELESS_TIMES, MOST_INSTRUCTIONS);

    return launch->full ? most : fmin(most, HOPELESS_INSTRUCTIONS);
}

/* Build the SM and run it, `share` of the trips of long loops; `more` of the rows are beyond its share. */
static int run(struct gt_sm_core *sm, const struct gt_device *device, const struct gt_warp_launch *launch,
               double share, uint64_t rows, uint64_t more, struct gt_error *error)
{
    *sm = (struct gt_sm_core){ .device = device,
                               .costs = &device->warp,
                               .launch = launch,
                               .trip_share = share,
                               .most_instructions = most_instructions(launch, share, rows),
                               .sm_blocks = rows,
                               .more_rows = more };
    sm->scheduler = gt_scheduler_find(device->warp.policy, launch->scheduler, sm->scheduler_parameters, error);
    if (sm->scheduler == NULL || gt_warp_decode(&sm->code, device, launch, error) != 0)
        return -1;
    gt_warp_build(sm);
    gt_warp_grid_begin(sm);
    if (gt_warp_loop(sm, error) == 0)
        return 0;
    gt_warp_tear_down(sm);
    return -1;
}

/* Blocks beyond its share that the fullest SM gets in the last wave.  The last blocks go to whoever is first,
 * and an SM may fill up with them: as many as its busiest sub-partition was counted to have executed more
 * than the model's, while the last wave has room. */
static uint64_t more_rows(const struct gt_sm_core *sm, uint64_t rows)
{
    uint64_t slots = sm->launch->blocks_per_sm, room = room_in_last_wave(rows, slots), more;
    double busiest = 0;

    for (uint32_t s = 0; s < GT_WARP_SUBS; s++)
        busiest = fmax(busiest, (double)sm->subs[s].issued);
    if (sm->sm_blocks < rows || rows <= slots || room == 0 || sm->trip_share < 1 || !as_counted(sm))
        return 0;
    double counted = (double)sm->launch->busiest_warp_instructions;
    more = counted > busiest ? (uint64_t)((counted - busiest) / busiest * (double)rows + 0.5) : 0;
    return more <= room ? more : 0;
}

int gt_warp_run(const struct gt_device *device, const struct gt_warp_launch *launch, struct gt_warp_result *result,
                struct gt_error *error)
{
    uint64_t rows = (launch->blocks + device->sms - 1) / device->sms;
    struct shorter shorter = { 0 };
    struct gt_sm_core sm;

    if (check(device, launch, error) != 0)
        return -1;
    uint64_t some = rows_to_run(launch, rows);
    double share = trips_to_run(launch, some);
    if (share < 1) {
        double bound;

        if (run(&sm, device, launch, share / 2, some, 0, error) != 0)
            return -1;
        shorter = (struct shorter){ all_rows(&sm, rows, &bound), (double)sm.simulated };
        gt_warp_tear_down(&sm);
    }
    if (run(&sm, device, launch, share, some, 0, error) != 0)
        return -1;
    uint64_t more = more_rows(&sm, rows);
    if (more > 0) {
        gt_warp_tear_down(&sm);
        rows += more;
        if (run(&sm, device, launch, share, rows, more, error) != 0)
            return -1;
    }
    report(&sm, rows, &shorter, result);
    gt_warp_tear_down(&sm);
    return 0;
}

/* What is known of the launch that its program was made from, and how much of it that says of this one. */
static void as_profiled(struct gt_warp_launch *launch)
{
    const struct gt_program *program = launch->program;
    double warps = (double)launch->blocks * launch->warps_per_block;
    double profiled = fmax(1, (double)program->warps);

    launch->clock_share = program->clock_share;
    if (program->cluster_blocks > 0)
        launch->cluster_blocks = program->cluster_blocks;
    double executed = (double)program->launch_warp_instructions * warps / profiled;
    launch->warp_instructions = (uint64_t)(fmin(executed, (double)INT64_MAX) + 0.5);
    /* How unevenly another grid loads the sub-partitions is not known. */
    if (warps == profiled)
        launch->busiest_warp_instructions = program->busiest_warp_instructions;
}

int gt_warp_launch_of(const struct gt_device *device, const struct gt_workload *workload, gt_op_index op,
                      struct gt_warp_launch *launch, struct gt_error *error)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    const struct gt_profile *profile = gt_workload_profile(workload, op);
    struct gt_occupancy occupancy;

    if (gt_occupancy_of(device, kernel, &occupancy, error) != 0)
        return -1;
    *launch = (struct gt_warp_launch){
        .program = kernel->program,
        .blocks = gt_kernel_blocks(kernel),
        .warps_per_block = occupancy.need.warps,
        .blocks_per_sm = occupancy.blocks_per_sm,
        .cluster_blocks = 1,
        .use = profile != NULL ? &profile->use : NULL,
        .warp_instructions = profile != NULL ? profile->warp_instructions : 0,
        .busiest_warp_instructions = profile != NULL ? profile->busiest_warp_instructions : 0,
    };
    if (profile == NULL)
        as_profiled(launch);
    else if (profile->cluster[0] > 0)
        launch->cluster_blocks = profile->cluster[0] * profile->cluster[1] * profile->cluster[2];
    return 0;
}
