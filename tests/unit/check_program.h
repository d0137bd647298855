/* check_program.h - small programs in calls, and what each call needs by CUDA's rules: what `gridtide check` is held against.
 *
 * Which commands a command needs to be complete, and which a call, is written down call by call, as counts of what streams
 * were asked for before.  Nothing here follows an order further than one step: check_oracle.h goes through what may happen.
 */
#ifndef GRIDTIDE_TESTS_UNIT_CHECK_PROGRAM_H
#define GRIDTIDE_TESTS_UNIT_CHECK_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

enum {
    CALLS = 12,
    STREAMS = 6,
    EVENTS = 3,
    BUFFERS = 7,
    NODES = 3,
    OPS = 24,
    THREADS = 3,
    BYTES = 60,
    TOUCHES = 2,
    GPUS = 2,
    PROCESSES = 2,
    EXECUTABLES = 2,
    MEETINGS = 6
};

enum call_kind {
    LAUNCH,
    COPY,
    PEER,
    PART, /* a rank's part of a collective */
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

enum meeting_kind { ALL_REDUCE, BROADCAST_0, REDUCE_1, MESSAGE, MEETING_KINDS };

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
    int executable;              /* GRAPH: 0 none, else which of its process */
    int instance;                /* PART: which */
    bool addressed;              /* PEER: says by addresses what it touches */
    bool from_peer, synchronous; /* PEER */
    bool plain;                  /* ALLOC, FREE: without a stream; DEVICE_SYNC: of a GPU */
    int start, end;              /* recorded, where the program is */
    struct node nodes[NODES];
    int node_count;
    /* What the rules make of it. */
    int position;            /* its command is the stream's so many-th; -1: it has none */
    int needs[STREAMS];      /* commands that have to be complete before its own starts */
    int host_needs[STREAMS]; /* and before the call returns */
    int held[STREAMS];       /* FREE: commands of streams that the buffer was recorded to be used in */
    bool behind[CALLS];      /* calls that have to have returned before it is made */
    bool again;              /* FREE: it was given back already */
    int number;              /* its thread's so many-th */
};

struct program {
    struct call calls[CALLS];
    int call_count, op_count, thread_count;
    int thread_process[THREADS];
    int stream_process[STREAMS], stream_gpu[STREAMS];
    bool legacy[STREAMS], blocking[STREAMS]; /* `legacy`: one of a process and GPU */
    int buffer_process[BUFFERS], buffer_gpu[BUFFERS];
    enum meeting_kind instances[MEETINGS];
    int gpu_count, process_count;
    bool recorded; /* calls have times */
    bool ranks;    /* of many collectives */
    /* Where to find things: calls by thread and number, by stream and command; -1. */
    int call_of[THREADS][CALLS + 1], head_of[STREAMS][CALLS + 1], op_call[OPS], op_node[OPS];
    int in_use[CALLS];    /* FREE: the last operation that may go on when the memory is given back; -1 */
    bool late[OPS][OPS];  /* [b][a]: b may start while a has not ended, */
    bool early[OPS][OPS]; /* has not started */
    bool ends;            /* it can run to its end */
};

/* Where buffers lie: 0 and 1 overlap, 3 and 4 are the same memory at different times, 5 and 6 have the addresses of 0 and 1
 * elsewhere; -1: nobody knows. */
static const int buffer_address[BUFFERS] = { 0, 4, -1, 16, 18, 0, 4 };
static const int buffer_place[BUFFERS] = { 0, 4, 26, 16, 18, 40, 44 };
enum { BUFFER_BYTES = 8 };

static inline void need(int *needs, int stream, int count)
{
    needs[stream] = count > needs[stream] ? count : needs[stream];
}

