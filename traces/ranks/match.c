/* match.c - which kernels of collectives belong together.
 *
 * A rank launches the collectives of a group in the same order as every other.  Recordings begin and end at different
 * ones, though: those that only some have are left out, at both ends, and where numbers tell in between, too. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/ranks/internal.h"

static struct gt_rank_group *find_group(struct gt_rank_groups *groups, const char *key)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (strcmp(groups->groups[i].key, key) == 0)
            return &groups->groups[i];
    gt_array_grow(groups->groups, groups->count, groups->room);
    groups->groups[groups->count] = (struct gt_rank_group){ .key = key };
    return &groups->groups[groups->count++];
}

/* `stream`: GT_NONE where the group has a name. */
static struct gt_rank_member *find_member(struct gt_rank_group *group, uint32_t rank, uint32_t gpu, uint32_t stream)
{
    for (uint32_t i = group->count; i-- > 0;) /* ranks come one after the other */
        if (group->members[i].rank == rank && group->members[i].gpu == gpu && group->members[i].stream == stream)
            return &group->members[i];
    gt_array_grow(group->members, group->count, group->room);
    group->members[group->count] = (struct gt_rank_member){ .rank = rank, .gpu = gpu, .stream = stream };
    return &group->members[group->count++];
}

/* By stream: the first group, in names, that a collective in it is told to be of; GT_NONE.  What was asked for before the
 * recording began has its kernel in it and nothing else: it is of the group whose stream it is in, since NCCL's users
 * keep a stream a communicator (ProcessGroupNCCL.cpp, ncclStreams_). */
static uint32_t *find_stream_groups(const struct gt_rank *rank)
{
    const struct gt_workload *w = rank->workload;
    uint32_t *named = gt_calloc(w->stream_count + 1ull, sizeof *named);

    memset(named, 0xff, (w->stream_count + 1ull) * sizeof *named); /* GT_NONE */
    for (uint32_t i = rank->notes.count; i-- > 0;)
        if (rank->notes.notes[i].group != GT_NONE)
            named[w->ops[rank->notes.notes[i].op].stream] = rank->notes.notes[i].group;
    return named;
}

static void gather(struct gt_rank_groups *groups, const struct gt_rank *ranks, uint32_t rank)
{
    const struct gt_workload *w = ranks[rank].workload;
    const struct gt_collective_notes *notes = &ranks[rank].notes;
    uint32_t *named = find_stream_groups(&ranks[rank]);

    for (uint32_t i = 0; i < notes->count; i++) {
        const struct gt_collective_note *note = &notes->notes[i];
        gt_stream_index stream = w->ops[note->op].stream;
        struct gt_rank_group *group;
        struct gt_rank_member *member;
        uint32_t name;

        if (gt_rank_is_message(note))
            continue;
        name = note->group != GT_NONE ? note->group : named[stream];
        group = find_group(groups, gt_name_text(w, name));
        member = find_member(group, rank, w->streams[stream].gpu, name == GT_NONE ? stream : GT_NONE);

        if (note->group_size > member->size)
            member->size = note->group_size;
        if (member->size > group->size)
            group->size = member->size;
        gt_array_grow(member->notes, member->count, member->room);
        member->notes[member->count++] = i;
    }
    free(named);
}

/* The number of a member's collective.  Those before the first that has one, which were asked for before the recording
 * began, count down from it; GT_SEQUENCE_NONE: it has none. */
static uint64_t number_of(const struct gt_rank *ranks, const struct gt_rank_member *member, uint32_t i)
{
    uint64_t sequence = gt_rank_note_at(ranks, member, i)->sequence;

    if (sequence != GT_SEQUENCE_NONE || i >= member->bare)
        return sequence;
    sequence = gt_rank_note_at(ranks, member, member->bare)->sequence;
    return sequence >= member->bare - i ? sequence - (member->bare - i) : GT_SEQUENCE_NONE;
}

/* How many stand before the first one that has a number; 0 where none has. */
static uint32_t count_bare(const struct gt_rank *ranks, const struct gt_rank_member *member)
{
    for (uint32_t i = 0; i < member->count; i++)
        if (gt_rank_note_at(ranks, member, i)->sequence != GT_SEQUENCE_NONE)
            return i;
    return 0;
}

/* Are its collectives numbered, and rising? */
static bool is_numbered(const struct gt_rank *ranks, const struct gt_rank_member *member)
{
    for (uint32_t i = 0; i < member->count; i++) {
        uint64_t sequence = number_of(ranks, member, i);

        if (sequence == GT_SEQUENCE_NONE || (i > 0 && sequence < number_of(ranks, member, i - 1)))
            return false;
    }
    return member->count > 0;
}

