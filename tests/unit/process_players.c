/* Players of several processes, with a player that needs no GPU: records come together, and a process that fails or dies ends
 * the others' waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/jsonl/trace.h"
#include "validate/gpu/together.h"
#include "validate/player/processes.h"
#include "validate/random/draw.h"

/* What the process whose kernel is called "k1" does when it is played. */
static enum { PLAYS, FAILS, DIES } second;

struct gt_player {
    const struct gt_workload *workload;
    struct gt_play_options options;
};

static int find(struct gt_gpu_facts *facts, struct gt_error *error)
{
    (void)error;
    facts->sms = 7;
    return 0;
}

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *error)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);

    (void)error;
    *player = (struct gt_player){ workload, *options };
    return player;
}

/* Its first call is made at 1 us of the first process, 2 us of the second, and so is its operation. */
static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *error)
{
    gt_time_ps at_ps = 1000000 * (1 + player->workload->calls[0].thread);
    struct gt_call_record call = { .call = 0, .start_ps = at_ps, .end_ps = at_ps + 1, .cause_op = GT_NONE };
    struct gt_op_record op = { .op = 0, .start_ps = at_ps, .end_ps = at_ps + 2, .cause_index = GT_NONE };

    if (player->workload->calls[0].thread == 1 && second == FAILS)
        return gt_error_set(error, "it does not fit");
    if (player->workload->calls[0].thread == 1 && second == DIES)
        _exit(3);
    assert_true(gt_together_origin_ns(player->options.together, 10) > 0);
    result->counters[0].name = "operations_unseen";
    result->counters[0].value = 1;
    result->counter_count = 1;
    return probe == NULL || (probe->call(probe->user, &call, error) == 0 && probe->op(probe->user, &op, error) == 0)
               ? 0
               : -1;
}

static const char *describe(const struct gt_player *player)
{
    return player->workload->calls[0].thread == 1 ? "seed=1 " GT_PLAYED_KERNELS_RECORDED : "seed=1";
}

static void close_player(struct gt_player *player)
{
    free(player);
}

const struct gt_players gt_cuda_players = { find, open_player, play, describe, close_player, NULL, NULL, NULL };

static const char trace[] =
    "{\"gridtide\":1,\"device\":\"toy\"}\n{\"kernel\":\"k\",\"grid\":1,\"block\":32,\"block_us\":1}\n"
    "{\"thread\":\"t0\",\"process\":1,\"share\":\"sliced\"}\n"
    "{\"thread\":\"t1\",\"process\":2,\"share\":\"sliced\"}\n"
    "{\"call\":\"launch\",\"kernel\":\"k\",\"thread\":\"t0\",\"stream\":\"a\"}\n"
    "{\"call\":\"launch\",\"kernel\":\"k\",\"thread\":\"t1\",\"stream\":\"b\"}\n";

static struct gt_error error;
static uint32_t ops[4], op_count, calls;

static int take_call(void *user, const struct gt_call_record *record, struct gt_error *unused)
{
    (void)user;
    (void)unused;
    assert_int_equal(record->start_ps, 1000000 * (1 + record->call));
    calls++;
    return 0;
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *unused)
{
    (void)user;
    (void)unused;
    ops[op_count++] = record->op;
    return 0;
}

static int play_all(struct gt_play_result *result, char description[256])
{
    struct gt_workload *workload = gt_draw_read(trace, &error);
    const struct gt_play_options options = { .seed = 1 };
    const struct gt_probe probe = { .call = take_call, .op = take_op };
    struct gt_player *player;
    int status;

    assert_non_null(workload);
    player = gt_process_players.open(workload, &options, &error);
    assert_non_null(player);
    snprintf(description, 256, "%s", gt_process_players.describe(player));
    status = gt_process_players.play(player, NULL, result, &error);
    if (status == 0)
        status = gt_process_players.play(player, &probe, result, &error);
    gt_process_players.close(player);
    gt_workload_free(workload);
    return status;
}

static void records_come_together(void **state)
{
    struct gt_play_result result = { .counter_count = 0 };
    struct gt_gpu_facts facts;
    char description[256];

    (void)state;
    second = PLAYS;
    assert_int_equal(gt_process_players.find(&facts, &error), 0);
    assert_int_equal(facts.sms, 7);
    assert_int_equal(play_all(&result, description), 0);
    assert_int_equal(calls, 2);
    assert_int_equal(op_count, 2);
    assert_int_equal(ops[0], 0);
    assert_int_equal(ops[1], 1);
    assert_true(result.counters[0].value == 2);
    assert_string_equal(description, "seed=1 " GT_PLAYED_KERNELS_RECORDED " processes=2");
}

static void one_that_fails_ends_all(void **state)
{
    struct gt_play_result result = { .counter_count = 0 };
    char description[256];

    (void)state;
    second = FAILS;
    assert_int_equal(play_all(&result, description), -1);
    assert_string_equal(error.text, "it does not fit");
    second = DIES;
    assert_int_equal(play_all(&result, description), -1);
    assert_string_equal(error.text, "a player's process has ended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_together),
        cmocka_unit_test(one_that_fails_ends_all),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
