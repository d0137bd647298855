/* warp_program.h - small programs put together by hand, and a device on which nothing but their instructions
 * costs time; for tests of the warp tier.  A test file includes it once, behind cmocka.h.
 */
#ifndef GRIDTIDE_TESTS_UNIT_WARP_PROGRAM_H
#define GRIDTIDE_TESTS_UNIT_WARP_PROGRAM_H

#include "sim/warp/launch.h"

enum { MOST = 64, FREE = GT_NO_BARRIER };

static struct gt_device device;
static struct gt_error error;
static struct gt_instruction code[MOST];
static struct gt_basic_block blocks[8];
static struct gt_edge edges[8];
static struct gt_loop loops[2];
static struct gt_access accesses[2];
static struct gt_program program;
static struct gt_warp_result result;

static inline void set(const char *key, const char *value)
{
    if (gt_device_set(&device, key, value, &error) != 0)
        fail_msg("%s", error.text);
}

/* One SM at 1000 MHz where nothing but the instructions costs time. */
static inline int fresh(void **state)
{
    /* clang-format off */
    static const char *const nothing[] = {
        "warp.launch_cycles", "warp.drain_cycles", "warp.block_start_cycles", "warp.fetch_cycles",
        "warp.fetch_next_cycles", "warp.constant_miss_cycles", "warp.branch_cycles",
        "memory.first_access_cycles", "memory.dram_crowd_cycles", "memory.l2_crowd_cycles",
        "memory.dram_mixed_crowd_cycles", "memory.dram_spread_cycles", "memory.dram_apart_cycles",
        "pipe.none_interval_cycles",
    };
    /* clang-format on */

    (void)state;
    gt_device_init(&device);
    set("chip.sms", "1");
    set("chip.clock_mhz", "1000");
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        set(nothing[i], "0.001");
    device.dispatch_ps = device.refill_ps = device.retire_ps = 0;
    memset(code, 0, sizeof code);
    memset(blocks, 0, sizeof blocks);
    memset(edges, 0, sizeof edges);
    memset(loops, 0, sizeof loops);
    memset(accesses, 0, sizeof accesses);
    program = (struct gt_program){ .key = (char *)"p",
                                   .text = (char *)"",
                                   .text_bytes = 1,
                                   .instructions = code,
                                   .blocks = blocks,
                                   .edges = edges,
                                   .loops = loops,
                                   .memory = accesses,
                                   .warps = 1,
                                   .warps_per_block = 1 };
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    free(result.stalls_by_instruction);
    result.stalls_by_instruction = NULL;
    return 0;
}

static inline struct gt_instruction *add(uint8_t pipe, uint8_t action, uint8_t stall_cycles)
{
    struct gt_instruction *in = &code[program.instruction_count++];

    *in = (struct gt_instruction){ .pipe = pipe,
                                   .action = action,
                                   .stall_cycles = stall_cycles,
                                   .executions = 1,
                                   .threads = 32,
                                   .threads_on = 32,
                                   .memory = GT_NONE,
                                   .constant = GT_NONE,
                                   .write_barrier = FREE,
                                   .read_barrier = FREE };
    return in;
}

static inline void add_exit(void)
{
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
}

/* Everything added since the last block is one; its edges are added next. */
static inline struct gt_basic_block *close_block(uint8_t ends)
{
    struct gt_basic_block *block = &blocks[program.block_count++];
    uint32_t first = program.block_count > 1 ? block[-1].first + block[-1].count : 0;

    *block = (struct gt_basic_block){ .first = first,
                                      .count = program.instruction_count - first,
                                      .resume = GT_NONE,
                                      .join = GT_NONE,
                                      .loop = GT_NONE,
                                      .warps = UINT32_MAX,
                                      .executions = 1,
                                      .end = ends,
                                      .first_edge = program.edge_count };
    return block;
}

static inline struct gt_edge *add_edge(struct gt_basic_block *from, uint32_t to, uint64_t executions)
{
    struct gt_edge *edge = &edges[program.edge_count++];

    from->edge_count++;
    *edge = (struct gt_edge){
        .to = to, .warps = UINT32_MAX, .executions = executions, .alone = executions, .leads_out = true
    };
    return edge;
}

/* `blocks_of` thread blocks of `warps`, `resident` at once. */
static inline void run(uint64_t blocks_of, uint32_t warps, uint32_t resident)
{
    struct gt_warp_launch launch = { .program = &program,
                                     .blocks = blocks_of,
                                     .warps_per_block = warps,
                                     .blocks_per_sm = resident,
                                     .cluster_blocks = 1,
                                     .full = true };

    free(result.stalls_by_instruction);
    if (gt_warp_run(&device, &launch, &result, &error) != 0)
        fail_msg("%s", error.text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, end)

#endif