/* The next number of all members, from where each has come to; GT_SEQUENCE_NONE: one has no more. */
static uint64_t next_number(const struct gt_rank *ranks, const struct gt_rank_group *group)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        const struct gt_rank_member *member = &group->members[i];
        uint64_t own;

        if (member->first == member->count)
            return GT_SEQUENCE_NONE;
        own = number_of(ranks, member, member->first);
        number = own > number ? own : number;
    }
    return number;
}

/* Do all members have that number next, of one kind?  Those before it are passed over. */
static bool all_have(const struct gt_rank *ranks, struct gt_rank_group *group, uint64_t number)
{
    bool all = true;

    for (uint32_t i = 0; i < group->count; i++) {
        struct gt_rank_member *member = &group->members[i], *first = &group->members[0];

        while (member->first < member->count && number_of(ranks, member, member->first) < number)
            member->first++;
        all =
            all && member->first < member->count && number_of(ranks, member, member->first) == number &&
            gt_rank_note_at(ranks, member, member->first)->kind == gt_rank_note_at(ranks, first, first->first)->kind;
    }
    return all;
}

/* Of each member only the collectives whose numbers all have, from the first one on: a recording may lack some, at its ends or
 * where its profiler lost them. */
static void keep_common(const struct gt_rank *ranks, struct gt_rank_group *group)
{
    uint32_t **kept = gt_calloc(group->count, sizeof *kept), count = 0;
    uint64_t number;

    for (uint32_t i = 0; i < group->count; i++)
        kept[i] = gt_calloc(group->members[i].count + 1ull, sizeof **kept);
    while ((number = next_number(ranks, group)) != GT_SEQUENCE_NONE) {
        bool all = all_have(ranks, group, number);

        for (uint32_t i = 0; i < group->count; i++) {
            struct gt_rank_member *member = &group->members[i];

            if (all)
                kept[i][count] = member->notes[member->first];
            if (all || (member->first < member->count && number_of(ranks, member, member->first) == number))
                member->first++;
        }
        count += all;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        group->members[i].left_out = group->members[i].count - count;
        free(group->members[i].notes);
        group->members[i].notes = kept[i];
        group->members[i].count = group->members[i].room = count;
        group->members[i].first = 0;
    }
    free(kept);
}

/* Where the recordings number collectives. */
static bool match_by_number(const struct gt_rank *ranks, struct gt_rank_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct gt_rank_member *member = &group->members[i];

        member->bare = count_bare(ranks, member);
        if (!is_numbered(ranks, member))
            return false;
    }
    keep_common(ranks, group);
    return true;
}

/* Where nothing numbers them: as each agrees best with the first one's. */
static bool match_by_order(const struct gt_rank *ranks, struct gt_rank_group *group)
{
    int64_t *shifts = gt_calloc(group->count, sizeof *shifts), least = 0;
    bool found = true;

    for (uint32_t i = 1; i < group->count && found; i++) {
        struct gt_rank_shift shift;

        found = gt_rank_shift_find(ranks, &group->members[0], &group->members[i], &shift);
        shifts[i] = found ? shift.later : 0;
        least = shifts[i] < least ? shifts[i] : least;
    }
    for (uint32_t i = 0; i < group->count; i++)
        group->members[i].first = (uint32_t)(shifts[i] - least);
    free(shifts);
    return found;
}

/* How many follow each other that all members have. */
static uint32_t count_instances(const struct gt_rank *ranks, const struct gt_rank_group *group)
{
    const struct gt_rank_member *first = &group->members[0];

    for (uint32_t instance = 0;; instance++) {
        for (uint32_t i = 0; i < group->count; i++) {
            const struct gt_rank_member *member = &group->members[i];

            if (member->first + instance >= member->count)
                return instance;
            if (gt_rank_note_at(ranks, member, member->first + instance)->kind !=
                gt_rank_note_at(ranks, first, first->first + instance)->kind)
                return instance;
        }
    }
}

struct gt_rank_groups gt_ranks_match(const struct gt_rank *ranks, uint32_t count)
{
    struct gt_rank_groups groups = { .count = 0 };

    for (uint32_t i = 0; i < count; i++)
        gather(&groups, ranks, i);
    gt_rank_groups_split(&groups, ranks);
    for (uint32_t i = 0; i < groups.count; i++) {
        struct gt_rank_group *group = &groups.groups[i];

        if (group->count < 2 || (group->size != 0 && group->size != group->count))
            continue;
        if (match_by_number(ranks, group) || match_by_order(ranks, group))
            group->instances = count_instances(ranks, group);
    }
    return groups;
}

void gt_rank_groups_free(struct gt_rank_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        for (uint32_t j = 0; j < groups->groups[i].count; j++)
            free(groups->groups[i].members[j].notes);
        free(groups->groups[i].members);
    }
    free(groups->groups);
    memset(groups, 0, sizeof *groups);
}
