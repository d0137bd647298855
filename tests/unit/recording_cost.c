/* What recording cost goes from the recorder's files into the trace, through it, and out of what-ifs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/whatif/whatif.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "traces/io/temporary.h"
#include "traces/jsonl/trace.h"
#include "traces/recorded/recorded.h"
#include "validate/record/writer.h"

enum {
    STREAM = 0xa000,
    EVENT = 0xe000,
    LAUNCHES = 10,
    PERIOD_NS = 10000,
    CALL_NS = 4000, /* as the recorder measured: the host is calm */
    HELD_NS = 2000,
    COST_NS = 1200
};
enum { INSTRUMENTATION = 2 << 16, LAZY_LOADING = 5 << 16 }; /* CUpti_ActivityOverheadKind */

static void *begin(enum gt_recorded_kind kind, size_t bytes)
{
    void *record = gt_writer_begin(kind, bytes);

    assert_non_null(record);
    return record;
}

static void write_call(enum gt_recorded_what what, uint32_t correlation, uint64_t start_ns)
{
    uint32_t name = gt_writer_name("cudaSomething");
    struct gt_record_call *call = begin(GT_RECORDED_CALL, sizeof *call);

    call->head.flags = what == GT_DID_LAUNCH ? GT_RECORDED_IN_STREAM : 0;
    call->start_ns = start_ns;
    call->end_ns = start_ns + CALL_NS;
    call->thread = 7;
    call->stream = STREAM;
    call->a = EVENT;
    call->correlation = correlation;
    call->name = name;
    call->context = 1;
    call->what = what;
    gt_writer_end(call);
}

static void write_kernel(uint32_t correlation, uint64_t start_ns)
{
    uint32_t name = gt_writer_name("short_kernel");
    struct gt_record_op *op = begin(GT_RECORDED_OP, sizeof *op);

    op->start_ns = start_ns;
    op->end_ns = start_ns + 2000;
    op->kind = GT_OP_KERNEL;
    op->context = 1;
    op->stream = 13;
    op->correlation = correlation;
    op->name = name;
    op->peer_gpu = UINT32_MAX;
    for (int i = 0; i < 3; i++)
        op->grid[i] = op->block[i] = 1;
    gt_writer_end(op);
}

static void write_overhead(uint32_t kind, uint32_t correlation, uint64_t start_ns)
{
    struct gt_record_overhead *held = begin(GT_RECORDED_OVERHEAD, sizeof *held);

    held->start_ns = start_ns;
    held->end_ns = start_ns + HELD_NS;
    held->kind = kind;
    held->correlation = correlation;
    gt_writer_end(held);
}

static void write_switch(uint64_t time_ns, bool on)
{
    struct gt_record_switch *record = begin(GT_RECORDED_SWITCH, sizeof *record);

    record->time_ns = time_ns;
    record->on = on;
    gt_writer_end(record);
}

/* Launches that the host sets the pace of. CUPTI holds the first one up; the second waits for code that is loaded. */
static void write_program(void)
{
    struct gt_record_context *context = begin(GT_RECORDED_CONTEXT, sizeof *context);
    struct gt_record_stream *stream;

    context->context = 1;
    context->null_stream = 7;
    gt_writer_end(context);
    stream = begin(GT_RECORDED_STREAM, sizeof *stream);
    stream->time_ns = 100;
    stream->handle = STREAM;
    stream->context = 1;
    stream->id = 13;
    stream->flags = GT_RECORDED_NON_BLOCKING;
    gt_writer_end(stream);
    write_call(GT_DID_EVENT_CREATE, 1, 1000);
    write_switch(90000, true);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint64_t start_ns = 100000 + (uint64_t)i * PERIOD_NS;

        write_call(GT_DID_LAUNCH, 10 + i, start_ns);
        write_kernel(10 + i, start_ns + CALL_NS + 1000);
        if (i < 2)
            write_overhead(i == 0 ? INSTRUMENTATION : LAZY_LOADING, 10 + i, start_ns + 500);
    }
    write_switch(900000, false);
    write_call(GT_DID_EVENT_CREATE, 99, 950000);
}

static void write_costs_file(const char *folder, const char *text, size_t bytes)
{
    char *path = gt_format("%s/" GT_RECORDED_COSTS, folder);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    free(path);
}

static char *costs_text(void)
{
    return gt_format(
        "plain launch 2900\nplain query 100\nplain something-new 1\nplain node 10000\nrecorded launch %d\n"
        "recorded query 150\nrecorded node 10500\nplain launch 2800\nrecorded launch 9000\n",
        2800 + COST_NS);
}

static void write_costs(const char *folder)
{
    char *text = costs_text();

    write_costs_file(folder, text, strlen(text));
    free(text);
}

/* A folder of one process's file, read; `measured`: with what calls cost. */
static struct gt_workload *read_folder(const char *folder, bool measured)
{
    const struct gt_import_options options = { .input = NULL };
    struct gt_workload *w;
    struct gt_error error;

    if (measured)
        write_costs(folder);
    w = gt_importer_recorded.read(folder, &options, &error);
    if (w == NULL)
        fail_msg("%s", error.text);
    return w;
}

