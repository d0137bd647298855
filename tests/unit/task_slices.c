/* Recordings of a megakernel's workers: tracks, names, slices within slices, and a worker's time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/export/perfetto.pb-c.h"
#include "traces/tasks/slices.h"

static char path[] = "/tmp/gridtide-slices-test-XXXXXX";
static struct gt_error error;
static FILE *file;

static void put(Perfetto__Protos__TracePacket *packet)
{
    Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;
    uint8_t bytes[256];

    trace.n_packet = 1;
    trace.packet = &packet;
    assert_true(perfetto__protos__trace__get_packed_size(&trace) <= sizeof bytes);
    fwrite(bytes, 1, perfetto__protos__trace__pack(&trace, bytes), file);
}

static void put_track(uint64_t uuid, uint64_t parent, const char *name)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    Perfetto__Protos__TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    char text[32];

    snprintf(text, sizeof text, "%s", name);
    descriptor.has_uuid = descriptor.has_parent_uuid = true;
    descriptor.uuid = uuid;
    descriptor.parent_uuid = parent;
    descriptor.name = text;
    packet.track_descriptor = &descriptor;
    put(&packet);
}

/* A slice of that name begins; ends where there is no name. */
static void put_event(uint64_t track, uint64_t time_ns, const char *name)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    char text[32];

    snprintf(text, sizeof text, "%s", name != NULL ? name : "");
    packet.has_timestamp = event.has_track_uuid = event.has_type = true;
    packet.timestamp = time_ns;
    event.track_uuid = track;
    event.type = name != NULL ? PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
                              : PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
    event.name = name != NULL ? text : NULL;
    packet.track_event = &event;
    put(&packet);
}

static int read_back(struct gt_task_slices *slices)
{
    struct gt_input *input;
    int status;

    fclose(file);
    input = gt_input_open(path, &error);
    assert_non_null(input);
    status = gt_task_slices_read(slices, input, path, 2000, &error);
    gt_input_close(input);
    return status;
}

/* Track 3 is of block 5, by the group around it; tracks 9, 8 and 4 say nothing: they are the workers behind it, by their first
 * end. */
static void workers_are_blocks_or_tracks(void **state)
{
    struct gt_task_slices slices;

    (void)state;
    put_track(1, 0, "block_5");
    put_track(2, 1, "group_0");
    put_track(3, 2, "group_0");
    put_track(4, 4, "its own parent");
    put_event(8, 10, "a");
    put_event(9, 10, "b");
    put_event(9, 12, NULL);
    put_event(8, 20, NULL);
    put_event(3, 10, "TASK_LINEAR_7");
    put_event(3, 15, NULL);
    put_event(3, 16, NULL); /* nothing is open */
    put_event(4, 30, "TASK_12");
    put_event(4, 31, NULL);
    assert_int_equal(read_back(&slices), 0);
    assert_int_equal(slices.count, 4);
    assert_int_equal(slices.workers, 4);
    assert_int_equal(slices.slices[0].worker, 5);
    assert_string_equal(slices.kinds[slices.slices[0].kind], "LINEAR");
    assert_int_equal(slices.slices[1].worker, 6);
    assert_string_equal(slices.kinds[slices.slices[1].kind], "b");
    assert_int_equal(slices.slices[2].worker, 7);
    assert_string_equal(slices.kinds[slices.slices[2].kind], "a");
    assert_int_equal(slices.slices[2].end_ns - slices.slices[2].start_ns, 10);
    assert_int_equal(slices.slices[3].worker, 8);
    assert_string_equal(slices.kinds[slices.slices[3].kind], "12"); /* a number alone is a name */
    gt_task_slices_free(&slices);
}

/* A track without a name beside block 0 is worker 1; where no track says a block they are workers from 0 on. */
static void a_track_without_a_name_is_no_block(void **state)
{
    struct gt_task_slices slices;

    (void)state;
    put_event(8, 10, "a");
    put_event(8, 20, NULL);
    put_track(1, 0, "block_0");
    put_event(1, 10, "a");
    put_event(1, 15, NULL);
    assert_int_equal(read_back(&slices), 0);
    assert_int_equal(slices.workers, 2);
    assert_int_equal(slices.slices[0].worker, 0);
    assert_int_equal(slices.slices[0].end_ns, 15);
    assert_int_equal(slices.slices[1].worker, 1);
    gt_task_slices_free(&slices);
    file = fopen(path, "wb");
    put_event(8, 10, "a");
    put_event(8, 20, NULL);
    assert_int_equal(read_back(&slices), 0);
    assert_int_equal(slices.slices[0].worker, 0);
    gt_task_slices_free(&slices);
}