/* How far things have come when a call is made. */
struct rules {
    struct program *p;
    int submitted[STREAMS];
    int event_stream[EVENTS], event_count[EVENTS];
    int peers[STREAMS]; /* of a legacy default stream: commands up to its last copy to another GPU */
    int last_launch[PROCESSES][EXECUTABLES + 1]; /* calls; -1 */
    int freed[BYTES], free_count[CALLS];
    bool used[BUFFERS][STREAMS], back[BUFFERS];
};

static inline bool same_context(const struct program *p, int one, int other)
{
    return p->stream_process[one] == p->stream_process[other] && p->stream_gpu[one] == p->stream_gpu[other];
}

/* The legacy default stream waits for blocking streams of its context, and they for it; its copies between GPUs with those of
 * the other one, too. */
static inline void default_streams_need(struct rules *r, struct call *c)
{
    const struct program *p = r->p;

    for (int s = 0; s < STREAMS; s++) {
        bool near = same_context(p, s, c->stream), process = p->stream_process[s] == p->stream_process[c->stream];

        if (s == c->stream || !process || !(p->blocking[s] || p->legacy[s]) ||
            !(p->blocking[c->stream] || p->legacy[c->stream]))
            continue;
        if (p->legacy[c->stream] && (near || c->kind == PEER))
            need(c->needs, s, r->submitted[s]);
        if (p->legacy[s])
            need(c->needs, s, near ? r->submitted[s] : r->peers[s]);
    }
}

/* What a process asked its streams for, of a GPU or of all (-1). */
static inline void need_streams(struct rules *r, struct call *c, int gpu)
{
    for (int s = 0; s < STREAMS; s++)
        if (r->p->stream_process[s] == r->p->thread_process[c->thread] && (gpu < 0 || r->p->stream_gpu[s] == gpu))
            need(c->host_needs, s, r->submitted[s]);
}

static inline bool works_on(const struct program *p, int process, int gpu)
{
    for (int i = 0; i < p->call_count; i++) {
        const struct call *c = &p->calls[i];
        bool speaks = c->kind <= STREAM_SYNC || c->kind == USE || (c->kind == DEVICE_SYNC && c->plain) ||
                      ((c->kind == ALLOC || c->kind == FREE) && !c->plain);

        if (speaks && p->stream_process[c->stream] == process && p->stream_gpu[c->stream] == gpu)
            return true;
    }
    return false;
}

static inline void free_needs(struct rules *r, struct call *c, int index)
{
    int process = r->p->thread_process[c->thread], gpu = r->p->buffer_gpu[c->buffer];

    if (c->plain)
        need_streams(r, c, works_on(r->p, process, gpu) ? gpu : -1);
    r->free_count[index] = r->submitted[c->stream];
    c->again = r->back[c->buffer];
    r->back[c->buffer] = true;
    for (int s = 0; s < STREAMS; s++) {
        c->held[s] = r->used[c->buffer][s] ? r->submitted[s] : 0;
        r->used[c->buffer][s] = false;
    }
    for (int byte = buffer_place[c->buffer]; byte < buffer_place[c->buffer] + BUFFER_BYTES; byte++)
        r->freed[byte] = index;
}

static inline void alloc_needs(struct rules *r, struct call *c)
{
    r->back[c->buffer] = false;
    for (int byte = buffer_place[c->buffer]; byte < buffer_place[c->buffer] + BUFFER_BYTES; byte++) {
        const struct call *freed = r->freed[byte] < 0 ? NULL : &r->p->calls[r->freed[byte]];

        if (freed == NULL)
            continue;
        if (freed->plain)
            c->behind[r->freed[byte]] = true;
        else
            need(c->plain ? c->host_needs : c->needs, freed->stream, r->free_count[r->freed[byte]]);
        for (int s = 0; s < STREAMS; s++)
            need(c->host_needs, s, freed->held[s]);
        r->freed[byte] = -1;
    }
}

/* Of a legacy default stream blocking streams of its context, too. */
static inline void sync_needs(struct rules *r, struct call *c)
{
    for (int s = 0; s < STREAMS; s++)
        if (s == c->stream || (r->p->legacy[c->stream] && same_context(r->p, s, c->stream) && r->p->blocking[s]))
            need(c->host_needs, s, r->submitted[s]);
}