static void check_recording(const struct gt_workload *w)
{
    const struct gt_recording_cost *recording = &w->recording;

    assert_true(recording->known && recording->measured);
    assert_int_equal(recording->plain_ns[GT_RECORDING_LAUNCH], 2800);
    assert_int_equal(recording->recorded_ns[GT_RECORDING_LAUNCH], 2800 + COST_NS);
    assert_int_equal(recording->recorded_ns[GT_RECORDING_NODE], 10500);
    assert_int_equal(recording->recorded_ns[GT_RECORDING_COPY], 0);
    assert_int_equal(w->calls[0].held_ps, HELD_NS * 1000);
    assert_int_equal(w->calls[0].flags & GT_CALL_LOADS, 0);
    assert_int_equal(w->calls[1].flags & GT_CALL_LOADS, GT_CALL_LOADS);
    assert_int_equal(w->calls[1].held_ps, 0); /* the program has to wait for code anyway */
}

static char *folder;

static void calls_without_recording_are_no_part_of_it(void **state)
{
    struct gt_workload *w = read_folder(folder, false);

    (void)state;
    assert_int_equal(w->call_count, LAUNCHES);
    assert_false(w->recording.measured);
    gt_workload_free(w);
}

static void a_trace_keeps_what_was_measured(void **state)
{
    struct gt_workload *w = read_folder(folder, true), *again;
    char *path = gt_format("%s/trace.jsonl", folder);
    struct gt_error error;

    (void)state;
    check_recording(w);
    assert_int_equal(gt_trace_write(w, path, &error), 0);
    again = gt_trace_read(path, &(struct gt_import_options){ .input = NULL }, &error);
    assert_non_null(again);
    check_recording(again);
    assert_memory_equal(&w->recording, &again->recording, sizeof w->recording);
    gt_workload_free(again);
    gt_workload_free(w);
    free(path);
}

/* Cut anywhere, or with any byte another: what is read can be written down and read again. */
static void damaged_costs_are_no_harm(void **state)
{
    static const char odd[] = { '\0', ' ', '\n', '-', '9', '%', '\xff' };
    char *text = costs_text(), *path = gt_format("%s/damaged.jsonl", folder);
    size_t bytes = strlen(text);

    (void)state;
    for (size_t i = 0; i < 2 * bytes; i++) {
        struct gt_workload *w, *again;
        struct gt_error error;
        char kept = text[i % bytes];

        text[i % bytes] = i < bytes ? kept : odd[i % sizeof odd];
        write_costs_file(folder, text, i < bytes ? i : bytes);
        text[i % bytes] = kept;
        w = read_folder(folder, false);
        assert_int_equal(gt_trace_write(w, path, &error), 0);
        again = gt_trace_read(path, &(struct gt_import_options){ .input = NULL }, &error);
        assert_non_null(again);
        assert_int_equal(again->recording.measured, w->recording.measured);
        gt_workload_free(again);
        gt_workload_free(w);
    }
    free(path);
    free(text);
}

static void a_cost_of_years_is_none(void **state)
{
    static const char text[] = "plain launch 9\nrecorded launch 18446744073709551615\n";
    struct gt_workload *w;

    (void)state;
    write_costs_file(folder, text, sizeof text - 1);
    w = read_folder(folder, false);
    assert_false(w->recording.measured);
    gt_workload_free(w);
}

/* All calls but the last one set when the last one begins: 9 times the cost, and what the first was held up. */
static void what_ifs_take_it_off(void **state)
{
    struct gt_workload *w = read_folder(folder, true);
    struct gt_device device;
    struct gt_framework framework;
    struct gt_whatif_host host = { .framework = &framework };
    struct gt_whatif whatif;
    struct gt_error error;
    double off_us;

    (void)state;
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(gt_framework_load(NULL, &framework, &error), 0);
    assert_int_equal(gt_whatif_begin(&whatif,
                                     &(struct gt_whatif_subject){ .workload = w, .device = &device, .host = &host },
                                     &error),
                     0);
    off_us = whatif.facts.replay_us - whatif.facts.baseline_us;
    assert_true(off_us > (9 * COST_NS + HELD_NS) / 1e3 - 0.01);
    assert_true(off_us <
                (9 * COST_NS + HELD_NS + CALL_NS) / 1e3); /* the last kernel may come sooner after its call */
    assert_true(fabs(whatif.facts.removed.host_us - (LAUNCHES * COST_NS + HELD_NS) / 1e3) < 0.001);
    gt_whatif_free(&whatif);
    gt_workload_free(w);
}

static int begin_folder(void **state)
{
    struct gt_error error;

    (void)state;
    folder = gt_temporary_folder("test", &error);
    if (folder == NULL || gt_writer_open(folder, UINT64_C(1) << 30) != 0)
        return -1;
    write_program();
    return 0;
}

static int end_folder(void **state)
{
    (void)state;
    gt_temporary_remove(folder);
    free(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_recording_are_no_part_of_it),
        cmocka_unit_test(a_trace_keeps_what_was_measured),
        cmocka_unit_test(what_ifs_take_it_off),
        cmocka_unit_test(damaged_costs_are_no_harm),
        cmocka_unit_test(a_cost_of_years_is_none),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
