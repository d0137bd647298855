/* Does somebody write what a task reads, before? */
#include "sim/workload/task_check.h"

#include <stdlib.h>
#include <string.h>

/* Slots of a pass: each a bit of what a task or a counter has behind it. */
enum { WORDS = 4, WORD_BITS = 64, PASS_SLOTS = WORDS * WORD_BITS, MOST_PAIRS_OF_A_TASK = 64 };
#define MANY (GT_NONE - 1)

struct mask {
    uint64_t words[WORDS];
};

/* A buffer with readers that do not wait for a writer of it directly. */
struct open_buffer {
    gt_task_buffer_index buffer;
    uint32_t first_writer, last_reader; /* places in the order */
    uint32_t counter; /* the one thing that all its writers signal, who make nothing: who comes after a writer comes
                       * after that counter; MANY: it is not so; GT_NONE: no writer has been seen */
};

/* What open buffers stand for: their counter, of which there are far fewer, or the buffer itself. */
struct slot {
    uint32_t counter; /* MANY: open_buffer itself */
    uint32_t open;    /* the first of its buffers, in `open` */
    uint32_t first_writer, last_reader;
};

struct reads {
    const struct gt_task_graph *graph;
    const gt_task_index *order;
    uint64_t *pairs; /* (counter, buffer) + 1: a task that signals the one writes the other; open hashing */
    uint64_t pair_mask;
    uint8_t *settled;         /* of each access: a read with a writer before it */
    struct open_buffer *open; /* of those that are not settled */
    uint32_t open_count;
    uint32_t *place;        /* of each buffer in `open`; then its slot; GT_NONE: in neither */
    uint32_t *counter_slot; /* of each counter that is one; else GT_NONE */
    struct slot *slots;
    uint32_t slot_count, first_slot; /* the pass has those from first_slot on */
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
        reads->open[reads->open_count++] = (struct open_buffer){ buffer, GT_NONE, 0, GT_NONE };
    }
    open = &reads->open[reads->place[buffer]];
    open->last_reader = place;
}

static void note_writes(struct reads *reads, uint32_t place)
{
    const struct gt_task_graph *graph = reads->graph;
    const struct gt_task *task = &graph->tasks[reads->order[place]];
    uint32_t counter = task->signals == 1 && task->made == 0 ? graph->signals[task->first_signal] : MANY;

    for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
        uint32_t number = graph->accesses[a].writes ? reads->place[graph->accesses[a].buffer] : GT_NONE;

        if (number == GT_NONE)
            continue;
        reads->open[number].first_writer = place;
        if (reads->open[number].counter == GT_NONE)
            reads->open[number].counter = counter;
        else if (reads->open[number].counter != counter)
            reads->open[number].counter = MANY;
    }
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
    for (uint32_t place = graph->task_count; reads->open_count > 0 && place-- > 0;)
        note_writes(reads, place);
}

static unsigned log2_of(uint32_t number)
{
    return number == 0 ? 0 : 31 - (unsigned)__builtin_clz(number);
}

/* Those that live about as long together, in the order of their writers: passes are short then. */
static int compare_slots(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;
    unsigned long_a = log2_of(a->last_reader - a->first_writer), long_b = log2_of(b->last_reader - b->first_writer);

    if (long_a != long_b)
        return long_a < long_b ? -1 : 1;
    if (a->first_writer != b->first_writer)
        return a->first_writer < b->first_writer ? -1 : 1;
    return a->open < b->open ? -1 : a->open > b->open;
}

