/* Does somebody write what a task reads, before? */
#include "sim/workload/task_check.h"

#include <stdlib.h>
#include <string.h>

/* Buffers of a pass: each a bit of what a task or a counter has behind it. */
enum { WORDS = 4, WORD_BITS = 64, PASS_BUFFERS = WORDS * WORD_BITS, MOST_PAIRS_OF_A_TASK = 64 };

struct mask {
    uint64_t words[WORDS];
};

/* A buffer with readers that do not wait for a writer of it directly. */
struct open_buffer {
    gt_task_buffer_index buffer;
    uint32_t first_writer, last_reader; /* places in the order */
};

struct reads {
    const struct gt_task_graph *graph;
    const gt_task_index *order;
    uint64_t *pairs; /* (counter, buffer) + 1: a task that signals the one writes the other; open hashing */
    uint64_t pair_mask;
    uint8_t *settled;         /* of each access: a read with a writer before it */
    struct open_buffer *open; /* of those that are not settled */
    uint32_t open_count;
    uint32_t *place; /* of each buffer in `open`, in the pass its bit; GT_NONE: in neither */
    struct mask *before_counter, *behind_task;
};

static uint64_t hash_of(uint64_t pair)
{
    pair *= UINT64_C(0x9e3779b97f4a7c15);
    return pair ^ pair >> 29;
}

static uint64_t pair_of(uint32_t counter, gt_task_buffer_index buffer)
{
    return ((uint64_t)counter << 32 | buffer) + 1;
}

static bool has_pair(const struct reads *reads, uint64_t pair)
{
    uint64_t at = hash_of(pair) & reads->pair_mask;

    while (reads->pairs[at] != 0 && reads->pairs[at] != pair)
        at = (at + 1) & reads->pair_mask;
    return reads->pairs[at] == pair;
}

static void add_pair(struct reads *reads, uint64_t pair)
{
    uint64_t at = hash_of(pair) & reads->pair_mask;

    while (reads->pairs[at] != 0 && reads->pairs[at] != pair)
        at = (at + 1) & reads->pair_mask;
    reads->pairs[at] = pair;
}

static bool few_pairs(const struct gt_task *task)
{
    return (uint32_t)task->signals * task->accesses <= MOST_PAIRS_OF_A_TASK;
}

static void find_pairs(struct reads *reads)
{
    const struct gt_task_graph *graph = reads->graph;
    uint64_t pairs = 0, room = 64;

    for (uint32_t t = 0; t < graph->task_count; t++)
        if (few_pairs(&graph->tasks[t]))
            pairs += (uint64_t)graph->tasks[t].signals * graph->tasks[t].accesses;
    while (room < 2 * pairs)
        room *= 2;
    reads->pair_mask = room - 1;
    reads->pairs = gt_calloc(room, sizeof *reads->pairs);
    for (uint32_t t = 0; t < graph->task_count; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t a = task->first_access; few_pairs(task) && a < task->first_access + task->accesses; a++)
            for (uint32_t s = task->first_signal; graph->accesses[a].writes && s < task->first_signal + task->signals;
                 s++)
                add_pair(reads, pair_of(graph->signals[s], graph->accesses[a].buffer));
    }
}

/* Does the task wait for one that writes the buffer?  A wait is for all that signal its counter. */
static bool waits_for_writer(const struct reads *reads, const struct gt_task *task, gt_task_buffer_index buffer)
{
    for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
        if (has_pair(reads, pair_of(reads->graph->waits[w].counter, buffer)))
            return true;
    return false;
}

static void note_reader(struct reads *reads, gt_task_buffer_index buffer, uint32_t place)
{
    struct open_buffer *open;

    if (reads->place[buffer] == GT_NONE) {
        reads->place[buffer] = reads->open_count;
        reads->open[reads->open_count++] = (struct open_buffer){ buffer, GT_NONE, 0 };
    }
    open = &reads->open[reads->place[buffer]];
    open->last_reader = place;
}

/* Reads that a look at the reader's own waits settles; the buffers of the others are `open`. */
static void settle(struct reads *reads)
{
    const struct gt_task_graph *graph = reads->graph;

    for (uint32_t place = 0; place < graph->task_count; place++) {
        const struct gt_task *task = &graph->tasks[reads->order[place]];

        for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
            const struct gt_task_access *access = &graph->accesses[a];

            reads->settled[a] = access->writes || graph->buffers[access->buffer].given ||
                                waits_for_writer(reads, task, access->buffer);
            if (!reads->settled[a])
                note_reader(reads, access->buffer, place);
        }
    }
    for (uint32_t place = graph->task_count; reads->open_count > 0 && place-- > 0;) {
        const struct gt_task *task = &graph->tasks[reads->order[place]];

        for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++)
            if (graph->accesses[a].writes && reads->place[graph->accesses[a].buffer] != GT_NONE)
                reads->open[reads->place[graph->accesses[a].buffer]].first_writer = place;
    }
}

static unsigned log2_of(uint32_t number)
{
    return number == 0 ? 0 : 31 - (unsigned)__builtin_clz(number);
}

