/* Programs and profiles, written. */
#include <string.h>

#include "sim/workload/program.h"
#include "traces/jsonl/emit.h"
#include "traces/jsonl/program.h"
#include "traces/sass/cubin.h"

const struct gt_use_field gt_use_rates[GT_USE_RATES] = {
    { "l1_load_hit", offsetof(struct gt_memory_use, l1_load_hit) },
    { "l1_store_hit", offsetof(struct gt_memory_use, l1_store_hit) },
    { "local_load_hit", offsetof(struct gt_memory_use, local_load_hit) },
    { "local_store_hit", offsetof(struct gt_memory_use, local_store_hit) },
    { "l2_read_hit", offsetof(struct gt_memory_use, l2_read_hit) },
    { "l2_write_hit", offsetof(struct gt_memory_use, l2_write_hit) },
    { "l2_atomic_hit", offsetof(struct gt_memory_use, l2_atomic_hit) },
    { "l2_atomic_slice_share", offsetof(struct gt_memory_use, l2_atomic_slice_share) },
};

const struct gt_use_field gt_use_counts[GT_USE_COUNTS] = {
    { "l2_read_sectors", offsetof(struct gt_memory_use, l2_read_sectors) },
    { "l2_write_sectors", offsetof(struct gt_memory_use, l2_write_sectors) },
    { "l2_atomic_sectors", offsetof(struct gt_memory_use, l2_atomic_sectors) },
    { "l2_fabric_sectors", offsetof(struct gt_memory_use, l2_fabric_sectors) },
    { "dram_read_bytes", offsetof(struct gt_memory_use, dram_read_bytes) },
    { "dram_write_bytes", offsetof(struct gt_memory_use, dram_write_bytes) },
};

const size_t gt_access_means[GT_ACCESS_MEANS] = {
    offsetof(struct gt_access, sectors),          offsetof(struct gt_access, sectors_ideal),
    offsetof(struct gt_access, tag_requests),     offsetof(struct gt_access, wavefronts),
    offsetof(struct gt_access, wavefronts_ideal), offsetof(struct gt_access, bulk_bytes),
};

static void emit_use(struct gt_emit *emit, const struct gt_memory_use *use)
{
    for (int i = 0; i < GT_USE_RATES; i++) {
        double rate = *(const double *)((const char *)use + gt_use_rates[i].offset);

        if (rate < 0)
            continue;
        gt_emit_key(emit, gt_use_rates[i].name);
        gt_emit_mean_value(emit, rate);
    }
    for (int i = 0; i < GT_USE_COUNTS; i++) {
        uint64_t count = *(const uint64_t *)((const char *)use + gt_use_counts[i].offset);

        if (count != 0)
            gt_emit_number(emit, gt_use_counts[i].name, count);
    }
}

static void emit_code(struct gt_emit *emit, const struct gt_program *program)
{
    gt_emit_open_list(emit, "sass");
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const char *text = program->text + program->instructions[i].text;

        yajl_gen_string(emit->gen, (const unsigned char *)text, strlen(text));
    }
    yajl_gen_array_close(emit->gen);
    gt_emit_open_list(emit, "control");
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct gt_instruction *instruction = &program->instructions[i];
        struct gt_sass_control control = {
            instruction->stall_cycles, instruction->yield,     instruction->write_barrier,
            instruction->read_barrier, instruction->wait_mask, instruction->reuse,
        };

        gt_emit_number_value(emit, gt_sass_control_pack(&control));
    }
    yajl_gen_array_close(emit->gen);
}

static void emit_counts(struct gt_emit *emit, const struct gt_program *program)
{
    gt_emit_open_list(emit, "executions");
    for (uint32_t i = 0; i < program->instruction_count; i++)
        gt_emit_number_value(emit, program->instructions[i].executions);
    yajl_gen_array_close(emit->gen);
    gt_emit_open_list(emit, "threads");
    for (uint32_t i = 0; i < program->instruction_count; i++)
        gt_emit_mean_value(emit, program->instructions[i].threads);
    yajl_gen_array_close(emit->gen);
    gt_emit_open_list(emit, "threads_on");
    for (uint32_t i = 0; i < program->instruction_count; i++)
        gt_emit_mean_value(emit, program->instructions[i].threads_on);
    yajl_gen_array_close(emit->gen);
}

