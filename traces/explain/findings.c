/* What stands out in a timeline: one function a kind of finding. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/devices/occupancy.h"
#include "traces/explain/explain.h"
#include "traces/explain/findings_parts.h"
#include "traces/explain/part.h"
#include "traces/explain/ranks.h"
#include "traces/explain/task_bound.h"
#include "traces/names/clean_text.h"

struct gt_finding *gt_finding_add(struct gt_finding_list *f, const char *kind, gt_time_ps about_ps, const char *help,
                                  const char *change)
{
    gt_array_grow(f->rows, f->count, f->room);
    f->rows[f->count] =
        (struct gt_finding){ .kind = kind, .about_ps = about_ps, .help = help, .change = change, .time_kind = -1 };
    return &f->rows[f->count++];
}

static gt_time_ps ran_ps(const struct gt_loaded_op *op)
{
    return op->end_ps - op->start_ps;
}

/* Operations of urgent streams that waited for less urgent ones. */
static void find_priorities(struct gt_finding_list *f)
{
    const struct gt_loaded_run *t = f->t;
    gt_time_ps waited_ps = 0, most_ps = 0;
    gt_op_index worst = GT_NONE;
    uint64_t times = 0;
    char first[160], second[160];

    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];
        enum gt_wait wait = gt_last_wait(op);

        if (!gt_part_has_op(t, t->by_start[i]) || op->cause_op == GT_NONE || wait < GT_WAIT_QUEUE ||
            op->wait_ps[wait] == 0 ||
            t->streams[op->stream].priority >= t->streams[t->ops[op->cause_op].stream].priority)
            continue;
        times++;
        waited_ps += op->wait_ps[wait];
        if (op->wait_ps[wait] > most_ps) {
            most_ps = op->wait_ps[wait];
            worst = t->by_start[i];
        }
    }
    if (worst == GT_NONE)
        return;
    gt_loaded_op_place(t, worst, first, sizeof first);
    gt_loaded_op_place(t, t->ops[worst].cause_op, second, sizeof second);
    snprintf(gt_finding_add(f, "priority", waited_ps,
                            "a priority decides which waiting block starts next and does not preempt running "
                            "blocks: "
                            "smaller or shorter blocks in the lower-priority kernel let the other start sooner",
                            NULL)
                 ->text,
             sizeof f->rows->text,
             "%" PRIu64
             " operations of high-priority streams waited %s for lower-priority ones; longest: %.60s for %.60s",
             times, gt_time_said((double)waited_ps).s, first, second);
}

static void find_connections(struct gt_finding_list *f)
{
    const struct gt_loaded_run *t = f->t;
    gt_time_ps waited_ps = 0;
    uint64_t times = 0;

    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];

        if (!gt_part_has_op(t, t->by_start[i]))
            continue;
        times += op->wait_ps[GT_WAIT_QUEUE] > 0;
        waited_ps += op->wait_ps[GT_WAIT_QUEUE];
    }
    if (times == 0)
        return;
    snprintf(gt_finding_add(f, "connections", waited_ps, gt_why_helps[GT_WHY_CONNECTION], "connections=32")->text,
             sizeof f->rows->text,
             "%" PRIu64 " operations waited %s for operations of other streams that share one of the %" PRIu32
             " connections to the GPU",
             times, gt_time_said((double)waited_ps).s, t->device.connections);
}

/* SMs that no cluster of a kernel can be on. */
static uint32_t stranded_sms(const struct gt_device *device, const struct gt_occupancy *occupancy)
{
    uint32_t stranded = 0;

    for (uint32_t i = 0; i < device->gpcs; i++)
        stranded += device->gpc_sms[i] % occupancy->cluster_blocks;
    return occupancy->blocks_per_sm == 1 ? stranded : 0;
}