/* Slots, sorted; `place` of an open buffer and counter_slot lead to them. */
static void make_slots(struct reads *reads)
{
    const struct gt_task_graph *graph = reads->graph;

    reads->slots = gt_calloc(reads->open_count, sizeof *reads->slots);
    reads->counter_slot = gt_calloc(graph->counter_count + 1ull, sizeof *reads->counter_slot);
    for (uint32_t i = 0; i < graph->counter_count; i++)
        reads->counter_slot[i] = GT_NONE;
    for (uint32_t i = 0; i < reads->open_count; i++) {
        const struct open_buffer *open = &reads->open[i];
        uint32_t *known = open->counter == MANY ? NULL : &reads->counter_slot[open->counter];
        struct slot *slot;

        if (known == NULL || *known == GT_NONE) {
            if (known != NULL)
                *known = reads->slot_count;
            reads->slots[reads->slot_count++] =
                (struct slot){ open->counter, i, open->first_writer, open->last_reader };
            continue;
        }
        slot = &reads->slots[*known];
        slot->first_writer = open->first_writer < slot->first_writer ? open->first_writer : slot->first_writer;
        slot->last_reader = open->last_reader > slot->last_reader ? open->last_reader : slot->last_reader;
    }
    qsort(reads->slots, reads->slot_count, sizeof *reads->slots, compare_slots);
    for (uint32_t i = 0; i < reads->slot_count; i++) {
        if (reads->slots[i].counter != MANY)
            reads->counter_slot[reads->slots[i].counter] = i;
        else
            reads->place[reads->open[reads->slots[i].open].buffer] = i;
    }
    for (uint32_t i = 0; i < reads->open_count; i++)
        if (reads->open[i].counter != MANY)
            reads->place[reads->open[i].buffer] = reads->counter_slot[reads->open[i].counter];
}

/* The bit of a slot in this pass; beyond PASS_SLOTS: it has none. */
static uint32_t bit_of(const struct reads *reads, uint32_t slot)
{
    return slot == GT_NONE ? GT_NONE : slot - reads->first_slot;
}

static void set_bit(struct mask *mask, uint32_t bit)
{
    mask->words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
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

    for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++) {
        uint32_t bit = bit_of(reads, reads->counter_slot[graph->waits[w].counter]);

        join(&mask, &reads->before_counter[graph->waits[w].counter]);
        if (bit < PASS_SLOTS)
            set_bit(&mask, bit);
    }
    for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
        uint32_t bit = bit_of(reads, reads->place[graph->accesses[a].buffer]);

        *unwritten = graph->accesses[a].buffer;
        if (!reads->settled[a] && bit < PASS_SLOTS && !has_bit(&mask, bit))
            return false;
    }
    for (uint32_t a = task->first_access; a < task->first_access + task->accesses; a++) {
        uint32_t slot = graph->accesses[a].writes ? reads->place[graph->accesses[a].buffer] : GT_NONE;

        if (bit_of(reads, slot) < PASS_SLOTS && reads->slots[slot].counter == MANY)
            set_bit(&mask, bit_of(reads, slot));
    }
    for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++)
        join(&reads->before_counter[graph->signals[s]], &mask);
    for (uint32_t m = task->first_made; m < task->first_made + task->made; m++)
        join(&reads->behind_task[graph->made[m]], &mask);
    return true;
}

/* The slots from `first` on, as many as there are bits. Returns the task that reads too early, or GT_NONE. */
static gt_task_index pass(struct reads *reads, uint32_t first, gt_task_buffer_index *unwritten)
{
    uint32_t from = GT_NONE, until = 0;

    reads->first_slot = first;
    for (uint32_t i = first; i < reads->slot_count && i - first < PASS_SLOTS; i++) {
        const struct slot *slot = &reads->slots[i];

        from = slot->first_writer < from ? slot->first_writer : from;
        until = slot->last_reader + 1 > until ? slot->last_reader + 1 : until;
    }
    clear(reads, from, until);
    for (uint32_t place = from; place < until; place++)
        if (!pass_task(reads, reads->order[place], unwritten))
            return reads->order[place];
    return GT_NONE;
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
    make_slots(reads);
    reads->before_counter = gt_calloc(graph->counter_count + 1ull, sizeof *reads->before_counter);
    reads->behind_task = gt_calloc(graph->task_count, sizeof *reads->behind_task);
    for (uint32_t i = 0; i < reads->slot_count && wrong == GT_NONE; i += PASS_SLOTS)
        wrong = pass(reads, i, unwritten);
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
    free(reads.slots);
    free(reads.counter_slot);
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
