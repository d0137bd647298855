/* decode.c - a program made ready to run: what each instruction costs on the device, and what the
 * launch as a whole says about instructions that do not say it themselves. */
#include <math.h>
#include <stdlib.h>

#include "sim/warp/internal.h"

static double known(double value, double otherwise)
{
    return value < 0 ? otherwise : value;
}

static bool is_global(const struct gt_access *access)
{
    return access->space == GT_SPACE_GLOBAL || access->space == GT_SPACE_LOCAL || access->space == GT_SPACE_TEXTURE ||
           (access->space == GT_SPACE_GENERIC && access->sectors > 0);
}

/* Cycles of the tensor pipe for a matrix product: the device's rate is of 16-bit multiply-adds, others take
 * the time of the bits of their rows; a warp's own product takes some to start.  Of 64-bit products it is as many
 * bits as their time is worth. */
static float mma_cycles(const struct gt_warp_costs *costs, const struct gt_instruction *instruction)
{
    /* clang-format off */
    const double bits_of[] = {
        [GT_ELEMENT_4_BITS] = 4,   [GT_ELEMENT_8_BITS] = 8,    [GT_ELEMENT_16_BITS] = 16,
        [GT_ELEMENT_32_BITS] = 32, [GT_ELEMENT_64_BITS] = costs->mma_fp64_bits,
    };
    /* clang-format on */
    double rows = instruction->gmma_m == 8 ? 8 : 16, bits = instruction->gmma_k * bits_of[instruction->element];
    double products = rows * instruction->gmma_n * bits / 16;

    if (instruction->action == GT_ACTION_GMMA)
        return (float)(products / costs->gmma_per_cycle);
    if (products <= 0)
        return (float)costs->interval[GT_PIPE_TENSOR];
    return (float)(costs->mma_start_cycles + products / costs->mma_per_cycle);
}

static uint8_t cause_of(const struct gt_decoded_inst *op)
{
    if (op->access != NULL && is_global(op->access))
        return GT_STALL_LONG_SCOREBOARD;
    if (op->action == GT_ACTION_ASYNC_COMMIT || op->action == GT_ACTION_BULK_COMMIT)
        return GT_STALL_LONG_SCOREBOARD;
    return GT_STALL_SHORT_SCOREBOARD;
}

/* How much of an operation on an mbarrier counts: of an arrival, whether a thread takes part; of a wait, the
 * share of threads, since a try behind one that failed is made by few. */
static float counts_of(const struct gt_instruction *in)
{
    float share = in->threads > 0 ? in->threads_on / in->threads : 1;

    if (in->action == GT_ACTION_MBARRIER_WAIT)
        return share < 0.5f ? 0 : share;
    return in->threads_on < 1 ? in->threads_on : 1;
}

static void decode(struct gt_decoded_inst *op, const struct gt_instruction *in, const struct gt_program *program,
                   const struct gt_warp_costs *costs, const struct gt_access *no_access)
{
    *op = (struct gt_decoded_inst){
        .action = in->action,
        .pipe = in->pipe,
        .gate = in->pipe,
        .stall = in->stall_cycles > 0 ? in->stall_cycles : 1,
        .wait_mask = in->wait_mask,
        .write_barrier = in->write_barrier,
        .read_barrier = in->read_barrier,
        .argument = in->argument,
        .argument2 = in->argument2,
        .line = in->offset_bytes / costs->fetch_line_bytes,
        .constant = in->constant == GT_NONE ? GT_NONE : in->constant / costs->constant_line_bytes,
        .interval = (float)costs->interval[in->pipe],
        .latency = (float)costs->latency[in->pipe],
        .access = in->memory == GT_NONE ? NULL : &program->memory[in->memory],
        .counts = counts_of(in),
        .commits = in->action == GT_ACTION_GMMA && in->argument == 1,
    };
    bool moves = in->action == GT_ACTION_LOAD || in->action == GT_ACTION_STORE || in->action == GT_ACTION_ATOMIC ||
                 in->action == GT_ACTION_REDUCE || in->action == GT_ACTION_ASYNC_COPY;
    if (moves && in->executions > 0 && in->threads_on == 0)
        op->action = GT_ACTION_COMPUTE; /* "@!PT LDS RZ, [RZ]": takes an issue slot */
    else if (moves && op->access == NULL)
        op->access = no_access;
    if (op->access != NULL && is_global(op->access) && moves && op->action != GT_ACTION_COMPUTE)
        op->gate = GT_WARP_GATE_LG;
    if (in->action == GT_ACTION_GMMA)
        op->latency = mma_cycles(costs, in); /* queues in the tensor core, its gate stays open */
    else if (in->pipe == GT_PIPE_TENSOR)
        op->interval = mma_cycles(costs, in);
    if (in->action == GT_ACTION_SPECIAL)
        op->latency = (float)costs->special_latency;
    if (in->action == GT_ACTION_SLEEP && in->argument2 == 1)
        op->action = GT_ACTION_COMPUTE; /* ends with the phase that the instruction before it waited for */
    if (op->action == GT_ACTION_COMPUTE)
        op->access = in->pipe == GT_PIPE_TENSOR ? op->access : NULL;
    op->cause = cause_of(op);
}

