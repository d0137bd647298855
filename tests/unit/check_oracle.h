/* check_oracle.h - small programs whose every interleaving can be gone through: what `gridtide check` is held against.
 *
 * A program is typed in calls; which commands a command needs to be complete, and which a call, is written down by CUDA's
 * rules. Then all states that the machine can get into are visited, one step of a thread or a stream at a time: an
 * operation starts, an operation ends.  Of two operations the later one has no order to the earlier one if in some state it
 * starts while that has not ended.  No clocks, no graphs of what happens before what.
 */
#ifndef GRIDTIDE_TESTS_UNIT_CHECK_ORACLE_H
#define GRIDTIDE_TESTS_UNIT_CHECK_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

enum { CALLS = 12, STREAMS = 4, EVENTS = 3, BUFFERS = 5, NODES = 3, OPS = 24, THREADS = 2, BYTES = 40, TOUCHES = 2 };

enum call_kind {
    LAUNCH,
    COPY,
    PEER,
    GRAPH,
    RECORD,
    WAIT,
    STREAM_SYNC,
    EVENT_SYNC,
    DEVICE_SYNC,
    ALLOC,
    FREE,
    USE,
    KINDS
};

struct touch {
    int buffer, offset, bytes;
    bool writes;
};

struct node { /* an operation */
    struct touch touches[TOUCHES];
    int touch_count, op;
    int after; /* bits: nodes of the same graph */
};

struct call {
    enum call_kind kind;
    int thread, stream, event, buffer;
    struct node nodes[NODES];
    int node_count;
    /* What the rules make of it. */
    int position;            /* its command is the stream's so many-th; -1: it has none */
    int needs[STREAMS];      /* commands that have to be complete before its own starts */
    int host_needs[STREAMS]; /* and before the call returns */
    int held[STREAMS];       /* FREE: commands of streams that the buffer was recorded to be used in */
    bool again;              /* FREE: it was given back already */
};

struct program {
    struct call calls[CALLS];
    int call_count, op_count, thread_count;
    bool blocking[STREAMS]; /* stream 0 is the legacy default stream where `legacy` */
    bool legacy;
    bool gpus;           /* streams 2 and 3 are of another GPU */
    int in_use[CALLS];   /* FREE: the last operation that may go on when the memory is given back; -1 */
    bool late[OPS][OPS]; /* [b][a]: b may start while a has not ended */
};

/* Where buffers lie: 0 and 1 overlap, 3 and 4 are the same memory at different times; -1: nobody knows. */
static const int buffer_address[BUFFERS] = { 0, 4, -1, 16, 18 };
enum { BUFFER_BYTES = 8, UNKNOWN_PLACE = 26 };

static inline int place_of(int buffer)
{
    return buffer_address[buffer] < 0 ? UNKNOWN_PLACE : buffer_address[buffer];
}

static inline void need(int *needs, int stream, int count)
{
    needs[stream] = count > needs[stream] ? count : needs[stream];
}

/* By CUDA's rules. */
static inline void write_down_needs(struct program *p)
{
    int submitted[STREAMS] = { 0 }, event_stream[EVENTS], event_count[EVENTS];
    int freed[BYTES], free_count[CALLS], used[BUFFERS][STREAMS];
    bool back[BUFFERS] = { false };
    int peers = 0; /* commands of stream 0 up to its last copy to the other GPU */

    memset(event_stream, 0xff, sizeof event_stream);
    memset(freed, 0xff, sizeof freed);
    memset(used, 0, sizeof used);
    p->op_count = 0;
    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];
        bool commands = c->kind <= WAIT || c->kind == ALLOC || c->kind == FREE;

        memset(c->needs, 0, sizeof c->needs);
        memset(c->host_needs, 0, sizeof c->host_needs);
        for (int n = 0; n < c->node_count; n++)
            c->nodes[n].op = p->op_count++;
        if (c->kind == WAIT && event_stream[c->event] < 0)
            commands = false;
        c->position = commands ? submitted[c->stream] : -1;
        for (int s = 1; commands && p->legacy && s < STREAMS; s++) {
            bool far = p->gpus && s >= STREAMS / 2; /* only a copy between the GPUs concerns it */

            if (!p->blocking[s] || (c->stream != 0 && c->stream != s))
                continue;
            if (c->stream != 0)
                need(c->needs, 0, far ? peers : submitted[0]);
            else if (!far || c->kind == PEER)
                need(c->needs, s, submitted[s]);
        }
        submitted[c->stream] += commands;
        peers = c->kind == PEER && c->stream == 0 ? submitted[0] : peers;
        switch (c->kind) {
        case COPY: need(c->host_needs, c->stream, submitted[c->stream]); break;
        case RECORD:
            event_stream[c->event] = c->stream;
            event_count[c->event] = submitted[c->stream];
            break;
        case WAIT:
            if (commands)
                need(c->needs, event_stream[c->event], event_count[c->event]);
            break;
        case STREAM_SYNC: need(c->host_needs, c->stream, submitted[c->stream]); break;
        case EVENT_SYNC:
            if (event_stream[c->event] >= 0)
                need(c->host_needs, event_stream[c->event], event_count[c->event]);
            break;
        case DEVICE_SYNC:
            for (int s = 0; s < STREAMS; s++)
                need(c->host_needs, s, submitted[s]);
            break;
        case USE: used[c->buffer][c->stream] = 1; break;
        case FREE:
            free_count[i] = submitted[c->stream];
            c->again = back[c->buffer];
            back[c->buffer] = true;
            for (int s = 0; s < STREAMS; s++) {
                c->held[s] = used[c->buffer][s] ? submitted[s] : 0;
                used[c->buffer][s] = 0;
            }
            for (int byte = place_of(c->buffer); byte < place_of(c->buffer) + BUFFER_BYTES; byte++)
                freed[byte] = i;
            break;
        case ALLOC:
            back[c->buffer] = false;
            for (int byte = place_of(c->buffer); byte < place_of(c->buffer) + BUFFER_BYTES; byte++) {
                if (freed[byte] < 0)
                    continue;
                need(c->needs, p->calls[freed[byte]].stream, free_count[freed[byte]]);
                for (int s = 0; s < STREAMS; s++)
                    need(c->host_needs, s, p->calls[freed[byte]].held[s]);
                freed[byte] = -1;
            }
            break;
        default: break;
        }
    }
}

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

