#include "sim/replay/equivalent.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "sim/base/sort.h"

/* A kernel ran alone where others ran for no more than this part of it; and so many kernels before and behind it are those
 * around it. */
static const double alone_part = 0.05;
enum { NEIGHBOURS = 2 };

/* One launch: what it is between which others, and what was seen of it. */
struct launch {
    gt_gpu_index gpu;                     /* a rank's data, or its GPU's clock, may differ from the others' */
    uint32_t kernels[2 * NEIGHBOURS + 1]; /* its own in the middle */
    gt_op_index op;
    double lasted_ps;
    bool alone;
};

static int by_work(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    GT_ORDER(a->gpu, b->gpu);
    for (int i = 0; i < 2 * NEIGHBOURS + 1; i++)
        GT_ORDER(a->kernels[i], b->kernels[i]);
    GT_ORDER(a->op, b->op);
    return 0;
}

static bool same_work(const struct launch *a, const struct launch *b)
{
    return a->gpu == b->gpu && memcmp(a->kernels, b->kernels, sizeof a->kernels) == 0;
}

/* Begins and ends of kernels, and for how long, up to each, two and more of one GPU ran at once. */
struct edge {
    gt_time_ps time_ps;
    gt_gpu_index gpu;
    bool end;
    gt_op_index op;
};

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    GT_ORDER(a->gpu, b->gpu);
    GT_ORDER(a->time_ps, b->time_ps);
    GT_ORDER(b->end, a->end);
    GT_ORDER(a->op, b->op);
    return 0;
}

static bool is_kernel(const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL && gt_op_measured_end(op) != GT_TIME_NONE && op->duration_ps > 0;
}

/* By operation: for how long another kernel ran at the same time. */
static gt_time_ps *shared_times(const struct gt_workload *w)
{
    struct edge *edges = gt_calloc(2ull * w->op_count + 1, sizeof *edges);
    gt_time_ps *shared_ps = gt_calloc(w->op_count + 1ull, sizeof *shared_ps), sum_ps = 0;
    size_t count = 0;
    uint32_t running = 0;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        gt_gpu_index gpu = w->streams[w->ops[i].stream].gpu;

        if (!is_kernel(&w->ops[i]))
            continue;
        edges[count++] = (struct edge){ w->ops[i].start_ps, gpu, false, i };
        edges[count++] = (struct edge){ gt_op_measured_end(&w->ops[i]), gpu, true, i };
    }
    qsort(edges, count, sizeof *edges, by_time);
    for (size_t i = 0; i < count; i++) {
        sum_ps += i > 0 && running > 1 ? edges[i].time_ps - edges[i - 1].time_ps : 0;
        running += edges[i].end ? -1u : 1u;
        shared_ps[edges[i].op] = edges[i].end ? sum_ps - shared_ps[edges[i].op] : sum_ps;
    }
    free(edges);
    return shared_ps;
}

/* Operations by stream, in each as they were asked for. */
static int by_stream(const void *left, const void *right, void *user)
{
    const struct gt_op *ops = user;
    gt_op_index a = *(const gt_op_index *)left, b = *(const gt_op_index *)right;

    GT_ORDER(ops[a].stream, ops[b].stream);
    GT_ORDER(a, b);
    return 0;
}

/* A stream's launches are taken to go round and round, as those of steps do. */
static void take_neighbours(struct launch *launch, const struct gt_workload *w, const gt_op_index *ops,
                            uint32_t count, uint32_t at)
{
    for (uint32_t i = 0; i < 2 * NEIGHBOURS + 1; i++)
        launch->kernels[i] = w->ops[ops[(at + i + NEIGHBOURS * (count - 1)) % count]].kernel;
}

static struct launch *collect(const struct gt_workload *w, uint32_t *launches)
{
    gt_op_index *order = gt_calloc(w->op_count + 1ull, sizeof *order);
    struct launch *all = gt_calloc(w->op_count + 1ull, sizeof *all);
    gt_time_ps *shared_ps = shared_times(w);
    uint32_t count = 0;

    for (gt_op_index i = 0; i < w->op_count; i++)
        if (is_kernel(&w->ops[i]))
            order[count++] = i;
    qsort_r(order, count, sizeof *order, by_stream, w->ops);
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && w->ops[order[next]].stream == w->ops[order[first]].stream;)
            next++;
        for (uint32_t i = first; i < next; i++) {
            const struct gt_op *op = &w->ops[order[i]];

            all[i] = (struct launch){
                .op = order[i],
                .gpu = w->streams[op->stream].gpu,
                .lasted_ps = (double)op->duration_ps,
                .alone = (double)shared_ps[order[i]] <= alone_part * (double)op->duration_ps,
            };
            take_neighbours(&all[i], w, order + first, next - first, i - first);
        }
    }
    free(order);
    free(shared_ps);
    qsort(all, count, sizeof *all, by_work);
    *launches = count;
    return all;
}

