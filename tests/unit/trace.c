/* The trace format: what is written is read again, and what is wrong is told with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/jsonl/keys.h"
#include "traces/jsonl/trace.h"

#define HEADER "{\"gridtide\":1}\n"
#define KERNEL "{\"kernel\":\"k\",\"duration_us\":1}\n"

static char folder[] = "/tmp/gridtide-trace-XXXXXX";
static char first_path[64], second_path[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(first_path, sizeof first_path, "%s/first.jsonl", folder);
    snprintf(second_path, sizeof second_path, "%s/second.jsonl.zst", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(first_path);
    unlink(second_path);
    return rmdir(folder);
}

static void put_file(const char *path, const void *text, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static char *get_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_non_null(file);
    *length = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static struct gt_workload *read_text(const char *text, struct gt_error *error)
{
    put_file(first_path, text, strlen(text));
    return gt_trace_read(first_path, NULL, error);
}

static struct gt_workload *must_read(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *workload = read_text(text, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static void same_name(const struct gt_workload *a, uint32_t left, const struct gt_workload *b, uint32_t right)
{
    assert_int_equal(left == GT_NONE, right == GT_NONE);
    assert_string_equal(gt_name_text(a, left), gt_name_text(b, right));
}

static void same_text(const char *left, const char *right)
{
    assert_int_equal(left == NULL, right == NULL);
    if (left != NULL)
        assert_string_equal(left, right);
}

/* Elements of two arrays, byte for byte but for `name` and `line`, which are compared or left out. */
#define SAME(array, i)                                                   \
    do {                                                                 \
        __typeof__(a->array[0]) left = a->array[i], right = b->array[i]; \
        same_name(a, left.name, b, right.name);                          \
        left.name = right.name = 0;                                      \
        CLEAR_LINE(left, right);                                         \
        assert_memory_equal(&left, &right, sizeof left);                 \
    } while (0)
#define CLEAR_LINE(left, right) (void)0

static void same_kernels(const struct gt_workload *a, const struct gt_workload *b)
{
    assert_int_equal(a->kernel_count, b->kernel_count);
    for (uint32_t i = 0; i < a->kernel_count; i++) {
        struct gt_kernel left = a->kernels[i], right = b->kernels[i];

        same_name(a, left.name, b, right.name);
        assert_int_equal(left.block_list_length, right.block_list_length);
        if (left.block_list_length != 0)
            assert_memory_equal(left.block_list_ps, right.block_list_ps,
                                left.block_list_length * sizeof *left.block_list_ps);
        same_name(a, left.runs, b, right.runs);
        same_name(a, left.arguments, b, right.arguments);
        left.name = right.name = left.line = right.line = 0;
        left.runs = right.runs = left.arguments = right.arguments = 0;
        left.block_list_ps = right.block_list_ps = NULL;
        assert_true((left.phase_end_ps == NULL) == (right.phase_end_ps == NULL));
        if (left.phase_end_ps != NULL)
            assert_memory_equal(left.phase_end_ps, right.phase_end_ps,
                                (left.grid_barriers + 1) * sizeof *left.phase_end_ps);
        left.phase_end_ps = right.phase_end_ps = NULL;
        assert_memory_equal(&left, &right, sizeof left);
    }
}

static void same_header(const struct gt_workload *a, const struct gt_workload *b)
{
    same_text(a->name, b->name);
    same_text(a->source, b->source);
    same_text(a->device, b->device);
    assert_int_equal(a->setting_count, b->setting_count);
    for (uint32_t i = 0; i < a->setting_count; i++) {
        assert_string_equal(a->settings[i].key, b->settings[i].key);
        assert_string_equal(a->settings[i].value, b->settings[i].value);
    }
    assert_int_equal(a->warning_count, b->warning_count);
    for (uint32_t i = 0; i < a->warning_count; i++) {
        assert_string_equal(a->warnings[i].kind, b->warnings[i].kind);
        assert_string_equal(a->warnings[i].text, b->warnings[i].text);
        assert_int_equal(a->warnings[i].count, b->warnings[i].count);
    }
    assert_int_equal(a->extra_count, b->extra_count);
}

