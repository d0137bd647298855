/* slices.c - recordings of a megakernel's workers, whoever wrote them: which reader takes a file, and what is in it. */
#include "traces/tasks/slices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/tasks/slices_parts.h"

enum { HEAD_BYTES = 4096 };
static const char task_prefix[] = "TASK_";

struct gt_slice_kinds {
    UT_hash_handle hh;
    uint32_t index;
    char text[];
};

bool gt_task_slices_sniff(const unsigned char *head, size_t bytes)
{
    return gt_slices_is_perfetto(head, bytes) || gt_slices_is_chrome(head, bytes);
}

/* "TASK_LINEAR_12" is of the kind LINEAR. */
uint32_t gt_slices_kind(struct gt_task_slices *slices, struct gt_slice_kinds **kinds, const char *name, size_t length)
{
    size_t digits = length;
    struct gt_slice_kinds *kind;

    if (length >= sizeof task_prefix - 1 && memcmp(name, task_prefix, sizeof task_prefix - 1) == 0) {
        while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
            digits--;
        if (digits < length && digits > sizeof task_prefix && name[digits - 1] == '_')
            length = digits - 1;
        name += sizeof task_prefix - 1;
        length -= sizeof task_prefix - 1;
    }
    HASH_FIND(hh, *kinds, name, length, kind);
    if (kind == NULL) {
        kind = gt_calloc(1, sizeof *kind + length + 1);
        memcpy(kind->text, name, length);
        kind->index = slices->kind_count;
        gt_array_grow(slices->kinds, slices->kind_count, slices->kind_room);
        slices->kinds[slices->kind_count++] = gt_strndup(name, length);
        HASH_ADD_KEYPTR(hh, *kinds, kind->text, length, kind);
    }
    return kind->index;
}

void gt_slice_kinds_free(struct gt_slice_kinds **kinds)
{
    struct gt_slice_kinds *kind, *next;

    HASH_ITER(hh, *kinds, kind, next)
    {
        HASH_DEL(*kinds, kind);
        free(kind);
    }
}

static int by_worker(const void *left, const void *right)
{
    const struct gt_task_slice *a = left, *b = right;

    GT_ORDER(a->worker, b->worker);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->end_ns, b->end_ns);
    GT_ORDER(a->kind, b->kind);
    return 0;
}

static void count_workers(struct gt_task_slices *slices)
{
    slices->workers = 0;
    for (uint32_t i = 0; i < slices->count; i++)
        slices->workers += i == 0 || slices->slices[i].worker != slices->slices[i - 1].worker;
}

/* From cycles to nanoseconds, by worker: its first slice begins at a time, what follows is counted in cycles from there. */
static void count_time(struct gt_task_slices *slices, uint32_t clock_mhz)
{
    uint64_t first = 0;

    for (uint32_t i = 0; i < slices->count; i++) {
        struct gt_task_slice *slice = &slices->slices[i];

        if (i == 0 || slice->worker != slice[-1].worker)
            first = slice->start_ns;
        slice->start_ns = first + (slice->start_ns - first) * 1000 / clock_mhz;
        slice->end_ns = first + (slice->end_ns - first) * 1000 / clock_mhz;
    }
    slices->clock_mhz = clock_mhz;
}

int gt_task_slices_read(struct gt_task_slices *slices, struct gt_input *input, const char *path, uint32_t clock_mhz,
                        struct gt_error *error)
{
    size_t bytes;
    const unsigned char *head = gt_input_head(input, HEAD_BYTES, &bytes);
    bool chrome = !gt_slices_is_perfetto(head, bytes) && gt_slices_is_json(head, bytes);
    int status;

    *slices = (struct gt_task_slices){ .slices = NULL };
    status = chrome ? gt_slices_read_proton(slices, input, path, error)
                    : gt_slices_read_perfetto(slices, input, path, error);
    if (slices->count > 1)
        qsort(slices->slices, slices->count, sizeof *slices->slices, by_worker);
    if (chrome)
        count_time(slices, clock_mhz);
    count_workers(slices);
    return status;
}

void gt_task_slices_keep(struct gt_task_slices *slices, const bool *kept)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < slices->count; i++)
        if (kept[slices->slices[i].kind])
            slices->slices[count++] = slices->slices[i];
    slices->count = count;
    count_workers(slices);
}

void gt_task_slices_free(struct gt_task_slices *slices)
{
    for (uint32_t i = 0; i < slices->kind_count; i++)
        free(slices->kinds[i]);
    free(slices->kinds);
    free(slices->slices);
}

struct gt_worker_time gt_task_slices_worker(const struct gt_task_slices *slices, uint32_t *first)
{
    const struct gt_task_slice *slice = &slices->slices[*first];
    struct gt_worker_time time = { .worker = slice->worker, .start_ns = slice->start_ns, .end_ns = slice->start_ns };

    for (; *first < slices->count && slice->worker == time.worker; slice = &slices->slices[++*first]) {
        uint64_t from_ns = slice->start_ns > time.end_ns ? slice->start_ns : time.end_ns;

        time.tasks++;
        if (slice->end_ns > from_ns)
            time.busy_ns += slice->end_ns - from_ns;
        if (slice->end_ns > time.end_ns)
            time.end_ns = slice->end_ns;
    }
    return time;
}
