#include "validate/random/shrink.h"

#include "sim/workload/child_launches.h"
#include "sim/workload/task_graph.h"
#include "sim/workload/workload.h"
#include "validate/random/reduce.h"

/* A workload with smaller numbers in it. */

/* One way to make one number of a workload smaller, or one field plainer. */
struct gt_simplification {
    const char *what;
    /* Of so many things: kernels, streams, operations, calls. */
    uint32_t (*count)(const struct gt_workload *workload);
    /* Do it to number `index`; false where there is nothing left to do. */
    bool (*apply)(struct gt_workload *workload, uint32_t index);
};
extern const struct gt_simplification gt_simplifications[];
extern const size_t gt_simplification_count;

enum { LEAST_PS = 1000000 }; /* a microsecond: what is shorter is all launch */

static uint32_t kernels(const struct gt_workload *workload)
{
    return workload->kernel_count;
}

static uint32_t streams(const struct gt_workload *workload)
{
    return workload->stream_count;
}

static uint32_t ops(const struct gt_workload *workload)
{
    return workload->op_count;
}

static uint32_t calls(const struct gt_workload *workload)
{
    return workload->call_count;
}

static uint32_t graphs(const struct gt_workload *workload)
{
    return workload->task_graph_count;
}

/* Tasks in the lists of workers that went are in those of others. */
static void fold_workers(struct gt_workload *workload, const struct gt_kernel *kernel)
{
    uint32_t workers = (uint32_t)gt_kernel_blocks(kernel);

    for (uint32_t i = 0; i < workload->task_graph_count; i++) {
        struct gt_task_graph *graph = workload->task_graphs[i];

        for (uint32_t j = 0; graph == kernel->tasks && j < graph->task_count; j++)
            if (graph->tasks[j].worker != GT_NONE)
                graph->tasks[j].worker %= workers;
    }
}

static bool halve_grid(struct gt_workload *workload, uint32_t index)
{
    uint32_t *grid = workload->kernels[index].grid;
    int side = grid[0] > 1 ? 0 : grid[1] > 1 ? 1 : 2;

    if (grid[side] == 1)
        return false;
    grid[side] /= 2;
    fold_workers(workload, &workload->kernels[index]);
    return true;
}

static bool halve_block(struct gt_workload *workload, uint32_t index)
{
    uint32_t *block = workload->kernels[index].block;

    if (block[0] < 2)
        return false;
    block[0] /= 2;
    return true;
}

static bool drop_registers(struct gt_workload *workload, uint32_t index)
{
    uint32_t *registers = &workload->kernels[index].registers_per_thread;
    bool some = *registers > 0;

    *registers = 0;
    return some;
}

static bool halve_shared(struct gt_workload *workload, uint32_t index)
{
    uint32_t *bytes = &workload->kernels[index].dynamic_shared_bytes;

    if (*bytes == 0)
        return false;
    *bytes /= 2;
    return true;
}

/* All blocks alike: the first time of a list, the shortest of a range. */
static bool equal_blocks(struct gt_workload *workload, uint32_t index)
{
    struct gt_kernel *kernel = &workload->kernels[index];

    if (kernel->cost == GT_COST_LIST)
        kernel->block_min_ps = kernel->block_list_ps[0];
    else if (kernel->cost != GT_COST_RANGE)
        return false;
    kernel->cost = GT_COST_FIXED;
    kernel->block_max_ps = kernel->block_min_ps;
    return true;
}

static bool halve_time(gt_time_ps *time_ps)
{
    if (*time_ps == GT_TIME_NONE || *time_ps < 2 * LEAST_PS)
        return false;
    *time_ps /= 2;
    return true;
}

/* Of the tasks of a graph that say their time. */
static bool halve_task_times(struct gt_workload *workload, uint32_t index)
{
    struct gt_task_graph *graph = workload->task_graphs[index];
    bool done = false;

    for (uint32_t i = 0; i < graph->kind_count; i++) {
        struct gt_task_kind *kind = &graph->kinds[i];

        for (uint32_t j = 0; kind->cost == GT_TASK_COST_LIST && j < kind->list_length; j++)
            done |= halve_time(&kind->list_ps[j]);
        if (kind->cost != GT_TASK_COST_NONE && kind->cost != GT_TASK_COST_LIST && halve_time(&kind->min_ps)) {
            kind->max_ps /= 2;
            done = true;
        }
    }
    for (uint32_t i = 0; i < graph->task_count; i++)
        done |= halve_time(&graph->tasks[i].time_ps);
    return done;
}