/* Totals over the launch that say how much an access of a kind moves. */
struct totals {
    double atomics, bulk_loads, bulk_bytes, expects, arrives, inits, fills;
    double l2_loads, l2_stores; /* sectors that miss L1 by its hit rates */
};

static struct totals total(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;
    struct totals t = { 0 };

    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct gt_instruction *in = &program->instructions[i];
        const struct gt_access *access = in->memory == GT_NONE ? NULL : &program->memory[in->memory];
        double n = (double)in->executions;

        if ((in->action == GT_ACTION_ATOMIC || in->action == GT_ACTION_REDUCE) && access != NULL &&
            access->space != GT_SPACE_SHARED)
            t.atomics += n;
        if (access != NULL && is_global(access) && in->threads_on > 0) {
            double missed = n * access->sectors;

            if (in->action == GT_ACTION_LOAD || in->action == GT_ACTION_ASYNC_COPY)
                t.l2_loads += missed * (1 - gt_warp_hit_rate(&code->use, access, true));
            if (in->action == GT_ACTION_STORE)
                t.l2_stores += missed * (1 - gt_warp_hit_rate(&code->use, access, false));
        }
        t.bulk_loads += in->action == GT_ACTION_BULK_LOAD ? n : 0;
        t.bulk_bytes += in->action == GT_ACTION_BULK_LOAD && access != NULL ? n * access->bulk_bytes : 0;
        t.inits += in->action == GT_ACTION_MBARRIER_INIT ? n : 0;
        if (in->action == GT_ACTION_MBARRIER_ARRIVE)
            *(in->argument == 1 ? &t.expects : &t.arrives) += n * counts_of(in);
        if (in->action == GT_ACTION_ASYNC_COMMIT && in->argument >= 6)
            t.fills += n;
    }
    return t;
}

/* Warps that run an instruction of the kinds in the block's pipeline. */
static void find_roles(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];

        for (uint32_t i = 0; i < block->count && block->executions > 0; i++) {
            const struct gt_instruction *in = &program->instructions[block->first + i];

            if (in->action == GT_ACTION_BULK_LOAD || (in->action == GT_ACTION_ASYNC_COMMIT && in->argument >= 6) ||
                (in->action == GT_ACTION_MBARRIER_ARRIVE && in->argument == 1))
                code->producers |= block->warps;
            else if (in->action == GT_ACTION_MBARRIER_ARRIVE)
                code->consumers |= block->warps;
        }
    }
    /* The warps that fill wait for the ones that empty, not for themselves. */
    if ((code->consumers & ~code->producers) != 0)
        code->consumers &= ~code->producers;
}

static double bits(uint32_t mask)
{
    return __builtin_popcount(mask);
}

static void pipeline(struct gt_decoded_program *code, const struct totals *t)
{
    const struct gt_program *program = code->program;
    double blocks = fmax(1, (double)program->warps / program->warps_per_block);

    find_roles(code);
    code->bulk = t->bulk_loads > 0;
    code->copies = !code->bulk && t->fills > 0;
    code->consumers_arrive = t->arrives > 0;
    code->loads_per_phase = t->expects > 0 ? fmax(1, t->bulk_loads / t->expects) : 1;
    double read = fmax(0, (double)code->use.l2_read_sectors - t->l2_loads) * GT_SECTOR_BYTES;
    code->l2_per_bulk = t->bulk_bytes > 0 && read > 0 ? fmin(1, read / t->bulk_bytes) : 1;
    /* Every consumer empties every phase, however many of its threads say so. */
    double phases = code->bulk ? t->bulk_loads / code->loads_per_phase / blocks
                               : t->fills / blocks / fmax(1, bits(code->producers));
    double arrivals = t->arrives / blocks / fmax(1, bits(code->consumers));
    code->arrival_scale = arrivals > 0 && phases > 0 ? phases / arrivals : 1;
    double phase_bytes = t->bulk_loads > 0 ? t->bulk_bytes / t->bulk_loads * code->loads_per_phase : 0;
    double stages = t->inits / blocks / 2;
    if (phase_bytes > 0 && program->shared_bytes > 0)
        stages = fmin(stages, program->shared_bytes / phase_bytes);
    code->stages = (uint32_t)fmax(2, fmin(GT_WARP_PHASES / 2, floor(stages + 0.1)));
}

