/* What changes of a workload may never do, on traces drawn at random: break an order that the trace shows, gain where
 * nothing can be gained, or do something the second time. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/array.h"
#include "sim/baseline/timeline.h"
#include "sim/changes/changes.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "validate/random/draw.h"

enum { TRACES = 120, SEED = 15 };
/* One thread each, whose operations keep their numbers when calls are put together. */
static const char families[] = "streams,copies,events,graphs,priorities,mixed";

static struct gt_device device;
static struct gt_framework framework;

static int load_device(void **state)
{
    struct gt_error error = { "" };

    (void)state;
    return gt_device_load("h200", &device, &error) == 0 ? gt_framework_load(NULL, &framework, &error) : -1;
}

static struct gt_workload *draw(uint32_t number)
{
    struct gt_error error = { "" };
    struct gt_draws draws;
    struct gt_workload *w;
    char *text;

    assert_int_equal(gt_draws_of(&draws, families, SEED, &error), 0);
    text = gt_draw_text(&draws, number);
    w = gt_draw_read(text, &error);
    if (w == NULL)
        fail_msg("%s", error.text);
    free(text);
    return w;
}

/* `w` as `spec` makes it; a copy where it is refused, which a drawn trace may be. */
static struct gt_workload *change(const struct gt_workload *w, const char *spec, const char *independent)
{
    const char *patterns[] = { independent, NULL };
    const struct gt_whatif_host host = { .framework = &framework, .independent = patterns };
    struct gt_change parsed;
    struct gt_scenario scenario;
    struct gt_error error = { "" };
    struct gt_workload *changed;

    assert_int_equal(gt_change_parse(spec, &parsed, &error), 0);
    gt_scenario_begin(&scenario, w, &device, &device, &host);
    if (gt_changes_apply(&parsed, 1, &scenario, &error) != 0) {
        if (strstr(error.text, "stream capture refuses it") == NULL)
            fail_msg("%s", error.text);
        changed = gt_workload_copy(w);
    } else {
        changed = scenario.workload;
        scenario.workload = NULL;
    }
    gt_scenario_free(&scenario);
    if (gt_workload_check(changed, &error) != 0)
        fail_msg("%s: %s", spec, error.text);
    return changed;
}

static struct gt_timeline play(const struct gt_workload *w)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_timeline timeline;
    struct gt_error error = { "" };

    if (gt_timeline_play(&timeline, w, &device, &options, NULL, &error) != 0)
        fail_msg("%s", error.text);
    return timeline;
}

/* A set of operations. */
struct set {
    gt_op_index *ops;
    uint32_t count, room;
};

static void add(struct set *set, gt_op_index op)
{
    gt_array_grow(set->ops, set->count, set->room);
    set->ops[set->count++] = op;
}

static void add_set(struct set *set, const struct set *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        add(set, other->ops[i]);
}

/* The order that a trace of one thread shows, followed call by call and held against a run. */
struct order {
    const struct gt_workload *w;
    const struct gt_op_record *ops;
    const char *independent; /* NULL: nothing is */
    const char *what;
    struct set *all,
        *base; /* by stream: what the next operation comes after, and what it does if it is independent */
    struct set *events;
};

/* Copies may go with what is independent. */
static bool is_free(const struct order *order, const struct gt_call *call)
{
    uint32_t kernels = 0;

    if (order->independent == NULL)
        return false;
    for (gt_op_index i = call->first_op; i < call->first_op + call->ops; i++) {
        const struct gt_op *op = &order->w->ops[i];

        if (op->kind != GT_OP_KERNEL)
            continue;
        if (fnmatch(order->independent, gt_name_text(order->w, order->w->kernels[op->kernel].name), 0) != 0)
            return false;
        kernels++;
    }
    return kernels > 0 || call->ops == 1;
}

