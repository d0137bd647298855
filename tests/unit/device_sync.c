/* Waiting for the whole device costs the same however many streams there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/simulate.h"

enum { STREAMS = 300 };

struct seen {
    gt_time_ps last_op_end_ps, first_sync_end_ps, last_sync_end_ps;
    const struct gt_workload *workload;
};

static int see_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct seen *seen = user;

    (void)error;
    if (record->end_ps > seen->last_op_end_ps)
        seen->last_op_end_ps = record->end_ps;
    return 0;
}

static int see_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct seen *seen = user;

    (void)error;
    if (seen->workload->calls[record->call].kind != GT_CALL_DEVICE_SYNC)
        return 0;
    if (record->end_ps < seen->first_sync_end_ps)
        seen->first_sync_end_ps = record->end_ps;
    if (record->end_ps > seen->last_sync_end_ps)
        seen->last_sync_end_ps = record->end_ps;
    return 0;
}

/* A thread for each of STREAMS streams: it sets its stream's memory, which takes 1 s, and waits for the device;
 * the first thread waits for the first stream's context only. */
static struct gt_workload *threads_that_wait(void)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t stream = gt_workload_add_stream(w), thread = gt_workload_add_thread(w);
        uint32_t call = gt_workload_add_call(w), op = gt_workload_add_op(w), sync;

        w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
        w->streams[stream].id = i + 1;
        w->calls[call].kind = GT_CALL_MEMSET;
        w->calls[call].thread = thread;
        w->calls[call].stream = w->ops[op].stream = stream;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_MEMSET;
        w->ops[op].duration_ps = UINT64_C(1000000000000);
        sync = gt_workload_add_call(w);
        w->calls[sync].kind = GT_CALL_DEVICE_SYNC;
        w->calls[sync].thread = thread;
        if (i == 0)
            w->calls[sync].stream = stream;
    }
    return w;
}

static void each_wait_is_one_condition(void **state)
{
    struct gt_workload *w = threads_that_wait();
    struct seen seen = { .first_sync_end_ps = UINT64_MAX, .workload = w };
    struct gt_probe probe = { .user = &seen, .op = see_op, .call = see_call };
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_device device;
    struct gt_summary summary;
    struct gt_error error;

    (void)state;
    gt_device_init(&device);
    if (gt_simulate(w, &device, &options, &probe, &summary, &error) != 0)
        fail_msg("%s", error.text);
    /* All threads wait at the same time, for all streams: one condition each, not one a stream. */
    assert_int_equal(summary.waits, STREAMS);
    assert_true(seen.first_sync_end_ps >= seen.last_op_end_ps);
    assert_int_equal(seen.last_sync_end_ps, seen.last_op_end_ps + device.sync_return_ps);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_wait_is_one_condition) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
