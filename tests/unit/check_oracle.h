/* check_oracle.h - every interleaving of a small program: what `gridtide check` is held against.
 *
 * What calls and commands need is written down by CUDA's rules (check_program.h). Then all states that the machine can get
 * into are visited, one step of a thread or a stream at a time: an operation starts, an operation ends; a rank's part of a
 * collective ends no sooner than those have started that give it something.  Of two operations the later one has no order to
 * the earlier one if in some state it starts while that has not ended.  No clocks, no graphs of what happens before what.
 */
#ifndef GRIDTIDE_TESTS_UNIT_CHECK_ORACLE_H
#define GRIDTIDE_TESTS_UNIT_CHECK_ORACLE_H

#include "tests/unit/check_program.h"

/* A state of the machine: how many calls each thread has got over, commands each stream is through with, and nodes of the
 * command at its head: not begun, running, over. */
struct state {
    uint8_t made[THREADS], returned[THREADS], complete[STREAMS], node[STREAMS][NODES];
};

struct states {
    struct state *list;
    uint32_t count, room, *slots, slot_count;
};

static inline uint32_t state_hash(const struct state *state)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < sizeof *state; i++)
        hash = (hash ^ ((const uint8_t *)state)[i]) * 16777619u;
    return hash;
}

static inline void add_state(struct states *states, const struct state *state)
{
    uint32_t slot;

    if (states->count * 2 >= states->slot_count) {
        states->slot_count = states->slot_count == 0 ? 1024 : states->slot_count * 4;
        states->slots = gt_realloc(states->slots, states->slot_count, sizeof *states->slots);
        memset(states->slots, 0xff, states->slot_count * sizeof *states->slots);
        for (uint32_t i = 0; i < states->count; i++) {
            for (slot = state_hash(&states->list[i]) % states->slot_count; states->slots[slot] != UINT32_MAX;)
                slot = (slot + 1) % states->slot_count;
            states->slots[slot] = i;
        }
    }
    for (slot = state_hash(state) % states->slot_count; states->slots[slot] != UINT32_MAX;
         slot = (slot + 1) % states->slot_count)
        if (memcmp(&states->list[states->slots[slot]], state, sizeof *state) == 0)
            return;
    states->slots[slot] = states->count;
    if (states->count == states->room) {
        states->room = states->room * 2 + 64;
        states->list = gt_realloc(states->list, states->room, sizeof *states->list);
    }
    states->list[states->count++] = *state;
}

static inline bool met(const struct state *state, const int *needs)
{
    for (int s = 0; s < STREAMS; s++)
        if (state->complete[s] < needs[s])
            return false;
    return true;
}

static inline bool has_made(const struct program *p, const struct state *state, int call)
{
    return p->calls[call].number < state->made[p->calls[call].thread];
}

static inline bool has_returned(const struct program *p, const struct state *state, int call)
{
    return p->calls[call].number < state->returned[p->calls[call].thread];
}

/* The call whose command is at the stream's head; -1: it has not been made. */
static inline int head_of(const struct program *p, const struct state *state, int stream)
{
    int call = p->head_of[stream][state->complete[stream]];

    return call >= 0 && has_made(p, state, call) ? call : -1;
}

/* Has the operation started (1), or ended (2)? */
static inline bool op_has(const struct program *p, const struct state *state, int op, int stage)
{
    const struct call *c = &p->calls[p->op_call[op]];

    return state->complete[c->stream] > c->position ||
           (state->complete[c->stream] == c->position && state->node[c->stream][p->op_node[op]] >= stage);
}

/* Does the rank of `giver` give that of `taker` something, in their collective? */
static inline bool gives(const struct program *p, const struct call *giver, const struct call *taker)
{
    switch (p->instances[taker->instance]) {
    case BROADCAST_0:
    case MESSAGE: return p->stream_gpu[giver->stream] == 0;
    case REDUCE_1: return p->stream_gpu[taker->stream] == 1;
    default: return true;
    }
}

/* A part of a collective ends when all have started that it gets something of. */
static inline bool may_end(const struct program *p, const struct state *state, const struct call *c)
{
    for (int i = 0; i < p->call_count && c->kind == PART; i++)
        if (p->calls[i].kind == PART && p->calls[i].instance == c->instance && gives(p, &p->calls[i], c) &&
            !op_has(p, state, p->calls[i].nodes[0].op, 1))
            return false;
    return true;
}

