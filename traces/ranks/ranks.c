#include "traces/ranks/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/workload/collective.h"
#include "traces/import/warnings.h"
#include "traces/ranks/internal.h"

static int by_rank(const void *left, const void *right)
{
    const struct gt_rank *a = left, *b = right;

    GT_ORDER(a->notes.rank, b->notes.rank);
    return 0;
}

/* In the order of their ranks, where each says its own. */
static void order(struct gt_rank *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i].notes.rank == GT_NONE)
            return;
    qsort(ranks, count, sizeof *ranks, by_rank);
}

/* The group's name: as the recordings have it, else what it is, with its number. */
static uint32_t name_of(struct gt_workload *w, const struct gt_rank_group *group)
{
    char *name = group->key[0] != '\0' ? gt_strdup(group->key)
                 : w->group_count == 0 ? gt_strdup("nccl")
                                       : gt_format("nccl %" PRIu32, w->group_count);
    uint32_t number = gt_name(w, name, strlen(name));

    free(name);
    return number;
}

/* The members' GPUs in the merged workload, rising: by rank. */
static uint32_t add_group(struct gt_workload *w, const struct gt_rank_group *group,
                          const struct gt_rank_places *places)
{
    gt_gpu_index gpus[GT_MOST_GPUS];

    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t place = i;

        for (; place > 0 && gpus[place - 1] > places[group->members[i].rank].gpus[group->members[i].gpu]; place--)
            gpus[place] = gpus[place - 1];
        gpus[place] = places[group->members[i].rank].gpus[group->members[i].gpu];
    }
    return gt_workload_add_group(w, name_of(w, group), gpus, group->count);
}

/* What the members say of one collective; of sizes that differ (all_to_all, uneven shards) the largest holds. */
static struct gt_collective describe(struct gt_workload *w, const struct gt_rank *ranks,
                                     const struct gt_rank_group *group, uint32_t number, uint32_t instance)
{
    const struct gt_collective_note *first = gt_rank_note(ranks, &group->members[0], instance);
    struct gt_collective collective = gt_collective_of(first->kind, number, 0);

    for (uint32_t i = 0; i < group->count; i++) {
        const struct gt_collective_note *note = gt_rank_note(ranks, &group->members[i], instance);

        if (note->bytes > collective.bytes)
            collective.bytes = note->bytes;
    }
    if (first->datatype != GT_NONE) {
        const char *datatype = gt_name_text(ranks[group->members[0].rank].workload, first->datatype);

        collective.datatype = gt_name(w, datatype, strlen(datatype));
    }
    collective.shaped = !first->no_shape;
    return collective;
}

static void join_group(struct gt_workload *w, const struct gt_rank *ranks, const struct gt_rank_group *group,
                       const struct gt_rank_places *places)
{
    uint32_t number = add_group(w, group, places);

    for (uint32_t instance = 0; instance < group->instances; instance++) {
        struct gt_collective collective = describe(w, ranks, group, number, instance);

        for (uint32_t i = 0; i < group->count; i++) {
            const struct gt_rank_member *member = &group->members[i];
            gt_op_index op = places[member->rank].ops[gt_rank_note(ranks, member, instance)->op];
            struct gt_kernel kernel = w->kernels[w->ops[op].kernel];

            kernel.collective = collective;
            kernel.cooperative = false;
            w->ops[op].kernel = gt_workload_kernel(w, &kernel);
        }
    }
}

static uint64_t count_messages(const struct gt_rank *ranks, uint32_t count)
{
    uint64_t messages = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ranks[i].notes.count; j++)
            messages += gt_rank_is_message(&ranks[i].notes.notes[j]);
    return messages;
}

/* What was not measured and was joined by nobody takes the time that its importer says. */
static void time_alone(struct gt_workload *w, const struct gt_rank *ranks, uint32_t count,
                       const struct gt_rank_places *places)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ranks[i].notes.count; j++) {
            const struct gt_collective_note *note = &ranks[i].notes.notes[j];
            struct gt_op *op = &w->ops[places[i].ops[note->op]];

            if (op->duration_ps == GT_TIME_NONE && w->kernels[op->kernel].collective.kind == GT_COLLECTIVE_NONE)
                op->duration_ps = note->alone_ps;
        }
}

/* Collectives that stay ordinary kernels, beside so many messages. */
static uint64_t count_alone(const struct gt_rank_groups *groups, uint64_t alone)
{
    for (uint32_t i = 0; i < groups->count; i++)
        for (uint32_t j = 0; j < groups->groups[i].count; j++)
            alone += groups->groups[i].members[j].left_out + groups->groups[i].members[j].count -
                     groups->groups[i].instances;
    return alone;
}

