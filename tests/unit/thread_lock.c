/* Threads that share a lock, at random, against a reckoning of their own: who asked first has it next, at the end of the
 * call before or, where it stood in line, host.lock_us later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"

enum { CASES = 300, THREADS_MOST = 6, CALLS_MOST = 12 };

static struct gt_workload *workload;
static struct gt_device device;
static gt_time_ps start_ps[THREADS_MOST * CALLS_MOST];

static gt_time_ps draw_ps(uint32_t most)
{
    return (gt_time_ps)(1 + (uint32_t)rand() % most) * 1009 + (gt_time_ps)(rand() % 1009);
}

/* Threads of two processes, some without a lock. */
static void draw(void)
{
    uint32_t threads = 2 + (uint32_t)rand() % (THREADS_MOST - 1);
    static const char *const names[] = { "gil", "other" };

    gt_device_init(&device);
    device.lock_ps = draw_ps(3000);
    workload = gt_workload_new();
    gt_workload_add_gpu(workload);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t thread = gt_workload_add_thread(workload), calls = 1 + (uint32_t)rand() % CALLS_MOST;
        const char *name = names[rand() % 2];

        workload->threads[thread].process = (uint64_t)rand() % 2;
        if (rand() % 5 != 0)
            workload->threads[thread].lock = gt_name(workload, name, strlen(name));
        for (uint32_t j = 0; j < calls; j++) {
            uint32_t call = gt_workload_add_call(workload);

            workload->calls[call].kind = GT_CALL_HOST_WORK;
            workload->calls[call].thread = thread;
            workload->calls[call].duration_ps = draw_ps(5000);
            workload->calls[call].before_ps = rand() % 3 == 0 ? draw_ps(4000) : draw_ps(20);
        }
    }
}

static bool one_lock(uint32_t a, uint32_t b)
{
    return workload->threads[a].lock == workload->threads[b].lock &&
           workload->threads[a].process == workload->threads[b].process;
}

/* Starts of all calls, thread by thread in the order in which they ask. */
static void reckon(gt_time_ps *starts)
{
    gt_time_ps asks_ps[THREADS_MOST], free_ps[THREADS_MOST] = { 0 };
    uint32_t next[THREADS_MOST], first = 0;

    for (uint32_t i = 0; i < workload->thread_count; i++) {
        next[i] = first;
        asks_ps[i] = workload->calls[first].before_ps;
        while (first < workload->call_count && workload->calls[first].thread == i)
            first++;
    }
    for (uint32_t left = workload->call_count; left > 0; left--) {
        gt_time_ps least_ps = GT_TIME_NONE;
        uint32_t at = 0, call;

        for (uint32_t i = 0; i < workload->thread_count; i++)
            if (next[i] < workload->call_count && workload->calls[next[i]].thread == i && asks_ps[i] < least_ps)
                least_ps = asks_ps[at = i];
        call = next[at]++;
        starts[call] = asks_ps[at];
        if (workload->threads[at].lock != GT_NONE && asks_ps[at] < free_ps[at])
            starts[call] = free_ps[at] + device.lock_ps;
        for (uint32_t i = 0; i < workload->thread_count; i++)
            if (workload->threads[at].lock != GT_NONE && one_lock(i, at))
                free_ps[i] = starts[call] + workload->calls[call].duration_ps;
        asks_ps[at] = starts[call] + workload->calls[call].duration_ps;
        if (next[at] < workload->call_count)
            asks_ps[at] += workload->calls[next[at]].before_ps;
    }
}

static int note_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    (void)user;
    (void)error;
    start_ps[record->call] = record->start_ps;
    assert_int_equal(record->end_ps - record->start_ps, workload->calls[record->call].duration_ps);
    return 0;
}

static void calls_begin_as_reckoned(void **state)
{
    const struct gt_probe probe = { .call = note_call };
    const struct gt_options options = GT_OPTIONS_DEFAULT;
    uint64_t waited = 0;

    (void)state;
    srand(4);
    for (int i = 0; i < CASES; i++) {
        gt_time_ps starts[THREADS_MOST * CALLS_MOST];
        struct gt_summary summary;
        struct gt_error error;

        draw();
        if (gt_workload_check(workload, &error) != 0 ||
            gt_simulate(workload, &device, &options, &probe, &summary, &error) != 0)
            fail_msg("%s", error.text);
        reckon(starts);
        for (uint32_t j = 0; j < workload->call_count; j++)
            if (start_ps[j] != starts[j])
                fail_msg("case %d: call %u begins at %llu ps, reckoned %llu", i, j, (unsigned long long)start_ps[j],
                         (unsigned long long)starts[j]);
        waited += summary.fired[GT_RULE_LOCK];
        gt_workload_free(workload);
    }
    assert_in_range(waited, CASES, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(calls_begin_as_reckoned) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