static void find_clusters(struct gt_finding_list *f)
{
    const struct gt_loaded_run *t = f->t;
    gt_time_ps *in_ps = gt_calloc(t->kernel_count + 1ull, sizeof *in_ps);

    for (uint32_t i = 0; i < t->started; i++)
        if (t->ops[t->by_start[i]].kind == GT_OP_KERNEL && gt_part_has_op(t, t->by_start[i]))
            in_ps[t->ops[t->by_start[i]].kernel] += ran_ps(&t->ops[t->by_start[i]]);
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const struct gt_kernel *shape = &t->kernels[i].shape;
        struct gt_occupancy occupancy;
        uint32_t stranded;

        if (in_ps[i] == 0 || gt_kernel_cluster_blocks(shape) < 2 ||
            gt_occupancy_of(&t->device, shape, &occupancy, NULL) != 0)
            continue;
        stranded = stranded_sms(&t->device, &occupancy);
        if (stranded == 0 || gt_kernel_blocks(shape) + stranded <= t->device.sms)
            continue;
        snprintf(
            gt_finding_add(f, "clusters", in_ps[i],
                           "a cluster occupies one GPC: a cluster size that divides the number of SMs of every GPC "
                           "leaves no SM idle",
                           NULL)
                ->text,
            sizeof f->rows->text,
            "%.100s: clusters of %" PRIu64 " blocks, one block per SM, leave %" PRIu32 " of %" PRIu32
            " SMs without a block",
            t->kernels[i].name, gt_kernel_cluster_blocks(shape), stranded, t->device.sms);
    }
    free(in_ps);
}

/* One launch of a graph: how long it took, and what its operations sum up to. */
struct graph_run {
    gt_time_ps from_ps, to_ps, sum_ps, last_root_ps;
    uint32_t ops, roots;
};

static void find_graphs(struct gt_finding_list *f)
{
    const struct gt_loaded_run *t = f->t;
    struct graph_run *runs = gt_calloc(t->call_count + 1ull, sizeof *runs);
    gt_time_ps longer_ps = 0, late_ps = 0;
    uint32_t slower = 0, branched = 0, most_roots = 0;

    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];
        struct graph_run *run = &runs[op->call];

        if (t->calls[op->call].kind != GT_CALL_GRAPH_LAUNCH || !gt_part_has_call(t, op->call))
            continue;
        if (run->ops++ == 0)
            run->from_ps = op->start_ps;
        run->to_ps = op->end_ps > run->to_ps ? op->end_ps : run->to_ps;
        run->sum_ps += ran_ps(op) + (run->ops > 1 ? t->device.graph_gap_ps : 0);
        if (op->cause_call == op->call) {
            run->roots++;
            run->last_root_ps = op->start_ps;
        }
    }
    for (uint32_t i = 0; i < t->call_count; i++) {
        if (runs[i].roots < 2)
            continue;
        branched++;
        most_roots = runs[i].roots > most_roots ? runs[i].roots : most_roots;
        late_ps += runs[i].last_root_ps - runs[i].from_ps;
        if (runs[i].to_ps - runs[i].from_ps <= runs[i].sum_ps)
            continue;
        slower++;
        longer_ps += runs[i].to_ps - runs[i].from_ps - runs[i].sum_ps;
    }
    if (slower > 0)
        snprintf(gt_finding_add(f, "graph-branches", longer_ps,
                                "short nodes gain nothing from branches: capture the graph from one stream", NULL)
                     ->text,
                 sizeof f->rows->text,
                 "%" PRIu32 " of %" PRIu32 " launches of graphs with up to %" PRIu32
                 " branches took longer than serial execution of their operations, by %s in total; the branches of a "
                 "graph are submitted one after the other, the last %s after the first",
                 slower, branched, most_roots, gt_time_said((double)longer_ps).s,
                 gt_time_said((double)late_ps / branched).s);
    free(runs);
}

static void find_copies(struct gt_finding_list *f)
{
    static const char *const changes[GT_COPY_WHYS] = {
        [GT_COPY_PAGEABLE] = "pinned",
        [GT_COPY_SYNCHRONOUS] = "async",
        [GT_COPY_ONE_STREAM] = "prefetch",
        [GT_COPY_SAME_STREAM] = "prefetch",
    };
    size_t count;
    struct gt_bare_copies *copies = gt_bare_copies(f->t, f->breakdown, &count);

    for (size_t i = 0; i < count; i++) {
        struct gt_finding *finding =
            gt_finding_add(f, "copies", copies[i].bare_ps, gt_copy_why_helps[copies[i].why], changes[copies[i].why]);

        finding->time_kind = GT_TIME_COPIES;
        snprintf(finding->text, sizeof finding->text,
                 "%" PRIu64 " %s %s of %s memory ran %s while no kernel did (%s)", copies[i].times,
                 copies[i].times == 1 ? "copy" : "copies", gt_direction_names[copies[i].direction],
                 copies[i].memory < GT_MEMORIES ? gt_memory_names[copies[i].memory] : "unknown",
                 gt_time_said((double)copies[i].bare_ps).s, gt_copy_why_names[copies[i].why]);
    }
    free(copies);
}