static void same_workload(const struct gt_workload *a, const struct gt_workload *b)
{
    same_header(a, b);
    same_kernels(a, b);
    assert_int_equal(a->gpu_count, b->gpu_count);
    assert_int_equal(a->stream_count, b->stream_count);
    assert_int_equal(a->thread_count, b->thread_count);
    assert_int_equal(a->event_count, b->event_count);
    assert_int_equal(a->call_count, b->call_count);
    assert_int_equal(a->op_count, b->op_count);
    assert_int_equal(a->after_count, b->after_count);
    for (uint32_t i = 0; i < a->gpu_count; i++)
        SAME(gpus, i);
    for (uint32_t i = 0; i < a->stream_count; i++)
        SAME(streams, i);
    for (uint32_t i = 0; i < a->thread_count; i++)
        SAME(threads, i);
    for (uint32_t i = 0; i < a->event_count; i++)
        SAME(events, i);
    assert_int_equal(a->buffer_count, b->buffer_count);
    for (uint32_t i = 0; i < a->buffer_count; i++)
        SAME(buffers, i);
#undef CLEAR_LINE
#define CLEAR_LINE(left, right) (left.line = right.line = left.executable = right.executable = 0)
    for (uint32_t i = 0; i < a->call_count; i++) {
        SAME(calls, i);
        same_text(gt_name_text(a, a->calls[i].executable), gt_name_text(b, b->calls[i].executable));
    }
    if (a->op_count != 0)
        assert_memory_equal(a->ops, b->ops, a->op_count * sizeof *a->ops);
    assert_int_equal(a->access_count, b->access_count);
    if (a->access_count != 0)
        assert_memory_equal(a->accesses, b->accesses, a->access_count * sizeof *a->accesses);
    if (a->after_count != 0)
        assert_memory_equal(a->afters, b->afters, a->after_count * sizeof *a->afters);
}

/* Write and read: the same workload; write again: the same bytes. */
static void check_round_trip(const struct gt_workload *workload)
{
    struct gt_error error;
    struct gt_workload *back;
    size_t first_length, second_length;
    char *first, *second;

    if (gt_trace_write(workload, second_path, &error) != 0)
        fail_msg("%s", error.text);
    back = gt_trace_read(second_path, NULL, &error);
    if (back == NULL)
        fail_msg("%s", error.text);
    same_workload(workload, back);
    first = get_file(second_path, &first_length);
    assert_int_equal(gt_trace_write(back, second_path, &error), 0);
    second = get_file(second_path, &second_length);
    assert_int_equal(first_length, second_length);
    assert_memory_equal(first, second, first_length);
    free(first);
    free(second);
    gt_workload_free(back);
}

