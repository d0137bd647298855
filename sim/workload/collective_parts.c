/* Which parts of collectives belong together: by the order in which each rank launches them. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/collective.h"

/* How many each rank has launched so far: collectives by group and rank; messages by group, rank and other rank. */
struct counts {
    uint32_t *first;     /* of a group: where its ranks' counts begin */
    uint32_t *ranks;     /* collectives */
    size_t *first_pair;  /* of a group: where its pairs' counts begin */
    uint32_t *to, *from; /* messages, by the rank that launches and the other; NULL: there are none */
};

static bool has_messages(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->kernel_count; i++)
        if (workload->kernels[i].collective.kind == GT_SEND_RECV)
            return true;
    return false;
}

static void open_counts(struct counts *counts, const struct gt_workload *workload)
{
    bool messages = has_messages(workload);
    uint32_t ranks = 0;
    size_t pairs = 0;

    counts->first = gt_calloc(workload->group_count + 1ull, sizeof *counts->first);
    counts->first_pair = gt_calloc(workload->group_count + 1ull, sizeof *counts->first_pair);
    for (uint32_t i = 0; i < workload->group_count; i++) {
        counts->first[i] = ranks;
        counts->first_pair[i] = pairs;
        ranks += workload->groups[i].size;
        pairs += (size_t)workload->groups[i].size * workload->groups[i].size;
    }
    counts->ranks = gt_calloc(ranks + 1ull, sizeof *counts->ranks);
    counts->to = messages ? gt_calloc(pairs + 1ull, sizeof *counts->to) : NULL;
    counts->from = messages ? gt_calloc(pairs + 1ull, sizeof *counts->from) : NULL;
}

static void close_counts(struct counts *counts)
{
    free(counts->first);
    free(counts->first_pair);
    free(counts->ranks);
    free(counts->to);
    free(counts->from);
}

static void add_part(struct gt_collective_parts *parts, const struct gt_collective_part *part)
{
    gt_array_grow(parts->parts, parts->count, parts->room);
    parts->parts[parts->count++] = *part;
}

static void add_parts(const struct gt_workload *workload, struct counts *counts, uint32_t op,
                      struct gt_collective_parts *parts)
{
    const struct gt_collective *collective = &gt_collective_kernel(workload, op)->collective;
    const struct gt_group *group = &workload->groups[collective->group];
    uint32_t rank = gt_group_rank(group, workload->streams[workload->ops[op].stream].gpu);
    size_t pairs = counts->first_pair[collective->group] + (size_t)rank * group->size;
    struct gt_collective_part part = {
        .op = op, .group = collective->group, .rank = rank, .from = GT_NONE, .to = GT_NONE
    };

    if (collective->kind != GT_SEND_RECV) {
        part.sequence = counts->ranks[counts->first[collective->group] + rank]++;
        add_part(parts, &part);
        return;
    }
    if (collective->to != GT_NONE) {
        part.from = rank;
        part.to = collective->to;
        part.sequence = counts->to[pairs + collective->to]++;
        add_part(parts, &part);
    }
    if (collective->from != GT_NONE) {
        part.from = collective->from;
        part.to = rank;
        part.sequence = counts->from[pairs + collective->from]++;
        add_part(parts, &part);
    }
}

static int of_two(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_instance(const void *left, const void *right)
{
    const struct gt_collective_part *a = *(struct gt_collective_part *const *)left;
    const struct gt_collective_part *b = *(struct gt_collective_part *const *)right;
    int order = of_two(a->group, b->group);

    if (order == 0)
        order = of_two(a->from, b->from);
    if (order == 0)
        order = of_two(a->to, b->to);
    return order != 0 ? order : of_two(a->sequence, b->sequence);
}

static void number_instances(struct gt_collective_parts *parts)
{
    struct gt_collective_part **sorted = gt_calloc(parts->count + 1ull, sizeof(struct gt_collective_part *));

    for (uint32_t i = 0; i < parts->count; i++)
        sorted[i] = &parts->parts[i];
    qsort(sorted, parts->count, sizeof(struct gt_collective_part *), by_instance);
    for (uint32_t i = 0; i < parts->count; i++) {
        if (i == 0 || by_instance(&sorted[i - 1], &sorted[i]) != 0)
            parts->instances++;
        sorted[i]->instance = parts->instances - 1;
    }
    free(sorted);
}

struct gt_collective_parts gt_collective_parts(const struct gt_workload *workload)
{
    struct gt_collective_parts parts = { .count = 0 };
    struct counts counts;

    if (workload->group_count == 0)
        return parts;
    open_counts(&counts, workload);
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (gt_collective_kernel(workload, i) != NULL)
            add_parts(workload, &counts, i, &parts);
    close_counts(&counts);
    number_instances(&parts);
    return parts;
}

void gt_collective_parts_free(struct gt_collective_parts *parts)
{
    free(parts->parts);
    *parts = (struct gt_collective_parts){ .count = 0 };
}

uint32_t gt_collective_parts_of(const struct gt_collective_parts *parts, uint32_t op, uint32_t *first)
{
    uint32_t low = 0, high = parts->count, count = 0;

    low = GT_LOWER_BOUND(middle, low, high, parts->parts[middle].op < op);
    *first = low;
    while (low + count < parts->count && parts->parts[low + count].op == op)
        count++;
    return count;
}

uint32_t gt_collective_part_ranks(const struct gt_workload *workload, const struct gt_collective_part *part)
{
    return part->to == GT_NONE ? workload->groups[part->group].size : 2;
}
