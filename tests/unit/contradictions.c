/* Traces whose measured times contradict each other: what was inferred from them never holds the simulation up for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/baseline/stated.h"
#include "traces/io/device_file.h"
#include "validate/random/chance.h"
#include "validate/random/draw.h"

enum { TRACES = 250, THREADS = 4, STREAMS = 5 };

#define HEADER "{\"gridtide\":1,\"device\":\"h200\"}\n{\"kernel\":\"k\",\"grid\":1,\"block\":128}\n"

static struct gt_workload *read_text(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(text, &error);

    if (w == NULL)
        fail_msg("%s\n%s", error.text, text);
    return w;
}

static struct gt_device h200(void)
{
    struct gt_device device;
    struct gt_error error = { "" };

    if (gt_device_load("h200", &device, &error) != 0)
        fail_msg("%s", error.text);
    return device;
}

/* All operations end; returns how many dependencies were dropped. */
static uint64_t play(const struct gt_workload *w, const struct gt_device *device, const struct gt_learned *learned,
                     const char *text)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .user = NULL };
    struct gt_summary summary;
    struct gt_error error = { "" };

    options.learned = learned;
    if (gt_simulate(w, device, &options, &probe, &summary, &error) != 0)
        fail_msg("%s\n%s", error.text, text);
    assert_int_equal(summary.operations, w->op_count);
    return summary.dropped;
}

/* As recorded, and in stated form, as what-ifs play it. */
static uint64_t play_both(const char *text)
{
    struct gt_device device = h200();
    struct gt_workload *w = read_text(text);
    struct gt_options options = GT_OPTIONS_DEFAULT;
    uint64_t dropped = play(w, &device, NULL, text);
    struct gt_stated stated;

    gt_state(&stated, w, &device, &options);
    play(stated.workload, &device, &stated.learned, text);
    gt_workload_free(stated.workload);
    gt_workload_free(w);
    return dropped;
}

/* Thread b's first synchronisation returned at 8 us although the kernel it is for ran until 103: clocks disagree.  So b asks
 * for stream y's kernel later than a for x's, which seems to have waited for it; and before that b waits for x. */
static void a_wait_that_contradicts_threads_is_dropped(void **state)
{
    static const char text[] = HEADER
        "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"z\",\"thread\":\"b\",\"start_us\":0,\"duration_us\":1,"
        "\"op_start_us\":3,\"op_duration_us\":100}\n"
        "{\"call\":\"stream_sync\",\"stream\":\"z\",\"thread\":\"b\",\"start_us\":4,\"duration_us\":4}\n"
        "{\"call\":\"stream_sync\",\"stream\":\"x\",\"thread\":\"b\",\"start_us\":10,\"duration_us\":1}\n"
        "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"y\",\"thread\":\"b\",\"start_us\":20,\"duration_us\":1,"
        "\"op_start_us\":25,\"op_duration_us\":35}\n"
        "{\"call\":\"event_wait\",\"stream\":\"x\",\"target_unknown\":true,\"thread\":\"a\",\"start_us\":30,"
        "\"duration_us\":1}\n"
        "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"x\",\"thread\":\"a\",\"start_us\":31,\"duration_us\":1,"
        "\"op_start_us\":62,\"op_duration_us\":10}\n";

    (void)state;
    assert_int_equal(play_both(text), 1);
}

/* Node 0 is stated to come after node 1, and was recorded to run before it in the same stream. */
static void a_chain_that_contradicts_stated_edges_is_dropped(void **state)
{
    static const char text[] =
        HEADER "{\"call\":\"graph_launch\",\"stream\":\"s\",\"start_us\":0,\"duration_us\":5,\"nodes\":["
               "{\"kernel\":\"k\",\"start_us\":10,\"duration_us\":4,\"after\":[1]},"
               "{\"kernel\":\"k\",\"start_us\":20,\"duration_us\":4},"
               "{\"kernel\":\"k\",\"start_us\":30,\"duration_us\":4,\"after\":[0]}]}\n";

    (void)state;
    assert_int_equal(play_both(text), 1);
}

static void a_circle_that_is_stated_is_a_deadlock(void **state)
{
    static const char text[] =
        HEADER "{\"call\":\"graph_launch\",\"stream\":\"s\",\"start_us\":0,\"duration_us\":5,\"nodes\":["
               "{\"kernel\":\"k\",\"start_us\":10,\"duration_us\":4,\"after\":[1]},"
               "{\"kernel\":\"k\",\"start_us\":20,\"duration_us\":4,\"after\":[0]}]}\n";
    struct gt_device device = h200();
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .user = NULL };
    struct gt_workload *w = read_text(text);
    struct gt_summary summary;
    struct gt_error error = { "" };

    (void)state;
    assert_int_equal(gt_simulate(w, &device, &options, &probe, &summary, &error), -1);
    assert_non_null(strstr(error.text, "deadlock"));
    gt_workload_free(w);
}

/* A recording that is made up, with clocks that disagree. */
struct made {
    struct gt_chance chance;
    FILE *out;
    uint32_t threads, streams;
    uint32_t thread_ns[THREADS]; /* where each thread has come to */
    uint32_t free_ns[STREAMS];   /* until when each stream is busy */
    int32_t skew_ns[STREAMS];    /* of its operations' times */
};

