/* What the host's calls cost, learned from played traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/devices/device.h"
#include "validate/host_costs.h"

enum { US = 1000000 };

static gt_time_ps now_ps;

/* A call that takes `us`, right behind the one before, with an operation of `kind` (GT_OP_KINDS: none). */
static struct gt_call *call(struct gt_workload *w, enum gt_call_kind kind, uint32_t stream, double us,
                            enum gt_op_kind op_kind)
{
    uint32_t index = gt_workload_add_call(w), op;
    struct gt_call *c = &w->calls[index];

    *c = (struct gt_call){ .buffer = GT_NONE,
                           .kind = (uint8_t)kind,
                           .stream = stream,
                           .event = GT_NONE,
                           .name = GT_NONE,
                           .first_op = w->op_count,
                           .start_ps = now_ps,
                           .duration_ps = (gt_time_ps)(us * US) };
    now_ps += c->duration_ps;
    if (op_kind == GT_OP_KINDS)
        return c;
    c->ops = 1;
    op = gt_workload_add_op(w);
    w->ops[op].kind = (uint8_t)op_kind;
    w->ops[op].call = index;
    w->ops[op].stream = stream;
    w->ops[op].direction = GT_H2D;
    w->ops[op].start_ps = now_ps + 2 * US;
    w->ops[op].duration_ps = 1 * US;
    return c;
}

static struct gt_workload *workload(uint32_t streams)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < streams; i++)
        gt_workload_add_stream(w);
    now_ps = 0;
    return w;
}

/* Launches of 5 us; a thread's first one 4 more, the first into a stream 2, behind another kind of call 1. Of 13
 * streams with four launches each, every third launch behind a record of 0.5 us (the first one 0.5 more), and a wait
 * that returns 3 us after the last kernel's end. One launch in each trace takes 200 us: nobody's cost. */
