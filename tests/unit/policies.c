/* Policies with state and numbers of their own, brought by a program: for placement, arbitration and warps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/placement.h"
#include "sim/simulate.h"
#include "sim/warp/scheduler.h"
#include "tests/unit/warp_program.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"

/* What every policy here remembers: a number, and how many have been made and freed. */
static int made, freed;

static void *make_number(const struct gt_device *of, const double *parameters)
{
    (void)of;
    (void)parameters;
    made++;
    return gt_calloc(1, sizeof(uint64_t));
}

static void free_number(void *state)
{
    freed++;
    free(state);
}

/* Placement: each block `stride` SMs behind the one before, also from grid to grid. */
static gt_sm_index hop(void *state, const struct gt_placement_view *view)
{
    uint64_t *next = state;

    for (uint32_t looked = 0; looked < view->device->sms; looked++, ++*next) {
        gt_sm_index sm = view->gpu->order[*next % view->device->sms];

        if (view->gpu->sms[sm].free_blocks > 0) {
            *next += (uint64_t)view->parameters[0];
            return sm;
        }
    }
    return GT_NONE;
}

/* clang-format off */
static const struct gt_placement_policy hopping = {
    .named = { .name = "hop", .help = "every so many SMs",
               .parameters = { { "stride", "SMs from block to block", 1, 1, 64 } } },
    .create = make_number, .free = free_number, .pick = hop,
};
/* clang-format on */

/* Arbitration: of the most urgent level, the grid behind `skip` others, if there are so many; asked once a turn. */
static gt_grid_index skip_some(void *state, const struct gt_arbitration_view *view, gt_grid_index tried)
{
    gt_grid_index grid = GT_NONE;

    ++*(uint64_t *)state;
    if (tried != GT_NONE || view->gpu->levels_used == 0)
        return GT_NONE;
    grid = view->gpu->level_head[__builtin_ctzll(view->gpu->levels_used)];
    for (int i = 0; i < (int)view->parameters[0] && view->grids[grid].next != GT_NONE; i++)
        grid = view->grids[grid].next;
    return grid;
}

/* clang-format off */
static const struct gt_arbitration_policy skipping = {
    .named = { .name = "skip", .help = "a later grid first",
               .parameters = { { "skip", "grids left behind", 0, 0, 9 } } },
    .create = make_number, .free = free_number, .next = skip_some,
};
/* clang-format on */

/* Warps: any that is ready, but one every so many cycles only. */
static int slow(void *state, const struct gt_smsp *sub, const double *parameters, uint64_t now, uint64_t *next)
{
    uint64_t *from = state;

    *next = *from;
    if (now < *from)
        return -1;
    *next = GT_WARP_NEVER;
    for (uint32_t i = 0; i < sub->places; i++) {
        if (gt_ready_at(sub, i) <= now) {
            *from = now + (uint64_t)parameters[0];
            return (int)i;
        }
        *next = gt_ready_at(sub, i) < *next ? gt_ready_at(sub, i) : *next;
    }
    return -1;
}

static const struct gt_scheduler_policy slowness = {
    .named = { .name = "slow", .help = "now and then", .parameters = { { "every", "cycles", 1, 1, 100 } } },
    .create = make_number,
    .free = free_number,
    .pick = slow,
};

static struct gt_workload *read_text(const char *text)
{
    char path[] = "/tmp/gridtide-policies-XXXXXX.jsonl";
    int fd = mkstemps(path, 6);
    struct gt_workload *workload;

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    workload = gt_trace_read(path, NULL, &error);
    unlink(path);
    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

/* What a run told: the SM of each batch of blocks, the operation of each, and how often periods were passed over. */
static struct {
    uint32_t count, sm[16], op[16], repeats;
} told;

static int take_blocks(void *user, const struct gt_block_record *record, struct gt_error *of)
{
    (void)user;
    (void)of;
    if (told.count < 16) {
        told.sm[told.count] = record->sm;
        told.op[told.count++] = record->op;
    }
    return 0;
}

static int take_repeat(void *user, const struct gt_repeat_record *record, struct gt_error *of)
{
    (void)user;
    (void)record;
    (void)of;
    told.repeats++;
    return 0;
}

/* Run `text` on the toy device with `sms` SMs under one setting. */
static void play(const char *text, const char *sms, const char *key, const char *value)
{
    struct gt_workload *workload = read_text(text);
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .blocks = take_blocks, .repeat = take_repeat };
    struct gt_summary summary;