/* From 0 to 10, from 2 to 5 within it, from 8 to 14 on another track of the block, from 20 to 22: busy for 16 of 22. */
static void time_of_tasks_that_overlap_counts_once(void **state)
{
    struct gt_task_slices slices;
    struct gt_worker_time time;
    uint32_t next = 0;

    (void)state;
    put_track(1, 0, "blk3_g0");
    put_track(2, 0, "blk3_g1");
    put_event(1, 0, "outer");
    put_event(1, 2, "inner");
    put_event(1, 5, NULL);
    put_event(2, 8, "other");
    put_event(1, 10, NULL);
    put_event(2, 14, NULL);
    put_event(1, 20, "outer");
    put_event(1, 22, NULL);
    assert_int_equal(read_back(&slices), 0);
    time = gt_task_slices_worker(&slices, &next);
    assert_int_equal(next, slices.count);
    assert_int_equal(time.worker, 3);
    assert_int_equal(time.tasks, 4);
    assert_int_equal(time.busy_ns, 16);
    assert_int_equal(time.end_ns - time.start_ns, 22);
    gt_task_slices_keep(&slices, (const bool[]){ true, false, false }); /* outer */
    assert_int_equal(slices.count, 2);
    next = 0;
    assert_int_equal(gt_task_slices_worker(&slices, &next).busy_ns, 12);
    gt_task_slices_free(&slices);
}

static void a_trace_without_slices_is_an_error(void **state)
{
    struct gt_task_slices slices;

    (void)state;
    put_track(1, 0, "block_0");
    put_event(1, 5, "a");
    assert_int_equal(read_back(&slices), -1);
    assert_non_null(strstr(error.text, "no slice that begins and ends"));
    gt_task_slices_free(&slices);
}

/* An event of proton, the first of the file or not; times in cycles. */
static void put_scope(bool first, unsigned block, unsigned warp, const char *name, unsigned start, unsigned cycles)
{
    fprintf(file,
            "%s{\"args\":{\"name\":\"no\",\"dur\":9},\"ph\":\"X\",\"name\":\"%s\",\"pid\":\"a CTA9 Core3 CTA%u\","
            "\"tid\":\"warp %u (line 0)\",\"ts\":%u.%03u,\"dur\":%u.%03u}",
            first ? "{\"traceEvents\":[" : ",", name, block, warp, start / 1000, start % 1000, cycles / 1000,
            cycles % 1000);
}

static void assert_slice(const struct gt_task_slices *slices, uint32_t at, const char *kind, uint32_t worker,
                         uint64_t start_ns, uint64_t end_ns)
{
    assert_string_equal(slices->kinds[slices->slices[at].kind], kind);
    assert_int_equal(slices->slices[at].worker, worker);
    assert_int_equal(slices->slices[at].start_ns, start_ns);
    assert_int_equal(slices->slices[at].end_ns, end_ns);
}

/* Block 7 begins at 100 ns, from where 2,000 cycles are 1,000 ns.  Its warps' first "a" last from 100 to 1100 and from 300 to 1500,
 * its second ones from 1200 to 1400 and from 1600 to 2000, where warp 0 is ahead; "b" is within the first of warp 1.  Block 2
 * is in the file behind it, and one event is of the host. */
static void scope_number_k_of_all_warps_is_a_task(void **state)
{
    struct gt_task_slices slices;

    (void)state;
    put_scope(true, 7, 0, "a", 100, 1000);
    put_scope(false, 7, 0, "a", 1200, 200);
    put_scope(false, 7, 1, "b", 500, 100);
    put_scope(false, 7, 1, "a", 1600, 400);
    put_scope(false, 7, 1, "a", 300, 1200);
    put_scope(false, 2, 0, "a", 50, 3);
    fputs(",{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":1},{\"ph\":\"M\",\"pid\":\"x\"}]}\n",
          file);
    assert_int_equal(read_back(&slices), 0);
    assert_int_equal(slices.count, 4);
    assert_int_equal(slices.workers, 2);
    assert_int_equal(slices.clock_mhz, 2000);
    assert_slice(&slices, 0, "a", 2, 50, 51);
    assert_slice(&slices, 1, "a", 7, 100, 800);
    assert_slice(&slices, 2, "b", 7, 300, 350);
    assert_slice(&slices, 3, "a", 7, 650, 1050);
    gt_task_slices_free(&slices);
}

static void text_is_no_recording(void **state)
{
    static const char text[] = "\nkind,time_us\nTILE,3\n";

    (void)state;
    fclose(file);
    assert_false(gt_task_slices_sniff((const unsigned char *)text, sizeof text - 1));
    assert_false(gt_task_slices_sniff((const unsigned char *)"{\"time_us\":{\"TILE\":3}}", 22));
    assert_true(gt_task_slices_sniff((const unsigned char *)"\n{\"traceEvents\":[]}", 19));
    assert_true(gt_task_slices_sniff((const unsigned char *)"\x0a\x04\x50\x01\x68\x01", 6));
}

static int open_file(void **state)
{
    (void)state;
    file = fopen(path, "wb");
    return file == NULL ? -1 : 0;
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
        cmocka_unit_test_setup(workers_are_blocks_or_tracks, open_file),
        cmocka_unit_test_setup(a_track_without_a_name_is_no_block, open_file),
        cmocka_unit_test_setup(time_of_tasks_that_overlap_counts_once, open_file),
        cmocka_unit_test_setup(a_trace_without_slices_is_an_error, open_file),
        cmocka_unit_test_setup(scope_number_k_of_all_warps_is_a_task, open_file),
        cmocka_unit_test_setup(text_is_no_recording, open_file),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
