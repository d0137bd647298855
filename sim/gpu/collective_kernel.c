#include "sim/gpu/collective_kernel.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/collectives/cost.h"
#include "sim/gpu/batches.h"
#include "sim/machine/durations.h"
#include "sim/stream/hw_queue.h"
#include "sim/workload/collective.h"

/* Parts that belong together. */
struct meeting {
    uint32_t first, count; /* of its parts, in gt_collectives.by_meeting */
    uint32_t missing;      /* ranks that have not come */
    gt_time_ps end_ps;     /* when its data has moved; GT_TIME_NONE: some have not come */
};

/* An operation that has come and waits for others. */
struct comer {
    gt_command_index command; /* GT_NONE: it has not come, or has gone on */
    gt_grid_index grid;       /* GT_NONE: a bar */
    uint64_t blocks;          /* on SMs */
};

struct gt_collectives {
    struct gt_collective_parts parts;
    struct meeting *meetings;
    uint32_t *by_meeting;    /* parts, those of one meeting together */
    struct comer *comers;    /* by an operation's first part */
    gt_time_ps *transfer_ps; /* by meeting; GT_TIME_NONE: not worked out yet */
};

static void sort_by_meeting(struct gt_collectives *c)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < c->parts.count; i++)
        c->meetings[c->parts.parts[i].meeting].count++;
    for (uint32_t i = 0; i < c->parts.meetings; i++) {
        c->meetings[i].first = next;
        next += c->meetings[i].count;
        c->meetings[i].count = 0;
    }
    for (uint32_t i = 0; i < c->parts.count; i++) {
        struct meeting *meeting = &c->meetings[c->parts.parts[i].meeting];

        c->by_meeting[meeting->first + meeting->count++] = i;
    }
}

void gt_collectives_build(struct gt_machine *m)
{
    struct gt_collective_parts parts = gt_collective_parts(m->workload);
    struct gt_collectives *c;

    if (parts.count == 0) {
        gt_collective_parts_free(&parts);
        return;
    }
    c = gt_calloc(1, sizeof *c);
    c->parts = parts;
    c->meetings = gt_calloc(parts.meetings, sizeof *c->meetings);
    c->by_meeting = gt_calloc(parts.count, sizeof *c->by_meeting);
    c->comers = gt_calloc(parts.count, sizeof *c->comers);
    c->transfer_ps = gt_calloc(parts.meetings, sizeof *c->transfer_ps);
    for (uint32_t i = 0; i < parts.count; i++) {
        c->comers[i] = (struct comer){ .command = GT_NONE, .grid = GT_NONE };
        c->meetings[parts.parts[i].meeting].missing = gt_collective_part_ranks(m->workload, &parts.parts[i]);
    }
    for (uint32_t i = 0; i < parts.meetings; i++)
        c->meetings[i].end_ps = c->transfer_ps[i] = GT_TIME_NONE;
    sort_by_meeting(c);
    m->collectives = c;
}

void gt_collectives_free(struct gt_machine *m)
{
    struct gt_collectives *c = m->collectives;

    if (c == NULL)
        return;
    gt_collective_parts_free(&c->parts);
    free(c->meetings);
    free(c->by_meeting);
    free(c->comers);
    free(c->transfer_ps);
    free(c);
}

bool gt_collective_is(const struct gt_machine *m, gt_op_index op)
{
    return m->collectives != NULL && gt_collective_kernel(m->workload, op) != NULL;
}

static uint32_t ranks_of(const struct gt_machine *m, const struct gt_kernel *kernel)
{
    return m->workload->groups[kernel->collective.group].size;
}

struct gt_kernel gt_collective_shaped(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_kernel *kernel = gt_collective_kernel(m->workload, op);

    return gt_collective_shape(m->device, kernel, ranks_of(m, kernel));
}

/* By how much it takes longer on this device than on the one recorded. */
static double slower(const struct gt_machine *m, const struct gt_kernel *kernel)
{
    uint32_t ranks = ranks_of(m, kernel);
    double here, there;

    if (m->device == m->recorded)
        return 1;
    here = (double)gt_collective_plan(m->device, kernel, ranks).transfer_ps;
    there = (double)gt_collective_plan(m->recorded, kernel, ranks).transfer_ps;
    return there > 0 ? here / there : 1;
}

