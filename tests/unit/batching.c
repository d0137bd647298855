/* Inference engines that batch requests: costs of passes, and what each policy makes of the same requests, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/batching/batch_engine.h"
#include "sim/batching/token_requests.h"

/* Prefill takes 10 us a token, decoding 8 us and 2 us a sequence, whatever the context; `factor`: all of it so many times as long. */
struct costs {
    uint32_t sizes[GT_PASS_KINDS][3], depths[1];
    double us[GT_PASS_KINDS][3], products[3];
    struct gt_pass_costs costs;
};

static void make_costs(struct costs *c, double factor)
{
    static const uint32_t sizes[GT_PASS_KINDS][3] = { { 1, 2, 4 }, { 1, 10, 100 } };
    static const double us[GT_PASS_KINDS][3] = { { 10, 12, 16 }, { 10, 100, 1000 } };

    memcpy(c->sizes, sizes, sizeof sizes);
    c->depths[0] = 0;
    for (int i = 0; i < 3; i++)
        c->products[i] = 1;
    memset(&c->costs, 0, sizeof c->costs);
    for (int kind = 0; kind < GT_PASS_KINDS; kind++) {
        for (int i = 0; i < 3; i++)
            c->us[kind][i] = factor * us[kind][i];
        c->costs.grids[kind] = (struct gt_pass_grid){ c->sizes[kind], c->depths, 3, 1, c->us[kind], c->products };
    }
}

static double pass_us(const struct gt_pass_costs *costs, uint32_t tokens, uint32_t before, uint32_t sequences,
                      uint32_t context)
{
    const struct gt_pass pass = { tokens, before, sequences, context };

    return (double)gt_pass_ps(costs, &pass) / 1e6;
}

static void costs_are_linear_between_nodes(void **state)
{
    struct costs c;

    (void)state;
    make_costs(&c, 1);
    assert_float_equal(pass_us(&c.costs, 0, 0, 1, 99), 10, 1e-6);
    assert_float_equal(pass_us(&c.costs, 0, 0, 3, 99), 14, 1e-6);
    assert_float_equal(pass_us(&c.costs, 0, 0, 8, 99), 24, 1e-6); /* beyond the last node on */
    assert_float_equal(pass_us(&c.costs, 55, 0, 0, 0), 550, 1e-6);
    /* Prefill of 7 tokens takes 70 us; decoding 2 takes 12 us, less than prefill of 2, which is in these. */
    assert_float_equal(pass_us(&c.costs, 5, 0, 2, 99), 70, 1e-6);
    c.costs.between_us = 3;
    assert_float_equal(pass_us(&c.costs, 5, 0, 0, 0), 53, 1e-6);
    /* Decoding at 30 us is 10 us longer than prefill of 2 tokens. */
    c.us[GT_PASS_DECODE][1] = 30;
    assert_float_equal(pass_us(&c.costs, 5, 0, 2, 99), 70 + 10 + 3, 1e-6);
}

static uint32_t *copy(const uint32_t *values, uint32_t count)
{
    uint32_t *all = calloc(count, sizeof *all);

    memcpy(all, values, count * sizeof *all);
    return all;
}

static void unknown_nodes_are_interpolated(void **state)
{
    /* Known are 10 and 30 at size 1, depths 1 and 3, and 50 at size 3, depth 1. */
    static const uint32_t axis[] = { 1, 2, 3 };
    struct gt_pass_grid grid = gt_pass_grid_new(copy(axis, 3), 3, copy(axis, 3), 3);
    static const double expected[] = { 10, 20, 30, 30, 20, 30, 50, 20, 30 };

    (void)state;
    grid.us[0] = 10;
    grid.us[2] = 30;
    grid.us[6] = 50;
    assert_int_equal(gt_pass_grid_fill(&grid), 6);
    for (int i = 0; i < 9; i++)
        assert_float_equal(grid.us[i], expected[i], 1e-9);
    gt_pass_grid_free(&grid);
    grid = gt_pass_grid_new(copy(axis, 3), 3, copy(axis, 1), 1);
    assert_int_equal(gt_pass_grid_fill(&grid), 0);
    assert_true(isnan(grid.us[1]));
    gt_pass_grid_free(&grid);
}

static void an_axis_has_each_size_once(void **state)
{
    uint32_t values[] = { 8, 1, 8, 2, 1 };

    (void)state;
    assert_int_equal(gt_pass_axis(values, 5), 3);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 2);
    assert_int_equal(values[2], 8);
}

#define US 1000000ull

struct engine {
    struct costs costs, slow;
    struct gt_batch_engine engine;
    struct gt_token_record records[4];
    struct gt_batch_summary summary;
};

