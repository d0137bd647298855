/* The steps of an order without the host's, and of each only the operations that it comes directly behind. */
#include "sim/check/dependences.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/check/order.h"
#include "sim/check/order_parts.h"

/* Operations that have ended once a step has happened: list[from .. to - 1] of the finding's. */
struct ended {
    uint64_t from, to;
};

struct finding {
    const struct gt_order *order;
    uint64_t *first; /* by step: the steps with an edge to it are before[first[i] .. first[i + 1] - 1] */
    gt_step_index *before;
    gt_step_index *previous; /* by step: the one before it on its line; GT_NONE */
    bool *is_gpu;            /* by line: a stream's, or a chain of its graphs' nodes */
    struct ended *ended;     /* by step */
    gt_op_index *list;
    uint64_t count, room;
};

static void list_edges(struct finding *f)
{
    const struct gt_steps *steps = &f->order->steps;

    f->first = gt_calloc(steps->count + 1ull, sizeof *f->first);
    f->before = gt_calloc(steps->edge_count + 1, sizeof *f->before);
    for (uint64_t i = 0; i < steps->edge_count; i++)
        f->first[steps->edges[i].after]++;
    for (gt_step_index i = 0; i < steps->count; i++)
        f->first[i + 1] += f->first[i];
    for (uint64_t i = steps->edge_count; i-- > 0;)
        f->before[--f->first[steps->edges[i].after]] = steps->edges[i].before;
}

static void follow_lines(struct finding *f)
{
    const struct gt_steps *steps = &f->order->steps;
    gt_step_index *last = gt_realloc(NULL, steps->line_count + 1ull, sizeof *last);

    memset(last, 0xff, (steps->line_count + 1ull) * sizeof *last); /* GT_NONE */
    f->previous = gt_calloc(steps->count + 1ull, sizeof *f->previous);
    for (gt_step_index i = 0; i < steps->count; i++) {
        uint32_t line = steps->list[i].line;

        f->previous[i] = line != GT_NONE ? last[line] : GT_NONE;
        if (line != GT_NONE)
            last[line] = i;
    }
    free(last);
}

static void mark_lines(struct finding *f)
{
    const struct gt_order *order = f->order;

    f->is_gpu = gt_calloc(order->steps.line_count + 1ull, sizeof *f->is_gpu);
    for (uint32_t i = 0; i < order->w->stream_count; i++) {
        f->is_gpu[order->streams[i].line] = true;
        for (uint32_t j = 0; j < order->streams[i].chain_count; j++)
            f->is_gpu[order->streams[i].chains[j]] = true;
    }
}

static bool is_gpu_step(const struct finding *f, gt_step_index step)
{
    uint32_t line = f->order->steps.list[step].line;

    return line != GT_NONE && f->is_gpu[line];
}

static int by_stream(const void *left, const void *right, void *workload)
{
    const struct gt_workload *w = workload;
    gt_op_index one = *(const gt_op_index *)left, other = *(const gt_op_index *)right;

    GT_ORDER(w->ops[one].stream, w->ops[other].stream);
    GT_ORDER(one, other);
    return 0;
}

static bool is_node(const struct gt_workload *w, gt_op_index op)
{
    return w->calls[w->ops[op].call].kind == GT_CALL_GRAPH_LAUNCH;
}

/* Is the operation the other one, or one that comes before it in its stream? */
static bool is_covered(const struct gt_workload *w, gt_op_index op, gt_op_index other)
{
    return op == other || (w->ops[op].stream == w->ops[other].stream && !is_node(w, op) && !is_node(w, other));
}

static void append(struct finding *f, gt_op_index op)
{
    gt_array_grow(f->list, f->count, f->room);
    f->list[f->count++] = op;
}

/* Of list[from ..] those that no other one comes behind in its stream. */
static struct ended shorten(struct finding *f, uint64_t from)
{
    const struct gt_workload *w = f->order->w;
    uint64_t kept = from;

    qsort_r(f->list + from, f->count - from, sizeof *f->list, by_stream, (void *)w);
    for (uint64_t i = from; i < f->count; i++)
        if (i + 1 == f->count || !is_covered(w, f->list[i], f->list[i + 1]))
            f->list[kept++] = f->list[i];
    f->count = kept;
    return (struct ended){ from, kept };
}

