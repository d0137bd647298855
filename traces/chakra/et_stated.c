/* et_stated.c - a graph of nodes as a program that has to do them in an order that the graph allows.
 *
 * One thread does the host's nodes and submits all others; none of its calls takes time but those that are nodes.  A node of
 * the GPU comes behind those of its stream that it depends on by the stream's order, behind others by an event, and behind the
 * host's since they were done before; a node of the host that depends on one of the GPU waits for an event of it. */
#include <stdlib.h>
#include <string.h>

#include "traces/chakra/et_build.h"

struct stating {
    struct gt_et_build *b;
    gt_thread_index thread;
    gt_op_index *op;       /* by node; GT_NONE: the host's, or none yet */
    gt_event_index *event; /* by node, recorded behind it; GT_NONE */
    bool *wanted;          /* by node: does another stream, or the host, wait for it? */
    gt_op_index *seen;     /* by stream: one past the last operation that the thread has seen end */
};

static gt_call_index add_call(struct stating *s, enum gt_call_kind kind)
{
    gt_call_index call = gt_workload_add_call(s->b->w);

    s->b->w->calls[call].kind = (uint8_t)kind;
    s->b->w->calls[call].thread = s->thread;
    s->b->w->calls[call].duration_ps = 0;
    s->b->w->calls[call].first_op = s->b->w->op_count;
    return call;
}

static void add_event_call(struct stating *s, enum gt_call_kind kind, gt_stream_index stream, gt_event_index event)
{
    gt_call_index call = add_call(s, kind);

    s->b->w->calls[call].stream = stream;
    s->b->w->calls[call].event = event;
}

static const uint32_t *deps_of(const struct gt_et_file *file, uint32_t node)
{
    return &file->deps[file->nodes[node].first_dep];
}

/* Gaps are what the simulator adds by itself. */
static bool is_left_out(const struct gt_et_node *node)
{
    return node->part == GT_ET_GAP;
}

/* Which nodes need an event behind them. */
static void find_wanted(struct stating *s)
{
    const struct gt_et_file *file = s->b->file;

    for (uint32_t i = 0; i < file->count; i++)
        if (!gt_et_on_host(&file->nodes[i]) && !is_left_out(&file->nodes[i]))
            gt_et_stream(s->b, &file->nodes[i]);
    s->seen = gt_calloc(s->b->w->stream_count + 1ull, sizeof *s->seen);
    for (uint32_t i = 0; i < file->count; i++) {
        bool host = gt_et_on_host(&file->nodes[i]);

        for (uint32_t j = 0; j < file->nodes[i].deps && !is_left_out(&file->nodes[i]); j++) {
            uint32_t dep = deps_of(file, i)[j];

            if (gt_et_on_host(&file->nodes[dep]) || is_left_out(&file->nodes[dep]))
                continue;
            s->wanted[dep] |= host || gt_et_stream(s->b, &file->nodes[dep]) != gt_et_stream(s->b, &file->nodes[i]);
        }
    }
}

static void do_host(struct stating *s, uint32_t index)
{
    const struct gt_et_node *node = &s->b->file->nodes[index];
    gt_time_ps duration_ps = s->b->times->duration_ps[index];

    for (uint32_t i = 0; i < node->deps; i++) {
        uint32_t dep = deps_of(s->b->file, index)[i];
        gt_stream_index stream;

        if (s->event[dep] == GT_NONE)
            continue;
        stream = s->b->w->ops[s->op[dep]].stream;
        if (s->op[dep] < s->seen[stream])
            continue;
        s->seen[stream] = s->op[dep] + 1;
        add_event_call(s, GT_CALL_EVENT_SYNC, GT_NONE, s->event[dep]);
    }
    if (duration_ps > 0) {
        gt_call_index call = add_call(s, GT_CALL_HOST_WORK);

        s->b->w->calls[call].duration_ps = duration_ps;
        s->b->w->calls[call].name = node->name;
    }
}

static void submit(struct stating *s, uint32_t index)
{
    const struct gt_et_node *node = &s->b->file->nodes[index];
    gt_stream_index stream = gt_et_stream(s->b, node);
    gt_call_index call;

    for (uint32_t i = 0; i < node->deps; i++) {
        uint32_t dep = deps_of(s->b->file, index)[i];

        if (s->event[dep] != GT_NONE && s->b->w->ops[s->op[dep]].stream != stream &&
            s->op[dep] >= s->seen[s->b->w->ops[s->op[dep]].stream])
            add_event_call(s, GT_CALL_EVENT_WAIT, stream, s->event[dep]);
    }
    call = add_call(s, gt_et_call_kind(s->b->w, node));
    s->b->w->calls[call].stream = stream;
    s->b->w->calls[call].ops = 1;
    s->op[index] = gt_et_add_op(s->b, index, call);
    if (!s->wanted[index])
        return;
    s->event[index] = gt_workload_add_event(s->b->w);
    s->b->w->events[s->event[index]].id = s->event[index];
    add_event_call(s, GT_CALL_EVENT_RECORD, stream, s->event[index]);
}

static uint32_t *none(uint32_t count)
{
    uint32_t *list = gt_realloc(NULL, count, sizeof *list);

    memset(list, 0xff, count * sizeof *list); /* GT_NONE */
    return list;
}

void gt_et_build_stated(struct gt_et_build *build, const uint32_t *order)
{
    const struct gt_et_file *file = build->file;
    struct stating s = {
        .b = build,
        .thread = gt_workload_add_thread(build->w),
        .op = none(file->count),
        .event = none(file->count),
        .wanted = gt_calloc(file->count, sizeof *s.wanted),
    };

    build->w->threads[s.thread].process = build->process;
    build->w->threads[s.thread].id = 1;
    find_wanted(&s);
    for (uint32_t i = 0; i < file->count; i++) {
        const struct gt_et_node *node = &file->nodes[order[i]];

        if (gt_et_on_host(node))
            do_host(&s, order[i]);
        else if (!is_left_out(node))
            submit(&s, order[i]);
    }
    free(s.op);
    free(s.event);
    free(s.wanted);
    free(s.seen);
}