/* Recorded or stated durations of parts hold their waiting; that of the part that waited least has the least of it. */
static gt_time_ps least_stated_ps(const struct gt_machine *m, const struct meeting *meeting)
{
    const struct gt_collectives *c = m->collectives;
    gt_time_ps least_ps = GT_TIME_NONE;

    for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const struct gt_op *op = &m->workload->ops[c->parts.parts[c->by_meeting[i]].op];
        gt_time_ps stated_ps =
            op->duration_ps != GT_TIME_NONE ? op->duration_ps : m->workload->kernels[op->kernel].duration_ps;

        least_ps = stated_ps < least_ps ? stated_ps : least_ps;
    }
    return least_ps;
}

static gt_time_ps meeting_ps(struct gt_machine *m, uint32_t number)
{
    struct gt_collectives *c = m->collectives;
    const struct meeting *meeting = &c->meetings[number];
    const struct gt_kernel *kernel =
        gt_collective_kernel(m->workload, c->parts.parts[c->by_meeting[meeting->first]].op);
    gt_time_ps stated_ps;

    if (c->transfer_ps[number] != GT_TIME_NONE)
        return c->transfer_ps[number];
    stated_ps = least_stated_ps(m, meeting);
    m->extrapolated += stated_ps == GT_TIME_NONE && kernel->collective.kind != GT_SEND_RECV &&
                       gt_collective_extrapolated(m->device, ranks_of(m, kernel));
    c->transfer_ps[number] = stated_ps == GT_TIME_NONE
                                 ? gt_collective_plan(m->device, kernel, ranks_of(m, kernel)).transfer_ps
                                 : gt_whole_ps((double)stated_ps * slower(m, kernel));
    return c->transfer_ps[number];
}

/* When all that the operation takes part in is done; GT_TIME_NONE: that is not known. */
static gt_time_ps end_of(const struct gt_collectives *c, uint32_t first, uint32_t count)
{
    gt_time_ps end_ps = 0;

    for (uint32_t i = first; i < first + count; i++) {
        gt_time_ps ps = c->meetings[c->parts.parts[i].meeting].end_ps;

        end_ps = ps > end_ps ? ps : end_ps;
    }
    return end_ps;
}

/* It has come, and its end is known. */
static void let_end(struct gt_machine *m, struct comer *comer, gt_time_ps end_ps)
{
    gt_batch_index next;

    if (comer->grid == GT_NONE) {
        gt_engine_schedule(&m->engine, end_ps, GT_PHASE_END, GT_HANDLE_TIMED_OP, comer->command, 0);
    } else {
        for (gt_batch_index i = m->grids[comer->grid].meeting.head; i != GT_NONE; i = next) {
            next = m->batches[i].next;
            gt_batch_due(m, i, end_ps);
        }
        m->grids[comer->grid].meeting.head = GT_NONE;
    }
    comer->command = GT_NONE;
}

static void settle(struct gt_machine *m, gt_op_index op)
{
    struct gt_collectives *c = m->collectives;
    uint32_t first, count = gt_collective_parts_of(&c->parts, op, &first);
    gt_time_ps end_ps = end_of(c, first, count);

    if (c->comers[first].command != GT_NONE && end_ps != GT_TIME_NONE)
        let_end(m, &c->comers[first], end_ps);
}

/* All of the operation is there. */
static void come(struct gt_machine *m, gt_op_index op)
{
    struct gt_collectives *c = m->collectives;
    uint32_t first, count = gt_collective_parts_of(&c->parts, op, &first);

    for (uint32_t i = first; i < first + count; i++) {
        struct meeting *meeting = &c->meetings[c->parts.parts[i].meeting];

        if (--meeting->missing > 0 && !m->options->serialize)
            continue;
        meeting->end_ps = m->engine.now_ps + meeting_ps(m, c->parts.parts[i].meeting);
        m->fired[GT_RULE_COLLECTIVE]++;
        for (uint32_t j = meeting->first; j < meeting->first + meeting->count; j++)
            if (c->parts.parts[c->by_meeting[j]].op != op)
                settle(m, c->parts.parts[c->by_meeting[j]].op);
    }
    settle(m, op);
}

