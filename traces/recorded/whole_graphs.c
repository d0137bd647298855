/* whole_graphs.c - launches of graphs that were recorded as a whole (gridtide record --graphs whole).
 *
 * Timing each node slows a graph down, so the recorder has CUPTI do it for an executable graph's first launches only.  A later
 * launch gets the operations of the last one before it that has them.  They keep their durations; the idle times between
 * them, in which the cost of recording is, are stretched or shrunk until the launch is as long as it was recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

/* A launch that was recorded node by node: its operations, by their starts. */
struct sample {
    uint32_t executable, correlation;
    uint32_t first, count;
    uint64_t busy_ns; /* any of them ran */
    uint64_t start_ns, end_ns;
};

struct samples {
    const struct gt_record_op **ops;
    struct sample *items;
    uint32_t count;
};

static int compare_ops(const void *left, const void *right)
{
    const struct gt_record_op *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->graph, b->graph);
    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->end_ns, b->end_ns);
    GT_ORDER(a->node, b->node);
    return 0;
}

static int compare_wholes(const void *left, const void *right)
{
    const struct gt_record_whole_graph *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

static void add_to_sample(struct sample *sample, const struct gt_record_op *op)
{
    uint64_t end_ns = op->end_ns < op->start_ns ? op->start_ns : op->end_ns;

    if (sample->count++ == 0)
        sample->start_ns = sample->end_ns = op->start_ns;
    if (end_ns <= sample->end_ns)
        return;
    sample->busy_ns += end_ns - (op->start_ns > sample->end_ns ? op->start_ns : sample->end_ns);
    sample->end_ns = end_ns;
}

static void collect(const struct gt_recorded_process *process, struct samples *samples)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_OP];
    uint32_t count = 0;

    samples->ops = gt_calloc(list->count + 1ull, sizeof(const void *));
    samples->items = gt_calloc(list->count + 1ull, sizeof *samples->items);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gt_record_op *op = list->items[i];

        if (op->node != 0 && op->graph != 0 && op->correlation != 0)
            samples->ops[count++] = op;
    }
    if (count > 1)
        qsort(samples->ops, count, sizeof(const void *), compare_ops);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_record_op *op = samples->ops[i];
        struct sample *last = samples->count == 0 ? NULL : &samples->items[samples->count - 1];

        if (last == NULL || last->executable != op->graph || last->correlation != op->correlation) {
            last = &samples->items[samples->count++];
            *last = (struct sample){ .executable = op->graph, .correlation = op->correlation, .first = i };
        }
        add_to_sample(last, op);
    }
}

/* The last sample of that graph before the launch, else the first after it; NULL: there is none. */
static const struct sample *sample_for(const struct samples *samples, const struct gt_record_whole_graph *whole)
{
    const struct sample *found = NULL;
    uint32_t low = 0, high = samples->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct sample *at = &samples->items[middle];

        if (at->executable < whole->executable ||
            (at->executable == whole->executable && at->correlation <= whole->correlation))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && samples->items[low - 1].executable == whole->executable)
        found = &samples->items[low - 1];
    else if (low < samples->count && samples->items[low].executable == whole->executable)
        found = &samples->items[low];
    return found;
}

/* From a sample's times to the launch's: by how much times that something ran in, and those that nothing did, change. */
struct scale {
    double busy, idle;
};

static struct scale scale_to(const struct sample *sample, const struct gt_record_whole_graph *whole)
{
    double wanted_ns = (double)(whole->end_ns - whole->start_ns), busy_ns = (double)sample->busy_ns,
           idle_ns = (double)(sample->end_ns - sample->start_ns) - busy_ns;

    if (wanted_ns >= busy_ns && idle_ns > 0)
        return (struct scale){ 1, (wanted_ns - busy_ns) / idle_ns };
    return (struct scale){ busy_ns > 0 ? wanted_ns / busy_ns : 1, 0 };
}