/* Of launches of the same work those that had others beside them, and how long it lasts alone. */
static void add_work(struct gt_equivalent_kernels *equivalent, const struct launch *launches, uint32_t count,
                     double *values)
{
    struct gt_work work = { .count = 0 };
    uint32_t alone = 0;

    if (equivalent->work_count > 0)
        work.first =
            equivalent->works[equivalent->work_count - 1].first + equivalent->works[equivalent->work_count - 1].count;
    for (uint32_t i = 0; i < count; i++) {
        if (launches[i].alone)
            values[alone++] = launches[i].lasted_ps;
        else
            equivalent->launches[work.first + work.count++] = launches[i].op;
    }
    if (work.count == 0)
        return;
    work.told = alone > 0;
    for (uint32_t i = 0; i < count && !work.told; i++)
        values[alone++] = launches[i].lasted_ps;
    qsort(values, alone, sizeof *values, gt_by_double);
    work.most_ps = (gt_time_ps)(work.told ? gt_percentile(values, alone, 50) : values[0]);
    equivalent->works[equivalent->work_count++] = work;
}

void gt_equivalent_kernels_find(struct gt_equivalent_kernels *equivalent, const struct gt_workload *w)
{
    uint32_t count;
    struct launch *launches = collect(w, &count);
    double *values = gt_calloc(count + 1ull, sizeof *values);

    *equivalent = (struct gt_equivalent_kernels){
        .works = gt_calloc(count + 1ull, sizeof *equivalent->works),
        .launches = gt_calloc(count + 1ull, sizeof *equivalent->launches),
    };
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && same_work(&launches[first], &launches[next]);)
            next++;
        add_work(equivalent, launches + first, next - first, values);
    }
    free(launches);
    free(values);
}

void gt_equivalent_kernels_free(struct gt_equivalent_kernels *equivalent)
{
    free(equivalent->works);
    free(equivalent->launches);
    memset(equivalent, 0, sizeof *equivalent);
}

static int by_launch_stream(const void *left, const void *right, void *user)
{
    const struct gt_op *ops = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    GT_ORDER(ops[a].stream, ops[b].stream);
    GT_ORDER(a, b);
    return 0;
}

/* The launches are sorted so that those of the same nodes stand together. */
struct ordered {
    const struct gt_workload *w;
    const uint32_t *order;
    const bool *queued;
};

static int by_nodes(const void *left, const void *right, void *user)
{
    const struct ordered *ordered = user;
    gt_call_index a = *(const gt_call_index *)left, b = *(const gt_call_index *)right;
    const struct gt_call *one = &ordered->w->calls[a], *other = &ordered->w->calls[b];

    GT_ORDER(one->ops, other->ops);
    GT_ORDER(ordered->queued[a], ordered->queued[b]);
    for (uint32_t i = 0; i < one->ops; i++) {
        const struct gt_op *x = &ordered->w->ops[ordered->order[one->first_op + i]];
        const struct gt_op *y = &ordered->w->ops[ordered->order[other->first_op + i]];

        GT_ORDER(x->stream, y->stream);
        GT_ORDER(x->kind, y->kind);
        GT_ORDER(x->kernel, y->kernel);
        GT_ORDER(x->bytes, y->bytes);
    }
    return 0;
}

static int compare(const void *left, const void *right, void *user)
{
    int nodes = by_nodes(left, right, user);

    if (nodes != 0)
        return nodes;
    GT_ORDER(*(const gt_call_index *)left, *(const gt_call_index *)right);
    return 0;
}

void gt_equivalent_launches_visit(const struct gt_workload *w, const bool *queued, gt_call_index *calls,
                                  uint32_t count, gt_equivalent_visitor *visit, void *user)
{
    uint32_t *order = gt_calloc(w->op_count, sizeof *order);
    struct ordered ordered = { w, order, queued };

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_call *call = &w->calls[calls[i]];

        for (uint32_t op = call->first_op; op < call->first_op + call->ops; op++)
            order[op] = op;
        qsort_r(order + call->first_op, call->ops, sizeof *order, by_launch_stream, w->ops);
    }
    qsort_r(calls, count, sizeof *calls, compare, &ordered);
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && by_nodes(&calls[first], &calls[next], &ordered) == 0;)
            next++;
        visit(user,
              &(struct gt_equivalent_launches){ .calls = calls + first, .count = next - first, .order = order });
    }
    free(order);
}

static int by_context(const void *left, const void *right, void *user)
{
    const struct gt_stream *streams = user;
    const struct gt_stream *a = &streams[*(const uint32_t *)left], *b = &streams[*(const uint32_t *)right];

    GT_ORDER(a->gpu, b->gpu);
    GT_ORDER(a->context, b->context);
    return 0;
}

uint32_t *gt_number_contexts(const struct gt_workload *w)
{
    uint32_t *order = gt_calloc(w->stream_count + 1ull, sizeof *order), count = 0;
    uint32_t *number = gt_calloc(w->stream_count + 1ull, sizeof *number);

    for (uint32_t i = 0; i < w->stream_count; i++)
        order[i] = i;
    if (w->stream_count > 0)
        qsort_r(order, w->stream_count, sizeof *order, by_context, w->streams);
    for (uint32_t i = 0; i < w->stream_count; i++) {
        count += i > 0 && by_context(&order[i - 1], &order[i], w->streams) != 0;
        number[order[i]] = count;
    }
    free(order);
    return number;
}
