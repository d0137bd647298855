/* Copies between GPUs, and kernels that work in another GPU's memory, that share links, drawn at random, against a reckoning of
 * their own: every GPU asks once, all of them from time 0 on; whoever has the tightest link is given its share first, by its
 * weight, and again whenever one ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/devices/links.h"
#include "sim/simulate.h"

enum { GPUS = 6, CASES = 400, LIMITS = 4, KERNELS = LIMITS - 1 };

static struct gt_device device;
static struct gt_workload *workload;
static gt_time_ps end_ps[GPUS];

struct flow {
    uint32_t from, to;
    double bytes, gbps; /* left; alone */
    double weight;      /* of a copy 1 */
    double rate;
    bool kernel, done;
};

static double draw(double low, double high)
{
    return low + (high - low) * (rand() % 10001) / 10000;
}

/* What limit number `limit` of a flow is of: flows with the same number share it. */
static uint32_t limit_of(const struct flow *flow, int limit)
{
    uint32_t low = flow->from < flow->to ? flow->from : flow->to, high = flow->from + flow->to - low;

    if (limit == KERNELS)
        return 30000 + flow->from * 100 + (device.link_switched ? 0 : flow->to);
    if (limit == 2)
        return 20000 + low * 100 + high;
    if (!device.link_switched)
        return 10000 + flow->from * 100 + flow->to;
    return limit == 0 ? flow->from : 100 + flow->to;
}

static double capacity(int limit)
{
    if (limit == KERNELS)
        return device.link_kernel_gbps;
    return limit == 2 ? device.link_duplex_gbps : device.link_gpu_gbps;
}

/* What those that have no rate yet could have of one limit, each, by its weight. */
static double share_of(const struct flow *flows, uint32_t flow, int limit, const bool *settled)
{
    double left = capacity(limit), takers = 0;

    if (limit == KERNELS && !flows[flow].kernel)
        return INFINITY;

    for (uint32_t i = 0; i < GPUS; i++) {
        if (flows[i].done || (limit == KERNELS && !flows[i].kernel) ||
            limit_of(&flows[i], limit) != limit_of(&flows[flow], limit))
            continue;
        takers += settled[i] ? 0 : flows[i].weight;
        left -= settled[i] ? flows[i].rate : 0;
    }
    return fmax(0, left) / takers;
}

static void set_rates(struct flow *flows)
{
    bool settled[GPUS] = { false };

    for (;;) {
        uint32_t tightest = GPUS;
        double least = INFINITY;

        for (uint32_t i = 0; i < GPUS; i++) {
            double may = flows[i].gbps / flows[i].weight;

            if (flows[i].done || settled[i])
                continue;
            for (int limit = 0; limit < LIMITS; limit++)
                may = fmin(may, share_of(flows, i, limit, settled));
            if (may < least) {
                least = may;
                tightest = i;
            }
        }
        if (tightest == GPUS)
            return;
        flows[tightest].rate = least * flows[tightest].weight;
        settled[tightest] = true;
    }
}

static void reckon(struct flow *flows, double *ends)
{
    double now_ps = 0;

    for (int left = GPUS; left > 0;) {
        double step_ps = INFINITY;

        set_rates(flows);
        for (uint32_t i = 0; i < GPUS; i++)
            if (!flows[i].done)
                step_ps = fmin(step_ps, flows[i].bytes * 1000 / flows[i].rate);
        now_ps += step_ps;
        for (uint32_t i = 0; i < GPUS; i++) {
            if (flows[i].done)
                continue;
            flows[i].bytes -= flows[i].rate * step_ps / 1000;
            if (flows[i].bytes > 1e-6 * flows[i].rate)
                continue;
            flows[i].done = true;
            ends[i] = now_ps;
            left--;
        }
    }
}

static void draw_device(void)
{
    struct gt_error error;

    gt_device_init(&device);
    assert_int_equal(
        gt_device_set(&device, "link.pairs", rand() % 2 ? "nvlink" : "nvlink 0-1=nvlink:3 2>4=nvlink:9", &error), 0);
    device.link_call_ps = device.copy_submit_ps = device.launch_call_ps = device.launch_latency_ps = 0;
    device.launch_extra.cold_ps = device.launch_extra.first_ps = device.launch_extra.after_ps = 0;
    device.link_kernel_read_ps = device.link_kernel_write_ps = device.link_kernel_dram_ps = 0;
    device.link_kernel_gbps = draw(1, 6);
    device.link_kernel_pct = 50 + (uint32_t)rand() % 100;
    device.link_kernel_threads = 256;
    device.p2p = (struct gt_copy_cost){ 0, draw(2, 6) };
    device.link_gpu_gbps = draw(1, 9);
    device.link_duplex_gbps = draw(2, 12);
    device.link_switched = rand() % 2;
}