/* Sectors that DRAM moves beside one that was asked for. */
static double beside(const struct gt_warp_costs *costs)
{
    return (double)costs->dram_burst_bytes / GT_SECTOR_BYTES - 1;
}

/* How much of what DRAM reads nobody asked for: 0 where it reads what misses L2, 1 where all that it reads at
 * once for each sector of that. */
static double scattered(const struct gt_memory_use *use, const struct gt_warp_costs *costs)
{
    double missed = (double)use->l2_read_sectors * (1 - known(use->l2_read_hit, 0)) +
                    (double)use->l2_atomic_sectors * (1 - known(use->l2_atomic_hit, 0));

    if (missed < 1 || beside(costs) <= 0)
        return 0;
    return fmax(0, fmin(1, ((double)use->dram_read_bytes / GT_SECTOR_BYTES / missed - 1) / beside(costs)));
}

static void dram(struct gt_decoded_program *code, const struct gt_warp_costs *costs)
{
    const struct gt_memory_use *use = &code->use;
    double r = (double)use->dram_read_bytes, w = (double)use->dram_write_bytes;
    double apart = scattered(use, costs), atomics = (double)use->l2_atomic_sectors * GT_SECTOR_BYTES;
    double reads = (double)use->l2_read_sectors * GT_SECTOR_BYTES, miss = 1 - known(use->l2_read_hit, 0);
    double writes = (double)use->l2_write_sectors * GT_SECTOR_BYTES + atomics;

    /* What loads miss was read for them; the rest for atomics. */
    double for_loads = atomics > 0 ? fmin(r, reads * miss * (1 + beside(costs) * apart)) : r;
    code->dram_per_l2_read = reads > 0 ? for_loads / reads : 0;
    code->dram_per_l2_atomic = atomics > 0 ? (r - for_loads) / atomics : 0;
    code->l2_atomic_miss = fmin(1, fmin(code->dram_per_l2_atomic, 1 - known(use->l2_atomic_hit, 0)));
    /* Sectors written one by one fill a part of what DRAM writes at once. */
    code->dram_per_l2_write = writes > 0 ? w / writes * (1 + beside(costs) * fmin(1, 2 * apart)) : 0;
    code->l2_read_miss = fmin(1, fmin(code->dram_per_l2_read, miss));
    code->dram_per_l2_miss = code->l2_read_miss > 0 ? code->dram_per_l2_read / code->l2_read_miss : 0;
    /* Turning the bus between reads and writes costs most where they are half and half. */
    double mixed = r + w > 0 ? 2 * fmin(r, w) / (r + w) : 0;
    /* What stays behind in L2 makes reads wait too (few SMs that copy, updates in place). */
    double kept = fmin(fmax(0, writes - w), costs->l2_kept_part * (double)costs->l2_bytes), all = w + kept;
    code->kept_per_l2_write = writes > 0 ? kept / writes : 0;
    code->mixed = r + all > 0 ? 2 * fmin(r, all) / (r + all) : 0;
    code->dram_efficiency = costs->dram_efficiency + (costs->dram_mixed_efficiency - costs->dram_efficiency) * mixed +
                            (costs->dram_scattered_efficiency - costs->dram_efficiency) * apart;
    code->dram_efficiency = fmax(code->dram_efficiency, costs->dram_scattered_efficiency / 2);
}

static void memory(struct gt_decoded_program *code, const struct gt_warp_costs *costs, const struct totals *t)
{
    const struct gt_memory_use *use = &code->use;
    double fabric = (double)use->l2_fabric_sectors;
    double writes = (double)use->l2_write_sectors + (double)use->l2_atomic_sectors;

    dram(code, costs);
    /* Several accesses to a sector that is on its way, and stores that meet in L1, are one at L2. */
    code->l2_per_load = code->l2_per_store = 1;
    if (t->l2_loads > 0 && !code->bulk && use->l2_read_sectors > 0)
        code->l2_per_load = fmin(1, (double)use->l2_read_sectors / t->l2_loads);
    if (t->l2_stores > 0 && use->l2_write_sectors > 0)
        code->l2_per_store = fmin(1, (double)use->l2_write_sectors / t->l2_stores);
    /* Addresses are spread over both halves: of what is written half crosses, the rest was read. */
    double written = fmin(fabric, writes / 2);
    code->fabric_per_write = writes > 0 ? written / writes : 0;
    code->fabric_per_read = use->l2_read_sectors > 0 ? (fabric - written) / (double)use->l2_read_sectors : 0;
    code->atomic_sectors = t->atomics > 0 ? fmax(1, (double)use->l2_atomic_sectors / t->atomics) : 1;
}

