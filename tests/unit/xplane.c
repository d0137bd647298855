/* XPlane files: what tests/fuzz/samples/step.xplane.pb (by tests/data/xplane.py) becomes; and what is wrong is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/imported.h"
#include "traces/xplane/xplane.h"
#include "traces/xplane/xplane.pb-c.h"

static char path[] = "/tmp/gridtide-xplane-test-XXXXXX";
static struct gt_error error;

static struct gt_workload *read_sample(void)
{
    struct gt_workload *workload;
    char sample[512];

    snprintf(sample, sizeof sample, "%s/tests/fuzz/samples/step.xplane.pb", getenv("GRIDTIDE_SOURCE"));
    workload = gt_importer_xplane.read(sample, NULL, &error);
    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static const char *kernel_of(const struct gt_workload *w, uint32_t op)
{
    return gt_name_text(w, w->kernels[w->ops[op].kernel].name);
}

/* Both streams are of GPU 0, but kernels are in one of them only: no priority could have made a difference. */
static void priorities_matter_where_two_streams_have_kernels(void **state)
{
    struct gt_workload *w = read_sample();

    (void)state;
    assert_int_equal(w->stream_count, 2);
    for (uint32_t i = 0; i < w->warning_count; i++)
        assert_string_not_equal(w->warnings[i].kind, "priorities-unknown");
    gt_workload_free(w);
}

/* The first call begins 2 us after the line's start, from which times count.  Calls are the copy, two launches, the graph's, the
 * wait, and one for the memset that has none. */
static void calls_have_their_operations(void **state)
{
    static const uint8_t kinds[] = { GT_CALL_COPY,         GT_CALL_LAUNCH,      GT_CALL_LAUNCH,
                                     GT_CALL_GRAPH_LAUNCH, GT_CALL_STREAM_SYNC, GT_CALL_MEMSET };
    static const uint32_t ops[] = { 1, 1, 1, 2, 0, 1 };
    struct gt_workload *w = read_sample();

    (void)state;
    assert_int_equal(w->call_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(w->calls[i].kind, kinds[i]);
        assert_int_equal(w->calls[i].ops, ops[i]);
    }
    assert_string_equal(gt_name_text(w, w->calls[3].name), "cuGraphLaunch");
    assert_int_equal(w->calls[1].start_ps, 2000000);
    assert_int_equal(w->calls[1].duration_ps, 2000000);
    assert_int_equal(w->threads[w->calls[1].thread].id, 101);
    assert_string_equal(gt_name_text(w, w->threads[w->calls[1].thread].name), "python3");
    assert_int_equal(w->calls[4].flags & GT_CALL_TARGET_UNKNOWN, GT_CALL_TARGET_UNKNOWN);
    gt_workload_free(w);
}

static void details_of_kernels_and_copies_are_read(void **state)
{
    struct gt_workload *w = read_sample();
    const struct gt_kernel *kernel = &w->kernels[w->ops[2].kernel];

    (void)state;
    assert_int_equal(w->op_count, 6);
    assert_string_equal(kernel_of(w, 2), "loop_add");
    assert_int_equal(kernel->registers_per_thread, 40);
    assert_int_equal(kernel->dynamic_shared_bytes, 1024);
    assert_int_equal(kernel->grid[0], 64);
    assert_int_equal(kernel->block[0], 256);
    assert_int_equal(w->ops[2].start_ps, 12000000);
    assert_int_equal(w->ops[2].duration_ps, 6000000);
    assert_int_equal(w->streams[w->ops[2].stream].id, 14);
    assert_int_equal(w->streams[w->ops[2].stream].context, 1);
    assert_int_equal(w->ops[0].direction, GT_H2D);
    assert_int_equal(w->ops[0].memory, GT_MEMORY_PINNED);
    assert_int_equal(w->ops[0].bytes, 65536);
    assert_int_equal(w->ops[5].kind, GT_OP_MEMSET);
    assert_int_equal(w->ops[5].bytes, 4096);
    assert_string_equal(w->device, "h200");
    assert_string_equal(setting(w, "chip.clock_mhz"), "1980");
    gt_workload_free(w);
}

static void expect_range(const struct gt_workload *w, const char *name, uint8_t kind, uint32_t calls)
{
    for (uint32_t i = 0; i < w->range_count; i++)
        if (strcmp(gt_name_text(w, w->ranges[i].name), name) == 0) {
            assert_int_equal(w->ranges[i].kind, kind);
            assert_int_equal(w->ranges[i].end_call - w->ranges[i].first_call, calls);
            return;
        }
    fail_msg("no range %s", name);
}