static void every_part_is_found(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    for (uint32_t trace = 0; trace < 13; trace++) {
        struct gt_workload *w = workload(13);
        bool behind_record = false, cold = true;

        for (uint32_t i = 0; i < 52; i++) {
            double us = 5 + (cold ? 4 : 0) + (i % 4 == 0 ? 2 : 0) + (behind_record ? 1 : 0);

            call(w, GT_CALL_LAUNCH, i / 4, i == 30 ? 200 : us, GT_OP_KERNEL);
            behind_record = i % 3 == 1;
            if (behind_record)
                call(w, GT_CALL_EVENT_RECORD, i / 4, i == 1 ? 1 : 0.5, GT_OP_KINDS);
            cold = false;
        }
        call(w, GT_CALL_DEVICE_SYNC, GT_NONE, 3 + 3, GT_OP_KINDS);
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    assert_true(gt_host_costs_apply(costs, &device) > 13 * 60);
    assert_int_equal(device.launch_call_ps, 5 * US);
    assert_int_equal(device.launch_extra.cold_ps, 4 * US);
    assert_int_equal(device.launch_extra.first_ps, 2 * US);
    assert_int_equal(device.launch_extra.after_ps, 1 * US);
    assert_int_equal(device.event_call_ps, US / 2);
    assert_int_equal(device.event_extra.cold_ps, US / 2);
    assert_int_equal(device.sync_return_ps, 3 * US);
    gt_host_costs_free(costs);
}

/* Of 20 traces of ten launches of 5 us four take 7.5 us a launch: all of a trace's alike.  In each, two launches take a
 * quarter more than that and one 500 us more.  So the 10 and 90 % points of runs' medians are ln 1.5 = 0.405 apart, which are
 * 2.563 deviations: 16 %; of calls about them ln 1.25 = 0.223 apart: 9 %.  20 calls of 1.1 ms in all are interrupted, for
 * some 500 us. */
static void noise_is_of_runs_and_of_calls(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    for (uint32_t trace = 0; trace < 20; trace++) {
        struct gt_workload *w = workload(1);
        double us = trace < 16 ? 5 : 7.5;

        for (uint32_t i = 0; i < 10; i++)
            call(w, GT_CALL_LAUNCH, 0, us * (i % 5 == 1 ? 1.25 : 1) + (i == 5 ? 500 : 0), GT_OP_KERNEL);
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_int_equal(device.launch_call_ps, 5 * US);
    assert_int_equal(device.noise_hosts_pct, 0);
    assert_int_equal(device.noise_run_pct, 16);
    assert_int_equal(device.noise_call_pct, 9);
    assert_float_equal(device.interrupts_per_ms, 20 / 1.1, 1e-6);
    assert_in_range(device.interrupt_ps, 497 * (uint64_t)US, 500 * (uint64_t)US);
    gt_host_costs_free(costs);
}

/* Graphs of a chain of three kernels take twice what the device says: 10 us a launch, 4 a group, 2 a node are then 20,
 * 8 and 4 (2 * (10 + 4 + 3 * 2) = 40). */
static void graphs_have_a_factor(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    device.graph_call_ps = 10 * US;
    device.graph_group_ps = 4 * US;
    device.graph_node_ps = 2 * US;
    for (int i = 0; i < GT_HOST_COSTS_LEAST; i++) {
        struct gt_workload *w = workload(1);
        uint32_t nodes[2];

        call(w, GT_CALL_GRAPH_LAUNCH, 0, 40, GT_OP_KERNEL);
        for (int j = 0; j < 2; j++) {
            nodes[j] = gt_workload_add_op(w);
            w->ops[nodes[j]].kind = GT_OP_KERNEL;
            w->ops[nodes[j]].call = 0;
            w->ops[nodes[j]].stream = 0;
            gt_workload_add_after(w, nodes[j], nodes[j] - 1);
        }
        w->calls[0].ops = 3;
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_int_equal(device.graph_call_ps, 20 * US);
    assert_int_equal(device.graph_group_ps, 8 * US);
    assert_int_equal(device.graph_node_ps, 4 * US);
    gt_host_costs_free(costs);
}

/* A copy of pageable memory that starts `lead_us` after its call of `us` begins. */
static void staged(struct gt_workload *w, enum gt_direction direction, uint64_t bytes, double us, double lead_us)
{
    gt_time_ps start_ps = now_ps + (gt_time_ps)(lead_us * US);
    uint32_t index = call(w, GT_CALL_COPY, 0, us, GT_OP_COPY)->first_op;
    struct gt_op *op = &w->ops[index];

    op->memory = GT_MEMORY_PAGEABLE;
    op->direction = (uint8_t)direction;
    op->bytes = bytes;
    op->start_ps = start_ps;
}

/* Chunks of 1 MB, two buffers, a link of 50 GB/s and 1 us. In: of 5 MB the host stages 4 between the copy's start and the
 * call's end, in 500 us: 8 GB/s. Out: the first MB is there after 21 us, and 5 MB are copied on in 400: 12.5 GB/s, a rate of
 * its own. Copies of 2 MB, which the buffers hold, go ten times as fast and tell nothing. */
static void staging_in_and_out_have_rates_of_their_own(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    device.staging_chunk_bytes = 1000000;
    device.staging_buffers = 2;
    device.staging_in_gbps = device.staging_out_gbps = 20;
    device.h2d_pinned = device.d2h_pinned = (struct gt_copy_cost){ .latency_ps = 1 * US, .gbps = 50 };
    for (int i = 0; i < 3; i++) {
        struct gt_workload *w = workload(1);

        staged(w, GT_H2D, 5000000, 600, 100);
        staged(w, GT_H2D, 2000000, 150, 100);
        if (i > 0) /* too few of them */
            staged(w, GT_D2H, 5000000, 431, 10);
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_float_equal(device.staging_in_gbps, 8, 0.01);
    assert_float_equal(device.staging_out_gbps, 20, 0.01);
    for (int i = 0; i < 2; i++) {
        struct gt_workload *w = workload(1);

        staged(w, GT_D2H, 5000000, 431, 10);
        staged(w, GT_D2H, 2000000, 51, 10);
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_float_equal(device.staging_in_gbps, 8, 0.01);
    assert_float_equal(device.staging_out_gbps, 12.5, 0.01);
    gt_host_costs_free(costs);
}

/* A host function behind a kernel that ends 3 us after its call is picked up 40 us after that end; one behind a wait
 * for an event (picked up after 500) tells nothing, because what it waited for is not known. */
static void host_functions_tell_when_they_are_picked_up(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    for (int i = 0; i < 2 * GT_HOST_COSTS_LEAST; i++) {
        struct gt_workload *w = workload(1);
        gt_time_ps kernel_end_ps;

        call(w, GT_CALL_LAUNCH, 0, 5, GT_OP_KERNEL);
        kernel_end_ps = w->ops[0].start_ps + w->ops[0].duration_ps;
        if (i % 2 == 1)
            call(w, GT_CALL_EVENT_WAIT, 0, 0.5, GT_OP_KINDS);
        call(w, GT_CALL_HOST_FUNCTION, 0, 1, GT_OP_HOST_FUNCTION);
        w->ops[1].start_ps = kernel_end_ps + (i % 2 == 1 ? 500 : 40) * (gt_time_ps)US;
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_int_equal(device.host_function_ps, 40 * US);
    gt_host_costs_free(costs);
}

/* Launches alone take 5 us; of two threads that launch at once each takes 7: 2 us for the other one. */
static void threads_at_once_tell_of_their_lock(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    for (int trace = 0; trace < 2; trace++) {
        struct gt_workload *w = workload(1);

        gt_workload_add_thread(w);
        for (int i = 0; i < 20; i++) {
            struct gt_call *c = call(w, GT_CALL_LAUNCH, 0, trace == 0 ? 5 : 7, GT_OP_KERNEL);

            if (trace == 1) { /* pairs that begin together, 10 us apart */
                c->thread = (uint32_t)i % 2;
                c->start_ps = (gt_time_ps)(i / 2) * 10 * US;
            }
        }
        gt_host_costs_add(costs, w, w);
        gt_workload_free(w);
    }
    gt_host_costs_apply(costs, &device);
    assert_int_equal(device.launch_call_ps, 5 * US);
    assert_int_equal(device.submit_lock_ps, 2 * US);
    gt_host_costs_free(costs);
}

/* The first launch into a stream takes 2 us more; that says nothing of copies within the device, which take 3 us each,
 * though no other copy tells what their first ones do. */
static void copies_within_are_no_launches(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_device device;
    struct gt_workload *w = workload(2 * 20);

    (void)state;
    gt_device_init(&device);
    for (uint32_t i = 0; i < 20; i++) {
        call(w, GT_CALL_LAUNCH, i, 7, GT_OP_KERNEL);
        call(w, GT_CALL_LAUNCH, i, 5, GT_OP_KERNEL);
    }
    for (uint32_t i = 0; i < 20; i++) {
        struct gt_call *copy = call(w, GT_CALL_COPY, 20 + i, 3, GT_OP_COPY);

        w->ops[copy->first_op].direction = GT_D2D;
    }
    gt_host_costs_add(costs, w, w);
    gt_workload_free(w);
    gt_host_costs_apply(costs, &device);
    assert_int_equal(device.launch_extra.first_ps, 2 * US);
    assert_int_equal(device.copy_within_call_ps, 3 * US);
    gt_host_costs_free(costs);
}

/* Fewer launches than are enough tell nothing, and several threads' only about their lock. */
static void few_calls_and_threads_tell_nothing(void **state)
{
    struct gt_host_costs *costs = gt_host_costs_new();
    struct gt_workload *w = workload(1);
    struct gt_device device;

    (void)state;
    gt_device_init(&device);
    device.launch_call_ps = 7;
    for (int i = 0; i < GT_HOST_COSTS_LEAST - 1; i++)
        call(w, GT_CALL_LAUNCH, 0, 5, GT_OP_KERNEL);
    gt_host_costs_add(costs, w, w);
    gt_workload_add_thread(w);
    call(w, GT_CALL_LAUNCH, 0, 5, GT_OP_KERNEL)->thread = 1;
    gt_host_costs_add(costs, w, w);
    assert_int_equal(gt_host_costs_apply(costs, &device), GT_HOST_COSTS_LEAST - 1);
    assert_int_equal(device.launch_call_ps, 7);
    gt_workload_free(w);
    gt_host_costs_free(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_found),
        cmocka_unit_test(host_functions_tell_when_they_are_picked_up),
        cmocka_unit_test(threads_at_once_tell_of_their_lock),
        cmocka_unit_test(graphs_have_a_factor),
        cmocka_unit_test(staging_in_and_out_have_rates_of_their_own),
        cmocka_unit_test(noise_is_of_runs_and_of_calls),
        cmocka_unit_test(copies_within_are_no_launches),
        cmocka_unit_test(few_calls_and_threads_tell_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