static void serve_beside(struct engine *e, const char *policy, uint64_t kv_tokens,
                         const struct gt_token_request *requests, uint32_t count, double beside)
{
    struct gt_error error = { "" };

    make_costs(&e->costs, 1);
    make_costs(&e->slow, 2);
    e->engine = (struct gt_batch_engine){ .sequences = 4, .kv_tokens = kv_tokens, .padding = 8 };
    e->engine.policy = gt_batch_policy_find(policy, e->engine.parameters, &error);
    assert_non_null(e->engine.policy);
    e->engine.costs[GT_LANE_DECODE] = &e->costs.costs;
    e->engine.costs[GT_LANE_PREFILL] = &e->slow.costs;
    e->engine.beside[GT_LANE_DECODE] = beside;
    e->engine.beside[GT_LANE_PREFILL] = 2 * beside;
    assert_int_equal(gt_batch_engine_run(&e->engine, requests, count, NULL, NULL, e->records, &e->summary, &error),
                     0);
}

static void serve(struct engine *e, const char *policy, uint64_t kv_tokens, const struct gt_token_request *requests,
                  uint32_t count)
{
    serve_beside(e, policy, kv_tokens, requests, count, 0);
}

static void check(const struct engine *e, uint32_t request, uint64_t first_us, uint64_t end_us)
{
    assert_int_equal(e->records[request].first_ps / US, first_us);
    assert_int_equal(e->records[request].end_ps / US, end_us);
}

/* A comes at 0 and makes 3 tokens, B at 50 us and makes 2; prompts of 10 tokens take 100 us. */
static const struct gt_token_request two[] = { { 0, 10, 3 }, { 50 * US, 10, 2 } };

static void continuous_puts_prompts_first(void **state)
{
    struct engine e;

    (void)state;
    serve(&e, "continuous", 1000, two, 2);
    /* Prefill A 0 to 100, B to 200; both decode until 212, A alone until 222. */
    check(&e, 0, 100, 222);
    check(&e, 1, 200, 212);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_PREFILL], 100 * US);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_OWN], 20 * US);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_BATCH], 2 * US);
    assert_int_equal(e.records[1].admitted_ps, 100 * US);
    assert_int_equal(e.summary.passes[GT_LANE_DECODE], 4);
    assert_int_equal(e.summary.output_tokens, 5);
    assert_int_equal(e.summary.most_kv_tokens, 22); /* 10 of either prompt and a token each */
}

static void decode_first_holds_prompts_back(void **state)
{
    struct engine e;

    (void)state;
    serve(&e, "decode-first passes=1", 1000, two, 2);
    /* A's prefill until 100, it decodes until 110, B's prefill until 210, both decode until 222. */
    check(&e, 0, 100, 222);
    check(&e, 1, 210, 222);
}

static void static_batches_keep_what_is_done(void **state)
{
    struct engine e;

    (void)state;
    serve(&e, "static", 1000, two, 2);
    /* B has come before anything decodes.  Both decode until 212; B is done, and A goes on in a batch of two until 224. */
    check(&e, 0, 100, 224);
    check(&e, 1, 200, 212);
}

static void chunks_go_beside_sequences(void **state)
{
    struct engine e;

    (void)state;
    serve(&e, "chunked tokens=6", 1000, two, 2);
    /* 6 tokens of A until 60, 4 until 100; 5 of B beside A, 6 in all, until 160, 5 more until 220; B decodes until 230. */
    check(&e, 0, 100, 220);
    check(&e, 1, 220, 230);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_OWN], 20 * US);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_BESIDE], 100 * US);
}

static void split_runs_both_at_once(void **state)
{
    struct engine e;

    (void)state;
    serve(&e, "split sms=66", 1000, two, 2);
    /* Prompts have few SMs: 200 us each.  A's until 200, B's until 400; beside it A decodes until 210 and 220.  B decodes until 410. */
    check(&e, 0, 200, 220);
    check(&e, 1, 400, 410);
    assert_int_equal(e.summary.passes[GT_LANE_PREFILL], 2);
    assert_int_equal(e.summary.passes[GT_LANE_DECODE], 3);
}

static void lanes_slow_each_other_down(void **state)
{
    struct engine e;

    (void)state;
    serve_beside(&e, "split sms=66", 1000, two, 2, 0.5);
    /* A's prompt until 200, alone.  Beside B's, A's tokens take 15 us in place of 10, until 230; B's prompt, half as fast, has had 15 of its
     * 200 us then, and ends at 230 + 185.  B decodes alone until 425. */
    check(&e, 0, 200, 230);
    check(&e, 1, 415, 425);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_OWN], 20 * US);
    assert_int_equal(e.records[0].part_ps[GT_TOKEN_BESIDE], 10 * US);
}

