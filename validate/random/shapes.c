/* Kernels at random: shapes that fill SMs in all ways, with more than their share of corners. */
#include <inttypes.h>

#include "validate/random/script.h"

/* The SM whose corners are drawn: an H200's (sim/devices/h200.ini). On another GPU the same traces are less pointed. */
enum {
    SMS = GT_SCRIPT_SMS,
    SM_THREADS = 2048,
    SM_WARPS = 64,
    SM_BLOCKS = 32,
    SM_REGISTERS = 65536,
    SM_SHARED = 233472,
    RESERVED_SHARED = 1024,
    BLOCK_SHARED = 232448,
    WARP = 32
};

struct shape {
    uint32_t threads, registers, shared_bytes, per_sm;
};

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t gt_script_blocks_per_sm(uint32_t threads, uint32_t registers, uint32_t shared_bytes)
{
    uint32_t warps = (threads + WARP - 1) / WARP, fit = least_of(SM_BLOCKS, SM_WARPS / warps);

    fit = least_of(fit, SM_REGISTERS / ((registers == 0 ? 24 : (registers + 7) / 8 * 8) * WARP * warps));
    fit = least_of(fit, SM_SHARED / ((shared_bytes + 127) / 128 * 128 + RESERVED_SHARED));
    return fit > 0 ? fit : 1;
}

/* Shared memory of which just n blocks fit an SM, or one fewer. */
static uint32_t corner_shared(struct gt_chance *chance)
{
    uint32_t blocks = gt_chance_between(chance, 1, 6);
    uint32_t most = SM_SHARED / blocks / 128 * 128 - RESERVED_SHARED;

    return least_of(most + (gt_chance_in(chance, 1, 2) ? 128 : 0), BLOCK_SHARED);
}

static struct shape draw_shape(struct gt_chance *chance)
{
    static const uint32_t threads[] = { 32, 64, 96, 128, 128, 192, 256, 256, 256, 384, 512, 512, 768, 1024 };
    static const uint32_t registers[] = { 24, 32, 40, 64, 80, 96, 128, 168, 255 };
    struct shape shape = { .threads = gt_chance_pick(chance, threads, sizeof threads / sizeof *threads) };

    if (gt_chance_in(chance, 1, 2)) {
        shape.registers = gt_chance_pick(chance, registers, sizeof registers / sizeof *registers);
        while ((shape.registers + 7) / 8 * 8 * shape.threads > SM_REGISTERS)
            shape.registers /= 2;
    }
    if (gt_chance_in(chance, 1, 4))
        shape.shared_bytes = corner_shared(chance);
    else if (gt_chance_in(chance, 1, 4))
        shape.shared_bytes = gt_chance_between(chance, 1, 100) * 1024;
    shape.per_sm = gt_script_blocks_per_sm(shape.threads, shape.registers, shape.shared_bytes);
    return shape;
}

/* One block, some, or about a number of waves: a block less, just so, a block more. */
static uint32_t draw_grid(struct gt_chance *chance, const struct shape *shape, uint32_t most)
{
    uint32_t wave = SMS * shape->per_sm, grid;

    switch (gt_chance_between(chance, 0, 9)) {
    case 0: grid = gt_chance_between(chance, 1, 8); break;
    case 1: grid = gt_chance_between(chance, 9, SMS - 1); break;
    case 2: grid = SMS + gt_chance_between(chance, 0, 2) - 1; break;
    case 3: grid = SMS / 2 * gt_chance_between(chance, 1, 3); break;
    case 4:
    case 5: grid = wave * gt_chance_between(chance, 1, 3) + gt_chance_between(chance, 0, 2) - 1; break;
    case 6: grid = wave / 2 + gt_chance_between(chance, 0, 2); break;
    default: grid = gt_chance_scale(chance, 1, wave * 3); break;
    }
    return least_of(grid, most);
}

/* Block times: all alike, evenly spread, or a few long ones among many short; the mean in *mean_us. */
static void write_times(struct gt_script *script, uint32_t longest_us, uint32_t *mean_us)
{
    struct gt_chance *chance = &script->chance;
    uint32_t least = gt_chance_scale(chance, 4, longest_us);

    *mean_us = least;
    switch (gt_chance_between(chance, 0, 5)) {
    case 0:
    case 1: fprintf(script->out, ",\"block_us\":%" PRIu32, least); break;
    case 2: {
        uint32_t longer = least * gt_chance_between(chance, 2, 6);

        fprintf(script->out, ",\"block_list_us\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
                least, least, least, longer, least);
        *mean_us = longer;
        break;
    }
    default: {
        uint32_t most = least + gt_chance_between(chance, 1, least + 4);

        fprintf(script->out, ",\"block_us\":[%" PRIu32 ",%" PRIu32 "]", least, most);
        *mean_us = (least + most) / 2;
        break;
    }
    }
}

static void write_kernel(struct gt_script *script, uint32_t number, uint32_t longest_us, uint32_t blocks_most)
{
    struct shape shape = draw_shape(&script->chance);
    uint32_t grid = draw_grid(&script->chance, &shape, blocks_most), mean_us, waves;

    fprintf(script->out, "{\"kernel\":\"k%" PRIu32 "\",\"grid\":%" PRIu32 ",\"block\":%" PRIu32, number, grid,
            shape.threads);
    if (shape.registers > 0)
        fprintf(script->out, ",\"registers\":%" PRIu32, shape.registers);
    if (shape.shared_bytes > 0)
        fprintf(script->out, ",\"dynamic_shared_bytes\":%" PRIu32, shape.shared_bytes);
    write_times(script, longest_us, &mean_us);
    fputs("}\n", script->out);
    waves = (grid + SMS * shape.per_sm - 1) / (SMS * shape.per_sm);
    script->work_us[number] = (uint64_t)waves * mean_us;
}

void gt_script_kernels(struct gt_script *script, uint32_t count, uint32_t longest_us, uint32_t blocks_most)
{
    for (; count > 0 && script->kernels < GT_SCRIPT_KERNELS; count--)
        write_kernel(script, script->kernels++, longest_us, blocks_most);
}

void gt_script_us(struct gt_script *script, const char *field, uint32_t tenths)
{
    fprintf(script->out, ",\"%s\":%" PRIu32 ".%" PRIu32, field, tenths / 10, tenths % 10);
}