/* Edges by which loops are left, loop by loop. */
static void find_exits(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;
    uint32_t used = 0;

    code->first_exit = gt_calloc(program->loop_count + 1, sizeof *code->first_exit);
    code->exit_sum = gt_calloc(program->loop_count + 1, sizeof *code->exit_sum);
    code->exits = gt_calloc(program->edge_count + 1, sizeof *code->exits);
    for (uint32_t l = 0; l < program->loop_count; l++) {
        code->first_exit[l] = used;
        for (uint32_t b = 0; b < program->block_count; b++) {
            const struct gt_basic_block *block = &program->blocks[b];
            bool ours = block->loop == l && block->choice == GT_CHOICE_LOOP;

            for (uint32_t e = block->first_edge; ours && e < block->first_edge + block->edge_count; e++)
                if (program->edges[e].leaves && program->edges[e].executions > 0) {
                    code->exits[used++] = e;
                    code->exit_sum[l] += (double)program->edges[e].executions;
                }
        }
    }
    code->first_exit[program->loop_count] = used;
}

/* Warps that wait in loops. */
static void find_pollers(struct gt_decoded_program *code, const struct gt_warp_launch *launch)
{
    const struct gt_program *program = code->program;

    code->kept = gt_warp_find_waiting(launch).kept;
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].loop != GT_NONE && code->kept[program->blocks[b].loop] == 0)
            code->pollers |= program->blocks[b].warps;
}

static uint32_t outermost(const struct gt_program *program, uint32_t l)
{
    for (uint32_t depth = 0; program->loops[l].parent != GT_NONE && depth < program->loop_count; depth++)
        l = program->loops[l].parent;
    return l;
}

static void find_long_loops(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;

    code->long_loop = gt_calloc(program->loop_count + 1, sizeof *code->long_loop);
    for (uint32_t l = 0; l < program->loop_count; l++) {
        double trips = gt_warp_mean_trips(&program->loops[l]);

        code->long_loop[l] = trips >= 2;
        for (uint32_t k = 0; k < program->loop_count; k++)
            if (k != l && outermost(program, k) == outermost(program, l) &&
                (gt_warp_mean_trips(&program->loops[k]) > trips ||
                 (k < l && gt_warp_mean_trips(&program->loops[k]) == trips)))
                code->long_loop[l] = false;
    }
}

/* L2 has this part of what DRAM would have to give. */
static void warm_up(struct gt_memory_use *use, double share)
{
    if (share == 0)
        return;
    use->l2_read_hit = 1 - (1 - known(use->l2_read_hit, 0)) * (1 - share);
    use->dram_read_bytes = (uint64_t)((double)use->dram_read_bytes * (1 - share));
}

int gt_warp_decode(struct gt_decoded_program *code, const struct gt_device *device,
                   const struct gt_warp_launch *launch, struct gt_error *error)
{
    const struct gt_program *program = launch->program;

    if (program->instruction_count == 0)
        return gt_error_set(error, "program '%s' has no instructions", program->key);
    if (program->block_count == 0)
        return gt_error_set(error, "program '%s' has more control flow than can be followed", program->key);
    *code =
        (struct gt_decoded_program){ .program = program, .use = launch->use != NULL ? *launch->use : program->use };
    warm_up(&code->use, launch->l2_reuse_fraction);
    code->ops = gt_calloc(program->instruction_count, sizeof *code->ops);
    code->no_access = gt_calloc(1, sizeof *code->no_access);
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        struct gt_decoded_inst *op = &code->ops[i];

        decode(op, &program->instructions[i], program, &device->warp, code->no_access);
        code->lines = op->line >= code->lines ? op->line + 1 : code->lines;
        if (op->constant != GT_NONE && op->constant >= code->constants)
            code->constants = op->constant + 1;
        if (op->action == GT_ACTION_SCOREBOARD_WAIT && op->argument < 6)
            code->ring_mask |= (uint8_t)(1u << op->argument);
    }
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].count > 0)
            code->ops[program->blocks[b].first + program->blocks[b].count - 1].last = true;
    gt_warp_find_reads(code);
    find_exits(code);
    find_pollers(code, launch);
    find_long_loops(code);
    struct totals t = total(code);
    pipeline(code, &t);
    memory(code, &device->warp, &t);
    gt_warp_find_misses(code, (double)device->warp.l2_bytes);
    gt_warp_find_in_flight(code, launch, &device->warp, device->sms);
    gt_warp_find_rare(code, device);
    return 0;
}

void gt_warp_decode_free(struct gt_decoded_program *code)
{
    free(code->ops);
    free(code->no_access);
    free(code->first_exit);
    free(code->exits);
    free(code->exit_sum);
    free(code->kept);
    free(code->long_loop);
    free(code->rare);
    free(code->more_work);
}