static const char every_call[] =
    "\xef\xbb\xbf# typed by a person\n\n  // with comments\n"
    "{\"gridtide\":1,\"name\":\"all\",\"source\":\"hand\",\"device\":\"toy\",\"settings\":{\"chip.sms\":4},"
    "\"warnings\":[{\"kind\":\"odd\",\"count\":3,\"text\":\"an odd thing\",\"new\":1}],"
    "\"later\":[1,{\"a\":\"\\u00e9\\n\"}]}\n"
    "{\"kernel\":\"fixed\",\"grid\":264,\"block\":[16,16],\"registers\":32,\"block_us\":10,\"why\":null}\n"
    "{\"kernel\":\"range\",\"grid\":[2,3,4],\"block\":256,\"cluster\":[2,3],\"shared_bytes\":4096,\"block_ns\":[8,12."
    "5]}\r\n"
    "{\"kernel\":\"range\",\"id\":\"second\",\"block_list_us\":[1,2,3.000001]}\n"
    "{\"kernel\":\"played\",\"block_us\":5,\"runs\":\"spin\",\"arguments\":{\"cycles\": 1e5, \"how\":\"\\u0041b\"}}\n"
    "{\"kernel\":\"played\",\"id\":\"other\",\"block_us\":5,\"runs\":\"stream\"}\n"
    "{\"kernel\":\"bar\",\"duration_ms\":1.5}\n"
    "{\"gpu\":1,\"name\":\"NVIDIA H200\"}\n"
    "{\"stream\":\"s1\",\"flags\":[\"non_blocking\"],\"priority\":-5,\"gpu\":1,\"context\":2,"
    "\"id\":77,\"x\":1}\n"
    "{\"stream\":7,\"name\":null}\n"
    "{\"thread\":\"t2\",\"process\":12,\"id\":13}\n"
    "{\"event\":\"e\",\"id\":18446744073709551615}\n"
    "{\"call\":\"stream_create\",\"stream\":\"s1\"}\n"
    "{\"call\":\"event_create\",\"event\":\"e\"}\n"
    "{\"call\":\"host_work\",\"duration_s\":0.001,\"thread\":\"t2\",\"start_ns\":1}\n"
    "{\"call\":\"launch\",\"kernel\":\"fixed\",\"start_ps\":1,\"duration_ns\":1.5,\"op_start_us\":2,"
    "\"op_duration_us\":3}\n"
    "{\"call\":\"launch\",\"kernel\":\"second\",\"grid\":9,\"dynamic_shared_bytes\":64,"
    "\"stream\":\"s1\",\"note\":\"kept\"}\n"
    "{\"call\":\"copy\",\"direction\":\"h2d\",\"bytes\":9223372036854775807,\"memory\":\"pageable\","
    "\"synchronous\":true}\n"
    "{\"call\":\"copy\",\"direction\":\"p2p\",\"bytes\":4,\"peer_gpu\":1,\"name\":\"cudaMemcpyPeer\","
    "\"after\":[-1]}\n"
    "{\"call\":\"memset\",\"bytes\":0,\"stream\":\"default\"}\n"
    "{\"call\":\"host_function\",\"duration_us\":20}\n"
    "{\"call\":\"graph_launch\",\"stream\":7,\"executable\":12,\"nodes\":[{\"kernel\":\"bar\","
    "\"z\":0},{\"direction\":\"d2d\",\"bytes\":9,"
    "\"after\":[0]},{\"kind\":\"memset\",\"bytes\":1,\"stream\":\"s1\",\"after\":[0,1,-2]},"
    "{\"kind\":\"host_function\",\"duration_us\":1,\"start_us\":8}]}\n"
    "{\"call\":\"launch\",\"nodes\":[]}\n"
    "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"s1\"}\n"
    "{\"call\":\"event_wait\",\"event\":\"undefined\"}\n"
    "{\"call\":\"event_wait\",\"event\":null,\"stream\":null,\"target_unknown\":true}\n"
    "{\"call\":\"event_query\",\"event\":\"e\"}\n"
    "{\"call\":\"event_sync\",\"event\":\"e\"}\n"
    "{\"call\":\"stream_sync\",\"stream\":\"s1\"}\n"
    "{\"call\":\"stream_query\",\"stream\":\"s3\"}\n"
    "{\"call\":\"device_sync\",\"stream\":\"s1\"}\n"
    "{\"buffer\":\"weights\",\"bytes\":4096,\"address\":18446744073709547519,\"gpu\":1,\"z\":[1]}\n"
    "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":1024,\"address\":140000,\"memory\":\"pinned\"}\n"
    "{\"call\":\"launch\",\"kernel\":\"bar\",\"reads\":[\"weights\",[\"x\",1000,24]],\"writes\":[\"y\"]}\n"
    "{\"call\":\"copy\",\"direction\":\"h2d\",\"bytes\":8,\"source\":18446744073709551000,\"destination\":\"x\"}\n"
    "{\"call\":\"graph_launch\",\"executable\":\"step "
    "\\\"1\\\"\",\"nodes\":[{\"kind\":\"memset\",\"bytes\":4,\"writes\":[[\"y\",0,4]]}]}\n"
    "{\"call\":\"free\",\"buffer\":\"x\"}\n{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":1024,\"stream\":\"s1\"}\n"
    "{\"call\":\"record_stream\",\"buffer\":\"x\"}\n{\"call\":\"free\",\"buffer\":\"x\",\"stream\":\"s1\"}\n"
    "{\"kernel\":\"meets\",\"block_us\":5,\"cooperative\":true,\"grid_barriers\":3,\"trigger_pct\":25,\"prologue_"
    "us\":1."
    "5}\n"
    "{\"kernel\":\"phases\",\"phase_us\":[1,2.5,0]}\n{\"kernel\":\"shares\",\"phase_ns\":[1,3],\"block_us\":[2,4]}\n"
    "{\"call\":\"launch\",\"kernel\":\"meets\",\"programmatic\":true}\n"
    "{\"call\":\"graph_launch\",\"nodes\":[{\"kernel\":\"meets\",\"programmatic\":true},{\"kernel\":\"meets\"}]}\n"
    "{\"call\":\"poll\",\"event\":\"e\",\"piece_us\":2.5,\"most_pieces\":7}\n"
    "{\"call\":\"poll\",\"stream\":\"s1\",\"piece_us\":0}\n"
    "{\"call\":\"other\",\"name\":\"cudaMalloc\",\"duration_us\":5,\"inferred\":true}";

