/* Random programs against all their interleavings: no race missed, none made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/check/witness.h"
#include "sim/workload/block_cost.h"
#include "tests/unit/check_write.h"
#include "traces/io/device_file.h"

enum { PROGRAMS = 600, SHOWN = 60, OWN_STREAMS = 4, OWN_BUFFERS = 5 };

static uint64_t draws, seed = 13;

static int draw(int below)
{
    return (int)(gt_random_bits(seed, 1, draws++) % (uint64_t)below);
}

/* `careless`: memory is used and given back that is not there. */
static void draw_node(struct node *node, int number, bool live[OWN_BUFFERS], bool careless)
{
    node->touch_count = 1 + draw(TOUCHES);
    node->after = number > 0 ? draw(1 << number) : 0;
    for (int i = 0; i < node->touch_count; i++) {
        struct touch *touch = &node->touches[i];

        do
            touch->buffer = draw(OWN_BUFFERS);
        while (!live[touch->buffer] && !(careless && draw(4) == 0));
        touch->offset = draw(3) == 0 ? draw(BUFFER_BYTES) : 0;
        touch->bytes = touch->offset > 0 ? 1 + draw(BUFFER_BYTES - touch->offset) : BUFFER_BYTES;
        touch->writes = draw(2);
    }
}

/* Two threads share nothing but memory: which of them comes first is nobody's to say. */
static void draw_call(struct program *p, struct call *c, bool live[OWN_BUFFERS], bool careless)
{
    static const enum call_kind kinds[] = { LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH,      COPY,        GRAPH,
                                            RECORD, RECORD, WAIT,   WAIT,   WAIT,        STREAM_SYNC, FREE,
                                            FREE,   USE,    ALLOC,  ALLOC,  STREAM_SYNC, EVENT_SYNC,  DEVICE_SYNC };
    int thread = draw(p->thread_count), half = OWN_STREAMS / p->thread_count;
    int stream = thread * half + draw(half), buffer = 3 + draw(2);

    *c = (struct call){ .kind = kinds[draw(sizeof kinds / sizeof kinds[0])], .thread = thread, .stream = stream };
    c->event = p->thread_count > 1 ? thread : draw(EVENTS);
    c->buffer = buffer;
    if (p->gpu_count > 1 && c->kind == LAUNCH && draw(3) == 0)
        c->kind = PEER;
    if ((c->kind == FREE && !live[buffer] && !(careless && draw(2))) || (c->kind == ALLOC && (live[3] || live[4])) ||
        (p->thread_count > 1 && (c->kind >= ALLOC || c->kind == DEVICE_SYNC)))
        c->kind = LAUNCH;
    if (c->kind == FREE || c->kind == ALLOC)
        live[buffer] = c->kind == ALLOC;
    c->node_count = c->kind == GRAPH ? 2 + draw(NODES - 1) : c->kind <= PEER;
    for (int n = 0; n < c->node_count; n++)
        draw_node(&c->nodes[n], n, live, careless);
    /* A graph without any edge is one that was recorded: in the order of its stream. */
    if (c->kind == GRAPH && c->nodes[1].after == 0 && c->nodes[2].after == 0)
        c->nodes[1].after = 1;
}

static void draw_program(struct program *p, bool careless)
{
    bool live[OWN_BUFFERS] = { true, true, true, true, false };

    memset(p, 0, sizeof *p);
    p->thread_count = draw(5) == 0 ? 2 : 1;
    p->legacy[0] = p->thread_count == 1 && draw(2) == 0;
    p->gpu_count = 1 + (careless && draw(2));
    for (int s = 0; s < OWN_STREAMS; s++) {
        p->stream_gpu[s] = p->gpu_count > 1 && s >= OWN_STREAMS / 2;
        p->blocking[s] = draw(2);
    }
    p->call_count = 4 + draw(CALLS - 3);
    for (int i = 0; i < p->call_count; i++)
        draw_call(p, &p->calls[i], live, careless);
}

static void draw_trial(struct trial *t, bool careless)
{
    uint32_t missed, invented;

    draw_program(&t->p, careless);
    go_through(&t->p);
    begin_trial(t);
    compare_races(t, &missed, &invented);
    if (missed + invented > 0)
        fail_msg("%u races missed, %u invented", missed, invented);
    assert_true(silence_is_true(t));
}