static inline void host_needs(struct rules *r, struct call *c, int index)
{
    switch (c->kind) {
    case PEER: /* what stays on GPUs is waited for by the stream's wait that follows elsewhere, and by itself never */
        if (c->synchronous && !r->p->legacy[c->stream])
            need(c->host_needs, c->stream, r->submitted[c->stream]);
        break;
    case COPY: need(c->host_needs, c->stream, r->submitted[c->stream]); break;
    case STREAM_SYNC: sync_needs(r, c); break;
    case RECORD:
        r->event_stream[c->event] = c->stream;
        r->event_count[c->event] = r->submitted[c->stream];
        break;
    case EVENT_SYNC:
        if (r->event_stream[c->event] >= 0)
            need(c->host_needs, r->event_stream[c->event], r->event_count[c->event]);
        break;
    case DEVICE_SYNC: need_streams(r, c, c->plain ? r->p->stream_gpu[c->stream] : -1); break;
    case USE: r->used[c->buffer][c->stream] = true; break;
    case FREE: free_needs(r, c, index); break;
    case ALLOC: alloc_needs(r, c); break;
    default: break;
    }
}

static inline bool has_command(const struct rules *r, const struct call *c)
{
    if (c->kind == WAIT)
        return r->event_stream[c->event] >= 0;
    return c->kind < WAIT || ((c->kind == ALLOC || c->kind == FREE) && !c->plain);
}

static inline void command_needs(struct rules *r, struct call *c, int index)
{
    int *launched = &r->last_launch[r->p->thread_process[c->thread]][c->executable];

    default_streams_need(r, c);
    if (c->kind == WAIT)
        need(c->needs, r->event_stream[c->event], r->event_count[c->event]);
    if (c->kind == GRAPH && c->executable > 0) { /* launches of one executable graph come one after the other */
        if (*launched >= 0)
            need(c->needs, r->p->calls[*launched].stream, r->p->calls[*launched].position + 1);
        *launched = index;
    }
    c->position = r->submitted[c->stream]++;
    r->p->head_of[c->stream][c->position] = index;
    if (c->kind == PEER && r->p->legacy[c->stream])
        r->peers[c->stream] = r->submitted[c->stream];
}

static inline void number_calls(struct program *p)
{
    int calls[THREADS] = { 0 };

    memset(p->call_of, 0xff, sizeof p->call_of);
    memset(p->head_of, 0xff, sizeof p->head_of);
    p->op_count = 0;
    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];

        c->number = calls[c->thread]++;
        p->call_of[c->thread][c->number] = i;
        for (int n = 0; n < c->node_count; n++) {
            p->op_call[p->op_count] = i;
            p->op_node[p->op_count] = n;
            c->nodes[n].op = p->op_count++;
        }
    }
}

/* By CUDA's rules. */
static inline void write_down_needs(struct program *p)
{
    struct rules r = { .p = p };

    number_calls(p);
    memset(r.event_stream, 0xff, sizeof r.event_stream);
    memset(r.freed, 0xff, sizeof r.freed);
    memset(r.last_launch, 0xff, sizeof r.last_launch);
    for (int i = 0; i < p->call_count; i++) {
        struct call *c = &p->calls[i];

        memset(c->needs, 0, sizeof c->needs);
        memset(c->host_needs, 0, sizeof c->host_needs);
        memset(c->behind, 0, sizeof c->behind);
        c->position = -1;
        if (has_command(&r, c))
            command_needs(&r, c, i);
        host_needs(&r, c, i);
        for (int j = 0; j < i && p->recorded; j++)
            c->behind[j] |=
                p->thread_process[p->calls[j].thread] == p->thread_process[c->thread] && p->calls[j].end <= c->start;
    }
}

#endif
