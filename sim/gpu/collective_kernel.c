#include "sim/gpu/collective_kernel.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/collectives/cost.h"
#include "sim/gpu/batches.h"
#include "sim/gpu/collective_move.h"
#include "sim/stream/hw_queue.h"
#include "sim/workload/collective.h"

static void sort_by_instance(struct gt_collectives *c)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < c->parts.count; i++)
        c->instances[c->parts.parts[i].instance].count++;
    for (uint32_t i = 0; i < c->parts.instances; i++) {
        c->instances[i].first = next;
        next += c->instances[i].count;
        c->instances[i].count = 0;
    }
    for (uint32_t i = 0; i < c->parts.count; i++) {
        struct gt_collective_instance *instance = &c->instances[c->parts.parts[i].instance];

        c->by_instance[instance->first + instance->count++] = i;
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
    c->instances = gt_calloc(parts.instances, sizeof *c->instances);
    c->moving = gt_calloc(parts.instances, sizeof *c->moving);
    c->by_instance = gt_calloc(parts.count, sizeof *c->by_instance);
    c->comers = gt_calloc(parts.count, sizeof *c->comers);
    for (uint32_t i = 0; i < parts.instances; i++)
        c->instances[i] =
            (struct gt_collective_instance){ .sender = GT_NONE, .rate = 1, .link_rate = 1, .moved_ps = GT_TIME_NONE };
    for (uint32_t i = 0; i < parts.count; i++) {
        struct gt_collective_instance *instance = &c->instances[parts.parts[i].instance];

        c->comers[i] = (struct gt_collective_comer){ .command = GT_NONE, .grid = GT_NONE, .come_ps = GT_TIME_NONE };
        instance->missing = gt_collective_part_ranks(m->workload, &parts.parts[i]);
        if (gt_collective_only_sends(m->workload, &parts.parts[i]))
            instance->sender = i;
    }
    sort_by_instance(c);
    m->collectives = c;
}

void gt_collectives_free(struct gt_machine *m)
{
    struct gt_collectives *c = m->collectives;

    if (c == NULL)
        return;
    gt_collective_parts_free(&c->parts);
    free(c->instances);
    free(c->moving);
    free(c->by_instance);
    free(c->comers);
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

/* When all that the operation takes part in is done; GT_TIME_NONE: that is not known. */
static gt_time_ps end_of(const struct gt_machine *m, uint32_t first, uint32_t count)
{
    gt_time_ps end_ps = 0;

    for (uint32_t i = first; i < first + count; i++) {
        gt_time_ps ps = gt_collective_part_end_ps(m, i);

        end_ps = ps > end_ps ? ps : end_ps;
    }
    return end_ps;
}

/* It has come, and its end is known. */
static void let_end(struct gt_machine *m, struct gt_collective_comer *comer, gt_time_ps end_ps)
{
    gt_batch_index next;

    if (comer->grid == GT_NONE) {
        gt_engine_schedule(&m->engine, end_ps, GT_PHASE_END, GT_HANDLE_TIMED_OP, comer->command, 0);
    } else {
        for (gt_batch_index i = m->grids[comer->grid].sync.head; i != GT_NONE; i = next) {
            next = m->batches[i].next;
            gt_batch_due(m, i, end_ps);
        }
        m->grids[comer->grid].sync.head = GT_NONE;
    }
    comer->command = GT_NONE;
}

void gt_collective_go_on(struct gt_machine *m, gt_op_index op)
{
    struct gt_collectives *c = m->collectives;
    uint32_t first, count = gt_collective_parts_of(&c->parts, op, &first);
    gt_time_ps end_ps;

    if (c->comers[first].command == GT_NONE || c->comers[first].come_ps == GT_TIME_NONE)
        return; /* nobody is there, or blocks wait for room: come() goes on */
    end_ps = end_of(m, first, count);
    if (end_ps != GT_TIME_NONE)
        let_end(m, &c->comers[first], end_ps);
}

/* All of the operation is there. */
static void come(struct gt_machine *m, gt_op_index op)
{
    struct gt_collectives *c = m->collectives;
    uint32_t first, count = gt_collective_parts_of(&c->parts, op, &first);

    c->comers[first].come_ps = m->engine.now_ps;
    for (uint32_t i = first; i < first + count; i++) {
        c->instances[c->parts.parts[i].instance].missing--;
        gt_collective_set_off(m, c->parts.parts[i].instance);
    }
    gt_collective_go_on(m, op);
}

static struct gt_collective_comer *comer_of(struct gt_machine *m, gt_op_index op)
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
    struct gt_collective_comer *comer = comer_of(m, g->op);

    m->batches[batch].next = GT_NONE;
    if (g->sync.head == GT_NONE)
        g->sync.head = batch;
    else
        m->batches[g->sync.tail].next = batch;
    g->sync.tail = batch;
    comer->blocks += b->blocks;
    if (comer->blocks == g->blocks)
        come(m, g->op);
}

void gt_collective_begin(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];
    struct gt_collective_comer *comer = comer_of(m, g->op);

    *comer = (struct gt_collective_comer){ .command = g->command, .grid = grid, .come_ps = GT_TIME_NONE };
    g->block_ps = 0; /* all its blocks are alike */
    g->inverted = true;
    g->block_begins = block_begins;
}

void gt_collective_bar(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;

    *comer_of(m, op) = (struct gt_collective_comer){ .command = command, .grid = GT_NONE, .come_ps = GT_TIME_NONE };
    m->commands[command].start_ps = m->engine.now_ps;
    gt_hw_queue_leave(m, command);
    come(m, op);
}

/* Those who have not come to where `part` waits, or not whole. */
static void append_missing(const struct gt_machine *m, const struct gt_collective_part *part, char *text,
                           size_t bytes)
{
    const struct gt_collectives *c = m->collectives;
    const struct gt_collective_instance *instance = &c->instances[part->instance];
    uint32_t ranks = m->workload->groups[part->group].size, named = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct gt_collective_part *other = NULL;
        uint32_t first;

        if (part->to != GT_NONE && rank != part->from && rank != part->to)
            continue;
        for (uint32_t i = instance->first; i < instance->first + instance->count && other == NULL; i++)
            if (c->parts.parts[c->by_instance[i]].rank == rank)
                other = &c->parts.parts[c->by_instance[i]];
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
        if (c->comers[first].command == GT_NONE || c->instances[part->instance].moved_ps != GT_TIME_NONE ||
            count++ >= 3)
            continue;
        gt_text_append(text, bytes, "; rank %u of group '%.60s' is in %s number %u (line %u) and waits for",
                       part->rank, gt_name_text(m->workload, m->workload->groups[part->group].name),
                       gt_collective_kind_names[kernel->collective.kind], part->sequence,
                       m->workload->calls[m->workload->ops[part->op].call].line);
        append_missing(m, part, text, bytes);
    }
    return count;
}