/* Those that live about as long together, in the order of their writers: passes are short then. */
static int compare_open(const void *left, const void *right)
{
    const struct open_buffer *a = left, *b = right;
    unsigned long_a = log2_of(a->last_reader - a->first_writer), long_b = log2_of(b->last_reader - b->first_writer);

    if (long_a != long_b)
        return long_a < long_b ? -1 : 1;
    if (a->first_writer != b->first_writer)
        return a->first_writer < b->first_writer ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static void join(struct mask *into, const struct mask *from)
{
    for (int i = 0; i < WORDS; i++)
        into->words[i] |= from->words[i];
}

static bool has_bit(const struct mask *mask, uint32_t bit)
{
    return mask->words[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

static void clear(struct reads *reads, uint32_t first, uint32_t end)
{
    const struct gt_task_graph *graph = reads->graph;

    for (uint32_t place = first; place < end; place++) {
        const struct gt_task *task = &graph->tasks[reads->order[place]];

        reads->behind_task[reads->order[place]] = (struct mask){ { 0 } };
        for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++)
            reads->before_counter[graph->signals[s]] = (struct mask){ { 0 } };
        for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
            reads->before_counter[graph->waits[w].counter] = (struct mask){ { 0 } };
    }
}

/* One task of a pass: what is written before it; false: it reads something that is not. `behind_task` of a made task
 * holds already what its maker has behind it. */
static bool pass_task(struct reads *reads, gt_task_index index, gt_task_buffer_index *unwritten)
{
    const struct gt_task_graph *graph = reads->graph;
    const struct gt_task *task = &graph->tasks[index];
    struct mask mask = reads->behind_task[index];

    for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
        join(&mask, &reads->before_counter[graph->waits[w].counter]);
    for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
        uint32_t bit = reads->place[graph->accesses[a].buffer];

        *unwritten = graph->accesses[a].buffer;
        if (!reads->settled[a] && bit != GT_NONE && !has_bit(&mask, bit))
            return false;
    }
    for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
        uint32_t bit = reads->place[graph->accesses[a].buffer];

        if (graph->accesses[a].writes && bit != GT_NONE)
            mask.words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    }
    for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++)
        join(&reads->before_counter[graph->signals[s]], &mask);
    for (uint32_t m = task->first_made; m < task->first_made + task->made; m++)
        join(&reads->behind_task[graph->made[m]], &mask);
    return true;
}

/* The buffers open[first] to open[end - 1]. Returns the task that reads too early, or GT_NONE. */
static gt_task_index pass(struct reads *reads, uint32_t first, uint32_t end, gt_task_buffer_index *unwritten)
{
    uint32_t from = GT_NONE, until = 0;
    gt_task_index wrong = GT_NONE;

    for (uint32_t i = first; i < end; i++) {
        const struct open_buffer *open = &reads->open[i];

        reads->place[open->buffer] = i - first;
        from = open->first_writer < from ? open->first_writer : from;
        until = open->last_reader + 1 > until ? open->last_reader + 1 : until;
    }
    clear(reads, from, until);
    for (uint32_t place = from; place < until && wrong == GT_NONE; place++)
        if (!pass_task(reads, reads->order[place], unwritten))
            wrong = reads->order[place];
    for (uint32_t i = first; i < end; i++)
        reads->place[reads->open[i].buffer] = GT_NONE;
    return wrong;
}

/* The first reader of a buffer that nobody writes, or only behind all of its readers. */
static gt_task_index find_orphan(const struct reads *reads, gt_task_buffer_index *unwritten)
{
    const struct gt_task_graph *graph = reads->graph;

    for (uint32_t place = 0; place < graph->task_count; place++) {
        const struct gt_task *task = &graph->tasks[reads->order[place]];

        for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
            *unwritten = graph->accesses[a].buffer;
            if (!reads->settled[a] && reads->open[reads->place[*unwritten]].first_writer >= place)
                return reads->order[place];
        }
    }
    return GT_NONE;
}

static gt_task_index find_wrong(struct reads *reads, gt_task_buffer_index *unwritten)
{
    const struct gt_task_graph *graph = reads->graph;
    gt_task_index wrong;

    find_pairs(reads);
    settle(reads);
    if (reads->open_count == 0)
        return GT_NONE;
    wrong = find_orphan(reads, unwritten);
    if (wrong != GT_NONE)
        return wrong;
    qsort(reads->open, reads->open_count, sizeof *reads->open, compare_open);
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        reads->place[i] = GT_NONE;
    reads->before_counter = gt_calloc(graph->counter_count + 1ull, sizeof *reads->before_counter);
    reads->behind_task = gt_calloc(graph->task_count, sizeof *reads->behind_task);
    for (uint32_t i = 0; i < reads->open_count && wrong == GT_NONE; i += PASS_BUFFERS)
        wrong =
            pass(reads, i, reads->open_count - i < PASS_BUFFERS ? reads->open_count : i + PASS_BUFFERS, unwritten);
    return wrong;
}

int gt_task_reads_check(const struct gt_workload *workload, const struct gt_task_graph *graph,
                        const gt_task_index *order, struct gt_error *error)
{
    struct reads reads = { .graph = graph, .order = order };
    gt_task_buffer_index unwritten = 0;
    gt_task_index wrong = GT_NONE;
    char name[GT_PART_TEXT_BYTES];

    if (graph->access_count == 0)
        return 0;
    reads.settled = gt_calloc(graph->access_count, sizeof *reads.settled);
    reads.open = gt_calloc(graph->buffer_count, sizeof *reads.open);
    reads.place = gt_calloc(graph->buffer_count, sizeof *reads.place);
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        reads.place[i] = GT_NONE;
    wrong = find_wrong(&reads, &unwritten);
    free(reads.pairs);
    free(reads.settled);
    free(reads.open);
    free(reads.place);
    free(reads.before_counter);
    free(reads.behind_task);
    if (wrong == GT_NONE)
        return 0;
    gt_task_part_text(workload, graph->buffers[unwritten].name, unwritten, name);
    gt_error_set(error,
                 "it reads buffer %s, which is not given, and none of the tasks that it waits for, however "
                 "indirectly, writes it",
                 name);
    return gt_task_error(workload, graph, wrong, error);
}
