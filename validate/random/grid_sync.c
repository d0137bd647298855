/* Grids whose blocks meet, launched cooperatively or not; kernels that come before the one ahead is over; threads that
 * poll, at random. */
#include <inttypes.h>

#include "validate/random/script.h"

enum { REGISTERS = 32, SOON = 600, LATER = 1200 /* tenths of microseconds */ };

struct shape {
    uint32_t threads, shared_bytes, blocks; /* resident on the whole GPU */
};

static struct shape draw_shape(struct gt_chance *chance)
{
    static const uint32_t threads[] = { 32, 64, 128, 256, 512, 1024 }, shared[] = { 0, 0, 0, 8192, 40000, 100000 };
    struct shape shape = { .threads = gt_chance_pick(chance, threads, 6) };

    shape.shared_bytes = gt_chance_pick(chance, shared, 6);
    shape.blocks = GT_SCRIPT_SMS * gt_script_blocks_per_sm(shape.threads, REGISTERS, shape.shared_bytes);
    return shape;
}

/* All that fit, half, a quarter, or any number. */
static uint32_t draw_grid(struct gt_chance *chance, uint32_t blocks)
{
    switch (gt_chance_between(chance, 0, 3)) {
    case 0: return blocks;
    case 1: return blocks / 2;
    case 2: return blocks / 4;
    default: return gt_chance_between(chance, 1, blocks);
    }
}

static void begin_kernel(struct gt_script *script, const struct shape *shape, uint32_t grid)
{
    fprintf(script->out, "{\"kernel\":\"k%" PRIu32 "\",\"grid\":%" PRIu32 ",\"block\":%" PRIu32 ",\"registers\":%d",
            script->kernels, grid, shape->threads, REGISTERS);
    if (shape->shared_bytes > 0)
        fprintf(script->out, ",\"shared_bytes\":%" PRIu32, shape->shared_bytes);
}

static uint32_t end_kernel(struct gt_script *script)
{
    fputs("}\n", script->out);
    return script->kernels++;
}

/* All alike, spread, or a list. */
static void write_times(struct gt_script *script, uint32_t least, uint32_t most)
{
    struct gt_chance *chance = &script->chance;
    uint32_t tenths = gt_chance_between(chance, least, most), kind = gt_chance_between(chance, 0, 9);

    if (kind < 6) {
        gt_script_us(script, "block_us", tenths);
        return;
    }
    fprintf(script->out, ",\"block_%s\":[", kind < 8 ? "us" : "list_us");
    for (uint32_t i = 0, count = kind < 8 ? 2 : gt_chance_between(chance, 2, 7); i < count; i++) {
        uint32_t one = tenths * (kind < 8 ? 7 + 6 * i : gt_chance_between(chance, 5, 15)) / 10;

        fprintf(script->out, "%s%" PRIu32 ".%" PRIu32, i > 0 ? "," : "", one / 10, one % 10);
    }
    fputs("]", script->out);
}

/* A kernel with barriers, all of it resident. */
static uint32_t meeting(struct gt_script *script, bool cooperative, uint32_t most)
{
    static const uint32_t barriers[] = { 0, 1, 2, 3, 5, 8, 13, 20, 40 };
    struct gt_chance *chance = &script->chance;
    struct shape shape = draw_shape(chance);

    begin_kernel(script, &shape, draw_grid(chance, shape.blocks));
    fprintf(script->out, "%s,\"grid_barriers\":%" PRIu32, cooperative ? ",\"cooperative\":true" : "",
            cooperative ? gt_chance_pick(chance, barriers, 9) : gt_chance_between(chance, 1, 10));
    write_times(script, 50, most);
    return end_kernel(script);
}

static uint32_t plain(struct gt_script *script, uint32_t least, uint32_t most)
{
    struct gt_chance *chance = &script->chance;
    struct shape shape = draw_shape(chance);

    begin_kernel(script, &shape, gt_chance_scale(chance, 1, shape.blocks * 2));
    write_times(script, least, most);
    return end_kernel(script);
}

