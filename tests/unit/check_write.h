/* check_write.h - a small program as a trace, and what `gridtide check` tells of it held against its interleavings. */
#ifndef GRIDTIDE_TESTS_UNIT_CHECK_WRITE_H
#define GRIDTIDE_TESTS_UNIT_CHECK_WRITE_H

#include "sim/check/check.h"
#include "tests/unit/check_oracle.h"
#include "validate/random/draw.h"

enum { FIRST_ADDRESS = 4096 };

static inline void write_touches(FILE *out, const struct node *node, bool writes)
{
    const char *comma = "";

    fprintf(out, ",\"%s\":[", writes ? "writes" : "reads");
    for (int i = 0; i < node->touch_count; i++) {
        const struct touch *t = &node->touches[i];

        if (t->writes != writes)
            continue;
        fprintf(out, "%s[\"b%d\",%d,%d]", comma, t->buffer, t->offset, t->bytes);
        comma = ",";
    }
    fputs("]", out);
}

static inline void write_node(FILE *out, const struct node *node)
{
    write_touches(out, node, false);
    write_touches(out, node, true);
}

static inline void write_graph(FILE *out, const struct call *c)
{
    if (c->executable > 0)
        fprintf(out, ",\"executable\":%d", c->executable);
    fputs(",\"nodes\":[", out);
    for (int n = 0; n < c->node_count; n++) {
        const char *comma = "";

        fprintf(out, "%s{\"kernel\":\"k\",\"after\":[", n > 0 ? "," : "");
        for (int before = 0; before < n; before++) {
            if (!(c->nodes[n].after >> before & 1))
                continue;
            fprintf(out, "%s%d", comma, before);
            comma = ",";
        }
        fputs("]", out);
        write_node(out, &c->nodes[n]);
        fputs("}", out);
    }
    fputs("]", out);
}

static inline void write_peer(FILE *out, const struct program *p, const struct call *c)
{
    fprintf(out, ",\"direction\":\"p2p\",\"bytes\":%d,\"peer_gpu\":%d",
            c->addressed ? c->nodes[0].touches[0].bytes : 8, p->stream_gpu[c->stream] == 0);
    if (c->synchronous)
        fputs(",\"synchronous\":true", out);
    if (c->from_peer)
        fputs(",\"from_peer\":true", out);
    for (int i = 0; i < c->nodes[0].touch_count && c->addressed; i++)
        fprintf(out, ",\"%s\":%d", c->nodes[0].touches[i].writes ? "destination" : "source",
                FIRST_ADDRESS + buffer_address[c->nodes[0].touches[i].buffer] + c->nodes[0].touches[i].offset);
}

/* What kinds of calls say besides their stream. */
static inline void write_rest(FILE *out, const struct program *p, const struct call *c)
{
    if (c->kind == RECORD || c->kind == WAIT || c->kind == EVENT_SYNC)
        fprintf(out, ",\"event\":\"e%d\"", c->event);
    if (c->kind == ALLOC || c->kind == FREE || c->kind == USE)
        fprintf(out, ",\"buffer\":\"b%d\"", c->buffer);
    if (c->kind == ALLOC)
        fprintf(out, ",\"bytes\":%d", BUFFER_BYTES);
    if (c->kind == LAUNCH)
        fputs(",\"kernel\":\"k\"", out);
    if (c->kind == PART)
        fprintf(out, ",\"kernel\":\"c%d%s\"", p->instances[c->instance],
                p->instances[c->instance] != MESSAGE ? ""
                : p->stream_gpu[c->stream] == 0      ? "to"
                                                     : "from");
    if (c->kind == COPY) /* waited for: in the legacy default stream too, from pinned memory */
        fputs(",\"direction\":\"h2d\",\"memory\":\"pinned\",\"bytes\":8,\"synchronous\":true", out);
    if (c->kind == PEER)
        write_peer(out, p, c);
    if (c->kind <= PART && !c->addressed)
        write_node(out, &c->nodes[0]);
    if (c->kind == GRAPH)
        write_graph(out, c);
}

static inline void write_call(FILE *out, const struct program *p, const struct call *c)
{
    static const char *const names[KINDS] = { "launch",       "copy",         "copy",       "launch",
                                              "graph_launch", "event_record", "event_wait", "stream_sync",
                                              "event_sync",   "device_sync",  "alloc",      "free",
                                              "record_stream" };

    fprintf(out, "{\"call\":\"%s\",\"thread\":\"t%d\"", names[c->kind], c->thread);
    if (c->kind == DEVICE_SYNC ? c->plain : c->kind != EVENT_SYNC && !c->plain)
        fprintf(out, ",\"stream\":\"s%d\"", c->stream);
    if (p->recorded)
        fprintf(out, ",\"start_us\":%d,\"duration_us\":%d", c->start, c->end - c->start);
    write_rest(out, p, c);
    fputs("}\n", out);
}