static void every_call_survives(void **state)
{
    struct gt_workload *workload = must_read(every_call);
    uint32_t seen = 0;

    (void)state;
    for (uint32_t i = 0; i < workload->call_count; i++)
        seen |= 1u << workload->calls[i].kind;
    assert_int_equal(seen, (1u << GT_CALL_KINDS) - 1);
    assert_int_equal(workload->extra_count, 6);
    assert_int_equal(workload->kernels[1].block_max_ps, 12500);
    assert_int_equal(gt_kernel_cluster_blocks(&workload->kernels[0]), 1);
    assert_int_equal(gt_kernel_cluster_blocks(&workload->kernels[1]), 6);
    assert_int_equal(workload->kernels[2].block_list_ps[2], 3000001);
    assert_int_equal(workload->kernels[0].runs, GT_NONE);
    assert_string_equal(gt_name_text(workload, workload->kernels[3].runs), "spin");
    assert_string_equal(gt_name_text(workload, workload->kernels[3].arguments), "{\"cycles\":1e5,\"how\":\"Ab\"}");
    assert_int_equal(workload->kernels[4].arguments, GT_NONE);
    assert_int_equal(workload->kernels[6].grid[0], 9);
    assert_true(workload->kernels[7].cooperative);
    assert_int_equal(workload->kernels[7].grid_barriers, 3);
    assert_int_equal(workload->kernels[7].early_pct, 75);
    assert_int_equal(workload->kernels[7].prologue_ps, 1500000);
    assert_int_equal(workload->kernels[8].grid_barriers, 2);
    assert_int_equal(workload->kernels[8].block_min_ps, 3500000);
    assert_int_equal(workload->kernels[8].phase_end_ps[1], 3500000);
    assert_int_equal(workload->kernels[9].grid_barriers, 1);
    assert_int_equal(workload->kernels[9].block_max_ps, 4000000);
    assert_int_equal(workload->kernels[9].phase_end_ps[0], 1000);
    assert_int_equal(workload->streams[0].priority, -5);
    assert_int_equal(workload->buffer_count, 3);
    assert_int_equal(workload->access_count, 6);
    assert_int_equal(workload->buffers[1].memory, GT_MEMORY_PINNED);
    assert_int_equal(workload->buffers[1].address, 140000);
    check_round_trip(workload);
    gt_workload_free(workload);
}

