/* Exporters: a Perfetto trace that is whole and in order, a CSV to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/export/export.h"
#include "traces/export/perfetto.pb-c.h"

typedef Perfetto__Protos__TracePacket Packet;
typedef Perfetto__Protos__TrackEvent Event;

enum { MOST_TRACKS = 64, MOST_SEQUENCES = 32, US = 1000000 };

static char folder[64], path[96];
static struct gt_error error;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gridtide-export-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char store[96];

    (void)state;
    unlink(path);
    snprintf(store, sizeof store, "%s/run.db", folder);
    unlink(store);
    return rmdir(folder); /* fails where anything was left behind */
}

/* Two kernels on one stream, a copy on another; the kernel's name is not UTF-8 and needs quotes. */
static struct gt_workload *make_workload(void)
{
    struct gt_workload *workload = gt_workload_new();
    struct gt_kernel kernel = { .runs = GT_NONE,
                                .arguments = GT_NONE,
                                .name = gt_name(workload, "f<a,\"b\">\xff", 9),
                                .grid = { 4, 1, 1 },
                                .block = { 64, 1, 1 },
                                .duration_ps = GT_TIME_NONE };

    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_stream(workload);
    workload->streams[0].id = 7;
    workload->streams[1].id = 9;
    gt_workload_add_thread(workload);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call] = (struct gt_call){ .buffer = GT_NONE,
                                                  .start_ps = US * i,
                                                  .duration_ps = US / 2,
                                                  .name = GT_NONE,
                                                  .stream = i / 2,
                                                  .event = GT_NONE,
                                                  .first_op = op,
                                                  .ops = 1,
                                                  .kind = i < 2 ? GT_CALL_LAUNCH : GT_CALL_COPY };
        workload->ops[op].call = call;
        workload->ops[op].stream = i / 2;
        workload->ops[op].kind = i < 2 ? GT_OP_KERNEL : GT_OP_COPY;
        workload->ops[op].kernel = i < 2 ? gt_workload_kernel(workload, &kernel) : GT_NONE;
        workload->ops[op].bytes = i < 2 ? 0 : 4000;
        workload->ops[op].memory = GT_MEMORY_PINNED;
        /* The second kernel starts before the first has ended: real traces have that. */
        workload->ops[op].start_ps = 5 * US + i * 3 * US;
        workload->ops[op].duration_ps = 4 * US;
    }
    return workload;
}

static void send_calls(const struct gt_probe *probe)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct gt_call_record record = {
            .call = i, .start_ps = US * i, .end_ps = US * i + US / 2, .cause_op = GT_NONE
        };

        assert_int_equal(probe->call(probe->user, &record, &error), 0);
    }
}

static void send_run(const struct gt_probe *probe)
{
    static const gt_time_ps starts_ps[] = { 1 * US, 4 * US, 9 * US };

    send_calls(probe);
    for (uint32_t sm = 0; sm < 2; sm++) {
        struct gt_block_record record = {
            .sm = sm, .blocks = 2, .first_block = 2 * sm, .warps_per_block = 2, .start_ps = 1 * US, .end_ps = 4 * US
        };

        assert_int_equal(probe->blocks(probe->user, &record, &error), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct gt_op_record record = { .op = i,
                                       .submit_ps = 7,
                                       .start_ps = starts_ps[i],
                                       .end_ps = starts_ps[i] + 3 * US + 1,
                                       .wait_ps = { 1500000 },
                                       .cause = GT_CAUSE_CALL,
                                       .cause_index = i };

        if (i == 0)
            record.end_ps = 4 * US;
        assert_int_equal(probe->op(probe->user, &record, &error), 0);
    }
}

static struct gt_store *make_store(void)
{
    struct gt_workload *workload = make_workload();
    struct gt_device device;
    struct gt_run_writer *writer;
    struct gt_store *store;
    int64_t device_id, trace_id;
    char name[96];

    snprintf(name, sizeof name, "%s/run.db", folder);
    store = gt_store_create(name, &error);
    assert_non_null(store);
    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, &error);
    trace_id = gt_store_put_trace(store, workload, "toy", &error);
    writer = gt_run_writer_begin(store, trace_id, device_id, "measured", "", 0, workload);
    assert_int_equal(gt_measured_play(workload, gt_run_writer_probe(writer), &error), 3);
    assert_true(gt_run_writer_end(writer, &error) > 0);
    writer = gt_run_writer_begin(store, trace_id, device_id, "simulated", "blocks=on", 0, workload);
    send_run(gt_run_writer_probe(writer));
    assert_true(gt_run_writer_end(writer, &error) > 0);
    gt_workload_free(workload);
    return store;
}