static bool halve_block_times(struct gt_workload *workload, uint32_t index)
{
    struct gt_kernel *kernel = &workload->kernels[index];
    bool done = false;

    if (kernel->cost == GT_COST_LIST) {
        for (uint32_t i = 0; i < kernel->block_list_length; i++)
            done |= halve_time(&kernel->block_list_ps[i]);
    } else if (kernel->cost != GT_COST_NONE && halve_time(&kernel->block_min_ps)) {
        done = true;
        kernel->block_max_ps /= 2;
    }
    return done;
}

static bool halve_launch_counts(struct gt_workload *workload, uint32_t index)
{
    struct gt_kernel *kernel = &workload->kernels[index];
    bool done = false;

    for (uint32_t i = 0; i < kernel->launch_count; i++) {
        done |= kernel->launches[i].count > 1;
        kernel->launches[i].count = (kernel->launches[i].count + 1) / 2;
    }
    return done;
}

static bool halve_barriers(struct gt_workload *workload, uint32_t index)
{
    uint32_t *barriers = &workload->kernels[index].grid_barriers;

    if (*barriers == 0)
        return false;
    *barriers /= 2; /* of a list of phases the first ones */
    return true;
}

static bool drop_cooperative(struct gt_workload *workload, uint32_t index)
{
    bool some = workload->kernels[index].cooperative;

    workload->kernels[index].cooperative = false;
    return some;
}

/* The next kernel may come at its end, and all of its own time needs the kernel before. */
static bool drop_early(struct gt_workload *workload, uint32_t index)
{
    struct gt_kernel *kernel = &workload->kernels[index];
    bool some = kernel->early_pct > 0 || kernel->prologue_ps > 0;

    kernel->early_pct = 0;
    kernel->prologue_ps = 0;
    return some;
}

/* All tasks of a kind alike, as blocks are. */
static bool equal_tasks(struct gt_workload *workload, uint32_t index)
{
    struct gt_task_graph *graph = workload->task_graphs[index];
    bool done = false;

    for (uint32_t i = 0; i < graph->kind_count; i++) {
        struct gt_task_kind *kind = &graph->kinds[i];

        if (kind->cost == GT_TASK_COST_NONE || kind->cost == GT_TASK_COST_FIXED)
            continue;
        if (kind->cost == GT_TASK_COST_LIST)
            kind->min_ps = kind->list_ps[0];
        kind->cost = GT_TASK_COST_FIXED;
        kind->max_ps = kind->min_ps;
        done = true;
    }
    return done;
}

static bool drop_priority(struct gt_workload *workload, uint32_t index)
{
    bool some = workload->streams[index].priority != 0;

    workload->streams[index].priority = 0;
    return some;
}

static bool drop_non_blocking(struct gt_workload *workload, uint32_t index)
{
    bool some = workload->streams[index].flags & GT_STREAM_NON_BLOCKING;

    workload->streams[index].flags &= ~(uint32_t)GT_STREAM_NON_BLOCKING;
    return some;
}

static bool halve_bytes(struct gt_workload *workload, uint32_t index)
{
    uint64_t *bytes = &workload->ops[index].bytes;

    if (*bytes < 2)
        return false;
    *bytes /= 2;
    return true;
}

static bool halve_op_time(struct gt_workload *workload, uint32_t index)
{
    return halve_time(&workload->ops[index].duration_ps);
}

static bool drop_programmatic(struct gt_workload *workload, uint32_t index)
{
    bool some = workload->ops[index].programmatic;

    workload->ops[index].programmatic = false;
    return some;
}

static bool halve_call_time(struct gt_workload *workload, uint32_t index)
{
    return halve_time(&workload->calls[index].duration_ps);
}

static bool halve_piece(struct gt_workload *workload, uint32_t index)
{
    return workload->calls[index].kind == GT_CALL_POLL && halve_time(&workload->calls[index].piece_ps);
}