static void defaults_are_what_the_format_says(void **state)
{
    struct gt_workload *workload =
        must_read(HEADER KERNEL
                  "{\"call\":\"launch\",\"kernel\":\"k\"}\n{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"s1\"}\n"
                  "{\"call\":\"copy\",\"direction\":\"d2h\",\"bytes\":1,\"stream\":0}\n");

    (void)state;
    assert_int_equal(workload->thread_count, 1);
    assert_string_equal(gt_name_text(workload, workload->threads[0].name), "main");
    assert_int_equal(workload->stream_count, 2);
    assert_int_equal(workload->streams[0].flags, GT_STREAM_LEGACY_DEFAULT);
    assert_int_equal(workload->streams[1].flags, 0);
    assert_int_equal(workload->gpu_count, 1);
    assert_int_equal(workload->ops[2].memory, GT_MEMORY_PINNED);
    assert_int_equal(workload->calls[0].start_ps == GT_TIME_NONE, 1);
    gt_workload_free(workload);
}

/* What importers make: the same numbers on several GPUs, names that are no UTF-8, calls without targets. */
static void what_importers_make_survives(void **state)
{
    struct gt_workload *workload = gt_workload_new();
    struct gt_kernel kernel = { .grid = { INT32_MAX, 65535, 65535 },
                                .block = { 1, 1, 1 },
                                .duration_ps = 7,
                                .runs = GT_NONE,
                                .arguments = GT_NONE };

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        gt_workload_add_gpu(workload);
        workload->gpus[i] = (struct gt_gpu){ .id = i, .name = gt_name(workload, "H200", 4), .peers_known = i == 1 };
        for (uint32_t j = 0; j < 3; j++) {
            uint32_t stream = gt_workload_add_stream(workload), thread = gt_workload_add_thread(workload);

            workload->streams[stream].gpu = i;
            workload->streams[stream].id = j * 7;
            workload->streams[stream].context = j;
            workload->streams[stream].flags = j == 1 ? GT_STREAM_LEGACY_DEFAULT : 0;
            workload->threads[thread].id = 5;
            workload->threads[thread].process = j / 2;
            workload->threads[thread].lock = j == 1 ? gt_name(workload, "gil", 3) : GT_NONE;
            workload->threads[thread].name = i == 0 ? gt_name(workload, "python", 6) : GT_NONE;
        }
        kernel.name = gt_name(workload, "void at::native::a_kernel_with_a_very_long_name<float, 4>(int)", 62);
        kernel.registers_per_thread = i;
        gt_workload_kernel(workload, &kernel);
    }
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call].kind = i < 3 ? GT_CALL_LAUNCH : GT_CALL_OTHER;
        workload->calls[call].thread = workload->calls[call].stream = i;
        workload->calls[call].name = gt_name(workload, "cudaLaunchKernel", 16);
        workload->calls[call].ops = 1;
        workload->calls[call].start_ps = i * 1000;
        workload->ops[op].call = call;
        workload->ops[op].stream = i == 2 ? 0 : i;
        workload->ops[op].kernel = i % 2;
        workload->ops[op].memory = i == 1 ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN;
    }
    check_round_trip(workload);
    gt_workload_free(workload);
}

static void names_become_utf8(void **state)
{
    struct gt_workload *workload = must_read(HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\"}\n"), *back;
    struct gt_error error;

    (void)state;
    workload->kernels[0].name = gt_name(workload, "bad\xff\"\\\n", 7);
    assert_int_equal(gt_trace_write(workload, second_path, &error), 0);
    back = gt_trace_read(second_path, NULL, &error);
    assert_non_null(back);
    assert_string_equal(gt_name_text(back, back->kernels[0].name), "bad\xef\xbf\xbd\"\\\n");
    check_round_trip(back);
    gt_workload_free(back);
    gt_workload_free(workload);
}

