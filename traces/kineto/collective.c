/* collective.c - what a kernel of NCCL says of the collective that it is a part of; or, in PyTorch 2.1 and 2.2 and where a
 * vendor's Kineto is older than its PyTorch, what the operator (record_param_comms) says that asked for it. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/kineto/internal.h"

/* By its own arguments. */
static enum gt_collective_kind kind_of(const struct kineto_event *event)
{
    const struct kineto_text *name = kineto_text(event, KINETO_COLLECTIVE);

    return name->length > 0 ? gt_collective_of_name(name->bytes, name->length) : GT_COLLECTIVE_NONE;
}

/* Groups of one name may have other ranks elsewhere in the job: both tell them apart. */
static uint32_t group_of(struct kineto *kineto)
{
    const struct kineto_text *name = kineto_text(&kineto->event, KINETO_GROUP_NAME);
    const struct kineto_text *ranks = kineto_text(&kineto->event, KINETO_GROUP_RANKS);
    char *key;
    uint32_t group;

    if (name->length == 0)
        return GT_NONE;
    key = gt_format("%.*s%s%.*s", (int)name->length, name->bytes, ranks->length > 0 ? " " : "", (int)ranks->length,
                    ranks->length > 0 ? ranks->bytes : "");
    group = gt_name(kineto->import.workload, key, strlen(key));
    free(key);
    return group;
}

static uint64_t positive(const struct kineto_event *event, enum kineto_field field)
{
    return kineto_has(event, field) && event->number[field] > 0 ? (uint64_t)event->number[field] : 0;
}

static uint64_t bytes_of(const struct kineto_event *event, uint32_t element_bytes)
{
    uint64_t in = positive(event, KINETO_IN_ELEMENTS), out = positive(event, KINETO_OUT_ELEMENTS), bytes;

    return __builtin_mul_overflow(in > out ? in : out, element_bytes, &bytes) || bytes > INT64_MAX ? 0 : bytes;
}

/* What the event's arguments say, into the note. */
static void describe(struct kineto *kineto, struct gt_collective_note *note)
{
    const struct kineto_event *event = &kineto->event;
    const struct kineto_text *datatype = kineto_text(event, KINETO_DATATYPE);
    const char *usual = NULL;
    uint32_t element_bytes = 0;

    if (datatype->length > 0)
        element_bytes = gt_datatype_bytes(datatype->bytes, datatype->length, &usual);
    if (usual != NULL)
        note->datatype = gt_name(kineto->import.workload, usual, strlen(usual));
    note->bytes = bytes_of(event, element_bytes);
    note->group = group_of(kineto);
    if (positive(event, KINETO_GROUP_SIZE) < GT_NONE)
        note->group_size = (uint32_t)positive(event, KINETO_GROUP_SIZE);
    if (kineto_has(event, KINETO_SEQUENCE) && event->number[KINETO_SEQUENCE] >= 0)
        note->sequence = (uint64_t)event->number[KINETO_SEQUENCE];
}

void kineto_note_collective(struct kineto *kineto, uint32_t op, const char *name)
{
    enum gt_collective_kind kind = kind_of(&kineto->event);
    struct gt_collective_notes *notes = &kineto->import.collectives;

    /* Memory copies of a collective have its arguments, too; a group of one rank has nobody to wait for. */
    if (strncmp(name, "nccl", 4) != 0 || positive(&kineto->event, KINETO_GROUP_SIZE) == 1)
        return;
    if (kind == GT_COLLECTIVE_NONE)
        kind = gt_collective_of_kernel(name); /* of what messages are for, its operator may tell */
    describe(kineto, gt_collective_notes_add(notes, op, kind));
    gt_array_grow(kineto->externals, notes->count - 1, kineto->external_room);
    kineto->externals[notes->count - 1] = kineto_external(&kineto->event);
}

void kineto_announce_collective(struct kineto *kineto)
{
    static const char name[] = "record_param_comms";
    const struct kineto_event *event = &kineto->event;

    if (kineto_external(event) == 0 || kineto_text(event, KINETO_COLLECTIVE)->length == 0 ||
        event->name.length != sizeof name - 1 || memcmp(event->name.bytes, name, sizeof name - 1) != 0)
        return;
    describe(kineto, gt_collective_notes_add(&kineto->announced, kineto_external(event), kind_of(event)));
}

static int by_op(const void *left, const void *right)
{
    const struct gt_collective_note *a = left, *b = right;

    GT_ORDER(a->op, b->op);
    return 0;
}

/* What its operator said of a collective of which its kernel says nothing. */
static void give(const struct gt_collective_notes *announced, uint32_t external, struct gt_collective_note *note)
{
    const struct gt_collective_note key = { .op = external }, *found;

    if (note->group != GT_NONE || note->bytes != 0 || external == 0)
        return;
    found = bsearch(&key, announced->notes, announced->count, sizeof key, by_op);
    if (found == NULL)
        return;
    if (note->kind == GT_COLLECTIVE_NONE)
        note->kind = found->kind;
    note->bytes = found->bytes;
    note->sequence = found->sequence;
    note->group = found->group;
    note->group_size = found->group_size;
    note->datatype = found->datatype;
}

/* Messages of which nobody tells what they are for. */
static void drop_unknown(struct gt_collective_notes *notes)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < notes->count; i++)
        if (notes->notes[i].kind != GT_COLLECTIVE_NONE)
            notes->notes[kept++] = notes->notes[i];
    notes->count = kept;
}

void kineto_give_announced(struct kineto *kineto)
{
    struct gt_collective_notes *notes = &kineto->import.collectives;

    if (kineto->announced.count > 0 && !kineto->several_processes) { /* whose numbers may be the same */
        qsort(kineto->announced.notes, kineto->announced.count, sizeof *kineto->announced.notes, by_op);
        for (uint32_t i = 0; i < notes->count; i++)
            give(&kineto->announced, kineto->externals[i], &notes->notes[i]);
    }
    drop_unknown(notes);
}