/* What has ended once the steps before this one have happened (`own_line`: also the one before it on its line). */
static struct ended gather(struct finding *f, gt_step_index step, bool own_line)
{
    struct ended only = { 0, 0 };
    uint64_t from = f->count;
    uint32_t several = 0;

    for (uint64_t i = f->first[step]; i <= f->first[step + 1]; i++) {
        gt_step_index before = i < f->first[step + 1] ? f->before[i] : own_line ? f->previous[step] : GT_NONE;

        if (before == GT_NONE || before >= step || !is_gpu_step(f, before) ||
            f->ended[before].from == f->ended[before].to)
            continue;
        only = f->ended[before];
        several++;
        for (uint64_t j = only.from; j < only.to; j++)
            append(f, f->list[j]);
    }
    if (several > 1)
        return shorten(f, from);
    f->count = from;
    return only;
}

static void put(struct gt_dependence_list *to, const struct finding *f, struct ended ended)
{
    for (uint64_t i = ended.from; i < ended.to; i++) {
        gt_array_grow(to->list, to->count, to->room);
        to->list[to->count++] = f->list[i];
    }
}

/* Through the steps as they were added; where[op]: what the operation comes behind. */
static void go_through(struct finding *f, struct ended *where)
{
    const struct gt_steps *steps = &f->order->steps;

    for (gt_step_index i = 0; i < steps->count; i++) {
        const struct gt_step *step = &steps->list[i];

        if (!is_gpu_step(f, i))
            continue;
        f->ended[i] = gather(f, i, true);
        if (step->kind != GT_STEP_OP && step->kind != GT_STEP_PART)
            continue;
        where[step->what] = f->ended[i];
        append(f, step->what);
        f->ended[i] = (struct ended){ f->count - 1, f->count };
    }
}

/* What the steps of each call on its thread's line come behind. */
static void find_calls(struct finding *f, struct gt_dependences *d)
{
    const struct gt_order *order = f->order;

    for (gt_call_index call = 0; call < order->w->call_count; call++) {
        uint32_t line = order->threads[order->w->calls[call].thread].line;

        d->calls.first[call] = d->calls.count;
        for (gt_step_index i = order->of_call[call]; i < order->of_call[call + 1]; i++)
            if (order->steps.list[i].line == line)
                put(&d->calls, f, gather(f, i, false));
    }
    d->calls.first[order->w->call_count] = d->calls.count;
}

static void find_all(struct finding *f, struct gt_dependences *d)
{
    const struct gt_order *order = f->order;
    struct ended *where = gt_calloc(order->w->op_count + 1ull, sizeof *where);

    list_edges(f);
    follow_lines(f);
    mark_lines(f);
    f->ended = gt_calloc(order->steps.count + 1ull, sizeof *f->ended);
    go_through(f, where);
    d->ops.first = gt_calloc(order->w->op_count + 1ull, sizeof *d->ops.first);
    d->calls.first = gt_calloc(order->w->call_count + 1ull, sizeof *d->calls.first);
    for (gt_op_index i = 0; i < order->w->op_count; i++) {
        d->ops.first[i] = d->ops.count;
        put(&d->ops, f, where[i]);
    }
    d->ops.first[order->w->op_count] = d->ops.count;
    find_calls(f, d);
    free(where);
}

void gt_dependences_find(struct gt_dependences *dependences, const struct gt_workload *workload)
{
    gt_op_index *guesses = gt_order_guesses(workload);
    struct gt_order *order = gt_order_new(workload, guesses);
    struct finding f = { .order = order };

    *dependences = (struct gt_dependences){ .unknown_waits = gt_order_unknown_waits(order) };
    find_all(&f, dependences);
    free(f.first);
    free(f.before);
    free(f.previous);
    free(f.is_gpu);
    free(f.ended);
    free(f.list);
    gt_order_free(order);
    free(guesses);
}

void gt_dependences_free(struct gt_dependences *dependences)
{
    free(dependences->ops.first);
    free(dependences->ops.list);
    free(dependences->calls.first);
    free(dependences->calls.list);
    *dependences = (struct gt_dependences){ .unknown_waits = 0 };
}