/* The index of the thread's call number `number`; -1: there is none. */
static inline int call_of(const struct program *p, int thread, int number)
{
    for (int i = 0; i < p->call_count; i++)
        if (p->calls[i].thread == thread && number-- == 0)
            return i;
    return -1;
}

static inline bool has_made(const struct program *p, const struct state *state, int call)
{
    int number = 0;

    for (int i = 0; i < call; i++)
        number += p->calls[i].thread == p->calls[call].thread;
    return number < state->made[p->calls[call].thread];
}

/* The call whose command is at the stream's head; -1: it has not been made. */
static inline int head_of(const struct program *p, const struct state *state, int stream)
{
    for (int i = 0; i < p->call_count; i++)
        if (p->calls[i].position == state->complete[stream] && p->calls[i].stream == stream)
            return has_made(p, state, i) ? i : -1;
    return -1;
}

static inline bool op_ended(const struct program *p, const struct state *state, int op)
{
    for (int i = 0; i < p->call_count; i++) {
        const struct call *c = &p->calls[i];

        for (int n = 0; n < c->node_count; n++)
            if (c->nodes[n].op == op)
                return state->complete[c->stream] > c->position ||
                       (state->complete[c->stream] == c->position && state->node[c->stream][n] == 2);
    }
    return false;
}

static inline void start_node(struct program *p, struct states *states, struct state state, int stream, int node,
                              int op)
{
    for (int earlier = 0; earlier < op; earlier++)
        p->late[op][earlier] |= !op_ended(p, &state, earlier);
    for (int later = op + 1; later < p->op_count; later++) /* of one graph, typed behind it */
        p->late[op][later] |= !op_ended(p, &state, later);
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
        if (from->node[stream][n] == 1) {
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

static inline void step_thread(struct program *p, struct states *states, const struct state *from, int thread)
{
    struct state state = *from;
    int call;

    if (from->returned[thread] < from->made[thread]) {
        call = call_of(p, thread, from->returned[thread]);
        if (p->calls[call].kind != ALLOC && !met(from, p->calls[call].host_needs))
            return;
        state.returned[thread]++;
    } else {
        call = call_of(p, thread, from->made[thread]);
        /* An allocator does not wait: it gives out memory that it may. */
        if (call < 0 || (p->calls[call].kind == ALLOC && !met(from, p->calls[call].host_needs)))
            return;
        state.made[thread]++;
    }
    add_state(states, &state);
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

    if (c->kind != FREE || c->again || state->complete[c->stream] <= c->position || !met(state, c->held))
        return;
    for (int i = call - 1; i >= 0 && !(p->calls[i].kind == ALLOC && p->calls[i].buffer == c->buffer); i--)
        for (int n = 0; n < p->calls[i].node_count; n++)
            if (touches(&p->calls[i].nodes[n], c->buffer) && !op_ended(p, state, p->calls[i].nodes[n].op) &&
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
    memset(p->in_use, 0xff, sizeof p->in_use);
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
    }
    count = states.count;
    free(states.list);
    free(states.slots);
    return count;
}

/* One race: by the later operation and its buffer. */
struct told {
    int first, second, buffer;
};

/* The rule of counting, a byte at a time. */
static inline int races_of(const struct program *p, struct told *told)
{
    int written[BYTES], count = 0;
    bool read[BYTES][OPS] = { { false } };

    memset(written, 0xff, sizeof written);
    for (int i = 0; i < p->call_count; i++) {
        for (int n = 0; n < p->calls[i].node_count; n++) {
            const struct node *node = &p->calls[i].nodes[n];
            bool mine[BYTES] = { false };
            int last[BUFFERS];

            memset(last, 0xff, sizeof last);
            for (int pass = 0; pass < 2; pass++) {
                for (int t = 0; t < node->touch_count; t++) {
                    const struct touch *touch = &node->touches[t];

                    for (int byte = place_of(touch->buffer) + touch->offset, left = touch->bytes; left > 0;
                         byte++, left--) {
                        int *worst = &last[touch->buffer], reads = 0;

                        if (touch->writes != (pass == 0) || mine[byte])
                            continue;
                        for (int op = 0; touch->writes && op < OPS; op++) {
                            reads += read[byte][op];
                            if (read[byte][op] && p->late[node->op][op] && op > *worst)
                                *worst = op;
                        }
                        if (reads == 0 && written[byte] >= 0 && p->late[node->op][written[byte]] &&
                            written[byte] > *worst)
                            *worst = written[byte];
                        if (touch->writes) {
                            written[byte] = node->op;
                            mine[byte] = true;
                            memset(read[byte], 0, sizeof read[byte]);
                        } else {
                            read[byte][node->op] = true;
                        }
                    }
                }
            }
            for (int b = 0; b < BUFFERS; b++)
                if (last[b] >= 0)
                    told[count++] = (struct told){ last[b], node->op, b };
        }
    }
    return count;
}

#endif