/* A kernel that lets the next one come early, or can come early itself. */
static uint32_t early(struct gt_script *script, uint32_t blocks_most, uint32_t most)
{
    static const uint32_t triggers[] = { 0, 10, 25, 50, 75, 90 }, prologues[] = { 10, 25, 50, 90 };
    struct gt_chance *chance = &script->chance;
    struct shape shape = draw_shape(chance);
    uint32_t tenths = gt_chance_between(chance, 40, most);

    begin_kernel(script, &shape, draw_grid(chance, blocks_most > 0 ? blocks_most : shape.blocks));
    gt_script_us(script, "block_us", tenths);
    if (gt_chance_in(chance, 7, 10))
        fprintf(script->out, ",\"trigger_pct\":%" PRIu32, gt_chance_pick(chance, triggers, 6));
    if (gt_chance_in(chance, 6, 10))
        gt_script_us(script, "prologue_us", tenths * gt_chance_pick(chance, prologues, 4) / 100);
    return end_kernel(script);
}

static void launch(struct gt_script *script, uint32_t stream, uint32_t kernel)
{
    gt_script_launch_of(script, 0, stream, kernel, "");
}

static void launch_any(struct gt_script *script, uint32_t kernel)
{
    launch(script, gt_script_any_stream(script), kernel);
}

static void launch_early(struct gt_script *script, uint32_t stream, uint32_t kernel)
{
    gt_script_launch_of(script, 0, stream, kernel,
                        gt_chance_in(&script->chance, 4, 5) ? ",\"programmatic\":true" : "");
}

/* One after the other. */
static void write_barriers(struct gt_script *script)
{
    gt_script_streams(script, 1, false);
    for (uint32_t count = gt_chance_between(&script->chance, 2, 8); count > 0; count--)
        launch(script, 0, meeting(script, gt_chance_in(&script->chance, 7, 10), LATER));
}

/* Side by side, with plain kernels between. */
static void write_together(struct gt_script *script)
{
    gt_script_streams(script, 4, false);
    for (uint32_t count = gt_chance_between(&script->chance, 4, 14); count > 0; count--) {
        bool meets = gt_chance_in(&script->chance, 1, 2);

        launch_any(script, meets ? meeting(script, true, SOON) : plain(script, 50, LATER));
    }
}

static void write_chains(struct gt_script *script)
{
    uint32_t kernels = gt_chance_between(&script->chance, 3, 6);
    uint32_t streams = gt_chance_between(&script->chance, 1, 3);
    bool waves = gt_chance_in(&script->chance, 1, 4);

    gt_script_streams(script, streams, false);
    while (kernels-- > 0)
        early(script, waves ? 2000 : 0, 500);
    for (uint32_t count = gt_chance_between(&script->chance, 5, 16) * streams; count > 0; count--) {
        uint32_t stream = gt_script_any_stream(script);

        if (gt_chance_in(&script->chance, 1, 20))
            gt_script_record(script, 0, stream);
        else if (gt_chance_in(&script->chance, 1, 20))
            gt_script_copy(script, 0, stream);
        launch_early(script, stream, gt_chance_between(&script->chance, 0, script->kernels - 1));
    }
}

static void write_polls(struct gt_script *script)
{
    gt_script_streams(script, 2, false);
    for (uint32_t polls = gt_chance_between(&script->chance, 2, 5); polls > 0; polls--) {
        for (uint32_t count = gt_chance_between(&script->chance, 1, 3); count > 0; count--)
            launch_any(script, plain(script, 100, LATER));
        if (gt_chance_in(&script->chance, 3, 10))
            gt_script_copy(script, 0, gt_script_any_stream(script));
        gt_script_poll(script, 0, gt_script_any_stream(script));
    }
}

static void write_everything(struct gt_script *script)
{
    gt_script_streams(script, 3, false);
    for (uint32_t count = gt_chance_between(&script->chance, 4, 10); count > 0; count--) {
        uint32_t what = gt_chance_between(&script->chance, 0, 9);

        if (what < 3) {
            launch_any(script, meeting(script, true, SOON));
        } else if (what < 5) {
            launch_any(script, plain(script, 50, LATER));
        } else {
            uint32_t kernel = early(script, 400, 400);

            for (uint32_t times = gt_chance_between(&script->chance, 2, 4); times > 0; times--)
                gt_script_launch_of(script, 0, gt_script_any_stream(script), kernel, ",\"programmatic\":true");
        }
        if (gt_chance_in(&script->chance, 1, 4))
            gt_script_poll(script, 0, gt_script_any_stream(script));
    }
}

void gt_script_write_grid_sync(struct gt_script *script)
{
    static void (*const kinds[])(struct gt_script *) = { write_barriers, write_together, write_chains,
                                                         write_chains,   write_polls,    write_everything };

    kinds[gt_chance_between(&script->chance, 0, sizeof kinds / sizeof *kinds - 1)](script);
}