/* [[instruction, splits], ...] of the branches that split warps */
static void emit_divergent(struct gt_emit *emit, const struct gt_program *program)
{
    gt_emit_open_list(emit, "divergent");
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];

        if (block->divergent == 0)
            continue;
        yajl_gen_array_open(emit->gen);
        gt_emit_number_value(emit, block->first + block->count - 1);
        gt_emit_number_value(emit, block->divergent);
        yajl_gen_array_close(emit->gen);
    }
    yajl_gen_array_close(emit->gen);
}

/* [[instruction, space, means ...], ...] of instructions that move data; means of 0 at the end are left out
 */
static void emit_access(struct gt_emit *emit, const struct gt_program *program)
{
    gt_emit_open_list(emit, "access");
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        uint32_t memory = program->instructions[i].memory;
        const struct gt_access *access = &program->memory[memory == GT_NONE ? 0 : memory];
        const char *space = gt_space_names[access->space];
        int means = GT_ACCESS_MEANS;

        while (means > 0 && *(const float *)((const char *)access + gt_access_means[means - 1]) == 0)
            means--;
        if (memory == GT_NONE || (means == 0 && access->space == GT_SPACE_CONSTANT))
            continue;
        yajl_gen_array_open(emit->gen);
        gt_emit_number_value(emit, i);
        yajl_gen_string(emit->gen, (const unsigned char *)space, strlen(space));
        for (int m = 0; m < means; m++)
            gt_emit_mean_value(emit, *(const float *)((const char *)access + gt_access_means[m]));
        yajl_gen_array_close(emit->gen);
    }
    yajl_gen_array_close(emit->gen);
}

/* [[instruction, reason, samples], ...] */
static void emit_samples(struct gt_emit *emit, const struct gt_program *program)
{
    if (program->samples == NULL)
        return;
    gt_emit_open_list(emit, "samples");
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        for (int stall = 0; stall < GT_STALLS; stall++) {
            uint32_t samples = program->samples[(size_t)i * GT_STALLS + stall];

            if (samples == 0)
                continue;
            yajl_gen_array_open(emit->gen);
            gt_emit_number_value(emit, i);
            yajl_gen_string(emit->gen, (const unsigned char *)gt_stall_names[stall], strlen(gt_stall_names[stall]));
            gt_emit_number_value(emit, samples);
            yajl_gen_array_close(emit->gen);
        }
    }
    yajl_gen_array_close(emit->gen);
}

void gt_emit_program(struct gt_emit *emit, uint32_t index)
{
    const struct gt_program *program = emit->workload->programs[index];

    gt_emit_open(emit);
    gt_emit_text(emit, "program", program->key);
    gt_emit_number(emit, "compute_capability", program->compute_capability);
    gt_emit_number(emit, "warps", program->warps);
    gt_emit_number(emit, "warps_per_block", program->warps_per_block);
    gt_emit_number(emit, "registers", program->registers_per_thread);
    gt_emit_number(emit, "shared_bytes", program->shared_bytes);
    gt_emit_flag(emit, "warm_caches", program->warm_caches);
    emit_use(emit, &program->use);
    emit_code(emit, program);
    emit_counts(emit, program);
    emit_divergent(emit, program);
    emit_access(emit, program);
    emit_samples(emit, program);
    gt_emit_close(emit, GT_EXTRA_PROGRAM, index);
    gt_emit_newline(emit);
}

void gt_emit_profile(struct gt_emit *emit, const struct gt_profile *profile)
{
    if (profile == NULL)
        return;
    gt_emit_key(emit, "profile");
    gt_emit_open(emit);
    gt_emit_number(emit, "cycles", profile->cycles);
    if (profile->sm_hz > 0) {
        gt_emit_key(emit, "sm_hz");
        gt_emit_mean_value(emit, profile->sm_hz);
    }
    gt_emit_number(emit, "warp_instructions", profile->warp_instructions);
    if (profile->busiest_warp_instructions != 0)
        gt_emit_number(emit, "busiest_warp_instructions", profile->busiest_warp_instructions);
    if (profile->cluster[0] != 1 || profile->cluster[1] != 1 || profile->cluster[2] != 1)
        gt_emit_size3(emit, "cluster", profile->cluster);
    if (profile->shared_carveout_bytes != 0)
        gt_emit_number(emit, "shared_carveout_bytes", profile->shared_carveout_bytes);
    if (profile->blocks_per_sm != 0)
        gt_emit_number(emit, "blocks_per_sm", profile->blocks_per_sm);
    emit_use(emit, &profile->use);
    gt_emit_close(emit, GT_EXTRA_PROFILE, profile->op);
}