static inline void write_collectives(FILE *out)
{
    static const char *const kernels[] = {
        "c0\",\"collective\":\"all_reduce", "c1\",\"collective\":\"broadcast\",\"root\":0,\"datatype\":\"float32",
        "c2\",\"collective\":\"reduce\",\"root\":1,\"datatype\":\"float32",
        "c3to\",\"collective\":\"send_recv\",\"to\":1,\"datatype\":\"float32",
        "c3from\",\"collective\":\"send_recv\",\"from\":0,\"datatype\":\"float32"
    };

    fputs("{\"group\":\"g\",\"gpus\":[0,1]}\n", out);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        fprintf(out, "{\"kernel\":\"%s\",\"group\":\"g\",\"bytes\":8}\n", kernels[i]);
}

static inline void write_streams(FILE *out, const struct program *p)
{
    for (int t = 0; t < p->thread_count; t++)
        fprintf(out, "{\"thread\":\"t%d\",\"process\":%d}\n", t, p->thread_process[t]);
    for (int s = 0; s < STREAMS; s++)
        fprintf(out, "{\"stream\":\"s%d\",\"gpu\":%d,\"flags\":[%s]}\n", s, p->stream_gpu[s],
                p->legacy[s]     ? "\"legacy_default\""
                : p->blocking[s] ? ""
                                 : "\"non_blocking\"");
}

static inline char *write_program(const struct program *p)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fputs("{\"gridtide\":1,\"device\":\"h200\"}\n{\"kernel\":\"k\",\"block_us\":3}\n", out);
    for (int gpu = 0; gpu < p->gpu_count; gpu++)
        fprintf(out, "{\"gpu\":%d}\n", gpu);
    if (p->gpu_count > 1)
        write_collectives(out);
    write_streams(out, p);
    for (int b = 0; b < BUFFERS; b++) {
        fprintf(out, "{\"buffer\":\"b%d\",\"bytes\":%d,\"gpu\":%d", b, BUFFER_BYTES, p->buffer_gpu[b]);
        if (buffer_address[b] >= 0)
            fprintf(out, ",\"address\":%d", FIRST_ADDRESS + buffer_address[b]);
        fputs("}\n", out);
    }
    for (int i = 0; i < p->call_count; i++)
        write_call(out, p, &p->calls[i]);
    fclose(out);
    return text;
}

/* A program that was drawn, and what the check says of it. */
struct trial {
    struct program p;
    char *text;
    struct gt_workload *w;
    struct gt_check check;
};

static inline const struct gt_race *find_race(const struct gt_check *check, const struct told *told)
{
    for (uint32_t i = 0; i < check->certain.count; i++)
        if (check->certain.races[i].second == (gt_op_index)told->second &&
            check->certain.races[i].buffer == (told->buffer == BUFFERS ? GT_NONE : (uint32_t)told->buffer))
            return &check->certain.races[i];
    return NULL;
}

/* cmocka cuts long messages. */
static inline void print_trial(const struct trial *t, const struct told *told, int count)
{
    fputs(t->text, stderr);
    for (uint32_t i = 0; i < t->check.certain.count; i++)
        fprintf(stderr, "told: %u %u b%d\n", t->check.certain.races[i].first, t->check.certain.races[i].second,
                (int)t->check.certain.races[i].buffer);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "true: %d %d b%d\n", told[i].first, told[i].second, told[i].buffer);
}

/* How many races of the interleavings are not told, and how many told there are not. */
static inline void compare_races(const struct trial *t, uint32_t *missed, uint32_t *invented)
{
    struct told told[OPS * (BUFFERS + 1)];
    int count = races_of(&t->p, told);
    uint32_t found = 0;

    for (int i = 0; i < count; i++) {
        const struct gt_race *race = find_race(&t->check, &told[i]);

        found += race != NULL && race->first == (gt_op_index)told[i].first;
    }
    *missed = (uint32_t)count - found;
    *invented = t->check.certain.count - found;
    if (*missed + *invented > 0)
        print_trial(t, told, count);
}

/* No races told means that every two operations that touch the same bytes, one of them writing, have an order. */
static inline bool silence_is_true(const struct trial *t)
{
    struct node nodes[OPS];

    for (int i = 0; i < t->p.call_count; i++)
        for (int n = 0; n < t->p.calls[i].node_count; n++)
            nodes[t->p.calls[i].nodes[n].op] = t->p.calls[i].nodes[n];
    for (int b = 0; b < t->p.op_count && t->check.certain.count == 0; b++)
        for (int a = 0; a < b; a++)
            for (int i = 0; i < nodes[b].touch_count * nodes[a].touch_count; i++) {
                const struct touch *one = &nodes[a].touches[i / nodes[b].touch_count];
                const struct touch *other = &nodes[b].touches[i % nodes[b].touch_count];
                int from = buffer_place[one->buffer] + one->offset, to = buffer_place[other->buffer] + other->offset;

                if ((one->writes || other->writes) && from < to + other->bytes && to < from + one->bytes &&
                    t->p.late[b][a] && t->p.late[a][b])
                    return false;
            }
    return true;
}

/* Checks the program, which has been gone through. */
static inline void begin_trial(struct trial *t)
{
    struct gt_error error = { "" };

    t->text = write_program(&t->p);
    t->w = gt_draw_read(t->text, &error);
    if (t->w == NULL)
        fail_msg("%s\n%s", error.text, t->text);
    gt_check_run(&t->check, t->w);
}

static inline void end_trial(struct trial *t)
{
    gt_check_free(&t->check);
    gt_workload_free(t->w);
    free(t->text);
}

#endif