const struct gt_simplification gt_simplifications[] = {
    { "grid", kernels, halve_grid },
    { "blocks alike", kernels, equal_blocks },
    { "block times", kernels, halve_block_times },
    { "registers", kernels, drop_registers },
    { "shared memory", kernels, halve_shared },
    { "block", kernels, halve_block },
    { "launches by blocks", kernels, halve_launch_counts },
    { "barriers", kernels, halve_barriers },
    { "cooperative", kernels, drop_cooperative },
    { "early", kernels, drop_early },
    { "tasks alike", graphs, equal_tasks },
    { "task times", graphs, halve_task_times },
    { "priority", streams, drop_priority },
    { "blocking streams", streams, drop_non_blocking },
    { "bytes", ops, halve_bytes },
    { "operation times", ops, halve_op_time },
    { "programmatic", ops, drop_programmatic },
    { "host work", calls, halve_call_time },
    { "pieces", calls, halve_piece },
};
const size_t gt_simplification_count = sizeof gt_simplifications / sizeof gt_simplifications[0];

struct work {
    const struct gt_shrinking *shrinking;
    struct gt_workload *smallest;
};

static bool stopped(const struct work *work)
{
    return work->shrinking->stop(work->shrinking->user);
}

/* Keep the candidate where it shows, else free it. */
static bool take(struct work *work, struct gt_workload *candidate)
{
    if (candidate->op_count == 0 || !work->shrinking->shows(work->shrinking->user, candidate)) {
        gt_workload_free(candidate);
        return false;
    }
    gt_workload_free(work->smallest);
    work->smallest = candidate;
    return true;
}

/* The last task of a graph stays whatever is asked for: then there is nothing to ask. */
static bool take_less(struct work *work, enum gt_reducible what, struct gt_workload *candidate)
{
    if (gt_reduce_count(candidate, what) < gt_reduce_count(work->smallest, what))
        return take(work, candidate);
    gt_workload_free(candidate);
    return false;
}

/* Leave out half of the parts, a quarter, and so on to single ones, wherever that shows.  True where any went. */
static bool leave_out(struct work *work, enum gt_reducible what)
{
    bool smaller = false;

    for (uint32_t chunk = gt_reduce_count(work->smallest, what); chunk > 0; chunk /= 2) {
        for (uint32_t first = 0; first < gt_reduce_count(work->smallest, what);) {
            if (stopped(work))
                return false;
            if (take_less(work, what, gt_reduce(work->smallest, what, first, chunk)))
                smaller = true;
            else
                first += chunk;
        }
    }
    return smaller;
}

/* Nothing left out: a copy. */
static struct gt_workload *copy_of(const struct gt_workload *workload)
{
    return gt_reduce(workload, GT_REDUCE_CALLS, 0, 0);
}

/* What blocks launch follows from numbers that may be others now. */
static struct gt_workload *anew(struct gt_workload *workload)
{
    struct gt_workload *copy;

    if (workload->child_launch_count == 0)
        return workload;
    copy = copy_of(workload);
    gt_workload_free(workload);
    return copy;
}

/* Its program is that of one grid, and of blocks of one shape. */
static bool is_profiled(const struct gt_workload *workload, uint32_t kernel)
{
    return kernel < workload->kernel_count && workload->kernels[kernel].program != NULL;
}

static bool simplify(struct work *work, const struct gt_simplification *way)
{
    bool smaller = false;

    for (uint32_t i = 0; i < way->count(work->smallest);) {
        struct gt_workload *candidate;

        if (stopped(work))
            return false;
        candidate = copy_of(work->smallest);
        if (way->count == kernels && is_profiled(candidate, i)) {
            gt_workload_free(candidate);
        } else if (i < way->count(candidate) && way->apply(candidate, i)) {
            candidate = anew(candidate);
            if (take(work, candidate)) {
                smaller = true;
                continue; /* once more of the same */
            }
        } else {
            gt_workload_free(candidate);
        }
        i++;
    }
    return smaller;
}

struct gt_workload *gt_shrink(const struct gt_workload *workload, const struct gt_shrinking *shrinking)
{
    struct work work = { shrinking, copy_of(workload) };
    bool smaller = true;

    while (smaller && !stopped(&work)) {
        smaller = false;
        for (int what = 0; what < GT_REDUCIBLES; what++)
            smaller |= leave_out(&work, (enum gt_reducible)what);
        for (size_t i = 0; i < gt_simplification_count; i++)
            smaller |= simplify(&work, &gt_simplifications[i]);
    }
    return work.smallest;
}