static struct comer *comer_of(struct gt_machine *m, gt_op_index op)
{
    uint32_t first;

    gt_collective_parts_of(&m->collectives->parts, op, &first);
    return &m->collectives->comers[first];
}

/* Its blocks hold their SM until their end is known. */
static void block_begins(struct gt_machine *m, gt_batch_index batch)
{
    const struct gt_batch *b = &m->batches[batch];
    struct gt_grid *g = &m->grids[b->grid];
    struct comer *comer = comer_of(m, g->op);

    m->batches[batch].next = GT_NONE;
    if (g->meeting.head == GT_NONE)
        g->meeting.head = batch;
    else
        m->batches[g->meeting.tail].next = batch;
    g->meeting.tail = batch;
    comer->blocks += b->blocks;
    if (comer->blocks == g->blocks)
        come(m, g->op);
}

void gt_collective_begin(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];
    struct comer *comer = comer_of(m, g->op);

    *comer = (struct comer){ .command = g->command, .grid = grid };
    g->block_ps = 0; /* all its blocks are alike */
    g->inverted = true;
    g->block_begins = block_begins;
}

void gt_collective_bar(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;

    *comer_of(m, op) = (struct comer){ .command = command, .grid = GT_NONE };
    m->commands[command].start_ps = m->engine.now_ps;
    gt_hw_queue_leave(m, command);
    come(m, op);
}

/* Those who have not come to where `part` waits, or not whole. */
static void append_missing(const struct gt_machine *m, const struct gt_collective_part *part, char *text,
                           size_t bytes)
{
    const struct gt_collectives *c = m->collectives;
    const struct meeting *meeting = &c->meetings[part->meeting];
    uint32_t ranks = m->workload->groups[part->group].size, named = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct gt_collective_part *other = NULL;
        uint32_t first;

        if (part->to != GT_NONE && rank != part->from && rank != part->to)
            continue;
        for (uint32_t i = meeting->first; i < meeting->first + meeting->count && other == NULL; i++)
            if (c->parts.parts[c->by_meeting[i]].rank == rank)
                other = &c->parts.parts[c->by_meeting[i]];
        if (other == NULL) {
            gt_text_append(text, bytes, "%s rank %u, which never launches it", named++ > 0 ? "," : "", rank);
            continue;
        }
        gt_collective_parts_of(&c->parts, other->op, &first);
        if (c->comers[first].grid != GT_NONE && c->comers[first].blocks < m->grids[c->comers[first].grid].blocks)
            gt_text_append(text, bytes, "%s rank %u%s, of whose %llu blocks %llu have an SM", named++ > 0 ? "," : "",
                           rank, rank == part->rank ? " itself" : "",
                           (unsigned long long)m->grids[c->comers[first].grid].blocks,
                           (unsigned long long)c->comers[first].blocks);
        else if (c->comers[first].command == GT_NONE)
            gt_text_append(text, bytes, "%s rank %u (line %u)", named++ > 0 ? "," : "", rank,
                           m->workload->calls[m->workload->ops[other->op].call].line);
    }
}

uint32_t gt_collective_deadlocks(const struct gt_machine *m, char *text, size_t bytes)
{
    const struct gt_collectives *c = m->collectives;
    uint32_t count = 0;

    for (uint32_t i = 0; c != NULL && i < c->parts.count; i++) {
        const struct gt_collective_part *part = &c->parts.parts[i];
        const struct gt_kernel *kernel = gt_collective_kernel(m->workload, part->op);
        uint32_t first;

        gt_collective_parts_of(&c->parts, part->op, &first);
        if (c->comers[first].command == GT_NONE || c->meetings[part->meeting].end_ps != GT_TIME_NONE || count++ >= 3)
            continue;
        gt_text_append(text, bytes, "; rank %u of group '%.60s' is in %s number %u (line %u) and waits for",
                       part->rank, gt_name_text(m->workload, m->workload->groups[part->group].name),
                       gt_collective_kind_names[kernel->collective.kind], part->sequence,
                       m->workload->calls[m->workload->ops[part->op].call].line);
        append_missing(m, part, text, bytes);
    }
    return count;
}