static void check_after(const struct order *order, gt_op_index op, const struct set *before)
{
    for (uint32_t i = 0; i < before->count; i++)
        if (order->ops[op].start_ps < order->ops[before->ops[i]].end_ps)
            fail_msg("%s: operation %u starts at %.3f us, before %u ends at %.3f us: %s", order->what, op,
                     (double)order->ops[op].start_ps / 1e6, before->ops[i],
                     (double)order->ops[before->ops[i]].end_ps / 1e6, order->w->name);
}

static bool blocking(const struct order *order, gt_stream_index stream)
{
    return !(order->w->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

static void check_default_stream(const struct order *order, gt_op_index op, gt_stream_index stream)
{
    for (gt_stream_index other = 0; other < order->w->stream_count && blocking(order, stream); other++)
        if (other != stream && blocking(order, other) &&
            (order->w->streams[stream].flags | order->w->streams[other].flags) & GT_STREAM_LEGACY_DEFAULT)
            check_after(order, op, &order->all[other]);
}

static bool is_independent(const struct order *order, gt_op_index op)
{
    const struct gt_workload *w = order->w;

    return order->independent != NULL && w->ops[op].kind == GT_OP_KERNEL &&
           fnmatch(order->independent, gt_name_text(w, w->kernels[w->ops[op].kernel].name), 0) == 0;
}

/* Nodes of a graph that are independent of each other may lose the edge between them; copies go with them. */
static void check_edges(const struct order *order, gt_op_index op)
{
    const struct gt_op *o = &order->w->ops[op];

    for (uint32_t i = o->first_after; i < o->first_after + o->afters; i++) {
        gt_op_index before = order->w->afters[i];
        bool copies = o->kind != GT_OP_KERNEL || order->w->ops[before].kind != GT_OP_KERNEL;

        if (order->independent == NULL || order->w->ops[before].call != o->call ||
            !(copies || (is_independent(order, op) && is_independent(order, before))))
            check_after(order, op, &(struct set){ .ops = &order->w->afters[i], .count = 1 });
    }
}

static void follow_work(struct order *order, const struct gt_call *call)
{
    gt_stream_index stream = order->w->ops[call->first_op].stream;
    struct set *all = &order->all[stream], *base = &order->base[stream];
    bool independent = is_free(order, call);

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        check_after(order, i, independent ? base : all);
        check_default_stream(order, i, stream);
        check_edges(order, i);
    }
    if (!independent)
        all->count = base->count = 0;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        add(all, i);
        if (!independent)
            add(base, i);
    }
}

static void follow(struct order *order, const struct gt_call *call)
{
    if (call->ops > 0)
        follow_work(order, call);
    if (call->kind == GT_CALL_EVENT_RECORD) {
        order->events[call->event].count = 0;
        add_set(&order->events[call->event], &order->all[call->stream]);
    } else if (call->kind == GT_CALL_EVENT_WAIT) {
        add_set(&order->all[call->stream], &order->events[call->event]);
        add_set(&order->base[call->stream], &order->events[call->event]);
    }
}

static void free_sets(struct set *sets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(sets[i].ops);
    free(sets);
}

static void check_order(const struct gt_workload *w, const struct gt_timeline *timeline, const char *what,
                        const char *independent)
{
    struct order order = {
        .w = w,
        .ops = timeline->ops,
        .what = what,
        .independent = independent,
        .all = gt_calloc(w->stream_count + 1ull, sizeof(struct set)),
        .base = gt_calloc(w->stream_count + 1ull, sizeof(struct set)),
        .events = gt_calloc(w->event_count + 1ull, sizeof(struct set)),
    };

    for (gt_call_index i = 0; i < w->call_count; i++)
        follow(&order, &w->calls[i]);
    free_sets(order.all, w->stream_count);
    free_sets(order.base, w->stream_count);
    free_sets(order.events, w->event_count);
}

