/* messages.c - kernels that send to one rank, or get from one, where the recordings say to and from whom.
 *
 * The n-th that rank a sends to rank b is the n-th that b gets from a.  Of two ranks whose numbers of messages, sizes or tags
 * differ none is joined: one that nobody takes would hold its sender for ever. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/workload/collective.h"
#include "traces/ranks/internal.h"

struct message {
    uint32_t from, to; /* places among the ranks read */
    bool gets;         /* its receiver's kernel, not its sender's */
    uint32_t number;   /* as its rank has them */
    const struct gt_collective_note *note;
};

struct messages {
    const struct gt_rank *ranks;
    uint32_t ranks_count;
    struct message *list;
    uint32_t count;
};

static uint32_t place_of(const struct messages *m, uint32_t rank)
{
    for (uint32_t i = 0; i < m->ranks_count; i++)
        if (m->ranks[i].notes.rank == rank)
            return i;
    return GT_NONE;
}

static int by_pair(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    GT_ORDER(a->from, b->from);
    GT_ORDER(a->to, b->to);
    GT_ORDER(a->gets, b->gets);
    GT_ORDER(a->number, b->number);
    return 0;
}

static void gather(struct messages *m)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < m->ranks_count; i++)
        most += m->ranks[i].notes.count;
    m->list = gt_calloc(most + 1ull, sizeof *m->list);
    for (uint32_t i = 0; i < m->ranks_count; i++)
        for (uint32_t j = 0; j < m->ranks[i].notes.count; j++) {
            const struct gt_collective_note *note = &m->ranks[i].notes.notes[j];
            bool gets = note->to == GT_NONE;
            uint32_t other = gt_rank_is_message(note) ? place_of(m, gets ? note->from : note->to) : GT_NONE;

            if (other != GT_NONE && other != i)
                m->list[m->count++] = (struct message){
                    .from = gets ? other : i, .to = gets ? i : other, .gets = gets, .number = j, .note = note
                };
        }
    qsort(m->list, m->count, sizeof *m->list, by_pair);
}

/* A GPU for each rank: the one that its first message is of. */
static uint32_t add_group(struct gt_workload *w, const struct messages *m, const struct gt_rank_places *places)
{
    static const char name[] = "messages";
    gt_gpu_index gpus[GT_MOST_GPUS];

    for (uint32_t i = 0; i < m->ranks_count; i++)
        gpus[i] = places[i].gpus[0];
    return gt_workload_add_group(w, gt_name(w, name, strlen(name)), gpus, m->ranks_count);
}

static void join_one(struct gt_workload *w, const struct message *message, const struct gt_rank_places *places,
                     uint32_t group)
{
    gt_op_index op = places[message->gets ? message->to : message->from].ops[message->note->op];
    struct gt_kernel kernel = w->kernels[w->ops[op].kernel];

    kernel.collective = gt_collective_of(GT_SEND_RECV, group, message->note->bytes);
    kernel.collective.to = message->gets ? GT_NONE : message->to;
    kernel.collective.from = message->gets ? message->from : GT_NONE;
    kernel.collective.shaped = !message->note->no_shape;
    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
}

static bool on_first_gpu(const struct messages *m, const struct message *message)
{
    const struct gt_workload *w = m->ranks[message->gets ? message->to : message->from].workload;

    return w->streams[w->ops[message->note->op].stream].gpu == 0;
}

/* Do the first `sent` of a pair's messages have those behind them at the other end? */
static bool fits(const struct messages *m, uint32_t first, uint32_t sent, uint32_t end)
{
    if (end - first != 2 * sent)
        return false;
    for (uint32_t i = first; i < first + sent; i++) {
        const struct gt_collective_note *one = m->list[i].note, *other = m->list[i + sent].note;

        if (one->bytes != other->bytes || one->tag != other->tag || !on_first_gpu(m, &m->list[i]) ||
            !on_first_gpu(m, &m->list[i + sent]))
            return false;
    }
    return true;
}

uint64_t gt_ranks_join_messages(struct gt_workload *w, const struct gt_rank *ranks, uint32_t count,
                                const struct gt_rank_places *places)
{
    struct messages m = { .ranks = ranks, .ranks_count = count };
    uint32_t group = GT_NONE, end;
    uint64_t joined = 0;

    gather(&m);
    for (uint32_t first = 0; first < m.count; first = end) {
        uint32_t sent = 0;

        for (end = first;
             end < m.count && m.list[end].from == m.list[first].from && m.list[end].to == m.list[first].to; end++)
            sent += !m.list[end].gets;
        if (!fits(&m, first, sent, end))
            continue;
        if (group == GT_NONE)
            group = add_group(w, &m, places);
        for (uint32_t i = first; i < end; i++)
            join_one(w, &m.list[i], places, group);
        joined += end - first;
    }
    free(m.list);
    return joined;
}