static uint8_t *export_to(const char *format, size_t *bytes)
{
    struct gt_store *store = make_store();
    FILE *file;
    uint8_t *content = calloc(1, 1 << 20);

    if (gt_exporter_find(format, &error)->write(store, path, NULL, &error) != 0)
        fail_msg("%s", error.text);
    gt_store_abandon(store);
    file = fopen(path, "r");
    assert_non_null(file);
    *bytes = fread(content, 1, (1 << 20) - 1, file);
    fclose(file);
    return content;
}

static Perfetto__Protos__Trace *export_perfetto(void)
{
    size_t bytes;
    uint8_t *content = export_to("perfetto", &bytes);
    Perfetto__Protos__Trace *trace = perfetto__protos__trace__unpack(NULL, bytes, content);

    free(content);
    assert_non_null(trace);
    return trace;
}

/* How many slices are open on a track, by its number. */
static int *open_slices(uint64_t uuid)
{
    static struct {
        uint64_t uuid;
        int open;
    } tracks[MOST_TRACKS];

    for (size_t i = 0; i < MOST_TRACKS; i++)
        if (tracks[i].uuid == uuid || tracks[i].uuid == 0) {
            tracks[i].uuid = uuid;
            return &tracks[i].open;
        }
    fail();
    return NULL;
}

static size_t tracks_named(const Perfetto__Protos__Trace *trace, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < trace->n_packet; i++) {
        const Perfetto__Protos__TrackDescriptor *track = trace->packet[i]->track_descriptor;

        count += track != NULL && track->name != NULL && strcmp(track->name, name) == 0;
    }
    return count;
}

static void packets_are_in_order_and_slices_balance(void **state)
{
    Perfetto__Protos__Trace *trace = export_perfetto();
    uint64_t times[MOST_SEQUENCES] = { 0 };
    size_t slices = 0;

    (void)state;
    for (size_t i = 0; i < trace->n_packet; i++) {
        const Packet *packet = trace->packet[i];
        const Event *event = packet->track_event;

        assert_int_equal(packet->base.n_unknown_fields, 0);
        assert_true(packet->trusted_packet_sequence_id < MOST_SEQUENCES);
        if (event == NULL)
            continue;
        assert_int_equal(event->base.n_unknown_fields, 0);
        assert_true(packet->timestamp >= times[packet->trusted_packet_sequence_id]);
        times[packet->trusted_packet_sequence_id] = packet->timestamp;
        if (event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
            assert_int_equal(++*open_slices(event->track_uuid), 1);
        if (event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END)
            assert_int_equal(--*open_slices(event->track_uuid), 0);
        slices += event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
    }
    /* Of both runs: 3 calls, 3 operations, 1 of them a copy shown twice; 4 blocks. */
    assert_int_equal(slices, 2 * (3 + 3 + 1) + 4);
    perfetto__protos__trace__free_unpacked(trace, NULL);
}

static void tracks_show_both_runs(void **state)
{
    Perfetto__Protos__Trace *trace = export_perfetto();
    size_t processes = 0;

    (void)state;
    for (size_t i = 0; i < trace->n_packet; i++) {
        const Perfetto__Protos__TrackDescriptor *track = trace->packet[i]->track_descriptor;

        if (track == NULL || track->process == NULL)
            continue;
        assert_true(strncmp(track->process->process_name, processes == 0 ? "measured: toy" : "simulated: toy",
                            strlen("measured: toy")) == 0);
        processes++;
    }
    assert_int_equal(processes, 2);
    assert_int_equal(tracks_named(trace, "thread 0"), 2);
    /* The measured kernels overlap, so their stream has two tracks there. */
    assert_int_equal(tracks_named(trace, "stream 7"), 3);
    assert_int_equal(tracks_named(trace, "stream 9"), 2);
    assert_int_equal(tracks_named(trace, "copies h2d"), 2);
    assert_int_equal(tracks_named(trace, "bandwidth h2d"), 2);
    assert_int_equal(tracks_named(trace, "resident blocks"), 1);
    assert_int_equal(tracks_named(trace, "resident warps"), 1);
    assert_int_equal(tracks_named(trace, "SMs"), 1);
    assert_int_equal(tracks_named(trace, "SM 0"), 2);
    assert_int_equal(tracks_named(trace, "SM 1"), 2);
    perfetto__protos__trace__free_unpacked(trace, NULL);
}

static void arrows_lead_from_calls_to_operations(void **state)
{
    Perfetto__Protos__Trace *trace = export_perfetto();
    uint64_t out[16], in[16];
    size_t outs = 0, ins = 0;

    (void)state;
    for (size_t i = 0; i < trace->n_packet; i++) {
        const Event *event = trace->packet[i]->track_event;

        for (size_t flow = 0; event != NULL && flow < event->n_flow_ids; flow++)
            out[outs++ % 16] = event->flow_ids[flow];
        for (size_t flow = 0; event != NULL && flow < event->n_terminating_flow_ids; flow++)
            in[ins++ % 16] = event->terminating_flow_ids[flow];
    }
    assert_int_equal(outs, 6);
    assert_int_equal(ins, 6);
    assert_memory_equal(out, in, 6 * sizeof out[0]);
    perfetto__protos__trace__free_unpacked(trace, NULL);
}

static void names_are_given_once_a_sequence_and_are_utf8(void **state)
{
    Perfetto__Protos__Trace *trace = export_perfetto();
    size_t kernels = 0;

    (void)state;
    for (size_t i = 0; i < trace->n_packet; i++) {
        const Perfetto__Protos__InternedData *data = trace->packet[i]->interned_data;

        for (size_t name = 0; data != NULL && name < data->n_event_names; name++)
            kernels += strcmp(data->event_names[name]->name, "f<a,\"b\">\xef\xbf\xbd") == 0;
    }
    /* Operations of two runs, blocks of one. */
    assert_int_equal(kernels, 3);
    perfetto__protos__trace__free_unpacked(trace, NULL);
}

/* 4000 bytes in 4 us are 1 GB/s while the copy runs, nothing before and after. */
static void bandwidth_is_that_of_the_copies(void **state)
{
    Perfetto__Protos__Trace *trace = export_perfetto();
    double values[16];
    uint64_t times[16];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < trace->n_packet; i++)
        if (trace->packet[i]->track_event != NULL && trace->packet[i]->track_event->has_double_counter_value &&
            trace->packet[i]->trusted_packet_sequence_id == 5 && count < 16) {
            times[count] = trace->packet[i]->timestamp;
            values[count++] = trace->packet[i]->track_event->double_counter_value;
        }
    assert_int_equal(count, 2);
    assert_true(values[0] == 1.0 && values[1] == 0.0);
    assert_int_equal(times[0], 11000);
    assert_int_equal(times[1], 15000);
    perfetto__protos__trace__free_unpacked(trace, NULL);
}