static inline void start_node(struct program *p, struct states *states, struct state state, int stream, int node,
                              int op)
{
    for (int other = 0; other < p->op_count; other++) {
        p->late[op][other] |= other != op && !op_has(p, &state, other, 2);
        p->early[op][other] |= other != op && !op_has(p, &state, other, 1);
    }
    state.node[stream][node] = 1;
    add_state(states, &state);
}

static inline void step_stream(struct program *p, struct states *states, const struct state *from, int stream)
{
    int head = head_of(p, from, stream), over = 0;
    const struct call *c = &p->calls[head < 0 ? 0 : head];
    struct state state = *from;

    if (head < 0 || !met(from, c->needs))
        return;
    for (int n = 0; n < c->node_count; n++) {
        bool may = from->node[stream][n] == 0;

        for (int before = 0; before < c->node_count; before++)
            may &= !(c->nodes[n].after >> before & 1) || from->node[stream][before] == 2;
        if (may)
            start_node(p, states, *from, stream, n, c->nodes[n].op);
        if (from->node[stream][n] == 1 && may_end(p, from, c)) {
            state = *from;
            state.node[stream][n] = 2;
            add_state(states, &state);
        }
        over += from->node[stream][n] == 2;
    }
    if (over < c->node_count)
        return;
    state = *from;
    memset(state.node[stream], 0, sizeof state.node[stream]);
    state.complete[stream]++;
    add_state(states, &state);
}

/* An allocator does not wait: it gives out memory that it may. */
static inline bool may_make(const struct program *p, const struct state *state, int call)
{
    for (int i = 0; i < call; i++)
        if (p->calls[call].behind[i] && !has_returned(p, state, i))
            return false;
    return p->calls[call].kind != ALLOC || met(state, p->calls[call].host_needs);
}

static inline void step_thread(struct program *p, struct states *states, const struct state *from, int thread)
{
    struct state state = *from;
    int call;

    if (from->returned[thread] < from->made[thread]) {
        call = p->call_of[thread][from->returned[thread]];
        if (p->calls[call].kind != ALLOC && !met(from, p->calls[call].host_needs))
            return;
        state.returned[thread]++;
    } else {
        call = p->call_of[thread][from->made[thread]];
        if (call < 0 || !may_make(p, from, call))
            return;
        state.made[thread]++;
    }
    add_state(states, &state);
}

/* Is all made, and all over? */
static inline bool is_end(const struct program *p, const struct state *state)
{
    for (int i = 0; i < p->call_count; i++)
        if (!has_returned(p, state, i) || state->complete[p->calls[i].stream] <= p->calls[i].position)
            return false;
    return true;
}

static inline bool touches(const struct node *node, int buffer)
{
    bool does = false;

    for (int t = 0; t < node->touch_count; t++)
        does |= node->touches[t].buffer == buffer;
    return does;
}

/* Of operations that use the buffer of the free, from when it was had on: does one go on, though all is over that the memory
 * waits for? */
static inline void look_at_free(struct program *p, const struct state *state, int call)
{
    const struct call *c = &p->calls[call];

    if (c->kind != FREE || c->again || c->plain || state->complete[c->stream] <= c->position || !met(state, c->held))
        return;
    for (int i = call - 1; i >= 0 && !(p->calls[i].kind == ALLOC && p->calls[i].buffer == c->buffer); i--)
        for (int n = 0; n < p->calls[i].node_count; n++)
            if (touches(&p->calls[i].nodes[n], c->buffer) && !op_has(p, state, p->calls[i].nodes[n].op, 2) &&
                p->calls[i].nodes[n].op > p->in_use[call])
                p->in_use[call] = p->calls[i].nodes[n].op;
}