/* Streams that share number and GPU, as those of many contexts do, and some that go by a made-up key already:
 * every one is looked for a few times and gets a key of a few letters, however many there are. */
static void keys_of_many_alike_are_short_and_quick(void **state)
{
    enum { STREAMS = 5000, LOOKS = 5, LETTERS = 16 };
    struct gt_workload *workload = gt_workload_new();
    struct gt_keys keys;

    (void)state;
    gt_workload_add_gpu(workload);
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t index = gt_workload_add_stream(workload);
        struct gt_stream *stream = &workload->streams[index];
        char name[LETTERS];

        stream->gpu = 0;
        stream->context = i;
        stream->id = 7;
        if (i % 2 == 1) /* "7@0#3" and so on, which the others would be called */
            stream->name = gt_name(workload, name, (size_t)snprintf(name, sizeof name, "7@0#%u", i));
    }
    gt_keys_make(&keys, workload);
    assert_in_range(keys.tried, STREAMS, LOOKS * STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++)
        assert_true(keys.streams[i].text == NULL ? i == 0 && keys.streams[i].number == 7
                                                 : strlen(keys.streams[i].text) < LETTERS);
    assert_string_equal(keys.streams[2].text, "7@0");
    assert_string_equal(keys.streams[4].text, "7@0#2");
    gt_keys_free(&keys, workload);
    gt_workload_free(workload);
}

static void every_truncation_is_an_error_or_shorter(void **state)
{
    size_t length = sizeof every_call - 1, packed_length;
    struct gt_workload *workload = must_read(every_call);
    uint32_t most = workload->call_count;
    struct gt_error error;
    char *packed;

    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        struct gt_workload *part;

        put_file(first_path, every_call, cut);
        part = gt_trace_read(first_path, NULL, &error);
        if (part == NULL)
            assert_non_null(strstr(error.text, "first.jsonl:"));
        else
            assert_true(part->call_count < most &&
                        (every_call[cut] == '\n' || every_call[cut - 1] == '\n' || every_call[cut] == '\r' ||
                         every_call[cut - 1] == '}' || part->call_count == 0));
        gt_workload_free(part);
    }
    assert_int_equal(gt_trace_write(workload, second_path, &error), 0);
    packed = get_file(second_path, &packed_length);
    for (size_t cut = 4; cut < packed_length; cut++) {
        put_file(second_path, packed, cut);
        assert_null(gt_trace_read(second_path, NULL, &error));
    }
    free(packed);
    gt_workload_free(workload);
}

static void only_gridtide_traces_are_sniffed(void **state)
{
    /* clang-format off */
    static const struct { const char *text; int sure; } heads[] = {
        { "{\"gridtide\":1}\n", 100 }, { "# hello\n\n// world\n { \"gridtide\" : 1}", 100 },
        { "{\"schemaVersion\":1,\"gridtide\":1}", 0 }, { "", 0 },
        { "# only a comment", 0 }, { "[1]", 0 }, { "SQLite format 3", 0 }, { "{", 0 },
        { "x{\"gridtide\":1}", 0 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t length = strlen(heads[i].text);
        unsigned char *head = malloc(length + 1); /* not NUL-ended: no byte behind it may be read */

        memcpy(head, heads[i].text, length);
        head = realloc(head, length != 0 ? length : 1);
        assert_int_equal(gt_trace_sniff(head, length), heads[i].sure);
        free(head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_survives),
        cmocka_unit_test(defaults_are_what_the_format_says),
        cmocka_unit_test(what_importers_make_survives),
        cmocka_unit_test(names_become_utf8),
        cmocka_unit_test(keys_of_many_alike_are_short_and_quick),
        cmocka_unit_test(every_truncation_is_an_error_or_shorter),
        cmocka_unit_test(only_gridtide_traces_are_sniffed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown);
}
