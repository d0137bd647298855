/* collective.c - what a kernel of NCCL says of the collective that it is a part of. */
#include <stdlib.h>
#include <string.h>

#include "traces/kineto/internal.h"

static enum gt_collective_kind kind_of(const struct kineto_event *event, const char *kernel)
{
    const struct kineto_text *name = kineto_text(event, KINETO_COLLECTIVE);
    enum gt_collective_kind kind = GT_COLLECTIVE_NONE;

    if (strncmp(kernel, "nccl", 4) != 0) /* memory copies of a collective have its arguments, too */
        return GT_COLLECTIVE_NONE;
    if (name->length > 0)
        kind = gt_collective_of_name(name->bytes, name->length);
    return kind != GT_COLLECTIVE_NONE ? kind : gt_collective_of_kernel(kernel);
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

void kineto_note_collective(struct kineto *kineto, uint32_t op, const char *name)
{
    const struct kineto_event *event = &kineto->event;
    const struct kineto_text *datatype = kineto_text(event, KINETO_DATATYPE);
    enum gt_collective_kind kind = kind_of(event, name);
    struct gt_collective_note *note;
    const char *usual = NULL;
    uint32_t element_bytes = 0;

    if (kind == GT_COLLECTIVE_NONE)
        return;
    note = gt_collective_notes_add(&kineto->import.collectives, op, kind);
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
