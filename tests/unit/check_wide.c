/* Random programs of several threads, processes and GPUs against all their interleavings: executable graphs, collectives,
 * copies between GPUs, events across, memory given out again. No race missed, none made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/workload/block_cost.h"
#include "tests/unit/check_write.h"

enum { PROGRAMS = 150 };

static uint64_t draws, seed = 29;

static int draw(int below)
{
    return (int)(gt_random_bits(seed, 2, draws++) % (uint64_t)below);
}

/* May the process use the buffer?  One whose address nobody knows is everybody's. */
static bool may_use(const struct program *p, int process, int buffer, const bool live[BUFFERS])
{
    return live[buffer] && (buffer_address[buffer] < 0 || p->buffer_process[buffer] == process);
}

static void draw_touch(const struct program *p, struct touch *touch, int process, const bool live[BUFFERS])
{
    do
        touch->buffer = draw(BUFFERS);
    while (!may_use(p, process, touch->buffer, live));
    touch->offset = draw(3) == 0 ? draw(BUFFER_BYTES) : 0;
    touch->bytes = touch->offset > 0 ? 1 + draw(BUFFER_BYTES - touch->offset) : BUFFER_BYTES;
    touch->writes = draw(2);
}

/* A copy that says by addresses what it reads and writes: one process, so that it is known whose they are. */
static void draw_addresses(const struct program *p, struct call *c)
{
    int gpu = p->stream_gpu[c->stream], bytes = 1 + draw(BUFFER_BYTES / 2);

    c->addressed = true;
    c->nodes[0].touch_count = 2;
    for (int i = 0; i < 2; i++) {
        bool there = (i == 1) != c->from_peer; /* on the other GPU */
        bool second = (gpu == 1) != there;

        c->nodes[0].touches[i] =
            (struct touch){ (second ? 5 : 0) + draw(2), draw(BUFFER_BYTES - bytes + 1), bytes, i == 1 };
    }
}

static void draw_nodes(const struct program *p, struct call *c, const bool live[BUFFERS])
{
    c->node_count = c->kind == GRAPH ? 2 + draw(NODES - 1) : c->kind <= PART;
    for (int n = 0; n < c->node_count; n++) {
        struct node *node = &c->nodes[n];

        node->touch_count = 1 + draw(TOUCHES);
        node->after = n > 0 ? draw(1 << n) : 0;
        for (int i = 0; i < node->touch_count; i++)
            draw_touch(p, &node->touches[i], p->thread_process[c->thread], live);
    }
    /* A graph without any edge is one that was recorded: in the order of its stream. */
    if (c->kind == GRAPH && c->nodes[1].after == 0 && c->nodes[2].after == 0)
        c->nodes[1].after = 1;
    if (c->kind == PEER && p->process_count == 1 && draw(2))
        draw_addresses(p, c);
}

/* Its thread's process has streams, and events. */
static void draw_place(const struct program *p, struct call *c)
{
    int process;

    c->thread = draw(p->thread_count);
    process = p->thread_process[c->thread];
    do
        c->stream = draw(STREAMS);
    while (p->stream_process[c->stream] != process);
    c->event = p->process_count == 1 ? draw(EVENTS) : process == 0 ? draw(EVENTS - 1) : EVENTS - 1;
}

static void draw_call(struct program *p, struct call *c, bool live[BUFFERS])
{
    static const enum call_kind kinds[] = { LAUNCH, LAUNCH, LAUNCH, LAUNCH,      COPY,        PEER,      PEER,
                                            PEER,   PART,   PART,   GRAPH,       GRAPH,       GRAPH,     RECORD,
                                            RECORD, WAIT,   WAIT,   WAIT,        STREAM_SYNC, FREE,      FREE,
                                            USE,    ALLOC,  ALLOC,  STREAM_SYNC, DEVICE_SYNC, EVENT_SYNC };

    c->kind = p->ranks && draw(3) == 0 ? PART : kinds[draw(sizeof kinds / sizeof kinds[0])];
    draw_place(p, c);
    c->buffer = 3 + draw(2);
    c->executable = draw(EXECUTABLES + 1);
    c->from_peer = draw(2);
    c->synchronous = draw(4) == 0;
    c->plain = (c->kind == ALLOC || c->kind == FREE || c->kind == DEVICE_SYNC) && draw(3) == 0;
    if ((c->kind == FREE && !live[c->buffer]) || (c->kind == ALLOC && (live[3] || live[4])) ||
        (c->kind == USE && !live[c->buffer]) ||
        ((c->kind == ALLOC || c->kind == FREE || c->kind == USE) && p->thread_process[c->thread] != 0) ||
        ((c->kind == PEER || c->kind == PART) && p->gpu_count == 1)) {
        c->kind = LAUNCH;
        c->plain = false;
    }
    if (c->kind == FREE || c->kind == ALLOC)
        live[c->buffer] = c->kind == ALLOC;
    draw_nodes(p, c, live);
}

/* The n-th part of a rank belongs to the n-th of the other one; messages are counted for themselves.  Whose other rank never
 * comes is an ordinary kernel. */
static void match_parts(struct program *p)
{
    int count[GPUS][2] = { { 0 } };

    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];
        int *nth = count[p->stream_gpu[c->stream]], message = draw(4) == 0;

        if (c->kind != PART)
            continue;
        c->instance = nth[message]++ + message * MEETINGS / 2;
        if (nth[message] > MEETINGS / 2)
            c->kind = LAUNCH;
    }
    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];
        bool met = false;

        for (int j = 0; j < p->call_count; j++)
            met |= j != i && p->calls[j].kind == PART && p->calls[j].instance == c->instance &&
                   p->stream_gpu[p->calls[j].stream] != p->stream_gpu[c->stream];
        if (c->kind == PART && !met)
            c->kind = LAUNCH;
    }
}