static void the_same_store_gives_the_same_bytes(void **state)
{
    size_t first_bytes, second_bytes;
    uint8_t *first = export_to("perfetto", &first_bytes), *second = export_to("perfetto", &second_bytes);

    (void)state;
    assert_int_equal(first_bytes, second_bytes);
    assert_memory_equal(first, second, first_bytes);
    free(first);
    free(second);
}

static void csv_has_a_row_for_each_operation_and_run(void **state)
{
    static const char expected[] =
        "run,run_kind,trace,op,kind,name,gpu,context,stream,stream_name,call,grid,block,direction,memory,"
        "bytes,submit_us,start_us,end_us,duration_us,wait_host_us,wait_stream_us,wait_event_us,wait_queue_us,"
        "wait_engine_us,wait_resource_us,correlation,range_kind,range,step,executable\r\n"
        "1,measured,toy,0,kernel,\"f<a,\"\"b\"\">\xff\",0,0,7,,0,4x1x1,64x1x1,,,,";
    static const char copy[] =
        "\r\n2,simulated,toy,2,copy,copy h2d pinned,0,0,9,,2,,,h2d,pinned,4000,"
        "0.000007,9.000000,12.000001,3.000001,1.500000,0.000000,0.000000,0.000000,0.000000,0.000000,,,,,\r\n";
    size_t bytes, rows = 0;
    uint8_t *content = export_to("csv", &bytes);
    const char *text = (const char *)content;

    (void)state;
    if (strncmp(text, expected, strlen(expected)) != 0 || strstr(text, copy) == NULL)
        fail_msg("%s", text);
    for (const char *at = text; (at = strstr(at, "\r\n")) != NULL; at += 2)
        rows++;
    assert_int_equal(rows, 1 + 6);
    free(content);
}

static void an_unknown_format_lists_the_known(void **state)
{
    (void)state;
    assert_null(gt_exporter_find("xml", &error));
    assert_non_null(strstr(error.text, "perfetto, csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packets_are_in_order_and_slices_balance, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(tracks_show_both_runs, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(arrows_lead_from_calls_to_operations, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(names_are_given_once_a_sequence_and_are_utf8, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(bandwidth_is_that_of_the_copies, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_same_store_gives_the_same_bytes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(csv_has_a_row_for_each_operation_and_run, make_folder, remove_folder),
        cmocka_unit_test(an_unknown_format_lists_the_known),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