static uint32_t draw(struct made *made, uint32_t below)
{
    return gt_chance_between(&made->chance, 0, below - 1);
}

/* When an operation that could begin then seems to have begun: behind another stream's last one, perhaps; not when it did. */
static uint32_t begin_ns(struct made *made, uint32_t stream, uint32_t ready_ns)
{
    uint32_t begin = ready_ns > made->free_ns[stream] ? ready_ns : made->free_ns[stream];
    uint32_t other_ns = made->free_ns[draw(made, made->streams)] + 500 + draw(made, 3000);

    return draw(made, 2) && other_ns > begin ? other_ns : begin;
}

static uint32_t seen_ns(struct made *made, uint32_t stream, uint32_t begin)
{
    int64_t seen =
        (int64_t)begin + made->skew_ns[stream] + (draw(made, 4) == 0 ? (int64_t)draw(made, 120000) - 60000 : 0);

    return seen > 0 ? (uint32_t)seen : 0;
}

static void write_work(struct made *made, uint32_t stream, uint32_t ready_ns, bool graph)
{
    uint32_t nodes = graph ? 2 + draw(made, 3) : 1;

    if (graph)
        fprintf(made->out, ",\"nodes\":[");
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t of = graph ? draw(made, made->streams) : stream, begin = begin_ns(made, of, ready_ns);
        uint32_t duration_ns = 1000 + draw(made, 80000);

        if (graph)
            fprintf(made->out, "%s{\"kernel\":\"k\",\"stream\":\"s%u\",\"start_ns\":%u,\"duration_ns\":%u}",
                    i > 0 ? "," : "", of, seen_ns(made, of, begin), duration_ns);
        else
            fprintf(made->out, ",\"kernel\":\"k\",\"op_start_ns\":%u,\"op_duration_ns\":%u", seen_ns(made, of, begin),
                    duration_ns);
        made->free_ns[of] = begin + duration_ns;
    }
    if (graph)
        fprintf(made->out, "]");
}

static void write_made_call(struct made *made)
{
    static const char *const kinds[] = { "launch",      "launch",     "launch",      "launch",
                                         "event_wait",  "event_wait", "event_wait",  "stream_sync",
                                         "stream_sync", "event_sync", "device_sync", "graph_launch" };
    enum { LAUNCHES = 4, WAITS = 7, SYNCS = 10 };
    uint32_t thread = draw(made, made->threads), stream = draw(made, made->streams);
    uint32_t kind = draw(made, sizeof kinds / sizeof kinds[0]), start_ns = made->thread_ns[thread];
    uint32_t duration_ns = 1000 + draw(made, 5000);

    if (kind >= WAITS && kind <= SYNCS && draw(made, 5) && made->free_ns[stream] > start_ns)
        duration_ns = made->free_ns[stream] - start_ns + 3000;
    fprintf(made->out, "{\"call\":\"%s\",\"thread\":\"t%u\",\"start_ns\":%u,\"duration_ns\":%u", kinds[kind], thread,
            start_ns, duration_ns);
    if (kind < LAUNCHES || kind > SYNCS || (kind != SYNCS - 1 && kind != SYNCS && draw(made, 2)))
        fprintf(made->out, ",\"stream\":\"s%u\"", stream);
    if (kind < LAUNCHES || kind > SYNCS)
        write_work(made, stream, start_ns + duration_ns + 2000, kind > SYNCS);
    else if (kind < SYNCS)
        fprintf(made->out, ",\"target_unknown\":true");
    fprintf(made->out, "}\n");
    made->thread_ns[thread] = start_ns + duration_ns + draw(made, 10000);
}

static char *make(uint64_t seed)
{
    struct made made = { .chance = gt_chance_of(seed, "contradictions", 0) };
    char *text;
    size_t bytes;
    uint32_t calls = 10 + draw(&made, 100);

    made.threads = 1 + draw(&made, THREADS);
    made.streams = 1 + draw(&made, STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++)
        made.skew_ns[i] = draw(&made, 2) ? (int32_t)draw(&made, 200000) - 100000 : 0;
    for (uint32_t i = 0; i < THREADS; i++)
        made.thread_ns[i] = draw(&made, 50000);
    made.out = open_memstream(&text, &bytes);
    assert_non_null(made.out);
    fputs(HEADER, made.out);
    while (calls-- > 0)
        write_made_call(&made);
    fclose(made.out);
    return text;
}

static void no_recording_ends_in_a_deadlock(void **state)
{
    uint64_t dropped = 0;

    (void)state;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        char *text = make(seed);

        dropped += play_both(text);
        free(text);
    }
    assert_true(dropped > TRACES / 20); /* and that is because of something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_contradicts_threads_is_dropped),
        cmocka_unit_test(a_chain_that_contradicts_stated_edges_is_dropped),
        cmocka_unit_test(a_circle_that_is_stated_is_a_deadlock),
        cmocka_unit_test(no_recording_ends_in_a_deadlock),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