    if (gt_device_load("toy", &device, &error) != 0)
        fail_msg("%s", error.text);
    set("chip.sms", sms);
    set(key, value);
    memset(&told, 0, sizeof told);
    made = freed = 0;
    options.placement = &hopping;
    options.arbitration = &skipping;
    if (gt_simulate(workload, &device, &options, &probe, &summary, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(made, freed);
    gt_workload_free(workload);
}

#define TWO_GRIDS                                                                    \
    "{\"gridtide\":1}\n{\"kernel\":\"k\",\"grid\":3,\"block\":32,\"block_us\":10}\n" \
    "{\"call\":\"launch\",\"kernel\":\"k\"}\n{\"call\":\"launch\",\"kernel\":\"k\"}\n"

/* Four SMs, two grids of three blocks.  One SM on for each block, as the policy does unless told otherwise: 0, 1, 2,
 * and the second grid goes on with 3, 0, 1.  Three on: 0, 3, 2 and 1, 0, 3. */
static void a_placement_has_its_state_and_its_number(void **state)
{
    static const uint32_t by_one[] = { 0, 1, 2, 3, 0, 1 }, by_three[] = { 0, 3, 2, 1, 0, 3 };

    (void)state;
    play(TWO_GRIDS, "4", "scheduling.placement", "hop");
    assert_int_equal(made, 1);
    assert_int_equal(told.count, 6);
    assert_memory_equal(told.sm, by_one, sizeof by_one);
    play(TWO_GRIDS, "4", "scheduling.placement", "hop stride=3");
    assert_memory_equal(told.sm, by_three, sizeof by_three);
    play(TWO_GRIDS, "4", "scheduling.placement", "most-room");
    assert_int_equal(made, 0);
}

/* What a policy remembers that cannot be compared may decide anything: its grids go block by block. */
static void huge_grids_go_block_by_block_where_they_must(void **state)
{
    static const char text[] = "{\"gridtide\":1}\n{\"kernel\":\"k\",\"grid\":20000,\"block\":32,\"block_us\":10}\n"
                               "{\"call\":\"launch\",\"kernel\":\"k\"}\n";

    (void)state;
    play(text, "4", "scheduling.placement", "round-robin");
    assert_true(told.repeats > 0);
    play(text, "4", "scheduling.placement", "hop");
    assert_int_equal(told.repeats, 0);
    play(text, "4", "scheduling.arbitration", "skip");
    assert_int_equal(told.repeats, 0);
}

/* One SM that holds one block; three kernels of one block on three streams.  The first one has begun when the
 * others come; behind it the third goes before the second where one grid is to be skipped. */
static void an_arbitration_has_its_state_and_its_number(void **state)
{
    static const char text[] = "{\"gridtide\":1}\n{\"stream\":\"a\"}\n{\"stream\":\"b\"}\n{\"stream\":\"c\"}\n"
                               "{\"kernel\":\"k\",\"grid\":1,\"block\":1024,\"block_us\":100}\n"
                               "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"a\"}\n"
                               "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"b\"}\n"
                               "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"c\"}\n";
    static const uint32_t in_order[] = { 0, 1, 2 }, skipped[] = { 0, 2, 1 };

    (void)state;
    play(text, "1", "scheduling.arbitration", "skip");
    assert_int_equal(made, 1);
    assert_memory_equal(told.op, in_order, sizeof in_order);
    play(text, "1", "scheduling.arbitration", "skip  skip=1");
    assert_memory_equal(told.op, skipped, sizeof skipped);
}

/* Eight multiply-adds that need not wait for each other and EXIT, which issues at cycle 8; every third cycle: at
 * cycle 24. */
static void a_scheduler_has_its_state_and_its_number(void **state)
{
    struct gt_warp_launch launch = { .program = &program,
                                     .blocks = 1,
                                     .warps_per_block = 1,
                                     .blocks_per_sm = 1,
                                     .cluster_blocks = 1,
                                     .scheduler = &slowness };

    (void)state;
    for (int i = 0; i < 8; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    made = freed = 0;
    set("warp.policy", "slow");
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), 0);
    assert_int_equal((int)result.run_cycles, 8);
    free(result.stalls_by_instruction);
    set("warp.policy", "slow every=3");
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), 0);
    assert_int_equal((int)result.run_cycles, 24);
    assert_int_equal(made, 2 * GT_WARP_SUBS);
    assert_int_equal(freed, made);
}

static void refused(const char *text, const char *why)
{
    double numbers[GT_NAMED_PARAMETERS];

    assert_null(gt_placement_find(text, &hopping, numbers, &error));
    if (strstr(error.text, why) == NULL)
        fail_msg("%s", error.text);
}

static void mistakes_name_what_there_is(void **state)
{
    (void)state;
    refused("best stride=1", "scheduling.placement: no policy 'best'; there are: most-room (");
    refused("hop length=1", "'hop' takes no parameter 'length'; there are: stride (SMs from block to block)");
    refused("first-fit stride=1", "'first-fit' takes no parameter 'stride'");
    refused("hop stride", "'stride' is not PARAMETER=NUMBER");
    refused("hop stride=", "'stride=' is not a number from 1 to 64");
    refused("hop stride=2x", "'stride=2x' is not a number");
    refused("hop stride=65", "'stride=65' is not a number from 1 to 64");
    refused("hop stride=nan", "'stride=nan' is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_placement_has_its_state_and_its_number),
        cmocka_unit_test(huge_grids_go_block_by_block_where_they_must),
        cmocka_unit_test(an_arbitration_has_its_state_and_its_number),
        TEST(a_scheduler_has_its_state_and_its_number),
        cmocka_unit_test(mistakes_name_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