/* Steps, annotations, TensorFlow's operators; XLA's are the calls that launched their kernels, but for the graph's two. */
static void ranges_are_steps_operators_and_annotations(void **state)
{
    struct gt_workload *w = read_sample();

    (void)state;
    assert_int_equal(w->range_count, 6);          /* none of Python's functions */
    expect_range(w, "train#3", GT_RANGE_STEP, 6); /* of all threads */
    expect_range(w, "PjitFunction(step)", GT_RANGE_ANNOTATION, 4);
    expect_range(w, "fusion.3", GT_RANGE_OPERATOR, 1);
    expect_range(w, "add.7", GT_RANGE_OPERATOR, 1);
    expect_range(w, "model/dense/MatMul:MatMul", GT_RANGE_OPERATOR, 0);
    expect_range(w, "library:copy", GT_RANGE_NVTX, 0);
    gt_workload_free(w);
}

/* A file of one plane with one line of up to four events, and `more` behind it; the names are "kernel_details" and "k". */
static void write_events(const Xplane__Event *packed, size_t count, int64_t timestamp_ns, const char *more,
                         size_t more_bytes)
{
    Xplane__Plane plane = XPLANE__PLANE__INIT;
    Xplane__Line line = XPLANE__LINE__INIT;
    Xplane__StatMetadataEntry entry = XPLANE__STAT_METADATA_ENTRY__INIT, *entries = &entry;
    Xplane__StatMetadata details = XPLANE__STAT_METADATA__INIT;
    uint8_t buffers[6][512], head[4] = { 0x0a };
    ProtobufCBinaryData events[4], lines;
    size_t bytes;
    FILE *file = fopen(path, "wb");

    for (size_t i = 0; i < count; i++)
        events[i] = (ProtobufCBinaryData){ xplane__event__pack(&packed[i], buffers[2 + i]), buffers[2 + i] };

    line.has_timestamp_ns = true;
    line.timestamp_ns = timestamp_ns;
    line.n_events = count;
    line.events = events;
    lines = (ProtobufCBinaryData){ xplane__line__pack(&line, buffers[1]), buffers[1] };
    details.name = (char[]){ "kernel_details" };
    entry.has_key = true;
    entry.key = 1;
    entry.value = &details;
    plane.name = (char[]){ "/device:GPU:0" };
    plane.n_lines = 1;
    plane.lines = &lines;
    plane.n_stat_metadata = 1;
    plane.stat_metadata = &entries;
    bytes = xplane__plane__pack(&plane, buffers[0]);
    assert_true(bytes < 1 << 14);
    head[1] = (uint8_t)(bytes | 0x80);
    head[2] = (uint8_t)(bytes >> 7);
    assert_int_equal(fwrite(head, 1, 3, file), 3);
    assert_int_equal(fwrite(buffers[0], 1, bytes, file), bytes);
    if (more_bytes > 0)
        assert_int_equal(fwrite(more, 1, more_bytes, file), more_bytes);
    fclose(file);
}

/* A kernel of these details from `offset_ps` on. */
static void write_kernel(const char *text, int64_t offset_ps, int64_t duration_ps, int64_t timestamp_ns)
{
    Xplane__Event event = XPLANE__EVENT__INIT;
    Xplane__Stat stat = XPLANE__STAT__INIT, *stats = &stat;
    char details[256];

    snprintf(details, sizeof details, "%s", text);
    stat.has_metadata_id = true;
    stat.metadata_id = 1;
    stat.str_value = details;
    event.has_offset_ps = event.has_duration_ps = true;
    event.offset_ps = offset_ps;
    event.duration_ps = duration_ps;
    event.n_stats = 1;
    event.stats = &stats;
    write_events(&event, 1, timestamp_ns, NULL, 0);
}

/* Kernels of one stream, from and to so many ns. */
static void write_stream(const int64_t times_ns[][2], size_t count)
{
    Xplane__Stat stat = XPLANE__STAT__INIT, *stats = &stat;
    Xplane__Event events[4];
    char details[] = "grid:1,1,1 block:32,1,1";

    stat.has_metadata_id = true;
    stat.metadata_id = 1;
    stat.str_value = details;
    for (size_t i = 0; i < count; i++) {
        xplane__event__init(&events[i]);
        events[i].has_offset_ps = events[i].has_duration_ps = true;
        events[i].offset_ps = times_ns[i][0] * 1000;
        events[i].duration_ps = (times_ns[i][1] - times_ns[i][0]) * 1000;
        events[i].n_stats = 1;
        events[i].stats = &stats;
    }
    write_events(events, count, 1000, NULL, 0);
}