/* Fill `late` and `in_use`.  Returns how many states there are. */
static inline uint32_t go_through(struct program *p)
{
    struct states states = { .list = NULL };
    struct state start;
    uint32_t count;

    memset(&start, 0, sizeof start);
    memset(p->late, 0, sizeof p->late);
    memset(p->early, 0, sizeof p->early);
    memset(p->in_use, 0xff, sizeof p->in_use);
    p->ends = false;
    write_down_needs(p);
    add_state(&states, &start);
    for (uint32_t i = 0; i < states.count; i++) {
        struct state state = states.list[i];

        for (int thread = 0; thread < p->thread_count; thread++)
            step_thread(p, &states, &state, thread);
        for (int stream = 0; stream < STREAMS; stream++)
            step_stream(p, &states, &state, stream);
        for (int i = 0; i < p->call_count; i++)
            look_at_free(p, &state, i);
        p->ends |= is_end(p, &state);
    }
    count = states.count;
    free(states.list);
    free(states.slots);
    return count;
}

/* One race: by the later operation and its buffer; BUFFERS: by address. */
struct told {
    int first, second, buffer;
};

/* Operations as they are asked for, but behind those that have to start first: of those left that may, the first one. */
static inline void order_of(const struct program *p, const struct node *nodes[OPS])
{
    const struct node *by_op[OPS] = { NULL };
    bool placed[OPS] = { false };

    for (int i = 0; i < p->call_count; i++)
        for (int n = 0; n < p->calls[i].node_count; n++)
            by_op[p->calls[i].nodes[n].op] = &p->calls[i].nodes[n];
    for (int at = 0; at < p->op_count; at++) {
        int next = -1;

        for (int op = 0; op < p->op_count && next < 0; op++) {
            bool may = !placed[op];

            for (int other = 0; other < p->op_count && may; other++)
                may = other == op || placed[other] || p->early[op][other];
            next = may ? op : -1;
        }
        placed[next] = true;
        nodes[at] = by_op[next];
    }
}

/* Who last wrote and since then read each byte, in which order. */
struct bytes {
    int written[BYTES], place[OPS];
    bool read[BYTES][OPS];
};

static inline void worse(const struct bytes *bytes, int *worst, int op)
{
    if (*worst < 0 || bytes->place[op] > bytes->place[*worst])
        *worst = op;
}

static inline void touch_byte(const struct program *p, struct bytes *bytes, const struct node *node, int byte,
                              bool writes, int *worst)
{
    int reads = 0, written = bytes->written[byte];

    for (int op = 0; writes && op < OPS; op++) {
        reads += bytes->read[byte][op];
        if (bytes->read[byte][op] && p->late[node->op][op])
            worse(bytes, worst, op);
    }
    if (reads == 0 && written >= 0 && p->late[node->op][written])
        worse(bytes, worst, written);
    if (!writes) {
        bytes->read[byte][node->op] = true;
        return;
    }
    bytes->written[byte] = node->op;
    memset(bytes->read[byte], 0, sizeof bytes->read[byte]);
}

static inline int touch_all(const struct program *p, struct bytes *bytes, const struct node *node, bool addressed,
                            struct told *told)
{
    int last[BUFFERS + 1], count = 0;
    bool mine[BYTES] = { false };

    memset(last, 0xff, sizeof last);
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < node->touch_count; t++) {
            const struct touch *touch = &node->touches[t];
            int from = buffer_place[touch->buffer] + touch->offset;

            for (int byte = from; byte < from + touch->bytes; byte++)
                if (touch->writes == (pass == 0) && !mine[byte]) {
                    touch_byte(p, bytes, node, byte, touch->writes, &last[addressed ? BUFFERS : touch->buffer]);
                    mine[byte] = touch->writes;
                }
        }
    for (int b = 0; b <= BUFFERS; b++)
        if (last[b] >= 0)
            told[count++] = (struct told){ last[b], node->op, b };
    return count;
}

static inline bool is_addressed(const struct program *p, const struct node *node)
{
    for (int i = 0; i < p->call_count; i++)
        if (node == &p->calls[i].nodes[0])
            return p->calls[i].addressed;
    return false;
}

/* The rule of counting, a byte at a time. */
static inline int races_of(const struct program *p, struct told *told)
{
    const struct node *nodes[OPS];
    struct bytes bytes;
    int count = 0;

    memset(&bytes, 0, sizeof bytes);
    memset(bytes.written, 0xff, sizeof bytes.written);
    order_of(p, nodes);
    for (int i = 0; i < p->op_count; i++) {
        bytes.place[nodes[i]->op] = i;
        count += touch_all(p, &bytes, nodes[i], is_addressed(p, nodes[i]), told + count);
    }
    return count;
}

#endif