/* prefetch is to break the order of a stream: its copies go ahead. */
static void order_is_kept(void **state)
{
    static const struct {
        const char *spec, *independent;
    } cases[] = {
        { "graph", NULL },       { "graph=step", NULL },    { "pinned", NULL },    { "async", NULL },
        { "no-readback", NULL }, { "streams=1", NULL },     { "streams=3", NULL }, { "streams=40", NULL },
        { "streams=40", "k0" },  { "streams=12", "k[01]" },
    };

    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        struct gt_workload *w = draw(i);

        for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
            struct gt_workload *changed = change(w, cases[j].spec, cases[j].independent);
            struct gt_timeline timeline = play(changed);

            assert_int_equal(changed->op_count, w->op_count);
            check_order(w, &timeline, cases[j].spec, cases[j].independent);
            gt_timeline_free(&timeline);
            gt_workload_free(changed);
        }
        gt_workload_free(w);
    }
}

static void expect_same(const struct gt_workload *one, const struct gt_workload *other, const char *what)
{
    struct gt_timeline first = play(one), second = play(other);

    assert_int_equal(one->op_count, other->op_count);
    for (uint32_t i = 0; i < one->op_count; i++)
        if (first.ops[i].start_ps != second.ops[i].start_ps || first.ops[i].end_ps != second.ops[i].end_ps)
            fail_msg("%s: operation %u starts at %.3f and at %.3f us: %s", what, i,
                     (double)first.ops[i].start_ps / 1e6, (double)second.ops[i].start_ps / 1e6, one->name);
    gt_timeline_free(&first);
    gt_timeline_free(&second);
}

static void what_is_done_twice_is_done_once(void **state)
{
    static const char *const specs[] = { "graph", "graph=step", "pinned", "async", "no-readback", "prefetch" };

    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        struct gt_workload *w = draw(i);

        for (size_t j = 0; j < sizeof specs / sizeof specs[0]; j++) {
            struct gt_workload *once = change(w, specs[j], NULL), *twice = change(once, specs[j], NULL);

            expect_same(once, twice, specs[j]);
            gt_workload_free(once);
            gt_workload_free(twice);
        }
        gt_workload_free(w);
    }
}

/* However many streams there are: without a word on what is independent everything in a stream depends on what was before. */
static void more_streams_alone_gain_nothing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        struct gt_workload *w = draw(i), *more = change(w, "streams=100", NULL);

        expect_same(w, more, "streams=100");
        gt_workload_free(more);
        gt_workload_free(w);
    }
}

/* On the GPU an event lets a stream go later than its own order does, and calls of another kind before and behind cost
 * the host more: so much for each of the calls inserted. */
static double most_more_us(uint32_t calls)
{
    const struct gt_call_extra *extras[] = { &device.launch_extra, &device.copy_extra, &device.memset_extra,
                                             &device.event_extra };
    double most_us = (double)(device.event_call_ps + device.engine_event_gap_ps) / 1e6;

    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++)
        most_us += (double)(extras[i]->cold_ps + extras[i]->first_ps + extras[i]->after_ps) / 1e6;
    return most_us * calls;
}

/* Of one stream: where several share engines and SMs, a copy that comes earlier may hold up one that is needed sooner. */
static void prefetch_lengthens_by_its_own_calls_at_most(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        struct gt_workload *drawn = draw(i), *w = change(drawn, "streams=1", NULL);

        for (int one = 0; one < 2; one++) {
            struct gt_workload *ahead = change(w, one ? "prefetch=1" : "prefetch", NULL);
            struct gt_timeline before = play(w), after = play(ahead);
            double more_us = gt_timeline_us(&after) - gt_timeline_us(&before);

            if (more_us > most_more_us(ahead->call_count - w->call_count))
                fail_msg("%.3f us longer, by %u calls: %s", more_us, ahead->call_count - w->call_count, w->name);
            gt_timeline_free(&before);
            gt_timeline_free(&after);
            gt_workload_free(ahead);
        }
        gt_workload_free(w);
        gt_workload_free(drawn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(what_is_done_twice_is_done_once),
        cmocka_unit_test(more_streams_alone_gain_nothing),
        cmocka_unit_test(prefetch_lengthens_by_its_own_calls_at_most),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, load_device, NULL);
}