static void random_programs_have_the_races_that_their_interleavings_show(void **state)
{
    uint32_t racy = 0, shown = 0, races = 0;
    struct gt_device device;
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    for (int i = 0; i < PROGRAMS; i++) {
        struct trial t;

        draw_trial(&t, false);
        racy += t.check.certain.count > 0;
        for (uint32_t r = 0; r < t.check.certain.count && shown < SHOWN && t.p.thread_count == 1; r++) {
            struct gt_witness *witness = gt_witness_new(t.w, &device, &error);
            struct gt_schedule schedule;

            assert_non_null(witness);
            if (gt_witness_show(witness, &t.check.certain.races[r], &schedule, &error) != 1)
                fail_msg("no schedule shows race %u: first %.1f to %.1f us, second from %.1f:\n%s", r,
                         (double)schedule.first_start_ps / 1e6, (double)schedule.first_end_ps / 1e6,
                         (double)schedule.second_start_ps / 1e6, t.text);
            gt_witness_free(witness);
            shown++;
        }
        races += t.check.certain.count;
        end_trial(&t);
    }
    print_message("# %d programs, %u of them racy, %u races\n", PROGRAMS, racy, races);
    assert_true(racy > PROGRAMS / 4 && racy < PROGRAMS * 9 / 10);
}

struct expected {
    int buffer, op, kind;
};

/* By the order of calls, but for what is in use, which the interleavings show. */
static int misuses_of(const struct program *p, struct expected *expected)
{
    bool back[BUFFERS] = { false };
    int count = 0;

    for (int i = 0; i < p->call_count; i++) {
        const struct call *c = &p->calls[i];

        for (int n = 0; n < c->node_count; n++)
            for (int b = 0; b < BUFFERS; b++)
                if (back[b] && touches(&c->nodes[n], b))
                    expected[count++] = (struct expected){ b, c->nodes[n].op, GT_MISUSE_USE_AFTER_FREE };
        if (c->kind == FREE && back[c->buffer])
            expected[count++] = (struct expected){ c->buffer, -1, GT_MISUSE_DOUBLE_FREE };
        else if (c->kind == FREE && p->in_use[i] >= 0)
            expected[count++] = (struct expected){ c->buffer, p->in_use[i], GT_MISUSE_FREE_IN_USE };
        if (c->kind == FREE || c->kind == ALLOC)
            back[c->buffer] = c->kind == FREE;
    }
    return count;
}

static bool same_misuse(const struct gt_misuse *misuse, const struct expected *expected)
{
    return misuse->kind == expected->kind && misuse->buffer == (gt_buffer_index)expected->buffer &&
           misuse->op == (expected->op < 0 ? GT_NONE : (gt_op_index)expected->op);
}

/* Each is told once; of one operation that uses several buffers in any order. */
static void compare_misuses(const struct program *p, const struct gt_check *check, const char *text, int counts[])
{
    struct expected expected[OPS * BUFFERS + CALLS];
    int count = misuses_of(p, expected);
    bool same = check->misuses.count == (uint32_t)count;

    for (int i = 0; i < count; i++) {
        bool found = false;

        for (uint32_t j = 0; j < check->misuses.count; j++)
            found |= same_misuse(&check->misuses.list[j], &expected[i]);
        same &= found;
        counts[expected[i].kind]++;
    }
    if (same)
        return;
    fputs(text, stderr);
    for (uint32_t i = 0; i < check->misuses.count; i++)
        fprintf(stderr, "told: %s b%u op %d\n", gt_misuse_kind_names[check->misuses.list[i].kind],
                check->misuses.list[i].buffer, (int)check->misuses.list[i].op);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "true: %s b%d op %d\n", gt_misuse_kind_names[expected[i].kind], expected[i].buffer,
                expected[i].op);
    fail_msg("%u misuses told, and there are %d", check->misuses.count, count);
}

/* Of two GPUs or one, with copies between them, memory used after it was freed, freed twice, and freed in use. CHECK_SEED and
 * CHECK_PROGRAMS draw others, and more. */
static void careless_programs_are_told_what_they_do(void **state)
{
    const char *other = getenv("CHECK_SEED"), *many = getenv("CHECK_PROGRAMS");
    int programs = many != NULL ? atoi(many) : PROGRAMS, counts[GT_MISUSE_KINDS] = { 0 };

    (void)state;
    seed = other != NULL ? strtoull(other, NULL, 10) : seed;
    for (int i = 0; i < programs; i++) {
        struct trial t;

        draw_trial(&t, true);
        compare_misuses(&t.p, &t.check, t.text, counts);
        end_trial(&t);
    }
    for (int kind = 0; kind < GT_MISUSE_KINDS; kind++)
        print_message("# %s: %d\n", gt_misuse_kind_names[kind], counts[kind]);
    for (int kind = 0; kind < GT_MISUSE_KINDS; kind++)
        assert_true(counts[kind] > programs / 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_have_the_races_that_their_interleavings_show),
        cmocka_unit_test(careless_programs_are_told_what_they_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