/* Calls that only ask for work, and waited because so much had been asked for before. */
static void find_full_queues(struct gt_finding_list *f)
{
    size_t count;
    struct gt_blocked_calls *calls = gt_blocked_calls(f->t, &count);

    for (size_t i = 0; i < count; i++)
        if (calls[i].why == GT_BLOCK_QUEUE)
            snprintf(gt_finding_add(
                         f, "queue-full", calls[i].blocked_ps,
                         "the launch queue is full: the host is far ahead of the GPU, which costs nothing unless "
                         "the host has other work",
                         NULL)
                         ->text,
                     sizeof f->rows->text,
                     "%" PRIu64 " calls of %.100s blocked the host for %s although they do not synchronise: "
                     "%" PRIu32 " launches of their stream had not started",
                     calls[i].times, f->t->names[calls[i].name], gt_time_said((double)calls[i].blocked_ps).s,
                     f->t->device.launch_queue_depth);
    free(calls);
}

/* Gaps before operations that the GPU itself held back; findings_time.c has those of the host. */
static void find_gaps(struct gt_finding_list *f)
{
    gt_time_ps by_why[GT_WHYS] = { 0 };
    uint64_t times[GT_WHYS] = { 0 };
    size_t count;
    struct gt_gap *gaps = gt_gaps(f->t, 1, &count);

    for (size_t i = 0; i < count; i++) {
        by_why[gaps[i].hold.why] += gaps[i].to_ps - gaps[i].from_ps;
        times[gaps[i].hold.why]++;
    }
    free(gaps);
    for (int why = GT_WHY_STREAM; why < GT_WHYS; why++)
        if (times[why] > 0)
            snprintf(gt_finding_add(f, "idle", by_why[why], gt_why_helps[why], gt_why_changes[why])->text,
                     sizeof f->rows->text, "%s idle for %s in %" PRIu64 " gap%s, cause: %s",
                     f->t->gpu_count > 1 ? "the GPUs together were" : "the GPU was",
                     gt_time_said((double)by_why[why]).s, times[why], times[why] > 1 ? "s" : "", gt_why_names[why]);
}

/* Kernels that could have run beside others, by what kept them from it. */
static void find_pairs(struct gt_finding_list *f)
{
    gt_time_ps by_why[GT_WHYS] = { 0 }, no_room_ps = 0;
    const char *lacking = NULL;
    size_t count;
    struct gt_pair *pairs = gt_pairs(f->t, &count);

    for (size_t i = 0; i < count; i++) {
        if (pairs[i].free_sms > 0 || pairs[i].lacking == NULL)
            by_why[pairs[i].why] += pairs[i].lost_ps;
        else if (pairs[i].why == GT_WHY_SM_ROOM)
            no_room_ps += pairs[i].lost_ps;
        lacking = lacking == NULL && pairs[i].why == GT_WHY_SM_ROOM ? pairs[i].lacking : lacking;
    }
    for (int why = 0; why < GT_WHYS; why++)
        if (by_why[why] > 0)
            snprintf(gt_finding_add(f, "no-overlap", by_why[why], gt_why_helps[why], gt_why_changes[why])->text,
                     sizeof f->rows->text, "kernels waited %s although enough SMs were free, cause: %s",
                     gt_time_said((double)by_why[why]).s, gt_why_names[why]);
    if (no_room_ps > 0)
        snprintf(gt_finding_add(f, "full", no_room_ps, gt_why_helps[GT_WHY_SM_ROOM], NULL)->text,
                 sizeof f->rows->text,
                 "kernels waited %s for kernels of other streams: the SMs had not enough free %s",
                 gt_time_said((double)no_room_ps).s, lacking != NULL ? lacking : "resources");
    free(pairs);
}