/* Operations in the order of their starts: `at` walks the sample's time line, up to where something runs. */
struct walk {
    struct scale scale;
    uint64_t until_ns; /* the sample's time up to which `now_ns` is the launch's */
    double now_ns;
};

/* An operation that starts in a time that others run in has the same distance to its begin as they have. */
static void place(struct walk *walk, const struct gt_record_op *from, struct gt_record_op *op)
{
    uint64_t end_ns = from->end_ns < from->start_ns ? from->start_ns : from->end_ns;
    double back_ns, start_ns;

    if (from->start_ns > walk->until_ns) {
        walk->now_ns += (double)(from->start_ns - walk->until_ns) * walk->scale.idle;
        walk->until_ns = from->start_ns;
    }
    back_ns = (double)(walk->until_ns - from->start_ns) * walk->scale.busy;
    start_ns = walk->now_ns - back_ns;
    op->start_ns = (uint64_t)(start_ns + 0.5);
    op->end_ns = (uint64_t)(start_ns + (double)(end_ns - from->start_ns) * walk->scale.busy + 0.5);
    if (end_ns > walk->until_ns) {
        walk->now_ns += (double)(end_ns - walk->until_ns) * walk->scale.busy;
        walk->until_ns = end_ns;
    }
}

/* The stream that a launch was put into, as operations of its first branch have it. */
static uint32_t stream_of(const struct samples *samples, const struct sample *sample)
{
    return samples->ops[sample->first]->stream;
}

/* Returns behind the last operation made. */
static struct gt_record_op *fill(const struct samples *samples, const struct sample *sample,
                                 const struct gt_record_whole_graph *whole, struct gt_record_op *made)
{
    struct walk walk = { scale_to(sample, whole), sample->start_ns, (double)whole->start_ns };

    for (uint32_t i = 0; i < sample->count; i++, made++) {
        const struct gt_record_op *from = samples->ops[sample->first + i];

        *made = *from;
        made->correlation = whole->correlation;
        if (from->stream == stream_of(samples, sample))
            made->stream = whole->stream;
        place(&walk, from, made);
    }
    return made;
}

static void add_to_list(struct gt_recorded_process *process, uint64_t count)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_OP];

    if (count > UINT32_MAX - 1 - list->count)
        gt_bug("a recording of more than 4 billion operations");
    list->room = list->count + (uint32_t)count;
    list->items = gt_realloc(list->items, list->room + 1ull, sizeof *list->items);
    for (uint64_t i = 0; i < count; i++)
        list->items[list->count++] = &process->made_ops[i];
}

static bool can_be_filled(const struct gt_record_whole_graph *whole, const struct sample *sample)
{
    return sample != NULL && sample->correlation != whole->correlation && whole->end_ns >= whole->start_ns;
}

static void fill_all(struct gt_recorded *recorded, struct gt_recorded_process *process, const struct samples *samples)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_WHOLE_GRAPH];
    struct gt_record_op *made;
    uint64_t count = 0, filled = 0, unknown = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct sample *sample = sample_for(samples, list->items[i]);

        count += can_be_filled(list->items[i], sample) ? sample->count : 0;
        unknown += sample == NULL;
    }
    made = process->made_ops = gt_calloc(count + 1, sizeof *made);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct sample *sample = sample_for(samples, list->items[i]);

        if (!can_be_filled(list->items[i], sample))
            continue;
        made = fill(samples, sample, list->items[i], made);
        filled++;
    }
    add_to_list(process, count);
    gt_import_warn(recorded->import.workload, "graph-launches-whole", filled);
    gt_import_warn(recorded->import.workload, "graph-nodes-unknown", unknown);
}

void gt_recorded_fill_graphs(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    struct gt_recorded_list *list = &process->lists[GT_RECORDED_WHOLE_GRAPH];
    struct samples samples = { .count = 0 };

    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, compare_wholes);
    collect(process, &samples);
    fill_all(recorded, process, &samples);
    free(samples.ops);
    free(samples.items);
}