/* Calls stand in the order in which they began; those of a thread do not overlap. */
static void draw_times(struct program *p)
{
    int now = 0, free_at[THREADS] = { 0 };

    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];

        now += draw(3);
        now = now > free_at[c->thread] ? now : free_at[c->thread];
        c->start = now;
        c->end = free_at[c->thread] = now + 1 + draw(6);
    }
}

static void draw_streams(struct program *p)
{
    for (int s = 0; s < STREAMS; s++) {
        p->stream_process[s] = s % p->process_count;
        p->stream_gpu[s] = draw(p->gpu_count);
        p->blocking[s] = draw(3) > 0;
        p->legacy[s] = draw(3) == 0;
        for (int other = 0; other < s; other++)
            p->legacy[s] &= !(p->legacy[other] && same_context(p, s, other));
    }
}

static void draw_program(struct program *p)
{
    bool live[BUFFERS] = { true, true, true, true, false, true, true };

    memset(p, 0, sizeof *p);
    p->process_count = 1 + (draw(3) == 0);
    p->gpu_count = 1 + (draw(4) > 0);
    p->thread_count = p->process_count + draw(THREADS + 1 - p->process_count);
    p->recorded = draw(4) == 0;
    p->ranks = p->gpu_count > 1 && draw(2);
    for (int t = 0; t < p->thread_count; t++)
        p->thread_process[t] = t % p->process_count;
    draw_streams(p);
    for (int b = 5; b < BUFFERS; b++) {
        p->buffer_process[b] = p->process_count - 1;
        p->buffer_gpu[b] = p->process_count == 1 && p->gpu_count > 1;
        live[b] = p->process_count + p->gpu_count > 2;
    }
    for (int m = 0; m < MEETINGS; m++)
        p->instances[m] = m < MEETINGS / 2 ? (enum meeting_kind)draw(MESSAGE) : MESSAGE;
    p->call_count = 4 + draw(CALLS - 3);
    for (int i = 0; i < p->call_count; i++)
        draw_call(p, &p->calls[i], live);
    match_parts(p);
    draw_times(p);
}

/* Memory that is given back while an operation may go on that uses it: how many such frees are not told, or told wrongly. */
static uint32_t compare_frees(const struct trial *t)
{
    uint32_t wrong = 0, expected = 0;

    for (int i = 0; i < t->p.call_count; i++) {
        bool found = t->p.in_use[i] < 0;

        expected += !found;
        for (uint32_t j = 0; j < t->check.misuses.count; j++)
            found |= t->check.misuses.list[j].kind == GT_MISUSE_FREE_IN_USE &&
                     t->check.misuses.list[j].freed == (gt_call_index)i &&
                     t->check.misuses.list[j].op == (gt_op_index)t->p.in_use[i];
        wrong += !found;
    }
    return wrong + (t->check.misuses.count != expected);
}

struct tally {
    uint32_t programs, stuck; /* gone through; those that wait for themselves, of which CUDA says nothing */
    uint32_t racy, races, backward, frees;
    uint32_t missed, invented, wrong;
    uint64_t states;
};

/* Has an operation to wait for the start of one that is asked for behind it? */
static bool goes_backward(const struct program *p)
{
    for (int b = 0; b < p->op_count; b++)
        for (int a = b + 1; a < p->op_count; a++)
            if (!p->early[b][a])
                return true;
    return false;
}

static void try_program(struct tally *tally)
{
    struct trial t;
    uint32_t missed, invented;

    draw_program(&t.p);
    tally->states += go_through(&t.p);
    if (!t.p.ends) {
        tally->stuck++;
        return;
    }
    begin_trial(&t);
    compare_races(&t, &missed, &invented);
    tally->missed += missed;
    tally->invented += invented;
    tally->wrong += !silence_is_true(&t) + compare_frees(&t);
    tally->racy += t.check.certain.count > 0;
    tally->races += t.check.certain.count;
    tally->frees += t.check.misuses.count;
    tally->backward += goes_backward(&t.p);
    tally->programs++;
    end_trial(&t);
}

/* CHECK_SEED and CHECK_PROGRAMS draw others, and more. */
static void random_programs_have_the_races_that_their_interleavings_show(void **state)
{
    const char *other = getenv("CHECK_SEED"), *many = getenv("CHECK_PROGRAMS");
    uint32_t programs = many != NULL ? (uint32_t)atoi(many) : PROGRAMS;
    struct tally t = { .programs = 0 };

    (void)state;
    seed = other != NULL ? strtoull(other, NULL, 10) : seed;
    while (t.programs < programs)
        try_program(&t);
    print_message("# %u programs (%u more wait for themselves), %u racy, %u races, %u frees in use; %u have an order "
                  "against the trace's; %llu states; missed %u, invented %u, wrong otherwise %u\n",
                  t.programs, t.stuck, t.racy, t.races, t.frees, t.backward, (unsigned long long)t.states, t.missed,
                  t.invented, t.wrong);
    assert_int_equal(t.missed + t.invented + t.wrong, 0);
    assert_true(t.racy > programs / 4 && t.racy < programs * 9 / 10);
    assert_true(t.backward > programs / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_have_the_races_that_their_interleavings_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