/* Collectives of groups without a name that might have been others: of two GPUs there is but one. */
static uint64_t count_unnamed(const struct gt_rank_groups *groups)
{
    uint64_t instances = 0, members = 0;

    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->groups[i].key[0] == '\0') {
            instances += groups->groups[i].instances;
            members += groups->groups[i].count;
        }
    return members > 2 ? instances : 0;
}

/* The one workload itself: all keep their numbers. */
static struct gt_workload *take_single(struct gt_rank *rank, struct gt_rank_places *places)
{
    struct gt_workload *w = rank->workload;

    places->gpus = gt_calloc(w->gpu_count + 1ull, sizeof *places->gpus);
    places->ops = gt_calloc(w->op_count + 1ull, sizeof *places->ops);
    for (uint32_t i = 0; i < w->gpu_count; i++)
        places->gpus[i] = i;
    for (uint32_t i = 0; i < w->op_count; i++)
        places->ops[i] = i;
    return w;
}

static struct gt_workload *join(struct gt_rank *ranks, uint32_t count, struct gt_rank_places *places,
                                const struct gt_rank_groups *groups, struct gt_error *error)
{
    struct gt_rank_clock *clocks = gt_calloc(count, sizeof *clocks);
    struct gt_rank_aligned aligned = { 0, 0 };
    struct gt_workload *w;
    uint64_t alone;

    if (count > 1)
        aligned = gt_ranks_align(ranks, count, groups, clocks);
    w = count > 1 ? gt_ranks_merge(ranks, count, clocks, false, places, error) : take_single(&ranks[0], places);
    free(clocks);
    if (w == NULL)
        return NULL;
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->groups[i].instances > 0)
            join_group(w, ranks, &groups->groups[i], places);
    alone = count_messages(ranks, count);
    if (alone > 0)
        alone -= gt_ranks_join_messages(w, ranks, count, places);
    time_alone(w, ranks, count, places);
    gt_ranks_order(w);
    gt_import_warn(w, "collectives-alone", count_alone(groups, alone));
    gt_import_warn(w, "groups-unnamed", count_unnamed(groups));
    gt_import_warn(w, "clocks-apart", aligned.unknown);
    gt_import_warn(w, "clocks-drift", aligned.drifting);
    if (count > 1)
        gt_ranks_warn(w, ranks, count, groups);
    return w;
}

/* Ranks whose recording names another device than the first one's. */
static uint32_t count_others(const struct gt_rank *ranks, uint32_t count)
{
    const char *first = ranks[0].workload->device;
    uint32_t others = 0;

    for (uint32_t i = 1; i < count; i++) {
        const char *own = ranks[i].workload->device;

        others += first != NULL && own != NULL && strcmp(first, own) != 0;
    }
    return others;
}

struct gt_workload *gt_ranks_join(struct gt_rank *ranks, uint32_t count, struct gt_error *error)
{
    struct gt_rank_places *places = gt_calloc(count, sizeof *places);
    struct gt_rank_groups groups = { .count = 0 };
    struct gt_workload *w = NULL;

    if (gt_ranks_check(ranks, count, error) == 0) {
        order(ranks, count);
        groups = gt_ranks_match(ranks, count);
        w = join(ranks, count, places, &groups, error);
        if (w != NULL)
            gt_import_warn(w, "ranks-on-other-gpus", count_others(ranks, count));
    }
    if (w != NULL && gt_workload_check(w, error) != 0) {
        gt_error_prefix(error, "%.200s: ", w->path != NULL ? w->path : "the recordings");
        if (count > 1)
            gt_workload_free(w);
        w = NULL;
    }
    gt_rank_groups_free(&groups);
    for (uint32_t i = 0; i < count; i++) {
        free(places[i].gpus);
        free(places[i].ops);
        gt_collective_notes_free(&ranks[i].notes);
        if (ranks[i].workload != w)
            gt_workload_free(ranks[i].workload);
        ranks[i].workload = NULL;
    }
    free(places);
    return w;
}

struct gt_workload *gt_programs_join(struct gt_workload *const *workloads, const struct gt_sharing *sharings,
                                     uint32_t count, struct gt_error *error)
{
    struct gt_rank *ranks = gt_calloc(count, sizeof *ranks);
    struct gt_rank_places *places = gt_calloc(count, sizeof *places);
    struct gt_rank_clock *clocks = gt_calloc(count, sizeof *clocks);
    struct gt_workload *w;

    for (uint32_t i = 0; i < count; i++) {
        ranks[i].workload = workloads[i];
        for (gt_thread_index j = 0; j < workloads[i]->thread_count; j++)
            workloads[i]->threads[j].sharing = sharings[i];
    }
    w = gt_ranks_merge(ranks, count, clocks, true, places, error);
    for (uint32_t i = 0; i < count; i++) {
        free(places[i].gpus);
        free(places[i].ops);
    }
    free(ranks);
    free(places);
    free(clocks);
    if (w == NULL || gt_workload_check(w, error) == 0)
        return w;
    gt_workload_free(w);
    return NULL;
}