/* A kernel in place of a copy: on so many SMs, with so many threads; the other GPU's memory read or written. */
static void make_kernel(struct flow *flow, struct gt_call *call, struct gt_op *op)
{
    uint32_t sms = 1 + (uint32_t)rand() % device.sms, threads = 32u << rand() % 6;
    gt_gpu_index other = flow->to;

    const struct gt_kernel kernel = { .name = gt_name(workload, "k", 1),
                                      .runs = GT_NONE,
                                      .arguments = GT_NONE,
                                      .grid = { sms, 1, 1 },
                                      .block = { threads, 1, 1 },
                                      .duration_ps = GT_TIME_NONE };

    call->kind = GT_CALL_LAUNCH;
    op->kind = GT_OP_KERNEL;
    op->kernel = gt_workload_kernel(workload, &kernel);
    op->direction = GT_H2D;
    op->from_peer = rand() % 2;
    flow->kernel = true;
    flow->to = op->from_peer ? flow->from : other;
    flow->from = op->from_peer ? other : flow->from;
    flow->weight = device.link_kernel_pct / 100.0 * sms / device.sms * fmin(1, threads / 256.0);
}

/* One copy or kernel a GPU, each by a thread of its own. */
static void draw_flows(struct flow *flows)
{
    workload = gt_workload_new();
    for (uint32_t i = 0; i < GPUS; i++) {
        uint32_t gpu = gt_workload_add_gpu(workload), stream = gt_workload_add_stream(workload),
                 thread = gt_workload_add_thread(workload), call = gt_workload_add_call(workload),
                 op = gt_workload_add_op(workload);

        workload->gpus[gpu].id = i;
        workload->streams[stream].gpu = i;
        flows[i].from = i;
        flows[i].to = (i + 1 + (uint32_t)rand() % (GPUS - 1)) % GPUS;
        workload->calls[call].kind = GT_CALL_COPY;
        workload->calls[call].thread = thread;
        workload->calls[call].stream = stream;
        workload->calls[call].first_op = op;
        workload->calls[call].ops = 1;
        workload->ops[op] = (struct gt_op){ .start_ps = GT_TIME_NONE,
                                            .duration_ps = GT_TIME_NONE,
                                            .visible_ps = GT_TIME_NONE,
                                            .gap_ps = GT_TIME_NONE,
                                            .bytes = 1000 + (uint64_t)rand() % 100000,
                                            .call = call,
                                            .stream = stream,
                                            .kernel = GT_NONE,
                                            .kind = GT_OP_COPY,
                                            .direction = GT_P2P,
                                            .memory = GT_MEMORY_DEVICE,
                                            .peer_gpu = flows[i].to };
        flows[i].bytes = (double)workload->ops[op].bytes;
        flows[i].weight = 1;
        if (rand() % 2)
            make_kernel(&flows[i], &workload->calls[call], &workload->ops[op]);
    }
    for (uint32_t i = 0; i < GPUS; i++) {
        struct gt_link link;
        gt_gpu_index from, to;

        if (flows[i].kernel)
            link = gt_link_of_kernel(workload, &device, &workload->ops[i], &from, &to);
        else
            assert_true(gt_link_of_copy(workload, &device, &workload->ops[i], &link, &from, &to));
        assert_int_equal(from, flows[i].from);
        assert_int_equal(to, flows[i].to);
        flows[i].gbps = flows[i].kernel ? fmin(link.cost.gbps, device.link_kernel_gbps) : link.cost.gbps;
    }
}

static int note_end(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    (void)user;
    (void)error;
    assert_int_equal(record->start_ps, 0);
    end_ps[record->op] = record->end_ps;
    return 0;
}

static void shares_are_as_reckoned(void **state)
{
    const struct gt_probe probe = { .op = note_end };
    const struct gt_options options = GT_OPTIONS_DEFAULT;

    (void)state;
    srand(13);
    for (int i = 0; i < CASES; i++) {
        struct flow flows[GPUS] = { 0 };
        struct gt_summary summary;
        struct gt_error error;
        double ends[GPUS];

        draw_device();
        draw_flows(flows);
        if (gt_workload_check(workload, &error) != 0 ||
            gt_simulate(workload, &device, &options, &probe, &summary, &error) != 0)
            fail_msg("%s", error.text);
        reckon(flows, ends);
        for (uint32_t j = 0; j < GPUS; j++)
            if (fabs((double)end_ps[j] - ends[j]) > 20)
                fail_msg("case %d: flow %u ends at %llu ps, reckoned %.1f", i, j, (unsigned long long)end_ps[j],
                         ends[j]);
        gt_workload_free(workload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shares_are_as_reckoned) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