/* Launches whose blocks do tasks: all of one kernel together. */
static void find_tasks(struct gt_finding_list *f, const struct gt_stats_task_kernel *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gt_kernel_index kernel = gt_task_bound_kernel(f->t, &tasks[i]);
        struct gt_task_bound bound;
        struct gt_finding *finding;
        size_t before = 0;

        while (before < i && gt_task_bound_kernel(f->t, &tasks[before]) != kernel)
            before++;
        if (before < i || kernel == GT_NONE)
            continue;
        gt_task_bound_find(f->t, tasks, count, kernel, &bound);
        finding = gt_finding_add(f, "tasks", bound.about_ps, bound.help, bound.change);
        finding->time_kind = GT_TIME_COMPUTATION;
        snprintf(finding->text, sizeof finding->text, "%s", bound.text);
    }
}

/* What its latest coming cost: of several who waited, what each did in the mean. */
static void say_longest(const struct gt_rank_waits *late, char *text, size_t bytes)
{
    struct gt_time_text each = gt_time_said((double)late->worst_ps / late->worst_others);

    if (late->worst_others == 1)
        snprintf(text, bytes, "%s", each.s);
    else
        snprintf(text, bytes, "%u GPUs for %s each", late->worst_others, each.s);
}

/* The rank that keeps the others waiting most. */
static void find_straggler(struct gt_finding_list *f)
{
    size_t count;
    struct gt_rank_waits *ranks = gt_rank_waits(f->t, &count);
    const struct gt_rank_waits *late = NULL;
    struct gt_finding *finding;
    char place[160], busy[160], longest[64], ran[120] = "nothing";

    for (size_t i = 0; i < count; i++)
        late = ranks[i].last > 0 && (late == NULL || ranks[i].kept_ps > late->kept_ps) ? &ranks[i] : late;
    if (late != NULL) {
        gt_loaded_op_place(f->t, late->worst, place, sizeof place);
        if (late->busy != GT_NONE) {
            gt_loaded_op_place(f->t, late->busy, busy, sizeof busy);
            snprintf(ran, sizeof ran, "%.80s for %s", busy, gt_time_said((double)late->busy_ps).s);
        }
        say_longest(late, longest, sizeof longest);
        finding = gt_finding_add(f, "straggler", late->kept_ps, gt_why_helps[late->hold.why],
                                 gt_why_changes[late->hold.why]);
        finding->time_kind = GT_TIME_COMMUNICATION;
        snprintf(finding->text, sizeof finding->text,
                 "GPU %u was last in %" PRIu64 " of %" PRIu64 " collectives; the others waited %s; longest wait: %s "
                 "for %.60s, cause: %s%s%.90s; meanwhile this GPU ran %s",
                 late->gpu, late->last, late->collectives, gt_time_said((double)late->kept_ps).s, longest, place,
                 gt_why_names[late->hold.why], late->hold.holder[0] != '\0' ? ": " : "", late->hold.holder, ran);
    }
    free(ranks);
}

static int by_time(const void *a, const void *b)
{
    const struct gt_finding *left = a, *right = b;

    return (left->about_ps < right->about_ps) - (left->about_ps > right->about_ps);
}

struct gt_finding *gt_findings(const struct gt_loaded_run *t, const struct gt_breakdown *breakdown,
                               const struct gt_stats_task_kernel *tasks, size_t task_count, size_t *count)
{
    struct gt_finding_list f = { .t = t, .breakdown = breakdown };

    gt_findings_of_time(&f);
    gt_findings_of_roofline(&f);
    find_gaps(&f);
    find_copies(&f);
    find_pairs(&f);
    find_full_queues(&f);
    find_priorities(&f);
    find_connections(&f);
    find_clusters(&f);
    find_graphs(&f);
    find_tasks(&f, tasks, task_count);
    find_straggler(&f);
    if (f.count > 0)
        qsort(f.rows, f.count, sizeof *f.rows, by_time);
    *count = f.count;
    return f.rows;
}