static void memory_that_is_full_evicts_the_latest(void **state)
{
    /* Prompts of 5 tokens take 50 us.  Both decode until 112 and 124; then 14 tokens are held, and 2 more do not fit: B, with 3 tokens
     * made, goes.  A decodes alone until 134, 144, 154 and is done; B's 8 tokens are prefilled until 234, and it decodes until 244
     * and 254. */
    static const struct gt_token_request requests[] = { { 0, 5, 6 }, { 0, 5, 6 } };
    struct engine e;

    (void)state;
    serve(&e, "continuous", 14, requests, 2);
    check(&e, 0, 50, 154);
    check(&e, 1, 100, 254);
    assert_int_equal(e.records[1].evictions, 1);
    assert_int_equal(e.records[1].part_ps[GT_TOKEN_EVICTED], 110 * US);
    assert_int_equal(e.summary.evictions, 1);
    assert_int_equal(e.summary.most_kv_tokens, 14);
}

static void what_never_fits_is_refused(void **state)
{
    static const struct gt_token_request request = { 0, 10, 5 };
    struct gt_batch_engine engine = { .kv_tokens = 14 };
    struct gt_token_record record;
    struct gt_batch_summary summary;
    struct gt_error error = { "" };

    (void)state;
    assert_int_equal(gt_batch_engine_run(&engine, &request, 1, NULL, NULL, &record, &summary, &error), -1);
    assert_non_null(strstr(error.text, "request 1"));
}

/* Two passes that take 40 days each. */
static void more_time_than_can_be_simulated_is_refused(void **state)
{
    static const struct gt_token_request request = { 0, 10, 2 };
    struct gt_error error = { "" };
    struct engine e;

    (void)state;
    serve(&e, "continuous", 1000, &request, 1);
    e.costs.costs.between_us = 40 * 86400e6;
    assert_int_equal(gt_batch_engine_run(&e.engine, &request, 1, NULL, NULL, e.records, &e.summary, &error), -1);
    assert_non_null(strstr(error.text, "53 days"));
}

/* Many requests, drawn: each gets its tokens in order, the parts of its time add up, and memory is never over its limit. */
static void random_requests_all_end(void **state)
{
    static const char *const policies[] = { "continuous", "chunked tokens=16", "decode-first", "static" };
    enum { MANY = 2000, KV = 400 };
    const struct gt_arrivals arrivals = {
        .kind = GT_ARRIVALS_POISSON, .per_s = 1200, .seed = 5, .most = MANY, .until_ps = GT_TIME_NONE
    };
    const struct gt_token_lengths lengths = { 20, 0.8, 150 };
    uint32_t count;
    struct gt_token_request *requests =
        gt_token_requests_draw(&arrivals, &lengths, &lengths, NULL, NULL, MANY, &count);
    struct gt_token_record *records = calloc(MANY, sizeof *records);
    struct engine e;

    (void)state;
    assert_int_equal(count, MANY);
    make_costs(&e.costs, 1);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct gt_error error = { "" };

        e.engine = (struct gt_batch_engine){ .sequences = 8, .kv_tokens = KV, .costs = { &e.costs.costs } };
        e.engine.policy = gt_batch_policy_find(policies[p], e.engine.parameters, &error);
        assert_int_equal(gt_batch_engine_run(&e.engine, requests, count, NULL, NULL, records, &e.summary, &error), 0);
        assert_in_range(e.summary.most_kv_tokens, 1, KV);
        for (uint32_t i = 0; i < count; i++) {
            double parts = 0, all = (double)(records[i].end_ps - records[i].first_ps);

            assert_true(records[i].admitted_ps >= requests[i].arrival_ps);
            assert_true(records[i].first_ps > records[i].admitted_ps);
            assert_true(requests[i].output_tokens == 1 ? all == 0 : all > 0);
            for (int part = 0; part < GT_TOKEN_PARTS; part++)
                parts += (double)records[i].part_ps[part];
            assert_true(fabs(parts - all) <= 1e3);
        }
    }
    free(requests);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_linear_between_nodes),
        cmocka_unit_test(unknown_nodes_are_interpolated),
        cmocka_unit_test(an_axis_has_each_size_once),
        cmocka_unit_test(continuous_puts_prompts_first),
        cmocka_unit_test(decode_first_holds_prompts_back),
        cmocka_unit_test(static_batches_keep_what_is_done),
        cmocka_unit_test(chunks_go_beside_sequences),
        cmocka_unit_test(split_runs_both_at_once),
        cmocka_unit_test(lanes_slow_each_other_down),
        cmocka_unit_test(memory_that_is_full_evicts_the_latest),
        cmocka_unit_test(what_never_fits_is_refused),
        cmocka_unit_test(more_time_than_can_be_simulated_is_refused),
        cmocka_unit_test(random_requests_all_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