static void expect_starts(const int64_t times_ns[][2], size_t count, const uint64_t *starts_ns)
{
    struct gt_workload *w;

    write_stream(times_ns, count);
    w = gt_importer_xplane.read(path, NULL, &error);
    assert_non_null(w);
    assert_int_equal(w->op_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(w->ops[i].start_ps, starts_ns[i] * 1000);
    gt_workload_free(w);
}

/* Kernels that begin in the last half of the one ahead wait for its end, by what it was recorded; those that begin before, or end
 * before it, are branches of a graph. */
static void a_kernel_that_starts_early_waits(void **state)
{
    (void)state;
    expect_starts((int64_t[][2]){ { 0, 100 }, { 60, 150 }, { 106, 200 } }, 3, (uint64_t[]){ 0, 100, 150 });
    expect_starts((int64_t[][2]){ { 0, 100 }, { 49, 150 } }, 2, (uint64_t[]){ 0, 49 });
    expect_starts((int64_t[][2]){ { 0, 100 }, { 80, 100 } }, 2, (uint64_t[]){ 0, 80 });
    expect_starts((int64_t[][2]){ { 0, 100 }, { 100, 150 } }, 2, (uint64_t[]){ 0, 100 });
}

static void expect_error(const char *part)
{
    struct gt_workload *workload;

    error.text[0] = '\0';
    workload = gt_importer_xplane.read(path, NULL, &error);
    assert_null(workload);
    if (strncmp(error.text, path, strlen(path)) != 0 || strstr(error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void details_that_are_missing_are_counted(void **state)
{
    struct gt_workload *w;

    (void)state;
    write_kernel("regs:99999999999 grid:0,-1 block:64x2x1", 1500, 2000, 10);
    w = gt_importer_xplane.read(path, NULL, &error);
    assert_non_null(w);
    assert_int_equal(w->op_count, 1);
    assert_int_equal(w->ops[0].duration_ps, 2000); /* from 11.5 to 13.5 ns: whole ones */
    assert_int_equal(w->kernels[0].registers_per_thread, 0);
    assert_int_equal(w->kernels[0].grid[0], 1);
    assert_int_equal(w->kernels[0].grid[1], 1);
    assert_int_equal(w->kernels[0].block[1], 2);
    for (uint32_t i = 0; i < w->warning_count; i++)
        if (strcmp(w->warnings[i].kind, "launch-shapes-unknown") == 0)
            assert_int_equal(w->warnings[i].count, 3); /* all of the grid */
    gt_workload_free(w);
}

static void times_that_cannot_be_are_told(void **state)
{
    (void)state;
    write_kernel("grid:1,1,1 block:1,1,1", -1, 0, 10);
    expect_error("plane /device:GPU:0, line 0, event 1: its start or duration is below 0 or too large");
    write_kernel("grid:1,1,1 block:1,1,1", INT64_MAX, 1, 10);
    expect_error("event 1: its start or duration");
    write_kernel("grid:1,1,1 block:1,1,1", 0, -5, 10);
    expect_error("event 1: its start or duration");
    write_kernel("grid:1,1,1 block:1,1,1", 5000, 0, INT64_MAX);
    expect_error("event 1: its start or duration");
}

static void what_follows_must_be_a_field(void **state)
{
    static const struct {
        const char *more;
        size_t bytes;
        const char *says;
    } cases[] = {
        { "\x0a\xff\xff\xff\xff\x7f", 6, "of another format" },
        { "\x0a\x7f", 2, "the file ends after 0 of a field's 127 bytes" },
        { "\x0a\xff\xff\xff\x7f\x01", 6, "the file ends after 1 of a field's 268435455 bytes" },
        { "\x0a", 1, "the file ends within a field" },
        { "\xff", 1, "the file ends within a number" },
        { "\x00\x00", 2, "no field with a length begins here" },
        { "\x08\x01", 2, "no field with a length begins here" },
        { "\x0a\x02\x12\x7f", 4, "the plane is damaged" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Xplane__Event event = XPLANE__EVENT__INIT;

        write_events(&event, 1, 10, cases[i].more, cases[i].bytes);
        expect_error(cases[i].says);
    }
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_their_operations),
        cmocka_unit_test(details_of_kernels_and_copies_are_read),
        cmocka_unit_test(ranges_are_steps_operators_and_annotations),
        cmocka_unit_test(priorities_matter_where_two_streams_have_kernels),
        cmocka_unit_test(details_that_are_missing_are_counted),
        cmocka_unit_test(a_kernel_that_starts_early_waits),
        cmocka_unit_test(times_that_cannot_be_are_told),
        cmocka_unit_test(what_follows_must_be_a_field),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
